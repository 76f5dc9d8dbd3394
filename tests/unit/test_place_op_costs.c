/* Times without measurements: operations and bytes of each kind of operator, rooflines, and where it may run. */
#include "onnx_builder.h"
#include "place_inputs_support.h"

#include "base/file.h"

#include <math.h>

/* 2 operations per us and 4 bytes per us: numbers that are easily added up by hand. */
#define SLOW                                                                                       \
    "format: mercator-platform/1\nkind: cluster\nunits:\n"                                         \
    "  - {name: gpu0, flops: 2M, bytes_per_s: 4M, launch_us: 10}\n"                                \
    "  - {name: cpu0, flops: 1M, bytes_per_s: 1M}\n"                                               \
    "links: [{from: gpu0, to: cpu0, bytes_per_s: 1M}]\n"

static MerGraph *import_built(OnnxBuilder *b, const char *dims)
{
    MerError  error = {0};
    MerGraph *graph = onnx_import(b, dims, &error);
    if (!graph) {
        fail_msg("%s", error.message);
    }
    return graph;
}

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fmax(1, fabs(expected)))) {
        fail_msg("found %.17g, expected %.17g", found, expected);
    }
}

static void assert_costs(const MerPlace *place, const char *name, double flops, double bytes)
{
    int o = op_named(place, name);
    if (fabs(place->flops[o] - flops) > 1e-6 || fabs(place->moved_bytes[o] - bytes) > 1e-6) {
        fail_msg("%s: %g operations and %g bytes, expected %g and %g", name, place->flops[o],
                 place->moved_bytes[o], flops, bytes);
    }
}

static void test_each_kind_has_its_operations_and_bytes(void **state)
{
    OnnxBuilder *b = onnx_builder(17, *state);
    onnx_input(b, "x", "1 4 8 8");
    onnx_weight(b, "w", "6 4 3 3");
    onnx_node(b, "Conv", "x w", "conv", "pads=[1,1,1,1]");
    onnx_node(b, "Relu", "conv", "relu", "");
    onnx_node(b, "Tanh", "relu", "tanh", "");
    onnx_node(b, "Softmax", "tanh", "softmax", "");
    onnx_node(b, "MaxPool", "softmax", "pool", "kernel_shape=[2,2] strides=[2,2]");
    onnx_node(b, "GlobalAveragePool", "pool", "global", "");
    onnx_node(b, "ReduceSum", "conv", "sum", "");
    onnx_node(b, "Flatten", "global", "flat", "");
    onnx_weight(b, "fc", "6 5");
    onnx_node(b, "MatMul", "flat fc", "matmul", "");
    onnx_weight(b, "table", "1000 5");
    onnx_input_of_type(b, "ids", ONNX__TENSOR_PROTO__DATA_TYPE__INT64, "3");
    onnx_node(b, "Gather", "table ids", "gather", "");
    onnx_node(b, "Transpose", "gather", "transpose", "");
    onnx_output(b, "matmul", NULL);
    onnx_output(b, "transpose", NULL);
    onnx_output(b, "sum", NULL);
    MerPlace place =
        open_place(import_built(b, NULL), platform_of(SLOW, *state), NULL, NULL, *state);
    /* 6 x 8 x 8 outputs of 4 x 3 x 3 MACs; input 256, weights 216 and output 384 floats */
    assert_costs(&place, "conv", 2 * 384 * 36, 4 * (256 + 216 + 384));
    assert_costs(&place, "relu", 384, 4 * 2 * 384);
    assert_costs(&place, "tanh", 8 * 384, 4 * 2 * 384);
    assert_costs(&place, "softmax", 12 * 384, 4 * 2 * 384);
    assert_costs(&place, "pool", 96 * 4, 4 * (384 + 96));
    assert_costs(&place, "global", 96, 4 * (96 + 6));
    assert_costs(&place, "sum", 384, 4 * (384 + 1));
    assert_costs(&place, "flat", 0, 0);
    assert_costs(&place, "matmul", 2 * 30, 4 * (6 + 30 + 5));
    /* three rows of five are read and written; three numbers say which */
    assert_costs(&place, "gather", 0, 4 * (15 + 15) + 8 * 3);
    assert_costs(&place, "transpose", 0, 4 * 2 * 15);
    assert_near(place.size[op_named(&place, "gather")], 4 * 5000);
    assert_near(place.output_bytes[op_named(&place, "gather")], 4 * 15);
}

