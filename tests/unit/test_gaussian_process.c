/* The Gaussian process: exact at its points, certain there and unsure far away, tuned by likelihood. */
#include "support.h"

#include "learn/gaussian_process.h"
#include "learn/lapack.h"

#include <math.h>

static const bool numbers[] = {false, false, true};
static const int  groups[] = {0, 0, 1};

static double truth(double a, double b, double category)
{
    return sin(5 * a) + b * b + (category == 2 ? 3 : 0);
}

static void fill(MerGaussianProcess *gp, MerArena *arena)
{
    mer_gp_make(gp, 40, 3, numbers, groups, 2, arena);
    for (int i = 0; i < 36; i++) {
        double x[3] = {(i % 6) / 6.0, (i / 6) / 6.0, (i * 7) % 3};
        mer_gp_put(gp, mer_gp_add(gp), x, truth(x[0], x[1], x[2]));
    }
}

/* Of the last fit, up to a constant. */
static double likelihood(const MerGaussianProcess *gp)
{
    double sum = -0.5 * gp->count * log(gp->signal);
    for (int i = 0; i < gp->count; i++) {
        sum -= log(gp->factor[i * (gp->count + 1)]);
    }
    return sum;
}

static void points_are_met_and_far_places_are_unsure(void **state)
{
    (void)state;
    MerArena          *arena = mer_arena_new();
    MerGaussianProcess gp;
    fill(&gp, arena);
    gp.noise = 1e-9;
    assert_true(mer_gp_fit(&gp));
    double x[2][3] = {{1 / 6.0, 0, 1}, {30, -20, 9}};
    double mean[2], deviation[2];
    mer_gp_predict(&gp, &x[0][0], 2, mean, deviation);
    assert_true(fabs(mean[0] - truth(x[0][0], x[0][1], x[0][2])) < 1e-4);
    assert_true(deviation[0] < 1e-3);
    assert_true(deviation[1] > 0.5 * gp.deviation * sqrt(gp.signal));
    assert_true(fabs(mean[1] - gp.mean) < 1e-3 * fabs(gp.mean) + 1e-3);
    mer_arena_free(arena);
}

static void tuning_raises_likelihood_and_predicts_what_was_left_out(void **state)
{
    (void)state;
    MerArena          *arena = mer_arena_new();
    MerGaussianProcess gp;
    fill(&gp, arena);
    assert_true(mer_gp_fit(&gp));
    double before = likelihood(&gp);
    for (int i = 0; i < 4; i++) {
        mer_gp_tune(&gp);
    }
    assert_true(mer_gp_fit(&gp));
    assert_true(likelihood(&gp) > before + 1);
    double x[3] = {0.4, 0.45, 2};
    double mean, deviation;
    mer_gp_predict(&gp, x, 1, &mean, &deviation);
    assert_true(fabs(mean - truth(0.4, 0.45, 2)) < 0.2);
    mer_arena_free(arena);
}

static void more_points_than_a_block_are_predicted_alike(void **state)
{
    (void)state;
    MerArena          *arena = mer_arena_new();
    MerGaussianProcess gp;
    enum { MANY = MER_GP_BLOCK + 7 };
    double x[MANY][3], mean[MANY], deviation[MANY];
    fill(&gp, arena);
    assert_true(mer_gp_fit(&gp));
    for (int i = 0; i < MANY; i++) {
        x[i][0] = i / (double)MANY;
        x[i][1] = 0.3;
        x[i][2] = i % 3;
    }
    mer_gp_predict(&gp, &x[0][0], MANY, mean, deviation);
    for (int i = 0; i < MANY; i++) {
        double one, spread;
        mer_gp_predict(&gp, x[i], 1, &one, &spread);
        assert_true(fabs(one - mean[i]) < 1e-9);
        assert_true(fabs(spread - deviation[i]) < 1e-6);
    }
    mer_arena_free(arena);
}

static void no_points_cannot_be_fitted(void **state)
{
    (void)state;
    MerArena          *arena = mer_arena_new();
    MerGaussianProcess gp;
    mer_gp_make(&gp, 4, 3, numbers, groups, 2, arena);
    mer_gp_tune(&gp);
    assert_false(mer_gp_fit(&gp));
    mer_arena_free(arena);
}

static void eigenvectors_rebuild_the_matrix(void **state)
{
    (void)state;
    double a[9] = {4, 1, 0.5, 1, 3, -1, 0.5, -1, 2};
    double v[9], values[3], work[34 * 3 + 1];
    memcpy(v, a, sizeof v);
    mer_lapack_open();
    assert_true(mer_lapack_eigen_work(3) <= (int)(sizeof work / sizeof work[0]));
    assert_true(mer_lapack_eigen(v, 3, values, work));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) {
                sum += v[3 * k + i] * values[k] * v[3 * k + j];
            }
            assert_true(fabs(sum - a[3 * i + j]) < 1e-12);
        }
    }
}

static void indefinite_matrices_are_refused(void **state)
{
    (void)state;
    double a[4] = {1, 2, 2, 1};
    mer_lapack_open();
    assert_false(mer_lapack_cholesky(a, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_met_and_far_places_are_unsure),
        cmocka_unit_test(tuning_raises_likelihood_and_predicts_what_was_left_out),
        cmocka_unit_test(more_points_than_a_block_are_predicted_alike),
        cmocka_unit_test(no_points_cannot_be_fitted),
        cmocka_unit_test(eigenvectors_rebuild_the_matrix),
        cmocka_unit_test(indefinite_matrices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
