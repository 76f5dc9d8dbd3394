/* Groups of a thousand jobs: the default search, the bound and snapshots work as they do on small ones; and larger
 * ones are prepared in time. */
#include "one_arena.h"
#include "schedule_support.h"

#include "base/log.h"
#include "schedule/jobs/schedule_deadlines.h"
#include "schedule/schedule_parts.h"
#include "schedule/table/schedule_table.h"

static MerTaskResult search(const char *platform, double bandwidth, const char *optimizer)
{
    const char *problem = mer_arena_format(arena, "schedule:bandwidth=%g,cache=off", bandwidth);
    MerRunSpec  spec = spec_from(problem, "bandwidth", optimizer,
                                 graph_named("synthetic:1000:3", arena), platform, arena);
    spec.budget = 3000;
    spec.log = MER_LOG_IMPROVING;
    return run_or_fail(&spec, NULL, arena).tasks[0];
}

static void test_a_thousand_jobs_are_scheduled_above_their_bound_and_below_every_list(void **state)
{
    (void)state;
    static const struct {
        const char *platform;
        double      bandwidth;
    } cases[] = {{"s1", 64}, {"s2", 64}, {"s4", 256}, {"s6", 256}};
    for (int i = 0; i < 4; i++) {
        MerTaskResult best = search(cases[i].platform, cases[i].bandwidth, "list_annealing");
        MerTaskResult longest = search(cases[i].platform, cases[i].bandwidth, "lpt");
        MerTaskResult first = search(cases[i].platform, cases[i].bandwidth, "fcfs");
        assert_int_equal(mer_jobs_plan(&best.plan)->job_count, 1000);
        assert_true(best.bound.value > 0 && best.bound.value <= best.value);
        assert_true(best.value <= longest.value && best.value <= first.value);
        assert_true(best.gap < 0.25);
    }
}

/* Seconds to read, price and sort so many different layers; the least of a few tries. */
static double time_to_open(int jobs)
{
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        MerArena       *own = mer_arena_new();
        OpenedSchedule  opened;
        const MerGraph *graph = graph_named(mer_arena_format(own, "synthetic:%d:1", jobs), own);
        double          begin = mer_cpu_clock();
        open_schedule_case(graph, platform_named("s1", own), "schedule:cache=off", "bandwidth", own,
                           &opened);
        best = fmin(best, mer_cpu_clock() - begin);
        mer_arena_free(own);
    }
    return best;
}

/* n log n would be 9, the square of n 64. */
static void test_eight_times_the_jobs_open_in_less_than_twenty_times_the_time(void **state)
{
    (void)state;
    assert_true(time_to_open(64000) < 20 * time_to_open(8000));
}

/* Seconds to cut so many mini-batches into groups of 21 and to open them all; the least of a few tries. */
static double time_to_open_groups(int batch)
{
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        MerArena       *own = mer_arena_new();
        OpenedSchedule  opened;
        MerError        error = {0};
        const MerTask  *tasks;
        int             count;
        const MerGraph *graph = graph_named("resnet18", own);
        double          begin = mer_cpu_clock();
        open_schedule_case(
            graph, platform_named("s1", own),
            mer_arena_format(own, "schedule:cache=off,batch_size=%d,group_size=21", batch),
            "bandwidth", own, &opened);
        const MerProblemClass *type = opened.problem.type;
        assert_int_equal(type->tasks(&opened.problem, own, &tasks, &count, &error), MER_OK);
        assert_int_equal(count, batch);
        for (int t = 0; t < count; t++) {
            opened.task = tasks[t];
            assert_int_equal(type->open(&opened.problem, own, &error), MER_OK);
        }
        best = fmin(best, mer_cpu_clock() - begin);
        mer_arena_free(own);
    }
    return best;
}

static void test_eight_times_the_groups_open_in_less_than_twenty_times_the_time(void **state)
{
    (void)state;
    assert_true(time_to_open_groups(400) < 20 * time_to_open_groups(50));
}

