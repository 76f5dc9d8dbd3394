/* Definitions of networks: what becomes of their layers, settings in names, and what is refused. */
#include "one_arena.h"
#include "run_support.h"

static const MerOp *op_named(const MerGraph *graph, const char *name)
{
    for (int o = 0; o < graph->op_count; o++) {
        if (strcmp(graph->ops[o].name, name) == 0) {
            return &graph->ops[o];
        }
    }
    fail_msg("no operator %s", name);
    return NULL;
}

static void test_layers_become_operators(void **state)
{
    const MerGraph *graph = graph_named("resnet8@input=1x28x28@classes=7", arena);
    const MerOp    *conv = op_named(graph, "s2b0c1"), *fc = op_named(graph, "fc");
    const MerOp    *sum = op_named(graph, "s2b0add");
    (void)state;
    assert_int_equal(conv->dims[MER_DIM_K], 32);
    assert_int_equal(conv->dims[MER_DIM_Y], 14);
    assert_int_equal(conv->stride[0], 2);
    assert_int_equal(conv->pad[3], 1);
    assert_int_equal(conv->input_rows, 28);
    assert_int_equal(fc->dims[MER_DIM_K], 7);
    assert_int_equal(fc->dims[MER_DIM_C], 64);
    assert_int_equal(sum->input_count, 2);
    assert_string_equal(op_named(graph, "conv1.norm")->source, "BatchNormalization");
    assert_string_equal(graph->name, "resnet8");
    assert_true(graph->values[fc->outputs[0]].is_output);
    for (int o = 0; o < graph->op_count; o++) { /* shortcuts of ResNet8 have no normalisation */
        assert_string_not_equal(graph->ops[o].name, "s2b0ds.norm");
    }
    op_named(graph_named("resnet20", arena), "s2b0ds.norm");
    assert_int_equal(op_named(graph_named("ds_cnn", arena), "conv1")->dims[MER_DIM_X], 5);
    assert_true(graph_named("resnet8", arena)->hash != graph->hash);
}

static void test_an_onnx_file_of_the_same_name_wins(void **state)
{
    (void)state;
    assert_string_equal(graph_named("resnet18", arena)->format, "onnx");
    assert_string_equal(graph_named("resnet18@stem=7x7", arena)->format, "network");
}

static void check_name(const char *name, const char *message)
{
    MerGraph *graph;
    MerError  error = {0};
    assert_int_not_equal(mer_graph_import(name, NULL, arena, &graph, &error), MER_OK);
    mer_test_contains(error.message, message);
    assert_null(strchr(error.message, '\n'));
}

static void test_wrong_settings_are_refused(void **state)
{
    (void)state;
    check_name("resnet8@inputs=1x8x8", "has no setting inputs, did you mean input");
    check_name("resnet8@input=8x8", "setting input is 8x8, expected CHANNELSxROWSxCOLUMNS");
    check_name("resnet8@input=1x0x8", "setting input is 1x0x8");
    check_name("resnet8@width=-1", "setting width is -1");
    check_name("mobilenet_v1@width=101", "width is 101, expected a number > 0, at most 100");
    check_name("resnet8@blocks=two", "setting blocks is two, expected a whole number");
    check_name("resnet8@blocks=0", "repeat is 0, expected 1 to 1000");
    check_name("resnet8@1x8x8", "\"1x8x8\" is no setting, expected NAME@KEY=VALUE");
    check_name("resnet9@input=1x8x8", "resnet9@input=1x8x8");
    check_name("ds_cnn@input=1x2x1", "its window does not fit");
}

static void check_text(const char *text, const char *message)
{
    write_text("broken.net", text);
    check_name("./broken.net", message);
}

static void test_broken_definitions_are_refused(void **state)
{
    (void)state;
    check_text("{format: mercator-network/2, settings: {}, layers: []}", "mercator-network/2");
    check_text("{format: mercator-network/1, settings: {input: 1x8x8}, layers: []}",
               "expected at least one layer");
    check_text("{format: mercator-network/1, settings: {input: 1x8x8}, layers: [{layer: pool}]}",
               "layers[0].layer is \"pool\", expected conv");
    check_text("{format: mercator-network/1, settings: {input: 1x8x8}, layers: [{layer: conv}]}",
               "has no key \"out\"");
    check_text("{format: mercator-network/1, settings: {input: 1x8x8}, layers: [{layer: conv, "
               "out: 4, kernel: 3, strid: 2}]}",
               "did you mean \"stride\"");
    check_text("{format: mercator-network/1, settings: {input: 1x8x8}, layers: [{layer: conv, "
               "out: 4, kernel: 3, when: {stem: a}}]}",
               "when.stem is no setting");
    check_text("{format: mercator-network/1, settings: {input: 1x8x8}, layers: [{layer: conv, "
               "out: 4, kernel: [3]}]}",
               "one for rows and one for columns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layers_become_operators),
                                       cmocka_unit_test(test_an_onnx_file_of_the_same_name_wins),
                                       cmocka_unit_test(test_wrong_settings_are_refused),
                                       cmocka_unit_test(test_broken_definitions_are_refused)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
