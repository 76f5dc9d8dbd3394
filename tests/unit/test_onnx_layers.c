/* What nodes of an ONNX model become: kinds and loop extents, folded shape arithmetic, inlined
 * subgraphs and functions, bound dimensions, parameters. MACs are worked out by hand. */
#include "support.h"

#include "onnx_builder.h"

static MerGraph *import(OnnxFixture *fixture, const char *dims)
{
    MerGraph *graph = onnx_import(fixture->b, dims, &fixture->error);
    if (graph == NULL)
        fail_msg("%s", fixture->error.message);
    return graph;
}

/* "conv N1 K64 ..." of the dims that are not 1, with strides, repeat. */
static const char *loops(const MerOp *op, MerArena *arena)
{
    char text[300];
    snprintf(text, sizeof text, "%s", mer_op_kind_name(op->kind));
    for (int dim = 0; dim < MER_DIM_COUNT; dim++) {
        size_t used = strlen(text);
        if (op->dims[dim] != 1)
            snprintf(text + used, sizeof text - used, " %c%lld", MER_DIM_LETTERS[dim],
                     (long long)op->dims[dim]);
    }
    if (op->repeat != 1)
        snprintf(text + strlen(text), sizeof text - strlen(text), " x%lld", (long long)op->repeat);
    return mer_arena_text(arena, text);
}

static const MerOp *find_op(const MerGraph *graph, const char *name)
{
    for (int i = 0; i < graph->op_count; i++) {
        if (strcmp(graph->ops[i].name, name) == 0)
            return &graph->ops[i];
    }
    fail_msg("no operator %s", name);
    return NULL;
}

static bool has_warning(const MerGraph *graph, const char *part)
{
    for (int i = 0; i < graph->warning_count; i++) {
        if (strstr(graph->warnings[i], part) != NULL)
            return true;
    }
    return false;
}

/* One node "out" with inputs x (of the network) and w (a weight). */
static const MerOp *one_node(OnnxFixture *fixture, const char *op, const char *x, const char *w,
                             const char *attributes)
{
    onnx_input(fixture->b, "x", x);
    if (w != NULL)
        onnx_weight(fixture->b, "w", w);
    onnx_node(fixture->b, op, w != NULL ? "x w" : "x", "out", attributes);
    onnx_output(fixture->b, "out", NULL);
    MerGraph *graph = import(fixture, NULL);
    assert_int_equal(graph->op_count, 1);
    return &graph->ops[0];
}

static void test_conv_has_loops_of_the_output_and_keeps_stride_and_pads(void **state)
{
    OnnxFixture *f = *state;
    const MerOp *op = one_node(f, "Conv", "2 3 224 224", "64 3 7 7",
                               "strides=[2,2] pads=[3,2,3,4] dilations=[1,1]");
    assert_string_equal(loops(op, f->arena), "conv N2 K64 C3 Y112 X112 R7 S7");
    assert_int_equal(op->stride[0], 2);
    assert_int_equal(op->pad[0], 3);
    assert_int_equal(op->pad[1], 2);
    assert_int_equal(op->pad[2], 3);
    assert_int_equal(op->pad[3], 4);
    assert_int_equal(op->input_rows, 224);
    assert_int_equal(op->macs, 2LL * 64 * 3 * 112 * 112 * 49);
    assert_int_equal(op->parameters, 64 * 3 * 49);
}

static void test_one_dimensional_conv_runs_along_x(void **state)
{
    OnnxFixture *f = *state;
    const MerOp *op = one_node(f, "Conv", "1 4 100", "8 4 5", "strides=[3] pads=[1,2]");
    assert_string_equal(loops(op, f->arena), "conv K8 C4 X33 S5");
    assert_int_equal(op->stride[1], 3);
    assert_int_equal(op->stride[0], 1);
    assert_int_equal(op->pad[1], 1);
    assert_int_equal(op->pad[3], 2);
    assert_int_equal(op->input_rows, 1);
    assert_int_equal(op->input_columns, 100);
}

static void test_group_equal_to_channels_is_depthwise(void **state)
{
    OnnxFixture *f = *state;
    const MerOp *op = one_node(f, "Conv", "1 32 10 10", "32 1 3 3", "group=32");
    assert_string_equal(loops(op, f->arena), "depthwise C32 Y8 X8 R3 S3");
}

