/* Outputs of operators that move elements without touching them. */
#include "import/onnx/onnx.h"

#include <string.h>

/* Puts the one size that is -1 so that the elements fit. */
static void fill_reshape(OnnxNode *node, OnnxShape *shape, int open_axis, int64_t elements)
{
    int64_t others = 1;
    for (int axis = 0; axis < shape->rank; axis++) {
        if (axis == open_axis)
            continue;
        if (shape->dims[axis] == ONNX_UNKNOWN_DIM ||
            __builtin_mul_overflow(others, shape->dims[axis], &others))
            return;
    }
    if (elements < 0)
        return;
    bool fits = open_axis < 0 ? others == elements : others > 0 && elements % others == 0;
    if (open_axis >= 0 && others == 0 && elements == 0) {
        shape->dims[open_axis] = 0;
        return;
    }
    if (!fits)
        mer_onnx_fail(node, "%lld elements do not fit into the shape %s", (long long)elements,
                      mer_onnx_shape_text(node->context, shape));
    else if (open_axis >= 0)
        shape->dims[open_axis] = elements / others;
}

static int64_t reshaped_dim(OnnxNode *node, int64_t wanted, const OnnxShape *input, int axis,
                            bool allows_zero)
{
    if (wanted == ONNX_UNKNOWN_ELEMENT)
        return ONNX_UNKNOWN_DIM;
    if (wanted == 0 && !allows_zero) {
        if (input->rank >= 0 && axis >= input->rank)
            mer_onnx_fail(node, "the shape copies dimension %d, the input has %d", axis,
                          input->rank);
        return axis < input->rank ? input->dims[axis] : ONNX_UNKNOWN_DIM;
    }
    if (wanted < -1)
        mer_onnx_fail(node, "the shape has the size %lld, expected -1 or more", (long long)wanted);
    return wanted < -1 ? 1 : wanted;
}

OnnxShape mer_onnx_infer_reshape(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    OnnxInts         wanted = mer_onnx_ints_of(node, 1, "shape");
    if (wanted.count == -1)
        mer_onnx_fail(node, "the new shape is missing");
    if (wanted.count < 0) {
        const OnnxShape *list = mer_onnx_shape(node, 1);
        int64_t          rank = list->rank == 1 ? list->dims[0] : -1;
        return mer_onnx_shape_unknown_dims(node, rank);
    }
    OnnxShape shape = mer_onnx_shape_unknown_dims(node, wanted.count);
    bool      allows_zero = mer_onnx_int(node, "allowzero", 0) != 0;
    int       open_axis = -1, unknown_count = 0;
    for (int axis = 0; axis < shape.rank; axis++) {
        if (wanted.list[axis] == -1 && open_axis >= 0)
            mer_onnx_fail(node, "the shape has more than one -1");
        if (wanted.list[axis] == -1)
            open_axis = axis;
        shape.dims[axis] = reshaped_dim(node, wanted.list[axis], input, axis, allows_zero);
        unknown_count += wanted.list[axis] != -1 && shape.dims[axis] == ONNX_UNKNOWN_DIM;
    }
    int64_t elements = mer_onnx_elements(input);
    /* One unknown size beside known ones follows from the elements as -1 does. */
    for (int axis = 0; open_axis < 0 && unknown_count == 1 && axis < shape.rank; axis++)
        open_axis = shape.dims[axis] == ONNX_UNKNOWN_DIM ? axis : open_axis;
    if (shape.rank >= 0)
        fill_reshape(node, &shape, open_axis, elements);
    return shape;
}

OnnxShape mer_onnx_infer_flatten(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    OnnxShape        shape = {.rank = 2, .dims = {1, 1}};
    if (input->rank < 0)
        return mer_onnx_shape_unknown_dims(node, 2);
    int64_t axis = mer_onnx_int(node, "axis", 1);
    if (axis < -input->rank || axis > input->rank)
        return mer_onnx_fail(node, "axis is %lld, expected %d to %d", (long long)axis, -input->rank,
                             input->rank);
    axis = axis < 0 ? axis + input->rank : axis;
    for (int i = 0; i < input->rank; i++)
        shape.dims[i >= axis] = mer_onnx_multiply(node, shape.dims[i >= axis], input->dims[i]);
    return shape;
}

