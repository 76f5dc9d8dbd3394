/* Small runs for tests: a layer as a graph, platforms, options, and runs that must succeed. */
#ifndef MERCATOR_TESTS_RUN_SUPPORT_H
#define MERCATOR_TESTS_RUN_SUPPORT_H

#include "support.h"

#include "mercator/import.h"
#include "mercator/registry.h"
#include "mercator/run.h"

static inline MerGraph *one_op_graph(const MerOp *op, MerArena *arena)
{
    MerGraph *graph = mer_graph_new("layer", arena);
    MerError  error = {0};
    mer_graph_add_op(graph, op);
    if (mer_graph_finish(graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return graph;
}

static inline MerGraph *one_layer_graph(int k, int c, int y, int x, int r, int s, MerArena *arena)
{
    MerOp op = mer_op_make("layer", "test", MER_OP_CONV);
    op.dims[MER_DIM_K] = k;
    op.dims[MER_DIM_C] = c;
    op.dims[MER_DIM_Y] = y;
    op.dims[MER_DIM_X] = x;
    op.dims[MER_DIM_R] = r;
    op.dims[MER_DIM_S] = s;
    return one_op_graph(&op, arena);
}

/* A file, a built-in network or a synthetic one. */
static inline MerGraph *graph_named(const char *name, MerArena *arena)
{
    MerGraph *graph = NULL;
    MerError  error = {0};
    if (mer_graph_import(name, NULL, arena, &graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return graph;
}

static inline const MerPlatform *platform_named(const char *name, MerArena *arena)
{
    const MerPlatform *platform = NULL;
    MerError           error = {0};
    if (mer_platform_read(name, arena, &platform, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return platform;
}

static inline const MerPlatform *platform_from(const char *text, MerArena *arena)
{
    const MerPlatform *platform = NULL;
    MerError           error = {0};
    if (mer_platform_parse("test.yaml", text, strlen(text), arena, &platform, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return platform;
}

/* The options of a plug-in from a reference to it, `name:key=value,...`. */
static inline const void *options_with(const char *text, const MerOption *table,
                                       const MerPreset *presets, size_t size, MerArena *arena)
{
    MerReference reference;
    MerError     error = {0};
    void        *options = mer_arena_alloc(arena, size + 1);
    if (mer_reference_parse(text, &reference, arena, &error) != MER_OK ||
        (table && mer_options_fill(table, presets, options, &reference, arena, &error) != MER_OK)) {
        fail_msg("%s", error.message);
    }
    return options;
}

static inline const void *options_from(const char *text, const MerOption *table, size_t size,
                                       MerArena *arena)
{
    return options_with(text, table, NULL, size, arena);
}

static inline const char *name_in(const char *reference, MerArena *arena)
{
    return mer_arena_text_n(arena, reference, strcspn(reference, ":"));
}

/* A run of plug-ins given by references, on one thread with seed 1; `optimizer` may be NULL. */
static inline MerRunSpec spec_from(const char *problem, const char *evaluator,
                                   const char *optimizer, const MerGraph *graph,
                                   const char *platform, MerArena *arena)
{
    MerRunSpec spec = {.name = "test",
                       .problem = mer_problem_find(name_in(problem, arena), NULL),
                       .graph = graph,
                       .platform = platform_named(platform, arena),
                       .evaluator = mer_evaluator_find(name_in(evaluator, arena), NULL),
                       .seed = 1,
                       .threads = 1};
    assert_non_null(spec.problem);
    assert_non_null(spec.evaluator);
    spec.problem_options =
        options_from(problem, spec.problem->options, spec.problem->options_size, arena);
    spec.evaluator_options =
        options_from(evaluator, spec.evaluator->options, spec.evaluator->options_size, arena);
    if (optimizer) {
        spec.optimizer = mer_optimizer_find(name_in(optimizer, arena), NULL);
        assert_non_null(spec.optimizer);
        spec.optimizer_options =
            options_with(optimizer, spec.optimizer->options, spec.optimizer->presets,
                         spec.optimizer->options_size, arena);
    }
    return spec;
}

static inline MerRunResult run_or_fail(const MerRunSpec *spec, const MerRunHooks *hooks,
                                       MerArena *arena)
{
    MerRunResult result;
    MerError     error = {0};
    MerRunSpec   forced = *spec;
    forced.force = true; /* tests use one folder for several runs */
    if (mer_run(&forced, hooks, arena, &result, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return result;
}

/* A hook that cancels a run when it is asked for the n-th time. */
typedef struct Countdown {
    int left;
} Countdown;

static inline bool count_down(void *state)
{
    Countdown *countdown = state;
    return countdown->left-- <= 0;
}

#endif
