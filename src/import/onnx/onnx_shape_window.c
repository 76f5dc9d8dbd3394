/* Outputs of convolutions and pools. The window that inference works out (kernel, stride, dilation,
 * padding, sizes) is kept in the node; the loops of the operator come from it. */
#include "import/onnx/onnx.h"

#include <string.h>

/* One attribute with a number per spatial axis, all within [minimum, 2^31). */
static void read_axes(OnnxNode *node, const char *name, int count, int64_t minimum, int64_t *values)
{
    OnnxInts ints = mer_onnx_ints(node, name);
    if (ints.count < 0)
        return;
    if (ints.count != count)
        mer_onnx_fail(node, "%s has %d numbers, expected %d", name, ints.count, count);
    for (int i = 0; ints.count == count && i < count; i++) {
        if (ints.list[i] < minimum || ints.list[i] > INT32_MAX) {
            mer_onnx_fail(node, "%s is %lld, expected %lld to 2147483647", name,
                          (long long)ints.list[i], (long long)minimum);
            return;
        }
        values[i] = ints.list[i];
    }
}

/* Strides, dilations and pads over the spatial axes of the input; the kernel is set by the caller.
 * False: the rank is not known or too large. */
static bool open_window(OnnxNode *node, OnnxWindow *window)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    int64_t          pads[2 * ONNX_MAX_SPATIAL] = {0};
    *window = (OnnxWindow){0};
    if (input->rank < 0)
        return false;
    if (input->rank < 3) {
        mer_onnx_fail(node, "the input has %d axes, expected at least 3", input->rank);
        return false;
    }
    if (input->rank - 2 > ONNX_MAX_SPATIAL) {
        mer_graph_warn(node->context->graph,
                       "node \"%.120s\" slides over %d axes, more than %d: it "
                       "is treated as data movement",
                       node->name, input->rank - 2, ONNX_MAX_SPATIAL);
        return false;
    }
    window->count = input->rank - 2;
    for (int i = 0; i < window->count; i++) {
        window->kernel[i] = window->stride[i] = window->dilation[i] = 1;
        window->input[i] = input->dims[i + 2];
        if (window->input[i] > INT32_MAX)
            mer_onnx_fail(node, "axis %d of the input has size %lld, expected at most 2147483647",
                          i + 2, (long long)window->input[i]);
    }
    read_axes(node, "strides", window->count, 1, window->stride);
    read_axes(node, "dilations", window->count, 1, window->dilation);
    read_axes(node, "pads", 2 * window->count, 0, pads);
    for (int i = 0; i < window->count; i++) {
        window->pad_begin[i] = pads[i];
        window->pad_end[i] = pads[window->count + i];
    }
    return !mer_onnx_failed(node->context);
}

static int64_t extent(const OnnxWindow *window, int i)
{
    return window->dilation[i] * (window->kernel[i] - 1) + 1;
}

/* Pads of `total` in all; the odd one goes to the end or the beginning. */
static void set_pads(OnnxWindow *window, int i, int64_t total, bool is_upper)
{
    total = total > 0 ? total : 0;
    window->pad_begin[i] = is_upper ? total / 2 : total - total / 2;
    window->pad_end[i] = total - window->pad_begin[i];
}

/* auto_pad SAME_*: ceil(input / stride) outputs. */
static void pad_same(OnnxWindow *window, int i, bool is_upper)
{
    int64_t input = window->input[i], stride = window->stride[i];
    window->output[i] = input / stride + (input % stride != 0);
    set_pads(window, i, (window->output[i] - 1) * stride + extent(window, i) - input, is_upper);
}

static void slide(OnnxNode *node, OnnxWindow *window, int i, bool rounds_up)
{
    int64_t padded = window->input[i] + window->pad_begin[i] + window->pad_end[i];
    int64_t capacity = padded - extent(window, i);
    int64_t stride = window->stride[i];
    if (capacity < 0) {
        mer_onnx_fail(node, "the kernel covers %lld, the padded input has %lld on axis %d",
                      (long long)extent(window, i), (long long)padded, i + 2);
        window->output[i] = 1;
        return;
    }
    window->output[i] = capacity / stride + 1;
    if (rounds_up && capacity % stride != 0 &&
        /* a window must begin inside the input or its left padding */
        window->output[i] * stride < window->input[i] + window->pad_begin[i])
        window->output[i]++;
}

static void fail_empty(OnnxNode *node, int axis)
{
    mer_onnx_fail(node, "axis %d of the input \"%.120s\" is empty", axis,
                  mer_onnx_clean(node->context, node->inputs[0]->name));
}