static void test_depth_multiplier_is_a_grouped_conv(void **state)
{
    OnnxFixture *f = *state;
    const MerOp *op = one_node(f, "Conv", "1 32 10 10", "64 1 3 3", "group=32");
    assert_string_equal(loops(op, f->arena), "conv K2 Y8 X8 R3 S3 G32");
}

static void test_grouped_conv_counts_channels_within_a_group(void **state)
{
    OnnxFixture *f = *state;
    const MerOp *op = one_node(f, "Conv", "1 32 10 10", "64 8 1 1", "group=4");
    assert_string_equal(loops(op, f->arena), "conv K16 C8 Y10 X10 G4");
}

static void test_three_dimensional_conv_keeps_its_macs(void **state)
{
    OnnxFixture *f = *state;
    const MerOp *op = one_node(f, "Conv", "1 3 8 16 16", "4 3 3 5 5", "");
    assert_int_equal(op->macs, 4LL * 6 * 12 * 12 * 3 * 3 * 5 * 5);
    assert_string_equal(loops(op, f->arena), "conv N6 K4 C9 Y12 X12 R5 S5");
}

static void test_transposed_conv_loops_over_the_input(void **state)
{
    OnnxFixture *f = *state;
    const MerOp *op = one_node(f, "ConvTranspose", "1 8 5 6", "8 4 3 3", "strides=[2,2]");
    assert_string_equal(loops(op, f->arena), "transposed K4 C8 Y5 X6 R3 S3");
    assert_int_equal(op->macs, 4LL * 8 * 5 * 6 * 9);
}

static void test_matmul_with_a_weight_multiplies_leading_axes_into_rows(void **state)
{
    OnnxFixture *f = *state;
    const MerOp *op = one_node(f, "MatMul", "2 12 128 64", "64 256", "");
    assert_string_equal(loops(op, f->arena), "gemm K256 C64 Y3072");
}

static void test_matmul_of_activations_is_batched(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "2 12 128 64");
    onnx_input(f->b, "y", "12 64 128");
    onnx_node(f->b, "MatMul", "x y", "out", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_string_equal(loops(&graph->ops[0], f->arena), "batched-gemm K128 C64 Y128 G24");
}

static void test_weight_on_the_left_is_shared_over_the_batch(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "5 64 100");
    onnx_weight(f->b, "w", "32 64");
    onnx_node(f->b, "MatMul", "w x", "out", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_string_equal(loops(&graph->ops[0], f->arena), "gemm K32 C64 Y500");
}

static void test_gemm_transposed(void **state)
{
    OnnxFixture *f = *state;
    const MerOp *op = one_node(f, "Gemm", "64 8", "10 64", "transA=1 transB=1");
    assert_string_equal(loops(op, f->arena), "gemm K10 C64 Y8");
}

static void test_einsum_of_attention_is_a_batched_product(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "q", "2 7 4 16");
    onnx_input(f->b, "k", "2 9 4 16");
    onnx_node(f->b, "Einsum", "q k", "out", "equation=bqhd,bkhd->bhqk");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_string_equal(loops(&graph->ops[0], f->arena), "batched-gemm K9 C16 Y7 G8");
    assert_string_equal(onnx_shape_text(graph, "out", f->arena), "2 4 7 9");
}

static void test_einsum_of_three_factors_is_two_products(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "3 4");
    onnx_input(f->b, "y", "4 5");
    onnx_input(f->b, "z", "5 6");
    onnx_node(f->b, "Einsum", "x y z", "out", "equation=ij,jk,kl->il");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->op_count, 2);
    assert_int_equal(graph->macs, 3 * 4 * 5 + 3 * 5 * 6);
}

static void test_lstm_is_an_input_product_and_a_product_per_step(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "35 16 100");
    onnx_weight(f->b, "w", "1 800 100");
    onnx_weight(f->b, "r", "1 800 200");
    onnx_weight(f->b, "bias", "1 1600");
    onnx_node(f->b, "LSTM", "x w r bias", "y h c", "hidden_size=200")->name = "rnn";
    onnx_output(f->b, "y", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->op_count, 3);
    assert_string_equal(loops(find_op(graph, "rnn/input"), f->arena), "gemm K800 C100 Y560");
    assert_string_equal(loops(find_op(graph, "rnn/state"), f->arena), "gemm K800 C200 Y16 x35");
    assert_int_equal(graph->macs, 35LL * 16 * 800 * 300);
    assert_int_equal(graph->parameters, 800 * 100 + 800 * 200 + 1600);
}

