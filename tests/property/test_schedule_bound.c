/* No schedule beats the bound: every plan of small groups is priced, with releases, dependencies, dead time
 * between jobs and both ways of sharing, and the best of them is compared. */
#include "one_arena.h"
#include "schedule_support.h"

#include "schedule/bound/schedule_bound.h"

typedef struct Case {
    MerSchedule      *schedule;
    MerBandwidthInput input;
    double            best;
    MerArena         *scratch;
} Case;

static void price(Case *c, const int *order, const int *unit)
{
    MerJobsPlan        plan;
    MerBandwidthOutput output;
    mer_schedule_new_plan(c->schedule, c->scratch, &plan);
    mer_schedule_make_queues(order, unit, &plan);
    MerBandwidthTimes times = new_times(c->schedule->job_count, c->scratch);
    if (mer_bandwidth_extended(&c->input, &plan, c->scratch, &times, NULL, &output)) {
        c->best = fmin(c->best, output.cycles);
    }
    mer_arena_reset(c->scratch);
}

/* All orders of all jobs, on all cores. */
static void price_all(Case *c, int *order, int *unit, int placed)
{
    int jobs = c->schedule->job_count;
    if (placed == jobs) {
        price(c, order, unit);
        return;
    }
    for (int i = placed; i < jobs; i++) {
        int job = order[i];
        order[i] = order[placed];
        order[placed] = job;
        for (int u = 0; u < c->schedule->unit_count; u++) {
            unit[job] = u;
            price_all(c, order, unit, placed + 1);
        }
        order[placed] = order[i];
        order[i] = job;
    }
}

static MerSchedule *random_schedule(int jobs, int units, MerRng *rng)
{
    double *latency = MER_ARRAY(arena, double, jobs *units);
    double *rate = MER_ARRAY(arena, double, jobs *units);
    for (int i = 0; i < jobs * units; i++) {
        latency[i] = 10 + 90 * mer_rng_unit(rng);
        rate[i] = exp(3 * mer_rng_unit(rng) - 1);
    }
    return hand_schedule(jobs, units, 4, latency, rate, arena);
}

static void add_releases(MerSchedule *schedule, MerRng *rng)
{
    double *release = MER_ARRAY(arena, double, schedule->job_count);
    for (int j = 0; j < schedule->job_count; j++) {
        release[j] = 200 * mer_rng_unit(rng);
    }
    schedule->release = release;
    schedule->release_order = mer_schedule_sorted(release, schedule->job_count, arena);
    schedule->has_releases = true;
}

/* Every job but the first waits for the one before, or for none. */
static void add_dependencies(MerSchedule *schedule, MerRng *rng)
{
    int  jobs = schedule->job_count;
    int *before_start = MER_ARRAY(arena, int, jobs + 1);
    int *after_start = MER_ARRAY(arena, int, jobs + 1);
    int *before = MER_ARRAY(arena, int, jobs);
    int *after = MER_ARRAY(arena, int, jobs);
    int  used = 0;
    for (int j = 0; j < jobs; j++) {
        bool waits = j > 0 && mer_rng_below(rng, 2) == 0;
        if (waits) {
            before[used] = j - 1;
            after[used++] = j;
        }
        before_start[j + 1] = used;
        if (j > 0) {
            after_start[j] = used;
        }
    }
    after_start[jobs] = used;
    schedule->before_start = before_start;
    schedule->before = before;
    schedule->after_start = after_start;
    schedule->after = after;
    schedule->has_dependencies = true;
}

/* Every job waits for the one before. */
static void add_chain(MerSchedule *schedule)
{
    int  jobs = schedule->job_count;
    int *before_start = MER_ARRAY(arena, int, jobs + 1);
    int *after_start = MER_ARRAY(arena, int, jobs + 1);
    int *before = MER_ARRAY(arena, int, jobs);
    int *after = MER_ARRAY(arena, int, jobs);
    for (int j = 0; j < jobs; j++) {
        before_start[j + 1] = j;
        after_start[j + 1] = j + 1 < jobs ? j + 1 : j;
        before[j] = j;
        after[j] = j + 1;
    }
    schedule->before_start = before_start;
    schedule->before = before;
    schedule->after_start = after_start;
    schedule->after = after;
    schedule->has_dependencies = jobs > 1;
}

static double best_plan(MerSchedule *schedule, const MerBandwidthRules *rules)
{
    Case c = {schedule, hand_input(schedule, arena), INFINITY, mer_arena_new()};
    int *order = MER_ARRAY(arena, int, schedule->job_count);
    int *unit = MER_ARRAY(arena, int, schedule->job_count);
    for (int j = 0; j < schedule->job_count; j++) {
        order[j] = j;
    }
    c.input.rules = *rules;
    price_all(&c, order, unit, 0);
    mer_arena_free(c.scratch);
    return c.best;
}

