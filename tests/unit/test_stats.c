/* Statistics against hand calculations, and the exact rank test against plain enumeration. */
#include "base/stats.h"
#include "support.h"

#include <math.h>

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected)))) {
        fail_msg("%.17g, expected %.17g", value, expected);
    }
}

static void moments_and_quantiles_match_hand_values(void **state)
{
    (void)state;
    const double x[] = {4, 1, 3, 2};
    near(mer_mean(x, 4), 2.5);
    near(mer_variance(x, 4), 5.0 / 3);
    near(mer_variance(x, 1), 0);
    near(mer_median(x, 4), 2.5);
    near(mer_median(x, 3), 3);
    near(mer_quantile(x, 4, 0.25), 1.75);
    near(mer_quantile(x, 4, 0), 1);
    near(mer_quantile(x, 4, 1), 4);
    assert_true(isnan(mer_mean(x, 0)) && isnan(mer_median(x, 0)));
    assert_true(x[0] == 4 && x[3] == 2);
}

static void bootstrap_brackets_the_mean_and_repeats(void **state)
{
    (void)state;
    double x[50];
    MerRng rng = mer_rng_make(1, 0);
    for (int i = 0; i < 50; i++) {
        x[i] = 10 + mer_rng_normal(&rng);
    }
    MerRng      first = mer_rng_make(2, 0), second = mer_rng_make(2, 0);
    MerInterval a = mer_bootstrap(x, 50, mer_mean, 0.95, 2000, &first);
    MerInterval b = mer_bootstrap(x, 50, mer_mean, 0.95, 2000, &second);
    double      half = 1.96 * sqrt(mer_variance(x, 50) / 50);
    assert_true(a.low == b.low && a.high == b.high);
    assert_true(fabs(a.low - (mer_mean(x, 50) - half)) < 0.1 * half);
    assert_true(fabs(a.high - (mer_mean(x, 50) + half)) < 0.1 * half);
}

/* Over all choices of n of the values: how often the sum of their ranks is as far from the mean, ties by mean ranks. */
static double enumerate(const double *values, int count, int n)
{
    double own = 0, mean = 0.5 * n * (count + 1);
    int    hits = 0, total = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned set = 0; set < 1u << count; set++) {
            double sum = 0;
            int    members = 0;
            for (int i = 0; i < count; i++) {
                double rank = 0.5;
                for (int j = 0; j < count; j++) {
                    rank += (values[j] < values[i]) + 0.5 * (values[j] == values[i]);
                }
                bool is_member = set >> i & 1;
                members += is_member;
                sum += is_member ? rank : 0;
            }
            own = set == (1u << n) - 1 ? sum : own;
            total += pass == 1 && members == n;
            hits += pass == 1 && members == n && fabs(sum - mean) >= fabs(own - mean);
        }
    }
    return (double)hits / total;
}

static void exact_rank_test_equals_enumeration(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(3, 0);
    for (int trial = 0; trial < 60; trial++) {
        int    n = 1 + mer_rng_below(&rng, 4), m = 1 + mer_rng_below(&rng, 5);
        double both[9];
        for (int i = 0; i < n + m; i++) {
            both[i] = trial < 30 ? mer_rng_unit(&rng) + 0.3 * (i < n) : mer_rng_below(&rng, 4);
        }
        near(mer_rank_test(both, n, both + n, m), enumerate(both, n + m, n));
    }
    near(mer_rank_test((const double[]){1, 2, 3}, 3, (const double[]){4, 5, 6}, 3), 0.1);
    near(mer_rank_test((const double[]){1, 1}, 2, (const double[]){2, 2}, 2), 1.0 / 3);
    near(mer_rank_test((const double[]){1, 1, 1}, 3, (const double[]){1, 1, 1}, 3), 1);
    near(mer_rank_test((const double[]){1, 1, 1}, 0, (const double[]){1, 1, 1}, 3), 1);
}

static void large_samples_use_the_normal_law(void **state)
{
    (void)state;
    double x[21], y[21];
    for (int i = 0; i < 21; i++) {
        x[i] = 2 * i;
        y[i] = 2 * i + 7; /* the lowest beats 17, 16, ... 0 of x, the last three none: U = 153 */
    }
    near(mer_rank_test(x, 21, y, 21), erfc((220.5 - 153 - 0.5) / sqrt(2 * 441.0 / 12 * 43)));
}

/* Quantiles of Student's t at 0.975, from a table. */
static void test_student_gives_the_tabled_quantiles(void **state)
{
    (void)state;
    static const struct {
        int    n;
        double t;
    } table[] = {{2, 12.706}, {5, 2.776}, {9, 2.306}, {17, 2.120}, {31, 2.042}, {1001, 1.962}};
    for (int i = 0; i < 6; i++) {
        assert_true(fabs(mer_student(table[i].n) - table[i].t) < 0.005);
    }
    assert_true(isnan(mer_student(1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student_gives_the_tabled_quantiles),
        cmocka_unit_test(moments_and_quantiles_match_hand_values),
        cmocka_unit_test(bootstrap_brackets_the_mean_and_repeats),
        cmocka_unit_test(exact_rank_test_equals_enumeration),
        cmocka_unit_test(large_samples_use_the_normal_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
