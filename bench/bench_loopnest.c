/* Evaluations per second of the loop-nest model on one core: from a plan to its cost one by one and in
 * batches, and from a point of the search space to its cost. CPU time, the best of
 * several repeats. Lines are `name value unit`. */
#include "base/log.h"
#include "mercator/evaluator.h"
#include "mercator/registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLANS = 512, CHUNK = 32, REPEATS = 25, ROUNDS = 20 };

typedef struct Bench { /* one layer, with random feasible plans of it */
    const char  *name;
    MerArena    *arena, *scratch;
    MerProblem   problem;
    MerEvaluator evaluator;
    MerTask      task;
    MerCall      calls[CHUNK];
    MerIndex    *points[PLANS]; /* of the plans, */
    MerIndex    *random[PLANS]; /* and any point, feasible or not */
    MerPlan      plans[PLANS];
    MerCost      costs[PLANS];
} Bench;

static void fail(const char *what)
{
    fprintf(stderr, "bench_loopnest: %s\n", what);
    exit(1);
}

static MerGraph *layer_graph(int k, int c, int size, int filter, int stride, MerArena *arena)
{
    MerGraph *graph = mer_graph_new("layer", arena);
    MerOp     op = mer_op_make("layer", "bench", MER_OP_CONV);
    op.dims[MER_DIM_K] = k;
    op.dims[MER_DIM_C] = c;
    op.dims[MER_DIM_Y] = size;
    op.dims[MER_DIM_X] = filter > 1 ? size : 1; /* filter 1: a matrix product */
    op.dims[MER_DIM_R] = op.dims[MER_DIM_S] = filter;
    op.stride[0] = op.stride[1] = stride;
    mer_graph_add_op(graph, &op);
    if (mer_graph_finish(graph, NULL) != MER_OK) {
        fail("the layer is not valid");
    }
    return graph;
}

static void open_bench(Bench *bench, const MerGraph *graph, const MerPlatform *platform)
{
    const MerProblemClass   *type = mer_problem_find("map", NULL);
    const MerEvaluatorClass *evaluator = mer_evaluator_find("loopnest", NULL);
    void                    *options = mer_arena_alloc(bench->arena, type->options_size);
    void *evaluator_options = mer_arena_alloc(bench->arena, evaluator->options_size);
    mer_options_defaults(type->options, options, bench->arena);
    mer_options_defaults(evaluator->options, evaluator_options, bench->arena);
    bench->task = (MerTask){"layer", 1, (double)graph->macs, 0, 0, NULL};
    bench->problem = (MerProblem){.type = type,
                                  .plan = evaluator->plans[0],
                                  .options = options,
                                  .graph = graph,
                                  .platform = platform,
                                  .task = &bench->task,
                                  .state = mer_arena_alloc(bench->arena, type->state_size)};
    bench->evaluator = (MerEvaluator){
        evaluator, mer_arena_alloc(bench->arena, evaluator->state_size), evaluator_options};
    if (type->open(&bench->problem, bench->arena, NULL) != MER_OK ||
        evaluator->open(bench->evaluator.state, &bench->problem, evaluator_options, bench->arena,
                        NULL) != MER_OK) {
        fail("the problem does not open");
    }
    for (int i = 0; i < CHUNK; i++) {
        bench->calls[i] = (MerCall){
            .scratch = bench->scratch, .limit_metric = MER_METRIC_COUNT, .limit = INFINITY};
    }
}

static void sample_plans(Bench *bench)
{
    const MerSpace *space = &bench->problem.space;
    size_t          bytes = (size_t)space->knob_count * sizeof(MerIndex);
    MerRng          rng = mer_rng_make(1, 0);
    int             drawn = 0;
    for (int found = 0; found < PLANS; drawn++) {
        MerIndex *point = mer_arena_alloc(bench->scratch, bytes);
        MerPlan   plan;
        mer_space_sample(space, &rng, point);
        bench->problem.type->decode(&bench->problem, point, &plan, bench->scratch);
        bench->evaluator.type->evaluate(bench->evaluator.state, &plan, &bench->calls[0],
                                        &bench->costs[0]);
        MerIndex *copy = NULL;
        if (drawn < PLANS || bench->costs[0].feasible) {
            copy = memcpy(mer_arena_alloc(bench->arena, bytes), point, bytes);
        }
        if (drawn < PLANS) {
            bench->random[drawn] = copy;
        }
        if (bench->costs[0].feasible) {
            bench->points[found] = copy;
            bench->problem.type->decode(&bench->problem, copy, &bench->plans[found++],
                                        bench->arena);
        }
        mer_arena_reset(bench->scratch);
    }
}