typedef struct Check {
    double best, bound;
} Check;

/* Tries all plans; none may be below the bound. */
static Check check_bound(int number, MerSchedule *schedule, const MerBandwidthRules *rules,
                         const MerScheduleRules *told)
{
    double   best = best_plan(schedule, rules);
    MerBound bound = mer_schedule_bound(schedule, told, false, NULL);
    if (!(bound.value <= best) || !(bound.value > 0)) {
        fail_msg("case %d: bound %.17g (%s), best plan %.17g", number, bound.value, bound.kind,
                 best);
    }
    return (Check){best, bound.value};
}

/* The bound of large groups, of any size. */
static double bound_by_prices(const MerSchedule *schedule, const MerScheduleRules *rules)
{
    Relaxation relaxation = {.arena = arena};
    mer_relaxation_build(schedule, rules, false, &relaxation);
    return mer_schedule_bound_by_prices(&relaxation, NULL);
}

static void test_no_plan_of_a_small_group_beats_the_bound(void **state)
{
    (void)state;
    double logs = 0;
    int    count = 0;
    for (int i = 0; i < 48; i++) {
        MerRng       rng = mer_rng_make(1, (uint64_t)i);
        MerSchedule *schedule = random_schedule(4, 2 + i % 2, &rng);
        if (i & 1) {
            add_releases(schedule, &rng);
        }
        if (i & 2) {
            add_dependencies(schedule, &rng);
        }
        MerBandwidthRules rules = {.share = i & 4 ? MER_SHARE_MAXMIN : MER_SHARE_PROPORTIONAL,
                                   .switch_cycles = i & 8 ? 30 : 0};
        MerScheduleRules told = {.is_proportional = !(i & 4), .switch_cycles = rules.switch_cycles};
        Check            checked = check_bound(i, schedule, &rules, &told);
        double           by_prices = bound_by_prices(schedule, &told);
        if (!(by_prices <= checked.best) || !(i & 3 || by_prices > 0.5 * checked.bound)) {
            fail_msg("case %d: bound by prices %.17g, best plan %.17g", i, by_prices, checked.best);
        }
        logs += log(checked.best / checked.bound);
        count++;
    }
    print_message("best plan over the bound, geomean: %.4f\n", exp(logs / count));
    assert_true(exp(logs / count) < 1.2);
}

/* Three jobs in four move nothing, so they run at full speed whatever the others need. */
static void test_no_plan_beats_the_bound_when_jobs_move_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 24; i++) {
        MerRng       rng = mer_rng_make(2, (uint64_t)i);
        MerSchedule *schedule = random_schedule(4, 2 + i % 2, &rng);
        double      *rate = MER_ARRAY(arena, double, 4 * schedule->unit_count);
        for (int at = 0; at < 4 * schedule->unit_count; at++) {
            rate[at] = mer_rng_below(&rng, 4) == 0 ? 20 : 0;
        }
        schedule = hand_schedule(4, schedule->unit_count, 4, schedule->latency, rate, arena);
        if (i & 2) {
            add_dependencies(schedule, &rng);
        }
        MerBandwidthRules rules = {.share = MER_SHARE_PROPORTIONAL};
        MerScheduleRules  told = {.is_proportional = true};
        check_bound(i, schedule, &rules, &told);
    }
}

/* Few kinds of jobs and of cores, with lengths that fit together and lengths that do not. */
static MerSchedule *schedule_of_kinds(int jobs, int units, MerRng *rng)
{
    enum { MOST_KINDS = 3, MOST_CLASSES = 2 };
    double  length[MOST_KINDS][MOST_CLASSES], need[MOST_KINDS][MOST_CLASSES];
    double *latency = MER_ARRAY(arena, double, jobs *units);
    double *rate = MER_ARRAY(arena, double, jobs *units);
    int     classes = 1 + mer_rng_below(rng, MOST_CLASSES);
    bool    is_even = mer_rng_below(rng, 2) == 0;
    for (int at = 0; at < MOST_KINDS * MOST_CLASSES; at++) {
        int    kind = at / MOST_CLASSES, class = at % MOST_CLASSES;
        double slower = 1 + class * (is_even ? 1 : 2 * mer_rng_unit(rng));
        length[kind][class] = slower * (is_even ? kind + 1 : exp(3 * mer_rng_unit(rng)));
        need[kind][class] = exp(4 * mer_rng_unit(rng) - 1) / slower;
    }
    for (int j = 0; j < jobs; j++) {
        int kind = mer_rng_below(rng, MOST_KINDS);
        for (int u = 0; u < units; u++) {
            latency[j * units + u] = length[kind][u % classes];
            rate[j * units + u] = need[kind][u % classes];
        }
    }
    return hand_schedule(jobs, units, 4, latency, rate, arena);
}

