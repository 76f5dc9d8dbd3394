/* Outputs of Resize and Upsample, sampling operators and the signal operators. */
#include "import/onnx/onnx.h"

#include <math.h>
#include <string.h>

/* floor(size * scale); ONNX multiplies in float, and 0.1f * 10 must still give what runtimes do. */
static int64_t scaled(OnnxNode *node, int64_t size, double scale)
{
    if (size == ONNX_UNKNOWN_DIM)
        return ONNX_UNKNOWN_DIM;
    double result = floor((double)((float)size * (float)scale));
    if (!(result >= 0) || result > (double)ONNX_MAX_DIM) {
        mer_onnx_fail(node, "scale %g of size %lld is out of range", scale, (long long)size);
        return 1;
    }
    return (int64_t)result;
}

/* Are there as many scales or sizes as `axes` (without a list: as the tensor has axes)? */
static bool fits_axes(OnnxNode *node, const char *what, int count, OnnxInts axes, int rank)
{
    int expected = axes.list != NULL ? axes.count : rank;
    if (count != expected)
        mer_onnx_fail(node, "there are %d %s, expected %d", count, what, expected);
    return count == expected;
}

static void resize_by_scales(OnnxNode *node, OnnxShape *shape, OnnxInts axes, const double *scales,
                             int count)
{
    for (int i = 0; fits_axes(node, "scales", count, axes, shape->rank) && i < count; i++) {
        int axis = mer_onnx_axis(node, axes.list != NULL ? axes.list[i] : i, shape->rank);
        if (axis < 0)
            return;
        shape->dims[axis] = scaled(node, shape->dims[axis], scales[i]);
    }
}

/* keep_aspect_ratio_policy: one scale for all axes, the smallest or the largest that is asked. */
static double common_scale(const char *policy, const OnnxShape *shape, OnnxInts axes,
                           OnnxInts sizes)
{
    bool   is_smallest = strcmp(policy, "not_larger") == 0;
    double best = is_smallest ? INFINITY : 0;
    for (int i = 0; i < sizes.count; i++) {
        int64_t axis = axes.list != NULL ? axes.list[i] : i;
        axis += axis < 0 ? shape->rank : 0;
        if (axis < 0 || axis >= shape->rank || shape->dims[axis] < 1 || sizes.list[i] < 0)
            return -1;
        double scale = (double)sizes.list[i] / (double)shape->dims[axis];
        best = is_smallest ? fmin(best, scale) : fmax(best, scale);
    }
    return best;
}

static void resize_by_sizes(OnnxNode *node, OnnxShape *shape, OnnxInts axes, OnnxInts sizes)
{
    const char *policy = mer_onnx_text(node, "keep_aspect_ratio_policy", "stretch");
    if (!fits_axes(node, "sizes", sizes.count, axes, shape->rank))
        return;
    double scale = strcmp(policy, "stretch") == 0 ? -1 : common_scale(policy, shape, axes, sizes);
    for (int i = 0; i < sizes.count; i++) {
        int64_t size = sizes.list[i];
        int     axis = mer_onnx_axis(node, axes.list != NULL ? axes.list[i] : i, shape->rank);
        if (axis < 0)
            return;
        if (size != ONNX_UNKNOWN_ELEMENT && size < 1)
            mer_onnx_fail(node, "a size is %lld, expected at least 1", (long long)size);
        size = size < 0 ? ONNX_UNKNOWN_DIM : size;
        if (scale >= 0 && shape->dims[axis] >= 0 && isfinite(scale) &&
            scale * (double)shape->dims[axis] < (double)ONNX_MAX_DIM)
            size = (int64_t)floor(scale * (double)shape->dims[axis] + 0.5);
        shape->dims[axis] = size;
    }
}

static bool is_empty_input(const OnnxNode *node, int input)
{
    const OnnxShape *shape = mer_onnx_shape(node, input);
    return input >= node->input_count || node->inputs[input] == NULL ||
           (shape->rank == 1 && shape->dims[0] == 0);
}

/* Upsample and Resize-10 have (X, scales), Upsample-7 the attribute, Resize-11 (X, roi, scales,
 * sizes). */
OnnxShape mer_onnx_infer_resize(OnnxNode *node)
{
    OnnxShape    shape = *mer_onnx_shape(node, 0);
    bool         is_old = strcmp(node->op, "Upsample") == 0 || node->opset < 11;
    int          scales_at = is_old ? 1 : 2;
    OnnxInts     axes = mer_onnx_ints(node, "axes");
    const float *attribute;
    int          attribute_count = mer_onnx_reals(node, "scales", &attribute);
    if (shape.rank < 0)
        return shape;
    if (is_old && attribute_count >= 0) {
        double scales[MER_MAX_RANK];
        for (int i = 0; i < attribute_count && i < MER_MAX_RANK; i++)
            scales[i] = (double)attribute[i];
        resize_by_scales(node, &shape, (OnnxInts){-1, NULL}, scales, attribute_count);
    } else if (!is_old && !is_empty_input(node, 3)) {
        OnnxInts sizes = mer_onnx_ints_of(node, 3, NULL);
        if (sizes.count >= 0)
            resize_by_sizes(node, &shape, axes, sizes);
        else
            shape = mer_onnx_shape_unknown_dims(node, shape.rank);
    } else if (!is_empty_input(node, scales_at)) {
        const OnnxContent *scales = mer_onnx_input_content(node, scales_at);
        if (scales != NULL && scales->is_real)
            resize_by_scales(node, &shape, axes, scales->reals, scales->count);
        else
            shape = mer_onnx_shape_unknown_dims(node, shape.rank);
    } else {
        mer_onnx_fail(node, "scales and sizes are both missing");
    }
    return shape;
}

