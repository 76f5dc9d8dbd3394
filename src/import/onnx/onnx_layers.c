/* From a node with known shapes to operators with loop extents. */
#include "import/onnx/onnx.h"

#include <string.h>

int mer_onnx_value_index(OnnxContext *context, OnnxValue *value)
{
    if (value->index >= 0)
        return value->index;
    MerValue added = {.name = value->name, .type = value->type, .role = value->role, .rank = -1};
    if (mer_onnx_shape_is_known(&value->shape)) {
        added.rank = value->shape.rank;
        memcpy(added.dims, value->shape.dims, sizeof added.dims);
    }
    value->index = mer_graph_add_value(context->graph, &added);
    return value->index;
}

OnnxValue *mer_onnx_part_value(OnnxNode *node, const char *label, MerType type, OnnxShape shape)
{
    const char *name = mer_arena_format(node->context->scratch, "%s/%s", node->name, label);
    OnnxValue  *value = mer_onnx_value_new(node->context, name, type, MER_VALUE_ACTIVATION);
    value->shape = shape;
    return value;
}

static int *indices_of(OnnxContext *context, OnnxValue *const *values, int count)
{
    int *indices = MER_ARRAY(context->scratch, int, count + 1);
    for (int i = 0; i < count; i++)
        indices[i] = values[i] != NULL ? mer_onnx_value_index(context, values[i]) : -1;
    return indices;
}

/* The first input with a size of 0, or NULL. */
static const OnnxValue *find_empty(OnnxValue *const *inputs, int count)
{
    for (int i = 0; i < count; i++) {
        for (int axis = 0; inputs[i] != NULL && axis < inputs[i]->shape.rank; axis++) {
            if (inputs[i]->shape.dims[axis] == 0)
                return inputs[i];
        }
    }
    return NULL;
}

/* Activations may be empty where a network runs (a cache of length 0); weights never are. */
static void note_empty(OnnxNode *node, const OnnxValue *value)
{
    OnnxContext *context = node->context;
    if (value != NULL && value->role == MER_VALUE_WEIGHT)
        mer_onnx_fail(node, "the weights \"%.120s\" are %s, expected no size of 0",
                      mer_onnx_clean(context, value->name),
                      mer_onnx_shape_text(context, &value->shape));
    if (context->empty_count++ == 0)
        context->empty_text = mer_arena_format(
            context->scratch, "\"%.120s\"%s%.120s%s", node->name,
            value != NULL ? " (tensor \"" : "",
            value != NULL ? mer_onnx_clean(context, value->name) : "", value != NULL ? "\")" : "");
}

/* Why an operator has no loops: a size is not known, or there is nothing to do. */
static void drop_loops(OnnxNode *node, MerOp *op, bool is_unknown)
{
    OnnxContext *context = node->context;
    if (is_unknown && context->uncounted_count++ == 0)
        context->uncounted_name = node->name;
    *op = mer_op_make(op->name, op->source, MER_OP_MOVE);
}

void mer_onnx_emit_part(OnnxNode *node, MerOp op, OnnxValue *const *inputs, int input_count,
                        OnnxValue *const *outputs, int output_count)
{
    OnnxContext *context = node->context;
    bool         is_unknown = false, is_empty = false;
    for (int dim = 0; dim < MER_DIM_COUNT; dim++) {
        is_unknown |= op.dims[dim] < 0;
        is_empty |= op.dims[dim] == 0;
    }
    if (is_empty && !is_unknown)
        note_empty(node, find_empty(inputs, input_count));
    if (is_unknown || is_empty)
        drop_loops(node, &op, is_unknown);
    if (__builtin_mul_overflow(op.repeat, context->repeat, &op.repeat)) {
        mer_onnx_fail(node, "the loops around the node repeat too often");
        return;
    }
    op.input_count = input_count;
    op.inputs = indices_of(context, inputs, input_count);
    op.output_count = output_count;
    op.outputs = indices_of(context, outputs, output_count);
    mer_graph_add_op(context->graph, &op);
}

void mer_onnx_emit_loops(OnnxNode *node, MerOp op)
{
    mer_onnx_emit_part(node, op, node->inputs, node->input_count, node->outputs,
                       node->output_count);
}

/* Counted among those whose MACs are not known. */
void mer_onnx_emit_unknown(OnnxNode *node)
{
    MerOp op = mer_op_make(node->name, node->op, MER_OP_GEMM);
    op.dims[MER_DIM_Y] = ONNX_UNKNOWN_DIM;
    mer_onnx_emit_loops(node, op);
}

