/* Measured times: which rows concern which operators and units, what is shared out, and what is refused. */
#include "onnx_builder.h"
#include "place_inputs_support.h"

#include <math.h>

#define PLATFORM                                                                                   \
    "format: mercator-platform/1\nkind: cluster\nclasses:\n"                                       \
    "  gpu: {flops: 1M, launch_us: 2}\n  cpu: {flops: 1M}\n"                                       \
    "units: [{name: gpu0, class: gpu}, {name: gpu1, class: gpu, speed: 0.5}, "                     \
    "{name: cpu0, class: cpu}]\n"                                                                  \
    "links: [{from: gpu0, to: gpu1}, {from: \"gpu*\", to: cpu0}]\n"

enum { GPU0, GPU1, CPU0, UNITS };

/* matmul (2 x 8 x 4 x 4 operations), relu, reshape, lstm with its parts */
static MerGraph *toy(MerArena *arena)
{
    OnnxBuilder *b = onnx_builder(17, arena);
    MerError     error = {0};
    onnx_input(b, "x", "8 4");
    onnx_weight(b, "w", "4 4");
    onnx_node(b, "MatMul", "x w", "matmul", "");
    onnx_node(b, "Relu", "matmul", "relu", "");
    onnx_ints(b, "shape", "8 1 4");
    onnx_node(b, "Reshape", "relu shape", "view", "");
    onnx_weight(b, "wi", "1 16 4");
    onnx_weight(b, "ws", "1 16 4");
    onnx_node(b, "LSTM", "view wi ws", "lstm", "hidden_size=4");
    onnx_output(b, "lstm", NULL);
    MerGraph *graph = onnx_import(b, NULL, &error);
    if (!graph) {
        fail_msg("%s", error.message);
    }
    graph->name = "toy";
    return graph;
}

static MerPlace open_with(const char *path, const char **remarks, MerArena *arena)
{
    MerPlaceOptions options = {.decide = "place",
                               .profile = path,
                               .group_work_limit = 1,
                               .msr_cost_scale = 1,
                               .levels = 20};
    return open_place(toy(arena), platform_of(PLATFORM, arena), &options, remarks, arena);
}

static double time_of(const MerPlace *place, const char *op, int unit)
{
    return place->time_us[op_named(place, op) * UNITS + unit];
}

static void test_rows_replace_what_was_predicted(void **state)
{
    const char *remarks[2] = {NULL, NULL};
    MerPlace    plain = open_place(toy(*state), platform_of(PLATFORM, *state), NULL, NULL, *state);
    MerPlace    place = open_with(TEST_DATA("place/times.csv"), remarks, *state);
    /* the median of three; a unit of half the speed takes twice as long */
    assert_true(time_of(&place, "matmul", GPU0) == 31);
    assert_true(time_of(&place, "matmul", GPU1) == 62);
    assert_true(time_of(&place, "matmul", CPU0) == 900);
    assert_true(place.size[op_named(&place, "matmul")] == 4096);
    /* a row of one unit concerns only that one, as it is */
    assert_true(time_of(&place, "relu", GPU1) == 7);
    assert_true(time_of(&place, "relu", GPU0) == time_of(&plain, "relu", GPU0));
    assert_true(time_of(&place, "view", GPU0) == 0);
    /* what the graph says stays as it was where no row says otherwise */
    assert_true(place.size[op_named(&place, "lstm/input")] ==
                plain.size[op_named(&plain, "lstm/input")]);
    mer_test_contains(remarks[0], "times.csv: 5 of 6 operators, 100.0 % of the predicted time, are "
                                  "measured; 1 rows name no operator of toy, the first \"gone\"");
}

static void test_time_of_a_node_is_shared_among_its_operators(void **state)
{
    static const char *const parts[] = {"lstm/input", "lstm/state", "lstm"};
    MerPlace plain = open_place(toy(*state), platform_of(PLATFORM, *state), NULL, NULL, *state);
    MerPlace place = open_with(TEST_DATA("place/times.csv"), NULL, *state);
    double   sum = 0, expected = 0;
    for (int i = 0; i < 3; i++) {
        sum += time_of(&place, parts[i], GPU0);
        expected += time_of(&plain, parts[i], GPU0);
    }
    assert_true(fabs(sum - 60) < 1e-9);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(time_of(&place, parts[i], GPU0) / sum -
                         time_of(&plain, parts[i], GPU0) / expected) < 1e-9);
    }
    assert_true(time_of(&place, "lstm", CPU0) == time_of(&plain, "lstm", CPU0));
}

