/* Measured tables in place of formulas: matching, interpolation, extrapolation, shapes that nobody measured, and broken files. */
#include "one_arena.h"
#include "split_support.h"

static const char *const header = "operator,c_in,c_out,k_x,k_y,o_x,o_y,stride,cycles\n";

static const MerPlatform *platform_with(const char *rows, MerError *error)
{
    const MerPlatform *platform = NULL;
    write_text("measured.csv", mer_arena_format(arena, "%s%s", header, rows));
    write_text("soc.yaml",
               "{format: mercator-platform/1, kind: soc, name: measured, units: [{name: npu, "
               "options: [{operator: conv, weights: int8}, {operator: depthwise, weights: int8}], "
               "cost: {formula: table, file: measured.csv}}]}");
    mer_platform_read("./soc.yaml", arena, &platform, error);
    return platform;
}

static const char *const rows = "conv,8,4,3,3,10,10,1,100\n"
                                "conv,8,16,3,3,10,10,1,400\n"
                                "conv,8,8,3,3,10,10,1,120\n"
                                "# a remark\n"
                                "conv,64,32,1,1,10,10,1,77\n"
                                "depthwise,8,8,3,3,10,10,1,10\n";

static OpenedSplit *open_measured(const char *type, int c_in, int c_out, int size)
{
    MerError           error = {0};
    const MerPlatform *platform = platform_with(rows, &error);
    if (!platform) {
        fail_msg("%s", error.message);
    }
    return open_split_graph("split", "soc", layer_graph(type, c_in, c_out, 3, size, size, arena),
                            platform, arena);
}

static void test_points_are_joined_by_lines(void **state)
{
    OpenedSplit          *opened = open_measured("conv", 8, 24, 10);
    const MerSplitOption *option = &opened->split->layers[0].options[0];
    (void)state;
    assert_true(option->cycles[0] == 0);
    assert_true(option->cycles[2] == 50);
    assert_true(option->cycles[4] == 100);
    assert_true(option->cycles[6] == 110);
    assert_true(option->cycles[8] == 120);
    assert_true(option->cycles[12] == 260);
    assert_true(option->cycles[16] == 400);
    assert_true(option->cycles[20] == 540); /* the last slope, 35 per channel */
    assert_false(option->is_estimated);
    mer_test_contains(
        opened->problem.type->warnings(&opened->problem, NULL, MER_METRIC_CYCLES, arena),
        "24 channels are beyond the 16 measured on unit npu");
}

static void test_an_unknown_shape_is_scaled_from_the_nearest(void **state)
{
    OpenedSplit          *opened = open_measured("conv", 8, 16, 20);
    const MerSplitOption *option = &opened->split->layers[0].options[0];
    (void)state;
    assert_true(option->is_estimated);
    assert_true(fabs(option->cycles[16] - 4 * 400) < 1e-9); /* four times the MACs */
    mer_test_contains(
        opened->problem.type->warnings(&opened->problem, NULL, MER_METRIC_CYCLES, arena),
        "estimated, no row of the table of unit npu has its shape");
    assert_true(open_measured("depthwise", 8, 8, 10)->split->layers[0].options[0].cycles[4] == 5);
}

static void test_the_platform_holds_its_measurements(void **state)
{
    MerError           error = {0};
    const MerPlatform *platform = platform_with(rows, &error), *again = NULL;
    FILE              *file = fopen("written.yaml", "w");
    (void)state;
    mer_platform_write(platform, file);
    fclose(file);
    assert_int_equal(remove("measured.csv"), 0);
    assert_int_equal(mer_platform_read("./written.yaml", arena, &again, &error), MER_OK);
    assert_true(again->hash == platform->hash);
    const MerPlatform *other = platform_with("conv,8,4,3,3,10,10,1,101\n", &error);
    assert_true(other->hash != platform->hash);
}

static void test_a_falling_table_is_reported(void **state)
{
    const char  *platform = "{format: mercator-platform/1, kind: soc, name: x, units: [{name: a, "
                            "options: [{operator: conv, weights: int8}], cost: {formula: table, "
                            "cycles: [[4, 100], [8, 60]], shape: [8, 3, 3, 10, 10, 1]}}]}";
    OpenedSplit *opened =
        open_split_graph("split", "soc", layer_graph("conv", 8, 8, 3, 10, 10, arena),
                         platform_from(platform, arena), arena);
    OpenedSplit *twice =
        open_split_graph("split", "soc", layer_graph("conv", 16, 8, 3, 10, 10, arena),
                         platform_from(platform, arena), arena);
    (void)state;
    mer_test_contains(
        opened->problem.type->warnings(&opened->problem, NULL, MER_METRIC_CYCLES, arena),
        "the table of unit a falls with more channels");
    assert_true(opened->split->layers[0].options[0].cycles[6] == 80);
    assert_true(fabs(twice->split->layers[0].options[0].cycles[6] - 160) < 1e-9);
    assert_true(twice->split->layers[0].options[0].is_estimated);
}

static void test_broken_tables_are_refused(void **state)
{
    static const struct {
        const char *rows, *message;
    } cases[] = {
        {"", "has no rows"},
        {"conv,8,4,3,3,10,10,1\n", "measured.csv:2: the line has 8 fields"},
        {"conv,8,4,3,3,10,10,1,5,6\n", "measured.csv:2: the line has more than 9 fields"},
        {"pool,8,4,3,3,10,10,1,5\n", "operator is \"pool\", expected conv, pointwise, linear"},
        {"conv,8,0,3,3,10,10,1,5\n", "c_out is \"0\", expected a whole number >= 1"},
        {"conv,8,2.5,3,3,10,10,1,5\n", "c_out is \"2.5\""},
        {"conv,8,4,3,3,10,10,1,-5\n", "cycles is \"-5\", expected a number >= 0"},
        {"conv,8,4,3,3,10,10,1,\n", "cycles is \"\""},
        {"conv,8,4,3,3,10,10,x,1\n", "measured.csv:2: stride is \"x\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerError error = {0};
        assert_null(platform_with(cases[i].rows, &error));
        mer_test_contains(error.message, cases[i].message);
    }
    MerError               error = {0};
    MerError               reason = {0};
    const MerPlatform     *platform = platform_with("conv,8,4,3,3,10,10,1,5\n", &error);
    const MerProblemClass *type = mer_problem_find("split", NULL);
    MerProblem             problem = {.type = type,
                                      .options =
                                          options_from("split", type->options, type->options_size, arena),
                                      .graph = layer_graph("depthwise", 8, 8, 3, 4, 4, arena),
                                      .platform = platform,
                                      .state = mer_arena_alloc(arena, type->state_size)};
    assert_int_not_equal(type->open(&problem, arena, &reason), MER_OK);
    mer_test_contains(reason.message, "has no row with operator depthwise");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_are_joined_by_lines),
        cmocka_unit_test(test_an_unknown_shape_is_scaled_from_the_nearest),
        cmocka_unit_test(test_the_platform_holds_its_measurements),
        cmocka_unit_test(test_a_falling_table_is_reported),
        cmocka_unit_test(test_broken_tables_are_refused)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
