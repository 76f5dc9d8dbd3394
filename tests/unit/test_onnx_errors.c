/* Broken ONNX models: each is refused with one line that names the file, the node and what is
 * wrong. Nothing here may crash, hang or eat memory. */
#include "support.h"

#include "onnx_builder.h"

static void expect_line(const MerError *error, const char *part)
{
    assert_int_equal(error->status, MER_INVALID);
    assert_true(strncmp(error->message, "net.onnx", 8) == 0);
    assert_null(strchr(error->message, '\n'));
    mer_test_contains(error->message, part);
}

static void expect_refusal(OnnxFixture *f, const char *dims, const char *part)
{
    assert_null(onnx_import(f->b, dims, &f->error));
    expect_line(&f->error, part);
}

static void expect_refused_bytes(OnnxFixture *f, const void *data, size_t size, const char *part)
{
    MerImportFile file = {.path = "net.onnx", .name = "net", .data = data, .size = size};
    MerGraph     *graph = NULL;
    assert_int_not_equal(mer_importer_onnx.read(&file, NULL, f->arena, &graph, &f->error), MER_OK);
    expect_line(&f->error, part);
}

/* One node "n" that reads x and the weights, refused with this part of a message. */
typedef struct Case {
    const char *op, *x, *weights, *attributes, *part;
} Case;

static const Case cases[] = {
    {"Conv", "1 3 8 8", "4 3 9 9", "", "node \"n\" (Conv): the kernel covers 9, the padded input"},
    {"Conv", "1 3 8 8", "4 3 3 3", "group=0", "group is 0, expected at least 1"},
    {"Conv", "1 3 8 8", "4 3 3 3", "group=2", "group is 2, which does not divide 3 channels"},
    {"Conv", "1 3 8 8", "4 3 3 3", "strides=[0,1]", "strides is 0, expected 1 to 2147483647"},
    {"Conv", "1 3 8 8", "4 3 3 3", "strides=[2]", "strides has 1 numbers, expected 2"},
    {"Conv", "1 3 8 8", "4 3 3 3", "dilations=[-1,1]", "dilations is -1"},
    {"Conv", "1 3 8 8", "4 3 3 3", "pads=[-1,0,0,0]", "pads is -1, expected 0"},
    {"Conv", "1 3 8 8", "4 3 3 3", "strides=2", "attribute strides is an integer, expected a list"},
    {"Conv", "1 3 8 8", "4 3 3 3", "kernel_shape=[5,5]",
     "kernel_shape is 5 on axis 2, the weights"},
    {"Conv", "1 3 8 8", "4 5 3 3", "", "the input has 3 channels, the weights expect 5"},
    {"Conv", "1 3 8 8", "4 3 3 3", "auto_pad=SAME", "auto_pad is SAME, expected NOTSET"},
    {"Conv", "1 3 8 8", "4 3 3", "", "the weights have 3 axes, expected 4"},
    {"Conv", "3 8", "4 3 3 3", "", "the input has 2 axes, expected at least 3"},
    {"Conv", "1 3 8 8", NULL, "", "input 1 is missing, expected at least 2"},
    {"Conv", "1 3 8 8", "4 3 0 0", "",
     "the kernel has size 0 on axis 2 of the weights [4, 3, 0, 0]"},
    {"Conv", "1 3 8 8", "0 3 3 3", "",
     "node \"n\" (Conv): the weights \"w\" are [0, 3, 3, 3], expected no size of 0"},
    {"ConvTranspose", "1 4 5 5", "4 0 3 3", "",
     "node \"n\" (ConvTranspose): the weights \"w\" are [4, 0, 3, 3]"},
    {"Gemm", "2 3", "3 0", "", "node \"n\" (Gemm): the weights \"w\" are [3, 0]"},
    {"MatMul", "2 3 4", "4 0", "", "node \"n\" (MatMul): the weights \"w\" are [4, 0]"},
    {"Conv", "1 1 2147483647 2147483", "4096 1 1 1", "",
     "the size of output 0, [1, 4096, 2147483647"},
    {"ConvTranspose", "1 4 5 5", "4 2 3 3", "pads=[4,4,4,4]", "the pads leave nothing"},
    {"MaxPool", "1 3 8 8", NULL, "", "attribute kernel_shape is missing"},
    {"MaxPool", "1 3 8 8", NULL, "kernel_shape=[9,9]", "the kernel covers 9"},
    {"Gemm", "2 3 4", "4 5", "", "input 0 has 3 axes, expected 2"},
    {"MatMul", "2 3", "4 5", "", "the inner sizes of [2, 3] and [4, 5] differ"},
    {"Einsum", "2 3", "3 5", "equation=ij,jk,kl->il", "the equation \"ij,jk,kl->il\" does not fit"},
    {"Einsum", "2 3", "3 5", "equation=i!,jk->ik", "does not fit 2 inputs"},
    {"Einsum", "2 3", "4 5", "equation=ij,jk->ik", "one label of the equation stands for 3 and 4"},
    {"Add", "2 3", "4", "", "the shapes [2, 3] and [4] do not fit together"},
    {"Concat", "2 3", "2 3", "", "attribute axis is missing"},
    {"Concat", "2 3", "2 3", "axis=2", "axis is 2, expected -2 to 1"},
    {"Concat", "2 3", "4 3", "axis=1", "cannot join sizes 2 and 4 of axis 0"},
    {"Cast", "2 3", NULL, "", "attribute to is missing"},
    {"Transpose", "2 3", NULL, "perm=[0,0]", "perm names axis 0 twice"},
    {"Transpose", "2 3", NULL, "perm=[0]", "perm has 1 axes, the input has 2"},
    {"DepthToSpace", "1 3 2 2", NULL, "blocksize=2", "expected a multiple of 4"},
    {"DepthToSpace", "1 3 2 2", NULL, "blocksize=0", "blocksize is 0"},
    {"LSTM", "5 2 4", "1 12 4", "hidden_size=3", "input 2 is missing"},
    {"TopK", "5", NULL, "k=9", "k is 9, expected at most 5"},
    {"BatchNormalization", "1 3 4 4", "4", "", "input 2 is missing"},
};

