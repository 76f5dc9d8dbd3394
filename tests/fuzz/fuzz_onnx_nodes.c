/* Any bytes as a recipe for an ONNX model that is well-formed on the wire: operators, attributes,
 * shapes and constants chosen by the bytes. It reaches the inference of every operator, which random
 * bytes in a file seldom do. The model is refused with one line or passes the graph's check. */
#include "onnx_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const operators[] = {"Conv",
                                        "ConvInteger",
                                        "QLinearConv",
                                        "ConvTranspose",
                                        "Gemm",
                                        "MatMul",
                                        "MatMulInteger",
                                        "QLinearMatMul",
                                        "Einsum",
                                        "LSTM",
                                        "GRU",
                                        "RNN",
                                        "MaxPool",
                                        "AveragePool",
                                        "GlobalAveragePool",
                                        "MaxUnpool",
                                        "MaxRoiPool",
                                        "RoiAlign",
                                        "BatchNormalization",
                                        "LayerNormalization",
                                        "Softmax",
                                        "Add",
                                        "Sub",
                                        "Mul",
                                        "Div",
                                        "Mod",
                                        "Pow",
                                        "Min",
                                        "Max",
                                        "Sum",
                                        "Equal",
                                        "Less",
                                        "GreaterOrEqual",
                                        "And",
                                        "Or",
                                        "Not",
                                        "Where",
                                        "Cast",
                                        "CastLike",
                                        "QuantizeLinear",
                                        "DequantizeLinear",
                                        "DynamicQuantizeLinear",
                                        "Neg",
                                        "Abs",
                                        "Floor",
                                        "Ceil",
                                        "Sqrt",
                                        "Relu",
                                        "Clip",
                                        "ReduceSum",
                                        "ReduceProd",
                                        "ReduceMin",
                                        "ReduceMax",
                                        "ReduceMean",
                                        "ArgMax",
                                        "TopK",
                                        "CumSum",
                                        "Det",
                                        "NonMaxSuppression",
                                        "Unique",
                                        "NonZero",
                                        "Gather",
                                        "GatherElements",
                                        "GatherND",
                                        "ScatterND",
                                        "OneHot",
                                        "Compress",
                                        "Resize",
                                        "Upsample",
                                        "GridSample",
                                        "AffineGrid",
                                        "DFT",
                                        "STFT",
                                        "HannWindow",
                                        "MelWeightMatrix",
                                        "Identity",
                                        "Dropout",
                                        "Constant",
                                        "Reshape",
                                        "Flatten",
                                        "Squeeze",
                                        "Unsqueeze",
                                        "Transpose",
                                        "Expand",
                                        "Tile",
                                        "Concat",
                                        "Split",
                                        "Slice",
                                        "Pad",
                                        "CenterCropPad",
                                        "DepthToSpace",
                                        "SpaceToDepth",
                                        "Shape",
                                        "Size",
                                        "Range",
                                        "ConstantOfShape",
                                        "EyeLike",
                                        "RandomNormal",
                                        "Loop",
                                        "If",
                                        "Scan",
                                        "Attention",
                                        "MultiHeadAttention",
                                        "GroupQueryAttention",
                                        "MatMulNBits",
                                        "QLinearAdd",
                                        "QLinearConcat",
                                        "EmbedLayerNormalization",
                                        "SkipLayerNormalization",
                                        "FusedMatMul",
                                        "Unheard"};

static const char *const attributes[] = {"axis",
                                         "axes",
                                         "perm",
                                         "keepdims",
                                         "kernel_shape",
                                         "strides",
                                         "pads",
                                         "dilations",
                                         "group",
                                         "auto_pad",
                                         "ceil_mode",
                                         "output_padding",
                                         "output_shape",
                                         "transA",
                                         "transB",
                                         "equation",
                                         "hidden_size",
                                         "direction",
                                         "layout",
                                         "to",
                                         "dtype",
                                         "k",
                                         "batch_dims",
                                         "scales",
                                         "blocksize",
                                         "split",
                                         "num_outputs",
                                         "starts",
                                         "ends",
                                         "start",
                                         "end",
                                         "allowzero",
                                         "noop_with_empty_axes",
                                         "keep_aspect_ratio_policy",
                                         "onesided",
                                         "shape",
                                         "value_ints",
                                         "value_int",
                                         "num_heads",
                                         "kv_num_heads",
                                         "K",
                                         "N",
                                         "num_scan_inputs",
                                         "pooled_shape",
                                         "output_height",
                                         "qkv_hidden_sizes",
                                         "size"};

static const char *const words[] = {"SAME_UPPER",     "SAME_LOWER",  "VALID",     "bidirectional",
                                    "not_larger",     "not_smaller", "ij,jk->ik", "bij,bjk->bik",
                                    "...i,...i->...", "ab,bc,cd",    "i,j->ij",   "..."};

typedef struct Bytes {
    const uint8_t *at, *end;
} Bytes;

static unsigned next(Bytes *bytes, unsigned count)
{
    return bytes->at < bytes->end ? *bytes->at++ % count : 0;
}

/* Mostly small, sometimes at the edges of what fits. */
static int64_t number(Bytes *bytes)
{
    static const int64_t edges[] = {INT64_MAX,        INT64_MIN,        INT64_MIN + 1, INT32_MAX,
                                    INT64_C(1) << 31, INT64_C(1) << 40, -INT32_MAX,    65536};
    unsigned             choice = next(bytes, 64);
    return choice < 8 ? edges[choice] : (int64_t)choice - 12;
}

