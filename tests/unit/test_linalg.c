/* Linear algebra: sums by hand, LAPACK's factors and eigenvectors by what they must satisfy. */
#include "base/linalg.h"
#include "learn/lapack.h"
#include "mercator/rng.h"
#include "support.h"

#include <math.h>

enum { N = 12 };

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.17g, expected %.17g", value, expected);
    }
}

static void random_symmetric(double *a, double diagonal, uint64_t seed)
{
    MerRng rng = mer_rng_make(seed, 0);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) {
            a[i * N + j] = a[j * N + i] = mer_rng_normal(&rng);
        }
        a[i * N + i] += diagonal;
    }
}

static void multiply(const double *a, const double *x, double *y)
{
    for (int i = 0; i < N; i++) {
        y[i] = mer_dot(a + i * N, x, N);
    }
}

static void sums_match_hand_values(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3, 4, 5, 6};
    double       y[2] = {-2, -2};
    near(mer_dot(a, a + 3, 3), 32, 0);
    mer_axpy(2, a, y, 2);
    near(y[0], 0, 0);
    near(y[1], 2, 0);
}

static void cholesky_solves_what_it_factors(void **state)
{
    (void)state;
    double a[N * N], l[N * N], x[N], b[N];
    random_symmetric(a, 3 * N, 1);
    memcpy(l, a, sizeof l);
    for (int i = 0; i < N; i++) {
        x[i] = i - 3.5;
    }
    multiply(a, x, b);
    assert_true(mer_lapack_cholesky(l, N));
    mer_lapack_solve_lower(l, N, b, 1, false);
    mer_lapack_solve_lower(l, N, b, 1, true);
    for (int i = 0; i < N; i++) {
        near(b[i], x[i], 1e-12);
    }
}

static void cholesky_refuses_what_is_not_positive_definite(void **state)
{
    (void)state;
    double indefinite[] = {1, 2, 2, 1}, zero[] = {0};
    assert_false(mer_lapack_cholesky(indefinite, 2));
    assert_false(mer_lapack_cholesky(zero, 1));
}

static void eigenvectors_satisfy_their_equation(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double a[N * N], v[N * N], values[N], y[N], work[64 * N];
        assert_true(mer_lapack_eigen_work(N) <= 64 * N);
        random_symmetric(a, 0, seed);
        memcpy(v, a, sizeof v);
        assert_true(mer_lapack_eigen(v, N, values, work));
        for (int k = 0; k < N; k++) {
            const double *x = v + k * N;
            assert_true(k == 0 || values[k - 1] <= values[k]);
            near(mer_dot(x, x, N), 1, 1e-13);
            multiply(a, x, y);
            for (int i = 0; i < N; i++) {
                near(y[i], values[k] * x[i], 1e-12);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_match_hand_values),
        cmocka_unit_test(cholesky_solves_what_it_factors),
        cmocka_unit_test(cholesky_refuses_what_is_not_positive_definite),
        cmocka_unit_test(eigenvectors_satisfy_their_equation),
    };
    mer_lapack_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
