/* One layer solved by `exact_nest` without a run around it: for tests and benchmarks. */
#ifndef MERCATOR_TESTS_EXACT_SUPPORT_H
#define MERCATOR_TESTS_EXACT_SUPPORT_H

#include "base/log.h"
#include "map/cost/loopnest.h"
#include "map/map.h"
#include "mercator/evaluator.h"
#include "mercator/registry.h"
#include "mercator/search.h"

#include <math.h>

typedef struct ExactCase {
    const MerOp       *op;
    const MerPlatform *platform;
    MerMetric          objective;
    const char        *problem_options, *evaluator_options, *optimizer_options; /* NULL: defaults */
    int64_t            budget;  /* 0: without limit */
    int                answers; /* to stop after, whatever the budget; 0: go on to the end */
    uint64_t           seed;
} ExactCase;

typedef struct ExactResult {
    MerStatus     status;
    MerError      error;
    double        score; /* INFINITY: no proposal was feasible */
    bool          has_proof;
    MerBound      bound;
    int           proposals;
    double        cpu_s;
    MerProblem    problem; /* open as long as the arena lives */
    MerNestModel *model;
} ExactResult;

/* `text` is "key=value,..." or NULL. */
static inline const void *exact_options(const MerOption *options, size_t size, const char *text,
                                        MerArena *arena)
{
    void        *values = mer_arena_alloc(arena, size ? size : 1);
    MerReference reference = {.name = "test"};
    if (text) {
        mer_reference_parse(mer_arena_format(arena, "test:%s", text), &reference, arena, NULL);
    }
    if (options) {
        mer_options_fill(options, NULL, values, &reference, arena, NULL);
    }
    return values;
}

static inline void solve_exactly(const ExactCase *c, ExactResult *result, MerArena *arena)
{
    const MerOptimizerClass *optimizer = mer_optimizer_find("exact_nest", NULL);
    const MerEvaluatorClass *evaluator_type = mer_evaluator_find("loopnest", NULL);
    MerGraph                *graph = mer_graph_new("layer", arena);
    MerTask                  task = {.name = "layer", .count = 1};
    *result = (ExactResult){.score = INFINITY};
    mer_graph_add_op(graph, c->op);
    result->status = mer_graph_finish(graph, &result->error);
    MerProblem *problem = &result->problem;
    *problem = (MerProblem){.type = mer_problem_find("map", NULL),
                            .graph = graph,
                            .platform = c->platform,
                            .task = &task,
                            .plan = &mer_plan_nest};
    problem->options = exact_options(problem->type->options, problem->type->options_size,
                                     c->problem_options, arena);
    problem->state = mer_arena_alloc(arena, problem->type->state_size);
    MerEvaluator evaluator = {.type = evaluator_type,
                              .state = mer_arena_alloc(arena, evaluator_type->state_size)};
    evaluator.options = exact_options(evaluator_type->options, evaluator_type->options_size,
                                      c->evaluator_options, arena);
    if (result->status == MER_OK) {
        result->status = problem->type->open(problem, arena, &result->error);
    }
    if (result->status == MER_OK) {
        result->status = evaluator_type->open(evaluator.state, problem, evaluator.options, arena,
                                              &result->error);
    }
    if (result->status != MER_OK) {
        return;
    }
    result->model = evaluator.state;
    MerRng      rng = mer_rng_make(c->seed, 0);
    MerSearch   search = {.space = &problem->space,
                          .graph = graph,
                          .task_count = 1,
                          .objective = c->objective,
                          .budget = c->budget ? c->budget : INT64_MAX,
                          .rng = &rng,
                          .arena = arena};
    void       *state = mer_arena_alloc(arena, optimizer->state_size);
    double      begin = mer_cpu_clock();
    const void *options =
        exact_options(optimizer->options, optimizer->options_size, c->optimizer_options, arena);
    result->status =
        optimizer->open_problem(state, &search, problem, &evaluator, options, &result->error);
    MerArena *scratch = mer_arena_new();
    MerIndex *point = MER_ARRAY(arena, MerIndex, problem->space.knob_count + 1);
    while (result->status == MER_OK) {
        MerProposal proposal = {point, INFINITY, -1};
        bool        is_enough = c->answers && result->proposals == c->answers;
        if (is_enough || (c->budget && result->proposals == c->budget) ||
            optimizer->ask(state, &proposal, 1) == 0) {
            break;
        }
        MerPlan plan;
        MerCost cost;
        MerCall call = {.scratch = scratch, .limit_metric = MER_METRIC_COUNT, .limit = INFINITY};
        problem->type->decode(problem, point, &plan, scratch);
        evaluator_type->evaluate(evaluator.state, &plan, &call, &cost);
        double   score = cost.feasible ? cost.value[c->objective] : INFINITY;
        MerTrial trial = {result->proposals, point, &cost, score, false};
        optimizer->tell(state, &trial, 1);
        result->score = fmin(result->score, score);
        result->proposals++;
        mer_arena_reset(scratch);
    }
    if (result->status == MER_OK) {
        result->has_proof = optimizer->proof(state, &result->bound);
        optimizer->close(state);
    }
    result->cpu_s = mer_cpu_clock() - begin;
    mer_arena_free(scratch);
}

#endif
