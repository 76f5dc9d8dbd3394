/* Scheduling on line: what comes out replays exactly, looks at nothing that has not arrived, and is no worse than
 * the rules it tries; arrivals are drawn as the options say. */
#include "schedule_support.h"
#include "support.h"

#include "base/log.h"
#include "schedule/jobs/arrivals.h"

#include <cjson/cJSON.h>

/* In double precision, which cmocka's own check is not. */
static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g is not within %g of %.9g", value, tolerance, expected);
    }
}

/* Two quick networks and one slow one; at rate 20 they ask for more than the platform has. */
#define REQUESTS(horizon_ms)                                                                       \
    "format: mercator-jobs/1\n"                                                                    \
    "models:\n"                                                                                    \
    "  - {name: eyes, file: resnet18, fps: 60, deadline: period, tenant: headset, weight: 3}\n"    \
    "  - {name: gaze, file: dlrm, fps: 60, after: [eyes], deadline: period, tenant: headset}\n"    \
    "  - {name: scene, file: resnet50, fps: 30, deadline: period, tenant: camera}\n"               \
    "horizon_ms: " horizon_ms "\n"
static const char *const requests_text = REQUESTS("40");

static MerGraph *graph_of(const char *text, MerArena *arena)
{
    write_text("jobs.yaml", text);
    return graph_named("jobs.yaml", arena);
}

typedef struct Case {
    const char *problem, *evaluator, *optimizer, *objective;
    uint64_t    seed;
    int         threads;
    const char *folder;
} Case;

static Case make_case(const char *problem, const char *evaluator, const char *optimizer)
{
    return (Case){problem, evaluator, optimizer, "miss_rate", 1, 1, NULL};
}

static MerStatus try_case(const MerGraph *graph, const Case *c, MerArena *arena,
                          MerRunResult *result, MerError *error)
{
    MerRunSpec spec = spec_from(c->problem, c->evaluator, c->optimizer, graph, "s2", arena);
    spec.objective = c->objective;
    spec.seed = c->seed;
    spec.budget = 1;
    spec.threads = c->threads;
    spec.directory = c->folder;
    return mer_run(&spec, NULL, arena, result, error);
}

