/* The bound on the points of M3E and of our own (group 0 of each task, s1 .. s6): below every makespan known,
 * above the published bound, near the best known; and below what searches find in other groups.
 * MERCATOR_STUDY=1 prints a table, and searches for better makespans (two CPU-minutes). */
#include "schedule_points.h"

static double best_recorded(const cJSON *row)
{
    double genetic = fmin(part(row, "ga_shipped", 1), part(row, "ga_described", 1));
    double annealing = fmin(part(row, "sa_lpt", 1), number(row, "sa_100k"));
    double list = fmin(number(row, "fcfs_mct"), number(row, "lpt_mct"));
    return fmin(fmin(genetic, annealing), list);
}

static MerBound bound_of(const MerSchedule *schedule)
{
    MerScheduleRules rules = {.is_proportional = true};
    return mer_schedule_bound(schedule, &rules, false, NULL);
}

/* The default's result, which is not below its bound. */
static double search(const MerGraph *benchmark, const char *task, int group, const char *platform,
                     double bandwidth, const char *table, int64_t budget)
{
    MerArena   *outer = arena;
    MerRunHooks hooks = {0};
    arena = mer_arena_new();
    const char *problem = mer_arena_format(arena, "schedule:select=%s:%d,bandwidth=%.17g,table=%s",
                                           task, group, bandwidth, table);
    MerRunSpec spec = spec_from(problem, "bandwidth", "list_annealing", benchmark, platform, arena);
    spec.seed = 1;
    spec.budget = budget;
    spec.log = MER_LOG_IMPROVING;
    MerTaskResult result = run_or_fail(&spec, &hooks, arena).tasks[0];
    if (!(result.bound.value <= result.value)) {
        fail_msg("%s on %s: bound %.17g (%s), found %.17g", task, platform, result.bound.value,
                 result.bound.kind, result.value);
    }
    mer_arena_free(arena);
    arena = outer;
    return result.value;
}

/* Printed to 0.1 cycle; our own points have the bound, too. */
static void test_bound_lies_between_the_published_one_and_the_best_known(const ReferenceSet *set)
{
    Point         points[MOST_POINTS];
    const Points *all = read_points(set, points);
    const char   *table = reference_path(set, set->table, arena);
    bool          is_study = getenv("MERCATOR_STUDY") != NULL;
    double        logs = 0, known_logs = 0;
    for (int i = 0; i < all->count; i++) {
        const Point   *point = &points[i];
        OpenedSchedule opened;
        open_point(point, "bandwidth", &opened);
        double   start = mer_cpu_clock();
        MerBound bound = bound_of(opened.schedule);
        double   seconds = mer_cpu_clock() - start;
        double   best = best_recorded(point->row);
        if (is_study) {
            double found = search(all->benchmark, point->task, 0, point->platform, point->bandwidth,
                                  table, 100000);
            known_logs += log(fmin(best, found) / bound.value);
            print_message("%-14s %s %4g  %-14s bound %.1f  recorded %.5f  known %.5f  %.3f s\n",
                          point->task, point->platform, point->bandwidth, bound.kind, bound.value,
                          best / bound.value, fmin(best, found) / bound.value, seconds);
        }
        assert_true(bound.value <= best + 0.051);
        assert_true(bound.value >= number(point->row, "lb") - 0.1);
        if (!set->is_public && fabs(bound.value / number(point->row, "bound") - 1) > 1e-6) {
            fail_msg("%s %s %g: bound %.17g (%s), recorded %.17g", point->task, point->platform,
                     point->bandwidth, bound.value, bound.kind, number(point->row, "bound"));
        }
        logs += log(best / bound.value);
    }
    print_message("best recorded over our bound, geomean: %.5f\n", exp(logs / all->count));
    if (is_study) {
        print_message("best known over our bound, geomean: %.5f\n", exp(known_logs / all->count));
    }
    assert_true(exp(logs / all->count) <= (set->is_public ? 1.004 : 1.01));
}

static void test_bound_counts_whole_jobs_on_recommendation_s6(void **state)
{
    (void)state;
    OpenedSchedule opened;
    open_reference(&m3e_set, reference_graph(&m3e_set, arena), "recommendation", 0, "s6", 256,
                   "bandwidth", arena, &opened);
    MerBound first = bound_of(opened.schedule);
    MerBound again = bound_of(opened.schedule);
    assert_string_equal(first.kind, "configurations");
    /* 24 layers take 4097 cycles on HB128 and 8193 on HB64, seven cores each: below 3 x 4097 there is memory for
     * 7 x 2 + 7 x 1. */
    assert_true(first.value > 3 * 4097);
    assert_true(memcmp(&first.value, &again.value, sizeof first.value) == 0);
}

static void test_no_search_in_other_groups_beats_the_bound(const ReferenceSet *set)
{
    static const struct {
        const char *task, *own_task, *platform;
        double      bandwidth;
    } cases[] = {{"vision", "images", "s2", 1},
                 {"language", "text", "s5", 1},
                 {"mix", "blend", "s4", 16},
                 {"recommendation", "clicks", "s3", 256},
                 {"recommendation", "clicks", "s1", 16},
                 {"mix", "blend", "s6", 1}};
    const char *table = reference_path(set, set->table, arena);
    MerGraph   *benchmark = reference_graph(set, arena);
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        search(benchmark, set->is_public ? cases[i].task : cases[i].own_task,
               set->is_public ? 1 + i : 1, cases[i].platform, cases[i].bandwidth,
               i % 2 ? "own" : table, 10000);
    }
}

ON_BOTH_SETS(test_bound_lies_between_the_published_one_and_the_best_known)
ON_BOTH_SETS(test_no_search_in_other_groups_beats_the_bound)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH_SETS(test_bound_lies_between_the_published_one_and_the_best_known),
        cmocka_unit_test(test_bound_counts_whole_jobs_on_recommendation_s6),
        BOTH_SETS(test_no_search_in_other_groups_beats_the_bound),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down_all);
}
