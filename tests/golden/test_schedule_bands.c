/* MAGMA on the 64 points of M3E (tests/data/magma-results.json): the public program to the bit, and both rules
 * within the recorded bands with five seeds (MERCATOR_STUDY=1 takes sixty). The same on points of our own, with
 * runs of this program in place of the public one. */
#include "schedule_points.h"

/* What the public program printed with Python's and NumPy's seed 1: ours draws the same numbers. */
static void test_shipped_rules_replay_recorded_runs_to_the_bit(const ReferenceSet *set)
{
    Point         points[MOST_POINTS];
    const Points *all = read_points(set, points);
    const char   *list = set->is_public ? "public_python_runs" : "runs";
    int           count = 0;
    for (const cJSON *run = cJSON_GetObjectItemCaseSensitive(all->golden, list)->child; run;
         run = run->next) {
        Point  point = point_of(all, run);
        double ours = run_point(&point, "magma:rules=shipped", (int)number(run, "seed"),
                                (int64_t)number(run, "evals"))
                          .value;
        if (ours != number(run, "best")) {
            fail_msg("%s %s %g: %.17g, recorded %.17g", point.task, point.platform, point.bandwidth,
                     ours, number(run, "best"));
        }
        count++;
    }
    assert_int_equal(count, 3);
}

typedef struct Variant {
    const char *optimizer, *column;
    int64_t     budget;
} Variant;

enum { SET = 5, MOST_SEEDS = 60 };

typedef struct Band {
    double low, high;
} Band;

static Band band_of(const Point *point, const Variant *variant)
{
    return (Band){part(point->row, variant->column, 1) * 0.99,
                  part(point->row, variant->column, 2) * 1.01};
}

static bool is_inside(Band band, const double *values, int count)
{
    return mer_mean(values, count) >= band.low && mer_mean(values, count) <= band.high;
}

/* Every set of five seeds against the band, and the median of all; `outside` counts the points outside of each
 * set. */
static void count_sets(const Point *point, const Variant *variant, int *outside)
{
    double values[MOST_SEEDS];
    Band   band = band_of(point, variant);
    run_seeds(point, variant->optimizer, variant->budget, 0, MOST_SEEDS, values);
    for (int set = 0; set < MOST_SEEDS / SET; set++) {
        if (!is_inside(band, values + SET * set, SET)) {
            print_message("%s: %s %s %g is outside with seeds %d to %d\n", variant->optimizer,
                          point->task, point->platform, point->bandwidth, SET * set + 1,
                          SET * set + SET);
            outside[set]++;
        }
    }
    double median = mer_median(values, MOST_SEEDS);
    assert_true(is_inside(band, &median, 1));
}

/* The recorded bands are five runs themselves: of ten runs of one and the same program, five are outside the
 * band of the other five on one of the 64 points. So the medians of 60 seeds are held to the bands on every
 * point, and the means of other fives than seeds 1 to 5 to no more than one point outside on average. */
static void study_bands(const Variant *variant, const Point *points, int count)
{
    enum { SETS = MOST_SEEDS / SET };
    int outside[SETS] = {0};
    int sum = 0;
    int clean = 0;
    for (int i = 0; i < count; i++) {
        count_sets(&points[i], variant, outside);
    }
    for (int set = 0; set < SETS; set++) {
        sum += outside[set];
        clean += outside[set] == 0;
    }
    print_message("%s: all %d points inside in %d of %d sets of five seeds, %.2f outside on "
                  "average\n",
                  variant->optimizer, count, clean, SETS, (double)sum / SETS);
    assert_true(clean > 0 && sum <= SETS);
}

static const Variant variants[] = {{"magma:rules=shipped", "ga_shipped", 10500},
                                   {"magma:rules=paper", "ga_described", 10500}};

static void test_magma_lies_within_the_recorded_bands(const ReferenceSet *set)
{
    Point points[MOST_POINTS];
    int   count = read_points(set, points)->count;
    for (int v = 0; v < 2; v++) {
        for (int i = 0; i < count; i++) {
            double  values[SET];
            Band    band = band_of(&points[i], &variants[v]);
            int64_t budget = set->is_public ? variants[v].budget : v == 0 ? 2100 : 2000;
            run_seeds(&points[i], variants[v].optimizer, budget, 0, SET, values);
            if (!is_inside(band, values, SET)) {
                fail_msg("%s: %s %s %g: mean of seeds 1 to %d %.1f, expected %.1f .. %.1f",
                         variants[v].optimizer, points[i].task, points[i].platform,
                         points[i].bandwidth, SET, mer_mean(values, SET), band.low, band.high);
            }
        }
    }
}

static void test_sixty_seeds_of_magma_against_the_bands(void **state)
{
    (void)state;
    if (!getenv("MERCATOR_STUDY")) {
        return; /* twenty minutes */
    }
    Point points[MOST_POINTS];
    int   count = read_points(&m3e_set, points)->count;
    for (int v = 0; v < 2; v++) {
        study_bands(&variants[v], points, count);
    }
}

ON_BOTH_SETS(test_shipped_rules_replay_recorded_runs_to_the_bit)
ON_BOTH_SETS(test_magma_lies_within_the_recorded_bands)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH_SETS(test_shipped_rules_replay_recorded_runs_to_the_bit),
        BOTH_SETS(test_magma_lies_within_the_recorded_bands),
        cmocka_unit_test(test_sixty_seeds_of_magma_against_the_bands),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down_all);
}
