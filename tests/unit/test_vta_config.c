/* `vta_config.json` of VTA's own tools as a platform. */
#include "codesign/records/vta_records.h"
#include "run_support.h"
#include "vta_support.h"

#include <math.h>

#define CONFIG(target, width, batch, block, inp, wgt, acc)                                         \
    "{\n  \"TARGET\" : \"" target "\",\n  \"HW_VER\" : \"0.0.2\",\n  \"LOG_INP_WIDTH\" : " width   \
    ",\n  \"LOG_WGT_WIDTH\" : 3,\n  \"LOG_ACC_WIDTH\" : 5,\n  \"LOG_BATCH\" : " batch              \
    ",\n  " block ",\n  \"LOG_UOP_BUFF_SIZE\" : 15,\n  \"LOG_INP_BUFF_SIZE\" : " inp               \
    ",\n  \"LOG_WGT_BUFF_SIZE\" : " wgt ",\n  \"LOG_ACC_BUFF_SIZE\" : " acc "\n}\n"

static const MerPlatform *platform_of(const char *text)
{
    write_text("vta_config.json", text);
    return vta_platform("vta_config.json");
}

static void test_the_usual_core(void **state)
{
    const MerPlatform *platform =
        platform_of(CONFIG("pynq", "3", "0", "\"LOG_BLOCK\" : 4", "15", "18", "17"));
    const MerPlatform *shipped = vta_platform("vta-pynq-b");
    MerVtaCore         core, other;
    MerVtaTiming       timing, fitted;
    (void)state;
    mer_vta_core_of(platform, &core);
    mer_vta_core_of(shipped, &other);
    mer_vta_timing_of(platform, &timing);
    mer_vta_timing_of(shipped, &fitted);
    assert_string_equal(platform->name, "pynq_1x16_i8w8a32_15_15_18_17");
    assert_string_equal(mer_vta_model(platform->name, &core, arena), platform->name);
    assert_true(mer_vta_core_equal(&core, &other));
    assert_true(timing.load_row == fitted.load_row && timing.clock_hz == fitted.clock_hz);
    assert_true(platform->calibrated);
}

static void test_other_cores_and_boards(void **state)
{
    (void)state;
    const MerPlatform *platform =
        platform_of(CONFIG("ultra96", "3", "2", "\"LOG_BLOCK\" : 3", "16", "16", "18"));
    assert_string_equal(platform->name, "ultra96_4x8_i8w8a32_15_16_16_18");
    assert_true(platform->clock_hz == 333e6 && !platform->calibrated);
    platform = platform_of(
        CONFIG("sim", "3", "0", "\"LOG_BLOCK_IN\" : 3, \"LOG_BLOCK_OUT\" : 5", "14", "18", "18"));
    assert_string_equal(platform->name, "sim_1x8x32_i8w8a32_15_14_18_18");
    assert_int_equal(platform->units[0].block_out, 32);
}

static void assert_refused(const char *text, const char *message)
{
    const MerPlatform *platform;
    MerError           error = {0};
    write_text("vta_config.json", text);
    assert_int_not_equal(mer_platform_read("vta_config.json", arena, &platform, &error), MER_OK);
    mer_test_contains(error.message, message);
}

static void test_what_is_wrong_is_named(void **state)
{
    (void)state;
    assert_refused(CONFIG("pinq", "3", "0", "\"LOG_BLOCK\" : 4", "15", "18", "17"),
                   "vta_config.json:2:14: TARGET is \"pinq\"");
    assert_refused(CONFIG("pynq", "2", "0", "\"LOG_BLOCK\" : 4", "15", "18", "17"),
                   "LOG_INP_WIDTH is 2, expected");
    assert_refused(CONFIG("pynq", "3", "0", "\"BLOCK\" : 4", "15", "18", "17"), "LOG_BLOCK");
    assert_refused(CONFIG("pynq", "3", "0", "\"LOG_BLOCK\" : 4", "99", "18", "17"),
                   "LOG_INP_BUFF_SIZE is 99");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_usual_core),
                                       cmocka_unit_test(test_other_cores_and_boards),
                                       cmocka_unit_test(test_what_is_wrong_is_named)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