static MerRunResult run_case(const MerGraph *graph, const Case *c, MerArena *arena)
{
    MerRunResult result;
    MerError     error = {0};
    if (try_case(graph, c, arena, &result, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return result;
}

static double metric(const MerRunResult *result, MerMetric metric)
{
    return result->total.best.value[metric];
}

static const char *const overload = "schedule:arrivals=poisson,rate=20";

static void test_a_rule_on_line_gives_the_bits_of_the_evaluator_with_that_rule(void **state)
{
    (void)state;
    static const char *const rules[] = {"fcfs", "edf"};
    MerArena                *arena = mer_arena_new();
    MerGraph                *graph = graph_of(requests_text, arena);
    for (int late = 0; late < 2; late++) {
        const char *mode = late ? "late=drop" : "late=run";
        for (int i = 0; i < 2; i++) {
            Case planned = make_case(overload, mer_arena_format(arena, "bandwidth:%s", mode),
                                     mer_arena_format(arena, "online:rule=%s", rules[i]));
            Case policy = make_case(
                overload,
                mer_arena_format(arena, "bandwidth:dispatch=policy,rule=%s,%s", rules[i], mode),
                "fcfs");
            MerRunResult a = run_case(graph, &planned, arena);
            MerRunResult b = run_case(graph, &policy, arena);
            assert_true(metric(&a, MER_METRIC_CYCLES) == metric(&b, MER_METRIC_CYCLES));
            assert_true(metric(&a, MER_METRIC_MISS_RATE) == metric(&b, MER_METRIC_MISS_RATE));
            assert_true(metric(&a, MER_METRIC_DROP_RATE) == metric(&b, MER_METRIC_DROP_RATE));
            assert_true(metric(&a, MER_METRIC_ANTT) == metric(&b, MER_METRIC_ANTT));
            assert_true(metric(&a, MER_METRIC_MISS_RATE) > 0); /* else nothing was shown */
        }
    }
    mer_arena_free(arena);
}

static void test_replay_is_exact_with_switches_reuse_forwarding_and_strict_queues(void **state)
{
    (void)state;
    static const char *const extras[] = {
        "switch_cycles=2000", "share=maxmin,weight_reuse=same_layer", "forward=same_core,late=drop",
        "switch_cycles=500,late=drop"};
    MerArena *arena = mer_arena_new();
    MerGraph *graph = graph_of(requests_text, arena);
    for (int i = 0; i < 4; i++) {
        const char *policy =
            mer_arena_format(arena, "bandwidth:dispatch=policy,rule=edf,%s", extras[i]);
        Case         ignoring = make_case(overload, policy, "fcfs");
        double       expected[2];
        MerRunResult truth = run_case(graph, &ignoring, arena);
        expected[0] = metric(&truth, MER_METRIC_CYCLES);
        expected[1] = metric(&truth, MER_METRIC_VIOLATIONS);
        for (int strict = 0; strict < 2; strict++) {
            const char *dispatch = strict ? "strict" : "skip";
            Case        c = make_case(
                       overload, mer_arena_format(arena, "bandwidth:dispatch=%s,%s", dispatch, extras[i]),
                       "online:rule=edf");
            MerRunResult result = run_case(graph, &c, arena);
            assert_true(metric(&result, MER_METRIC_CYCLES) == expected[0]);
            assert_true(metric(&result, MER_METRIC_VIOLATIONS) == expected[1]);
        }
    }
    mer_arena_free(arena);
}

/* A number that a search showed, from its log. */
static double fact_of(const cJSON *view, const char *name)
{
    const cJSON *fact;
    cJSON_ArrayForEach(fact, cJSON_GetObjectItemCaseSensitive(view, "facts"))
    {
        const char *found = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(fact, "name"));
        if (strcmp(found, name) == 0) {
            return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(fact, "value"));
        }
    }
    fail_msg("there is no fact %s", name);
    return NAN;
}

static cJSON *view_of(const MerGraph *graph, const Case *c, MerRunResult *result, MerArena *arena)
{
    const char *folder = new_folder(arena);
    Case        logged = *c;
    logged.folder = folder;
    *result = run_case(graph, &logged, arena);
    char *text = strstr(file_text(folder, "run.jsonl", arena), "\"source\":\"online\"");
    assert_non_null(text);
    cJSON *note = cJSON_Parse(strstr(text, "\"value\":") + strlen("\"value\":"));
    assert_non_null(note);
    remove_folder(folder);
    return note;
}

static void test_plan_of_a_search_gives_what_happened_while_it_was_made(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    MerGraph *graph = graph_of(requests_text, arena);
    for (int late = 0; late < 2; late++) {
        Case         c = make_case(overload, late ? "bandwidth:late=drop" : "bandwidth:late=run",
                                   "online:moves=25");
        MerRunResult result;
        cJSON       *note = view_of(graph, &c, &result, arena);
        double       cycles = fact_of(note, "cycles");
        double       dropped = fact_of(note, "dropped");
        assert_true(cycles == metric(&result, MER_METRIC_CYCLES));
        assert_true((dropped > 0) == (metric(&result, MER_METRIC_DROP_RATE) > 0));
        assert_true((dropped > 0) == (late == 1));
        cJSON_Delete(note);
    }
    mer_arena_free(arena);
}

static void test_search_misses_fewer_deadlines_than_fcfs_and_edf_under_overload(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    MerGraph *graph = graph_of(requests_text, arena);
    for (int seed = 1; seed <= 3; seed++) {
        const char *problem = mer_arena_format(arena, "%s,arrival_seed=%d", overload, seed);
        const char *optimizers[] = {"online", "online:rule=fcfs", "online:rule=edf"};
        double      missed[3];
        for (int i = 0; i < 3; i++) {
            Case         c = make_case(problem, "bandwidth:late=drop", optimizers[i]);
            MerRunResult result = run_case(graph, &c, arena);
            missed[i] = metric(&result, MER_METRIC_MISS_RATE);
        }
        print_message("seed %d: search %.3f fcfs %.3f edf %.3f\n", seed, missed[0], missed[1],
                      missed[2]);
        assert_true(missed[0] < missed[1] && missed[0] < missed[2]);
    }
    mer_arena_free(arena);
}