/* The shape with the sizes of the window's outputs. */
static OnnxShape slid(OnnxShape shape, const OnnxWindow *window)
{
    for (int i = 0; i < window->count; i++)
        shape.dims[i + 2] = window->output[i];
    return shape;
}

/* Output sizes of all axes, or -1 where the input is not known. */
static void close_window(OnnxNode *node, OnnxWindow *window, bool rounds_up)
{
    const char *mode = mer_onnx_text(node, "auto_pad", "NOTSET");
    bool        is_same = strcmp(mode, "SAME_UPPER") == 0 || strcmp(mode, "SAME_LOWER") == 0;
    bool        is_valid = strcmp(mode, "VALID") == 0;
    if (!is_same && !is_valid && strcmp(mode, "NOTSET") != 0 && mode[0] != '\0')
        mer_onnx_fail(node, "auto_pad is %.40s, expected NOTSET, SAME_UPPER, SAME_LOWER or VALID",
                      mode);
    for (int i = 0; i < window->count; i++) {
        if (is_valid || is_same)
            window->pad_begin[i] = window->pad_end[i] = 0;
        window->output[i] = ONNX_UNKNOWN_DIM;
        if (window->input[i] == ONNX_UNKNOWN_DIM)
            continue;
        if (window->input[i] < 1)
            fail_empty(node, i + 2);
        else if (is_same)
            pad_same(window, i, strcmp(mode, "SAME_UPPER") == 0);
        else
            slide(node, window, i, rounds_up);
    }
}

/* The kernel from the attribute, or from the weights' last axes; both must agree. */
static bool read_kernel(OnnxNode *node, OnnxWindow *window, const OnnxShape *weights)
{
    bool is_given = mer_onnx_has(node, "kernel_shape");
    read_axes(node, "kernel_shape", window->count, 1, window->kernel);
    if (weights == NULL || weights->rank < 0) {
        if (!is_given)
            mer_onnx_fail(node, "attribute kernel_shape is missing");
        return !mer_onnx_failed(node->context);
    }
    if (weights->rank != window->count + 2) {
        mer_onnx_fail(node, "the weights have %d axes, expected %d", weights->rank,
                      window->count + 2);
        return false;
    }
    for (int i = 0; i < window->count; i++) {
        int64_t size = weights->dims[i + 2];
        if (size == ONNX_UNKNOWN_DIM)
            continue;
        if (is_given && size != window->kernel[i])
            mer_onnx_fail(node, "kernel_shape is %lld on axis %d, the weights have %lld",
                          (long long)window->kernel[i], i + 2, (long long)size);
        if (size < 1 || size > INT32_MAX)
            mer_onnx_fail(node,
                          "the kernel has size %lld on axis %d of the weights %s, expected 1 to "
                          "2147483647",
                          (long long)size, i + 2, mer_onnx_shape_text(node->context, weights));
        window->kernel[i] = size;
    }
    return !mer_onnx_failed(node->context);
}

static void check_channels(OnnxNode *node, int64_t channels, int64_t expected)
{
    if (channels != ONNX_UNKNOWN_DIM && expected != ONNX_UNKNOWN_DIM && channels != expected)
        mer_onnx_fail(node, "the input has %lld channels, the weights expect %lld",
                      (long long)channels, (long long)expected);
}

int64_t mer_onnx_group(OnnxNode *node, int64_t channels)
{
    int64_t group = mer_onnx_int(node, "group", 1);
    if (group < 1 || group > INT32_MAX) {
        mer_onnx_fail(node, "group is %lld, expected at least 1", (long long)group);
        return 1;
    }
    if (channels >= 0 && channels % group != 0)
        mer_onnx_fail(node, "group is %lld, which does not divide %lld channels", (long long)group,
                      (long long)channels);
    return group;
}

OnnxShape mer_onnx_infer_conv(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    const OnnxShape *weights = mer_onnx_shape(node, mer_onnx_right(node));
    OnnxWindow      *window = &node->window;
    if (!open_window(node, window) || !read_kernel(node, window, weights))
        return mer_onnx_shape_unknown_dims(node, input->rank);
    close_window(node, window, false);
    int64_t   group = mer_onnx_group(node, input->dims[1]);
    OnnxShape shape = {.rank = input->rank, .dims = {input->dims[0], ONNX_UNKNOWN_DIM}};
    if (weights->rank >= 2) {
        shape.dims[1] = weights->dims[0];
        check_channels(node, input->dims[1], mer_onnx_multiply(node, weights->dims[1], group));
        if (weights->dims[0] >= 0 && weights->dims[0] % group != 0)
            mer_onnx_fail(node, "group is %lld, which does not divide %lld output channels",
                          (long long)group, (long long)weights->dims[0]);
    }
    return slid(shape, window);
}

