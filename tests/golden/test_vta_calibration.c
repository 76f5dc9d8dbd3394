/* Constants refitted to the public records of PYNQ boards (docs/codesign-files.md, "Calibration"): the mean error of the
 * shipped constants, and that of records which a fit has not seen. */
#include "codesign/codesign.h"
#include "shared.h"
#include "vta_support.h"

#include <math.h>

static void check(const char *population, int count, const char *platform, double before,
                  double most_fitted, double most_held_out)
{
    char        path[SHARED_PATH_SIZE];
    const char *keys[] = {"population"}, *values[] = {population};
    MerFit      fit = {0};
    MerError    error = {0};
    double      errors[3] = {0};
    shared_path(path, "golden/vta-pynq-measured.json");
    if (mer_codesign_calibrate(&(MerCalibration){.records = path,
                                                 .platform = vta_platform(platform),
                                                 .where = {NULL, 1, keys, values},
                                                 .prior = 0.01,
                                                 .folds = 5,
                                                 .seed = 1,
                                                 .threads = 2},
                               &fit, arena, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(fit.record_count, count);
    for (int r = 0; r < count; r++) {
        const MerFitRecord *record = &fit.records[r];
        errors[0] += fabs(record->before / record->measured - 1) / count;
        errors[1] += fabs(record->fitted / record->measured - 1) / count;
        errors[2] += fabs(record->held_out / record->measured - 1) / count;
    }
    print_message("%s: shipped %.2f %%, fitted %.2f %%, cross-validated %.2f %%\n", population,
                  100 * errors[0], 100 * errors[1], 100 * errors[2]);
    assert_true(fabs(errors[0] - before) < 1e-4);
    assert_true(errors[1] < most_fitted);
    assert_true(errors[2] < most_held_out);
}

static void test_population_a(void **state)
{
    (void)state;
    check("A", 33, "vta-pynq-a", 0.0275, 0.033, 0.045);
}

static void test_population_b(void **state)
{
    (void)state;
    check("B", 42, "vta-pynq-b", 0.0397, 0.042, 0.06);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_population_a),
                                       cmocka_unit_test(test_population_b)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
