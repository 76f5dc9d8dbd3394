/* The workload graph: order, edges, counts, layers, and what the check refuses. */
#include "support.h"

#include "mercator/graph.h"

static int add_value(MerGraph *graph, const char *name, MerValueRole role, int64_t rows,
                     int64_t columns)
{
    return mer_graph_add_value(graph, &(MerValue){.name = name,
                                                  .type = MER_TYPE_FLOAT32,
                                                  .role = role,
                                                  .rank = 2,
                                                  .dims = {rows, columns}});
}

static void add_op(MerGraph *graph, const char *name, MerOpKind kind, int input, int weight,
                   int output)
{
    MerOp op = mer_op_make(name, "Test", kind);
    if (kind == MER_OP_GEMM) {
        op.dims[MER_DIM_Y] = graph->values[input].dims[0];
        op.dims[MER_DIM_C] = graph->values[input].dims[1];
        op.dims[MER_DIM_K] = graph->values[output].dims[1];
    }
    op.input_count = 2;
    op.inputs = (int[]){input, weight};
    op.output_count = 1;
    op.outputs = &output;
    mer_graph_add_op(graph, &op);
}

/* x (8 x 16) -> a -> b, two equal layers with one shared weight, then an activation. */
static MerGraph *two_layers(MerArena *arena)
{
    MerGraph *graph = mer_graph_new("toy", arena);
    int       x = add_value(graph, "x", MER_VALUE_INPUT, 8, 16);
    int       w = add_value(graph, "w", MER_VALUE_WEIGHT, 16, 16);
    int       a = add_value(graph, "a", MER_VALUE_ACTIVATION, 8, 16);
    int       b = add_value(graph, "b", MER_VALUE_ACTIVATION, 8, 16);
    int       y = add_value(graph, "y", MER_VALUE_ACTIVATION, 8, 16);
    add_op(graph, "relu", MER_OP_ELEMENTWISE, b, -1, y);
    add_op(graph, "second", MER_OP_GEMM, a, w, b);
    add_op(graph, "first", MER_OP_GEMM, x, w, a);
    return graph;
}

static void test_finish_sorts_and_counts(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = two_layers(arena);
    MerError  error = {0};
    (void)state;
    assert_int_equal(mer_graph_finish(graph, &error), MER_OK);
    assert_string_equal(graph->ops[0].name, "first");
    assert_string_equal(graph->ops[1].name, "second");
    assert_string_equal(graph->ops[2].name, "relu");
    assert_int_equal(graph->ops[2].input_count, 1);
    assert_int_equal(graph->macs, 2 * 8 * 16 * 16);
    assert_int_equal(graph->parameters, 256);
    assert_int_equal(graph->ops[0].parameters, 256);
    assert_int_equal(graph->ops[1].parameters, 0);
    assert_int_equal(graph->ops[1].weight_bytes, 1024);
    assert_int_equal(graph->ops[1].input_bytes, 512);
    assert_int_equal(graph->activation_bytes, 3 * 512);
    assert_int_equal(graph->layer_count, 1);
    assert_int_equal(graph->layers[0].op, 0);
    assert_int_equal(graph->layers[0].count, 2);
    assert_int_equal(graph->ops[2].layer, -1);
    assert_int_equal(graph->values[1].consumer_count, 2);
    assert_int_equal(graph->values[1].producer, -1);
    assert_int_equal(graph->values[2].producer, 0);
    assert_int_equal(graph->values[2].consumers[0], 1);
    mer_arena_free(arena);
}

static void test_finish_twice_changes_nothing(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = two_layers(arena);
    (void)state;
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    uint64_t hash = graph->hash;
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    assert_true(graph->hash == hash);
    assert_int_equal(graph->layer_count, 1);
    assert_int_equal(graph->values[1].consumer_count, 2);
    mer_arena_free(arena);
}

static void test_operators_can_be_added_after_finish(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = two_layers(arena);
    (void)state;
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    for (int i = 0; i < 100; i++) {
        int next = add_value(graph, "z", MER_VALUE_ACTIVATION, 8, 16);
        add_op(graph, "more", MER_OP_GEMM, next - 1, 1, next);
    }
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    assert_int_equal(graph->op_count, 103);
    assert_int_equal(graph->layers[0].count, 102);
    mer_arena_free(arena);
}

