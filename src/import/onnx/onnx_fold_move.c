/* Constants through operators that move elements: most are a strided view of their input. */
#include "import/onnx/onnx_fold.h"

#include <math.h>

bool mer_onnx_is_unknown(const OnnxContent *content, int at)
{
    return content->is_real ? isnan(content->reals[at]) : content->ints[at] == ONNX_UNKNOWN_ELEMENT;
}

const OnnxContent *mer_onnx_seal(OnnxContent *content)
{
    for (int i = 0; content != NULL && i < content->count && !content->is_partial; i++)
        content->is_partial = mer_onnx_is_unknown(content, i);
    return content;
}

void mer_onnx_strides(const OnnxShape *shape, int64_t *stride)
{
    int64_t next = 1;
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        stride[axis] = next;
        next *= shape->dims[axis];
    }
}

void mer_onnx_copy_element(OnnxContent *to, int at, const OnnxContent *from, int64_t source)
{
    if (from->is_real)
        to->reals[at] = from->reals[source];
    else
        to->ints[at] = from->ints[source];
}

OnnxContent *mer_onnx_view(OnnxContext *context, const OnnxContent *from, const OnnxShape *shape,
                           int64_t offset, const int64_t *stride)
{
    OnnxContent *content = mer_onnx_content_new(context, from->is_real, mer_onnx_elements(shape));
    int64_t      index[MER_MAX_RANK] = {0};
    for (int i = 0; content != NULL && i < content->count; i++) {
        int64_t source = offset;
        for (int axis = 0; axis < shape->rank; axis++)
            source += index[axis] * stride[axis];
        if (source < 0 || source >= from->count)
            return NULL;
        mer_onnx_copy_element(content, i, from, source);
        for (int axis = shape->rank - 1; axis >= 0 && ++index[axis] == shape->dims[axis]; axis--)
            index[axis] = 0;
    }
    return content;
}

OnnxContent *mer_onnx_spread(OnnxContext *context, const OnnxContent *from,
                             const OnnxShape *from_shape, const OnnxShape *shape)
{
    int64_t own[MER_MAX_RANK], stride[MER_MAX_RANK] = {0};
    mer_onnx_strides(from_shape, own);
    for (int axis = 0; axis < from_shape->rank; axis++) {
        int to = shape->rank - from_shape->rank + axis;
        if (to >= 0 && from_shape->dims[axis] != 1)
            stride[to] = own[axis];
    }
    return mer_onnx_view(context, from, shape, 0, stride);
}

const OnnxContent *mer_onnx_fold_shape(OnnxNode *node, int output)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    const OnnxShape *shape = &node->outputs[output]->shape;
    if (input->rank < 0)
        return NULL;
    OnnxContent *content = mer_onnx_content_new(node->context, false, shape->dims[0]);
    int64_t      start = mer_onnx_int(node, "start", 0);
    start = start < 0 ? start + input->rank : start;
    start = start < 0 ? 0 : start;
    for (int i = 0; content != NULL && i < content->count; i++) {
        int64_t dim = input->dims[start + i];
        content->ints[i] = dim == ONNX_UNKNOWN_DIM ? ONNX_UNKNOWN_ELEMENT : dim;
    }
    return mer_onnx_seal(content);
}

const OnnxContent *mer_onnx_fold_size(OnnxNode *node, int output)
{
    (void)output;
    int64_t      elements = mer_onnx_elements(mer_onnx_shape(node, 0));
    OnnxContent *content = elements >= 0 ? mer_onnx_content_new(node->context, false, 1) : NULL;
    if (content != NULL)
        content->ints[0] = elements;
    return content;
}

const OnnxContent *mer_onnx_fold_same_order(OnnxNode *node, int output)
{
    (void)output;
    return mer_onnx_input_content(node, 0);
}

