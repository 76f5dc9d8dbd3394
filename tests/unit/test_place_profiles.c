/* Profiles of PipeDream and Piper: what becomes of their lines, and what is refused. */
#include "support.h"

#include "mercator/platform.h"
#include "place/inputs/profile_build.h"
#include "unit/importer.h"

#include <math.h>

static MerGraph *import(const MerImporterClass *importer, const char *name, MerArena *arena)
{
    char         *text = file_text(TEST_DATA("place"), name, arena);
    MerImportFile file = text_file(name, text);
    return must_import(importer, &file, NULL, arena);
}

static int find_op(const MerGraph *graph, const char *name)
{
    for (int o = 0; o < graph->op_count; o++) {
        if (strcmp(graph->ops[o].name, name) == 0) {
            return o;
        }
    }
    fail_msg("there is no operator \"%s\"", name);
    return -1;
}

static void test_pipedream_nodes_become_operators_in_topological_order(void **state)
{
    const MerGraph *graph = import(&mer_importer_pipedream, "pipedream.txt", *state);
    static const struct {
        const char *name, *source;
        MerOpKind   kind;
        int         id, file_index;
        double      time_us, size, output_bytes;
    } expected[] = {
        {"node2 Conv2d", "Conv2d", MER_OP_CONV, 2, 2, 4000, 896, 4096},
        {"node3 LSTM", "LSTM", MER_OP_GEMM, 3, 3, 7000, 2304, 320},
        {"node4 __getitem__", "__getitem__", MER_OP_MOVE, 4, 4, 0, 0, 256},
        {"node5 Linear", "Linear", MER_OP_GEMM, 5, 1, 750, 144, 16},
    };
    const MerPlaceProfile *profile = mer_graph_attachment(graph, MER_PLACE_PROFILE);
    assert_non_null(profile);
    assert_true(profile->is_pipeline);
    assert_int_equal(graph->op_count, 4);
    for (int o = 0; o < 4; o++) {
        assert_string_equal(graph->ops[o].name, expected[o].name);
        assert_string_equal(graph->ops[o].source, expected[o].source);
        assert_int_equal(graph->ops[o].kind, MER_OP_MOVE);
        assert_int_equal(profile->kinds[o], expected[o].kind);
        assert_int_equal(profile->ids[o], expected[o].id);
        assert_int_equal(profile->file_index[o], expected[o].file_index);
        assert_true(fabs(profile->unit_us[o] - expected[o].time_us) < 1e-9);
        assert_true(isinf(profile->host_us[o]));
        assert_true(profile->size[o] == expected[o].size);
        assert_true(profile->weight_bytes[o] == expected[o].size);
        assert_true(profile->output_bytes[o] == expected[o].output_bytes);
        assert_int_equal(graph->ops[o].output_bytes, expected[o].output_bytes);
    }
    /* edges node2 - node3, node3 - node4, node4 - node5, node2 - node5 */
    assert_int_equal(graph->values[graph->ops[0].outputs[0]].consumer_count, 2);
    assert_int_equal(graph->ops[3].input_count, 2);
    assert_true(graph->values[graph->ops[3].outputs[0]].is_output);
}

static void test_pipedream_names_without_numbers_count_by_place(void **state)
{
    MerImportFile file =
        text_file("t.txt", "a -- Add -- parameter_size=0, activation_size=4, backward_compute_time"
                           "=0, forward_compute_time=1 -- stage_id=2\r\n\r\n"
                           "b -- Odd -- text -- forward_compute_time=1,backward_compute_time=0,"
                           "activation_size=4,parameter_size=0\r\n\ta -- b\r\n");
    const MerGraph        *graph = must_import(&mer_importer_pipedream, &file, NULL, *state);
    const MerPlaceProfile *profile = mer_graph_attachment(graph, MER_PLACE_PROFILE);
    assert_int_equal(graph->op_count, 2);
    assert_string_equal(graph->ops[1].name, "b Odd");
    assert_int_equal(profile->ids[0], 0);
    assert_int_equal(profile->ids[1], 1);
}