static void test_bidirectional_gru_has_two_of_each_and_counts_weights_once(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "5 2 4");
    onnx_weight(f->b, "w", "2 9 4");
    onnx_weight(f->b, "r", "2 9 3");
    onnx_node(f->b, "GRU", "x w r", "y", "hidden_size=3 direction=bidirectional");
    onnx_output(f->b, "y", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->op_count, 5);
    assert_int_equal(graph->macs, 2LL * 5 * 2 * 9 * (4 + 3));
    assert_int_equal(graph->parameters, 2 * 9 * 4 + 2 * 9 * 3);
}

static void test_microsoft_attention_is_three_products(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "2 10 24");
    onnx_weight(f->b, "w", "24 72");
    onnx_weight(f->b, "bias", "72");
    Onnx__NodeProto *node = onnx_node(f->b, "Attention", "x w bias", "y", "num_heads=3");
    node->domain = "com.microsoft";
    onnx_output(f->b, "y", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->macs, 2LL * 10 * 24 * 72 + 2LL * 3 * 10 * 10 * 8 * 2);
    assert_string_equal(onnx_shape_text(graph, "y", f->arena), "2 10 24");
}

/* x -> Shape -> Gather -> Mul -> Unsqueeze -> Concat -> Reshape: only Reshape is left. */
static void test_shape_arithmetic_folds_away(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "2 3 4 5");
    onnx_ints(f->b, "two", "2")->n_dims = 0;
    onnx_ints(f->b, "axis", "0");
    onnx_ints(f->b, "rest", "-1");
    onnx_node(f->b, "Shape", "x", "shape", "");
    onnx_node(f->b, "Gather", "shape two", "size", "");
    onnx_node(f->b, "Mul", "size two", "double", "");
    onnx_node(f->b, "Cast", "double", "real", "to=1");
    onnx_node(f->b, "Floor", "real", "floor", "");
    onnx_node(f->b, "Cast", "floor", "whole", "to=7");
    onnx_node(f->b, "Unsqueeze", "whole axis", "list", "");
    onnx_node(f->b, "Concat", "list rest", "target", "axis=0");
    onnx_node(f->b, "Reshape", "x target", "out", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->op_count, 1);
    assert_string_equal(onnx_shape_text(graph, "out", f->arena), "8 15");
}

static void test_constants_fold_through_logic_ranges_and_reductions(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "24");
    onnx_ints(f->b, "zero", "0")->n_dims = 0;
    onnx_ints(f->b, "four", "4")->n_dims = 0;
    onnx_ints(f->b, "one", "1")->n_dims = 0;
    onnx_ints(f->b, "ones", "1");
    onnx_ints(f->b, "minus", "-1");
    onnx_node(f->b, "Range", "zero four one", "range", "");   /* 0 1 2 3 */
    onnx_node(f->b, "Greater", "range one", "mask", "");      /* 0 0 1 1 */
    onnx_node(f->b, "Where", "mask range one", "picked", ""); /* 1 1 2 3 */
    onnx_node(f->b, "ReduceProd", "picked", "six", "");       /* 6 */
    onnx_node(f->b, "NonZero", "mask", "where", "");          /* 2 3 */
    onnx_node(f->b, "Squeeze", "where zeros", "indices", "");
    onnx_ints(f->b, "zeros", "0");
    onnx_node(f->b, "Slice", "indices zeros ones", "two", "");      /* 2 */
    onnx_node(f->b, "Concat", "six two minus", "target", "axis=0"); /* 6 2 -1 */
    onnx_node(f->b, "Reshape", "x target", "out", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->op_count, 1);
    assert_string_equal(onnx_shape_text(graph, "out", f->arena), "6 2 2");
}

static void test_unknown_sizes_pass_through_and_products_of_them_are_not_counted(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    onnx_weight(f->b, "w", "2 5");
    onnx_ints(f->b, "perm", "-1 2");
    onnx_node(f->b, "NonZero", "x", "indices", "");
    onnx_node(f->b, "Transpose", "indices", "rows", "");
    onnx_node(f->b, "Cast", "rows", "real", "to=1");
    onnx_node(f->b, "MatMul", "real w", "out", "")->name = "product";
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_string_equal(onnx_shape_text(graph, "out", f->arena), "?");
    assert_int_equal(graph->macs, 0);
    assert_true(has_warning(graph, "the first is \"product\""));
}