static void test_wrong_nodes_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OnnxFixture f = {.arena = mer_arena_new()};
        f.b = onnx_builder(11, f.arena);
        onnx_input(f.b, "x", cases[i].x);
        if (cases[i].weights != NULL)
            onnx_weight(f.b, "w", cases[i].weights);
        onnx_node(f.b, cases[i].op, cases[i].weights != NULL ? "x w" : "x", "out",
                  cases[i].attributes)
            ->name = "n";
        onnx_output(f.b, "out", NULL);
        expect_refusal(&f, NULL, cases[i].part);
        mer_arena_free(f.arena);
    }
}

static void relu(OnnxFixture *f, const char *dims)
{
    onnx_input(f->b, "x", dims);
    onnx_node(f->b, "Relu", "x", "out", "");
    onnx_output(f->b, "out", NULL);
}

static void test_every_truncation_is_refused(void **state)
{
    OnnxFixture *f = *state;
    relu(f, "4 6");
    MerImportFile file = onnx_file(f->b);
    for (size_t size = 1; size < file.size; size++) {
        MerImportFile part = {.path = "net.onnx", .name = "net", .data = file.data, .size = size};
        MerGraph     *graph = NULL;
        MerError      error = {0};
        /* A cut between two fields leaves a smaller model, which need not be wrong. */
        if (mer_importer_onnx.read(&part, NULL, f->arena, &graph, &error) != MER_OK)
            expect_line(&error, "");
        else
            assert_true(size > file.size / 2);
    }
}

static void test_a_cut_file_is_reported_with_the_byte(void **state)
{
    OnnxFixture *f = *state;
    relu(f, "4 6");
    MerImportFile file = onnx_file(f->b);
    /* The first field is the version: two bytes; the graph starts after it. */
    expect_refused_bytes(f, file.data, 20,
                         "byte 2: field graph runs past the end of its ModelProto at byte 20");
}

static void test_garbage_is_refused(void **state)
{
    OnnxFixture *f = *state;
    expect_refused_bytes(f, "hello world, this is text", 25,
                         "byte 2: found 0x6c, expected a field");
    expect_refused_bytes(f, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11,
                         "byte 0: found 0xff");
    expect_refused_bytes(f, "\x08\x08", 2, "the model has no graph");
    MerImportFile text = {.path = "x", .name = "x", .data = "Layer,M,N,K\n", .size = 12};
    assert_false(mer_importer_onnx.probe(&text));
}