/* (N, C, ...) sampled at (N, ..., 2 or 3). */
OnnxShape mer_onnx_infer_grid_sample(OnnxNode *node)
{
    const OnnxShape *grid = mer_onnx_shape(node, 1);
    OnnxShape        shape = *mer_onnx_shape(node, 0);
    if (shape.rank != grid->rank)
        shape = mer_onnx_unknown_shape;
    for (int axis = 2; axis < shape.rank; axis++)
        shape.dims[axis] = grid->dims[axis - 1];
    return shape;
}

/* theta (N, 2, 3) and size (N, C, H, W) give (N, H, W, 2); the same with one axis more. */
OnnxShape mer_onnx_infer_affine_grid(OnnxNode *node)
{
    OnnxInts  sizes = mer_onnx_ints_of(node, 1, NULL);
    OnnxShape shape = mer_onnx_unknown_shape;
    if (sizes.count == 4 || sizes.count == 5) {
        shape = mer_onnx_shape_unknown_dims(node, sizes.count);
        shape.dims[0] = sizes.list[0] < 0 ? ONNX_UNKNOWN_DIM : sizes.list[0];
        for (int axis = 1; axis < sizes.count - 1; axis++)
            shape.dims[axis] = sizes.list[axis + 1] < 0 ? ONNX_UNKNOWN_DIM : sizes.list[axis + 1];
        shape.dims[sizes.count - 1] = sizes.count - 2;
    }
    return shape;
}

/* RoiAlign and MaxRoiPool: one output image per region. */
OnnxShape mer_onnx_infer_roi(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    const OnnxShape *regions = mer_onnx_shape(node, 1);
    OnnxInts         pooled = mer_onnx_ints(node, "pooled_shape");
    OnnxShape        shape = mer_onnx_shape_unknown_dims(node, 4);
    shape.dims[0] = regions->rank >= 1 ? regions->dims[0] : ONNX_UNKNOWN_DIM;
    shape.dims[1] = input->rank >= 2 ? input->dims[1] : ONNX_UNKNOWN_DIM;
    shape.dims[2] = pooled.count == 2 ? pooled.list[0] : mer_onnx_int(node, "output_height", 1);
    shape.dims[3] = pooled.count == 2 ? pooled.list[1] : mer_onnx_int(node, "output_width", 1);
    return shape;
}

/* A scalar integer input, `fallback` if absent, -1 if not known. */
static int64_t scalar(OnnxNode *node, int input, int64_t fallback)
{
    OnnxInts ints = mer_onnx_ints_of(node, input, NULL);
    if (ints.count == -1)
        return fallback;
    return ints.count == 1 && ints.list[0] >= 0 && ints.list[0] <= ONNX_MAX_DIM ? ints.list[0]
                                                                                : ONNX_UNKNOWN_DIM;
}

/* The last axis holds 1 (real) or 2 (complex) numbers and becomes 2. */
OnnxShape mer_onnx_infer_dft(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    if (shape.rank >= 2) {
        int64_t  wanted = node->opset < 20 ? mer_onnx_int(node, "axis", 1) : -2;
        OnnxInts given = mer_onnx_ints_of(node, 2, NULL);
        if (given.count == 1)
            wanted = given.list[0];
        int     axis = mer_onnx_axis(node, wanted, shape.rank);
        int64_t length = scalar(node, 1, axis >= 0 ? shape.dims[axis] : 1);
        bool    is_one_sided = mer_onnx_int(node, "onesided", 0) != 0;
        if (axis >= 0)
            shape.dims[axis] = is_one_sided && length >= 0 ? length / 2 + 1 : length;
        shape.dims[shape.rank - 1] = 2;
    }
    return shape;
}

/* (batch, length, 1) to (batch, frames, bins, 2). */
OnnxShape mer_onnx_infer_stft(OnnxNode *node)
{
    const OnnxShape *signal = mer_onnx_shape(node, 0);
    const OnnxShape *window = mer_onnx_shape(node, 2);
    int64_t          step = scalar(node, 1, -1);
    int64_t          length = scalar(node, 3, window->rank == 1 ? window->dims[0] : -1);
    OnnxShape        shape = mer_onnx_shape_unknown_dims(node, 4);
    if (signal->rank >= 2) {
        shape.dims[0] = signal->dims[0];
        if (step > 0 && length > 0 && signal->dims[1] >= length)
            shape.dims[1] = (signal->dims[1] - length) / step + 1;
    }
    if (length > 0)
        shape.dims[2] = mer_onnx_int(node, "onesided", 1) != 0 ? length / 2 + 1 : length;
    shape.dims[3] = 2;
    return shape;
}

/* Hann, Hamming and Blackman windows. */
OnnxShape mer_onnx_infer_window_function(OnnxNode *node)
{
    node->result_type = mer_onnx_type(mer_onnx_int(node, "output_datatype", 1));
    return (OnnxShape){.rank = 1, .dims = {scalar(node, 0, -1)}};
}

OnnxShape mer_onnx_infer_mel(OnnxNode *node)
{
    int64_t bins = scalar(node, 0, -1), length = scalar(node, 1, -1);
    node->result_type = mer_onnx_type(mer_onnx_int(node, "output_datatype", 1));
    return (OnnxShape){.rank = 2, .dims = {length >= 0 ? length / 2 + 1 : -1, bins}};
}