OnnxShape mer_onnx_infer_transpose(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    OnnxShape        shape = *input;
    OnnxInts         order = mer_onnx_ints(node, "perm");
    if (input->rank >= 0 && order.count >= 0 && order.count != input->rank)
        return mer_onnx_fail(node, "perm has %d axes, the input has %d", order.count, input->rank);
    unsigned seen = 0;
    for (int axis = 0; axis < input->rank; axis++) {
        int from = order.count < 0 ? input->rank - 1 - axis
                                   : mer_onnx_axis(node, order.list[axis], input->rank);
        if (from < 0)
            return mer_onnx_unknown_shape;
        if ((seen & 1u << from) != 0)
            mer_onnx_fail(node, "perm names axis %d twice", from);
        seen |= 1u << from;
        shape.dims[axis] = input->dims[from];
    }
    return shape;
}

OnnxShape mer_onnx_infer_squeeze(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    OnnxShape        shape = {.rank = 0};
    bool             is_given;
    unsigned         mask;
    bool is_known = input->rank >= 0 && mer_onnx_axes(node, 1, input->rank, &is_given, &mask);
    for (int axis = 0; is_known && axis < input->rank; axis++) {
        bool goes = is_given ? (mask & 1u << axis) != 0 : input->dims[axis] == 1;
        if (goes && input->dims[axis] > 1)
            mer_onnx_fail(node, "axis %d has size %lld, expected 1", axis,
                          (long long)input->dims[axis]);
        if (!is_given && input->dims[axis] == ONNX_UNKNOWN_DIM)
            is_known = false;
        if (!goes)
            shape.dims[shape.rank++] = input->dims[axis];
    }
    return is_known ? shape : mer_onnx_unknown_shape;
}

OnnxShape mer_onnx_infer_unsqueeze(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    OnnxInts         axes = mer_onnx_ints_of(node, 1, "axes");
    if (axes.count == -1)
        mer_onnx_fail(node, "the axes are missing");
    if (input->rank < 0 || axes.count < 0)
        return mer_onnx_unknown_shape;
    OnnxShape shape = mer_onnx_shape_unknown_dims(node, (int64_t)input->rank + axes.count);
    bool      is_given;
    unsigned  mask;
    if (shape.rank >= 0 && mer_onnx_axes(node, 1, shape.rank, &is_given, &mask)) {
        int from = 0;
        for (int axis = 0; axis < shape.rank; axis++) {
            bool is_new = (mask & 1u << axis) != 0;
            shape.dims[axis] = is_new || from >= input->rank ? 1 : input->dims[from++];
        }
    }
    return shape;
}

OnnxShape mer_onnx_infer_expand(OnnxNode *node)
{
    OnnxShape target = mer_onnx_shape_of_list(node, 1, NULL);
    return mer_onnx_broadcast(node, mer_onnx_shape(node, 0), &target);
}

OnnxShape mer_onnx_infer_tile(OnnxNode *node)
{
    OnnxInts  repeats = mer_onnx_ints_of(node, 1, NULL);
    OnnxShape shape = *mer_onnx_shape(node, 0);
    if (shape.rank >= 0 && repeats.count >= 0 && repeats.count != shape.rank)
        return mer_onnx_fail(node, "there are %d repeats, the input has %d axes", repeats.count,
                             shape.rank);
    for (int axis = 0; axis < shape.rank; axis++) {
        int64_t repeat = repeats.count < 0 ? ONNX_UNKNOWN_ELEMENT : repeats.list[axis];
        if (repeat != ONNX_UNKNOWN_ELEMENT && repeat < 0)
            mer_onnx_fail(node, "a repeat is %lld, expected 0 or more", (long long)repeat);
        shape.dims[axis] =
            mer_onnx_multiply(node, shape.dims[axis], repeat < 0 ? ONNX_UNKNOWN_DIM : repeat);
    }
    return shape;
}