static void test_unknown_operators_are_named_once_with_their_count(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    onnx_node(f->b, "Foo", "x", "a", "")->domain = "com.acme";
    onnx_node(f->b, "Foo", "a", "b", "")->domain = "com.acme";
    onnx_node(f->b, "Relu", "b", "out", "");
    onnx_value_info(f->b, "b", "7 8");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->warning_count, 1);
    assert_string_equal(graph->warnings[0],
                        "2 operators of unknown type Foo (com.acme) treated as data movement");
    assert_string_equal(onnx_shape_text(graph, "out", f->arena), "7 8");
    assert_int_equal(graph->ops[0].kind, MER_OP_MOVE);
}

static void test_inference_wins_over_a_wrong_declared_shape(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    onnx_node(f->b, "Relu", "x", "out", "");
    onnx_output(f->b, "out", "4 7");
    const MerGraph *graph = import(f, NULL);
    assert_string_equal(onnx_shape_text(graph, "out", f->arena), "4 6");
    assert_true(has_warning(graph, "\"out\": [4, 7] declared, [4, 6] inferred"));
}

static void test_identity_and_dropout_are_other_names(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    onnx_weight(f->b, "w", "6 5");
    onnx_node(f->b, "Identity", "w", "v", "");
    onnx_node(f->b, "MatMul", "x w", "a", "");
    onnx_node(f->b, "Dropout", "a", "b mask", "");
    onnx_node(f->b, "MatMul", "x v", "c", "");
    onnx_node(f->b, "Add", "b c", "out", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->op_count, 3);
    assert_int_equal(graph->parameters, 30);
    assert_int_equal(graph->layer_count, 1);
    assert_int_equal(graph->layers[0].count, 2);
}

static void test_weights_in_constant_nodes_count_as_parameters(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    Onnx__NodeProto *node = onnx_node(f->b, "Constant", "", "w", "value=0");
    node->attribute[0]->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
    node->attribute[0]->t = onnx_tensor(f->arena, "t", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
    node->attribute[0]->t->n_dims = 2;
    node->attribute[0]->t->dims[0] = 6;
    node->attribute[0]->t->dims[1] = 7;
    onnx_node(f->b, "MatMul", "x w", "out", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->op_count, 1);
    assert_int_equal(graph->parameters, 42);
}

static void test_constant_nodes_of_numbers_and_lists(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "2 12");
    onnx_node(f->b, "Constant", "", "a", "value_ints=[3,-1]");
    onnx_node(f->b, "Constant", "", "b", "value_int=2");
    onnx_node(f->b, "Constant", "", "c", "value_floats=[0.5]");
    onnx_node(f->b, "Reshape", "x a", "y", "");
    onnx_node(f->b, "Gather", "y b", "z", "");
    onnx_node(f->b, "Mul", "z c", "out", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_string_equal(onnx_shape_text(graph, "out", f->arena), "8");
    assert_int_equal(graph->op_count, 3);
}

static void test_slices_and_transposes_of_weights_become_weights(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "1 40");
    onnx_weight(f->b, "w", "50 40");
    onnx_node(f->b, "Transpose", "w", "v", "");
    onnx_node(f->b, "MatMul", "x v", "out", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->op_count, 1);
    assert_int_equal(graph->ops[0].parameters, 2000);
    assert_int_equal(graph->ops[0].weight_bytes, 8000);
}

static void test_a_weight_used_in_two_forms_counts_once(void **state)
{
    OnnxFixture *f = *state;
    onnx_input_of_type(f->b, "ids", ONNX__TENSOR_PROTO__DATA_TYPE__INT64, "7");
    onnx_weight(f->b, "table", "50 40");
    onnx_node(f->b, "Gather", "table ids", "x", "");
    onnx_node(f->b, "Transpose", "table", "v", "");
    onnx_node(f->b, "MatMul", "x v", "out", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->op_count, 3);
    assert_int_equal(graph->parameters, 2000);
    assert_string_equal(loops(&graph->ops[2], f->arena), "gemm K50 C40 Y7");
}

static void test_quantised_weights_stay_small_and_count_as_parameters(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "1 3 8 8");
    onnx_weight_of_type(f->b, "w", ONNX__TENSOR_PROTO__DATA_TYPE__INT8, "16 3 3 3");
    onnx_weight(f->b, "scale", "16");
    onnx_node(f->b, "DequantizeLinear", "w scale", "v", "axis=0");
    onnx_node(f->b, "Conv", "x v", "out", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->op_count, 1);
    assert_int_equal(graph->parameters, 432);
    assert_int_equal(graph->ops[0].weight_bytes, 432);
    assert_int_equal(graph->values[graph->ops[0].outputs[0]].type, MER_TYPE_FLOAT32);
}