void mer_onnx_emit_plain(OnnxNode *node, MerOpKind kind)
{
    mer_onnx_emit_loops(node, mer_op_make(node->name, node->op, kind));
}

/* Rows and columns of the window into the operator. A 1-D window has one row; the depth of a 3-D
 * one is left to the caller. */
static void set_window(MerOp *op, const OnnxWindow *window)
{
    for (int axis = 0; axis < 2; axis++) {
        int from = window->count - 2 + axis;
        if (from < 0)
            continue;
        op->stride[axis] = (int)window->stride[from];
        op->dilation[axis] = (int)window->dilation[from];
        op->pad[axis] = (int)window->pad_begin[from];
        op->pad[axis + 2] = (int)window->pad_end[from];
    }
    int columns = window->count - 1;
    op->input_rows = window->count >= 2 ? window->input[columns - 1] : 1;
    op->input_columns = window->input[columns];
    op->input_rows = op->input_rows < 0 ? 0 : op->input_rows;
    op->input_columns = op->input_columns < 0 ? 0 : op->input_columns;
}

/* Y X R S of a convolution; a third axis goes into N (sizes) and C (kernel), so the MACs are right
 * although the loops of a plane are not those of a volume. */
static void set_spatial(OnnxNode *node, MerOp *op, const int64_t *sizes, int64_t *batch,
                        int64_t *channels)
{
    const OnnxWindow *window = &node->window;
    int               last = window->count - 1;
    op->dims[MER_DIM_X] = sizes[last];
    op->dims[MER_DIM_S] = window->kernel[last];
    if (window->count >= 2) {
        op->dims[MER_DIM_Y] = sizes[last - 1];
        op->dims[MER_DIM_R] = window->kernel[last - 1];
    }
    if (window->count == 3) {
        *batch = mer_onnx_multiply(node, *batch, sizes[0]);
        *channels = mer_onnx_multiply(node, *channels, window->kernel[0]);
        mer_graph_warn(node->context->graph, "3-D convolutions: the depth of the output is counted "
                                             "in N and that of the kernel in C");
    }
    set_window(op, window);
}

void mer_onnx_emit_conv(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    const OnnxShape *weights = mer_onnx_shape(node, mer_onnx_right(node));
    MerOp            op = mer_op_make(node->name, node->op, MER_OP_CONV);
    if (node->window.count == 0 || weights->rank < 2) {
        mer_onnx_emit_unknown(node);
        return;
    }
    int64_t group = mer_onnx_group(node, input->dims[1]);
    int64_t batch = input->dims[0], channels = weights->dims[1], filters = weights->dims[0];
    bool    is_depthwise = group > 1 && channels == 1 && filters == group;
    set_spatial(node, &op, node->window.output, &batch, &channels);
    op.dims[MER_DIM_N] = batch;
    if (is_depthwise) {
        op.kind = MER_OP_DEPTHWISE;
        op.dims[MER_DIM_C] = mer_onnx_multiply(node, group, channels);
    } else {
        op.dims[MER_DIM_G] = group;
        op.dims[MER_DIM_K] = filters < 0 ? filters : filters / group;
        op.dims[MER_DIM_C] = channels;
    }
    mer_onnx_emit_loops(node, op);
}

void mer_onnx_emit_conv_transpose(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    const OnnxShape *weights = mer_onnx_shape(node, 1);
    MerOp            op = mer_op_make(node->name, node->op, MER_OP_TRANSPOSED);
    if (node->window.count == 0 || weights->rank < 2) {
        mer_onnx_emit_unknown(node);
        return;
    }
    int64_t group = mer_onnx_group(node, weights->dims[0]);
    int64_t batch = input->dims[0];
    int64_t channels = weights->dims[0] < 0 ? ONNX_UNKNOWN_DIM : weights->dims[0] / group;
    set_spatial(node, &op, node->window.input, &batch, &channels);
    op.dims[MER_DIM_N] = batch;
    op.dims[MER_DIM_G] = group;
    op.dims[MER_DIM_C] = channels;
    op.dims[MER_DIM_K] = weights->dims[1];
    mer_onnx_emit_loops(node, op);
}

void mer_onnx_emit_pool(OnnxNode *node)
{
    MerOp op = mer_op_make(node->name, node->op, MER_OP_POOL);
    if (node->window.count > 0)
        set_window(&op, &node->window);
    mer_onnx_emit_loops(node, op);
}
