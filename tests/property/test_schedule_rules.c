/* Laws that hold whatever the rules, on random jobs with dependencies, releases, deadlines and tenants: nobody
 * starts too early, cores run one job at a time, bandwidth is never overdrawn, and every byte moves once. */
#include "one_arena.h"
#include "schedule_support.h"

#include "schedule/jobs/jobs_import.h"

/* 5 to 40 products; `density` per cent of jobs wait for an earlier one, some come late, some must end soon. */
static MerGraph *random_jobs(MerRng *rng, int density)
{
    const char *text = "format: mercator-jobs/1\njobs:\n";
    int         count = 5 + mer_rng_below(rng, 36);
    for (int j = 0; j < count; j++) {
        const char *more = "";
        int         release = 0;
        if (j > 0 && mer_rng_below(rng, 100) < density) {
            more = mer_arena_format(arena, ", after: [j%d, j%d]", mer_rng_below(rng, j),
                                    mer_rng_below(rng, j));
        }
        if (density > 0 && mer_rng_below(rng, 4) == 0) {
            release = mer_rng_below(rng, 20000);
            more = mer_arena_format(arena, "%s, release_cycles: %d", more, release);
        }
        if (density > 0 && mer_rng_below(rng, 4) == 0) {
            more = mer_arena_format(arena, "%s, deadline_cycles: %d", more,
                                    release + mer_rng_below(rng, 60000));
        }
        text = mer_arena_format(arena,
                                "%s  - {name: j%d, op: gemm, dims: [%d, %d, %d], tenant: t%d%s}\n",
                                text, j, 1 + mer_rng_below(rng, 64), 1 + mer_rng_below(rng, 512),
                                1 + mer_rng_below(rng, 512), density > 0 ? j % 3 : 0, more);
    }
    MerImportFile file = {.path = "random", .name = "random", .data = text, .size = strlen(text)};
    MerGraph     *graph = NULL;
    MerError      error = {0};
    if (mer_importer_jobs.read(&file, NULL, arena, &graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return graph;
}

static const char *random_rules(MerRng *rng)
{
    static const char *const shares[] = {"proportional", "maxmin", "even", "priority", "reserved"};
    static const char *const dispatches[] = {"skip", "skip", "strict", "policy"};
    static const char *const policies[] = {
        "fcfs", "sjf", "edf", "least_laxity", "latency_greedy", "edp_greedy", "balanced"};
    return mer_arena_format(
        arena,
        "bandwidth:loop=extended,share=%s,dispatch=%s,rule=%s,switch_cycles=%d,late=%s,"
        "weight_reuse=%s,forward=%s",
        shares[mer_rng_below(rng, 5)], dispatches[mer_rng_below(rng, 4)],
        policies[mer_rng_below(rng, 7)], mer_rng_below(rng, 2) ? mer_rng_below(rng, 500) : 0,
        mer_rng_below(rng, 2) ? "run" : "drop", mer_rng_below(rng, 2) ? "off" : "same_layer",
        mer_rng_below(rng, 2) ? "off" : "same_core");
}

typedef struct Watch { /* what the segments add up to */
    const MerSchedule *schedule;
    double             end, *moved, bandwidth;
} Watch;

static void watch(void *state, const MerBandwidthSegment *segment)
{
    Watch *w = state;
    double sum = 0;
    assert_true(fabs(segment->t - w->end) <= 1e-9 * fmax(1, w->end));
    assert_true(segment->duration >= 0);
    for (int u = 0; u < w->schedule->unit_count; u++) {
        int job = segment->job[u];
        assert_true(segment->use[u] >= 0 && (job >= 0 || segment->use[u] == 0));
        sum += segment->use[u];
        if (job >= 0) {
            w->moved[job] += segment->use[u] * segment->duration;
        }
    }
    assert_true(sum <= w->bandwidth * (1 + 1e-12));
    w->end = segment->t + segment->duration;
}

static void check_job(const MerSchedule *schedule, const MerBandwidthTimes *times, int j)
{
    double start = times->start[j], end = times->end[j];
    double least = schedule->latency[j * schedule->unit_count + times->unit[j]];
    assert_true(start >= schedule->release[j]);
    assert_true(end - start >= least * (1 - 1e-9)); /* never faster than without stalls */
    for (int i = schedule->before_start[j]; i < schedule->before_start[j + 1]; i++) {
        assert_true(start >= times->end[schedule->before[i]]); /* false for a dropped one, too */
    }
}

/* Jobs of one core come one after the other, with the switch between them. */
static void check_cores(const MerSchedule *schedule, const MerBandwidthTimes *times, double gap)
{
    for (int a = 0; a < schedule->job_count; a++) {
        for (int b = 0; b < a; b++) {
            if (times->unit[a] < 0 || times->unit[a] != times->unit[b]) {
                continue;
            }
            bool is_a_first = times->start[a] < times->start[b] ||
                              (times->start[a] == times->start[b] && times->end[a] < times->end[b]);
            double end = is_a_first ? times->end[a] : times->end[b];
            double start = is_a_first ? times->start[b] : times->start[a];
            assert_true(start >= end + gap - 1e-9 * fmax(1, end));
        }
    }
}

static void check_plan(const OpenedSchedule *opened, const MerPlan *plan, int *deadlocks,
                       int *drops)
{
    const MerBandwidthState *state = mer_bandwidth_state(&opened->evaluator);
    const MerSchedule       *schedule = opened->schedule;
    Watch w = {schedule, 0, MER_ARRAY(arena, double, schedule->job_count), schedule->bandwidth};
    MerBandwidthRecorder recorder = {&w, watch};
    MerBandwidthTimes    times;
    MerBandwidthOutput   output;
    if (!mer_bandwidth_simulate(state, mer_jobs_plan(plan), arena, &times, &recorder, &output)) {
        assert_int_equal(state->input.rules.dispatch, MER_DISPATCH_STRICT);
        (*deadlocks)++;
        return;
    }
    double end = 0;
    int    dropped = 0;
    for (int j = 0; j < schedule->job_count; j++) {
        if (isnan(times.end[j])) {
            dropped++;
            continue;
        }
        check_job(schedule, &times, j);
        assert_true(!state->input.rules.drops_late || times.start[j] < schedule->deadline[j]);
        assert_true(fabs(w.moved[j] - times.moved[j]) <= 1e-6 * fmax(1, times.moved[j]));
        assert_true(times.moved[j] <=
                    schedule->traffic[j * schedule->unit_count + times.unit[j]] * (1 + 1e-12));
        end = fmax(end, times.end[j]);
    }
    check_cores(schedule, &times, state->input.rules.switch_cycles);
    assert_int_equal(dropped, times.dropped);
    assert_true(dropped == 0 || state->input.rules.drops_late);
    assert_true(fabs(end - output.cycles) <= 1e-9 * fmax(1, end));
    *drops += dropped > 0;
}

static void test_laws_hold_under_all_rules(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(21, 0);
    int    deadlocks = 0, drops = 0;
    for (int c = 0; c < 250; c++) {
        OpenedSchedule opened;
        const char    *problem = mer_arena_format(arena, "schedule:cache=off,bandwidth=%g",
                                                  pow(4, mer_rng_below(&rng, 5)));
        open_schedule_case(random_jobs(&rng, 50), platform_named(c % 2 ? "s2" : "s5", arena),
                           problem, random_rules(&rng), arena, &opened);
        MerIndex *point = MER_ARRAY(arena, MerIndex, opened.problem.space.knob_count + 1);
        for (int i = 0; i < 4; i++) {
            MerPlan plan;
            mer_space_sample(&opened.problem.space, &rng, point);
            opened.problem.type->decode(&opened.problem, point, &plan, arena);
            check_plan(&opened, &plan, &deadlocks, &drops);
        }
        mer_arena_reset(arena);
    }
    assert_true(deadlocks > 10 && drops > 10); /* the cases do reach them */
}

static void test_skipping_changes_nothing_where_all_jobs_are_ready(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(22, 0);
    for (int c = 0; c < 40; c++) {
        OpenedSchedule  skip, strict;
        const MerGraph *graph = random_jobs(&rng, 0);
        const char     *problem = "schedule:cache=off,bandwidth=8";
        open_schedule_case(graph, platform_named("s2", arena), problem,
                           "bandwidth:loop=extended,dispatch=skip", arena, &skip);
        open_schedule_case(graph, platform_named("s2", arena), problem,
                           "bandwidth:loop=extended,dispatch=strict", arena, &strict);
        MerIndex *point = MER_ARRAY(arena, MerIndex, skip.problem.space.knob_count + 1);
        for (int i = 0; i < 5; i++) {
            MerPlan plan;
            mer_space_sample(&skip.problem.space, &rng, point);
            skip.problem.type->decode(&skip.problem, point, &plan, arena);
            MerCost a = price_schedule(&skip, &plan, arena);
            MerCost b = price_schedule(&strict, &plan, arena);
            assert_true(a.value[MER_METRIC_CYCLES] == b.value[MER_METRIC_CYCLES]);
        }
        mer_arena_reset(arena);
    }
}

static void assert_same_run(const MerBandwidthTimes *a, const MerBandwidthOutput *x,
                            const MerBandwidthTimes *b, const MerBandwidthOutput *y, int jobs,
                            int units)
{
    size_t size = (size_t)jobs * sizeof(double);
    assert_memory_equal(a->start, b->start, size);
    assert_memory_equal(a->end, b->end, size);
    assert_memory_equal(a->moved, b->moved, size);
    assert_memory_equal(a->unit, b->unit, (size_t)jobs * sizeof(int));
    assert_memory_equal(x->finish, y->finish, (size_t)units * sizeof(double));
    assert_memory_equal(x->idle, y->idle, (size_t)units * sizeof(double));
    assert_true(x->cycles == y->cycles && x->waste == y->waste && x->is_cut == y->is_cut);
    assert_int_equal(a->dropped, b->dropped);
}

/* Free cores find their next job in a heap of ready ones; walking the queue is the plain way to say it. */
static void test_heaps_of_ready_jobs_find_what_walking_the_queues_finds(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(24, 0);
    int    drops = 0, cuts = 0;
    for (int c = 0; c < 300; c++) {
        OpenedSchedule opened;
        open_schedule_case(random_jobs(&rng, c % 5 * 20),
                           platform_named(c % 2 ? "s2" : "s5", arena),
                           "schedule:cache=off,bandwidth=16", random_rules(&rng), arena, &opened);
        MerBandwidthState heap = *mer_bandwidth_state(&opened.evaluator);
        MerIndex         *point = MER_ARRAY(arena, MerIndex, opened.problem.space.knob_count + 1);
        heap.input.rules.dispatch = MER_DISPATCH_SKIP;
        for (int i = 0; i < 4; i++) {
            MerPlan            plan;
            MerBandwidthTimes  a, b;
            MerBandwidthOutput x, y;
            mer_space_sample(&opened.problem.space, &rng, point);
            opened.problem.type->decode(&opened.problem, point, &plan, arena);
            heap.input.limit = i == 0 ? 30000 : INFINITY;
            MerBandwidthState walk = heap;
            walk.input.walks_queues = true;
            assert_true(mer_bandwidth_simulate(&heap, mer_jobs_plan(&plan), arena, &a, NULL, &x));
            assert_true(mer_bandwidth_simulate(&walk, mer_jobs_plan(&plan), arena, &b, NULL, &y));
            assert_same_run(&a, &x, &b, &y, opened.schedule->job_count,
                            opened.schedule->unit_count);
            drops += a.dropped > 0;
            cuts += x.is_cut;
        }
        mer_arena_reset(arena);
    }
    assert_true(drops > 50 && cuts > 50); /* the cases do reach them */
}

/* Forwarding and reuse take bytes away and nothing else. */
static void test_reuse_never_adds_traffic(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(23, 0);
    int    saved = 0;
    for (int c = 0; c < 60; c++) {
        OpenedSchedule  plain, reuse;
        const MerGraph *graph = random_jobs(&rng, 60);
        const char     *problem = "schedule:cache=off,bandwidth=4";
        open_schedule_case(graph, platform_named("s1", arena), problem, "bandwidth", arena, &plain);
        open_schedule_case(graph, platform_named("s1", arena), problem,
                           "bandwidth:forward=same_core,weight_reuse=same_layer", arena, &reuse);
        MerIndex *point = MER_ARRAY(arena, MerIndex, plain.problem.space.knob_count + 1);
        for (int i = 0; i < 5; i++) {
            MerPlan plan;
            mer_space_sample(&plain.problem.space, &rng, point);
            plain.problem.type->decode(&plain.problem, point, &plan, arena);
            double all = price_schedule(&plain, &plan, arena).value[MER_METRIC_TRAFFIC_BYTES];
            double less = price_schedule(&reuse, &plan, arena).value[MER_METRIC_TRAFFIC_BYTES];
            assert_true(less <= all * (1 + 1e-12));
            saved += less < all;
        }
        mer_arena_reset(arena);
    }
    assert_true(saved > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws_hold_under_all_rules),
        cmocka_unit_test(test_skipping_changes_nothing_where_all_jobs_are_ready),
        cmocka_unit_test(test_heaps_of_ready_jobs_find_what_walking_the_queues_finds),
        cmocka_unit_test(test_reuse_never_adds_traffic),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
