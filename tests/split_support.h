/* The problem `split` and its evaluator, opened for tests, and plans that solvers make. */
#ifndef MERCATOR_TESTS_SPLIT_SUPPORT_H
#define MERCATOR_TESTS_SPLIT_SUPPORT_H

#include "run_support.h"

#include "mercator/evaluator.h"
#include "split/split_parts.h"

typedef struct OpenedSplit {
    MerTask         task;
    MerProblem      problem;
    MerEvaluator    evaluator;
    const MerSplit *split;
    MerArena       *arena;
} OpenedSplit;

/* `problem` and `evaluator` with options: "split:tie=true", "soc:memory=check". */
static inline OpenedSplit *open_split_graph(const char *problem, const char *evaluator,
                                            const MerGraph *graph, const MerPlatform *platform,
                                            MerArena *arena)
{
    OpenedSplit             *opened = MER_NEW(arena, OpenedSplit);
    const MerProblemClass   *type = mer_problem_find("split", NULL);
    const MerEvaluatorClass *priced = mer_evaluator_find("soc", NULL);
    MerError                 error = {0};
    opened->arena = arena;
    opened->task = (MerTask){.name = "graph", .count = 1, .op = -1};
    opened->problem =
        (MerProblem){.type = type,
                     .options = options_from(problem, type->options, type->options_size, arena),
                     .graph = graph,
                     .platform = platform,
                     .task = &opened->task,
                     .plan = &mer_plan_split,
                     .state = mer_arena_alloc(arena, type->state_size)};
    opened->evaluator =
        (MerEvaluator){priced, mer_arena_alloc(arena, priced->state_size + 1),
                       options_from(evaluator, priced->options, priced->options_size, arena)};
    if (type->open(&opened->problem, arena, &error) != MER_OK ||
        priced->open(opened->evaluator.state, &opened->problem, opened->evaluator.options, arena,
                     &error) != MER_OK) {
        fail_msg("%s: %s", graph->name, error.message);
    }
    opened->split = mer_split_of(&opened->problem);
    return opened;
}

static inline OpenedSplit *open_split(const char *problem, const char *evaluator,
                                      const char *workload, const char *platform, MerArena *arena)
{
    return open_split_graph(problem, evaluator, graph_named(workload, arena),
                            platform[0] == '{' ? platform_from(platform, arena)
                                               : platform_named(platform, arena),
                            arena);
}

static inline const MerSplitRules *rules_of_split(const OpenedSplit *opened)
{
    return opened->evaluator.type->rules(opened->evaluator.state);
}

/* A solver as a run would open it; fails if it does not open. */
static inline void *open_split_solver(OpenedSplit *opened, const char *text, MerMetric objective,
                                      const MerOptimizerClass **type)
{
    MerReference reference;
    MerError     error = {0};
    MerRng      *rng = MER_NEW(opened->arena, MerRng);
    MerSearch   *search = MER_NEW(opened->arena, MerSearch);
    *rng = mer_rng_make(1, 0);
    assert_int_equal(mer_reference_parse(text, &reference, opened->arena, &error), MER_OK);
    *type = mer_optimizer_find(reference.name, &error);
    if (!*type) {
        fail_msg("%s", error.message);
    }
    *search = (MerSearch){.space = &opened->problem.space,
                          .graph = opened->problem.graph,
                          .task_count = 1,
                          .objective = objective,
                          .budget = 1000,
                          .rng = rng,
                          .seed = 1,
                          .arena = opened->arena};
    void       *state = mer_arena_alloc(opened->arena, (*type)->state_size + 1);
    const void *options = options_with(text, (*type)->options, (*type)->presets,
                                       (*type)->options_size, opened->arena);
    if ((*type)->open_problem(state, search, &opened->problem, &opened->evaluator, options,
                              &error) != MER_OK) {
        fail_msg("%s: %s", text, error.message);
    }
    return state;
}

/* The first plan that a solver proposes. */
static inline MerPlan plan_by(OpenedSplit *opened, const char *text, MerMetric objective)
{
    const MerOptimizerClass *type;
    void                    *state = open_split_solver(opened, text, objective, &type);
    MerProposal              proposal = {
                     .point = MER_ARRAY(opened->arena, MerIndex, opened->problem.space.knob_count + 1),
                     .limit = INFINITY,
                     .base = -1};
    MerPlan plan;
    assert_int_equal(type->ask(state, &proposal, 1), 1);
    opened->problem.type->decode(&opened->problem, proposal.point, &plan, opened->arena);
    if (type->close) {
        type->close(state);
    }
    return plan;
}

static inline MerCost cost_of(const OpenedSplit *opened, const MerPlan *plan)
{
    MerCost cost;
    MerCall call = {.scratch = opened->arena, .limit_metric = MER_METRIC_COUNT, .limit = INFINITY};
    opened->evaluator.type->evaluate(opened->evaluator.state, plan, &call, &cost);
    return cost;
}

/* One convolution (or depthwise, or product where `kernel` is 1 and the image a point) as a network. */
static inline MerGraph *layer_graph(const char *type, int c_in, int c_out, int kernel, int rows,
                                    int columns, MerArena *arena)
{
    bool  is_depthwise = strcmp(type, "depthwise") == 0, is_linear = strcmp(type, "linear") == 0;
    MerOp op = mer_op_make("layer", "test",
                           is_depthwise ? MER_OP_DEPTHWISE
                           : is_linear  ? MER_OP_GEMM
                                        : MER_OP_CONV);
    op.dims[MER_DIM_K] = is_depthwise ? 1 : c_out;
    op.dims[MER_DIM_C] = c_in;
    op.dims[MER_DIM_Y] = rows;
    op.dims[MER_DIM_X] = columns;
    op.dims[MER_DIM_R] = kernel;
    op.dims[MER_DIM_S] = kernel;
    op.input_rows = rows;
    op.input_columns = columns;
    return one_op_graph(&op, arena);
}

#endif