static void test_no_plan_of_equal_jobs_and_cores_beats_the_bound(void **state)
{
    (void)state;
    double logs = 0;
    int    tight = 0, count = 60;
    for (int i = 0; i < count; i++) {
        MerRng       rng = mer_rng_make(6, (uint64_t)i);
        MerSchedule *schedule = schedule_of_kinds(4 + i % 5 / 4, 2 + i % 2, &rng);
        if (i % 4 == 3) {
            add_dependencies(schedule, &rng);
        }
        MerBandwidthRules rules = {.share = MER_SHARE_PROPORTIONAL};
        MerScheduleRules  told = {.is_proportional = true};
        Check             checked = check_bound(i, schedule, &rules, &told);
        logs += log(checked.best / checked.bound);
        tight += checked.best / checked.bound - 1 < 1e-9;
    }
    print_message("best plan over the bound, equal jobs and cores, geomean: %.4f, %d of %d equal\n",
                  exp(logs / count), tight, count);
    assert_true(exp(logs / count) < 1.05 && tight > count / 2);
}

/* Among many jobs that are all different, prices of cores and bytes say what the whole program says. Every other
 * case has jobs that are so slow on some cores that they may not go there. */
static void test_prices_come_to_the_bound_of_the_program(void **state)
{
    (void)state;
    double widest = 0;
    for (int i = 0; i < 16; i++) {
        MerRng           rng = mer_rng_make(9, (uint64_t)i);
        MerSchedule     *schedule = random_schedule(300, 2 + i % 5, &rng);
        double          *latency = MER_ARRAY(arena, double, 300 * schedule->unit_count);
        MerScheduleRules told = {.is_proportional = i & 2, .switch_cycles = i & 4 ? 30 : 0};
        for (int at = 0; at < 300 * schedule->unit_count; at++) {
            bool is_slow = i & 1 && mer_rng_below(&rng, 3) == 0;
            latency[at] = schedule->latency[at] * (is_slow ? 500 : 1);
        }
        schedule = hand_schedule(300, schedule->unit_count, 4, latency, schedule->rate, arena);
        double whole = mer_schedule_bound(schedule, &told, false, NULL).value;
        double prices = bound_by_prices(schedule, &told);
        widest = fmax(widest, 1 - prices / whole);
        if (!(prices <= whole * (1 + 1e-11)) || !(prices >= whole * (1 - 1e-5))) {
            fail_msg("case %d: bound by prices %.17g, of the program %.17g", i, prices, whole);
        }
    }
    print_message("prices are below the program by up to %.2g\n", widest);
}

/* Where whole jobs count, times are rounded to a grid. */
static void assert_bound(const MerSchedule *schedule, double value, double tolerance)
{
    MerScheduleRules told = {.is_proportional = true};
    MerBound         bound = mer_schedule_bound(schedule, &told, false, NULL);
    if (bound.value > value || bound.value < value * (1 - tolerance) ||
        strcmp(bound.kind, "configurations") != 0) {
        fail_msg("bound %.17g (%s), expected %.17g", bound.value, bound.kind, value);
    }
}

/* A job of 10 cycles needs 1.9 of the bandwidth, one of 100 needs 0.1: together 2, so 10 * 2 + 90. Alone they
 * exceed it by 9, with which the relaxation of single jobs comes to 109. */
static void test_what_runs_together_counts(void **state)
{
    (void)state;
    static const double latency[] = {10, 10, 100, 100};
    static const double rate[] = {1.9, 1.9, 0.1, 0.1};
    assert_bound(hand_schedule(2, 2, 1, latency, rate, arena), 110, 1e-11);
}