/* Output size of one axis of a transposed convolution, and the pads that give a wanted size. */
static void spread(OnnxNode *node, OnnxWindow *window, int i, int64_t extra, int64_t wanted)
{
    const char *mode = mer_onnx_text(node, "auto_pad", "NOTSET");
    bool        is_upper = strcmp(mode, "SAME_UPPER") == 0;
    bool        is_same = is_upper || strcmp(mode, "SAME_LOWER") == 0;
    int64_t     full = window->stride[i] * (window->input[i] - 1) + extra + extent(window, i);
    if (strcmp(mode, "VALID") == 0)
        window->pad_begin[i] = window->pad_end[i] = 0;
    if (wanted < 0 && is_same)
        wanted = window->input[i] * window->stride[i];
    if (wanted >= 0) {
        set_pads(window, i, full - wanted, is_upper);
        window->output[i] = wanted;
        return;
    }
    window->output[i] = full - window->pad_begin[i] - window->pad_end[i];
    if (window->output[i] < 1) {
        mer_onnx_fail(node, "the pads leave nothing of %lld on axis %d", (long long)full, i + 2);
        window->output[i] = 1;
    }
}

OnnxShape mer_onnx_infer_conv_transpose(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    const OnnxShape *weights = mer_onnx_shape(node, 1);
    OnnxWindow      *window = &node->window;
    if (!open_window(node, window) || !read_kernel(node, window, weights))
        return mer_onnx_shape_unknown_dims(node, input->rank);
    int64_t extra[ONNX_MAX_SPATIAL] = {0}, wanted[ONNX_MAX_SPATIAL] = {-1, -1, -1};
    read_axes(node, "output_padding", window->count, 0, extra);
    read_axes(node, "output_shape", window->count, 1, wanted);
    int64_t   group = mer_onnx_group(node, input->dims[1]);
    OnnxShape shape = {.rank = input->rank, .dims = {input->dims[0], ONNX_UNKNOWN_DIM}};
    if (weights->rank >= 2) {
        check_channels(node, input->dims[1], weights->dims[0]);
        shape.dims[1] = mer_onnx_multiply(node, weights->dims[1], group);
    }
    for (int i = 0; i < window->count && !mer_onnx_failed(node->context); i++) {
        window->output[i] = ONNX_UNKNOWN_DIM;
        if (window->input[i] == 0)
            fail_empty(node, i + 2);
        if (window->input[i] > 0)
            spread(node, window, i, extra[i], wanted[i]);
    }
    return slid(shape, window);
}

OnnxShape mer_onnx_infer_pool(OnnxNode *node)
{
    OnnxShape   shape = *mer_onnx_shape(node, 0);
    OnnxWindow *window = &node->window;
    if (!open_window(node, window) || !read_kernel(node, window, NULL)) {
        shape = mer_onnx_shape_unknown_dims(node, shape.rank);
    } else {
        close_window(node, window, mer_onnx_int(node, "ceil_mode", 0) != 0);
        shape = slid(shape, window);
    }
    mer_onnx_set(node, 1, MER_TYPE_INT64, shape);
    return shape;
}

OnnxShape mer_onnx_infer_global_pool(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    bool      is_last = mer_onnx_int(node, "channels_last", 0) != 0; /* com.microsoft */
    for (int axis = 1; axis < shape.rank; axis++) {
        if (axis != (is_last ? shape.rank - 1 : 1))
            shape.dims[axis] = 1;
    }
    return shape;
}

/* The size is an input, or undoes the pool: (input - 1) * stride - pads + kernel. */
OnnxShape mer_onnx_infer_max_unpool(OnnxNode *node)
{
    OnnxShape   shape = *mer_onnx_shape(node, 0);
    OnnxWindow *window = &node->window;
    OnnxInts    sizes = mer_onnx_ints_of(node, 2, NULL);
    bool        is_open = open_window(node, window) && read_kernel(node, window, NULL);
    if (sizes.count >= 0 && sizes.count == shape.rank) {
        for (int axis = 0; axis < shape.rank; axis++)
            shape.dims[axis] = sizes.list[axis] < 0 ? ONNX_UNKNOWN_DIM : sizes.list[axis];
    } else if (is_open && sizes.count == -1) {
        for (int i = 0; i < window->count; i++) {
            window->output[i] = ONNX_UNKNOWN_DIM;
            if (window->input[i] > 0)
                spread(node, window, i, 0, -1);
        }
        shape = slid(shape, window);
    } else {
        shape = mer_onnx_shape_unknown_dims(node, shape.rank);
    }
    return shape;
}