static void test_piper_variants_are_two_profiles(void **state)
{
    const MerGraph        *graph = import(&mer_importer_piper, "piper.json", *state);
    const MerPlaceProfile *plain = mer_graph_attachment(graph, MER_PLACE_PROFILE);
    const MerPlaceProfile *again = mer_graph_attachment(graph, MER_PLACE_RECOMPUTE);
    int first = find_op(graph, "embedding"), second = find_op(graph, "attention");
    assert_int_equal(graph->op_count, 2);
    assert_int_equal(first, 0);
    assert_int_equal(plain->kinds[second], MER_OP_GEMM);
    assert_int_equal(plain->ids[second], 7);
    assert_int_equal(plain->file_index[second], 0);
    assert_true(plain->unit_us[second] == 2500 && again->unit_us[second] == 3000);
    assert_true(plain->size[second] == 2300 && again->size[second] == 2300);
    assert_true(plain->weight_bytes[second] == 1000);
    assert_true(plain->output_bytes[first] == 64 && plain->output_bytes[second] == 0);
    /* without a second variant the first holds */
    assert_true(again->unit_us[first] == 500 && again->size[first] == 8064);
    assert_true(plain->is_pipeline && again->is_pipeline);
}

/* Names are for people, and further variants for others. */
static void test_piper_needs_no_names(void **state)
{
    MerImportFile file = text_file(
        "t.json",
        "{\"maxDevices\": 2, \"maxMemoryPerDevice\": 100, \"bandwidth\": 10, \"nodes\": [{\"id\": "
        "4, "
        "\"TMPCs\": {\"1\": [{\"id\": \"offload\", \"timePerSample\": 9}, {\"id\": \"vanilla\", "
        "\"timePerSample\": 2, \"parameterSize\": 1, \"memoryUsageA\": 1, \"memoryUsageB\": "
        "1}]}}], "
        "\"edges\": []}");
    const MerGraph        *graph = must_import(&mer_importer_piper, &file, NULL, *state);
    const MerPlaceProfile *profile = mer_graph_attachment(graph, MER_PLACE_PROFILE);
    assert_string_equal(graph->ops[0].name, "node4");
    assert_true(profile->unit_us[0] == 2000);
}

#define MSR_NODE(id, name, rest)                                                                   \
    "{\"id\": " id ", \"name\": \"" name "\", \"supportedOnFpga\": 1, \"cpuLatency\": 1, "         \
    "\"fpgaLatency\": 1, \"isBackwardNode\": 0, \"size\": 1" rest "}"

/* The format says that further information may be present; classes are whole numbers, or absent. */
static void test_msr_ignores_what_it_does_not_know(void **state)
{
    MerImportFile file = text_file(
        "t.json", "{\"maxSizePerFPGA\": 9, \"maxFPGAs\": 1, \"maxCPUs\": 1, \"note\": [1], "
                  "\"nodes\": [" MSR_NODE("1", "a", ", \"colorClass\": -1") ", " MSR_NODE(
                      "2", "a", ", \"colorClass\": null, \"stage\": {}") ", " //
        MSR_NODE("3", "a#2", ", \"colorClass\": -1") "], \"edges\": []}");
    const MerGraph        *graph = must_import(&mer_importer_msr, &file, NULL, *state);
    const MerPlaceProfile *profile = mer_graph_attachment(graph, MER_PLACE_PROFILE);
    assert_int_equal(graph->op_count, 3);
    assert_true(profile->class_of[0] >= 0 && profile->class_of[1] == -1);
    assert_true(profile->class_of[2] == profile->class_of[0]);
    assert_string_not_equal(graph->ops[1].name, graph->ops[2].name);
    assert_int_equal(graph->warning_count, 1);
    mer_test_contains(graph->warnings[0], "nodes[1].stage is the first");
}

static void test_piper_devices_become_the_implied_platform(void **state)
{
    const MerGraph    *graph = import(&mer_importer_piper, "piper.json", *state);
    const MerPlatform *platform = mer_graph_attachment(graph, "platform");
    assert_non_null(platform);
    assert_int_equal(platform->kind, MER_PLATFORM_CLUSTER);
    assert_int_equal(platform->unit_count, 3);
    assert_string_equal(platform->units[2].name, "acc2");
    assert_true(platform->units[0].memory_bytes == 1.6e10);
    assert_int_equal(platform->link_count, 3);
    assert_true(platform->links[0].bytes_per_s == 25e9);
}

