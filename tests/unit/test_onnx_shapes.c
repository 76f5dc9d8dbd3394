/* Shape inference of ONNX operators, one row per behaviour. An input is "1 3 8 8" (of the network),
 * "w 4 3 3 3" (a weight), "i 1 -1" (int64 content), "s 5" (int64 scalar), "f 1 2" (float content)
 * or "-" (absent). Expected shapes are those of the operator specification; the rows were also
 * compared with ONNX Runtime. */
#include "support.h"

#include "onnx_builder.h"

typedef struct Case {
    const char *op;
    int         opset;
    const char *inputs, *attributes, *outputs;
} Case;

static const Case cases[] = {
    /* convolutions */
    {"Conv", 11, "1 3 8 8; w 4 3 3 3", "", "1 4 6 6"},
    {"Conv", 11, "1 3 8 9; w 4 3 3 3", "pads=[1,0,1,2] strides=[2,1]", "1 4 4 9"},
    {"Conv", 11, "1 3 9 9; w 4 3 3 3", "dilations=[2,3]", "1 4 5 3"},
    {"Conv", 11, "1 3 10 9; w 4 3 3 2", "auto_pad=SAME_UPPER strides=[3,2]", "1 4 4 5"},
    {"Conv", 11, "1 3 10 9; w 4 3 3 2", "auto_pad=SAME_LOWER strides=[2,2]", "1 4 5 5"},
    {"Conv", 11, "1 3 8 8; w 4 3 3 3", "auto_pad=VALID kernel_shape=[3,3]", "1 4 6 6"},
    {"Conv", 11, "2 6 10; w 8 3 4", "group=2 strides=[2]", "2 8 4"},
    {"Conv", 11, "1 2 4 5 6; w 3 2 2 2 2", "", "1 3 3 4 5"},
    {"ConvTranspose", 11, "1 4 5 5; w 4 2 3 3", "strides=[2,2]", "1 2 11 11"},
    {"ConvTranspose", 11, "1 4 5 5; w 4 2 3 3", "strides=[2,2] pads=[1,1,1,1] output_padding=[1,1]",
     "1 2 10 10"},
    {"ConvTranspose", 11, "1 4 5 5; w 4 2 3 3", "strides=[2,2] output_shape=[10,9]", "1 2 10 9"},
    {"ConvTranspose", 11, "1 4 5 5; w 4 2 3 3", "strides=[3,3] auto_pad=SAME_UPPER", "1 2 15 15"},
    {"ConvTranspose", 11, "1 4 5 5; w 4 1 3 3", "group=4 dilations=[2,2]", "1 4 9 9"},
    {"ConvTranspose", 11, "1 4 7; w 4 2 4", "strides=[2] pads=[1,1]", "1 2 14"},

    /* pools */
    {"MaxPool", 11, "1 3 8 8", "kernel_shape=[2,2] strides=[2,2]", "1 3 4 4"},
    {"MaxPool", 11, "1 3 9 9", "kernel_shape=[2,2] strides=[2,2] ceil_mode=1", "1 3 5 5"},
    {"MaxPool", 11, "1 3 9 9", "kernel_shape=[3,3] dilations=[2,2]", "1 3 5 5"},
    {"MaxPool", 12, "1 3 32 32", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]", "1 3 16 16"},
    {"MaxPool", 12, "1 3 7 7", "kernel_shape=[3,3] strides=[2,2] auto_pad=SAME_UPPER", "1 3 4 4"},
    {"AveragePool", 11, "1 3 10", "kernel_shape=[3] strides=[3]", "1 3 3"},
    {"AveragePool", 19, "1 1 4 4", "kernel_shape=[2,2] strides=[2,2] pads=[1,1,1,1] ceil_mode=1",
     "1 1 3 3"},
    {"GlobalAveragePool", 11, "2 3 8 9", "", "2 3 1 1"},
    {"GlobalMaxPool", 11, "2 3 8", "", "2 3 1"},
    {"LpPool", 11, "1 3 8 8", "kernel_shape=[3,3] p=2", "1 3 6 6"},

    /* products */
    {"Gemm", 13, "4 8; w 8 5; w 5", "", "4 5"},
    {"Gemm", 13, "8 4; w 5 8", "transA=1 transB=1", "4 5"},
    {"MatMul", 13, "2 3 4 5; 5 6", "", "2 3 4 6"},
    {"MatMul", 13, "3 1 4 5; 2 5 6", "", "3 2 4 6"},
    {"MatMul", 13, "5; 5 6", "", "6"},
    {"MatMul", 13, "4 5; 5", "", "4"},
    {"MatMul", 13, "5; 5", "", ""},
    {"MatMul", 13, "2 4 5; 5", "", "2 4"},
    {"Einsum", 12, "2 3 4; 2 4 5", "equation=bij,bjk->bik", "2 3 5"},
    {"Einsum", 12, "2 3 4; 5 4", "equation=...j,kj->...k", "2 3 5"},
    {"Einsum", 12, "3 4; 4 5", "equation=ij,jk", "3 5"},
    {"Einsum", 12, "3 4", "equation=ij->ji", "4 3"},
    {"Einsum", 12, "2 3 4", "equation=bij->b", "2"},
    {"LSTM", 14, "7 2 3; w 1 20 3; w 1 20 5", "hidden_size=5", "7 1 2 5; 1 2 5; 1 2 5"},
    {"GRU", 14, "7 2 3; w 2 15 3; w 2 15 5", "hidden_size=5 direction=bidirectional",
     "7 2 2 5; 2 2 5"},
    {"RNN", 14, "7 2 3; w 1 5 3; w 1 5 5", "hidden_size=5 direction=reverse", "7 1 2 5; 1 2 5"},

    /* element by element */
    {"Add", 13, "2 1 4; 3 1", "", "2 3 4"},
    {"Add", 13, "2 3; 2 3", "", "2 3"},
    {"Add", 6, "2 3 4; 3", "broadcast=1 axis=1", "2 3 4"},
    {"Sum", 13, "2 3; 3; 1", "", "2 3"},
    {"Where", 16, "b 2 1; 1 3; 2 3", "", "2 3"},
    {"Less", 13, "2 3; 3", "", "2 3"},
    {"Clip", 13, "2 3", "", "2 3"},
    {"Softmax", 13, "2 3", "axis=1", "2 3"},
    {"Cast", 13, "2 3", "to=7", "2 3"},
    {"PRelu", 16, "1 4 3 3; w 4 1 1", "", "1 4 3 3"},
    {"BatchNormalization", 15, "1 4 3 3; w 4; w 4; w 4; w 4", "", "1 4 3 3"},
    {"LayerNormalization", 17, "2 3 4; w 4", "axis=-1", "2 3 4; 2 3 1; 2 3 1"},
    {"InstanceNormalization", 6, "1 4 3 3; w 4; w 4", "", "1 4 3 3"},
    {"LRN", 13, "1 4 3 3", "size=3", "1 4 3 3"},
    {"DynamicQuantizeLinear", 11, "2 3", "", "2 3; ; "},
    {"Trilu", 14, "3 4", "upper=1", "3 4"},
    {"CumSum", 14, "3 4; s 1", "", "3 4"},

    /* movement */
    {"Reshape", 13, "2 3 4; i 6 -1", "", "6 4"},
    {"Reshape", 13, "2 3 4; i 0 -1", "", "2 12"},
    {"Reshape", 13, "2 3 4; i 0 0 2 2", "", "2 3 2 2"},
    {"Reshape", 13, "1 1; i", "", ""},
    {"Flatten", 13, "2 3 4 5", "", "2 60"},
    {"Flatten", 13, "2 3 4 5", "axis=0", "1 120"},
    {"Flatten", 13, "2 3 4 5", "axis=-1", "24 5"},
    {"Flatten", 13, "2 3 4 5", "axis=4", "120 1"},
    {"Transpose", 13, "2 3 4", "", "4 3 2"},
    {"Transpose", 13, "2 3 4", "perm=[1,2,0]", "3 4 2"},
    {"Squeeze", 11, "1 3 1 4", "axes=[0,-2]", "3 4"},
    {"Squeeze", 13, "1 3 1 4; i 0", "", "3 1 4"},
    {"Squeeze", 13, "1 3 1 4", "", "3 4"},
    {"Unsqueeze", 11, "3 4", "axes=[0,3]", "1 3 4 1"},
    {"Unsqueeze", 13, "3 4; i -1 1", "", "3 1 4 1"},
    {"Expand", 13, "3 1; i 2 1 4", "", "2 3 4"},
    {"Tile", 13, "2 3; i 2 4", "", "4 12"},
    {"Concat", 13, "2 3; 2 4; 2 1", "axis=1", "2 8"},
    {"Concat", 13, "2 3; 5 3", "axis=-2", "7 3"},
    {"Split", 11, "2 7", "axis=1 split=[3,4]", "2 3; 2 4"},
    {"Split", 13, "2 7; i 3 4", "axis=1", "2 3; 2 4"},
    {"Split", 13, "6 7", "", "3 7; 3 7"},
    {"Split", 18, "7 2", "num_outputs=3", "3 2; 3 2; 1 2"},
    {"Slice", 9, "4 6", "axes=[0,1] starts=[1,0] ends=[3,-1]", "2 5"},
    {"Slice", 13, "4 6; i 1; i 9223372036854775807; i 1; i 2", "", "4 3"},
    {"Slice", 13, "4 6; i -1; i -9223372036854775807; i 0; i -1", "", "4 6"},
    {"Slice", 13, "4 6; i -3 2; i -1 4", "", "2 2"},
    {"Slice", 13, "4 6; i 5; i 2; i 0; i 1", "", "0 6"},
    {"Pad", 9, "2 3", "pads=[1,0,0,2]", "3 5"},
    {"Pad", 13, "2 3; i 1 0 0 2", "", "3 5"},
    {"Pad", 13, "4 5; i 0 -1 -2 0", "", "2 4"},
    {"Pad", 18, "4 5; i 1 2; -; i 1", "", "4 8"},
    {"DepthToSpace", 13, "1 12 2 3", "blocksize=2", "1 3 4 6"},
    {"SpaceToDepth", 13, "1 3 4 6", "blocksize=2", "1 12 2 3"},
    {"Resize", 10, "1 2 4 4; f 1 1 2 1.5", "", "1 2 8 6"},
    {"Resize", 13, "1 2 4 4; -; f 1 1 2 2", "", "1 2 8 8"},
    {"Resize", 13, "1 2 4 4; -; -; i 1 2 7 9", "", "1 2 7 9"},
    {"Resize", 13, "1 2 5 5; f; f 1 1 0.6 0.6", "", "1 2 3 3"},
    {"Resize", 18, "1 2 4 4; -; -; i 7 9", "axes=[2,3]", "1 2 7 9"},
    {"Resize", 18, "1 2 4 8; -; -; i 8 8", "axes=[2,3] keep_aspect_ratio_policy=not_larger",
     "1 2 4 8"},
    {"Upsample", 9, "1 2 4 4; f 1 1 2 3", "", "1 2 8 12"},

    /* indexing and reduction */
    {"Gather", 13, "5 6 7; i 0 2", "axis=1", "5 2 7"},
    {"Gather", 13, "5 6 7; s 3", "axis=0", "6 7"},
    {"Gather", 13, "5 6; i -1", "axis=-1", "5 1"},
    {"GatherElements", 13, "2 2; j 1 2", "axis=1", "1 2"},
    {"GatherND", 13, "2 3 4; j 5 2", "", "5 4"},
    {"GatherND", 13, "2 3 4; j 2 1", "batch_dims=1", "2 4"},
    {"ScatterElements", 13, "3 3; j 2 3; 2 3", "axis=0", "3 3"},
    {"ScatterND", 16, "4 4; j 2 1; 2 4", "", "4 4"},
    {"ReduceMean", 11, "2 3 4", "axes=[1]", "2 1 4"},
    {"ReduceMean", 11, "2 3 4", "axes=[-1] keepdims=0", "2 3"},
    {"ReduceMean", 18, "2 3 4; i 0 2", "keepdims=0", "3"},
    {"ReduceSum", 13, "2 3 4; i 1", "", "2 1 4"},
    {"ReduceMax", 11, "2 3 4", "", "1 1 1"},
    {"ReduceMax", 11, "2 3 4", "keepdims=0", ""},
    {"ReduceSum", 13, "2 3 4", "noop_with_empty_axes=1", "2 3 4"},
    {"ArgMax", 13, "2 3 4", "axis=1", "2 1 4"},
    {"ArgMin", 13, "2 3 4", "axis=-1 keepdims=0", "2 3"},
    {"TopK", 11, "2 9; i 4", "", "2 4; 2 4"},
    {"OneHot", 11, "j 3 4; s 10; f 0 1", "", "3 4 10"},
    {"OneHot", 11, "j 3 4; s 10; f 0 1", "axis=0", "10 3 4"},
    {"GridSample", 16, "1 3 8 8; 1 5 6 2", "", "1 3 5 6"},
    {"RoiAlign", 16, "1 3 8 8; 4 4; j 4", "output_height=5 output_width=6", "4 3 5 6"},
    {"MaxUnpool", 11, "1 1 2 2; j 1 1 2 2", "kernel_shape=[2,2] strides=[2,2]", "1 1 4 4"},
    {"EyeLike", 9, "3 4", "dtype=1", "3 4"},
    {"Det", 11, "2 3 3", "", "2"},
    {"DFT", 17, "1 10 1; s 10", "axis=1", "1 10 2"},
    {"DFT", 17, "1 10 1", "axis=1 onesided=1", "1 6 2"},
    {"STFT", 17, "1 100 1; s 10; w 20; s 20", "", "1 9 11 2"},
};

