/* The gradient of every op against differences of its values, on both backends. Values are
 * float32, so differences carry an error of about 1e-5: gradients are compared by the norm of
 * what is wrong. */
#include "support.h"
#include "unit/tensor_cases.h"

#include <math.h>

static const double STEP = 1e-2, TOLERANCE = 3e-4;

/* Fourth-order central difference. */
static double difference(CaseRun *run, float *at)
{
    static const double factors[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
    static const double offsets[4] = {-2, -1, 1, 2};
    float               middle = *at;
    double              sum = 0;
    for (int i = 0; i < 4; i++) {
        *at = (float)(middle + offsets[i] * STEP);
        sum += factors[i] * case_value(run) / STEP;
    }
    *at = middle;
    return sum;
}

static bool is_right(const Case *what, const MerBackend *backend)
{
    CaseRun run = case_open(what, backend);
    double  wrong = 0, right = 0;
    case_gradients(&run);
    for (int i = 0; i < run.count; i++) {
        for (int64_t j = 0; j < run.in[i]->size; j++) {
            double expected = difference(&run, &run.in[i]->data[j]);
            double found = run.in[i]->has_grad ? run.in[i]->grad[j] : 0;
            wrong += (found - expected) * (found - expected);
            right += expected * expected;
        }
    }
    bool is_good = right > 0 && sqrt(wrong / right) < TOLERANCE;
    if (!is_good) {
        print_error("%s: the gradient is wrong by %.2g of its norm %.3g\n", what->name,
                    sqrt(wrong / right), sqrt(right));
    }
    case_close(&run);
    return is_good;
}

static void check_all(const MerBackend *backend)
{
    int wrong = 0;
    for (int i = 0; i < CASE_COUNT; i++) {
        wrong += !is_right(&tensor_cases[i], backend);
    }
    assert_int_equal(wrong, 0);
}

static void test_gradients_of_the_plain_backend_match_differences(void **state)
{
    (void)state;
    check_all(&mer_backend_plain);
}

static void test_gradients_of_the_dnnl_backend_match_differences(void **state)
{
    (void)state;
    check_all(&mer_backend_dnnl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_of_the_plain_backend_match_differences),
        cmocka_unit_test(test_gradients_of_the_dnnl_backend_match_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