static void test_input_sizes_of_zero_below_and_above_are_refused(void **state)
{
    static const struct {
        const char *dims, *part;
    } wrong[] = {
        {"4 0", "input \"x\": dimension 1 is 0, expected 1 to 2147483647"},
        {"4 -5", "input \"x\": dimension 1 is -5, expected 1"},
        {"4 9223372036854775807", "dimension 1 is 9223372036854775807"},
        {"2147483647 2147483647 2147483647", "overflows 64 bits"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        OnnxFixture f = {.arena = mer_arena_new()};
        f.b = onnx_builder(17, f.arena);
        relu(&f, wrong[i].dims);
        expect_refusal(&f, NULL, wrong[i].part);
        mer_arena_free(f.arena);
    }
}

static void test_weights_of_negative_or_overflowing_size_are_refused(void **state)
{
    OnnxFixture *f = *state;
    relu(f, "4 6");
    Onnx__TensorProto *w = onnx_weight(f->b, "w", "4 -6");
    expect_refusal(f, NULL, "tensor \"w\": dimension 1 is -6, expected 0");
    w->dims[1] = w->dims[0] = 2147483647;
    w->dims[2] = 1000;
    w->n_dims = 3;
    expect_refusal(f, NULL, "tensor \"w\": the size of [2147483647, 2147483647, 1000] overflows");
}

static void test_an_empty_optional_constant_is_legal(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "1 1 4 4");
    onnx_floats(f->b, "roi", "");
    onnx_floats(f->b, "scales", "1 1 2 2");
    onnx_node(f->b, "Resize", "x roi scales", "out", "");
    onnx_output(f->b, "out", NULL);
    const MerGraph *graph = onnx_import(f->b, NULL, &f->error);
    assert_non_null(graph);
    assert_string_equal(onnx_shape_text(graph, "out", f->arena), "1 1 8 8");
}

/* A cache of length 0: nothing to multiply, and the first such node and tensor are named. */
static void test_an_empty_activation_is_a_warning_with_its_name(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "2 3");
    onnx_weight(f->b, "w", "3 4");
    onnx_ints(f->b, "start", "0");
    onnx_ints(f->b, "end", "0");
    onnx_node(f->b, "Slice", "x start end", "cache", "");
    onnx_node(f->b, "MatMul", "cache w", "old", "")->name = "of the past";
    onnx_node(f->b, "MatMul", "x w", "new", "");
    onnx_output(f->b, "old", NULL);
    onnx_output(f->b, "new", NULL);
    const MerGraph *graph = onnx_import(f->b, NULL, &f->error);
    assert_non_null(graph);
    assert_int_equal(graph->macs, 24);
    assert_int_equal(graph->warning_count, 1);
    assert_string_equal(graph->warnings[0],
                        "1 operator multiplies nothing because a tensor is empty, "
                        "the first is \"of the past\" (tensor \"cache\")");
}

static void test_an_empty_axis_under_a_window_names_the_tensor(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "1 3 4 4");
    onnx_weight(f->b, "w", "2 3 1 1");
    onnx_ints(f->b, "start", "0");
    onnx_ints(f->b, "end", "0");
    onnx_ints(f->b, "axes", "2");
    onnx_node(f->b, "Slice", "x start end axes", "rows", "");
    onnx_node(f->b, "Conv", "rows w", "out", "");
    onnx_output(f->b, "out", NULL);
    expect_refusal(f, NULL, "node \"out\" (Conv): axis 2 of the input \"rows\" is empty");
}

static void test_reshape_that_does_not_fit_is_refused(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "2 3 4");
    Onnx__TensorProto *shape = onnx_ints(f->b, "shape", "5 -1");
    onnx_node(f->b, "Reshape", "x shape", "out", "");
    onnx_output(f->b, "out", NULL);
    expect_refusal(f, NULL, "node \"out\" (Reshape): 24 elements do not fit into the shape [5, ?]");
    shape->int64_data[0] = -1;
    expect_refusal(f, NULL, "more than one -1");
    shape->int64_data[0] = -7;
    expect_refusal(f, NULL, "the shape has the size -7");
    shape->dims[0] = 3;
    expect_refusal(f, NULL, "tensor \"shape\" holds 2 elements, expected 3");
}

static void test_cycles_are_named(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    onnx_node(f->b, "Add", "x b", "a", "")->name = "first";
    onnx_node(f->b, "Relu", "a", "b", "")->name = "second";
    onnx_output(f->b, "b", NULL);
    expect_refusal(f, NULL, "form a cycle");
    mer_test_contains(f->error.message, "\"first\" -> \"second\"");
}

static void test_a_node_that_reads_itself_is_a_cycle(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    onnx_node(f->b, "Add", "x a", "a", "")->name = "self";
    onnx_output(f->b, "a", NULL);
    expect_refusal(f, NULL, "the nodes \"self\" -> \"self\" form a cycle");
}

static void test_dangling_inputs_are_named(void **state)
{
    OnnxFixture *f = *state;
    relu(f, "4 6");
    f->b->graph.node[0]->input[0] = "y";
    expect_refusal(f, NULL, "node \"out\" (Relu): input \"y\" does not exist");
}