static void test_initializers_listed_as_inputs_are_weights(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    onnx_input(f->b, "w", "6 7");
    onnx_weight(f->b, "w", "6 7");
    onnx_node(f->b, "MatMul", "x w", "out", "");
    onnx_output(f->b, "out", NULL);
    assert_int_equal(import(f, NULL)->parameters, 42);
}

static void test_external_data_is_never_opened(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    Onnx__TensorProto *w = onnx_weight(f->b, "w", "6 7");
    w->has_data_location = 1;
    w->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    onnx_node(f->b, "MatMul", "x w", "out", "");
    onnx_output(f->b, "out", NULL);
    assert_int_equal(import(f, NULL)->parameters, 42);
}

static void test_nodes_out_of_order_are_sorted(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    onnx_node(f->b, "Sigmoid", "a", "out", "");
    onnx_node(f->b, "Relu", "x", "a", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_string_equal(graph->ops[0].source, "Relu");
    assert_string_equal(onnx_shape_text(graph, "out", f->arena), "4 6");
}

static void add_branch(OnnxFixture *f, Onnx__NodeProto *node, const char *name, const char *op)
{
    Onnx__GraphProto *graph = onnx_subgraph(f->b, node, name);
    const char       *output = mer_arena_format(f->arena, "%s_out", name);
    graph->node[graph->n_node++] = onnx_node_new(f->arena, op, "x", output, "");
    graph->output[graph->n_output++] = onnx_info(f->arena, output, 1, NULL);
}

static void test_if_takes_the_branch_of_a_constant_condition(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    onnx_ints(f->b, "zero", "0")->n_dims = 0;
    onnx_node(f->b, "Cast", "zero", "no", "to=9");
    Onnx__NodeProto *node = onnx_node(f->b, "If", "no", "out", "");
    add_branch(f, node, "then_branch", "Relu");
    add_branch(f, node, "else_branch", "Tanh");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->op_count, 1);
    assert_string_equal(graph->ops[0].source, "Tanh");
    assert_int_equal(graph->warning_count, 0);
    assert_true(graph->values[graph->ops[0].outputs[0]].is_output);
}

static void test_if_takes_the_first_branch_with_a_warning_otherwise(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    onnx_input_of_type(f->b, "flag", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, "");
    Onnx__NodeProto *node = onnx_node(f->b, "If", "flag", "out", "");
    add_branch(f, node, "then_branch", "Relu");
    add_branch(f, node, "else_branch", "Tanh");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_string_equal(graph->ops[0].source, "Relu");
    assert_true(has_warning(graph, "the then-branch is taken"));
}

/* for i in 0..9: h = h * w; and h of each step is collected. */
static void add_loop(OnnxFixture *f, const char *trips)
{
    onnx_input(f->b, "x", "4 6");
    onnx_weight(f->b, "w", "6 6");
    Onnx__NodeProto  *node = onnx_node(f->b, "Loop", trips, "last all", "");
    Onnx__GraphProto *body = onnx_subgraph(f->b, node, "body");
    body->input[body->n_input++] = onnx_info(f->arena, "i", 7, "");
    body->input[body->n_input++] = onnx_info(f->arena, "go", 9, "");
    body->input[body->n_input++] = onnx_info(f->arena, "h", 1, "4 6");
    body->node[body->n_node++] = onnx_node_new(f->arena, "MatMul", "h w", "next", "");
    body->node[body->n_node++] = onnx_node_new(f->arena, "Identity", "go", "still", "");
    body->output[body->n_output++] = onnx_info(f->arena, "still", 9, NULL);
    body->output[body->n_output++] = onnx_info(f->arena, "next", 1, NULL);
    body->output[body->n_output++] = onnx_info(f->arena, "next", 1, NULL);
    onnx_output(f->b, "last", NULL);
    onnx_output(f->b, "all", NULL);
    node->name = "loop";
}