/* Adds one input by its letter and gives its name; "" for an absent one. */
static const char *add_input(OnnxBuilder *b, int index, const char *text)
{
    char *name = mer_arena_format(b->arena, "in%d", index);
    while (*text == ' ')
        text++;
    if (*text == 'w')
        onnx_weight(b, name, text + 1);
    else if (*text == 'i')
        onnx_ints(b, name, text + 1);
    else if (*text == 's')
        onnx_ints(b, name, text + 1)->n_dims = 0;
    else if (*text == 'f')
        onnx_floats(b, name, text + 1);
    else if (*text == 'j')
        onnx_input_of_type(b, name, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, text + 1);
    else if (*text == 'b')
        onnx_input_of_type(b, name, ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, text + 1);
    else if (*text == '-')
        return "-";
    else
        onnx_input(b, name, text);
    return name;
}

/* The parts of a list separated by ';'. */
static int split_parts(MerArena *arena, const char *text, const char **parts)
{
    int count = 0;
    for (;;) {
        size_t length = strcspn(text, ";");
        parts[count++] = mer_arena_text_n(arena, text, length);
        if (text[length] == '\0')
            return count;
        text += length + 1;
    }
}

static OnnxBuilder *build_case(const Case *test, MerArena *arena, int *output_count)
{
    const char  *parts[ONNX_BUILDER_WORDS];
    OnnxBuilder *b = onnx_builder(test->opset, arena);
    char         inputs[400] = "", outputs[400] = "";
    int          count = split_parts(arena, test->inputs, parts);
    for (int i = 0; i < count; i++) {
        strcat(inputs, add_input(b, i, parts[i]));
        strcat(inputs, " ");
    }
    *output_count = split_parts(arena, test->outputs, parts);
    for (int i = 0; i < *output_count; i++) {
        char *name = mer_arena_format(arena, "out%d", i);
        strcat(strcat(outputs, name), " ");
        onnx_output(b, name, NULL);
    }
    onnx_node(b, test->op, inputs, outputs, test->attributes);
    return b;
}

static const char *trimmed(const char *text)
{
    while (*text == ' ')
        text++;
    return text;
}

static void test_output_shapes_follow_the_operator_specification(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerArena   *arena = mer_arena_new();
        const char *expected[ONNX_BUILDER_WORDS];
        int         count;
        MerError    error;
        MerGraph   *graph = onnx_import(build_case(&cases[i], arena, &count), NULL, &error);
        if (graph == NULL)
            fail_msg("case %zu (%s %s): %s", i, cases[i].op, cases[i].inputs, error.message);
        split_parts(arena, cases[i].outputs, expected);
        for (int k = 0; k < count; k++) {
            const char *found = onnx_shape_text(graph, mer_arena_format(arena, "out%d", k), arena);
            if (strcmp(found, trimmed(expected[k])) != 0)
                fail_msg("case %zu (%s %s, %s): output %d is [%s], expected [%s]", i, cases[i].op,
                         cases[i].inputs, cases[i].attributes, k, found, trimmed(expected[k]));
        }
        mer_arena_free(arena);
    }
}

#ifndef MERCATOR_TESTS_CASES_ONLY
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_shapes_follow_the_operator_specification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
