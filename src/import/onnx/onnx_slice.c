/* Bounds of a Slice: attributes before opset 10, inputs since; negative indices count from the end
 * and everything is clamped to the tensor. */
#include "import/onnx/onnx.h"

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* One axis; the size becomes unknown when a bound of it is. */
static void slice_axis(OnnxSlice *slice, int axis, int64_t start, int64_t end, int64_t step)
{
    int64_t size = slice->shape.dims[axis];
    slice->step[axis] = step;
    slice->shape.dims[axis] = ONNX_UNKNOWN_DIM;
    if (start == ONNX_UNKNOWN_ELEMENT || end == ONNX_UNKNOWN_ELEMENT ||
        step == ONNX_UNKNOWN_ELEMENT || size == ONNX_UNKNOWN_DIM)
        return;
    start = clamp(start < 0 ? start + size : start, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
    start = start < 0 && step < 0 && size == 0 ? 0 : start;
    end = clamp(end < 0 ? end + size : end, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
    slice->start[axis] = start;
    /* end - start has the sign of the step, unless the slice is empty. */
    int64_t distance = end - start;
    bool    is_empty = step > 0 ? distance <= 0 : distance >= 0;
    slice->shape.dims[axis] = is_empty ? 0 : distance / step + (distance % step != 0);
}

bool mer_onnx_slice_read(OnnxNode *node, OnnxSlice *slice)
{
    OnnxInts starts = mer_onnx_ints_of(node, 1, "starts"), ends = mer_onnx_ints_of(node, 2, "ends");
    OnnxInts axes = mer_onnx_ints_of(node, 3, "axes"), steps = mer_onnx_ints_of(node, 4, NULL);
    int      count = starts.count;
    if (count == -1 || ends.count == -1)
        mer_onnx_fail(node, "starts or ends are missing");
    if (count < 0 || ends.count < 0 || axes.count == -2 || steps.count == -2)
        return false;
    slice->shape = *mer_onnx_shape(node, 0);
    for (int axis = 0; axis < slice->shape.rank; axis++) {
        slice->start[axis] = 0;
        slice->step[axis] = 1;
    }
    if (ends.count != count || (axes.count >= 0 && axes.count != count) ||
        (steps.count >= 0 && steps.count != count)) {
        mer_onnx_fail(node, "starts, ends, axes and steps have different lengths");
        return false;
    }
    for (int i = 0; i < count; i++) {
        int     axis = mer_onnx_axis(node, axes.count >= 0 ? axes.list[i] : i, slice->shape.rank);
        int64_t step = steps.count >= 0 ? steps.list[i] : 1;
        if (step == 0)
            mer_onnx_fail(node, "the step of axis %d is 0", axis);
        if (axis < 0 || step == 0)
            return false;
        slice_axis(slice, axis, starts.list[i], ends.list[i], step);
    }
    return true;
}
