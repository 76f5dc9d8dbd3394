/* The extended loop on small schedules whose times follow by hand (docs/bandwidth-model.md, "The extended
 * loop"). */
#include "one_arena.h"
#include "schedule_support.h"

/* The latencies and needs of the reference hand cases: job 0 on core 0, jobs 1 and 2 on core 1. */
static MerSchedule *three_jobs(double bandwidth)
{
    static const double latency[] = {100, 200, 50, 80, 60, 50};
    static const double rate[] = {8, 3, 6, 4, 5, 2};
    return hand_schedule(3, 2, bandwidth, latency, rate, arena);
}

static MerJobsPlan queues(const MerSchedule *schedule, const int *order, const int *unit)
{
    MerJobsPlan plan;
    mer_schedule_new_plan(schedule, arena, &plan);
    mer_schedule_make_queues(order, unit, &plan);
    return plan;
}

typedef struct Outcome {
    bool               is_done;
    MerBandwidthTimes  times;
    MerBandwidthOutput output;
} Outcome;

static Outcome simulate(const MerSchedule *schedule, MerBandwidthRules rules, const int *order)
{
    static const int  unit[] = {0, 1, 1};
    Outcome           outcome = {.times = new_times(schedule->job_count, arena)};
    MerBandwidthInput input = hand_input(schedule, arena);
    MerJobsPlan       plan = queues(schedule, order, unit);
    input.rules = rules;
    outcome.is_done =
        mer_bandwidth_extended(&input, &plan, arena, &outcome.times, NULL, &outcome.output);
    return outcome;
}

static const int in_order[] = {0, 1, 2};

/* job `late` waits for job `early`. */
static void add_dependency(MerSchedule *schedule, int early, int late)
{
    int *before_start = MER_ARRAY(arena, int, schedule->job_count + 1);
    int *after_start = MER_ARRAY(arena, int, schedule->job_count + 1);
    int *before = MER_ARRAY(arena, int, 1);
    int *after = MER_ARRAY(arena, int, 1);
    for (int j = 0; j < schedule->job_count; j++) {
        before_start[j + 1] = j >= late;
        after_start[j + 1] = j >= early;
    }
    before[0] = early;
    after[0] = late;
    schedule->before_start = before_start;
    schedule->before = before;
    schedule->after_start = after_start;
    schedule->after = after;
    schedule->has_dependencies = true;
}

static void set_release(MerSchedule *schedule, int job, double time)
{
    double *release = MER_ARRAY(arena, double, schedule->job_count);
    release[job] = time;
    schedule->release = release;
    schedule->release_order = mer_schedule_sorted(release, schedule->job_count, arena);
    schedule->has_releases = true;
}

static void test_contended_jobs_with_water_filling(void **state)
{
    (void)state;
    Outcome outcome =
        simulate(three_jobs(10), (MerBandwidthRules){.share = MER_SHARE_MAXMIN}, in_order);
    assert_true(outcome.output.cycles == 130);
    assert_true(outcome.output.finish[0] == 120 && outcome.output.finish[1] == 130);
    assert_true(fabs(1 - outcome.output.waste / 1300 - 0.9384615384615385) < 1e-15);
}

static void test_starved_jobs_with_water_filling(void **state)
{
    (void)state;
    static const int order[] = {0, 2, 1};
    Outcome          outcome =
        simulate(three_jobs(1), (MerBandwidthRules){.share = MER_SHARE_MAXMIN}, order);
    assert_true(fabs(outcome.output.finish[0] - 1220) < 1e-9 &&
                fabs(outcome.output.finish[1] - 840) < 1e-9);
}

/* Each core has 5 of 10: job 0 needs 8 and takes 800 / 5 = 160; the others need less than 5. */
static void test_even_sharing_gives_each_core_its_part(void **state)
{
    (void)state;
    Outcome outcome =
        simulate(three_jobs(10), (MerBandwidthRules){.share = MER_SHARE_EVEN}, in_order);
    assert_true(outcome.output.finish[0] == 160 && outcome.output.finish[1] == 130);
}

static void test_a_successor_waits_for_the_other_core(void **state)
{
    (void)state;
    MerSchedule *schedule = three_jobs(100);
    add_dependency(schedule, 0, 2);
    assert_true(simulate(schedule, (MerBandwidthRules){0}, in_order).output.cycles == 150);
}

