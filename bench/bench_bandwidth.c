/* Schedules priced per second on one core: full evaluations with and without decoding, the virtual-time form,
 * jobs that wait for each other, and local moves of an annealing on 100 jobs and 4 cores. Lines are `name value
 * unit`. */
#include "base/log.h"
#include "mercator/registry.h"
#include "schedule/cost/bandwidth.h"
#include "schedule/table/layer_pricer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 256, ROUNDS = 20, REPEATS = 4 };

typedef struct Bench {
    MerArena    *arena, *scratch;
    MerProblem   problem;
    MerEvaluator evaluator;
    MerTask      task;
    MerIndex    *points; /* POINTS x knobs */
    MerPlan     *plans;
} Bench;

_Noreturn static void fail(const MerError *error)
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

static void open_batch(Bench *bench, const char *workload, int batch, const char *platform,
                       double bandwidth, const char *evaluator)
{
    char               problem[96];
    MerError           error = {0};
    MerGraph          *graph;
    const MerPlatform *machine;
    const MerTask     *tasks;
    int                count;
    snprintf(problem, sizeof problem, "schedule:table=m3e-compat,bandwidth=%g,batch_size=%d",
             bandwidth, batch);
    bench->arena = mer_arena_new();
    bench->scratch = mer_arena_new();
    const MerProblemClass   *type = mer_problem_find("schedule", NULL);
    const MerEvaluatorClass *pricer = mer_evaluator_find("bandwidth", NULL);
    if (mer_graph_import(workload, NULL, bench->arena, &graph, &error) != MER_OK ||
        mer_platform_read(platform, bench->arena, &machine, &error) != MER_OK) {
        fail(&error);
    }
    bench->problem =
        (MerProblem){.type = type,
                     .graph = graph,
                     .platform = machine,
                     .plan = &mer_plan_jobs,
                     .task = &bench->task,
                     .state = mer_arena_alloc(bench->arena, type->state_size),
                     .options = fill(problem, type->options, type->options_size, bench->arena)};
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

static void open_bench(Bench *bench, const char *workload, const char *platform, double bandwidth,
                       const char *evaluator)
{
    open_batch(bench, workload, 1, platform, bandwidth, evaluator);
}

static double price(const Bench *bench, const MerPlan *plan, double limit, const void *base,
                    void *snapshot, MerCost *cost)
{
    MerCall call = {.scratch = bench->scratch,
                    .limit = limit,
                    .limit_metric = MER_METRIC_CYCLES,
                    .base = base,
                    .snapshot = snapshot};
    bench->evaluator.type->evaluate(bench->evaluator.state, plan, &call, cost);
    return cost->value[MER_METRIC_CYCLES];
}

/* The best of a few rounds: what other programs take away is not the evaluator's. */
static double full_rate(const Bench *bench, bool decodes)
{
    MerCost cost;
    double  best = 0;
    int     knobs = bench->problem.space.knob_count;
    for (int r = 0; r < ROUNDS; r++) {
        double begin = mer_cpu_clock();
        for (int i = 0; i < REPEATS * POINTS; i++) {
            MerPlan plan = bench->plans[i % POINTS];
            if (decodes) {
                bench->problem.type->decode(&bench->problem, bench->points + i % POINTS * knobs,
                                            &plan, bench->scratch);
            }
            price(bench, &plan, INFINITY, NULL, NULL, &cost);
            mer_arena_reset(bench->scratch);
        }
        best = fmax(best, REPEATS * POINTS / (mer_cpu_clock() - begin));
    }
    return best;
}

/* Takes the job at place `from` of the queues to place `to` of what is left, on `unit`. */
static void take_elsewhere(MerJobsPlan *plan, int from, int to, int old_unit, int unit)
{
    int job = plan->queue[from];
    memmove(plan->queue + from, plan->queue + from + 1,
            (size_t)(plan->job_count - 1 - from) * sizeof(int));
    memmove(plan->queue + to + 1, plan->queue + to,
            (size_t)(plan->job_count - 1 - to) * sizeof(int));
    plan->queue[to] = job;
    for (int u = old_unit; u < unit; u++) {
        plan->start[u + 1]--;
    }
    for (int u = unit; u < old_unit; u++) {
        plan->start[u + 1]++;
    }
}

typedef struct Move {
    bool is_swap;
    int  from, to, old_unit, unit;
} Move;

static int unit_at(const MerJobsPlan *plan, int place)
{
    int unit = 0;
    while (plan->start[unit + 1] <= place) {
        unit++;
    }
    return unit;
}

/* The neighbours of the recorded recipe (docs/optimizers.md, "Annealing of schedules"): half exchange two
 * jobs, half take one elsewhere. */
static Move make_move(MerJobsPlan *plan, MerRng *rng)
{
    Move move = {.is_swap = mer_rng_below(rng, 2) == 0,
                 .from = mer_rng_below(rng, plan->job_count)};
    move.old_unit = unit_at(plan, move.from);
    if (move.is_swap) {
        move.to = mer_rng_below(rng, plan->job_count);
    } else {
        move.unit = mer_rng_below(rng, plan->unit_count);
        int first = plan->start[move.unit] - (move.unit > move.old_unit);
        int count = plan->start[move.unit + 1] - plan->start[move.unit];
        move.to = first + mer_rng_below(rng, count + (move.unit != move.old_unit));
    }
    return move;
}

static void apply(MerJobsPlan *plan, const Move *move, bool is_undone)
{
    if (move->is_swap) {
        int job = plan->queue[move->from];
        plan->queue[move->from] = plan->queue[move->to];
        plan->queue[move->to] = job;
    } else if (is_undone) {
        take_elsewhere(plan, move->to, move->from, move->unit, move->old_unit);
    } else {
        take_elsewhere(plan, move->from, move->to, move->old_unit, move->unit);
    }
}

typedef struct MoveRates {
    double annealing, settled;   /* moves per second, over all temperatures and at the end */
    double taken, settled_taken; /* share of them that was accepted */
} MoveRates;

/* Local moves: an annealing of 7.3 from a random plan, temperatures from 1.5 % to 0.001 % of the makespan (the
 * default's), then as many moves again at the last one. Every neighbour is made, priced against its
 * acceptance threshold from the snapshot of the current plan, and taken or undone; each counts as one. */
static MoveRates anneal(const Bench *bench, void **snapshots)
{
    enum { MOVES = 50000 };
    MerPlan   plan;
    MerCost   cost;
    MoveRates rates = {0};
    MerRng    rng = mer_rng_make(2, 0);
    bench->problem.type->decode(&bench->problem, bench->points, &plan, bench->scratch);
    double score = price(bench, &plan, INFINITY, NULL, snapshots[0], &cost);
    double begin = mer_cpu_clock();
    int    taken = 0;
    for (int i = 0; i < 2 * MOVES; i++) {
        double progress = i < MOVES ? (double)i / MOVES : 1;
        double heat = 0.015 * pow(1e-5 / 0.015, progress);
        double threshold = score - heat * score * log(1 - mer_rng_unit(&rng));
        Move   move = make_move(mer_jobs_plan(&plan), &rng);
        apply(mer_jobs_plan(&plan), &move, false);
        double found = price(bench, &plan, threshold, snapshots[0], snapshots[1], &cost);
        if (cost.cut) {
            apply(mer_jobs_plan(&plan), &move, true);
        } else {
            void *snapshot = snapshots[0];
            snapshots[0] = snapshots[1];
            snapshots[1] = snapshot;
            score = found;
            taken++;
        }
        if (i + 1 == MOVES) {
            rates.annealing = MOVES / (mer_cpu_clock() - begin);
            rates.taken = (double)taken / MOVES;
            begin = mer_cpu_clock();
            taken = 0;
        }
    }
    rates.settled = MOVES / (mer_cpu_clock() - begin);
    rates.settled_taken = (double)taken / MOVES;
    mer_arena_reset(bench->scratch);
    return rates;
}

static MoveRates move_rates(const Bench *bench)
{
    size_t size = bench->evaluator.type->snapshot_size(bench->evaluator.state);
    void *snapshots[2] = {mer_arena_alloc(bench->arena, size), mer_arena_alloc(bench->arena, size)};
    MoveRates best = {0};
    for (int r = 0; r < ROUNDS; r++) {
        MoveRates rates = anneal(bench, snapshots);
        best.annealing = fmax(best.annealing, rates.annealing);
        best.settled = fmax(best.settled, rates.settled);
        best.taken = rates.taken;
        best.settled_taken = rates.settled_taken;
    }
    return best;
}

/* s1 and s2 at little and much bandwidth, then their geometric mean. */
static void print_moves(const char *name, const char *evaluator)
{
    static const double bandwidths[] = {1, 16};
    double              logs = 0;
    for (int i = 0; i < 4; i++) {
        Bench       bench;
        const char *platform = i / 2 == 0 ? "s1" : "s2";
        open_bench(&bench, "synthetic:100:1", platform, bandwidths[i % 2], evaluator);
        MoveRates rates = move_rates(&bench);
        printf("bandwidth_%s_100x4_%s_%g %.0f moves/s (%.0f%% taken)\n", name, platform,
               bandwidths[i % 2], rates.annealing, 100 * rates.taken);
        printf("bandwidth_settled_%s_100x4_%s_%g %.0f moves/s (%.0f%% taken)\n", name, platform,
               bandwidths[i % 2], rates.settled, 100 * rates.settled_taken);
        logs += log(rates.annealing);
        mer_arena_free(bench.arena);
    }
    printf("bandwidth_%s_100x4 %.0f moves/s\n", name, exp(logs / 4));
}

/* Jobs that wait for each other: free cores find the next one in heaps, or by walking their queues. */
static double waiting_rate(const Bench *bench, bool walks)
{
    MerBandwidthState  state = *mer_bandwidth_state(&bench->evaluator);
    MerBandwidthTimes  times;
    MerBandwidthOutput output;
    double             best = 0;
    state.input.walks_queues = walks;
    for (int r = 0; r < ROUNDS; r++) {
        double begin = mer_cpu_clock();
        mer_bandwidth_simulate(&state, mer_jobs_plan(&bench->plans[r % POINTS]), bench->scratch,
                               &times, NULL, &output);
        best = fmax(best, 1 / (mer_cpu_clock() - begin));
        mer_arena_reset(bench->scratch);
    }
    return best;
}

static void print_waiting(void)
{
    static const int batches[] = {5, 50, 500}; /* of 21 layers each */
    for (int i = 0; i < 3; i++) {
        Bench bench;
        open_batch(&bench, "resnet18", batches[i], "s1", 0, "bandwidth");
        int jobs = mer_schedule_of(&bench.problem)->job_count;
        printf("bandwidth_waiting_%dx4 %.0f evaluations/s\n", jobs, waiting_rate(&bench, false));
        printf("bandwidth_walking_%dx4 %.0f evaluations/s\n", jobs, waiting_rate(&bench, true));
        mer_arena_free(bench.arena);
    }
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
        Bench       exact, fast;
        const char *name = cases[c].name;
        open_bench(&exact, cases[c].workload, cases[c].platform, 0, "bandwidth");
        open_bench(&fast, cases[c].workload, cases[c].platform, 0, "bandwidth:precision=fast");
        printf("bandwidth_%s %.0f evaluations/s\n", name, full_rate(&exact, false));
        printf("bandwidth_decode_%s %.0f evaluations/s\n", name, full_rate(&exact, true));
        printf("bandwidth_virtual_%s %.0f evaluations/s\n", name, full_rate(&fast, false));
        mer_arena_free(exact.arena);
        mer_arena_free(fast.arena);
    }
    print_waiting();
    print_moves("moves", "bandwidth");
    print_moves("virtual_moves", "bandwidth:precision=fast");
    return 0;
}
