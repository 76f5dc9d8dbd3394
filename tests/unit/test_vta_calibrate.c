/* `calibrate`: constants of records that we made ourselves are found again; what tells nothing is left out. */
#include "codesign/codesign.h"
#include "codesign/records/vta_records.h"
#include "mercator/rng.h"
#include "run_support.h"
#include "vta_support.h"

#include <math.h>

/* None of these is a value that the fit starts from. */
static const MerVtaTiming hidden = {.load_setup = 60,
                                    .load_row = 55,
                                    .load_per_byte = 0.4,
                                    .store_setup = 200,
                                    .store_row = 12,
                                    .store_per_byte = 0.7,
                                    .gemm_setup = 40,
                                    .gemm_interval = 1,
                                    .alu_setup = 80,
                                    .alu_interval = 9,
                                    .pad_word = 1,
                                    .host_us = 70,
                                    .host_us_per_instruction = 0.8,
                                    .clock_hz = 1e8};

static int divisor_of(MerRng *rng, int number)
{
    int d;
    do {
        d = 1 + mer_rng_below(rng, number);
    } while (number % d != 0);
    return d;
}

/* Layers with any legal schedule on two cores, timed with the hidden constants and some noise. */
static void write_log(const char *path, int count, double noise)
{
    MerRng rng = mer_rng_make(3, 1);
    FILE  *file = fopen(path, "w");
    assert_non_null(file);
    for (int r = 0; r < count;) {
        static const char *const platforms[] = {"vta-pynq-b", "vta-pynq-4x8"};
        const MerPlatform       *platform = vta_platform(platforms[r % 2]);
        int                      kernel = 1 + 2 * mer_rng_below(&rng, 2);
        MerOp                    op =
            vta_conv(7 << mer_rng_below(&rng, 4), 32 << mer_rng_below(&rng, 4),
                     32 << mer_rng_below(&rng, 4), kernel, 1 + mer_rng_below(&rng, 2), kernel / 2);
        MerVtaRecord       record = {.task = vta_task(platform, &op, r % 2 ? 4 : 1)};
        const MerVtaShape *s = &record.task.shape;
        MerVtaTime         time;
        record.schedule = (MerVtaSchedule){divisor_of(&rng, s->rows),  divisor_of(&rng, s->columns),
                                           divisor_of(&rng, s->ci),    divisor_of(&rng, s->co),
                                           1 + mer_rng_below(&rng, 2), 1 + mer_rng_below(&rng, 2)};
        if (!mer_vta_check(&record.task.core, s, &record.schedule, &record.task.rules, NULL)) {
            continue;
        }
        mer_vta_price(&record.task, &record.schedule, &hidden, INFINITY, &time);
        record.seconds = mer_vta_seconds(&hidden, &time) * exp(noise * mer_rng_normal(&rng));
        record.model = mer_vta_model(platform->name, &record.task.core, arena);
        MerJson json = {0};
        mer_autotvm_write(&record, &json);
        fprintf(file, "%s\n", json.text);
        mer_json_free(&json);
        r++;
    }
    fclose(file);
}

static MerFit fit_log(const char *path, double prior, int threads)
{
    MerFit   fit = {0};
    MerError error = {0};
    if (mer_codesign_calibrate(&(MerCalibration){.records = path,
                                                 .platform = vta_platform("vta-pynq-b"),
                                                 .prior = prior,
                                                 .folds = 5,
                                                 .seed = 1,
                                                 .threads = threads},
                               &fit, arena, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return fit;
}

static double mean_error(const MerFit *fit, bool is_held_out)
{
    double sum = 0;
    for (int r = 0; r < fit->record_count; r++) {
        const MerFitRecord *record = &fit->records[r];
        sum += fabs((is_held_out ? record->held_out : record->fitted) / record->measured - 1);
    }
    return sum / fit->record_count;
}

static void test_hidden_constants_are_found(void **state)
{
    (void)state;
    write_log("exact.log", 40, 0);
    MerFit fit = fit_log("exact.log", 0, 2);
    assert_int_equal(fit.record_count, 40);
    assert_null(fit.remark);
    assert_true(mean_error(&fit, false) < 0.002);
    assert_true(mean_error(&fit, true) < 0.01);
    for (int k = 0; k < fit.constant_count; k++) {
        const MerVtaConstant *c = mer_vta_constants;
        while (strcmp(c->name, fit.constants[k].path + strlen("timing.")) != 0) {
            c++;
        }
        double truth = *(const double *)(const void *)((const char *)&hidden + c->offset);
        if (fabs(fit.constants[k].fitted / truth - 1) > 0.01) {
            fail_msg("%s is %g, expected %g", c->name, fit.constants[k].fitted, truth);
        }
    }
    assert_int_equal(fit.constant_count, 11);
}

static void test_noise_shows_in_both_errors(void **state)
{
    (void)state;
    write_log("noisy.log", 24, 0.05);
    MerFit fit = fit_log("noisy.log", 0.01, 1), again = fit_log("noisy.log", 0.01, 2);
    double fitted = mean_error(&fit, false), held_out = mean_error(&fit, true);
    assert_true(fitted > 0.02 && fitted < 0.06);
    assert_true(held_out > fitted && held_out < 0.12);
    for (int k = 0; k < fit.constant_count; k++) {
        assert_true(fit.constants[k].fitted == again.constants[k].fitted);
        assert_true(fit.constants[k].fitted >= fit.constants[k].least);
    }
}

static void test_records_that_tell_nothing_are_left_out(void **state)
{
    MerFit   fit;
    MerError error = {0};
    (void)state;
    write_log("some.log", 6, 0);
    FILE *file = fopen("some.log", "a");
    fprintf(file, "{\"input\": [\"llvm\", \"x\", [], {}], \"config\": {}}\n");
    fclose(file);
    fit = fit_log("some.log", 0.01, 1);
    assert_int_equal(fit.record_count, 6);
    mer_test_contains(fit.remark, "1 records are left out: 1 of other tasks or machines");
    write_log("few.log", 3, 0);
    assert_int_equal(
        mer_codesign_calibrate(&(MerCalibration){.records = "few.log",
                                                 .platform = vta_platform("vta-pynq-b"),
                                                 .folds = 5,
                                                 .threads = 1},
                               &fit, arena, &error),
        MER_INVALID);
    mer_test_contains(error.message, "3 records can be used, expected at least 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hidden_constants_are_found),
        cmocka_unit_test(test_noise_shows_in_both_errors),
        cmocka_unit_test(test_records_that_tell_nothing_are_left_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