/* Two graphs that differ in one measured time only are not the same. */
static void test_times_are_part_of_the_hash(void **state)
{
    char           *text = file_text(TEST_DATA("place"), "pipedream.txt", *state);
    MerImportFile   file = text_file("t.txt", text);
    const MerGraph *graph = must_import(&mer_importer_pipedream, &file, NULL, *state);
    memcpy(strstr(text, "time=3.000"), "time=3.001", 10);
    assert_true(must_import(&mer_importer_pipedream, &file, NULL, *state)->hash != graph->hash);
}

static void assert_refused(const MerImporterClass *importer, const char *text, const char *message,
                           MerArena *arena)
{
    MerImportFile file = text_file("bad", text);
    MerGraph     *graph;
    MerError      error = {0};
    assert_int_not_equal(importer->read(&file, NULL, arena, &graph, &error), MER_OK);
    if (strcmp(error.message, message) != 0) {
        fail_msg("found \"%s\", expected \"%s\"", error.message, message);
    }
}

#define TIMES "forward_compute_time=1.0, backward_compute_time=2.0, "

static void test_bad_pipedream_files_are_refused_with_their_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"hello", "bad:1: the line is \"hello\", expected \"NODE -- OPERATOR -- "
                  "forward_compute_time=..\""},
        {"node1 -- Add", "bad:1: the line of the node is \"Add\", expected two parts behind its "
                         "name: \"OPERATOR -- forward_compute_time=..\""},
        {"node1 -- Add -- " TIMES, "bad:1: there is no activation_size, expected it"},
        {"node1 -- Add -- " TIMES "activation_size=[1; x], parameter_size=0",
         "bad:1: activation_size is \"[1; x]\", expected bytes >= 0, at most 1e15"},
        {"node1 -- Add -- " TIMES "activation_size=nan, parameter_size=0",
         "bad:1: activation_size is \"nan\", expected bytes >= 0, at most 1e15"},
        {"node1 -- Add -- " TIMES "activation_size=1e16, parameter_size=0",
         "bad:1: activation_size is \"1e16\", expected bytes >= 0, at most 1e15"},
        {"node1 -- Add -- " TIMES "activation_size=, parameter_size=0",
         "bad:1: activation_size is \"\", expected bytes >= 0, at most 1e15"},
        {"node1 -- Add -- forward_compute_time=-1, backward_compute_time=0, activation_size=0, "
         "parameter_size=0",
         "bad:1: forward_compute_time is \"-1\", expected milliseconds >= 0, at most 1e12"},
        {"node1 -- Add -- forward_compute_time=1k, backward_compute_time=0, activation_size=0, "
         "parameter_size=0",
         "bad:1: forward_compute_time is \"1k\", expected milliseconds >= 0, at most 1e12"},
        {"node1 -- Add -- " TIMES "activation_size=1, parameter_size=0\n"
         "node1 -- Add -- " TIMES "activation_size=1, parameter_size=0",
         "bad:2: the node is \"node1\", expected a name that no line before has"},
        {"node1 -- Add -- " TIMES "activation_size=1, parameter_size=0\n\n\tnode1 -- node2",
         "bad:3: an end of the edge is \"node2\", expected a node of the file"},
        {"node1 -- Add -- " TIMES "activation_size=1, parameter_size=0\n\tnode1",
         "bad:2: the line is \"node1\", expected an edge \"nodeI -- nodeJ\""},
        {"node1 -- Input -- " TIMES "activation_size=1, parameter_size=0",
         "bad: found no nodes besides inputs, expected at least one"},
        {"node1 -- Add -- " TIMES "activation_size=1, parameter_size=0\n\tnode1 -- node1",
         "bad: the operators \"node1 Add\" -> \"node1 Add\" form a cycle"},
        {"", "bad: found no nodes besides inputs, expected at least one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_refused(&mer_importer_pipedream, cases[i].text, cases[i].message, *state);
    }
}

#define HEAD "{\"maxDevices\": 2, \"maxMemoryPerDevice\": 9, \"bandwidth\": 9, "
#define COSTS(id, time)                                                                            \
    "{\"id\": \"" id "\", \"timePerSample\": " time                                                \
    ", \"parameterSize\": 1, \"memoryUsageA\": 1, \"memoryUsageB\": 1}"
