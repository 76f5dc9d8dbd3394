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

/* Two-sided p by trying every choice of `n` ranks out of `n + m`. */
static double enumerate(int n, int m, int smaller)
{
    int hits = 0, total = 0;
    for (unsigned set = 0; set < 1u << (n + m); set++) {
        int members = 0, u = 0;
        for (int rank = 0; rank < n + m; rank++) {
            if (set >> rank & 1) {
                u += rank - members;
                members++;
            }
        }
        total += members == n;
        hits += members == n && u <= smaller;
    }
    return fmin(1, 2.0 * hits / total);
}

static void exact_rank_test_equals_enumeration(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(3, 0);
    for (int trial = 0; trial < 60; trial++) {
        int    n = 1 + mer_rng_below(&rng, 6), m = 1 + mer_rng_below(&rng, 6), u = 0;
        double x[6], y[6];
        for (int i = 0; i < 6; i++) {
            x[i] = mer_rng_unit(&rng);
            y[i] = mer_rng_unit(&rng) + 0.3;
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < m; j++) {
                u += x[i] > y[j];
            }
        }
        near(mer_rank_test(x, n, y, m), enumerate(n, m, u < n * m - u ? u : n * m - u));
    }
    near(mer_rank_test((const double[]){1, 2, 3}, 3, (const double[]){4, 5, 6}, 3), 0.1);
}

static void large_or_tied_samples_use_the_normal_law(void **state)
{
    (void)state;
    const double a[] = {1, 2, 2, 3, 4}, b[] = {2, 3, 5, 6, 7}, same[] = {1, 1, 1};
    /* U = 4.5, groups of 3 and 2: variance 25/12 (11 - 30/90), distance 12.5 - 4.5 - 0.5. */
    near(mer_rank_test(a, 5, b, 5), erfc(7.5 / sqrt(2 * 25.0 / 12 * (11 - 30.0 / 90))));
    near(mer_rank_test(same, 3, same, 3), 1);
    near(mer_rank_test(same, 0, same, 3), 1);
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
        cmocka_unit_test(large_or_tied_samples_use_the_normal_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
