/* Fusion: who may run as one kernel, and what that costs, on graphs that can be worked out by hand. */
#include "place_tiny.h"

#include "one_arena.h"
#include "place/cost/cluster.h"

/* Operators by what they do: R relu, B batch normalisation, C product, P pool, S softmax, V reshape, T transpose, L recurrence. */
typedef struct ShapedOp {
    char kind;
    int  elements; /* of the result, 4 bytes each */
    int  inputs
        [3]; /* operators, counted from 1; 0: none. Without any it reads an input of as many elements */
} ShapedOp;

static MerOp make_op(const ShapedOp *shape, const char *name)
{
    static const struct {
        char        letter;
        const char *source;
        MerOpKind   kind;
    } kinds[] = {{'R', "Relu", MER_OP_ELEMENTWISE},
                 {'B', "BatchNormalization", MER_OP_NORM},
                 {'C', "MatMul", MER_OP_GEMM},
                 {'P', "MaxPool", MER_OP_POOL},
                 {'S', "Softmax", MER_OP_SOFTMAX},
                 {'V', "Reshape", MER_OP_MOVE},
                 {'T', "Transpose", MER_OP_MOVE},
                 {'L', "LSTM", MER_OP_GEMM},
                 {'N', "LayerNormalization", MER_OP_NORM}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (kinds[k].letter == shape->kind) {
            MerOp op = mer_op_make(name, kinds[k].source, kinds[k].kind);
            bool  multiplies = kinds[k].kind == MER_OP_GEMM;
            op.dims[MER_DIM_Y] = multiplies ? shape->elements : 1;
            op.dims[MER_DIM_C] = multiplies ? 100 : 1;
            op.repeat = shape->kind == 'L' ? 7 : 1;
            return op;
        }
    }
    fail();
    return (MerOp){0};
}