/* Seconds to find out how long each of so many tenants takes alone, with ten jobs each. */
static double time_to_serve(int tenants)
{
    MerArena *own = mer_arena_new();
    int       jobs = 10 * tenants;
    double   *latency = MER_ARRAY(own, double, 2 * jobs), *rate = MER_ARRAY(own, double, 2 * jobs);
    int      *tenant = MER_ARRAY(own, int, jobs);
    MerWork  *work = MER_ARRAY(own, MerWork, 2 * jobs);
    for (int at = 0; at < 2 * jobs; at++) {
        latency[at] = 100 + at % 7;
        rate[at] = 1;
        work[at] = mer_work_make(latency[at], 1, 4);
        tenant[at / 2] = at / 2 % tenants;
    }
    MerSchedule *schedule = hand_schedule(jobs, 2, 4, latency, rate, own);
    schedule->tenant_count = tenants;
    schedule->tenant = tenant;
    MerBandwidthState state = {.schedule = schedule,
                               .input = {.schedule = schedule, .work = work, .bandwidth = 4}};
    double            begin = mer_cpu_clock();
    const double     *alone = mer_bandwidth_alone(&state, own);
    double            seconds = mer_cpu_clock() - begin;
    assert_true(alone[0] >= 500 && alone[0] <= 530 && alone[tenants - 1] >= 500);
    mer_arena_free(own);
    return seconds;
}

static void test_eight_times_the_tenants_are_served_in_less_than_twenty_times_the_time(void **state)
{
    (void)state;
    double few = INFINITY, many = INFINITY; /* the least of a few tries: 200 take little time */
    for (int i = 0; i < 5; i++) {
        few = fmin(few, time_to_serve(200));
        many = fmin(many, time_to_serve(1600));
    }
    assert_true(many < 20 * few);
}

static bool is_impatient(void *looks)
{
    return --*(int *)looks < 0;
}

/* Whoever interrupts while layers are priced need not wait until all are. */
static void test_preparation_ends_when_it_is_interrupted(void **state)
{
    (void)state;
    int          looks = 100;
    MerRunHooks  hooks = {.state = &looks, .is_cancelled = is_impatient};
    MerRunSpec   spec = spec_from("schedule:cache=off", "bandwidth", "lpt",
                                  graph_named("synthetic:2000:1", arena), "s1", arena);
    MerRunResult result;
    MerError     error = {0};
    spec.budget = 1;
    assert_int_equal(mer_run(&spec, &hooks, arena, &result, &error), MER_CANCELLED);
    mer_test_contains(error.message, "interrupted before the search could begin: 100 of");
    assert_int_equal(looks, -1);
}

/* Nor until a large bound is known. */
static void test_bounds_end_when_they_are_interrupted(void **state)
{
    (void)state;
    static const int sizes[] = {300, 5000};
    for (int i = 0; i < 2; i++) {
        const char     *name = mer_arena_format(arena, "synthetic:%d:1", sizes[i]);
        const MerGraph *graph = graph_named(name, arena);
        OpenedSchedule  opened;
        MerRunResult    result;
        MerError        error = {0};
        open_schedule_case(graph, platform_named("s2", arena), "schedule:cache=off", "bandwidth",
                           arena, &opened);
        const MerJobTable *table = mer_schedule_table(&opened.problem);
        int                looks = table->row_count * table->class_count + 2;
        MerRunHooks        hooks = {.state = &looks, .is_cancelled = is_impatient};
        MerRunSpec spec = spec_from("schedule:cache=off", "bandwidth", "lpt", graph, "s2", arena);
        spec.budget = 1;
        assert_int_equal(mer_run(&spec, &hooks, arena, &result, &error), MER_CANCELLED);
        mer_test_contains(error.message, "the bound of synthetic");
        assert_true(looks >= -4);
    }
}

/* Seconds for the bound and the rounded relaxation of so many different layers. */
static double time_to_bound(int jobs)
{
    MerArena        *own = mer_arena_new();
    OpenedSchedule   opened;
    const MerGraph  *graph = graph_named(mer_arena_format(own, "synthetic:%d:1", jobs), own);
    MerScheduleRules rules = {.is_proportional = true};
    open_schedule_case(graph, platform_named("s2", own), "schedule:cache=off", "bandwidth", own,
                       &opened);
    int   *group = MER_ARRAY(own, int, jobs);
    int   *group_of_unit = MER_ARRAY(own, int, opened.schedule->unit_count);
    double begin = mer_cpu_clock();
    double bound = mer_schedule_bound(opened.schedule, &rules, false, NULL).value;
    mer_schedule_round(opened.schedule, &rules, group, group_of_unit, NULL);
    double seconds = mer_cpu_clock() - begin;
    assert_true(bound > 0);
    mer_arena_free(own);
    return seconds;
}

