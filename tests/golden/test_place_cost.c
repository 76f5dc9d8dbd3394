/* Reference values of evaluators `cluster` and `calls` on public graphs (tests/shared.h): thirteen
 * makespans and peaks of Placeto's simulator, and the latencies of bert24. */
#include "place_cost_support.h"

#include "base/file.h"
#include "one_arena.h"
#include "place/cost/cluster.h"

typedef struct ClusterRow {
    const char *graph, *expert; /* expert NULL: by `is_spread` */
    bool        is_spread;      /* round robin by position in the file, else all on unit 0 */
    int         units;
    double      makespan_us, numeric_us; /* numeric_us 0: the same */
    double      peak[6];
} ClusterRow;

#define LAYER "golden/placement/msr-throughput-layer/"
#define OPERATOR "golden/placement/msr-throughput-operator/"
#define EXPERT "golden/placement/msr-expert/"
/* clang-format off */
static const ClusterRow rows[] = {
    {LAYER "bert24_training.json", NULL, false, 6, 218120.8000, 0, {500072496}},
    {LAYER "bert24_training.json", NULL, true, 6, 188578.3116, 0, {4194304, 125018128, 4194304, 125018128, 125018128, 125018112}},
    {LAYER "bert24_training.json", EXPERT "bert24_training_expert.json", false, 6, 157802.8105, 0, {20971520, 12582912, 12582912, 8388608, 8388608, 375054368}},
    {LAYER "gnmt_inference.json", NULL, false, 6, 182751.1000, 0, {66904576}},
    {LAYER "gnmt_inference.json", NULL, true, 6, 301827.3105, 0, {27582976, 14155776, 26214400, 27262976, 26214400, 14155776}},
    {LAYER "gnmt_inference.json", EXPERT "gnmt_inference_expert.json", false, 6, 197720.2842, 0, {52428800, 40370176, 66904576, 40370176, 40370176, 40370176}},
    {LAYER "resnet50_inference.json", NULL, false, 6, 202356.3000, 0, {1233125376}},
    {LAYER "resnet50_inference.json", NULL, true, 6, 2580291.3521, 2484652.5711, {822083584, 513802240, 411041792, 411041792, 411041792, 513802240}},
    {LAYER "resnet50_inference.json", EXPERT "resnet50_inference_expert.json", false, 6, 317257.2484, 0, {822083584, 1233125376, 616562688, 308281344, 308281344, 102760448}},
    {OPERATOR "bert_l-3_inference.json", NULL, false, 3, 50012.2000, 0, {392453376}},
    {OPERATOR "bert_l-3_inference.json", NULL, true, 3, 190011.1740, 0, {54866176, 70451208, 375128064}},
    {OPERATOR "resnet50_training.json", NULL, false, 6, 687399.7000, 0, {2849509120}},
    {OPERATOR "resnet50_training.json", NULL, true, 6, 1422541.7382, 0, {517349888, 450573824, 407445504, 475949568, 540832928, 553662464}},
};
/* clang-format on */

/* fpgas[i] to unit i, cpus to `host_unit`, backward nodes after their class. */
static MerPlan read_expert(const OpenedPlace *opened, const char *path, int host_unit)
{
    MerPlan         plan = plan_on(opened, -1, arena);
    MerGraphPlan   *made = mer_graph_plan(&plan);
    const MerPlace *place = opened->place;
    MerError        error = {0};
    MerYaml        *root, *lists[2];
    size_t          size;
    char           *text;
    if (mer_file_read(path, 1 << 24, arena, &text, &size, &error) != MER_OK ||
        mer_yaml_parse(path, text, size, arena, &root, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    lists[0] = mer_yaml_get(root, "cpus");
    lists[1] = mer_yaml_get(root, "fpgas");
    for (int l = 0; l < 2; l++) {
        for (int i = 0; i < lists[l]->count; i++) {
            MerYaml *nodes = mer_yaml_get(lists[l]->items[i], "nodes");
            for (int n = 0; n < nodes->count; n++) {
                double id;
                assert_int_equal(mer_yaml_real(nodes->items[n], -1e15, 1e15, &id, &error), MER_OK);
                for (int o = 0; o < place->op_count; o++) {
                    made->unit[o] =
                        place->ids[o] == (int64_t)id ? (l == 0 ? host_unit : i) : made->unit[o];
                }
            }
        }
    }
    for (int o = 0; o < place->op_count; o++) {
        for (int p = 0; p < place->op_count && place->is_backward[o]; p++) {
            made->unit[o] = place->group[p] == place->group[o] && !place->is_backward[p]
                                ? made->unit[p]
                                : made->unit[o];
        }
        assert_true(made->unit[o] >= 0);
    }
    return plan;
}

static MerPlan row_plan(const ClusterRow *row, const OpenedPlace *opened)
{
    char path[SHARED_PATH_SIZE];
    if (row->expert) {
        return read_expert(opened, shared_path(path, row->expert), 0);
    }
    MerPlan       plan = plan_on(opened, 0, arena);
    MerGraphPlan *made = mer_graph_plan(&plan);
    for (int o = 0; o < made->op_count && row->is_spread; o++) {
        made->unit[o] = opened->place->file_index[o] % row->units;
    }
    return plan;
}

static void check_row(const ClusterRow *row, const char *evaluator, double expected_us)
{
    char              path[SHARED_PATH_SIZE];
    OpenedPlace      *opened = open_place(graph_named(shared_path(path, row->graph), arena), NULL,
                                          "place", evaluator, arena);
    MerPlan           plan = row_plan(row, opened);
    MerCost           cost = price_place(opened, &plan);
    MerClusterRecord  record = {.arena = arena};
    MerClusterOutcome outcome;
    double            found = 1e6 * cost.value[MER_METRIC_MAKESPAN];
    assert_true(cost.feasible);
    if (fabs(found - expected_us) > 1e-6 * expected_us) {
        fail_msg("%s: makespan %.4f us, expected %.4f", row->graph, found, expected_us);
    }
    assert_true(mer_cluster_play(opened->evaluator.state, &plan, &record, &outcome));
    bool is_row = expected_us == row->makespan_us; /* peaks are of the order by names */
    for (int u = 0; u < row->units && is_row; u++) {
        if (outcome.peak[u] != row->peak[u]) {
            fail_msg("%s: peak of unit %d is %.0f, expected %.0f", row->graph, u, outcome.peak[u],
                     row->peak[u]);
        }
    }
    close_place(opened);
}

static void test_placeto_preset_gives_the_reference_makespans_and_peaks(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        check_row(&rows[r], "cluster:preset=placeto,limits=false", rows[r].makespan_us);
    }
}

static void test_numeric_ties_change_one_row(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        check_row(&rows[r], "cluster:preset=placeto,limits=false,tie_order=numeric",
                  rows[r].numeric_us > 0 ? rows[r].numeric_us : rows[r].makespan_us);
    }
}