static void test_outputs_written_twice_or_never_are_refused(void **state)
{
    OnnxFixture *f = *state;
    relu(f, "4 6");
    onnx_node(f->b, "Tanh", "x", "out", "")->name = "again";
    expect_refusal(f, NULL, "node \"again\" (Tanh): output \"out\" exists already");
    f->b->graph.node[1]->output[0] = "x";
    expect_refusal(f, NULL, "output \"x\" exists already");
    f->b->graph.n_node = 1;
    onnx_output(f->b, "other", NULL);
    expect_refusal(f, NULL, "output \"other\" of the network is never written");
}

static void test_nodes_without_type_or_output_are_refused(void **state)
{
    OnnxFixture *f = *state;
    relu(f, "4 6");
    f->b->graph.node[0]->op_type = NULL;
    expect_refusal(f, NULL, "the node has no operator type");
    f->b->graph.node[0]->op_type = "Constant";
    f->b->graph.node[0]->n_output = 0;
    expect_refusal(f, NULL, "the node has no output");
}

static void test_a_graph_without_operators_is_refused(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "4 6");
    onnx_output(f->b, "x", NULL);
    expect_refusal(f, NULL, "the graph has no operators");
}

static void test_control_characters_do_not_reach_the_message(void **state)
{
    OnnxFixture *f = *state;
    relu(f, "4 6");
    f->b->graph.node[0]->name = "two\nlines\033[31m";
    f->b->graph.node[0]->input[0] = "\xff\x01";
    expect_refusal(f, NULL, "node \"two?lines?[31m\" (Relu): input \"??\"");
}