/* The time of the whole program grows with the square of the jobs. */
static void test_four_times_the_jobs_are_bounded_in_less_than_ten_times_the_time(void **state)
{
    (void)state;
    assert_true(time_to_bound(32000) < 10 * time_to_bound(8000));
}

/* Room by jobs: by models and requests it would be 5 GB here, at places that no int counts. */
static void test_requests_are_counted_in_the_room_of_their_jobs(void **state)
{
    (void)state;
    static const double latency[] = {1, 1, 1, 1}, rate[] = {1, 1, 1, 1};
    static const double deadline[] = {10, 10, 10, 10}, end[] = {5, 20, 20, 20};
    static const int    model[] = {69999, 69999, -1, 0}, request[] = {69999, 69999, 0, 1};
    static const int    numbers[] = {0, 0, 1, 2};
    MerSchedule        *schedule = hand_schedule(4, 1, 1, latency, rate, arena);
    schedule->model_count = 70000;
    schedule->model = model;
    schedule->request = request;
    schedule->deadline = deadline;
    schedule->request_number = mer_schedule_number_requests(schedule, arena);
    assert_memory_equal(schedule->request_number, numbers, sizeof numbers);
    MerServed *requests;
    MerCost    late;
    assert_int_equal(mer_schedule_serve(schedule, end, arena, &requests), 3);
    mer_schedule_fill_service(requests, 3, 1, &late);
    /* a request of two jobs, one late, is late once */
    assert_true(late.value[MER_METRIC_MISS_RATE] == 1);
    assert_true(late.value[MER_METRIC_VIOLATIONS] == 3);
    assert_true(late.value[MER_METRIC_TARDINESS] == 30);
    mer_schedule_serve(schedule, deadline, arena, &requests);
    mer_schedule_fill_service(requests, 3, 1, &late);
    assert_true(late.value[MER_METRIC_MISS_RATE] == 0);
}

/* The plain version of the sort: each job is put before those that come after it. */
static void sort_plainly(const MerSchedule *schedule, int last_key, int *sorted)
{
    int units = schedule->unit_count;
    for (int i = 0; i < schedule->job_count; i++) {
        int at = i;
        for (; at > 0; at--) {
            const double *mine = schedule->latency + (size_t)(i * units);
            const double *other = schedule->latency + (size_t)(sorted[at - 1] * units);
            int           key = units - 1;
            while (key >= last_key && mine[key] == other[key]) {
                key--;
            }
            if (key < last_key || mine[key] > other[key]) {
                break;
            }
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = i;
    }
}

static void test_knobs_are_in_the_order_of_a_plain_sort(void **state)
{
    (void)state;
    static const MerJobOrder orders[] = {MER_ORDER_LATENCY, MER_ORDER_M3E};
    MerRng                   rng = mer_rng_make(5, 0);
    for (int c = 0; c < 200; c++) {
        int     jobs = mer_rng_below(&rng, 60);
        int     units = 1 + mer_rng_below(&rng, 5);
        double *latency = MER_ARRAY(arena, double, jobs *units + 1);
        int    *plain = MER_ARRAY(arena, int, jobs + 1);
        for (int i = 0; i < jobs * units; i++) {
            latency[i] = 1 + mer_rng_below(&rng, 3); /* many ties */
        }
        MerSchedule schedule = {.job_count = jobs, .unit_count = units, .latency = latency};
        for (int o = 0; o < 2; o++) {
            const int *sorted = mer_schedule_sort(&schedule, orders[o], arena);
            sort_plainly(&schedule, orders[o] == MER_ORDER_M3E ? 2 : 0, plain);
            assert_memory_equal(sorted, plain, (size_t)jobs * sizeof(int));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thousand_jobs_are_scheduled_above_their_bound_and_below_every_list),
        cmocka_unit_test(test_eight_times_the_jobs_open_in_less_than_twenty_times_the_time),
        cmocka_unit_test(test_eight_times_the_groups_open_in_less_than_twenty_times_the_time),
        cmocka_unit_test(
            test_eight_times_the_tenants_are_served_in_less_than_twenty_times_the_time),
        cmocka_unit_test(test_preparation_ends_when_it_is_interrupted),
        cmocka_unit_test(test_bounds_end_when_they_are_interrupted),
        cmocka_unit_test(test_four_times_the_jobs_are_bounded_in_less_than_ten_times_the_time),
        cmocka_unit_test(test_requests_are_counted_in_the_room_of_their_jobs),
        cmocka_unit_test(test_knobs_are_in_the_order_of_a_plain_sort),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