static void test_loop_repeats_its_body(void **state)
{
    OnnxFixture *f = *state;
    onnx_ints(f->b, "ten", "10")->n_dims = 0;
    add_loop(f, "ten - x");
    const MerGraph *graph = import(f, NULL);
    assert_string_equal(loops(&graph->ops[0], f->arena), "gemm K6 C6 Y4 x10");
    assert_int_equal(graph->macs, 10 * 4 * 36);
    assert_string_equal(onnx_shape_text(graph, "loop/all", f->arena), "10 4 6");
}

static void test_loop_without_a_constant_count_runs_once_with_a_warning(void **state)
{
    OnnxFixture *f = *state;
    onnx_input_of_type(f->b, "n", ONNX__TENSOR_PROTO__DATA_TYPE__INT64, "");
    add_loop(f, "n - x");
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->macs, 4 * 36);
    assert_true(has_warning(graph, "\"loop\" (Loop): the trip count is not constant"));
}

static void test_scan_runs_along_its_axis(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "h", "4 6");
    onnx_input(f->b, "xs", "11 4 6");
    onnx_weight(f->b, "w", "6 6");
    Onnx__NodeProto  *node = onnx_node(f->b, "Scan", "h xs", "last all", "num_scan_inputs=1");
    Onnx__GraphProto *body = onnx_subgraph(f->b, node, "body");
    body->input[body->n_input++] = onnx_info(f->arena, "state", 1, NULL);
    body->input[body->n_input++] = onnx_info(f->arena, "step", 1, NULL);
    body->node[body->n_node++] = onnx_node_new(f->arena, "MatMul", "state w", "product", "");
    body->node[body->n_node++] = onnx_node_new(f->arena, "Add", "product step", "sum", "");
    body->output[body->n_output++] = onnx_info(f->arena, "sum", 1, NULL);
    body->output[body->n_output++] = onnx_info(f->arena, "sum", 1, NULL);
    node->name = "scan";
    onnx_output(f->b, "last", NULL);
    onnx_output(f->b, "all", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->macs, 11 * 4 * 36);
    assert_string_equal(onnx_shape_text(graph, "scan/all", f->arena), "11 4 6");
}

static Onnx__FunctionProto *add_function(OnnxFixture *f, const char *name)
{
    Onnx__FunctionProto *function = MER_NEW(f->arena, Onnx__FunctionProto);
    onnx__function_proto__init(function);
    function->name = mer_arena_text(f->arena, name);
    function->domain = "ours";
    function->input = onnx_items(f->arena);
    function->output = onnx_items(f->arena);
    function->node = onnx_items(f->arena);
    if (f->b->model.functions == NULL)
        f->b->model.functions = onnx_items(f->arena);
    f->b->model.functions[f->b->model.n_functions++] = function;
    return function;
}

static void test_functions_are_inlined_with_the_attributes_of_the_call(void **state)
{
    OnnxFixture         *f = *state;
    Onnx__FunctionProto *function = add_function(f, "Block");
    function->input[function->n_input++] = "a";
    function->output[function->n_output++] = "b";
    Onnx__NodeProto *inner = onnx_node_new(f->arena, "Transpose", "a", "t", "perm=[0]");
    inner->attribute[0]->ref_attr_name = "order";
    function->node[function->n_node++] = inner;
    function->node[function->n_node++] = onnx_node_new(f->arena, "Relu", "t", "b", "");
    onnx_input(f->b, "x", "2 3 4");
    onnx_node(f->b, "Block", "x", "y", "order=[2,0,1]")->domain = "ours";
    onnx_node(f->b, "Block", "y", "out", "order=[2,0,1]")->domain = "ours";
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, NULL);
    assert_int_equal(graph->op_count, 4);
    assert_string_equal(graph->ops[1].name, "y/b");
    assert_string_equal(onnx_shape_text(graph, "y/b", f->arena), "4 2 3");
    assert_string_equal(onnx_shape_text(graph, "out/b", f->arena), "3 4 2");
}

static void test_dims_are_bound_by_name_and_a_leading_one_becomes_1(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "N 3 H W");
    onnx_input(f->b, "s", "2 N 4");
    onnx_node(f->b, "Relu", "x", "out", "");
    onnx_node(f->b, "Relu", "s", "second", "");
    onnx_output(f->b, "out", NULL);
    onnx_output(f->b, "second", NULL);
    const MerGraph *graph = import(f, "H=8 W=9");
    assert_string_equal(onnx_shape_text(graph, "out", f->arena), "1 3 8 9");
    assert_string_equal(onnx_shape_text(graph, "second", f->arena), "2 1 4");
    assert_true(has_warning(graph, "dimension N is not bound: 1 is used (--dim N=<size>)"));
    graph = import(f, "H=8 W=9 N=5");
    assert_string_equal(onnx_shape_text(graph, "out", f->arena), "5 3 8 9");
    assert_int_equal(graph->warning_count, 0);
}

