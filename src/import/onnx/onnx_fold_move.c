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

OnnxContent *mer_onnx_output_content(OnnxNode *node, int output, bool is_real)
{
    return mer_onnx_content_new(node->context, is_real,
                                mer_onnx_elements(&node->outputs[output]->shape));
}

/* The input of an operator that moves elements. */
typedef struct Source {
    const OnnxContent *content;
    const OnnxShape   *shape;
    int64_t            stride[MER_MAX_RANK];
} Source;

/* False: the content is not known. If it is, the shape is, too. */
static bool open_source(OnnxNode *node, int input, Source *from)
{
    *from = (Source){mer_onnx_input_content(node, input), mer_onnx_shape(node, input), {0}};
    if (from->content != NULL)
        mer_onnx_strides(from->shape, from->stride);
    return from->content != NULL;
}

/* Moves the index to the next element, row by row. */
static void step(const OnnxShape *shape, int64_t *index)
{
    for (int axis = shape->rank - 1; axis >= 0 && ++index[axis] == shape->dims[axis]; axis--)
        index[axis] = 0;
}

/* Element i of the output is element offset + sum of index[axis] * stride[axis] of `from`. NULL if
 * that leaves the source or the output is too large. */
static OnnxContent *view(OnnxNode *node, int output, const Source *from, int64_t offset,
                         const int64_t *stride)
{
    const OnnxShape *shape = &node->outputs[output]->shape;
    OnnxContent     *content = mer_onnx_output_content(node, output, from->content->is_real);
    int64_t          index[MER_MAX_RANK] = {0};
    for (int i = 0; content != NULL && i < content->count; i++) {
        int64_t source = offset;
        for (int axis = 0; axis < shape->rank; axis++)
            source += index[axis] * stride[axis];
        if (source < 0 || source >= from->content->count)
            return NULL;
        mer_onnx_copy_element(content, i, from->content, source);
        step(shape, index);
    }
    return content;
}

OnnxContent *mer_onnx_spread(OnnxNode *node, int input, int output)
{
    Source  from;
    int64_t stride[MER_MAX_RANK] = {0};
    if (!open_source(node, input, &from))
        return NULL;
    for (int axis = 0; axis < from.shape->rank; axis++) {
        int to = node->outputs[output]->shape.rank - from.shape->rank + axis;
        if (to >= 0 && from.shape->dims[axis] != 1)
            stride[to] = from.stride[axis];
    }
    return view(node, output, &from, 0, stride);
}

const OnnxContent *mer_onnx_fold_expand(OnnxNode *node, int output)
{
    return mer_onnx_seal(mer_onnx_spread(node, 0, output));
}

const OnnxContent *mer_onnx_fold_shape(OnnxNode *node, int output)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    if (input->rank < 0)
        return NULL;
    OnnxContent *content = mer_onnx_output_content(node, output, false);
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
    int64_t      elements = mer_onnx_elements(mer_onnx_shape(node, 0));
    OnnxContent *content = elements >= 0 ? mer_onnx_output_content(node, output, false) : NULL;
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
    const OnnxShape *shape = &node->outputs[output]->shape;
    OnnxInts         order = mer_onnx_ints(node, "perm");
    Source           from;
    int64_t          stride[MER_MAX_RANK];
    if (!open_source(node, 0, &from) || shape->rank != from.shape->rank)
        return NULL;
    for (int axis = 0; axis < shape->rank; axis++)
        stride[axis] =
            from.stride[order.count < 0 ? shape->rank - 1 - axis
                                        : mer_onnx_axis(node, order.list[axis], shape->rank)];
    return mer_onnx_seal(view(node, output, &from, 0, stride));
}

const OnnxContent *mer_onnx_fold_tile(OnnxNode *node, int output)
{
    const OnnxShape *shape = &node->outputs[output]->shape;
    Source           from;
    if (!open_source(node, 0, &from))
        return NULL;
    OnnxContent *content = mer_onnx_output_content(node, output, from.content->is_real);
    int64_t      index[MER_MAX_RANK] = {0};
    for (int i = 0; content != NULL && i < content->count; i++) {
        int64_t source = 0;
        for (int axis = 0; axis < shape->rank; axis++)
            source += index[axis] % from.shape->dims[axis] * from.stride[axis];
        mer_onnx_copy_element(content, i, from.content, source);
        step(shape, index);
    }
    return mer_onnx_seal(content);
}

