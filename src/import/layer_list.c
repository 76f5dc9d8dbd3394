/* One operator with its own input, weights and output (shapes as in graph.h's kinds). */
#include "import/layer_list.h"

#include "mercator/option.h"

#include <stdio.h>
#include <string.h>

int64_t mer_layer_output_size(int64_t size, int64_t filter, int64_t stride, int64_t dilation)
{
    int64_t extent = dilation * (filter - 1) + 1;
    return size < extent ? 0 : (size - extent) / stride + 1;
}

/* The input rows that `output` rows touch. */
static int64_t input_size(int64_t output, int64_t filter, int64_t stride, int64_t dilation)
{
    return (output - 1) * stride + dilation * (filter - 1) + 1;
}

MerStatus mer_layer_network(const MerImportFile *file, const char *const *names, int count,
                            const char *select, int *index, MerError *error)
{
    char   list[400] = "";
    size_t length = 0;
    *index = 0;
    if (select == NULL && count == 1) {
        return MER_OK;
    }
    for (int i = 0; i < count; i++) {
        if (select != NULL && mer_name_equal(names[i], select)) {
            *index = i;
            return MER_OK;
        }
        if (length < sizeof list) {
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                       i > 0 ? ", " : "", names[i]);
        }
    }
    if (select == NULL) {
        return mer_error_set(error, MER_INVALID,
                             "%s holds %d networks, expected one to be selected: %s (`network: "
                             "NAME` beside `file` in a job list, --select NAME of inspect)",
                             file->path, count, list);
    }
    const char *near = mer_name_nearest(select, names, count);
    return mer_error_set(error, MER_NOT_FOUND, "%s has no network \"%.80s\", %s%s%s", file->path,
                         select, near != NULL ? "did you mean \"" : "only ",
                         near != NULL ? near : list, near != NULL ? "\"" : "");
}

typedef struct Shape {
    int     rank;
    int64_t dims[5];
} Shape;

static int add_value(MerGraph *graph, const MerOp *op, const char *part, MerValueRole role,
                     const Shape *shape)
{
    MerValue value = {.name = mer_arena_format(graph->arena, "%s.%s", op->name, part),
                      .type = MER_TYPE_FLOAT32,
                      .role = role,
                      .is_output = role == MER_VALUE_ACTIVATION,
                      .rank = shape->rank};
    memcpy(value.dims, shape->dims, sizeof shape->dims);
    return mer_graph_add_value(graph, &value);
}

static void convolution_shapes(const MerOp *op, Shape *input, Shape *weights, Shape *output)
{
    const int64_t *d = op->dims;
    /* Depthwise: every channel is a group. */
    bool    is_depthwise = op->kind == MER_OP_DEPTHWISE;
    int64_t groups = is_depthwise ? d[MER_DIM_C] : d[MER_DIM_G], filters = d[MER_DIM_K] * groups;
    int64_t own = is_depthwise ? 1 : d[MER_DIM_C], channels = own * groups;
    *input = (Shape){4, {d[MER_DIM_N], channels, op->input_rows, op->input_columns}};
    *weights = (Shape){4, {filters, own, d[MER_DIM_R], d[MER_DIM_S]}};
    *output = (Shape){4, {d[MER_DIM_N], filters, d[MER_DIM_Y], d[MER_DIM_X]}};
    if (op->kind == MER_OP_TRANSPOSED) {
        *weights = (Shape){4, {channels, d[MER_DIM_K], d[MER_DIM_R], d[MER_DIM_S]}};
        output->dims[2] = input_size(d[MER_DIM_Y], d[MER_DIM_R], op->stride[0], op->dilation[0]);
        output->dims[3] = input_size(d[MER_DIM_X], d[MER_DIM_S], op->stride[1], op->dilation[1]);
    }
}

static void product_shapes(const MerOp *op, Shape *input, Shape *weights, Shape *output)
{
    const int64_t *d = op->dims;
    int64_t        rows = d[MER_DIM_N] * d[MER_DIM_Y];
    *input = (Shape){2, {rows, d[MER_DIM_C]}};
    *weights = (Shape){2, {d[MER_DIM_C], d[MER_DIM_K]}};
    *output = (Shape){2, {rows, d[MER_DIM_K]}};
    if (op->kind == MER_OP_BATCHED_GEMM) {
        *input = (Shape){3, {d[MER_DIM_G], rows, d[MER_DIM_C]}};
        *weights = (Shape){3, {d[MER_DIM_G], d[MER_DIM_C], d[MER_DIM_K]}};
        *output = (Shape){3, {d[MER_DIM_G], rows, d[MER_DIM_K]}};
    }
}

void mer_layer_add(MerGraph *graph, const MerOp *op)
{
    MerOp copy = *op;
    bool  is_product = op->kind == MER_OP_GEMM || op->kind == MER_OP_BATCHED_GEMM;
    bool  is_transposed = op->kind == MER_OP_TRANSPOSED;
    Shape input, weights, output;
    for (int axis = 0; !is_product && axis < 2; axis++) {
        int64_t *size = axis == 0 ? &copy.input_rows : &copy.input_columns;
        int64_t  extent = op->dims[MER_DIM_Y + axis];
        if (*size == 0) {
            *size = is_transposed ? extent
                                  : input_size(extent, op->dims[MER_DIM_R + axis], op->stride[axis],
                                               op->dilation[axis]);
        }
    }
    if (is_product) {
        product_shapes(&copy, &input, &weights, &output);
    } else {
        convolution_shapes(&copy, &input, &weights, &output);
    }
    /* The second factor of a batched product is no parameter. */
    MerValueRole second = op->kind == MER_OP_BATCHED_GEMM ? MER_VALUE_INPUT : MER_VALUE_WEIGHT;
    int          inputs[2], outputs[1];
    inputs[0] = add_value(graph, op, "input", MER_VALUE_INPUT, &input);
    inputs[1] = add_value(graph, op, "weights", second, &weights);
    outputs[0] = add_value(graph, op, "output", MER_VALUE_ACTIVATION, &output);
    copy.input_count = 2;
    copy.inputs = inputs;
    copy.output_count = 1;
    copy.outputs = outputs;
    mer_graph_add_op(graph, &copy);
}
