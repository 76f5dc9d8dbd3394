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
    const int64_t *starts, *ends, *axes, *steps;
    int            count = mer_onnx_ints_of(node, 1, "starts", &starts);
    int            end_count = mer_onnx_ints_of(node, 2, "ends", &ends);
    int            axis_count = mer_onnx_ints_of(node, 3, "axes", &axes);
    int            step_count = mer_onnx_ints_of(node, 4, NULL, &steps);
    if (count == -1 || end_count == -1)
        mer_onnx_fail(node, "starts or ends are missing");
    if (count < 0 || end_count < 0 || axis_count == -2 || step_count == -2)
        return false;
    slice->shape = *mer_onnx_shape(node, 0);
    for (int axis = 0; axis < slice->shape.rank; axis++) {
        slice->start[axis] = 0;
        slice->step[axis] = 1;
    }
    if (end_count != count || (axis_count >= 0 && axis_count != count) ||
        (step_count >= 0 && step_count != count)) {
        mer_onnx_fail(node, "starts, ends, axes and steps have different lengths");
        return false;
    }
    for (int i = 0; i < count; i++) {
        int64_t wanted = axis_count >= 0 ? axes[i] : i;
        int     axis = mer_onnx_axis(node, wanted, slice->shape.rank);
        int64_t step = step_count >= 0 ? steps[i] : 1;
        if (step == 0)
            mer_onnx_fail(node, "the step of axis %d is 0", axis);
        if (axis < 0 || step == 0)
            return false;
        slice_axis(slice, axis, starts[i], ends[i], step);
    }
    return true;
}
