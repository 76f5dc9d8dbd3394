/* Layers of a network definition as operators. Normalisations keep scale and shift as their parameters; running statistics are no
 * parameters, and convolutions before a normalisation have no bias. */
#include "import/network_build.h"

/* The next value, of the size that the builder is at. */
static int add_value(MerNetworkBuilder *b, const char *name, MerValueRole role)
{
    MerValue value = {.name = name,
                      .type = MER_TYPE_FLOAT32,
                      .role = role,
                      .rank = b->rows > 0 ? 4 : 2,
                      .dims = {1, b->channels, b->rows, b->columns}};
    return mer_graph_add_value(b->graph, &value);
}

static int add_weight(MerNetworkBuilder *b, const char *name, const char *part, int rank,
                      const int64_t *dims)
{
    MerValue value = {.name = mer_arena_format(b->graph->arena, "%s.%s", name, part),
                      .type = MER_TYPE_FLOAT32,
                      .role = MER_VALUE_WEIGHT,
                      .rank = rank};
    for (int i = 0; i < rank; i++) {
        value.dims[i] = dims[i];
    }
    return mer_graph_add_value(b->graph, &value);
}

/* An operator that reads `inputs` and makes the next value. */
static void add_op(MerNetworkBuilder *b, MerOp *op, int *inputs, int count)
{
    int output =
        add_value(b, mer_arena_format(b->graph->arena, "%s.out", op->name), MER_VALUE_ACTIVATION);
    op->inputs = inputs;
    op->input_count = count;
    op->outputs = &output;
    op->output_count = 1;
    mer_graph_add_op(b->graph, op);
    b->value = output;
}

MerNetworkBuilder mer_network_begin(MerGraph *graph, int64_t channels, int64_t rows,
                                    int64_t columns)
{
    MerNetworkBuilder b = {graph, -1, channels, rows, columns};
    b.value = add_value(&b, "input", MER_VALUE_INPUT);
    return b;
}

/* An operator of a layer, `name` and `part` together. */
static MerOp part_op(const MerNetworkBuilder *b, const char *name, const char *part,
                     const char *source, MerOpKind kind)
{
    return mer_op_make(mer_arena_format(b->graph->arena, "%s%s", name, part), source, kind);
}

static void add_norm(MerNetworkBuilder *b, const char *name)
{
    MerOp op = part_op(b, name, ".norm", "BatchNormalization", MER_OP_NORM);
    int   inputs[] = {b->value, add_weight(b, op.name, "scale", 1, &b->channels),
                      add_weight(b, op.name, "shift", 1, &b->channels)};
    add_op(b, &op, inputs, 3);
}

/* The next value from the one before. */
static void add_step(MerNetworkBuilder *b, MerOp op)
{
    int input = b->value;
    add_op(b, &op, &input, 1);
}

static void add_relu(MerNetworkBuilder *b, const char *name)
{
    add_step(b, part_op(b, name, ".relu", "Relu", MER_OP_ELEMENTWISE));
}

static int64_t windows(int64_t size, int pad, int kernel, int stride)
{
    return size + 2 * pad < kernel ? 0 : (size + 2 * pad - kernel) / stride + 1;
}

/* Slides a window over the image, which becomes that of the output; (rows, columns) each. */
static MerStatus slide(MerNetworkBuilder *b, MerOp *op, const int *kernel, const int *stride,
                       const int *pad, MerError *error)
{
    int64_t rows = windows(b->rows, pad[0], kernel[0], stride[0]);
    int64_t columns = windows(b->columns, pad[1], kernel[1], stride[1]);
    if (rows < 1 || columns < 1 || b->rows < 1) {
        return mer_error_set(
            error, MER_INVALID,
            "layer %s: its window does not fit into %lldx%lld, expected a larger input", op->name,
            (long long)b->rows, (long long)b->columns);
    }
    for (int i = 0; i < 2; i++) {
        op->stride[i] = stride[i];
        op->pad[i] = op->pad[i + 2] = pad[i]; /* top, left, bottom, right */
    }
    op->input_rows = b->rows;
    op->input_columns = b->columns;
    b->rows = rows;
    b->columns = columns;
    return MER_OK;
}

