/* XRBench (Kwon et al., MLSys 2023): the published runtime's schedule row by row where its numbers are known
 * (docs/bandwidth-model.md, "The score of XRBench"), a score for each of its seven scenarios, planned in advance
 * and on line, and recorded scores of three scenarios of our own. */
#include "schedule_support.h"

#include "schedule/cost/bandwidth_xr.h"

/* In double precision, which cmocka's own check is not. */
static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g is not within %g of %.9g", value, tolerance, expected);
    }
}

enum { ES, GE, HT, MODELS };

/* VR_gaming on one accelerator: what upstream's cost model says of each model. */
static int run_vr_gaming(MerArena *arena, MerXrRequest **requests)
{
    static const double     latency_ms[] = {1.503136, 4.222037, 8.561680};
    static const double     energy_mj[] = {35.329716, 34.922195, 207.433304};
    static const int        after[] = {ES};
    static const MerXrModel models[] = {
        {.name = "ES", .fps = 60, .is_used = true},
        {.name = "GE", .fps = 60, .is_used = true, .after_count = 1, .after = after},
        {.name = "HT", .fps = 45, .is_used = true}};
    MerXrRuntime runtime = {MODELS, 1, models, latency_ms, energy_mj, latency_ms, 700};
    return mer_xr_run(&runtime, arena, requests);
}

static const MerXrRequest *find(const MerXrRequest *requests, int count, int model, int index)
{
    for (int i = 0; i < count; i++) {
        if (requests[i].model == model && requests[i].index == index) {
            return &requests[i];
        }
    }
    fail_msg("no request %d of model %d", index, model);
    return NULL;
}

static void test_published_runtime_logs_115_requests_of_vr_gaming(void **state)
{
    (void)state;
    MerArena     *arena = mer_arena_new();
    MerXrRequest *requests;
    int           count = run_vr_gaming(arena, &requests);
    int           logged[MODELS] = {0};
    for (int i = 0; i < count; i++) {
        logged[requests[i].model]++;
        assert_false(requests[i].is_dropped);
    }
    assert_int_equal(count, 115);
    assert_int_equal(logged[ES], 42);
    assert_int_equal(logged[GE], 42);
    assert_int_equal(logged[HT], 31);
    mer_arena_free(arena);
}

static void test_published_runtime_notices_an_arrival_at_the_next_tick(void **state)
{
    (void)state;
    MerArena           *arena = mer_arena_new();
    MerXrRequest       *requests;
    int                 count = run_vr_gaming(arena, &requests);
    const MerXrRequest *second = find(requests, count, HT, 1);
    assert_near(second->injected, 32, 1e-9);
    assert_near(second->start, 37.725, 1e-3);
    assert_near(second->deadline, 44, 1e-9);
    assert_near(second->finish, 46.287, 1e-3);
    assert_near(find(requests, count, HT, 2)->injected, 46.287, 1e-3);
    mer_arena_free(arena);
}

static void test_score_of_vr_gaming_is_the_published_86_4661(void **state)
{
    (void)state;
    MerArena       *arena = mer_arena_new();
    MerXrRequest   *requests;
    MerXrModelScore models[MODELS];
    int             count = run_vr_gaming(arena, &requests);
    double          score = mer_xr_score(requests, count, MODELS, false, models, arena);
    assert_near(score, 86.466128, 1e-6); /* upstream prints 86.466141 in float32 */
    assert_near(models[ES].in_time, 1.0, 1e-6);
    assert_near(models[ES].frugal, 0.976447, 1e-6);
    assert_near(models[GE].in_time, 1.0, 1e-6);
    assert_near(models[GE].frugal, 0.976719, 1e-6);
    assert_near(models[HT].in_time, 0.743658, 1e-6);
    assert_near(models[HT].frugal, 0.861711, 1e-6);
    mer_arena_free(arena);
}

/* One request of each of two models, the second dropped: (1 * 1 / 1 + 0) / 2. */
static void test_a_dropped_request_scores_nothing_and_a_late_one_half(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    MerXrRequest requests[] = {{.model = 0, .finish = 1, .deadline = 1},
                               {.model = 0, .finish = 500, .deadline = 1},
                               {.model = 1, .is_dropped = true, .deadline = 1}};
    /* at the deadline 1/2, hopelessly late 0: mean 1/4; dropped 0; mean over models 1/8 */
    assert_near(mer_xr_score(requests, 3, 2, false, NULL, arena), 12.5, 1e-12);
    requests[1].finish = 1;
    requests[1].energy_mj = 3000; /* (1500 - 3000) / 1500 = -1, or clamped 0 */
    assert_near(mer_xr_score(requests, 3, 2, false, NULL, arena), 0, 1e-12);
    assert_near(mer_xr_score(requests, 3, 2, true, NULL, arena), 12.5, 1e-12);
    mer_arena_free(arena);
}

