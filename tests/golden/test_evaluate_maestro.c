/* `mercator evaluate FILE.m` against 40 runs of MAESTRO (tests/data/maestro.jsonl): each case
 * is written as a network with one layer. Integers are compared exactly, floats to 1e-5. */
#include "command.h"

#include <math.h>
#include <stdbool.h>

static void write_network(const cJSON *golden)
{
    const cJSON *layer = command_member(golden, "layer");
    const cJSON *stride = command_member(layer, "stride");
    const cJSON *dim;
    const char  *separator = "";
    FILE        *file = fopen("case.m", "w");
    assert_non_null(file);
    fprintf(file, "// one golden case\nNetwork golden {\n  Layer one {\n    Type: %s\n",
            command_member(layer, "type")->valuestring);
    if (cJSON_HasObjectItem(stride, "X")) {
        fprintf(file, "    Stride { X: %d, Y: %d }\n", command_member(stride, "X")->valueint,
                command_member(stride, "Y")->valueint);
    }
    fprintf(file, "    Dimensions { ");
    cJSON_ArrayForEach(dim, command_member(layer, "dims"))
    {
        fprintf(file, "%s%s: %d", separator, dim->string, dim->valueint);
        separator = ", ";
    }
    fprintf(file, " }\n    Dataflow {\n%s\n    }\n  }\n}\n",
            command_member(golden, "mapping")->valuestring);
    fclose(file);
}

static cJSON *evaluate(const cJSON *golden)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = {{"num_pes", "num_pes"},       {"noc_bw", "noc_bw"},
                 {"noc_hops", "noc_hops"},     {"noc_hop_latency", "noc_hop_latency"},
                 {"offchip_bw", "offchip_bw"}, {"simd_lanes", "simd_lanes"},
                 {"l1_size_cstr", "l1_size"},  {"l2_size_cstr", "l2_size"}};
    char arguments[600] = "evaluate case.m --json --evaluator datacentric:mode=compat";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t used = strlen(arguments);
        snprintf(arguments + used, sizeof arguments - used, ",%s=%.0f", names[i].ours,
                 command_member(command_member(golden, "hw"), names[i].theirs)->valuedouble);
    }
    write_network(golden);
    return command_json(arguments);
}

/* Printed by MAESTRO with six digits. */
static bool is_float(const char *name)
{
    static const char *const parts[] = {"energy",   "area",    "power",    "throughput", "ops_per",
                                        "perf_per", "avg_noc", "utilized", "intensity",  "reuse"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(name, parts[i])) {
            return true;
        }
    }
    return false;
}

static void compare(const char *id, const cJSON *expected, const cJSON *found)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, expected)
    {
        const cJSON *value = command_member(found, item->string);
        if (cJSON_IsObject(item)) {
            compare(id, item, value);
        } else if (cJSON_IsBool(item)) {
            assert_int_equal(cJSON_IsTrue(item), cJSON_IsTrue(value));
        } else if (fabs(value->valuedouble - item->valuedouble) >
                   (is_float(item->string) ? 1e-5 * fabs(item->valuedouble) : 0)) {
            fail_msg("%s: %s is %.10g, expected %.10g", id, item->string, value->valuedouble,
                     item->valuedouble);
        }
    }
}

static void check_case(const cJSON *golden)
{
    const char  *id = command_member(golden, "id")->valuestring;
    const char  *status = command_member(golden, "status")->valuestring;
    cJSON       *summary = evaluate(golden);
    const cJSON *task = command_task(summary);
    const char  *found = command_member(task, "status")->valuestring;
    bool         is_error = strcmp(status, "error") == 0;
    if (strcmp(found, is_error ? "infeasible" : status) != 0) {
        fail_msg("%s is %s, expected %s", id, found, status);
    }
    const cJSON *counts = command_member(task, "counts");
    if (strcmp(status, "ok") == 0) {
        compare(id, command_member(golden, "expected"), counts);
    } else if (is_error) {
        assert_true(cJSON_IsNull(counts));
        assert_true(strlen(command_member(command_member(task, "best"), "reason")->valuestring) >
                    0);
    } else {
        assert_int_equal(command_member(counts, "runtime_cycles")->valueint, 0);
        assert_int_equal(command_member(counts, "num_macs")->valueint, 0);
    }
    cJSON_Delete(summary);
}

static void test_evaluate_gives_maestros_counts_for_every_golden_case(void **state)
{
    enum { LINE = 1 << 16 };
    char *line = malloc(LINE);
    int   count = 0;
    (void)state;
    FILE *file = fopen(TEST_DATA("maestro.jsonl"), "r");
    assert_non_null(file);
    while (fgets(line, LINE, file)) {
        cJSON *golden = cJSON_Parse(line);
        assert_non_null(golden);
        check_case(golden);
        cJSON_Delete(golden);
        count++;
    }
    fclose(file);
    free(line);
    assert_int_equal(count, 40);
}

static void test_a_layer_without_dataflow_takes_the_one_before_it(void **state)
{
    (void)state;
    write_text("two.m",
               "Network n {\n"
               "Layer a { Type: CONV Dimensions { K: 8, C: 8, R: 3, S: 3, Y: 10, X: 10 }\n"
               "  Dataflow { SpatialMap(1,1) K; TemporalMap(8,8) C; TemporalMap(Sz(R),1) Y;\n"
               "             TemporalMap(Sz(S),1) X; TemporalMap(Sz(R),Sz(R)) R; "
               "TemporalMap(Sz(S),Sz(S)) S; } }\n"
               "Layer b { Type: CONV Dimensions { K: 8, C: 8, R: 3, S: 3, Y: 10, X: 10 } }\n}\n");
    cJSON       *summary = command_json("evaluate two.m --json --evaluator datacentric:num_pes=8");
    const cJSON *tasks = command_member(summary, "tasks");
    assert_int_equal(cJSON_GetArraySize(tasks), 2);
    for (int t = 0; t < 2; t++) {
        const cJSON *task = cJSON_GetArrayItem(tasks, t);
        assert_string_equal(command_member(task, "status")->valuestring, "ok");
        assert_int_equal(command_member(command_member(task, "counts"), "num_macs")->valueint,
                         8 * 8 * 9 * 64);
    }
    cJSON_Delete(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evaluate_gives_maestros_counts_for_every_golden_case),
        cmocka_unit_test(test_a_layer_without_dataflow_takes_the_one_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
