/* Schedules priced per second on one core: 100 jobs on 4 cores (s1 shape), full evaluations with and
 * without decoding, the virtual-time form, and local moves from a trail. Lines are `name value unit`. */
#include "base/log.h"
#include "cost/bandwidth.h"
#include "cost/core_pricer.h"
#include "mercator/registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 256, ROUNDS = 200 };

typedef struct Bench {
    MerArena    *arena, *scratch;
    MerProblem   problem;
    MerEvaluator evaluator;
    MerTask      task;
    MerIndex    *points; /* POINTS x knobs */
    MerPlan     *plans;
} Bench;

static void fail(const MerError *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static const void *fill(const char *text, const MerOption *table, size_t size, MerArena *arena)
{
    MerReference reference;
    MerError     error = {0};
    void        *options = mer_arena_alloc(arena, size);
    if (mer_reference_parse(text, &reference, arena, &error) != MER_OK ||
        mer_options_fill(table, NULL, options, &reference, arena, &error) != MER_OK) {
        fail(&error);
    }
    return options;
}

static void open_bench(Bench *bench, const char *workload, const char *platform,
                       const char *evaluator)
{
    MerError           error = {0};
    MerGraph          *graph;
    const MerPlatform *machine;
    const MerTask     *tasks;
    int                count;
    bench->arena = mer_arena_new();
    bench->scratch = mer_arena_new();
    const MerProblemClass   *type = mer_problem_find("schedule", NULL);
    const MerEvaluatorClass *pricer = mer_evaluator_find("bandwidth", NULL);
    if (mer_graph_import(workload, NULL, bench->arena, &graph, &error) != MER_OK ||
        mer_platform_read(platform, bench->arena, &machine, &error) != MER_OK) {
        fail(&error);
    }
    bench->problem = (MerProblem){.type = type,
                                  .graph = graph,
                                  .platform = machine,
                                  .plan = MER_PLAN_JOBS,
                                  .pricer = &mer_core_pricer,
                                  .task = &bench->task,
                                  .state = mer_arena_alloc(bench->arena, type->state_size),
                                  .options = fill("schedule:table=m3e-compat", type->options,
                                                  type->options_size, bench->arena)};
    if (type->tasks(&bench->problem, bench->arena, &tasks, &count, &error) != MER_OK) {
        fail(&error);
    }
    bench->task = tasks[0];
    const void *options = fill(evaluator, pricer->options, pricer->options_size, bench->arena);
    bench->evaluator =
        (MerEvaluator){pricer, mer_arena_alloc(bench->arena, pricer->state_size), options};
    if (type->open(&bench->problem, bench->arena, &error) != MER_OK ||
        pricer->open(bench->evaluator.state, &bench->problem, options, bench->arena, &error) !=
            MER_OK) {
        fail(&error);
    }
    int    knobs = bench->problem.space.knob_count;
    MerRng rng = mer_rng_make(1, 0);
    bench->points = MER_ARRAY(bench->arena, MerIndex, POINTS * knobs);
    bench->plans = MER_ARRAY(bench->arena, MerPlan, POINTS);
    for (int i = 0; i < POINTS; i++) {
        mer_space_sample(&bench->problem.space, &rng, bench->points + i * knobs);
        type->decode(&bench->problem, bench->points + i * knobs, &bench->plans[i], bench->arena);
    }
}

static double price(const Bench *bench, const MerPlan *plan, const void *base, void *trail)
{
    MerCost cost;
    MerCall call = {.scratch = bench->scratch,
                    .limit = INFINITY,
                    .limit_metric = MER_METRIC_COUNT,
                    .base = base,
                    .trail = trail};
    bench->evaluator.type->evaluate(bench->evaluator.state, plan, &call, &cost);
    return cost.value[MER_METRIC_CYCLES];
}

static double full_rate(const Bench *bench, bool decodes)
{
    double sum = 0;
    double begin = mer_cpu_clock();
    int    knobs = bench->problem.space.knob_count;
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < POINTS; i++) {
            MerPlan plan = bench->plans[i];
            if (decodes) {
                bench->problem.type->decode(&bench->problem, bench->points + i * knobs, &plan,
                                            bench->scratch);
            }
            sum += price(bench, &plan, NULL, NULL);
            mer_arena_reset(bench->scratch);
        }
    }
    return sum > 0 ? ROUNDS * POINTS / (mer_cpu_clock() - begin) : 0;
}

/* Exchanges two jobs that stand late in their queues, prices, and undoes it: what a late annealer does. */
static double local_rate(const Bench *bench)
{
    MerJobsPlan *plan = &bench->plans[0].as.jobs;
    size_t       size = bench->evaluator.type->trail_size(bench->evaluator.state);
    void        *base = mer_arena_alloc(bench->arena, size);
    double       sum = price(bench, &bench->plans[0], NULL, base);
    MerRng       rng = mer_rng_make(2, 0);
    double       begin = mer_cpu_clock();
    for (int i = 0; i < ROUNDS * POINTS; i++) {
        int a = mer_rng_below(&rng, plan->job_count);
        int b = mer_rng_below(&rng, plan->job_count);
        int job = plan->queue[a];
        plan->queue[a] = plan->queue[b];
        plan->queue[b] = job;
        sum += price(bench, &bench->plans[0], base, NULL);
        plan->queue[b] = plan->queue[a];
        plan->queue[a] = job;
    }
    return sum > 0 ? ROUNDS * POINTS / (mer_cpu_clock() - begin) : 0;
}

int main(void)
{
    static const struct {
        const char *name, *workload, *platform;
    } cases[] = {{"100x4", "synthetic:100:1", "s1"},
                 {"100x8", "synthetic:100:1", "s3"},
                 {"100x16", "synthetic:100:1", "s6"},
                 {"1000x4", "synthetic:1000:1", "s1"}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        Bench exact, fast;
        open_bench(&exact, cases[c].workload, cases[c].platform, "bandwidth");
        open_bench(&fast, cases[c].workload, cases[c].platform, "bandwidth:precision=fast");
        printf("bandwidth_%s %.0f evaluations/s\n", cases[c].name, full_rate(&exact, false));
        printf("bandwidth_decode_%s %.0f evaluations/s\n", cases[c].name, full_rate(&exact, true));
        printf("bandwidth_moves_%s %.0f evaluations/s\n", cases[c].name, local_rate(&exact));
        printf("bandwidth_virtual_%s %.0f evaluations/s\n", cases[c].name, full_rate(&fast, false));
        mer_arena_free(exact.arena);
        mer_arena_free(fast.arena);
    }
    return 0;
}