#define NODE(id, costs) "{\"id\": " id ", \"name\": \"n\", \"TMPCs\": {\"1\": [" costs "]}}"
#define GOOD(id) NODE(id, COSTS("vanilla", "1"))

static void test_bad_piper_files_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "bad:1:1: the document is a list, expected a map"},
        {HEAD "\"edges\": []}", "bad:1:1: the document has no key \"nodes\""},
        {HEAD "\"nodes\": [], \"edges\": []}",
         "bad:1:69: nodes is empty, expected at least one node"},
        {HEAD "\"nodes\": [" NODE("1", COSTS("other", "1")) "], \"edges\": []}",
         "bad:1:108: nodes[0].TMPCs.1 has no entry with the id \"vanilla\", expected one"},
        {HEAD "\"nodes\": [" NODE("1", COSTS("vanilla", "-1")) "], \"edges\": []}",
         "bad:1:144: nodes[0].TMPCs.1[0].timePerSample is -1, expected a number in 0 .. "
         "1000000000000"},
        {HEAD "\"nodes\": [" NODE("1", COSTS("vanilla", ".nan")) "], \"edges\": []}",
         "bad:1:144: nodes[0].TMPCs.1[0].timePerSample is \".nan\", expected a number in 0 .. "
         "1000000000000"},
        {HEAD "\"nodes\": [" NODE("1", COSTS("vanilla", "\"1\"")) "], \"edges\": []}",
         "bad:1:144: nodes[0].TMPCs.1[0].timePerSample is \"1\", expected a number in 0 .. "
         "1000000000000"},
        {HEAD "\"nodes\": [" NODE("1", COSTS("activation recomp", "1")) "], \"edges\": []}",
         "bad:1:108: nodes[0].TMPCs.1 has no entry with the id \"vanilla\", expected one"},
        {HEAD "\"nodes\": [" GOOD("1") ", " GOOD("1") "], \"edges\": []}",
         "bad:1:216: nodes[1].id is 1, expected an id that no node before has"},
        {HEAD "\"nodes\": [" GOOD("1") "], \"edges\": [{\"sourceId\": 1, \"destId\": 2}]}",
         "bad:1:246: edges[0].destId is 2, expected the id of a node"},
        {HEAD "\"nodes\": [" GOOD("1") "], \"edges\": [{\"sourceId\": 1, \"destId\": 1, "
                                       "\"communicationCost\": 1e99}]}",
         "bad:1:270: edges[0].communicationCost is 1e99, expected a number in 0 .. "
         "1000000000000000"},
        {HEAD "\"nodes\": [" GOOD("1") "], \"edges\": [{\"sourceId\": 1, \"destId\": 1, "
                                       "\"communicationCost\": 1}]}",
         "bad: the operators \"n\" -> \"n\" form a cycle"},
        {"{\"nodes\": [" GOOD("1") "], \"edges\": []}",
         "bad:1:1: the document has no key \"maxDevices\""},
        {HEAD "\"nodes\": [" GOOD("1"), "bad:2:1: flow sequence without a closing bracket"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_refused(&mer_importer_piper, cases[i].text, cases[i].message, *state);
    }
}

static void test_equal_names_are_told_apart_by_ids(void **state)
{
    MerImportFile file =
        text_file("t.json", HEAD "\"nodes\": [" GOOD("1") ", " GOOD("2") "], "
                                                                         "\"edges\": []}");
    const MerGraph *graph = must_import(&mer_importer_piper, &file, NULL, *state);
    assert_string_equal(graph->ops[0].name, "n");
    assert_string_equal(graph->ops[1].name, "n (2)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pipedream_nodes_become_operators_in_topological_order,
                                        open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_pipedream_names_without_numbers_count_by_place,
                                        open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_piper_needs_no_names, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_msr_ignores_what_it_does_not_know, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(test_piper_variants_are_two_profiles, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(test_piper_devices_become_the_implied_platform, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(test_times_are_part_of_the_hash, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_bad_pipedream_files_are_refused_with_their_line,
                                        open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_bad_piper_files_are_refused_with_their_place,
                                        open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_equal_names_are_told_apart_by_ids, open_arena,
                                        close_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