static void test_hash_sees_content_and_not_the_name(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *one = two_layers(arena), *other = two_layers(arena), *changed = two_layers(arena);
    (void)state;
    other->name = "another";
    changed->ops[1].stride[0] = 2;
    assert_int_equal(mer_graph_finish(one, NULL), MER_OK);
    assert_int_equal(mer_graph_finish(other, NULL), MER_OK);
    assert_int_equal(mer_graph_finish(changed, NULL), MER_OK);
    assert_true(one->hash == other->hash);
    assert_true(one->hash != changed->hash);
    mer_arena_free(arena);
}

static void expect_refusal(MerGraph *graph, const char *part)
{
    MerError error = {0};
    assert_int_equal(mer_graph_finish(graph, &error), MER_INVALID);
    mer_test_contains(error.message, part);
}

static void test_cycles_name_their_operators(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = two_layers(arena);
    (void)state;
    graph->ops[2].inputs[0] = 3; /* first reads what second writes */
    expect_refusal(graph, "the operators \"first\" -> \"second\" -> \"first\" form a cycle");
    mer_arena_free(arena);
}

static void test_two_producers_are_refused(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = two_layers(arena);
    (void)state;
    graph->ops[1].outputs[0] = 2;
    expect_refusal(graph, "operators \"second\" and \"first\" both write \"a\"");
    graph->ops[1].outputs[0] = 1;
    expect_refusal(graph, "operator \"second\" writes \"w\", which is a constant");
    mer_arena_free(arena);
}

static void test_values_that_nothing_makes_are_refused(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = two_layers(arena);
    (void)state;
    int lost = add_value(graph, "lost", MER_VALUE_ACTIVATION, 1, 1);
    graph->ops[0].inputs[0] = lost;
    expect_refusal(graph, "operator \"relu\" reads \"lost\", which nothing makes");
    graph->ops[0].inputs[0] = 99;
    expect_refusal(graph, "operator \"relu\" names value 99, expected 0 to 5");
    mer_arena_free(arena);
}

static void test_extents_strides_and_pads_out_of_range_are_refused(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = two_layers(arena);
    (void)state;
    graph->ops[1].dims[MER_DIM_K] = 0;
    expect_refusal(graph, "operator \"second\" (gemm) has extent K = 0, expected 1 to 2147483647");
    graph->ops[1].dims[MER_DIM_K] = INT64_C(1) << 31;
    expect_refusal(graph, "has extent K = 2147483648");
    graph->ops[1].dims[MER_DIM_K] = 16;
    graph->ops[1].stride[1] = 0;
    expect_refusal(graph, "has stride 0, expected at least 1");
    graph->ops[1].stride[1] = 1;
    graph->ops[1].pad[3] = -1;
    expect_refusal(graph, "has padding -1, expected at least 0");
    graph->ops[1].pad[3] = 0;
    graph->ops[1].repeat = 0;
    expect_refusal(graph, "repeats 0 times");
    graph->ops[1].repeat = 1;
    graph->ops[0].dims[MER_DIM_N] = 2;
    expect_refusal(graph, "operator \"relu\" (element-wise) has extent N = 2, expected 1 to 1");
    mer_arena_free(arena);
}

static void test_sizes_that_overflow_are_refused(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = two_layers(arena);
    (void)state;
    graph->values[4].dims[0] = INT64_C(1) << 40;
    graph->values[4].dims[1] = INT64_C(1) << 40;
    expect_refusal(graph, "the size of value \"y\" is out of range");
    graph->values[4].dims[0] = -3;
    expect_refusal(graph, "the size of value \"y\" is out of range");
    graph->values[4].dims[0] = 8;
    graph->values[4].dims[1] = 16;
    for (int dim = 0; dim < 3; dim++)
        graph->ops[1].dims[dim] = 2147483647;
    expect_refusal(graph, "the MACs or bytes of operator \"second\" overflow");
    mer_arena_free(arena);
}

static void test_check_finds_stale_counts(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = two_layers(arena);
    MerError  error = {0};
    (void)state;
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    graph->ops[0].dims[MER_DIM_Y] = 4;
    assert_int_equal(mer_graph_check(graph, &error), MER_INVALID);
    mer_test_contains(error.message, "operator \"first\" has stale counts");
    mer_arena_free(arena);
}