static void join(OnnxNode *node, OnnxShape *shape, const OnnxShape *part, int axis)
{
    if (part->rank != shape->rank)
        mer_onnx_fail(node, "cannot join %s and %s", mer_onnx_shape_text(node->context, shape),
                      mer_onnx_shape_text(node->context, part));
    for (int i = 0; part->rank == shape->rank && i < shape->rank; i++) {
        int64_t here = shape->dims[i], there = part->dims[i];
        if (i == axis) {
            bool is_known = here != ONNX_UNKNOWN_DIM && there != ONNX_UNKNOWN_DIM;
            shape->dims[i] = is_known ? here + there : ONNX_UNKNOWN_DIM;
        } else if (here == ONNX_UNKNOWN_DIM) {
            shape->dims[i] = there;
        } else if (there != ONNX_UNKNOWN_DIM && here != there) {
            mer_onnx_fail(node, "cannot join sizes %lld and %lld of axis %d along axis %d",
                          (long long)here, (long long)there, i, axis);
            return;
        }
    }
}

/* Of com.microsoft: output scale, zero point, then tensor, scale, zero point of each part. */
OnnxShape mer_onnx_infer_concat(OnnxNode *node)
{
    bool      is_quantised = strcmp(node->op, "QLinearConcat") == 0;
    int       first = is_quantised ? 2 : 0, step = is_quantised ? 3 : 1;
    OnnxShape shape = *mer_onnx_shape(node, first);
    int64_t   wanted = mer_onnx_required_int(node, "axis");
    bool      is_known = shape.rank >= 0;
    for (int i = first; i < node->input_count; i += step)
        is_known = is_known && mer_onnx_shape(node, i)->rank >= 0;
    int axis = is_known ? mer_onnx_axis(node, wanted, shape.rank) : -1;
    for (int i = first + step; axis >= 0 && i < node->input_count; i += step)
        join(node, &shape, mer_onnx_shape(node, i), axis);
    node->result_type = mer_onnx_input_type(node, first);
    return is_known ? shape : mer_onnx_unknown_shape;
}

/* Sizes of the parts; the last of equal parts may be smaller (num_outputs, opset 18). */
static int64_t part_size(OnnxNode *node, const int64_t *sizes, int64_t total, int i)
{
    int64_t parts = node->output_count;
    if (sizes != NULL)
        return sizes[i] == ONNX_UNKNOWN_ELEMENT ? ONNX_UNKNOWN_DIM : sizes[i];
    if (total == ONNX_UNKNOWN_DIM)
        return ONNX_UNKNOWN_DIM;
    int64_t size = total / parts + (total % parts != 0);
    int64_t left = total - size * i;
    return left < size ? (left > 0 ? left : 0) : size;
}

OnnxShape mer_onnx_infer_split(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0), first = shape;
    OnnxInts  sizes = mer_onnx_ints_of(node, 1, "split");
    if (sizes.count >= 0 && sizes.count != node->output_count)
        return mer_onnx_fail(node, "split has %d sizes, the node has %d outputs", sizes.count,
                             node->output_count);
    int     axis = mer_onnx_axis_attribute(node, 0, shape.rank);
    int64_t total = axis >= 0 ? shape.dims[axis] : ONNX_UNKNOWN_DIM, sum = 0;
    for (int i = 0; i < node->output_count; i++) {
        int64_t size = sizes.count == -2 ? ONNX_UNKNOWN_DIM : part_size(node, sizes.list, total, i);
        if (size < ONNX_UNKNOWN_DIM || size > ONNX_MAX_DIM)
            return mer_onnx_fail(node, "split has the size %lld", (long long)size);
        sum = size < 0 || sum < 0 ? -1 : sum + size;
        if (axis >= 0)
            shape.dims[axis] = size;
        first = i == 0 ? shape : first;
        mer_onnx_set(node, i, node->result_type, shape);
    }
    if (sum >= 0 && total >= 0 && sum != total)
        mer_onnx_fail(node, "the parts have %lld elements along axis %d, the input has %lld",
                      (long long)sum, axis, (long long)total);
    return first;
}