const OnnxContent *mer_onnx_fold_transpose(OnnxNode *node, int output)
{
    const OnnxContent *from = mer_onnx_input_content(node, 0);
    const OnnxShape   *input = mer_onnx_shape(node, 0);
    const OnnxShape   *shape = &node->outputs[output]->shape;
    const int64_t     *order;
    if (from == NULL || shape->rank != input->rank)
        return NULL;
    int64_t own[MER_MAX_RANK], stride[MER_MAX_RANK];
    int     count = mer_onnx_ints(node, "perm", &order);
    mer_onnx_strides(input, own);
    for (int axis = 0; axis < shape->rank; axis++)
        stride[axis] =
            own[count < 0 ? shape->rank - 1 - axis
                          : (int)(order[axis] < 0 ? order[axis] + shape->rank : order[axis])];
    return mer_onnx_seal(mer_onnx_view(node->context, from, shape, 0, stride));
}

const OnnxContent *mer_onnx_fold_expand(OnnxNode *node, int output)
{
    const OnnxContent *from = mer_onnx_input_content(node, 0);
    if (from == NULL)
        return NULL;
    return mer_onnx_seal(mer_onnx_spread(node->context, from, mer_onnx_shape(node, 0),
                                         &node->outputs[output]->shape));
}

const OnnxContent *mer_onnx_fold_tile(OnnxNode *node, int output)
{
    const OnnxContent *from = mer_onnx_input_content(node, 0);
    const OnnxShape   *input = mer_onnx_shape(node, 0);
    const OnnxShape   *shape = &node->outputs[output]->shape;
    if (from == NULL || !mer_onnx_shape_is_known(shape))
        return NULL;
    OnnxContent *content =
        mer_onnx_content_new(node->context, from->is_real, mer_onnx_elements(shape));
    int64_t own[MER_MAX_RANK], index[MER_MAX_RANK] = {0};
    mer_onnx_strides(input, own);
    for (int i = 0; content != NULL && i < content->count; i++) {
        int64_t source = 0;
        for (int axis = 0; axis < shape->rank; axis++)
            source += index[axis] % input->dims[axis] * own[axis];
        mer_onnx_copy_element(content, i, from, source);
        for (int axis = shape->rank - 1; axis >= 0 && ++index[axis] == shape->dims[axis]; axis--)
            index[axis] = 0;
    }
    return mer_onnx_seal(content);
}

const OnnxContent *mer_onnx_fold_slice(OnnxNode *node, int output)
{
    const OnnxContent *from = mer_onnx_input_content(node, 0);
    OnnxSlice          slice;
    (void)output;
    if (from == NULL || mer_onnx_shape(node, 0)->rank < 0 || !mer_onnx_slice_read(node, &slice) ||
        !mer_onnx_shape_is_known(&slice.shape))
        return NULL;
    int64_t own[MER_MAX_RANK], stride[MER_MAX_RANK], offset = 0;
    mer_onnx_strides(mer_onnx_shape(node, 0), own);
    for (int axis = 0; axis < slice.shape.rank; axis++) {
        /* The step may be anything when only one element is taken. */
        stride[axis] = slice.shape.dims[axis] > 1 ? own[axis] * slice.step[axis] : 0;
        offset += own[axis] * slice.start[axis];
    }
    return mer_onnx_seal(mer_onnx_view(node->context, from, &slice.shape, offset, stride));
}

const OnnxContent *mer_onnx_fold_split(OnnxNode *node, int output)
{
    const OnnxContent *from = mer_onnx_input_content(node, 0);
    const OnnxShape   *input = mer_onnx_shape(node, 0);
    if (from == NULL || input->rank < 1)
        return NULL;
    int     axis = mer_onnx_axis_attribute(node, 0, input->rank);
    int64_t own[MER_MAX_RANK], offset = 0;
    mer_onnx_strides(input, own);
    for (int i = 0; i < output; i++) {
        if (node->outputs[i] == NULL || axis < 0 || node->outputs[i]->shape.dims[axis] < 0)
            return NULL;
        offset += own[axis] * node->outputs[i]->shape.dims[axis];
    }
    return mer_onnx_seal(
        mer_onnx_view(node->context, from, &node->outputs[output]->shape, offset, own));
}

