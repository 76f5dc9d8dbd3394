/* Results on the 64 points of M3E (tests/data/magma-results.json) and on 24 of our own (own-points.json): list
 * schedules and the published bound to the printed digit, the default at or below the recorded searches. A small
 * selection of M3E's; MERCATOR_STUDY=1 runs every point with five seeds and prints a table. */
#include "schedule_points.h"

static void test_list_schedules_and_published_bound_equal_their_columns(const ReferenceSet *set)
{
    Point points[MOST_POINTS];
    int   count = read_points(set, points)->count;
    for (int i = 0; i < count; i++) {
        const Point   *point = &points[i];
        OpenedSchedule opened;
        open_point(point, "bandwidth", &opened);
        MerScheduleRules rules = {.is_proportional = true};
        double           bound = mer_schedule_bound(opened.schedule, &rules, true, NULL).value;
        double           fcfs = run_point(point, "fcfs", 1, 1).value;
        double           lpt = run_point(point, "lpt", 1, 1).value;
        if (fabs(bound - number(point->row, "lb")) > 0.1 ||
            fabs(fcfs - number(point->row, "fcfs_mct")) > 0.051 ||
            fabs(lpt - number(point->row, "lpt_mct")) > 0.051) {
            fail_msg("%s %s %g: bound %.1f fcfs %.1f lpt %.1f, expected %.1f %.1f %.1f",
                     point->task, point->platform, point->bandwidth, bound, fcfs, lpt,
                     number(point->row, "lb"), number(point->row, "fcfs_mct"),
                     number(point->row, "lpt_mct"));
        }
    }
}

/* The list schedulers that nobody published figures of, on points of our own. */
static void test_other_list_schedules_equal_their_columns(void **state)
{
    (void)state;
    static const char *const names[] = {"herald_like", "aimt_like", "lp_round"};
    Point                    points[MOST_POINTS];
    int                      count = read_points(&own_set, points)->count;
    for (int i = 0; i < count; i++) {
        for (int n = 0; n < 3; n++) {
            double found = run_point(&points[i], names[n], 1, 1).value;
            if (fabs(found / number(points[i].row, names[n]) - 1) > 1e-9) {
                fail_msg("%s, %s %s %g: %.17g", names[n], points[i].task, points[i].platform,
                         points[i].bandwidth, found);
            }
        }
    }
}

/* Our bound is below every makespan known and not below the published one. */
static void test_bound_is_tight_and_never_above_a_known_makespan(const ReferenceSet *set)
{
    Point  points[MOST_POINTS];
    int    count = read_points(set, points)->count;
    bool   is_study = getenv("MERCATOR_STUDY") != NULL;
    double logs = 0;
    for (int i = 0; i < count; i++) {
        const Point   *point = &points[i];
        OpenedSchedule opened;
        MerBound       bound;
        open_point(point, "bandwidth", &opened);
        bound = schedule_bound(&opened, MER_METRIC_CYCLES);
        double best =
            fmin(fmin(part(point->row, "ga_shipped", 1), part(point->row, "ga_described", 1)),
                 fmin(part(point->row, "sa_lpt", 1), number(point->row, "sa_100k")));
        if (is_study) {
            print_message("%-14s %s %4g  %-12s bound %.1f  best/bound %.4f (published %.4f)\n",
                          point->task, point->platform, point->bandwidth, bound.kind, bound.value,
                          best / bound.value, best / number(point->row, "lb"));
        }
        assert_true(bound.value <= best + 0.051);
        assert_true(bound.value >= number(point->row, "lb") - 0.1);
        logs += log(best / bound.value);
    }
    print_message("best published over our bound, geomean: %.4f\n", exp(logs / count));
    assert_true(exp(logs / count) <= 1.015);
}

/* Every eighth point of M3E and two seeds, unless it is the study. */
static bool is_chosen(const ReferenceSet *set, int i, bool is_study)
{
    return is_study || i % (set->is_public ? 8 : 4) == 3;
}

static double our_bound(const Point *point)
{
    OpenedSchedule opened;
    MerBound       bound;
    open_point(point, "bandwidth", &opened);
    bound = schedule_bound(&opened, MER_METRIC_CYCLES);
    return bound.value;
}

/* Below the genetic algorithm where that is not within 1 % of the published bound; a tie within 0.05 % counts
 * where it is within 0.05 % of ours. */
static void test_default_is_at_least_as_good_as_the_recorded_annealing(const ReferenceSet *set)
{
    Point points[MOST_POINTS];
    int   count = read_points(set, points)->count;
    bool  is_study = getenv("MERCATOR_STUDY") != NULL;
    for (int i = 0; i < count; i++) {
        const Point *point = &points[i];
        if (!is_chosen(set, i, is_study)) {
            continue;
        }
        double values[5];
        int    seeds = is_study ? 5 : 2;
        run_seeds(point, "list_annealing", 10500, 0, seeds, values);
        double ours = mer_mean(values, seeds);
        double annealing = part(point->row, "sa_lpt", 0);
        double genetic = part(point->row, "ga_shipped", 0);
        if (is_study) {
            print_message("%-14s %s %4g  mean %.1f  over annealing %.5f  over genetic %.5f\n",
                          point->task, point->platform, point->bandwidth, ours, ours / annealing,
                          ours / genetic);
        }
        assert_true(ours <= annealing * 1.002);
        if (genetic / number(point->row, "lb") > 1.01 && ours >= genetic) {
            assert_true(genetic <= our_bound(point) * 1.0005 && ours <= genetic * 1.0005);
        }
    }
}

/* The study gives every point one second of one core; the test an eighth of them as many evaluations as a slow
 * core makes in a second, so that it says the same everywhere. */
static void test_default_reaches_a_long_annealing_within_a_second(const ReferenceSet *set)
{
    Point points[MOST_POINTS];
    int   count = read_points(set, points)->count;
    bool  is_study = getenv("MERCATOR_STUDY") != NULL;
    int   tried = 0;
    int   reached = 0;
    for (int i = 0; i < count; i++) {
        const Point *point = &points[i];
        if (!is_chosen(set, i, is_study)) {
            continue;
        }
        MerTaskResult result = run_point(point, "list_annealing", 1, is_study ? 0 : 60000);
        double        ratio = result.value / number(point->row, "sa_100k");
        if (is_study) {
            print_message("%-14s %s %4g  %.1f after %lld evaluations, over sa_100k %.5f\n",
                          point->task, point->platform, point->bandwidth, result.value,
                          (long long)result.evaluations, ratio);
        }
        tried++;
        reached += ratio <= 1.0001;
    }
    print_message("at or below sa_100k x 1.0001 on %d of %d points\n", reached, tried);
    assert_true(reached >= (is_study ? 60 : tried - 1));
}

ON_BOTH_SETS(test_list_schedules_and_published_bound_equal_their_columns)
ON_BOTH_SETS(test_bound_is_tight_and_never_above_a_known_makespan)
ON_BOTH_SETS(test_default_is_at_least_as_good_as_the_recorded_annealing)
ON_BOTH_SETS(test_default_reaches_a_long_annealing_within_a_second)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH_SETS(test_list_schedules_and_published_bound_equal_their_columns),
        cmocka_unit_test(test_other_list_schedules_equal_their_columns),
        BOTH_SETS(test_bound_is_tight_and_never_above_a_known_makespan),
        BOTH_SETS(test_default_is_at_least_as_good_as_the_recorded_annealing),
        BOTH_SETS(test_default_reaches_a_long_annealing_within_a_second),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down_all);
}
