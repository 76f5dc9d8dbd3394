/* The problem `place` and an evaluator, opened for tests, and prices of placements given as units of operators. */
#ifndef MERCATOR_TESTS_PLACE_SUPPORT_H
#define MERCATOR_TESTS_PLACE_SUPPORT_H

#include "run_support.h"

#include "mercator/evaluator.h"
#include "place/place.h"

typedef struct OpenedPlace {
    MerTask         task;
    MerProblem      problem;
    MerEvaluator    evaluator;
    const MerPlace *place;
    MerArena       *arena;
} OpenedPlace;

/* `problem` and `evaluator` with options: "place:levels=5", "maxload". */
static inline OpenedPlace *open_place_graph(const char *problem, const char *evaluator,
                                            const MerGraph *graph, const MerPlatform *platform,
                                            MerArena *arena)
{
    OpenedPlace             *opened = MER_NEW(arena, OpenedPlace);
    const MerProblemClass   *type = mer_problem_find("place", NULL);
    MerReference             reference;
    MerError                 error = {0};
    const MerEvaluatorClass *priced;
    assert_int_equal(mer_reference_parse(evaluator, &reference, arena, &error), MER_OK);
    priced = mer_evaluator_find(reference.name, &error);
    assert_non_null(priced);
    opened->arena = arena;
    opened->task = (MerTask){.name = "graph", .count = 1, .op = -1};
    opened->problem =
        (MerProblem){.type = type,
                     .options = options_from(problem, type->options, type->options_size, arena),
                     .graph = graph,
                     .platform = platform,
                     .task = &opened->task,
                     .plan = &mer_plan_graph,
                     .state = mer_arena_alloc(arena, type->state_size)};
    opened->evaluator =
        (MerEvaluator){priced, mer_arena_alloc(arena, priced->state_size + 1),
                       options_from(evaluator, priced->options, priced->options_size, arena)};
    if (type->open(&opened->problem, arena, &error) != MER_OK ||
        priced->open(opened->evaluator.state, &opened->problem, opened->evaluator.options, arena,
                     &error) != MER_OK) {
        fail_msg("%s: %s", graph->name, error.message);
    }
    opened->place = mer_place_of(&opened->problem);
    return opened;
}

/* `platform` NULL: the one that the workload implies. */
static inline OpenedPlace *open_place(const char *problem, const char *evaluator,
                                      const char *workload, const char *platform, MerArena *arena)
{
    const MerGraph *graph = graph_named(workload, arena);
    return open_place_graph(problem, evaluator, graph,
                            platform ? platform_named(platform, arena)
                                     : mer_graph_attachment(graph, "platform"),
                            arena);
}

static inline MerCost price_plan(const OpenedPlace *opened, const MerPlan *plan)
{
    MerArena *scratch = mer_arena_new();
    MerCall   call = {.scratch = scratch, .limit = INFINITY, .exact = true};
    MerCost   cost;
    opened->evaluator.type->evaluate(opened->evaluator.state, plan, &call, &cost);
    mer_arena_free(scratch);
    return cost;
}

/* `unit`: of every operator. */
static inline MerCost price_units(const OpenedPlace *opened, const int *unit)
{
    MerPlan       plan;
    MerGraphPlan *graph = mer_place_new_plan(opened->place, &plan, opened->arena);
    memcpy(graph->unit, unit, (size_t)opened->place->op_count * sizeof *unit);
    return price_plan(opened, &plan);
}

static inline MerCost price_point(const OpenedPlace *opened, const MerIndex *point)
{
    MerPlan plan;
    mer_place_decode(opened->place, point, &plan, opened->arena);
    return price_plan(opened, &plan);
}

#endif
