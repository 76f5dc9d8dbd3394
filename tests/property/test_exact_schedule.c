/* The exact solver of schedules against all plans of small groups, and against the other optimizers where those
 * are too many: optima are optima, proofs hold, and unproven answers are good and say so. */
#include "one_arena.h"
#include "schedule_support.h"

#include "base/log.h"
#include "schedule/solve/exact_schedule.h"

/* Groups of all sorts: equal and unequal jobs and cores, lengths alike or far apart, bandwidth tight or loose. */
static MerBandwidthInput random_group(MerRng *rng, int most_jobs)
{
    int     jobs = 1 + mer_rng_below(rng, most_jobs);
    int     units = 1 + mer_rng_below(rng, 3);
    int     cores = mer_rng_below(rng, 3); /* equal, one slower, all different */
    bool    has_equal_jobs = mer_rng_below(rng, 3) == 0;
    bool    is_uneven = mer_rng_below(rng, 2) == 0;
    double  bandwidth = pow(10, -1.5 + 2.5 * mer_rng_unit(rng));
    double *latency = MER_ARRAY(arena, double, jobs *units);
    double *rate = MER_ARRAY(arena, double, jobs *units);
    for (int j = 0; j < jobs; j++) {
        int    like = has_equal_jobs && j > 0 ? mer_rng_below(rng, 2 * j) : j;
        double cycles =
            is_uneven ? floor(pow(10, 1 + 3 * mer_rng_unit(rng))) : 1 + mer_rng_below(rng, 9);
        double need =
            is_uneven ? pow(10, -2 + 3 * mer_rng_unit(rng)) : 0.25 * (1 + mer_rng_below(rng, 8));
        for (int u = 0; u < units; u++) {
            double slower = cores == 2                     ? 0.5 + 2 * mer_rng_unit(rng)
                            : cores == 1 && u == units - 1 ? 3
                                                           : 1;
            int    at = j * units + u;
            latency[at] = like < j ? latency[like * units + u] : cycles * slower;
            rate[at] = like < j ? rate[like * units + u] : need / slower;
        }
    }
    MerSchedule *schedule = hand_schedule(jobs, units, bandwidth, latency, rate, arena);
    int *class = MER_ARRAY(arena, int, units);
    for (int u = 0; u < units; u++) {
        class[u] = u;
    }
    schedule->unit_class = class;
    return hand_input(schedule, arena);
}

static double price(MerBandwidthInput *input, const MerJobsPlan *plan)
{
    MerBandwidthOutput output;
    input->limit = INFINITY;
    mer_bandwidth_plain(input, plan, NULL, NULL, &output);
    return output.cycles;
}

/* The least price of the queues in `plan`, cut at all places from unit `unit` on. */
static double best_cut(MerBandwidthInput *input, MerJobsPlan *plan, int unit)
{
    double best = INFINITY;
    if (unit == plan->unit_count) {
        return price(input, plan);
    }
    for (int at = plan->start[unit - 1]; at <= plan->job_count; at++) {
        plan->start[unit] = at;
        best = fmin(best, best_cut(input, plan, unit + 1));
    }
    return best;
}

/* The least price of all plans that begin with the first `fixed` jobs of the queue. */
static double best_of_all(MerBandwidthInput *input, MerJobsPlan *plan, int fixed)
{
    if (fixed == plan->job_count) {
        return best_cut(input, plan, 1);
    }
    double best = INFINITY;
    int   *queue = plan->queue;
    for (int i = fixed; i < plan->job_count; i++) {
        int job = queue[i];
        queue[i] = queue[fixed];
        queue[fixed] = job;
        best = fmin(best, best_of_all(input, plan, fixed + 1));
        queue[fixed] = queue[i];
        queue[i] = job;
    }
    return best;
}

static double optimum_of_all_plans(MerBandwidthInput *input)
{
    MerJobsPlan plan;
    mer_schedule_new_plan(input->schedule, arena, &plan);
    for (int j = 0; j < plan.job_count; j++) {
        plan.queue[j] = j;
    }
    plan.start[0] = 0;
    plan.start[plan.unit_count] = plan.job_count;
    return best_of_all(input, &plan, 0);
}

static const MerScheduleRules rules = {.is_proportional = true};

static void solve(ExactSearch *s, const MerBandwidthInput *input, int64_t max_steps, MerRng *rng)
{
    exact_begin(s, input, &rules, max_steps, NULL, arena);
    while (!s->is_finished) {
        exact_step(s, rng);
    }
}

/* Every job on the first core, and no bound. */
static void forget(ExactSearch *s)
{
    s->bound = 0;
    s->best_cycles = INFINITY;
    s->steps = 0;
    for (int j = 0; j < s->jobs.jobs; j++) {
        s->plan.queue[j] = j;
    }
    for (int u = 0; u < s->jobs.units; u++) {
        s->plan.start[u + 1] = s->jobs.jobs;
    }
    s->plan.start[0] = 0;
    exact_keep_if_better(s);
}

static void assert_optimum(const ExactSearch *s, double optimum, const char *what, int seed)
{
    if (!(fabs(s->best_cycles / optimum - 1) <= 1e-12) || s->steps >= s->max_steps) {
        fail_msg("seed %d: %s finds %.17g, the best of all plans takes %.17g", seed, what,
                 s->best_cycles, optimum);
    }
}