static void test_same_seed_gives_the_same_plan_on_any_number_of_threads(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    MerGraph *graph = graph_of(requests_text, arena);
    Case      one = {overload, "bandwidth:late=drop", "online:moves=30", "miss_rate", 7, 1, NULL};
    Case      two = {overload, "bandwidth:late=drop", "online:moves=30", "miss_rate", 7, 2, NULL};
    MerRunResult a = run_case(graph, &one, arena);
    MerRunResult b = run_case(graph, &two, arena);
    int          jobs = mer_jobs_plan(&a.tasks[0].plan)->job_count;
    assert_memory_equal(a.tasks[0].point, b.tasks[0].point, (size_t)(2 * jobs) * sizeof(MerIndex));
    assert_true(metric(&a, MER_METRIC_CYCLES) == metric(&b, MER_METRIC_CYCLES));
    mer_arena_free(arena);
}

/* Starts of jobs, by simulating the plan that the search gave. */
static MerBandwidthTimes times_of(const MerGraph *graph, const Case *c, const MerRunResult *result,
                                  OpenedSchedule *opened, MerArena *arena)
{
    MerBandwidthTimes  times;
    MerBandwidthOutput output;
    open_schedule_case(graph, platform_named("s2", arena), c->problem, c->evaluator, arena, opened);
    const MerBandwidthState *bandwidth = mer_bandwidth_state(&opened->evaluator);
    assert_true(mer_bandwidth_simulate(bandwidth, mer_jobs_plan(&result->tasks[0].plan), arena,
                                       &times, NULL, &output));
    return times;
}

/* A job that comes at 20,000,000 must not change what starts before. */
static void test_what_starts_before_an_arrival_does_not_depend_on_it(void **state)
{
    (void)state;
    MerArena         *arena = mer_arena_new();
    const char       *later = "jobs:\n  - {name: surprise, op: gemm, dims: [512, 1024, 1024], "
                              "release_cycles: 20000000, deadline_cycles: 21000000}\n";
    MerGraph         *without = graph_of(requests_text, arena);
    MerGraph         *with = graph_of(mer_arena_format(arena, "%s%s", requests_text, later), arena);
    Case              c = make_case("schedule:rate=20", "bandwidth:late=run", "online:moves=40");
    MerRunResult      results[2] = {run_case(without, &c, arena), run_case(with, &c, arena)};
    OpenedSchedule    opened[2];
    MerBandwidthTimes a = times_of(without, &c, &results[0], &opened[0], arena);
    MerBandwidthTimes b = times_of(with, &c, &results[1], &opened[1], arena);
    int               compared = 0;
    for (int j = 0; j < opened[0].schedule->job_count; j++) {
        if (a.start[j] < 20000000) {
            assert_string_equal(opened[0].schedule->job_names[j], opened[1].schedule->job_names[j]);
            assert_true(a.start[j] == b.start[j] && a.unit[j] == b.unit[j]);
            compared++;
        }
    }
    assert_true(compared > 10);
    mer_arena_free(arena);
}

static void test_a_decision_within_a_time_limit_still_gives_a_whole_plan(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    MerGraph    *graph = graph_of(requests_text, arena);
    Case         c = make_case(overload, "bandwidth:late=run", "online:moves=1000000,ms=0.2");
    MerRunResult result = run_case(graph, &c, arena);
    assert_true(result.is_feasible);
    assert_true(metric(&result, MER_METRIC_DROP_RATE) == 0);
    mer_arena_free(arena);
}

static void test_a_time_limit_of_the_run_ends_the_decisions(void **state)
{
    (void)state;
    MerArena  *arena = mer_arena_new();
    MerRunSpec spec = spec_from(overload, "bandwidth", "online:moves=1000000000",
                                graph_of(requests_text, arena), "s2", arena);
    spec.objective = "miss_rate";
    spec.budget = 1;
    spec.time_s = 0.5;
    double       begin = mer_clock();
    MerRunResult result = run_or_fail(&spec, NULL, arena);
    assert_true(mer_clock() - begin < 10);
    assert_string_equal(result.tasks[0].stopped, "time");
    assert_null(result.tasks[0].point); /* half a plan is none */
    mer_arena_free(arena);
}

