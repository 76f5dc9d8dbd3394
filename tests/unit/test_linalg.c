/* Linear algebra: products by hand, factors and eigenvectors by what they must satisfy. */
#include "base/linalg.h"
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

static void products_match_hand_values(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3, 4, 5, 6}, x[] = {1, 0, -1};
    double       y[2] = {9, 9}, c[4] = {9, 9, 9, 9};
    near(mer_dot(a, a + 3, 3), 32, 0);
    mer_matvec(a, 2, 3, x, y);
    near(y[0], -2, 0);
    near(y[1], -2, 0);
    mer_axpy(2, a, y, 2);
    near(y[1], 2, 0);
    mer_matmul(a, a, c, 2, 3, 2); /* (2,3) times (3,2) */
    near(c[0], 22, 0);
    near(c[1], 28, 0);
    near(c[2], 49, 0);
    near(c[3], 64, 0);
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
    mer_matvec(a, N, N, x, b);
    assert_true(mer_cholesky(l, N));
    near(l[1], 0, 0);
    mer_solve_lower(l, N, b);
    mer_solve_lower_transposed(l, N, b);
    for (int i = 0; i < N; i++) {
        near(b[i], x[i], 1e-12);
    }
}

static void cholesky_refuses_what_is_not_positive_definite(void **state)
{
    (void)state;
    double indefinite[] = {1, 2, 2, 1}, zero[] = {0}, broken[] = {NAN};
    assert_false(mer_cholesky(indefinite, 2));
    assert_false(mer_cholesky(zero, 1));
    assert_false(mer_cholesky(broken, 1));
}

static void eigenvectors_satisfy_their_equation(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double a[N * N], v[N * N], values[N], x[N], y[N];
        random_symmetric(a, 0, seed);
        mer_eigen_symmetric(a, N, values, v);
        for (int k = 0; k < N; k++) {
            assert_true(k == 0 || values[k - 1] <= values[k]);
            for (int i = 0; i < N; i++) {
                x[i] = v[i * N + k];
            }
            near(mer_dot(x, x, N), 1, 1e-13);
            mer_matvec(a, N, N, x, y);
            for (int i = 0; i < N; i++) {
                near(y[i], values[k] * x[i], 1e-12);
            }
        }
    }
}

static void eigenvalues_match_hand_values(void **state)
{
    (void)state;
    const double a[] = {2, 1, 1, 2}, diagonal[] = {3, 0, 0, 0, 0, 0, 0, 0, -1};
    double       values[3], v[9];
    mer_eigen_symmetric(a, 2, values, v);
    near(values[0], 1, 1e-15);
    near(values[1], 3, 1e-15);
    mer_eigen_symmetric(diagonal, 3, values, v);
    near(values[0], -1, 0);
    near(values[1], 0, 0);
    near(values[2], 3, 0);
    near(v[6], 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_match_hand_values),
        cmocka_unit_test(cholesky_solves_what_it_factors),
        cmocka_unit_test(cholesky_refuses_what_is_not_positive_definite),
        cmocka_unit_test(eigenvectors_satisfy_their_equation),
        cmocka_unit_test(eigenvalues_match_hand_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