/* Core 1 runs job 1 until 80 and job 2 from 100 to 150; before a release, too, a core is idle. */
static void test_a_core_that_waits_is_idle(void **state)
{
    (void)state;
    MerSchedule *schedule = three_jobs(100);
    add_dependency(schedule, 0, 2);
    Outcome after = simulate(schedule, (MerBandwidthRules){0}, in_order);
    assert_true(after.output.idle[0] == 0 && after.output.idle[1] == 20);
    schedule = three_jobs(100);
    set_release(schedule, 0, 30);
    Outcome released = simulate(schedule, (MerBandwidthRules){0}, in_order);
    assert_true(released.output.finish[0] == 130 && released.output.idle[0] == 30);
    assert_true(released.output.finish[1] == 130 && released.output.idle[1] == 0);
}

static void test_a_late_release_is_skipped_or_waited_for(void **state)
{
    (void)state;
    MerSchedule *schedule = three_jobs(100);
    set_release(schedule, 1, 30);
    Outcome skip = simulate(schedule, (MerBandwidthRules){0}, in_order);
    Outcome strict =
        simulate(schedule, (MerBandwidthRules){.dispatch = MER_DISPATCH_STRICT}, in_order);
    assert_true(skip.output.cycles == 130 && skip.times.start[2] == 0 && skip.times.start[1] == 50);
    assert_true(strict.output.cycles == 160 && strict.times.start[1] == 30);
}

static void test_switches_cost_dead_time(void **state)
{
    (void)state;
    Outcome outcome = simulate(three_jobs(100), (MerBandwidthRules){.switch_cycles = 10}, in_order);
    assert_true(outcome.output.finish[0] == 100 && outcome.output.finish[1] == 140);
}

/* Core 1 waits with job 2 at its head for job 1, which stands behind it. */
static void test_strict_queues_can_deadlock_and_say_who_waits(void **state)
{
    (void)state;
    static const int order[] = {0, 2, 1};
    MerSchedule     *schedule = three_jobs(100);
    add_dependency(schedule, 1, 2);
    Outcome strict =
        simulate(schedule, (MerBandwidthRules){.dispatch = MER_DISPATCH_STRICT}, order);
    assert_false(strict.is_done);
    assert_int_equal(strict.times.waiting, 2);
    assert_int_equal(strict.times.waits_for, 1);
    assert_true(simulate(schedule, (MerBandwidthRules){0}, order).is_done);
}

static void set_deadline(MerSchedule *schedule, int job, double time)
{
    double *deadline = MER_ARRAY(arena, double, schedule->job_count);
    for (int j = 0; j < schedule->job_count; j++) {
        deadline[j] = j == job ? time : INFINITY;
    }
    schedule->deadline = deadline;
    schedule->deadline_order = mer_schedule_sorted(deadline, schedule->job_count, arena);
    schedule->has_deadlines = true;
}

/* Job 2 could start at 80 but had to by 60. */
static void test_late_jobs_are_dropped(void **state)
{
    (void)state;
    MerSchedule *schedule = three_jobs(100);
    set_deadline(schedule, 2, 60);
    Outcome outcome = simulate(schedule, (MerBandwidthRules){.drops_late = true}, in_order);
    assert_true(outcome.is_done && isnan(outcome.times.end[2]) && outcome.times.dropped == 1);
    assert_true(outcome.output.cycles == 100);
}

/* The first of a chain has no time, so that nothing of it runs; more jobs than a stack has memory for calls. */
static void test_a_long_chain_is_dropped_whole(void **state)
{
    (void)state;
    enum { JOBS = 500000 };
    double *numbers = MER_ARRAY(arena, double, JOBS);
    int    *start =
        MER_ARRAY(arena, int, JOBS + 2); /* 0 0 1 2 ..: all but the first have one before them */
    int *order = MER_ARRAY(arena, int, JOBS + 1);
    for (int j = 0; j < JOBS; j++) {
        numbers[j] = 1;
        start[j + 2] = j + 1;
        order[j] = j;
    }
    MerSchedule *schedule = hand_schedule(JOBS, 1, 100, numbers, numbers, arena);
    order[JOBS] = JOBS - 1; /* the last has nothing after it */
    schedule->before_start = start;
    schedule->after_start = order;
    schedule->before = order;
    schedule->after = start + 2;
    schedule->has_dependencies = true;
    set_deadline(schedule, 0, 0);
    MerBandwidthInput  input = hand_input(schedule, arena);
    MerJobsPlan        plan = queues(schedule, order, MER_ARRAY(arena, int, JOBS));
    MerBandwidthTimes  times = new_times(JOBS, arena);
    MerBandwidthOutput output;
    input.rules.drops_late = true;
    assert_true(mer_bandwidth_extended(&input, &plan, arena, &times, NULL, &output));
    assert_int_equal(times.dropped, JOBS);
}

/* Job 2 is dropped at 1000, long after the last end at 100: of 100 * 100 bytes 800 + 320 are used, and a limit
 * of 200 cycles is kept. */