/* Three jobs of 100 on two cores need 200, five on one fast and two slow cores 300: cores run whole jobs. */
static void test_cores_run_whole_jobs(void **state)
{
    (void)state;
    static const double equal[] = {100, 100, 100, 100, 100, 100};
    static const double mixed[] = {100, 200, 200, 100, 200, 200, 100, 200,
                                   200, 100, 200, 200, 100, 200, 200};
    static const double rate[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1,
                                  0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    assert_bound(hand_schedule(3, 2, 1, equal, rate, arena), 200, 5e-4);
    assert_bound(hand_schedule(5, 3, 1, mixed, rate, arena), 300, 5e-4);
}

/* The excess takes its part of the time into which whole jobs must fit: three of 100 on two cores, and ten of 1
 * that need twice the bandwidth, one at a time beside a long one (need 2.1), so 200 + 10 * 1.1. */
static void test_whole_jobs_fit_into_what_the_excess_leaves(void **state)
{
    (void)state;
    double latency[26], rate[26];
    for (int at = 0; at < 26; at++) {
        latency[at] = at < 6 ? 100 : 1;
        rate[at] = at < 6 ? 0.1 : 2;
    }
    assert_bound(hand_schedule(13, 2, 1, latency, rate, arena), 211, 6e-3);
}

/* Two cores and four jobs that end together: 100 + 30 + 100, which the relaxation sees. */
static void test_dead_time_between_jobs_counts(void **state)
{
    (void)state;
    static const double latency[] = {100, 100, 100, 100, 100, 100, 100, 100};
    static const double rate[] = {1, 1, 1, 1, 1, 1, 1, 1};
    MerSchedule        *schedule = hand_schedule(4, 2, 10, latency, rate, arena);
    MerScheduleRules    rules = {.is_proportional = true, .switch_cycles = 30};
    assert_true(fabs(mer_schedule_bound(schedule, &rules, false, NULL).value - 230) < 1e-6);
    rules.switch_cycles = 0;
    assert_true(fabs(mer_schedule_bound(schedule, &rules, false, NULL).value - 200) < 1e-6);
}

/* Four jobs of 100 that all come at 50 share two cores: 50 + 200. */
static void test_work_that_comes_late_counts_together(void **state)
{
    (void)state;
    static const double latency[] = {100, 100, 100, 100, 100, 100, 100, 100};
    static const double rate[] = {1, 1, 1, 1, 1, 1, 1, 1};
    static const double release[] = {50, 50, 50, 50};
    MerSchedule        *schedule = hand_schedule(4, 2, 10, latency, rate, arena);
    MerScheduleRules    rules = {.is_proportional = true};
    schedule->release = release;
    schedule->release_order = mer_schedule_sorted(release, 4, arena);
    schedule->has_releases = true;
    MerBound bound = mer_schedule_bound(schedule, &rules, false, NULL);
    assert_string_equal(bound.kind, "heads-and-tails");
    assert_true(fabs(bound.value - 250) < 1e-6);
}

/* The sums of a chain are rounded in the plan and in the bound; the bound stays below, and near enough to prove
 * the plan. */
static void test_the_bound_of_a_chain_is_below_its_plan_to_the_last_bit(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        MerRng             rng = mer_rng_make(3, (uint64_t)i);
        int                jobs = 1 + i % 40;
        MerSchedule       *schedule = random_schedule(jobs, 1, &rng);
        MerBandwidthInput  input = hand_input(schedule, arena);
        MerBandwidthTimes  times = new_times(jobs, arena);
        MerScheduleRules   told = {.is_proportional = true};
        MerJobsPlan        plan;
        MerBandwidthOutput output;
        add_chain(schedule);
        mer_schedule_new_plan(schedule, arena, &plan);
        mer_schedule_make_queues(schedule->order, MER_ARRAY(arena, int, jobs), &plan);
        assert_true(mer_bandwidth_extended(&input, &plan, arena, &times, NULL, &output));
        MerBound bound = mer_schedule_bound(schedule, &told, false, NULL);
        if (!(bound.value <= output.cycles) || output.cycles / bound.value - 1 > 1e-12) {
            fail_msg("case %d: bound %.17g (%s), plan %.17g", i, bound.value, bound.kind,
                     output.cycles);
        }
    }
}

/* Weights, outputs and memories of all sizes; two layers, so that weights stay. */
static void add_tensors(MerSchedule *schedule, MerRng *rng)
{
    int     jobs = schedule->job_count;
    double *weights = MER_ARRAY(arena, double, jobs);
    double *outputs = MER_ARRAY(arena, double, jobs);
    double *capacity = MER_ARRAY(arena, double, schedule->unit_count);
    int    *layer = MER_ARRAY(arena, int, jobs);
    for (int j = 0; j < jobs; j++) {
        layer[j] = mer_rng_below(rng, 2);
        weights[j] = 200 * mer_rng_unit(rng);
        outputs[j] = 60 * mer_rng_unit(rng);
    }
    for (int u = 0; u < schedule->unit_count; u++) {
        capacity[u] = 150 * mer_rng_unit(rng);
    }
    schedule->weight_bytes = weights;
    schedule->output_bytes = outputs;
    schedule->unit_bytes = capacity;
    schedule->layer = layer;
}