static void test_profile_of_onnx_runtime_is_read(void **state)
{
    const char *remarks[2] = {NULL, NULL};
    MerPlace    plain = open_place(toy(*state), platform_of(PLATFORM, *state), NULL, NULL, *state);
    MerPlace    place = open_with(TEST_DATA("place/ort_profile.json"), remarks, *state);
    assert_true(time_of(&place, "matmul", GPU0) == 42); /* the median: the first run warms up */
    assert_true(time_of(&place, "relu", CPU0) == 20);
    assert_true(time_of(&place, "relu", GPU0) == time_of(&plain, "relu", GPU0));
    mer_test_contains(remarks[0], "ort_profile.json: 2 of 6 operators, ");
}

static void assert_refused(const char *text, const char *message, MerArena *arena)
{
    MerError        error = {0};
    MerPlace        place;
    MerPlaceOptions options = {.decide = "place",
                               .profile = "bad",
                               .group_work_limit = 1,
                               .msr_cost_scale = 1,
                               .levels = 20};
    write_text("bad", text);
    assert_int_not_equal(try_open_place(toy(arena), platform_of(PLATFORM, arena), &options, &place,
                                        NULL, arena, &error),
                         MER_OK);
    if (strcmp(error.message, message) != 0) {
        fail_msg("found \"%s\", expected \"%s\"", error.message, message);
    }
}

#define HEAD "op,device_class,time_us\n"
#define COLUMNS                                                                                    \
    "expected op,device_class,time_us[,output_bytes][,weight_bytes][,workspace_bytes][,samples]"   \
    "[,stddev_us]"
#define EVENT(members) "[\n{\"cat\": \"Node\", \"name\": \"matmul_kernel_time\"" members "}\n]"

static void test_bad_files_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"# nothing\n", "bad:1:1: the file has no header"},
        {"op,time_us\n", "bad:1:1: the header has no column \"device_class\", expected it"},
        {"op,device_class,time_us,speed\n", "bad:1:25: column \"speed\" is unknown, " COLUMNS},
        {"op,device_class,time_us,op\n", "bad:1:25: column \"op\" stands twice, " COLUMNS},
        {HEAD, "bad: found no time of an operator of toy, expected its names"},
        {HEAD "conv,gpu,1\n",
         "bad: found no time of an operator of toy, but of \"conv\", expected its names"},
        {HEAD "relu,tpu,1\n",
         "bad: all rows are of units like \"tpu\", expected classes or units of test"},
        {HEAD "relu,gpu,-1\n", "bad:2:10: time_us is \"-1\", expected a number in 0 .. 1e+15"},
        {HEAD "relu,gpu,nan\n", "bad:2:10: time_us is \"nan\", expected a number in 0 .. 1e+15"},
        {HEAD "\nrelu,gpu,1e99\n",
         "bad:3:10: time_us is \"1e99\", expected a number in 0 .. 1e+15"},
        {HEAD "relu,gpu\n", "bad:2:1: time_us is \"\", expected a number in 0 .. 1e+15"},
        {HEAD ",gpu,1\n", "bad:2:1: op is empty, expected a name"},
        {HEAD "relu\n", "bad:2:1: device_class is empty, expected a name"},
        {"[\n{\"cat\": \"Node\",\n", "bad:2: this is no JSON from here on, expected a complete "
                                     "profile of ONNX Runtime"},
        {"{\"a\": 1}", "bad: found no list of events, expected the profile of ONNX Runtime"},
        {"[1]", "bad: event 0 (counted from 0) is no object, expected one"},
        {EVENT(", \"dur\": -1"), "bad: event 0 (counted from 0) has no usable dur, expected "
                                 "microseconds in 0 .. 1e15"},
        {EVENT(", \"dur\": \"1\""), "bad: event 0 (counted from 0) has no usable dur, expected "
                                    "microseconds in 0 .. 1e15"},
        {EVENT(", \"dur\": 1"),
         "bad: event 0 (counted from 0) has no args.provider, expected a text"},
        {"[]", "bad: found no time of an operator of toy, expected its names"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_refused(cases[i].text, cases[i].message, *state);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows_replace_what_was_predicted),
        TEST(test_time_of_a_node_is_shared_among_its_operators),
        TEST(test_profile_of_onnx_runtime_is_read),
        TEST(test_bad_files_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