static void test_time_is_the_roofline_plus_a_launch(void **state)
{
    OnnxBuilder *b = onnx_builder(17, *state);
    onnx_input(b, "x", "100 50");
    onnx_weight(b, "w", "50 20");
    onnx_node(b, "MatMul", "x w", "matmul", "");
    onnx_node(b, "Relu", "matmul", "relu", "");
    onnx_node(b, "Reshape", "relu shape", "view", "");
    onnx_ints(b, "shape", "50 40");
    onnx_output(b, "view", NULL);
    MerPlace place =
        open_place(import_built(b, NULL), platform_of(SLOW, *state), NULL, NULL, *state);
    const double *times = place.time_us;
    /* 200,000 operations; 4 x (5000 + 1000 + 2000) bytes */
    assert_near(times[0], 200000 / 2.0 + 10);
    assert_near(times[1], 200000);
    /* 2000 operations; 16,000 bytes */
    assert_near(times[2], 16000 / 4.0 + 10);
    assert_near(times[3], 16000);
    assert_near(times[4], 0);
    assert_near(times[5], 0);
}

/* Per direction 2 T N 4H (I + H) in both products, then the gates. */
static void test_recurrences_count_every_step(void **state)
{
    OnnxBuilder *b = onnx_builder(17, *state);
    double       steps = 7, batch = 3, inputs = 5, hidden = 4;
    onnx_input(b, "x", "7 3 5");
    onnx_weight(b, "w", "1 16 5");
    onnx_weight(b, "r", "1 16 4");
    onnx_node(b, "LSTM", "x w r", "lstm", "hidden_size=4");
    onnx_output(b, "lstm", NULL);
    MerPlace place =
        open_place(import_built(b, NULL), platform_of(SLOW, *state), NULL, NULL, *state);
    double gates = steps * batch * 4 * hidden;
    assert_costs(&place, "lstm/input", 2 * gates * inputs, 4 * (105 + 16 * 5 + gates));
    /* the weights are read in every step, results once */
    assert_costs(&place, "lstm/state", 2 * gates * hidden, 4 * (gates + gates + steps * 16 * 4));
    assert_costs(&place, "lstm", 8 * gates, 4 * (gates + steps * batch * hidden));
    int state_op = op_named(&place, "lstm/state");
    assert_near(place.time_us[2 * state_op], 2 * gates * hidden / 2 + 10);
}

static void test_sizes_are_computed_on_hosts(void **state)
{
    OnnxBuilder *b = onnx_builder(17, *state);
    onnx_input(b, "x", "8 4");
    onnx_node(b, "NonZero", "x", "found", ""); /* its size depends on the data */
    onnx_node(b, "Shape", "found", "shape", "");
    onnx_ints(b, "one", "1");
    onnx_node(b, "Gather", "shape one", "count", "");
    onnx_node(b, "Relu", "x", "relu", "");
    onnx_output(b, "count", NULL);
    onnx_output(b, "relu", NULL);
    const MerGraph *graph = import_built(b, NULL);
    MerPlace        place = open_place(graph, platform_of(SLOW, *state), NULL, NULL, *state);
    static const char *const pinned[] = {"shape", "count"};
    for (int i = 0; i < 2; i++) {
        int o = op_named(&place, pinned[i]);
        assert_true(isinf(place.time_us[2 * o]));
        assert_true(isfinite(place.time_us[2 * o + 1]));
    }
    assert_true(isfinite(place.time_us[2 * op_named(&place, "relu")]));
    assert_true(isfinite(place.time_us[2 * op_named(&place, "found")]));
    /* without a host they run anywhere */
    MerPlace bare = open_place(
        graph,
        platform_of("format: mercator-platform/1\nkind: cluster\nunits: [{name: gpu}]\n", *state),
        NULL, NULL, *state);
    assert_true(isfinite(bare.time_us[op_named(&bare, "shape")]));
}

static void test_units_run_what_they_support(void **state)
{
    OnnxBuilder *b = onnx_builder(17, *state);
    onnx_input(b, "x", "8 4");
    onnx_weight(b, "w", "4 4");
    onnx_node(b, "MatMul", "x w", "matmul", "");
    onnx_node(b, "Relu", "matmul", "relu", "");
    onnx_node(b, "Flatten", "relu", "view", "");
    onnx_output(b, "view", NULL);
    MerPlace place =
        open_place(import_built(b, NULL),
                   platform_of("format: mercator-platform/1\nkind: cluster\nunits:\n"
                               "  - {name: npu0, flops: 1M, supports: [gemm, conv]}\n"
                               "  - {name: cpu0, flops: 1M}\nlinks: [{from: npu0, to: cpu0}]\n",
                               *state),
                   NULL, NULL, *state);
    assert_true(isfinite(place.time_us[0]));
    assert_true(isinf(place.time_us[2]) && isfinite(place.time_us[3]));
    assert_near(place.time_us[4], 0); /* a view has no kernel */
}