static void test_equal_warnings_are_kept_once(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = mer_graph_new("toy", arena);
    (void)state;
    for (int i = 0; i < 5; i++)
        mer_graph_warn(graph, "odd %d", i % 2);
    assert_int_equal(graph->warning_count, 2);
    for (int i = 0; i < 1000; i++)
        mer_graph_warn(graph, "many %d", i);
    assert_true(graph->warning_count < 300);
    assert_string_equal(graph->warnings[graph->warning_count - 1], "further warnings are left out");
    mer_arena_free(arena);
}

static void test_a_value_read_twice_has_one_consumer(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = mer_graph_new("toy", arena);
    (void)state;
    int x = add_value(graph, "x", MER_VALUE_INPUT, 2, 3);
    int y = add_value(graph, "y", MER_VALUE_ACTIVATION, 2, 3);
    add_op(graph, "square", MER_OP_ELEMENTWISE, x, x, y);
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    assert_int_equal(graph->values[x].consumer_count, 1);
    assert_int_equal(graph->ops[0].input_bytes, 24);
    mer_arena_free(arena);
}

/* A chain of a hundred thousand operators, written backwards. */
static void test_long_chains_are_sorted_without_recursion(void **state)
{
    enum { LENGTH = 100000 };
    MerArena *arena = mer_arena_new();
    MerGraph *graph = mer_graph_new("chain", arena);
    (void)state;
    add_value(graph, "v", MER_VALUE_INPUT, 2, 2);
    for (int i = 1; i <= LENGTH; i++)
        add_value(graph, "v", MER_VALUE_ACTIVATION, 2, 2);
    for (int i = LENGTH; i >= 1; i--)
        add_op(graph, "op", MER_OP_MOVE, i - 1, -1, i);
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    for (int i = 0; i < LENGTH; i++)
        assert_int_equal(graph->ops[i].outputs[0], i + 1);
    mer_arena_free(arena);
}

static void test_unknown_shapes_have_no_elements(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = two_layers(arena);
    (void)state;
    graph->values[4].rank = -1;
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    assert_int_equal(graph->values[4].elements, 0);
    assert_int_equal(graph->activation_bytes, 2 * 512);
    mer_arena_free(arena);
}

static void test_four_bit_values_round_up_to_bytes(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = two_layers(arena);
    (void)state;
    graph->values[4].type = MER_TYPE_INT4;
    graph->values[4].dims[0] = 3;
    graph->values[4].dims[1] = 3;
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    assert_int_equal(graph->values[4].bytes, 5);
    mer_arena_free(arena);
}

static void test_edges_are_from_makers_to_readers(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = two_layers(arena);
    int       count;
    (void)state;
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    int *edges = mer_graph_edges(graph, arena, &count);
    assert_int_equal(count, graph->op_count - 1); /* a chain */
    for (int e = 0; e < count; e++) {
        assert_int_equal(edges[2 * e], e);
        assert_int_equal(edges[2 * e + 1], e + 1);
    }
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finish_sorts_and_counts),
        cmocka_unit_test(test_finish_twice_changes_nothing),
        cmocka_unit_test(test_operators_can_be_added_after_finish),
        cmocka_unit_test(test_hash_sees_content_and_not_the_name),
        cmocka_unit_test(test_cycles_name_their_operators),
        cmocka_unit_test(test_two_producers_are_refused),
        cmocka_unit_test(test_values_that_nothing_makes_are_refused),
        cmocka_unit_test(test_extents_strides_and_pads_out_of_range_are_refused),
        cmocka_unit_test(test_sizes_that_overflow_are_refused),
        cmocka_unit_test(test_check_finds_stale_counts),
        cmocka_unit_test(test_equal_warnings_are_kept_once),
        cmocka_unit_test(test_a_value_read_twice_has_one_consumer),
        cmocka_unit_test(test_long_chains_are_sorted_without_recursion),
        cmocka_unit_test(test_unknown_shapes_have_no_elements),
        cmocka_unit_test(test_four_bit_values_round_up_to_bytes),
        cmocka_unit_test(test_edges_are_from_makers_to_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