/* A head that waits past its deadline is dropped; its followers wait for a count that never comes. */
static void test_published_runtime_drops_a_head_that_waits_too_long(void **state)
{
    (void)state;
    MerArena               *arena = mer_arena_new();
    static const double     latency[] = {250, 1};
    static const double     energy[] = {0, 0};
    static const MerXrModel models[] = {{.name = "a_slow", .fps = 10, .is_used = true},
                                        {.name = "b_quick", .fps = 10, .is_used = true}};
    MerXrRuntime            runtime = {2, 1, models, latency, energy, latency, 300};
    MerXrRequest           *requests;
    int                     count = mer_xr_run(&runtime, arena, &requests);
    /* slow 0 runs 0..250; at 200 the third request of each is injected and the run ends: at 200 nobody looks for
     * late heads any more, but at 100 quick 0 (deadline 100) is not late yet */
    assert_int_equal(count, 0);
    runtime.run_ms =
        400; /* three wakes more: 200 drops quick 0, 250 ends slow 0 and serves slow 2 */
    count = mer_xr_run(&runtime, arena, &requests);
    assert_true(find(requests, count, 1, 0)->is_dropped);
    assert_true(find(requests, count, 0, 1)->is_dropped);
    assert_near(find(requests, count, 0, 0)->finish, 250, 1e-12);
    mer_arena_free(arena);
}

static double run_scenario(const char *path, const char *name, const char *optimizer,
                           const char *evaluator, MerArena *arena)
{
    const char *problem = mer_arena_format(arena, "schedule:select=%s", name);
    MerRunSpec  spec =
        spec_from(problem, evaluator, optimizer, graph_named(path, arena), "s2", arena);
    spec.objective = "xr_score";
    spec.budget = 1;
    spec.threads = 2;
    return run_or_fail(&spec, NULL, arena).total.value;
}

typedef struct Scores {
    double offline, online, compat;
} Scores;

static Scores check_scenario(const char *path, const char *name)
{
    MerArena *arena = mer_arena_new();
    Scores    scores = {run_scenario(path, name, "edf", "bandwidth:late=drop", arena),
                        run_scenario(path, name, "online:moves=5", "bandwidth:late=drop", arena),
                        run_scenario(path, name, "edf", "bandwidth:xr=compat", arena)};
    double    again = run_scenario(path, name, "online:moves=5", "bandwidth:late=drop", arena);
    print_message("%-20s offline %.4f online %.4f compat %.4f\n", name, scores.offline,
                  scores.online, scores.compat);
    assert_true(scores.offline > 0 && scores.offline <= 100);
    assert_true(scores.online > 0 && scores.online <= 100);
    assert_true(scores.online == again); /* same seed, same score */
    assert_true(scores.compat > 0 && scores.compat <= 100);
    mer_arena_free(arena);
    return scores;
}

static void test_scores_of_our_own_scenarios_are_the_recorded_ones(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        Scores      scores;
    } cases[] = {{"glance", {99.90785454542838, 99.89970410972552, 99.90045765635428}},
                 {"assist", {97.9603795427583, 98.37692820764947, 96.75068719585242}},
                 {"crowd", {40.22732010432563, 94.05179569287094, 63.417579644748706}}};
    for (int i = 0; i < 3; i++) {
        Scores found =
            check_scenario(MERCATOR_SOURCE_DIR "/experiments/xr-scenarios.json", cases[i].name);
        assert_near(found.offline, cases[i].scores.offline, 1e-9);
        assert_near(found.online, cases[i].scores.online, 1e-9);
        assert_near(found.compat, cases[i].scores.compat, 1e-9);
    }
}

#define SCENARIO(name, least)                                                                      \
    static void test_scenario_##name##_runs_offline_and_online(void **state)                       \
    {                                                                                              \
        char path[SHARED_PATH_SIZE];                                                               \
        (void)state;                                                                               \
        shared_path(path, "golden/xrbench-scenarios.json");                                        \
        assert_true(check_scenario(path, #name).online >= least);                                  \
    }
SCENARIO(VR_gaming, 99)
SCENARIO(AR_gaming, 74)
SCENARIO(AR_Assistant, 81)
SCENARIO(outdoor_activity_A, 98)
SCENARIO(outdoor_activity_B, 99)
SCENARIO(social_interactionA, 98)
SCENARIO(social_interactionB, 99)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_runtime_logs_115_requests_of_vr_gaming),
        cmocka_unit_test(test_published_runtime_notices_an_arrival_at_the_next_tick),
        cmocka_unit_test(test_score_of_vr_gaming_is_the_published_86_4661),
        cmocka_unit_test(test_a_dropped_request_scores_nothing_and_a_late_one_half),
        cmocka_unit_test(test_published_runtime_drops_a_head_that_waits_too_long),
        cmocka_unit_test(test_scores_of_our_own_scenarios_are_the_recorded_ones),
        cmocka_unit_test(test_scenario_VR_gaming_runs_offline_and_online),
        cmocka_unit_test(test_scenario_AR_gaming_runs_offline_and_online),
        cmocka_unit_test(test_scenario_AR_Assistant_runs_offline_and_online),
        cmocka_unit_test(test_scenario_outdoor_activity_A_runs_offline_and_online),
        cmocka_unit_test(test_scenario_outdoor_activity_B_runs_offline_and_online),
        cmocka_unit_test(test_scenario_social_interactionA_runs_offline_and_online),
        cmocka_unit_test(test_scenario_social_interactionB_runs_offline_and_online),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