static void test_number_types_and_speed_change_the_time(void **state)
{
    static const struct {
        int    type;
        double us;
    } cases[] = {
        {ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, 256 / 2.0},
        {ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, 256 / 8.0},
        {ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16, 256 / 8.0}, /* as its likeness */
        {ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE, 256 / 2.0},   /* as float32 */
    };
    const MerPlatform *platform =
        platform_of("format: mercator-platform/1\nkind: cluster\nclasses:\n"
                    "  gpu: {flops: {float32: 2M, float16: 8M}, launch_us: 4}\n"
                    "units: [{name: a, class: gpu}, {name: b, class: gpu, speed: 0.5}]\n"
                    "links: [{from: a, to: b}]\n",
                    *state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OnnxBuilder *b = onnx_builder(17, *state);
        onnx_input_of_type(b, "x", cases[i].type, "8 4");
        onnx_weight_of_type(b, "w", cases[i].type, "4 4");
        onnx_node(b, "MatMul", "x w", "matmul", "");
        onnx_output(b, "matmul", NULL);
        MerPlace place = open_place(import_built(b, NULL), platform, NULL, NULL, *state);
        assert_near(place.time_us[0], cases[i].us + 4);
        assert_near(place.time_us[1], 2 * (cases[i].us + 4));
    }
}

/* Built-in networks on a V100: operations as published (two for each MAC), and times that are sensible: above
 * what the multiplications alone take at the peak rate, below what such networks are known to take. */
static void test_built_in_networks_take_sensible_times(void **state)
{
    static const struct {
        const char *name;
        double      gflops, least_ms, most_ms;
    } cases[] = {
        {"bert_base", 22.4, 1.42, 6}, {"resnet50", 8.2, 0.52, 3}, {"lstm_lm", 30.3, 1.93, 5}};
    MerError           error = {0};
    const MerPlatform *platform;
    assert_int_equal(mer_platform_read("two-gpu-box", *state, &platform, &error), MER_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerPlace place =
            open_place(graph_of(cases[i].name, NULL, *state), platform, NULL, NULL, *state);
        double ms = 0, gflops = 0;
        for (int o = 0; o < place.op_count; o++) {
            ms += place.time_us[o * place.unit_count] / 1e3;
            gflops += place.flops[o] / 1e9;
        }
        if (fabs(gflops / cases[i].gflops - 1) > 0.01 || ms < cases[i].least_ms ||
            ms > cases[i].most_ms) {
            fail_msg("%s: %g GFLOP in %g ms", cases[i].name, gflops, ms);
        }
    }
}

static void test_every_cluster_platform_runs_every_operator(void **state)
{
    static const char *const networks[] = {"resnet50", "bert_base", "lstm_lm", "dlrm"};
    const char             **names;
    int count = mer_data_list("platforms", ".yaml", *state, &names, NULL), clusters = 0;
    for (int i = 0; i < count; i++) {
        const MerPlatform *platform;
        MerError           error = {0};
        assert_int_equal(mer_platform_read(names[i], *state, &platform, &error), MER_OK);
        if (platform->kind != MER_PLATFORM_CLUSTER) {
            continue;
        }
        clusters++;
        assert_non_null(platform->source);
        for (int n = 0; n < 4; n++) {
            open_place(graph_of(networks[n], NULL, *state), platform, NULL, NULL, *state);
        }
    }
    assert_in_range(clusters, 10, 1000);
}

/* Convolutions are fastest on the neural unit of a phone, its gathers and batched products run elsewhere. */
static void test_phone_runs_convolutions_on_its_neural_unit(void **state)
{
    MerError           error = {0};
    const MerPlatform *platform;
    assert_int_equal(mer_platform_read("phone-soc", *state, &platform, &error), MER_OK);
    MerPlace place = open_place(graph_of("resnet50", NULL, *state), platform, NULL, NULL, *state);
    const double *times = place.time_us; /* of the first convolution: cpu, gpu, npu */
    assert_true(times[2] < times[1] && times[1] < times[0]);
    MerPlace bert = open_place(graph_of("bert_base", NULL, *state), platform, NULL, NULL, *state);
    for (int o = 0; o < bert.op_count; o++) {
        bool is_absent = bert.kinds[o] == MER_OP_GATHER || bert.kinds[o] == MER_OP_BATCHED_GEMM;
        assert_true(!is_absent || isinf(bert.time_us[o * 3 + 2]));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_kind_has_its_operations_and_bytes),
        TEST(test_time_is_the_roofline_plus_a_launch),
        TEST(test_recurrences_count_every_step),
        TEST(test_sizes_are_computed_on_hosts),
        TEST(test_units_run_what_they_support),
        TEST(test_number_types_and_speed_change_the_time),
        TEST(test_built_in_networks_take_sensible_times),
        TEST(test_every_cluster_platform_runs_every_operator),
        TEST(test_phone_runs_convolutions_on_its_neural_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