OnnxShape mer_onnx_infer_slice(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    OnnxSlice slice;
    if (shape.rank < 0 || !mer_onnx_slice_read(node, &slice))
        return mer_onnx_shape_unknown_dims(node, shape.rank);
    return slice.shape;
}

OnnxShape mer_onnx_infer_pad(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    OnnxInts  pads = mer_onnx_ints_of(node, 1, "pads"), axes = mer_onnx_ints_of(node, 3, NULL);
    if (pads.count == -1)
        mer_onnx_fail(node, "the pads are missing");
    if (shape.rank < 0 || pads.count < 0 || axes.count == -2)
        return mer_onnx_shape_unknown_dims(node, shape.rank);
    int padded = axes.count >= 0 ? axes.count : shape.rank;
    if (pads.count != 2 * padded)
        return mer_onnx_fail(node, "there are %d pads, expected %d", pads.count, 2 * padded);
    for (int i = 0; i < padded; i++) {
        int     axis = mer_onnx_axis(node, axes.count >= 0 ? axes.list[i] : i, shape.rank);
        int64_t begin = pads.list[i], end = pads.list[padded + i];
        if (axis < 0)
            return mer_onnx_unknown_shape;
        if (begin == ONNX_UNKNOWN_ELEMENT || end == ONNX_UNKNOWN_ELEMENT)
            shape.dims[axis] = ONNX_UNKNOWN_DIM;
        if (shape.dims[axis] == ONNX_UNKNOWN_DIM)
            continue;
        int64_t size = shape.dims[axis];
        if (__builtin_add_overflow(size, begin, &size) ||
            __builtin_add_overflow(size, end, &size) || size < 0)
            mer_onnx_fail(node, "pads %lld and %lld of axis %d leave nothing of %lld",
                          (long long)begin, (long long)end, axis, (long long)shape.dims[axis]);
        shape.dims[axis] = size;
    }
    return shape;
}

/* DepthToSpace and SpaceToDepth. */
OnnxShape mer_onnx_infer_blocks(OnnxNode *node)
{
    bool      to_space = strcmp(node->op, "DepthToSpace") == 0;
    OnnxShape shape = *mer_onnx_shape(node, 0);
    int64_t   block = mer_onnx_required_int(node, "blocksize");
    if (block < 1 || block > 65536)
        return mer_onnx_fail(node, "blocksize is %lld, expected 1 to 65536", (long long)block);
    if (shape.rank >= 0 && shape.rank != 4)
        return mer_onnx_fail(node, "the input has %d axes, expected 4", shape.rank);
    for (int axis = 1; axis < shape.rank; axis++) {
        int64_t factor = axis == 1 ? block * block : block;
        bool    divides = (axis == 1) == to_space;
        if (divides && shape.dims[axis] >= 0 && shape.dims[axis] % factor != 0)
            mer_onnx_fail(node, "axis %d has size %lld, expected a multiple of %lld", axis,
                          (long long)shape.dims[axis], (long long)factor);
        if (!divides)
            shape.dims[axis] = mer_onnx_multiply(node, shape.dims[axis], factor);
        else if (shape.dims[axis] >= 0)
            shape.dims[axis] /= factor;
    }
    return shape;
}

OnnxShape mer_onnx_infer_center_crop(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    OnnxInts  sizes = mer_onnx_ints_of(node, 1, NULL), axes = mer_onnx_ints(node, "axes");
    for (int i = 0; shape.rank >= 0 && i < sizes.count; i++) {
        int axis = mer_onnx_axis(node, i < axes.count ? axes.list[i] : i, shape.rank);
        if (axis >= 0)
            shape.dims[axis] = sizes.list[i] < 0 ? ONNX_UNKNOWN_DIM : sizes.list[i];
    }
    if (sizes.count < 0)
        shape = mer_onnx_shape_unknown_dims(node, shape.rank);
    return shape;
}