const OnnxContent *mer_onnx_fold_concat(OnnxNode *node, int output)
{
    const OnnxShape   *shape = &node->outputs[output]->shape;
    const OnnxContent *first = mer_onnx_input_content(node, 0);
    if (first == NULL || !mer_onnx_shape_is_known(shape) || shape->rank < 1)
        return NULL;
    int          axis = mer_onnx_axis_attribute(node, 0, shape->rank);
    OnnxContent *content =
        mer_onnx_content_new(node->context, first->is_real, mer_onnx_elements(shape));
    int64_t inner = 1, at = 0;
    for (int i = axis + 1; axis >= 0 && i < shape->rank; i++)
        inner *= shape->dims[i];
    for (int part = 0; content != NULL && part < node->input_count; part++) {
        const OnnxContent *from = mer_onnx_input_content(node, part);
        if (from == NULL || from->is_real != content->is_real || axis < 0)
            return NULL;
        int64_t run = inner * mer_onnx_shape(node, part)->dims[axis];
        int64_t pitch = inner * shape->dims[axis];
        for (int i = 0; i < from->count; i++) {
            int64_t to = at + i / run * pitch + i % run;
            if (to >= content->count)
                return NULL;
            mer_onnx_copy_element(content, (int)to, from, i);
        }
        at += run;
    }
    return mer_onnx_seal(content);
}

const OnnxContent *mer_onnx_fold_gather(OnnxNode *node, int output)
{
    const OnnxContent *from = mer_onnx_input_content(node, 0);
    const OnnxContent *indices = mer_onnx_input_content(node, 1);
    const OnnxShape   *input = mer_onnx_shape(node, 0);
    const OnnxShape   *shape = &node->outputs[output]->shape;
    if (from == NULL || indices == NULL || indices->is_real || input->rank < 1)
        return NULL;
    int          axis = mer_onnx_axis_attribute(node, 0, input->rank);
    OnnxContent *content =
        mer_onnx_content_new(node->context, from->is_real, mer_onnx_elements(shape));
    int64_t inner = 1;
    for (int i = axis + 1; axis >= 0 && i < input->rank; i++)
        inner *= input->dims[i];
    for (int i = 0; content != NULL && i < content->count; i++) {
        int64_t size = input->dims[axis];
        int64_t index = indices->ints[i / inner % indices->count];
        int64_t outer = i / (inner * indices->count);
        if (index == ONNX_UNKNOWN_ELEMENT || index < -size || index >= size)
            return NULL;
        index += index < 0 ? size : 0;
        mer_onnx_copy_element(content, i, from, (outer * size + index) * inner + i % inner);
    }
    return mer_onnx_seal(content);
}

/* Indices of the elements that are not zero, one row per axis. */
const OnnxContent *mer_onnx_fold_non_zero(OnnxNode *node, int output)
{
    const OnnxContent *from = mer_onnx_input_content(node, 0);
    const OnnxShape   *input = mer_onnx_shape(node, 0);
    const OnnxShape   *shape = &node->outputs[output]->shape;
    if (from == NULL || from->is_partial || input->rank < 1)
        return NULL;
    OnnxContent *content = mer_onnx_content_new(node->context, false, mer_onnx_elements(shape));
    int64_t      own[MER_MAX_RANK];
    int          found = 0;
    mer_onnx_strides(input, own);
    for (int i = 0; content != NULL && i < from->count; i++) {
        if (from->is_real ? from->reals[i] == 0 : from->ints[i] == 0)
            continue;
        for (int axis = 0; axis < input->rank; axis++)
            content->ints[axis * shape->dims[1] + found] = i / own[axis] % input->dims[axis];
        found++;
    }
    return content;
}