static void test_the_schedule_ends_with_its_last_job_not_with_a_drop(void **state)
{
    (void)state;
    static const int unit[] = {0, 1, 1};
    MerSchedule     *schedule = three_jobs(100);
    set_release(schedule, 2, 1000);
    set_deadline(schedule, 2, 1000);
    MerBandwidthInput  input = hand_input(schedule, arena);
    MerJobsPlan        plan = queues(schedule, in_order, unit);
    MerBandwidthTimes  times = new_times(3, arena);
    MerBandwidthOutput output;
    input.rules.drops_late = true;
    input.limit = 200;
    assert_true(mer_bandwidth_extended(&input, &plan, arena, &times, NULL, &output));
    assert_true(output.cycles == 100 && output.waste == 8880 && times.dropped == 1);
    assert_false(output.is_cut);
    input.limit = 99;
    assert_true(mer_bandwidth_extended(&input, &plan, arena, &times, NULL, &output));
    assert_true(output.is_cut);
}

/* Core 1 is free at 80 and ready for job 2 at 90: in time for a deadline of 91, too late for 85 or 90. */
static void test_a_switch_does_not_carry_a_job_past_its_deadline(void **state)
{
    (void)state;
    static const double deadlines[] = {85, 90, 91};
    static const int    dispatches[] = {MER_DISPATCH_SKIP, MER_DISPATCH_STRICT};
    for (int i = 0; i < 6; i++) {
        MerSchedule      *schedule = three_jobs(100);
        MerBandwidthRules rules = {
            .dispatch = dispatches[i / 3], .switch_cycles = 10, .drops_late = true};
        set_deadline(schedule, 2, deadlines[i % 3]);
        Outcome outcome = simulate(schedule, rules, in_order);
        bool    is_in_time = i % 3 == 2;
        assert_true(outcome.is_done);
        assert_int_equal(outcome.times.dropped, !is_in_time);
        assert_true(is_in_time ? outcome.times.start[2] == 90 : isnan(outcome.times.start[2]));
        assert_true(outcome.output.finish[1] == (is_in_time ? 140 : 80));
    }
}

/* All on core 1: free at 200, it could start job 1 at 210, after its deadline. The job behind takes its place at
 * once, or in a strict queue when job 1 has been dropped. */
static void test_a_core_passes_over_a_job_that_its_switch_would_make_late(void **state)
{
    (void)state;
    static const int  unit[] = {1, 1, 1};
    MerSchedule      *schedule = three_jobs(100);
    MerJobsPlan       plan = queues(schedule, in_order, unit);
    MerBandwidthInput input = hand_input(schedule, arena);
    MerBandwidthTimes times = new_times(3, arena);
    set_deadline(schedule, 1, 205);
    for (int i = 0; i < 2; i++) {
        MerBandwidthOutput output;
        input.rules =
            (MerBandwidthRules){.dispatch = i == 0 ? MER_DISPATCH_SKIP : MER_DISPATCH_STRICT,
                                .switch_cycles = 10,
                                .drops_late = true};
        assert_true(mer_bandwidth_extended(&input, &plan, arena, &times, NULL, &output));
        assert_true(isnan(times.start[1]) && times.start[2] == (i == 0 ? 210 : 215));
        assert_true(output.cycles == (i == 0 ? 260 : 265));
    }
}

/* Without traffic a job takes its latency whatever the others move. */
static void test_a_job_without_traffic_neither_waits_nor_takes(void **state)
{
    (void)state;
    static const double latency[] = {100, 100, 70, 70};
    static const double rate[] = {20, 20, 0, 0};
    MerSchedule        *schedule = hand_schedule(2, 2, 10, latency, rate, arena);
    static const int    order[] = {0, 1};
    static const int    unit[] = {0, 1};
    MerBandwidthInput   input = hand_input(schedule, arena);
    MerJobsPlan         plan = queues(schedule, order, unit);
    MerBandwidthTimes   times = new_times(2, arena);
    MerBandwidthOutput  output;
    assert_true(mer_bandwidth_extended(&input, &plan, arena, &times, NULL, &output));
    assert_true(output.finish[0] == 200 && output.finish[1] == 70);
}

