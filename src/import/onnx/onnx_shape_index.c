/* Outputs of operators that index, reduce, search or generate. */
#include "import/onnx/onnx.h"

#include <math.h>

OnnxShape mer_onnx_infer_gather(OnnxNode *node)
{
    const OnnxShape *data = mer_onnx_shape(node, 0);
    const OnnxShape *indices = mer_onnx_shape(node, 1);
    int64_t          wanted = mer_onnx_int(node, "axis", 0);
    if (data->rank < 0 || indices->rank < 0)
        return mer_onnx_unknown_shape;
    int       axis = mer_onnx_axis(node, wanted, data->rank);
    OnnxShape shape = mer_onnx_shape_unknown_dims(node, data->rank - 1 + indices->rank);
    for (int i = 0, from = 0; axis >= 0 && i < shape.rank; i++) {
        bool is_index = i >= axis && i < axis + indices->rank;
        from += from == axis;
        shape.dims[i] = is_index ? indices->dims[i - axis] : data->dims[from++];
    }
    return shape;
}

OnnxShape mer_onnx_infer_gather_elements(OnnxNode *node)
{
    return *mer_onnx_shape(node, 1);
}

OnnxShape mer_onnx_infer_gather_nd(OnnxNode *node)
{
    const OnnxShape *data = mer_onnx_shape(node, 0);
    const OnnxShape *indices = mer_onnx_shape(node, 1);
    int64_t          batch = mer_onnx_int(node, "batch_dims", 0);
    if (data->rank < 0 || indices->rank < 1 || indices->dims[indices->rank - 1] < 0)
        return mer_onnx_unknown_shape;
    int64_t depth = indices->dims[indices->rank - 1];
    if (batch < 0 || batch >= indices->rank || depth < 1 || batch + depth > data->rank)
        return mer_onnx_fail(node, "indices of length %lld after %lld batch axes do not fit %s",
                             (long long)depth, (long long)batch,
                             mer_onnx_shape_text(node->context, data));
    int64_t   kept = data->rank - batch - depth;
    OnnxShape shape = mer_onnx_shape_unknown_dims(node, indices->rank - 1 + kept);
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = i < indices->rank - 1 ? indices->dims[i]
                                              : data->dims[batch + depth + i - (indices->rank - 1)];
    return shape;
}

static OnnxShape reduced(const OnnxShape *input, unsigned mask, bool keeps)
{
    OnnxShape shape = {.rank = 0};
    for (int axis = 0; axis < input->rank; axis++) {
        bool goes = (mask & 1u << axis) != 0;
        if (!goes || keeps)
            shape.dims[shape.rank++] = goes ? 1 : input->dims[axis];
    }
    return shape;
}

OnnxShape mer_onnx_infer_reduce(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    bool             keeps = mer_onnx_int(node, "keepdims", 1) != 0;
    unsigned         mask;
    if (mer_onnx_reduced_axes(node, &mask))
        return reduced(input, mask, keeps);
    return keeps ? mer_onnx_shape_unknown_dims(node, input->rank) : mer_onnx_unknown_shape;
}

OnnxShape mer_onnx_infer_arg(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    bool             keeps = mer_onnx_int(node, "keepdims", 1) != 0;
    int64_t          wanted = mer_onnx_int(node, "axis", 0);
    int              axis = input->rank < 0 ? -1 : mer_onnx_axis(node, wanted, input->rank);
    return axis < 0 ? mer_onnx_unknown_shape : reduced(input, 1u << axis, keeps);
}

OnnxShape mer_onnx_infer_top_k(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    int64_t   wanted = mer_onnx_int(node, "axis", -1);
    int64_t   k = mer_onnx_int(node, "k", ONNX_UNKNOWN_DIM);
    OnnxInts  given = mer_onnx_ints_of(node, 1, NULL);
    if (given.count == 1)
        k = given.list[0] == ONNX_UNKNOWN_ELEMENT ? ONNX_UNKNOWN_DIM : given.list[0];
    if (k < ONNX_UNKNOWN_DIM)
        mer_onnx_fail(node, "k is %lld, expected 0 or more", (long long)k);
    int axis = shape.rank >= 0 ? mer_onnx_axis(node, wanted, shape.rank) : -1;
    if (axis >= 0 && shape.dims[axis] >= 0 && k > shape.dims[axis])
        mer_onnx_fail(node, "k is %lld, expected at most %lld", (long long)k,
                      (long long)shape.dims[axis]);
    if (axis >= 0)
        shape.dims[axis] = k;
    mer_onnx_set(node, 1, MER_TYPE_INT64, shape);
    return shape;
}

/* How many elements are not zero depends on the data. */
OnnxShape mer_onnx_infer_non_zero(OnnxNode *node)
{
    const OnnxShape   *input = mer_onnx_shape(node, 0);
    const OnnxContent *content = mer_onnx_input_content(node, 0);
    OnnxShape shape = {.rank = 2, .dims = {input->rank == 0 ? 1 : input->rank, ONNX_UNKNOWN_DIM}};
    if (input->rank < 0)
        shape.dims[0] = ONNX_UNKNOWN_DIM;
    if (content != NULL && !content->is_partial) {
        shape.dims[1] = 0;
        for (int i = 0; i < content->count; i++)
            shape.dims[1] += content->is_real ? content->reals[i] != 0 : content->ints[i] != 0;
    }
    return shape;
}