MerStatus mer_network_conv(MerNetworkBuilder *b, const MerNetworkConv *conv, MerError *error)
{
    int64_t inputs = conv->is_depthwise ? 1 : b->channels;
    int64_t shape[] = {conv->out, inputs, conv->kernel[0], conv->kernel[1]};
    MerOp op = mer_op_make(conv->name, "Conv", conv->is_depthwise ? MER_OP_DEPTHWISE : MER_OP_CONV);
    MER_TRY(slide(b, &op, conv->kernel, conv->stride, conv->pad, error));
    op.dims[MER_DIM_K] = conv->is_depthwise ? 1 : conv->out;
    op.dims[MER_DIM_C] = b->channels;
    op.dims[MER_DIM_Y] = b->rows;
    op.dims[MER_DIM_X] = b->columns;
    op.dims[MER_DIM_R] = conv->kernel[0];
    op.dims[MER_DIM_S] = conv->kernel[1];
    int values[] = {b->value, add_weight(b, conv->name, "weight", 4, shape)};
    b->channels = conv->out;
    add_op(b, &op, values, 2);
    if (conv->has_norm) {
        add_norm(b, conv->name);
    }
    if (conv->has_relu) {
        add_relu(b, conv->name);
    }
    return MER_OK;
}

static MerNetworkConv square(const MerNetworkBuilder *b, const char *name, const char *part,
                             int64_t out, int kernel, int stride)
{
    int pad = kernel / 2;
    return (MerNetworkConv){.name = mer_arena_format(b->graph->arena, "%s%s", name, part),
                            .out = out,
                            .kernel = {kernel, kernel},
                            .stride = {stride, stride},
                            .pad = {pad, pad},
                            .has_norm = true,
                            .has_relu = true};
}

MerStatus mer_network_residual(MerNetworkBuilder *b, const char *name, int64_t out, int stride,
                               bool has_shortcut_norm, MerError *error)
{
    MerNetworkBuilder side = *b; /* the shortcut starts here */
    MerNetworkConv    first = square(b, name, "c1", out, 3, stride);
    MerNetworkConv    second = square(b, name, "c2", out, 3, 1);
    MerNetworkConv    shortcut = square(b, name, "ds", out, 1, stride);
    second.has_relu = shortcut.has_relu = false;
    shortcut.has_norm = has_shortcut_norm;
    MER_TRY(mer_network_conv(b, &first, error));
    MER_TRY(mer_network_conv(b, &second, error));
    if (stride > 1 || side.channels != out) {
        MER_TRY(mer_network_conv(&side, &shortcut, error));
    }
    MerOp op = part_op(b, name, "add", "Add", MER_OP_ELEMENTWISE);
    int   inputs[] = {b->value, side.value};
    add_op(b, &op, inputs, 2);
    add_relu(b, name);
    return MER_OK;
}

MerStatus mer_network_separable(MerNetworkBuilder *b, const char *name, int64_t out, int stride,
                                MerError *error)
{
    MerNetworkConv depthwise = square(b, name, "dw", b->channels, 3, stride);
    MerNetworkConv pointwise = square(b, name, "pw", out, 1, 1);
    depthwise.is_depthwise = true;
    MER_TRY(mer_network_conv(b, &depthwise, error));
    return mer_network_conv(b, &pointwise, error);
}

MerStatus mer_network_max_pool(MerNetworkBuilder *b, const char *name, int kernel, int stride,
                               int pad, MerError *error)
{
    MerOp op = mer_op_make(name, "MaxPool", MER_OP_POOL);
    MER_TRY(
        slide(b, &op, (int[]){kernel, kernel}, (int[]){stride, stride}, (int[]){pad, pad}, error));
    add_step(b, op);
    return MER_OK;
}

void mer_network_global_pool(MerNetworkBuilder *b, const char *name)
{
    b->rows = b->columns = 1;
    add_step(b, mer_op_make(name, "GlobalAveragePool", MER_OP_POOL));
}

void mer_network_linear(MerNetworkBuilder *b, const char *name, int64_t out, bool is_output)
{
    if (b->rows > 0) {
        b->channels *= b->rows * b->columns;
        b->rows = b->columns = 0;
        add_step(b, part_op(b, name, ".flatten", "Flatten", MER_OP_MOVE));
    }
    int64_t shape[] = {out, b->channels};
    MerOp   op = mer_op_make(name, "Gemm", MER_OP_GEMM);
    op.dims[MER_DIM_C] = b->channels;
    op.dims[MER_DIM_K] = out;
    int values[] = {b->value, add_weight(b, name, "weight", 2, shape),
                    add_weight(b, name, "bias", 1, &out)};
    b->channels = out;
    add_op(b, &op, values, 3);
    b->graph->values[b->value].is_output = is_output;
}