/* Both need 10 of 10; the heavy tenant is served first, or has 3/4 reserved. */
static void test_heavier_tenants_are_served_first_or_have_their_part(void **state)
{
    (void)state;
    static const double    latency[] = {100, 100, 100, 100};
    static const double    rate[] = {10, 10, 10, 10};
    static const int       owner[] = {0, 1};
    static const MerTenant tenants[] = {{"light", 1}, {"heavy", 3}};
    static const int       order[] = {0, 1};
    static const int       unit[] = {0, 1};
    MerSchedule           *schedule = hand_schedule(2, 2, 10, latency, rate, arena);
    schedule->tenants = tenants;
    schedule->tenant = owner;
    schedule->tenant_count = 2;
    MerBandwidthInput  input = hand_input(schedule, arena);
    MerJobsPlan        plan = queues(schedule, order, unit);
    MerBandwidthTimes  times = new_times(2, arena);
    MerBandwidthOutput output;
    input.rules.share = MER_SHARE_PRIORITY;
    mer_bandwidth_extended(&input, &plan, arena, &times, NULL, &output);
    assert_true(output.finish[1] == 100 && output.finish[0] == 200);
    input.rules.share = MER_SHARE_RESERVED;
    mer_bandwidth_extended(&input, &plan, arena, &times, NULL, &output);
    assert_true(fabs(output.finish[1] - 400.0 / 3) < 1e-9 && fabs(output.finish[0] - 200) < 1e-9);
}

/* Job 0 is a request that comes hopelessly late, job 1 one of the other model. */
static double score_beside(const MerJobModel *other, double deadline)
{
    static const double latency[] = {1e9, 1};
    static const double rate[] = {1, 1};
    static const int    model[] = {0, 1};
    const double        deadlines[] = {1, deadline};
    const MerJobModel   models[] = {{.name = "eyes", .fps = 60}, *other};
    MerSchedule        *schedule = hand_schedule(2, 1, 10, latency, rate, arena);
    MerBandwidthTimes   times = new_times(2, arena);
    MerBandwidthState   opened = {.schedule = schedule, .clamps_energy = true};
    schedule->deadline = deadlines;
    schedule->model = model;
    schedule->models = models;
    schedule->model_count = 2;
    times.end[0] = 1e9;
    times.end[1] = 1;
    return mer_bandwidth_xr_score(&opened, &times, arena);
}

static void test_xr_score_is_of_periodic_models_with_deadlines(void **state)
{
    (void)state;
    const MerJobModel batch = {.name = "batch"};
    const MerJobModel hands = {.name = "hands", .fps = 45};
    assert_true(score_beside(&batch, INFINITY) == 0);
    assert_true(score_beside(&hands, INFINITY) == 0);
    assert_true(score_beside(&hands, 1e9) == 50); /* the mean of 0 and 100 */
}

/* Core 0 is free first, and job 2 is due first. */
static void test_policies_choose_by_deadline_or_length(void **state)
{
    (void)state;
    static const double latency[] = {40, 40, 10, 10, 30, 30};
    static const double rate[] = {1, 1, 1, 1, 1, 1};
    static const double deadline[] = {100, 200, 50};
    MerSchedule        *schedule = hand_schedule(3, 2, 10, latency, rate, arena);
    schedule->deadline = deadline;
    MerBandwidthRules rules = {.dispatch = MER_DISPATCH_POLICY, .policy = MER_POLICY_EDF};
    Outcome           edf = simulate(schedule, rules, in_order);
    assert_true(edf.times.start[2] == 0 && edf.times.start[0] == 0 && edf.times.start[1] == 30);
    rules.policy = MER_POLICY_SJF;
    Outcome sjf = simulate(schedule, rules, in_order);
    assert_true(sjf.times.start[1] == 0 && sjf.times.start[2] == 0 && sjf.times.start[0] == 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contended_jobs_with_water_filling),
        cmocka_unit_test(test_starved_jobs_with_water_filling),
        cmocka_unit_test(test_even_sharing_gives_each_core_its_part),
        cmocka_unit_test(test_a_successor_waits_for_the_other_core),
        cmocka_unit_test(test_a_core_that_waits_is_idle),
        cmocka_unit_test(test_a_late_release_is_skipped_or_waited_for),
        cmocka_unit_test(test_switches_cost_dead_time),
        cmocka_unit_test(test_strict_queues_can_deadlock_and_say_who_waits),
        cmocka_unit_test(test_late_jobs_are_dropped),
        cmocka_unit_test(test_a_long_chain_is_dropped_whole),
        cmocka_unit_test(test_the_schedule_ends_with_its_last_job_not_with_a_drop),
        cmocka_unit_test(test_a_switch_does_not_carry_a_job_past_its_deadline),
        cmocka_unit_test(test_a_core_passes_over_a_job_that_its_switch_would_make_late),
        cmocka_unit_test(test_a_job_without_traffic_neither_waits_nor_takes),
        cmocka_unit_test(test_heavier_tenants_are_served_first_or_have_their_part),
        cmocka_unit_test(test_xr_score_is_of_periodic_models_with_deadlines),
        cmocka_unit_test(test_policies_choose_by_deadline_or_length),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