static void test_small_groups_have_the_optimum_of_all_plans(void **state)
{
    (void)state;
    for (int seed = 0; seed < 160; seed++) {
        MerRng            rng = mer_rng_make((uint64_t)seed, 5);
        MerBandwidthInput input = random_group(&rng, seed % 20 ? 5 : 7);
        double            optimum = optimum_of_all_plans(&input);
        ExactSearch      *s = MER_NEW(arena, ExactSearch);
        solve(s, &input, 1000000000, &rng);
        assert_optimum(s, optimum, "solve", seed);
        assert_true(s->is_proven);
        assert_true(s->bound <= optimum * (1 + 1e-12));
        assert_true(price(&input, &s->best) == s->best_cycles);
        forget(s);
        exact_assign(s);
        assert_optimum(s, optimum, "exact_assign alone", seed);
        forget(s);
        exact_place(s);
        assert_optimum(s, optimum, "exact_place alone", seed);
        if (s->jobs.jobs <= 5) { /* without a good plan there are too many orders */
            forget(s);
            exact_events(s);
            assert_optimum(s, optimum, "exact_events alone", seed);
        }
    }
}

/* No schedule is below the relaxation, whatever its order. */
static void test_no_random_plan_beats_the_relaxation(void **state)
{
    (void)state;
    for (int seed = 0; seed < 60; seed++) {
        MerRng            rng = mer_rng_make((uint64_t)seed, 6);
        MerBandwidthInput input = random_group(&rng, EXACT_JOBS);
        ExactSearch      *s = MER_NEW(arena, ExactSearch);
        solve(s, &input, 1, &rng);
        double      bound = s->bound;
        MerJobsPlan plan = s->plan;
        assert_true(bound <= s->best_cycles * (1 + 1e-12));
        for (int i = 0; i < 100; i++) {
            mer_rng_shuffle(&rng, plan.queue, plan.job_count);
            for (int u = 1; u < plan.unit_count; u++) {
                plan.start[u] =
                    plan.start[u - 1] + mer_rng_below(&rng, plan.job_count - plan.start[u - 1] + 1);
            }
            assert_true(price(&input, &plan) >= bound * (1 - 1e-12));
        }
    }
}

static MerTaskResult result_of(const char *jobs, const char *platform, const char *problem,
                               const char *optimizer, int64_t budget)
{
    MerRunSpec spec =
        spec_from(problem, "bandwidth", optimizer, graph_named(jobs, arena), platform, arena);
    spec.budget = budget;
    return run_or_fail(&spec, NULL, arena).tasks[0];
}

/* Also where the steps are too few for a proof. */
static void test_answers_are_not_above_annealing_and_not_below_the_bound(void **state)
{
    (void)state;
    static const char *const platforms[] = {"s1", "s2"};
    static const int         sizes[] = {8, 12, 20};
    for (int seed = 1; seed <= 12; seed++) {
        const char *jobs = mer_arena_format(arena, "synthetic:%d:%d", sizes[seed % 3], seed);
        const char *problem =
            mer_arena_format(arena, "schedule:bandwidth=%d", seed % 4 < 2 ? 16 : 4);
        const char   *platform = platforms[seed % 2];
        MerTaskResult exact = result_of(jobs, platform, problem, "exact_schedule:steps=300000", 10);
        MerTaskResult rival = result_of(jobs, platform, problem, "list_annealing", 10000);
        if (exact.value > rival.value * (1 + 1e-12)) {
            fail_msg("%s on %s: %.17g is above %.17g", jobs, platform, exact.value, rival.value);
        }
        assert_true(exact.value >= rival.bound.value * (1 - 1e-12));
        assert_true(exact.bound.value >= rival.bound.value * (1 - 1e-12));
        assert_true(exact.bound.value <= exact.value * (1 + 1e-12));
        assert_true(!exact.is_proven || rival.value >= exact.value * (1 - 1e-12));
    }
}

static void test_groups_of_twenty_jobs_are_proven(void **state)
{
    (void)state;
    static const char *const platforms[] = {"s1", "s2"};
    for (int i = 0; i < 4; i++) {
        const char   *jobs = mer_arena_format(arena, "synthetic:20:%d", 2 + i / 2 * 2);
        MerTaskResult exact =
            result_of(jobs, platforms[i % 2], "schedule:bandwidth=16", "exact_schedule", 10);
        assert_true(exact.is_proven);
        assert_string_equal(exact.bound.kind, "optimum");
    }
}

static void test_an_answer_without_proof_says_so(void **state)
{
    (void)state;
    MerTaskResult exact =
        result_of("synthetic:20:2", "s1", "schedule:bandwidth=16", "exact_schedule:steps=1", 10);
    assert_false(exact.is_proven);
    assert_string_equal(exact.bound.kind, "configurations");
    assert_true(exact.gap > 1e-6 && exact.gap < 0.05);
}

/* Far more steps than there is time for: what was found by then is the answer. */
static void test_a_time_limit_ends_the_search_with_its_best_plan(void **state)
{
    (void)state;
    MerRunSpec spec =
        spec_from("schedule:bandwidth=50", "bandwidth", "exact_schedule:steps=1000000000000",
                  graph_named("synthetic:16:1", arena), "s2", arena);
    spec.budget = 100;
    spec.time_s = 1;
    double        begin = mer_clock();
    MerTaskResult exact = run_or_fail(&spec, NULL, arena).tasks[0];
    assert_true(mer_clock() - begin < 10);
    assert_string_equal(exact.stopped, "time");
    assert_non_null(exact.point);
    assert_false(exact.is_proven);
    assert_true(exact.gap > 0 && exact.gap < 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_groups_have_the_optimum_of_all_plans),
        cmocka_unit_test(test_no_random_plan_beats_the_relaxation),
        cmocka_unit_test(test_answers_are_not_above_annealing_and_not_below_the_bound),
        cmocka_unit_test(test_groups_of_twenty_jobs_are_proven),
        cmocka_unit_test(test_an_answer_without_proof_says_so),
        cmocka_unit_test(test_a_time_limit_ends_the_search_with_its_best_plan),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