/* If inside If inside If ..., written from the inside out, because the builder would recurse. */
static void test_ten_thousand_nested_subgraphs_are_refused(void **state)
{
    enum { DEPTH = 10000 };
    OnnxFixture *f = *state;
    size_t       capacity = 64 + (size_t)DEPTH * 64, at = capacity;
    uint8_t     *bytes = mer_arena_alloc(f->arena, capacity);
    /* Each level wraps what is there: graph { node { op_type "If" attribute { g {...} } } }. */
    static const int tags[] = {0x0a, 0x2a, 0x32}; /* node = 1, attribute = 5, g = 6 */
    for (int level = 0; level < DEPTH; level++) {
        for (int part = 2; part >= 0; part--) {
            size_t  length = capacity - at;
            uint8_t number[10];
            int     width = 0;
            do {
                number[width++] = (uint8_t)((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
                length >>= 7;
            } while (length > 0);
            at -= (size_t)width;
            memcpy(bytes + at, number, (size_t)width);
            bytes[--at] = (uint8_t)tags[part];
        }
    }
    size_t   length = capacity - at;
    uint8_t *file = mer_arena_alloc(f->arena, length + 8);
    int      width = 0;
    file[width++] = 0x3a; /* graph = 7 */
    for (size_t rest = length; width == 1 || rest > 0; rest >>= 7)
        file[width++] = (uint8_t)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    memcpy(file + width, bytes + at, length);
    expect_refused_bytes(f, file, (size_t)width + length, "messages are nested deeper than 200");
}

static Onnx__FunctionProto *add_function(OnnxFixture *f, const char *name, const char *calls)
{
    Onnx__FunctionProto *function = MER_NEW(f->arena, Onnx__FunctionProto);
    onnx__function_proto__init(function);
    function->name = mer_arena_text(f->arena, name);
    function->domain = "ours";
    function->input = onnx_items(f->arena);
    function->output = onnx_items(f->arena);
    function->node = onnx_items(f->arena);
    function->input[function->n_input++] = "a";
    function->output[function->n_output++] = "c";
    const char *first = function->n_node == 0 ? "a" : "b";
    for (int i = 0; i < 2; i++) {
        Onnx__NodeProto *node =
            onnx_node_new(f->arena, calls, i == 0 ? first : "b", i == 0 ? "b" : "c", "");
        node->domain = strcmp(calls, "Relu") == 0 ? "" : "ours";
        function->node[function->n_node++] = node;
    }
    if (f->b->model.functions == NULL)
        f->b->model.functions = onnx_items(f->arena);
    f->b->model.functions[f->b->model.n_functions++] = function;
    return function;
}

static void test_a_function_that_calls_itself_is_refused(void **state)
{
    OnnxFixture *f = *state;
    add_function(f, "F", "F");
    relu(f, "4 6");
    f->b->graph.node[0]->op_type = "F";
    f->b->graph.node[0]->domain = "ours";
    expect_refusal(f, NULL, "subgraphs or functions are nested deeper than 100");
}

/* Each function calls the next twice: 2^40 nodes after inlining. */
static void test_functions_that_grow_without_end_are_refused(void **state)
{
    OnnxFixture *f = *state;
    for (int i = 0; i < 40; i++)
        add_function(f, mer_arena_format(f->arena, "F%d", i),
                     i == 39 ? "Relu" : mer_arena_format(f->arena, "F%d", i + 1));
    relu(f, "4 6");
    f->b->graph.node[0]->op_type = "F0";
    f->b->graph.node[0]->domain = "ours";
    expect_refusal(f, NULL, "more than 500000 nodes after inlining");
}

static void test_missing_branches_are_refused(void **state)
{
    OnnxFixture *f = *state;
    onnx_input_of_type(f->b, "flag", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, "");
    onnx_node(f->b, "If", "flag", "out", "")->name = "if";
    onnx_node(f->b, "Loop", "flag", "never", "")->name = "loop";
    onnx_output(f->b, "out", NULL);
    expect_refusal(f, NULL, "node \"if\" (If): attribute then_branch is missing");
}

static void test_unbound_dims_are_listed_once(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "N 3 H W");
    onnx_input(f->b, "m", "N H ?");
    onnx_node(f->b, "Relu", "x", "out", "");
    onnx_output(f->b, "out", NULL);
    assert_null(onnx_import(f->b, NULL, &f->error));
    assert_string_equal(f->error.message,
                        "net.onnx: dimensions H, W of input \"x\", m_dim2 of input \"m\" are not "
                        "bound, expected --dim H=<size> --dim W=<size> --dim m_dim2=<size>");
    expect_refusal(f, "H=2 m_dim2=1", "dimension W of input \"x\" is not bound, expected --dim W=");
}

static void test_bindings_that_name_nothing_are_refused(void **state)
{
    OnnxFixture *f = *state;
    relu(f, "batch 6");
    expect_refusal(f, "bacth=2", "--dim bacth=2 names no dimension, did you mean batch?");
    expect_refusal(f, "height=2", "--dim height=2 names no dimension, expected one of batch");
    expect_refusal(f, "batch=-2", "--dim batch=-2: expected a size of 0 to 2147483647");
}

static void test_bindings_of_a_fixed_model_are_refused(void **state)
{
    OnnxFixture *f = *state;
    relu(f, "4 6");
    expect_refusal(f, "N=1", "--dim N=1 names no dimension: all sizes are fixed");
}

static void test_macs_that_overflow_are_refused(void **state)
{
    OnnxFixture *f = *state;
    onnx_input(f->b, "x", "1 32768 36863 36863");
    onnx_weight(f->b, "w", "32768 32768 4096 4096");
    onnx_node(f->b, "Conv", "x w", "out", "");
    onnx_output(f->b, "out", NULL);
    expect_refusal(f, NULL, "the MACs or bytes of operator \"out\" overflow 64 bits");
}

static void test_a_field_given_twice_is_refused(void **state)
{
    OnnxFixture *f = *state;
    /* graph {} graph {} */
    expect_refused_bytes(f, "\x3a\x00\x3a\x00", 4,
                         "byte 2: field graph of ModelProto occurs twice");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, onnx_set_up, onnx_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_wrong_nodes_are_refused_by_name),
        TEST(test_every_truncation_is_refused),
        TEST(test_a_cut_file_is_reported_with_the_byte),
        TEST(test_garbage_is_refused),
        TEST(test_input_sizes_of_zero_below_and_above_are_refused),
        TEST(test_weights_of_negative_or_overflowing_size_are_refused),
        TEST(test_an_empty_optional_constant_is_legal),
        TEST(test_an_empty_activation_is_a_warning_with_its_name),
        TEST(test_an_empty_axis_under_a_window_names_the_tensor),
        TEST(test_reshape_that_does_not_fit_is_refused),
        TEST(test_cycles_are_named),
        TEST(test_a_node_that_reads_itself_is_a_cycle),
        TEST(test_dangling_inputs_are_named),
        TEST(test_outputs_written_twice_or_never_are_refused),
        TEST(test_nodes_without_type_or_output_are_refused),
        TEST(test_a_graph_without_operators_is_refused),
        TEST(test_control_characters_do_not_reach_the_message),
        TEST(test_ten_thousand_nested_subgraphs_are_refused),
        TEST(test_a_function_that_calls_itself_is_refused),
        TEST(test_functions_that_grow_without_end_are_refused),
        TEST(test_missing_branches_are_refused),
        TEST(test_unbound_dims_are_listed_once),
        TEST(test_bindings_that_name_nothing_are_refused),
        TEST(test_bindings_of_a_fixed_model_are_refused),
        TEST(test_macs_that_overflow_are_refused),
        TEST(test_a_field_given_twice_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
