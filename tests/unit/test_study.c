/* Numbers of a study: what was reached and when, sign test, tables. Values worked out by hand. */
#include "report/studies/study_stats.h"
#include "support.h"

#include <math.h>
#include <string.h>

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected)))) {
        fail_msg("%.17g, expected %.17g", value, expected);
    }
}

static MerStudyTrace make_trace(int64_t *evaluations, double *scores, int count, uint64_t seed)
{
    return (MerStudyTrace){.seed = seed,
                           .samples = 100,
                           .until = 100,
                           .curve = {evaluations, scores, count},
                           .wall_s = 1};
}

static void a_trace_knows_its_best_after_so_many_samples(void **state)
{
    (void)state;
    int64_t       at[] = {3, 10, 40};
    double        scores[] = {9, 5, 2};
    MerStudyTrace trace = make_trace(at, scores, 3, 1);
    assert_true(isinf(mer_trace_best(&trace, 2)));
    near(mer_trace_best(&trace, 3), 9);
    near(mer_trace_best(&trace, 39), 5);
    near(mer_trace_best(&trace, INT64_MAX), 2);
    near(mer_trace_reach(&trace, 6), 10);
    near(mer_trace_reach(&trace, 2), 40);
    assert_true(isinf(mer_trace_reach(&trace, 1.9)));
}

static void a_median_of_values_that_are_mostly_infinite_is_infinite(void **state)
{
    (void)state;
    double never[] = {5, INFINITY, INFINITY, INFINITY}, half[] = {5, INFINITY, 3};
    assert_true(isinf(mer_study_median(never, 4)));
    near(mer_study_median(half, 3), 5);
}

static void a_ratio_is_at_least_one_for_both_directions(void **state)
{
    (void)state;
    near(mer_study_ratio(6, 4), 1.5);
    near(mer_study_ratio(-4, -6), 1.5); /* a maximised objective is logged negated */
}

/* Binomial tails: 2 (1 + 5) / 2^5, 2 / 2^6, 2 (1 + 18 + 153 + 816) / 2^18. */
static void the_sign_test_gives_exact_tails(void **state)
{
    (void)state;
    near(mer_sign_test(4, 1), 12.0 / 32);
    near(mer_sign_test(0, 6), 2.0 / 64);
    near(mer_sign_test(15, 3), 2 * 988.0 / 262144);
    near(mer_sign_test(3, 3), 1);
    near(mer_sign_test(0, 0), 1);
}

static const MerStudyTable *find_table(const MerStudyTable *tables, int count, const char *id)
{
    for (int t = 0; t < count; t++) {
        if (strcmp(tables[t].id, id) == 0) {
            return &tables[t];
        }
    }
    fail_msg("no table %s", id);
    return NULL;
}

/* Two methods on one task, three seeds each: the slow one ends at 4, 2, 3 (median 3, found at samples
 * 60, 50, 90); the fast one is at 3 or below after 10 and 20 samples, and once never. */
static void samples_to_a_quality_are_medians_of_the_seeds(void **state)
{
    (void)state;
    int64_t       slow_at[3][1] = {{60}, {50}, {90}}, fast_at[3][2] = {{5, 10}, {7, 20}, {9, 30}};
    double        slow[3][1] = {{4}, {2}, {3}}, fast[3][2] = {{8, 3}, {6, 1}, {7, 5}};
    MerStudyTrace slow_traces[3], fast_traces[3];
    for (int s = 0; s < 3; s++) {
        slow_traces[s] = make_trace(slow_at[s], slow[s], 1, (uint64_t)s);
        fast_traces[s] = make_trace(fast_at[s], fast[s], 2, (uint64_t)s);
    }
    MerStudyCell    cells[] = {{3, slow_traces}, {3, fast_traces}};
    MerStudyMethod  methods[] = {{"slow"}, {"fast"}};
    MerStudyTask    task = {.workload = "net", .name = "task", .full_name = "task", .best = 1};
    MerStudyGroup   group = {.title = "group",
                             .objective = "cycles",
                             .unit = "cycle",
                             .task_count = 1,
                             .method_count = 2,
                             .tasks = &task,
                             .methods = methods,
                             .cells = cells};
    MerStudyOptions options = {
        .reference = "slow", .baseline = "slow", .at_count = 2, .at = {20, 4}};
    MerStudyTable tables[MER_STUDY_TABLES];
    MerArena     *arena = mer_arena_new();
    MerError      error = {0};
    int           count = 0;
    assert_int_equal(mer_study_tables(&group, &options, arena, tables, &count, &error), MER_OK);

    const MerStudyTable *reach = find_table(tables, count, "reach");
    const char *const   *row = reach->cells + reach->columns; /* of fast: 10, 20, never */
    assert_string_equal(row[0], "fast");
    assert_string_equal(row[1], "20");
    assert_string_equal(row[2], "5.00"); /* 100 / 20; one task has no interval */
    assert_string_equal(row[4], "3.00"); /* 60 / 20 */
    assert_string_equal(row[6], "2 of 3");

    const MerStudyTable *baseline = find_table(tables, count, "baseline");
    assert_int_equal(baseline->row_count, 1);
    assert_string_equal(baseline->cells[2], "0 of 1"); /* both medians are 3 at the end */
    assert_string_equal(baseline->cells[4], "0");

    const MerStudyTable *at =
        find_table(tables, count, "at-20"); /* fast: 3, 1, 7; slow has nothing yet */
    assert_string_equal(at->cells[2], "none");
    assert_string_equal(at->cells[at->columns + 2], "3.00");

    const MerStudyTable *pairs = find_table(tables, count, "pairs-4"); /* nobody has anything */
    assert_string_equal(pairs->cells[2], "none (0-0)");
    const MerStudyTable *ratio = find_table(tables, count, "ratio-4");
    assert_string_equal(ratio->cells[2], "none");
    assert_string_equal(ratio->cells[3], "none");

    options.reference = "fsat";
    assert_int_equal(mer_study_tables(&group, &options, arena, tables, &count, &error),
                     MER_NOT_FOUND);
    assert_non_null(strstr(error.message, "did you mean fast"));
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_knows_its_best_after_so_many_samples),
        cmocka_unit_test(a_median_of_values_that_are_mostly_infinite_is_infinite),
        cmocka_unit_test(a_ratio_is_at_least_one_for_both_directions),
        cmocka_unit_test(the_sign_test_gives_exact_tails),
        cmocka_unit_test(samples_to_a_quality_are_medians_of_the_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