static void test_no_plan_beats_the_bound_with_kept_tensors(void **state)
{
    (void)state;
    for (int i = 0; i < 48; i++) {
        MerRng       rng = mer_rng_make(4, (uint64_t)i);
        MerSchedule *schedule = random_schedule(4, 2 + i % 2, &rng);
        if (i & 1) {
            add_dependencies(schedule, &rng);
        }
        add_tensors(schedule, &rng);
        MerBandwidthRules rules = {.share = i & 2 ? MER_SHARE_MAXMIN : MER_SHARE_PROPORTIONAL,
                                   .reuses_weights = !(i & 4),
                                   .forwards = i & 4 || i & 8};
        MerScheduleRules  told = {.is_proportional = !(i & 2), .saves_traffic = true};
        check_bound(i, schedule, &rules, &told);
    }
}

static void test_no_plan_beats_the_bound_with_even_shares(void **state)
{
    (void)state;
    double logs = 0;
    for (int i = 0; i < 48; i++) {
        MerRng       rng = mer_rng_make(5, (uint64_t)i);
        MerSchedule *schedule = random_schedule(4, 2 + i % 2, &rng);
        if (i & 1) {
            add_dependencies(schedule, &rng);
        }
        if (i & 2) {
            add_releases(schedule, &rng);
        }
        MerBandwidthRules rules = {.share = MER_SHARE_EVEN, .switch_cycles = i & 4 ? 30 : 0};
        MerScheduleRules  told = {.switch_cycles = rules.switch_cycles, .is_even = true};
        Check             checked = check_bound(i, schedule, &rules, &told);
        logs += log(checked.best / checked.bound);
    }
    print_message("best plan over the bound, even shares, geomean: %.4f\n", exp(logs / 48));
}

/* One job of 1000 bytes has half of 2 bytes a cycle, though the other core is idle. */
static void test_an_even_share_is_all_a_core_has(void **state)
{
    (void)state;
    static const double latency[] = {100, 100};
    static const double rate[] = {10, 10};
    MerSchedule        *schedule = hand_schedule(1, 2, 2, latency, rate, arena);
    MerScheduleRules    rules = {.is_even = true};
    assert_true(fabs(mer_schedule_bound(schedule, &rules, false, NULL).value - 1000) < 1e-6);
    rules.is_even = false;
    assert_true(fabs(mer_schedule_bound(schedule, &rules, false, NULL).value - 500) < 1e-6);
}

/* Two jobs move 1000 bytes each at 1 a cycle; at most 300 of them are weights that may stay. */
static void test_bytes_that_cannot_be_kept_count(void **state)
{
    (void)state;
    static const double latency[] = {100, 100, 100, 100};
    static const double rate[] = {10, 10, 10, 10};
    static const double weights[] = {300, 300}, outputs[] = {500, 500}, capacity[] = {400, 400};
    static const double small[] = {200, 200};
    MerSchedule        *schedule = hand_schedule(2, 2, 1, latency, rate, arena);
    MerScheduleRules    rules = {.saves_traffic = true};
    schedule->weight_bytes = weights;
    schedule->output_bytes = outputs;
    schedule->unit_bytes = capacity;
    assert_true(fabs(mer_schedule_bound(schedule, &rules, false, NULL).value - 1400) < 1e-6);
    schedule->unit_bytes = small;
    assert_true(fabs(mer_schedule_bound(schedule, &rules, false, NULL).value - 2000) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_plan_of_a_small_group_beats_the_bound),
        cmocka_unit_test(test_no_plan_beats_the_bound_when_jobs_move_nothing),
        cmocka_unit_test(test_no_plan_of_equal_jobs_and_cores_beats_the_bound),
        cmocka_unit_test(test_prices_come_to_the_bound_of_the_program),
        cmocka_unit_test(test_what_runs_together_counts),
        cmocka_unit_test(test_cores_run_whole_jobs),
        cmocka_unit_test(test_whole_jobs_fit_into_what_the_excess_leaves),
        cmocka_unit_test(test_dead_time_between_jobs_counts),
        cmocka_unit_test(test_work_that_comes_late_counts_together),
        cmocka_unit_test(test_the_bound_of_a_chain_is_below_its_plan_to_the_last_bit),
        cmocka_unit_test(test_no_plan_beats_the_bound_with_kept_tensors),
        cmocka_unit_test(test_bytes_that_cannot_be_kept_count),
        cmocka_unit_test(test_no_plan_beats_the_bound_with_even_shares),
        cmocka_unit_test(test_an_even_share_is_all_a_core_has),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