static MerGraph *shaped_graph(const ShapedOp *shapes, int count)
{
    MerGraph *graph = mer_graph_new("shaped", arena);
    MerError  error = {0};
    int      *results = MER_ARRAY(arena, int, count);
    for (int o = 0; o < count; o++) {
        const char *name = mer_arena_format(arena, "%c%d", 'a' + o % 26, o);
        MerValue    value = {.name = name,
                             .rank = 1,
                             .dims = {shapes[o].elements},
                             .type = MER_TYPE_FLOAT32,
                             .role = MER_VALUE_INPUT};
        MerOp       op = make_op(&shapes[o], name);
        int         inputs[3];
        if (shapes[o].inputs[0] == 0) {
            value.name = mer_arena_format(arena, "in%d", o);
            inputs[op.input_count++] = mer_graph_add_value(graph, &value);
        }
        for (int i = 0; i < 3 && shapes[o].inputs[i] > 0; i++) {
            inputs[op.input_count++] = results[shapes[o].inputs[i] - 1];
        }
        value.name = name;
        value.role = MER_VALUE_ACTIVATION;
        results[o] = mer_graph_add_value(graph, &value);
        op.inputs = inputs;
        op.outputs = &results[o];
        op.output_count = 1;
        mer_graph_add_op(graph, &op);
    }
    if (mer_graph_finish(graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return graph;
}

/* 1000 bytes and 10^6 operations per microsecond, 5 us per launch, 2 us between operators. */
static OpenedPlace *open_shaped(const ShapedOp *shapes, int count)
{
    return open_place(shaped_graph(shapes, count),
                      tiny_platform("classes: {gpu: {flops: 1T, bytes_per_s: 1G, launch_us: 5, "
                                    "gap_us: 2}}, units: [{name: gpu, count: 2, class: gpu}], "
                                    "links: [{from: gpu0, to: gpu1, bytes_per_s: 1G}]",
                                    arena),
                      "place,order,fuse", "cluster", arena);
}

static void expect_clusters(const ShapedOp *shapes, int count, const char *levels,
                            const char *expected)
{
    OpenedPlace *opened = open_shaped(shapes, count);
    int         *unit = MER_ARRAY(arena, int, count), *cluster = MER_ARRAY(arena, int, count);
    mer_place_fuse(opened->place, unit, tiny_numbers(levels, arena), cluster, arena);
    for (int o = 0; o < count; o++) {
        if (cluster[o] != expected[o] - '0') {
            fail_msg("operator %d is in cluster %d, expected %c", o, cluster[o], expected[o]);
        }
    }
    close_place(opened);
}

static void test_element_wise_operators_follow_a_product(void **state)
{
    static const ShapedOp ops[] = {{'C', 100, {0}}, {'B', 100, {1}}, {'R', 100, {2}}};
    static const ShapedOp others[] = {
        {'L', 100, {0}}, {'R', 100, {1}}, {'T', 100, {2}}, {'R', 100, {3}}};
    (void)state;
    expect_clusters(ops, 3, "111", "000");
    expect_clusters(ops, 3, "101", "011"); /* level 0: not into its producer */
    expect_clusters(ops, 3, "110", "002");
    expect_clusters(others, 4, "1111", "0123"); /* a recurrence and data movement stay alone */
}

static void test_only_reductions_have_element_wise_operators_before_them(void **state)
{
    static const ShapedOp ops[] = {
        {'R', 400, {0}}, {'C', 100, {1}}, {'R', 400, {0}}, {'P', 100, {3}}, {'R', 100, {4}}};
    static const ShapedOp norm[] = {{'R', 100, {0}}, {'N', 100, {1}}, {'R', 100, {2}}};
    (void)state;
    expect_clusters(ops, 5, "11111", "01222");
    expect_clusters(norm, 3, "111", "000");
}

static void test_a_kernel_has_one_root(void **state)
{
    static const ShapedOp two[] = {{'C', 100, {0}}, {'S', 100, {1}}};
    /* both products could take the sum: the first producer is tried first */
    static const ShapedOp sum[] = {
        {'C', 100, {0}}, {'C', 100, {0}}, {'R', 100, {1, 2}}, {'R', 100, {2}}};
    (void)state;
    expect_clusters(two, 2, "11", "01");
    expect_clusters(sum, 4, "1111", "0101");
}

static void test_order_of_levels_matters(void **state)
{
    /* the sum d takes the product c, then b cannot take a; or b takes a, and d with them, then nobody takes c */
    static const ShapedOp ops[] = {
        {'C', 100, {0}}, {'R', 100, {1}}, {'C', 100, {0}}, {'R', 100, {2, 3}}};
    (void)state;
    expect_clusters(ops, 4, "1314", "0111");
    expect_clusters(ops, 4, "1413", "0020");
    static const ShapedOp chain[] = {
        {'R', 100, {0}}, {'R', 100, {1}}, {'S', 100, {2}}, {'R', 100, {3}}, {'S', 100, {4}}};
    expect_clusters(chain, 5, "12345", "00033"); /* the last takes d, so that c cannot */
    expect_clusters(chain, 5, "54321", "00004");
}

static void test_no_kernel_waits_for_itself(void **state)
{
    /* a goes to c directly and through the transpose b */
    static const ShapedOp ops[] = {{'R', 100, {0}}, {'T', 100, {1}}, {'R', 100, {1, 2}}};
    (void)state;
    expect_clusters(ops, 3, "111", "012");
}

static void test_shapes_must_fit(void **state)
{
    static const ShapedOp ops[] = {{'R', 10, {0}}, {'R', 100, {1}}, {'R', 50, {2}}};
    (void)state;
    expect_clusters(ops, 3, "111",
                    "002"); /* the smaller is broadcast, the larger is not read in part */
}

static void test_kernels_stay_on_one_unit_and_below_64_operators(void **state)
{
    ShapedOp chain[100];
    int      unit[100] = {0}, level[100], cluster[100], sizes[100] = {0};
    (void)state;
    for (int o = 0; o < 100; o++) {
        chain[o] = (ShapedOp){'R', 100, {o}};
        level[o] = 1;
        unit[o] = o >= 90;
    }
    OpenedPlace *opened = open_shaped(chain, 100);
    mer_place_fuse(opened->place, unit, level, cluster, arena);
    for (int o = 0; o < 100; o++) {
        sizes[cluster[o]]++;
    }
    assert_int_equal(sizes[0], 64);
    assert_int_equal(sizes[64], 26);
    assert_int_equal(sizes[90], 10);
    close_place(opened);
}

static double kernel_us(const ShapedOp *shapes, int count, const char *clusters)
{
    OpenedPlace *opened = open_shaped(shapes, count);
    MerPlan      plan = plan_on(opened, 0, arena);
    MerKernels   kernels;
    MerCost      cost;
    mer_graph_plan(&plan)->cluster = tiny_numbers(clusters, arena);
    mer_cost_clear(&cost);
    if (!mer_cluster_kernels(opened->evaluator.state, mer_graph_plan(&plan), arena, &kernels,
                             &cost)) {
        fail_msg("%s", cost.reason);
    }
    close_place(opened);
    return kernels.time_us[clusters[count - 1] - '0'];
}

static void test_a_kernel_costs_what_crosses_its_border_and_one_launch(void **state)
{
    static const ShapedOp two[] = {{'R', 1000, {0}}, {'R', 1000, {1}}};
    static const ShapedOp kept[] = {{'R', 1000, {0}}, {'T', 1000, {1}}, {'R', 1000, {1}}};
    static const ShapedOp view[] = {{'R', 1000, {0}}, {'V', 1000, {1}}, {'R', 1000, {2}}};
    static const ShapedOp from_view[] = {{'T', 1000, {0}}, {'V', 1000, {1}}, {'R', 1000, {2}}};
    static const ShapedOp twice[] = {{'T', 1000, {0}}, {'R', 1000, {1}}, {'R', 1000, {1, 2}}};
    (void)state;
    expect_near(kernel_us(two, 2, "01"), 8 + 5);
    expect_near(kernel_us(two, 2, "00"), 8 + 5);
    expect_near(kernel_us(kept, 3, "010"),
                12 + 5); /* the result that others read is written, too */
    expect_near(kernel_us(view, 3, "000"), 8 + 5);
    expect_near(kernel_us(from_view, 3, "011"), 8 + 5); /* what the view shows must be read */
    expect_near(kernel_us(twice, 3, "011"), 8 + 5); /* the result of the transpose is read once */
}

static void test_a_kernel_computes_all_operations_of_its_members(void **state)
{
    /* 200 operations per element: 2 10^7 are 20 us; its bytes 800 us */
    static const ShapedOp ops[] = {{'C', 100000, {0}}, {'R', 100000, {1}}};
    (void)state;
    OpenedPlace     *opened = open_shaped(ops, 2);
    const MerFusion *fusion = ((MerCluster *)opened->evaluator.state)->fusion;
    assert_int_equal(fusion->role[0], MER_FUSE_ROOT);
    expect_near(fusion->compute_us[0], 20);
    expect_near(fusion->compute_us[2], 0.1);
    assert_true(fusion->is_modelled[0] && fusion->is_modelled[2]);
    close_place(opened);
    expect_near(kernel_us(ops, 2, "00"), 800 + 5);
}

/* Times of a profile: 5 us of each are the launch; kernels of products compute all the rest. */
static void test_measured_times_lose_launches_and_bytes(void **state)
{
    static const TinyOp ops[] = {
        {.us = 100, .bytes = 4000, .kind = MER_OP_GEMM},
        {.us = 25, .bytes = 4000, .inputs = {1}, .kind = MER_OP_ELEMENTWISE}};
    (void)state;
    OpenedPlace *opened =
        open_place(tiny_graph(ops, 2, arena),
                   tiny_platform("classes: {gpu: {bytes_per_s: 1G, launch_us: 5}}, units: [{name: "
                                 "gpu, class: gpu}]",
                                 arena),
                   "place,fuse", "cluster", arena);
    MerPlan plan = tiny_plan(opened, "00", arena);
    expect_near(1e6 * price_place(opened, &plan).value[MER_METRIC_MAKESPAN], 125);
    mer_graph_plan(&plan)->cluster = tiny_numbers("00", arena);
    /* bodies 95 and 20, less 8000 bytes that a writes and b reads, and one launch */
    expect_near(1e6 * price_place(opened, &plan).value[MER_METRIC_MAKESPAN], 95 + 20 - 8 + 5);
    close_place(opened);
}

static void test_a_kernel_rests_once_and_keeps_its_results_inside(void **state)
{
    static const ShapedOp two[] = {{'R', 1000, {0}}, {'R', 1000, {1}}};
    (void)state;
    OpenedPlace *opened = open_shaped(two, 2);
    MerPlan      plan = plan_on(opened, 0, arena);
    MerCost      alone = price_place(opened, &plan);
    mer_graph_plan(&plan)->cluster = tiny_numbers("00", arena);
    MerCost fused = price_place(opened, &plan);
    expect_near(1e6 * alone.value[MER_METRIC_MAKESPAN], 13 + 2 + 13);
    expect_near(1e6 * fused.value[MER_METRIC_MAKESPAN], 13);
    expect_near(alone.value[MER_METRIC_PEAK_BYTES], 8000);
    expect_near(fused.value[MER_METRIC_PEAK_BYTES], 4000);
    close_place(opened);
}

static void expect_refused(const ShapedOp *shapes, int count, const char *units,
                           const char *clusters, const char *reason)
{
    OpenedPlace *opened = open_shaped(shapes, count);
    MerPlan      plan = tiny_plan(opened, units, arena);
    mer_graph_plan(&plan)->cluster = tiny_numbers(clusters, arena);
    MerCost cost = price_place(opened, &plan);
    assert_false(cost.feasible);
    assert_string_equal(cost.reason, reason);
    close_place(opened);
}

static void test_clusters_of_files_are_checked(void **state)
{
    static const ShapedOp ops[] = {{'R', 100, {0}}, {'T', 100, {1}}, {'R', 100, {1, 2}}};
    static const ShapedOp roots[] = {{'C', 100, {0}}, {'S', 100, {1}}};
    (void)state;
    expect_refused(ops, 3, "000", "010",
                   "acyclic: clusters wait for each other, one is that of a0");
    expect_refused(ops, 3, "000", "001", "unsupported: operator b1 cannot be fused");
    expect_refused(ops, 3, "001", "010", "colocation: a0 and c2 are fused on two units");
    expect_refused(roots, 2, "00", "00", "unsupported: a0 and b1 cannot be one kernel");
}

static void test_levels_by_rule(void **state)
{
    static const ShapedOp ops[] = {
        {'R', 100, {0}}, {'R', 100, {1}}, {'R', 400, {2}}, {'R', 400, {3}}, {'R', 100, {4}}};
    int unit[5] = {0, 0, 0, 0, 1}, level[5];
    (void)state;
    OpenedPlace *opened = open_shaped(ops, 5);
    mer_place_fuse_greedy(opened->place, unit, level);
    assert_int_equal(level[0], 0);  /* reads no result */
    assert_int_equal(level[1], 17); /* a quarter of the most: two levels lower */
    assert_int_equal(level[2], 17);
    assert_int_equal(level[3], 19);
    assert_int_equal(level[4], 0); /* its producer is elsewhere */
    close_place(opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_element_wise_operators_follow_a_product),
        cmocka_unit_test(test_only_reductions_have_element_wise_operators_before_them),
        cmocka_unit_test(test_a_kernel_has_one_root),
        cmocka_unit_test(test_order_of_levels_matters),
        cmocka_unit_test(test_no_kernel_waits_for_itself),
        cmocka_unit_test(test_shapes_must_fit),
        cmocka_unit_test(test_kernels_stay_on_one_unit_and_below_64_operators),
        cmocka_unit_test(test_a_kernel_costs_what_crosses_its_border_and_one_launch),
        cmocka_unit_test(test_a_kernel_computes_all_operations_of_its_members),
        cmocka_unit_test(test_measured_times_lose_launches_and_bytes),
        cmocka_unit_test(test_a_kernel_rests_once_and_keeps_its_results_inside),
        cmocka_unit_test(test_clusters_of_files_are_checked),
        cmocka_unit_test(test_levels_by_rule),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
