/* Expert splits that come with the msr graphs, priced by `mercator evaluate`: the values that the source repository's solver
 * prints for them (four to six digits), and the split for six accelerators of a graph that has five. */
#include "command.h"
#include "shared.h"

static const cJSON *evaluate(const char *split, const char *graph, cJSON **answer)
{
    char paths[2][SHARED_PATH_SIZE], line[4000], name[200];
    snprintf(name, sizeof name, "golden/placement/msr-expert/%s_expert.json", split);
    shared_path(paths[0], name);
    snprintf(name, sizeof name, "golden/placement/%s.json", graph);
    shared_path(paths[1], name);
    int length = snprintf(
        line, sizeof line,
        "evaluate '%.1800s' --workload '%.1800s' --price-infeasible true --what-if off --json",
        paths[0], paths[1]);
    assert_true(length < (int)sizeof line);
    *answer = command_json(line);
    return command_member(command_task(*answer), "best");
}

static void check(const char *split, const char *graph, double period_ms)
{
    cJSON       *answer;
    const cJSON *best = evaluate(split, graph, &answer);
    assert_true(cJSON_IsTrue(command_member(best, "feasible")));
    assert_float_equal(1e3 * command_member(best, "period")->valuedouble, period_ms,
                       1e-4 * period_ms);
    cJSON_Delete(answer);
}

static void test_expert_splits_have_the_published_loads(void **state)
{
    (void)state;
    check("bert24_training", "msr-throughput-layer/bert24_training", 49.4049);
    check("gnmt_inference", "msr-throughput-layer/gnmt_inference", 46.2085);
    check("resnet50_inference", "msr-throughput-layer/resnet50_inference", 43.9183);
}

static void test_six_accelerators_where_five_exist(void **state)
{
    cJSON       *answer;
    const cJSON *best = evaluate("bert24_inference", "msr-latency-layer/bert24_inference", &answer);
    (void)state;
    assert_true(cJSON_IsFalse(command_member(best, "feasible")));
    assert_string_equal(command_member(best, "reason")->valuestring,
                        "devices: uses 6 accelerators, 5 exist");
    assert_true(command_member(best, "period")->valuedouble > 0);
    cJSON_Delete(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expert_splits_have_the_published_loads),
        cmocka_unit_test(test_six_accelerators_where_five_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