static bool read_scalar(OnnxNode *node, int input, double *value)
{
    const OnnxContent *content = mer_onnx_input_content(node, input);
    if (content == NULL || content->count != 1 || content->is_partial)
        return false;
    *value = content->is_real ? content->reals[0] : (double)content->ints[0];
    return true;
}

OnnxShape mer_onnx_infer_one_hot(OnnxNode *node)
{
    const OnnxShape *indices = mer_onnx_shape(node, 0);
    double           depth;
    bool             is_known = read_scalar(node, 1, &depth);
    node->result_type = mer_onnx_input_type(node, 2);
    if (indices->rank < 0)
        return mer_onnx_unknown_shape;
    OnnxShape shape = mer_onnx_shape_unknown_dims(node, indices->rank + 1);
    int       axis = mer_onnx_axis_attribute(node, -1, shape.rank);
    for (int i = 0, from = 0; axis >= 0 && i < shape.rank; i++) {
        if (i != axis)
            shape.dims[i] = indices->dims[from++];
        else if (is_known && depth >= 0 && depth <= (double)ONNX_MAX_DIM)
            shape.dims[i] = (int64_t)depth;
    }
    return shape;
}

OnnxShape mer_onnx_infer_range(OnnxNode *node)
{
    OnnxShape shape = {.rank = 1, .dims = {ONNX_UNKNOWN_DIM}};
    double    start, limit, delta;
    if (read_scalar(node, 0, &start) && read_scalar(node, 1, &limit) &&
        read_scalar(node, 2, &delta)) {
        if (delta == 0)
            mer_onnx_fail(node, "the step is 0");
        double count = ceil((limit - start) / delta);
        if (count <= (double)ONNX_MAX_DIM)
            shape.dims[0] = count > 0 ? (int64_t)count : 0;
    }
    return shape;
}

OnnxShape mer_onnx_infer_shape(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    OnnxShape        shape = {.rank = 1, .dims = {ONNX_UNKNOWN_DIM}};
    int64_t          rank = input->rank;
    int64_t start = mer_onnx_int(node, "start", 0), end = mer_onnx_int(node, "end", INT64_MAX);
    if (rank >= 0) {
        start = start < 0 ? start + rank : start;
        end = end < 0 ? end + rank : end;
        start = start < 0 ? 0 : start > rank ? rank : start;
        end = end < start ? start : end > rank ? rank : end;
        shape.dims[0] = end - start;
    }
    return shape;
}

OnnxShape mer_onnx_infer_size(OnnxNode *node)
{
    (void)node;
    return (OnnxShape){.rank = 0};
}

OnnxShape mer_onnx_infer_constant_of_shape(OnnxNode *node)
{
    const Onnx__AttributeProto *value = mer_onnx_attribute(node, "value");
    node->result_type = MER_TYPE_FLOAT32;
    if (value != NULL && value->t != NULL && value->t->has_data_type)
        node->result_type = mer_onnx_type(value->t->data_type);
    const OnnxShape *list = mer_onnx_shape(node, 0);
    OnnxShape        shape = mer_onnx_shape_of_list(node, 0, NULL);
    if (shape.rank < 0)
        shape = mer_onnx_shape_unknown_dims(node, list->rank == 1 ? list->dims[0] : -1);
    return shape;
}

/* RandomNormal and RandomUniform: the shape is an attribute. */
OnnxShape mer_onnx_infer_random(OnnxNode *node)
{
    bool is_given = mer_onnx_ints(node, "shape").count >= 0;
    node->result_type = mer_onnx_type(mer_onnx_int(node, "dtype", 1));
    return is_given ? mer_onnx_shape_of_list(node, -1, "shape")
                    : mer_onnx_fail(node, "attribute shape is missing");
}

OnnxShape mer_onnx_infer_suppression(OnnxNode *node)
{
    (void)node;
    return (OnnxShape){.rank = 2, .dims = {ONNX_UNKNOWN_DIM, 3}};
}

OnnxShape mer_onnx_infer_compress(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    int       axis = 0;
    if (shape.rank < 0 || !mer_onnx_has(node, "axis"))
        shape = (OnnxShape){.rank = 1};
    else
        axis = mer_onnx_axis(node, mer_onnx_int(node, "axis", 0), shape.rank);
    if (axis >= 0)
        shape.dims[axis] = ONNX_UNKNOWN_DIM;
    return shape;
}

OnnxShape mer_onnx_infer_unique(OnnxNode *node)
{
    OnnxShape list = {.rank = 1, .dims = {ONNX_UNKNOWN_DIM}};
    for (int i = 1; i < node->output_count; i++)
        mer_onnx_set(node, i, MER_TYPE_INT64, list);
    return mer_onnx_infer_compress(node);
}

OnnxShape mer_onnx_infer_det(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    if (shape.rank >= 2)
        shape.rank -= 2;
    return shape;
}
