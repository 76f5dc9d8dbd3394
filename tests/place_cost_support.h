/* Opened placement problems for tests: graphs of files, and random ones made by hand. */
#ifndef MERCATOR_TESTS_PLACE_COST_SUPPORT_H
#define MERCATOR_TESTS_PLACE_COST_SUPPORT_H

#include "run_support.h"
#include "shared.h"

#include "mercator/evaluator.h"
#include "place/place_parts.h"

#include <math.h>

typedef struct OpenedPlace {
    MerProblem      problem;
    MerEvaluator    evaluator;
    MerTask         task;
    const MerPlace *place;
    MerArena       *scratch;
} OpenedPlace;

/* `decide`: what the space decides, "place,order"; `evaluator` is a reference with options. Without a platform that of the file. */
static inline MerStatus try_open_place(MerGraph *graph, const MerPlatform *platform,
                                       const char *decide, const char *evaluator, MerArena *arena,
                                       OpenedPlace *opened, MerError *error)
{
    const MerProblemClass *type = mer_problem_find("place", NULL);
    MerReference           reference;
    if (mer_reference_parse(evaluator, &reference, arena, error) != MER_OK) {
        fail_msg("%s", error->message);
    }
    const MerEvaluatorClass *pricer = mer_evaluator_find(reference.name, NULL);
    MerPlaceOptions         *chosen =
        (MerPlaceOptions *)options_from("place", type->options, type->options_size, arena);
    chosen->decide = decide;
    opened->task = (MerTask){.name = graph->name, .count = 1, .op = -1};
    opened->problem =
        (MerProblem){.type = type,
                     .graph = graph,
                     .platform = platform ? platform : mer_graph_attachment(graph, "platform"),
                     .plan = &mer_plan_graph,
                     .task = &opened->task,
                     .options = chosen,
                     .state = mer_arena_alloc(arena, type->state_size)};
    MER_TRY(type->open(&opened->problem, arena, error));
    const void *options = options_from(evaluator, pricer->options, pricer->options_size, arena);
    opened->evaluator = (MerEvaluator){pricer, mer_arena_alloc(arena, pricer->state_size), options};
    MER_TRY(pricer->open(opened->evaluator.state, &opened->problem, options, arena, error));
    opened->place = mer_place_of(&opened->problem);
    opened->scratch = mer_arena_new();
    return MER_OK;
}

static inline OpenedPlace *open_place(MerGraph *graph, const MerPlatform *platform,
                                      const char *decide, const char *evaluator, MerArena *arena)
{
    OpenedPlace *opened = MER_NEW(arena, OpenedPlace);
    MerError     error = {0};
    if (try_open_place(graph, platform, decide, evaluator, arena, opened, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return opened;
}

static inline void close_place(OpenedPlace *opened)
{
    mer_arena_free(opened->scratch);
}

static inline MerCost price_place(const OpenedPlace *opened, const MerPlan *plan)
{
    MerCost cost;
    MerCall call = {.scratch = opened->scratch, .limit = INFINITY, .exact = true};
    opened->evaluator.type->evaluate(opened->evaluator.state, plan, &call, &cost);
    mer_arena_reset(opened->scratch);
    return cost;
}

/* A plan on one unit. */
static inline MerPlan plan_on(const OpenedPlace *opened, int unit, MerArena *arena)
{
    MerPlan       plan;
    MerGraphPlan *made = mer_place_new_plan(opened->place, &plan, arena);
    for (int o = 0; o < made->op_count; o++) {
        made->unit[o] = unit;
    }
    return plan;
}

#endif