/* The same requests, once as the file says and once from a slower file: forecasts expect the same. */
static void test_forecasts_follow_the_rate_of_the_arrivals(void **state)
{
    (void)state;
    MerArena   *arena = mer_arena_new();
    const char *text = "format: mercator-jobs/1\n"
                       "models:\n"
                       "  - {name: eyes, file: resnet18, fps: %d}\n"
                       "  - {name: scene, file: resnet50, fps: %d}\n"
                       "horizon_ms: %d\n";
    char        slow[400], fast[400];
    snprintf(slow, sizeof slow, text, 50, 25, 80);
    snprintf(fast, sizeof fast, text, 800, 400, 80);
    Case planned = make_case("schedule:rate=16", "bandwidth", "online:goal=finish");
    planned.objective = "antt";
    MerRunResult scaled = run_case(graph_of(slow, arena), &planned, arena);
    planned.problem = "schedule";
    MerRunResult given = run_case(graph_of(fast, arena), &planned, arena);
    assert_int_equal(mer_jobs_plan(&scaled.tasks[0].plan)->job_count,
                     mer_jobs_plan(&given.tasks[0].plan)->job_count);
    assert_near(metric(&scaled, MER_METRIC_CYCLES), metric(&given, MER_METRIC_CYCLES), 1);
    assert_near(metric(&scaled, MER_METRIC_ANTT), metric(&given, MER_METRIC_ANTT), 1e-9);
    mer_arena_free(arena);
}

static void test_online_refuses_an_evaluator_that_ignores_plans(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    MerGraph    *graph = graph_of(requests_text, arena);
    Case         c = make_case("schedule", "bandwidth:dispatch=policy", "online");
    MerRunResult result;
    MerError     error = {0};
    assert_int_equal(try_case(graph, &c, arena, &result, &error), MER_UNSUPPORTED);
    mer_test_contains(error.message, "dispatch skip or strict");
    mer_arena_free(arena);
}

static const MerSchedule *open_arrivals(const char *options, MerArena *arena)
{
    OpenedSchedule *opened = MER_NEW(arena, OpenedSchedule);
    open_schedule_case(graph_of(REQUESTS("800"), arena), platform_named("s2", arena),
                       mer_arena_format(arena, "schedule:%s", options), "bandwidth", arena, opened);
    return opened->schedule;
}

static void test_jitter_delays_arrivals_and_leaves_deadlines(void **state)
{
    (void)state;
    MerArena          *arena = mer_arena_new();
    const MerSchedule *plain = open_arrivals("jitter_ms=0", arena);
    const MerSchedule *late = open_arrivals("jitter_ms=2", arena);
    const MerSchedule *same = open_arrivals("jitter_ms=2", arena);
    const MerSchedule *other = open_arrivals("jitter_ms=2,arrival_seed=5", arena);
    bool               differs = false;
    for (int j = 0; j < plain->job_count; j++) {
        double delay = late->release[j] - plain->release[j];
        assert_true(delay >= 0 && delay < 2e6); /* at 1 GHz */
        assert_true(late->deadline[j] == plain->deadline[j]);
        assert_true(late->release[j] == same->release[j]);
        differs = differs || late->release[j] != other->release[j];
    }
    assert_true(differs);
    mer_arena_free(arena);
}