static char *list(Bytes *bytes, MerArena *arena, const char *separator)
{
    char     text[200] = "";
    unsigned count = next(bytes, 6);
    for (unsigned i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld", i > 0 ? separator : "",
                 (long long)number(bytes));
    return mer_arena_text(arena, text);
}

static char *attribute(Bytes *bytes, MerArena *arena)
{
    switch (next(bytes, 5)) {
    case 0:
        return mer_arena_format(arena, "%lld", (long long)number(bytes));
    case 1:
        return mer_arena_text(arena, words[next(bytes, sizeof words / sizeof *words)]);
    case 2:
        return mer_arena_text(arena, "[1.0,1.5,2.0,0.5]");
    default:
        return mer_arena_format(arena, "[%s]", list(bytes, arena, ","));
    }
}

/* A value made so far; sometimes an absent or a missing one. */
static const char *value(Bytes *bytes, MerArena *arena, int count)
{
    unsigned choice = next(bytes, (unsigned)count + 2);
    return choice == 0 ? "-" : mer_arena_format(arena, "v%u", choice - 1);
}

static void add_leaf(OnnxBuilder *b, Bytes *bytes, const char *name)
{
    static const int types[] = {1, 7, 9, 3, 10};
    int              type = types[next(bytes, 5)];
    switch (next(bytes, 4)) {
    case 0:
        onnx_ints(b, name, list(bytes, b->arena, " "))->n_dims = next(bytes, 5) > 0;
        break;
    case 1:
        onnx_weight_of_type(b, name, type, list(bytes, b->arena, " "));
        break;
    case 2:
        onnx_floats(b, name, list(bytes, b->arena, " "));
        break;
    default:
        onnx_input_of_type(b, name, type, list(bytes, b->arena, " "));
    }
}

static Onnx__NodeProto *make_node(OnnxBuilder *b, Bytes *bytes, int count, const char *outputs)
{
    char        inputs[200] = "", text[400] = "";
    const char *op = operators[next(bytes, sizeof operators / sizeof *operators)];
    unsigned    input_count = next(bytes, 6), attribute_count = next(bytes, 4);
    for (unsigned i = 0; i < input_count; i++)
        strcat(strcat(inputs, value(bytes, b->arena, count)), " ");
    for (unsigned i = 0; i < attribute_count; i++) {
        const char *name = attributes[next(bytes, sizeof attributes / sizeof *attributes)];
        const char *content = attribute(bytes, b->arena);
        snprintf(text + strlen(text), sizeof text - strlen(text), " %s=%s", name, content);
        if (strlen(text) > 250)
            break;
    }
    Onnx__NodeProto *node = onnx_node_new(b->arena, op, inputs, outputs, text);
    node->domain = next(bytes, 8) == 0 ? "com.microsoft" : "";
    return node;
}

/* A body with one node for If, Loop and Scan. */
static void add_body(OnnxBuilder *b, Bytes *bytes, Onnx__NodeProto *node, const char *name,
                     int count)
{
    Onnx__GraphProto *body = onnx_subgraph(b, node, name);
    unsigned          input_count = next(bytes, 4), output_count = next(bytes, 4);
    for (unsigned i = 0; i < input_count; i++)
        body->input[body->n_input++] =
            onnx_info(b->arena, mer_arena_format(b->arena, "b%u", i), 1, NULL);
    body->node[body->n_node++] = make_node(b, bytes, count, "inner");
    for (unsigned i = 0; i < output_count; i++)
        body->output[body->n_output++] =
            onnx_info(b->arena, next(bytes, 3) == 0 ? "v0" : "inner", 1, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes        bytes = {.at = data, .end = data + size};
    MerArena    *arena = mer_arena_new();
    OnnxBuilder *b = onnx_builder(9 + next(&bytes, 13), arena);
    int          count = 1 + (int)next(&bytes, 6);
    MerError     error = {0};
    for (int i = 0; i < count; i++)
        add_leaf(b, &bytes, mer_arena_format(arena, "v%d", i));
    for (int i = 0; i < 8 && bytes.at < bytes.end; i++) {
        char outputs[60] = "";
        for (unsigned k = 0, wanted = 1 + next(&bytes, 3); k < wanted; k++)
            snprintf(outputs + strlen(outputs), sizeof outputs - strlen(outputs), "v%d ",
                     count + (int)k);
        Onnx__NodeProto *node = make_node(b, &bytes, count, outputs);
        if (strcmp(node->op_type, "If") == 0)
            add_body(b, &bytes, node, "then_branch", count);
        if (strcmp(node->op_type, "Loop") == 0 || strcmp(node->op_type, "Scan") == 0)
            add_body(b, &bytes, node, "body", count);
        b->graph.node[b->graph.n_node++] = node;
        count += (int)node->n_output;
    }
    onnx_output(b, mer_arena_format(arena, "v%d", count - 1), NULL);
    MerGraph *graph = onnx_import(b, NULL, &error);
    if (graph == NULL && (error.message[0] == '\0' || strchr(error.message, '\n') != NULL))
        abort();
    if (graph != NULL && mer_graph_check(graph, &error) != MER_OK)
        abort();
    mer_arena_free(arena);
    return 0;
}