static void test_nameless_dims_are_bound_by_input_and_axis(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "? 3 -1 ?");
    onnx_node(f->b, "Relu", "x", "out", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = import(f, "x_dim2=8 x_dim3=9");
    assert_string_equal(onnx_shape_text(graph, "out", f->arena), "1 3 8 9");
}

static void test_a_size_that_depends_on_data_is_bound_by_its_declared_name(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    onnx_node(f->b, "NonZero", "x", "out", "");
    onnx_output(f->b, "out", "2 found");
    assert_string_equal(onnx_shape_text(import(f, NULL), "out", f->arena), "?");
    assert_string_equal(onnx_shape_text(import(f, "found=5"), "out", f->arena), "2 5");
}

static void test_a_size_named_as_a_sum_follows_from_its_terms(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "batch length");
    onnx_input(f->b, "mask", "batch past+length");
    onnx_node(f->b, "Relu", "mask", "out", "");
    onnx_output(f->b, "out", NULL);
    assert_string_equal(onnx_shape_text(import(f, "length=5 past+length=7"), "out", f->arena),
                        "1 7");
    f->b->graph.input[1]->type->tensor_type->shape->dim[1]->dim_param = "length + 3";
    assert_string_equal(onnx_shape_text(import(f, "length=5"), "out", f->arena), "1 8");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, onnx_set_up, onnx_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_conv_has_loops_of_the_output_and_keeps_stride_and_pads),
        TEST(test_one_dimensional_conv_runs_along_x),
        TEST(test_group_equal_to_channels_is_depthwise),
        TEST(test_depth_multiplier_is_a_grouped_conv),
        TEST(test_grouped_conv_counts_channels_within_a_group),
        TEST(test_three_dimensional_conv_keeps_its_macs),
        TEST(test_transposed_conv_loops_over_the_input),
        TEST(test_matmul_with_a_weight_multiplies_leading_axes_into_rows),
        TEST(test_matmul_of_activations_is_batched),
        TEST(test_weight_on_the_left_is_shared_over_the_batch),
        TEST(test_gemm_transposed),
        TEST(test_einsum_of_attention_is_a_batched_product),
        TEST(test_einsum_of_three_factors_is_two_products),
        TEST(test_lstm_is_an_input_product_and_a_product_per_step),
        TEST(test_bidirectional_gru_has_two_of_each_and_counts_weights_once),
        TEST(test_microsoft_attention_is_three_products),
        TEST(test_shape_arithmetic_folds_away),
        TEST(test_constants_fold_through_logic_ranges_and_reductions),
        TEST(test_unknown_sizes_pass_through_and_products_of_them_are_not_counted),
        TEST(test_unknown_operators_are_named_once_with_their_count),
        TEST(test_inference_wins_over_a_wrong_declared_shape),
        TEST(test_identity_and_dropout_are_other_names),
        TEST(test_weights_in_constant_nodes_count_as_parameters),
        TEST(test_constant_nodes_of_numbers_and_lists),
        TEST(test_slices_and_transposes_of_weights_become_weights),
        TEST(test_a_weight_used_in_two_forms_counts_once),
        TEST(test_quantised_weights_stay_small_and_count_as_parameters),
        TEST(test_initializers_listed_as_inputs_are_weights),
        TEST(test_external_data_is_never_opened),
        TEST(test_nodes_out_of_order_are_sorted),
        TEST(test_if_takes_the_branch_of_a_constant_condition),
        TEST(test_if_takes_the_first_branch_with_a_warning_otherwise),
        TEST(test_loop_repeats_its_body),
        TEST(test_loop_without_a_constant_count_runs_once_with_a_warning),
        TEST(test_scan_runs_along_its_axis),
        TEST(test_functions_are_inlined_with_the_attributes_of_the_call),
        TEST(test_dims_are_bound_by_name_and_a_leading_one_becomes_1),
        TEST(test_nameless_dims_are_bound_by_input_and_axis),
        TEST(test_a_size_that_depends_on_data_is_bound_by_its_declared_name),
        TEST(test_a_size_named_as_a_sum_follows_from_its_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