static void test_rate_offers_more_over_the_same_time_with_deadlines_as_far_away(void **state)
{
    (void)state;
    MerArena          *arena = mer_arena_new();
    const MerSchedule *plain = open_arrivals("rate=1", arena);
    const MerSchedule *fast = open_arrivals("rate=4", arena);
    double             last[2] = {0, 0};
    assert_int_equal(fast->job_count, 4 * plain->job_count);
    for (int j = 0; j < plain->job_count; j++) {
        last[0] = fmax(last[0], plain->release[j]);
    }
    for (int j = 0; j < fast->job_count; j++) {
        double period = 1e9 / fast->models[fast->model[j]].fps;
        assert_near(fast->release[j], fast->request[j] * period / 4, 1);
        assert_near(fast->deadline[j] - fast->release[j], period, 1);
        last[1] = fmax(last[1], fast->release[j]);
    }
    assert_true(last[1] >= last[0] && last[1] < 8e8); /* within the 800 ms */
    mer_arena_free(arena);
}

static void
test_poisson_arrivals_have_the_mean_of_the_period_and_followers_their_source(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    double    sum = 0;
    int       count = 0;
    for (int seed = 1; seed <= 40; seed++) {
        const MerSchedule *schedule =
            open_arrivals(mer_arena_format(arena, "arrivals=poisson,arrival_seed=%d", seed), arena);
        double last = 0;
        for (int j = 0; j < schedule->job_count; j++) {
            int m = schedule->model[j];
            if (m == 0) {
                last = fmax(last, schedule->release[j]);
            }
            for (int k = 0; m == 1 && k < schedule->job_count; k++) {
                if (schedule->model[k] == 0 && schedule->request[k] == schedule->request[j]) {
                    assert_true(schedule->release[k] == schedule->release[j]);
                }
            }
        }
        sum += last / 48; /* requests of `eyes` in 800 ms */
        count++;
    }
    /* mean of 1,920 gaps of 16.7 ms: standard error 0.38 ms */
    assert_near(sum / count, 1e9 / 60, 1.5e6);
    mer_arena_free(arena);
}

static void test_weighted_antt_leans_to_the_heavy_tenant(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    MerGraph *graph = graph_of(requests_text, arena);
    Case      c = make_case(overload, "bandwidth", "online:rule=edf");
    c.objective = "antt";
    MerRunResult result = run_case(graph, &c, arena);
    double       antt = metric(&result, MER_METRIC_ANTT);
    double       weighted = metric(&result, MER_METRIC_WEIGHTED_ANTT);
    double       stp = metric(&result, MER_METRIC_STP);
    /* with x and y as slowdowns: antt = (x + y) / 2, stp = 1/x + 1/y, weighted = (3 x + y) / 4 */
    double sum = 2 * antt;
    double product = sum / stp;
    double root = sqrt(fmax(0, sum * sum / 4 - product));
    double low = (3 * (sum / 2 - root) + sum / 2 + root) / 4;
    double high = (3 * (sum / 2 + root) + sum / 2 - root) / 4;
    assert_true(root > 0);
    assert_true(fabs(weighted - low) < 1e-6 * antt || fabs(weighted - high) < 1e-6 * antt);
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rule_on_line_gives_the_bits_of_the_evaluator_with_that_rule),
        cmocka_unit_test(test_replay_is_exact_with_switches_reuse_forwarding_and_strict_queues),
        cmocka_unit_test(test_plan_of_a_search_gives_what_happened_while_it_was_made),
        cmocka_unit_test(test_search_misses_fewer_deadlines_than_fcfs_and_edf_under_overload),
        cmocka_unit_test(test_same_seed_gives_the_same_plan_on_any_number_of_threads),
        cmocka_unit_test(test_what_starts_before_an_arrival_does_not_depend_on_it),
        cmocka_unit_test(test_a_decision_within_a_time_limit_still_gives_a_whole_plan),
        cmocka_unit_test(test_a_time_limit_of_the_run_ends_the_decisions),
        cmocka_unit_test(test_forecasts_follow_the_rate_of_the_arrivals),
        cmocka_unit_test(test_online_refuses_an_evaluator_that_ignores_plans),
        cmocka_unit_test(test_jitter_delays_arrivals_and_leaves_deadlines),
        cmocka_unit_test(test_rate_offers_more_over_the_same_time_with_deadlines_as_far_away),
        cmocka_unit_test(
            test_poisson_arrivals_have_the_mean_of_the_period_and_followers_their_source),
        cmocka_unit_test(test_weighted_antt_leans_to_the_heavy_tenant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