typedef void Pass(Bench *bench); /* handles PLANS plans or points */

static void pass_plain(Bench *bench)
{
    for (int i = 0; i < PLANS; i++) {
        bench->evaluator.type->evaluate(bench->evaluator.state, &bench->plans[i], &bench->calls[0],
                                        &bench->costs[i]);
    }
}

static void pass_batch(Bench *bench)
{
    for (int i = 0; i < PLANS; i += CHUNK) {
        bench->evaluator.type->evaluate_batch(bench->evaluator.state, &bench->plans[i], CHUNK,
                                              bench->calls, &bench->costs[i]);
    }
}

static void price_points(Bench *bench, MerIndex *const *points)
{
    for (int i = 0; i < PLANS; i++) {
        MerPlan plan;
        bench->problem.type->decode(&bench->problem, points[i], &plan, bench->scratch);
        bench->evaluator.type->evaluate(bench->evaluator.state, &plan, &bench->calls[0],
                                        &bench->costs[i]);
        if (i % CHUNK == 0) {
            mer_arena_reset(bench->scratch);
        }
    }
}

static void pass_decode(Bench *bench)
{
    for (int i = 0; i < PLANS; i++) {
        MerPlan plan;
        bench->problem.type->decode(&bench->problem, bench->points[i], &plan, bench->scratch);
        if (i % CHUNK == 0) {
            mer_arena_reset(bench->scratch);
        }
    }
}

static void pass_points(Bench *bench)
{
    price_points(bench, bench->points);
}

static void pass_random_points(Bench *bench)
{
    price_points(bench, bench->random);
}

static const struct {
    Pass       *pass;
    const char *name, *unit;
} passes[] = {{pass_plain, "plain", "evaluations/s"},
              {pass_batch, "batch", "evaluations/s"},
              {pass_decode, "decode", "points/s"},
              {pass_points, "decode_evaluate", "points/s"},
              {pass_random_points, "decode_evaluate_any", "points/s"}};
enum { PASSES = sizeof passes / sizeof passes[0] };

/* Takes turns, so that a busy machine slows all of them alike. */
static void measure(Bench *bench)
{
    double rate[PASSES] = {0};
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        for (int p = 0; p < PASSES; p++) {
            double begin = mer_cpu_clock();
            for (int round = 0; round < ROUNDS; round++) {
                passes[p].pass(bench);
            }
            rate[p] = fmax(rate[p], (double)ROUNDS * PLANS / (mer_cpu_clock() - begin));
        }
    }
    for (int p = 0; p < PASSES; p++) {
        printf("loopnest_%s_%s %.0f %s\n", bench->name, passes[p].name, rate[p], passes[p].unit);
    }
    printf("loopnest_%s_batch_by_plain %.2f ratio\n", bench->name, rate[1] / rate[0]);
}

static void run_bench(const char *name, const MerGraph *graph, const MerPlatform *platform)
{
    Bench *bench = calloc(1, sizeof *bench);
    if (!bench) {
        fail("out of memory");
    }
    bench->name = name;
    bench->arena = mer_arena_new();
    bench->scratch = mer_arena_new();
    open_bench(bench, graph, platform);
    sample_plans(bench);
    measure(bench);
    mer_arena_free(bench->arena);
    mer_arena_free(bench->scratch);
    free(bench);
}

int main(void)
{
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform;
    if (mer_platform_read("s256", arena, &platform, NULL) != MER_OK) {
        fail("the platform s256 cannot be read");
    }
    run_bench("r50_c3_3x3", layer_graph(128, 128, 28, 3, 1, arena), platform);
    run_bench("r50_conv1", layer_graph(64, 3, 112, 7, 2, arena), platform);
    run_bench("gemm_bert_qkv", layer_graph(768, 768, 512, 1, 1, arena), platform);
    mer_arena_free(arena);
    return 0;
}