const OnnxContent *mer_onnx_fold_slice(OnnxNode *node, int output)
{
    Source    from;
    OnnxSlice slice;
    if (!open_source(node, 0, &from) || !mer_onnx_slice_read(node, &slice) ||
        !mer_onnx_shape_is_known(&slice.shape))
        return NULL;
    int64_t stride[MER_MAX_RANK], offset = 0;
    for (int axis = 0; axis < slice.shape.rank; axis++) {
        /* The step may be anything when only one element is taken. */
        stride[axis] = slice.shape.dims[axis] > 1 ? from.stride[axis] * slice.step[axis] : 0;
        offset += from.stride[axis] * slice.start[axis];
    }
    return mer_onnx_seal(view(node, output, &from, offset, stride));
}

const OnnxContent *mer_onnx_fold_split(OnnxNode *node, int output)
{
    Source from;
    if (!open_source(node, 0, &from) || from.shape->rank < 1)
        return NULL;
    int     axis = mer_onnx_axis_attribute(node, 0, from.shape->rank);
    int64_t offset = 0;
    for (int i = 0; i < output; i++) {
        if (node->outputs[i] == NULL || axis < 0 || node->outputs[i]->shape.dims[axis] < 0)
            return NULL;
        offset += from.stride[axis] * node->outputs[i]->shape.dims[axis];
    }
    return mer_onnx_seal(view(node, output, &from, offset, from.stride));
}

const OnnxContent *mer_onnx_fold_concat(OnnxNode *node, int output)
{
    const OnnxShape   *shape = &node->outputs[output]->shape;
    const OnnxContent *first = mer_onnx_input_content(node, 0);
    if (first == NULL || !mer_onnx_shape_is_known(shape) || shape->rank < 1)
        return NULL;
    int          axis = mer_onnx_axis_attribute(node, 0, shape->rank);
    OnnxContent *content = mer_onnx_output_content(node, output, first->is_real);
    int64_t      stride[MER_MAX_RANK], at = 0;
    mer_onnx_strides(shape, stride);
    for (int part = 0; content != NULL && part < node->input_count; part++) {
        const OnnxContent *from = mer_onnx_input_content(node, part);
        if (from == NULL || from->is_real != content->is_real || axis < 0)
            return NULL;
        int64_t run = stride[axis] * mer_onnx_shape(node, part)->dims[axis];
        int64_t pitch = stride[axis] * shape->dims[axis];
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
    const OnnxContent *indices = mer_onnx_input_content(node, 1);
    Source             from;
    if (!open_source(node, 0, &from) || indices == NULL || indices->is_real || from.shape->rank < 1)
        return NULL;
    int          axis = mer_onnx_axis_attribute(node, 0, from.shape->rank);
    OnnxContent *content = mer_onnx_output_content(node, output, from.content->is_real);
    for (int i = 0; content != NULL && i < content->count; i++) {
        int64_t inner = from.stride[axis], size = from.shape->dims[axis];
        int64_t index = indices->ints[i / inner % indices->count];
        int64_t outer = i / (inner * indices->count);
        if (index == ONNX_UNKNOWN_ELEMENT || index < -size || index >= size)
            return NULL;
        index += index < 0 ? size : 0;
        mer_onnx_copy_element(content, i, from.content, (outer * size + index) * inner + i % inner);
    }
    return mer_onnx_seal(content);
}

/* Indices of the elements that are not zero, one row per axis. */
const OnnxContent *mer_onnx_fold_non_zero(OnnxNode *node, int output)
{
    const OnnxShape *shape = &node->outputs[output]->shape;
    Source           from;
    int              found = 0;
    if (!open_source(node, 0, &from) || from.content->is_partial || from.shape->rank < 1)
        return NULL;
    OnnxContent *content = mer_onnx_output_content(node, output, false);
    for (int i = 0; content != NULL && i < from.content->count; i++) {
        if (from.content->is_real ? from.content->reals[i] == 0 : from.content->ints[i] == 0)
            continue;
        for (int axis = 0; axis < from.shape->rank; axis++)
            content->ints[axis * shape->dims[1] + found] =
                i / from.stride[axis] % from.shape->dims[axis];
        found++;
    }
    return content;
}