#define LATENCY "golden/placement/msr-latency-layer/bert24_inference.json"

static OpenedPlace *open_latency(int accelerators, const char *evaluator)
{
    char               path[SHARED_PATH_SIZE];
    MerGraph          *graph = graph_named(shared_path(path, LATENCY), arena);
    const MerPlatform *platform = platform_from(
        mer_arena_format(arena,
                         "{format: mercator-platform/1, kind: cluster, units: [{name: acc, count: "
                         "%d, class: acc, memory_bytes: 629145600}, {name: cpu, count: 8, class: "
                         "cpu}], classes: {acc: {}, cpu: {}}}",
                         accelerators),
        arena);
    return open_place(graph, accelerators == 5 ? NULL : platform, "place", evaluator, arena);
}

static void expect_latency(const OpenedPlace *opened, const MerPlan *plan, double milliseconds)
{
    MerCost cost = price_place(opened, plan);
    double  found = 1e3 * cost.value[MER_METRIC_LATENCY];
    if (fabs(found - milliseconds) > 1e-9 * milliseconds) {
        fail_msg("latency %.9f ms, expected %.9f", found, milliseconds);
    }
}

/* Accelerators in topological order, each up to its memory: the greedy of the source repository. */
static MerPlan fill_greedily(const OpenedPlace *opened)
{
    MerPlan       plan = plan_on(opened, 0, arena);
    MerGraphPlan *made = mer_graph_plan(&plan);
    double        bytes = 0;
    for (int o = 0, unit = 0; o < made->op_count; o++) {
        double size = opened->place->size[o];
        unit += bytes + size > opened->place->limit[unit];
        bytes = unit > 0 && bytes + size > opened->place->limit[unit - 1] ? size : bytes + size;
        made->unit[o] = unit;
    }
    return plan;
}

static void test_calls_give_the_reference_latencies_of_bert24(void **state)
{
    (void)state;
    OpenedPlace *opened = open_latency(5, "calls:price_infeasible=true");
    MerPlan      one = plan_on(opened, 0, arena), host = plan_on(opened, 5, arena);
    expect_latency(opened, &one, 92.406);
    expect_latency(opened, &host, 924.06);
    assert_false(price_place(opened, &one).feasible);
    mer_test_contains(price_place(opened, &one).reason, "memory: acc0 needs");
    MerPlan greedy = fill_greedily(opened);
    MerCost cost = price_place(opened, &greedy);
    assert_true(cost.feasible);
    /* 92.406 + 2 cuts x 2 x 1.953125, which is also the optimum */
    expect_latency(opened, &greedy, 100.2185);
    close_place(opened);
}

static void test_calls_price_the_expert_of_bert24(void **state)
{
    char path[SHARED_PATH_SIZE];
    (void)state;
    OpenedPlace *opened = open_latency(6, "calls:price_infeasible=true");
    MerPlan plan = read_expert(opened, shared_path(path, EXPERT "bert24_inference_expert.json"), 6);
    expect_latency(opened, &plan, 111.93725);
    close_place(opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placeto_preset_gives_the_reference_makespans_and_peaks),
        cmocka_unit_test(test_numeric_ties_change_one_row),
        cmocka_unit_test(test_calls_give_the_reference_latencies_of_bert24),
        cmocka_unit_test(test_calls_price_the_expert_of_bert24),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
