/* Convolutions: kernels choose their layouts, forwards and backwards. A batch is done in chunks; the
 * weight gradients of the chunks are added up in their order. */
#include "tensor/dnnl_inside.h"

#include <string.h>

typedef struct ConvDescs {
    dnnl_memory_desc_t x, w, bias, y;
    dnnl_dims_t        stride, dilation, padding;
} ConvDescs;

static dnnl_status_t conv_descs(const MerDnnlKey *key, ConvDescs *d)
{
    int grouped[5] = {key->groups, key->w[0] / key->groups, key->w[1], key->w[2], key->w[3]};
    MER_DNNL_TRY(mer_dnnl_any_desc(4, key->x, &d->x));
    MER_DNNL_TRY(key->groups > 1 ? mer_dnnl_any_desc(5, grouped, &d->w)
                                 : mer_dnnl_any_desc(4, key->w, &d->w));
    MER_DNNL_TRY(mer_dnnl_any_desc(1, key->w, &d->bias));
    MER_DNNL_TRY(mer_dnnl_any_desc(4, key->y, &d->y));
    for (int i = 0; i < 2; i++) {
        d->stride[i] = key->stride[i];
        d->dilation[i] = key->dilation[i] - 1;
        d->padding[i] = key->padding[i];
    }
    return dnnl_success;
}

static dnnl_status_t op_desc(MerDnnlKind kind, const MerDnnlKey *key, dnnl_convolution_desc_t *op)
{
    ConvDescs d;
    MER_DNNL_TRY(conv_descs(key, &d));
    const dnnl_memory_desc_t *bias = key->has_bias ? &d.bias : NULL;
    switch (kind) {
    case MER_DNNL_CONV_DATA:
        return dnnl_dilated_convolution_backward_data_desc_init(op, dnnl_convolution_direct, &d.x,
                                                                &d.w, &d.y, d.stride, d.dilation,
                                                                d.padding, d.padding);
    case MER_DNNL_CONV_WEIGHTS:
        return dnnl_dilated_convolution_backward_weights_desc_init(
            op, dnnl_convolution_direct, &d.x, &d.w, bias, &d.y, d.stride, d.dilation, d.padding,
            d.padding);
    default:
        return dnnl_dilated_convolution_forward_desc_init(
            op, dnnl_forward_training, dnnl_convolution_direct, &d.x, &d.w, bias, &d.y, d.stride,
            d.dilation, d.padding, d.padding);
    }
}

static dnnl_status_t make_conv(const MerDnnl *state, const MerDnnlKey *key, MerDnnlKernel *kernel,
                               dnnl_primitive_desc_t *desc)
{
    /* two images and weights, in the kernel's order, and the bias */
    static const int arguments[][4] = {
        [MER_DNNL_CONV] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS},
        [MER_DNNL_CONV_DATA] = {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC},
        [MER_DNNL_CONV_WEIGHTS] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS,
                                   DNNL_ARG_DIFF_BIAS},
    };
    bool                    is_of_weights = key->kind == MER_DNNL_CONV_WEIGHTS;
    dnnl_convolution_desc_t forward, op;
    MER_DNNL_TRY(op_desc(MER_DNNL_CONV, key, &forward));
    MER_DNNL_TRY(op_desc((MerDnnlKind)key->kind, key, &op));
    kernel->count = 3 + key->has_bias;
    kernel->is_image[0] = true;
    kernel->is_image[is_of_weights ? 1 : 2] = true;
    memcpy(kernel->arguments, arguments[key->kind], sizeof arguments[0]);
    return mer_dnnl_describe(state, &forward, key->kind != MER_DNNL_CONV ? &op : NULL, desc);
}

/* For one of `chunks` equal parts of the batch. */
static MerDnnlKey conv_key(MerDnnlKind kind, const MerConvolution *conv, const MerTensor *x,
                           const MerTensor *weight, const MerTensor *bias, const MerTensor *y,
                           int chunks)
{
    MerDnnlKey key;
    memset(&key, 0, sizeof key);
    key.kind = (int)kind;
    key.has_bias = bias != NULL;
    key.groups = conv->groups;
    for (int i = 0; i < 4; i++) {
        key.x[i] = i == 0 ? x->shape[0] / chunks : x->shape[i];
        key.w[i] = weight->shape[i];
        key.y[i] = i == 0 ? y->shape[0] / chunks : y->shape[i];
    }
    for (int i = 0; i < 2; i++) {
        key.stride[i] = conv->stride[i];
        key.padding[i] = conv->padding[i];
        key.dilation[i] = conv->dilation[i];
    }
    return key;
}

/* Layers with a filter per channel have few products and take as long as if they had many: their kernels wait for memory. */
static int chunks_of(const MerConvolution *conv, const MerTensor *weight, const MerTensor *y)
{
    enum { LIKE_PRODUCTS = 16 };
    double products = (double)y->size * (double)weight->size / weight->shape[0];
    return mer_dnnl_chunks(y->shape[0], conv->groups > 1 ? LIKE_PRODUCTS * products : products);
}

/* Forwards: y from x; else x's gradient from that of y. Without data: the tape has failed. */
static MerBlocked convolve(MerTape *tape, MerDnnlKind kind, const MerConvolution *conv,
                           MerTensor *x, MerTensor *weight, MerTensor *bias, MerTensor *y)
{
    int            chunks = chunks_of(conv, weight, y);
    bool           is_back = kind == MER_DNNL_CONV_DATA;
    MerDnnlKey     key = conv_key(kind, conv, x, weight, bias, y, chunks);
    MerDnnlKernel *kernel = mer_dnnl_kernel(tape, &key, make_conv);
    if (kernel == NULL) {
        return (MerBlocked){0};
    }
    const MerLayout *from = kernel->layouts[0], *to = kernel->layouts[2];
    MerBlocked       out = {mer_form_memory(tape, is_back ? x : y, to), to};
    mer_dnnl_run(tape, kernel, chunks,
                 (void *[]){is_back ? mer_dnnl_grad(tape, y, from) : mer_dnnl_data(tape, x, from),
                            mer_dnnl_data(tape, weight, kernel->layouts[1]), out.data,
                            bias != NULL ? mer_tensor_data(tape, bias) : NULL},
                 (size_t[]){kernel->bytes[0], 0, kernel->bytes[2], 0});
    return out;
}

void mer_dnnl_conv(MerTape *tape, const MerConvolution *conv, MerTensor *x, MerTensor *weight,
                   MerTensor *bias, MerTensor *y)
{
    if (mer_dnnl_is_product(conv, weight, y)) {
        mer_dnnl_product_conv(tape, x, weight, bias, y);
        return;
    }
    MerBlocked out = convolve(tape, MER_DNNL_CONV, conv, x, weight, bias, y);
    if (out.data != NULL) {
        mer_data_set(y, out);
    }
}

float *mer_dnnl_sum(MerTape *tape, float *rows, int count, int64_t width)
{
    if (count == 1) {
        return rows;
    }
    MerReduction op = {MER_REDUCTION_SUM, 1, count, width, .factor = 1, .x = rows};
    op.y = mer_workspace_floats(tape->workspace, width);
    tape->backend.reduce(tape, &op);
    return op.y;
}

static void weights_backward(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                             MerTensor *weight, MerTensor *bias, MerTensor *y)
{
    enum { FEWEST_PIXELS = 64 }; /* of a chunk: below, adding up would cost as much */
    double pixels = (double)y->shape[0] * y->shape[2] * y->shape[3];
    double work = pixels / FEWEST_PIXELS * (1 << 20);
    int    chunks = chunks_of(conv, weight, y), few = mer_dnnl_chunks(y->shape[0], work);
    chunks = few < chunks && conv->groups == 1 ? few : chunks;
    MerDnnlKey     key = conv_key(MER_DNNL_CONV_WEIGHTS, conv, x, weight, bias, y, chunks);
    MerDnnlKernel *kernel = mer_dnnl_kernel(tape, &key, make_conv);
    if (kernel == NULL) {
        return;
    }
    int64_t size = mer_form_size(weight, (MerBlocked){NULL, kernel->layouts[2]});
    float  *dw = mer_workspace_floats(tape->workspace, chunks * size), *db = NULL;
    if (bias != NULL) {
        db = mer_workspace_floats(tape->workspace, chunks * bias->size);
    }
    size_t steps[4] = {kernel->bytes[0], kernel->bytes[1], (size_t)size * sizeof *dw,
                       bias != NULL ? (size_t)bias->size * sizeof *db : 0};
    mer_dnnl_run(tape, kernel, chunks,
                 (void *[]){mer_dnnl_data(tape, x, kernel->layouts[0]),
                            mer_dnnl_grad(tape, y, kernel->layouts[1]), dw, db},
                 steps);
    if (weight->needs_grad) {
        dw = mer_dnnl_sum(tape, dw, chunks, size);
        mer_grad_give(tape, weight, (MerBlocked){dw, kernel->layouts[2]}, false);
    }
    if (bias != NULL && bias->needs_grad) {
        mer_grad_give_plain(tape, bias, mer_dnnl_sum(tape, db, chunks, bias->size), false);
    }
}

void mer_dnnl_conv_backward(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                            MerTensor *weight, MerTensor *bias, MerTensor *y)
{
    if (mer_dnnl_is_product(conv, weight, y)) {
        mer_dnnl_product_backward(tape, x, weight, bias, y);
        return;
    }
    if (mer_dnnl_is_small_depthwise(conv, x, weight)) {
        mer_dnnl_depthwise_weights(tape, conv, x, weight, bias, y);
    } else if (weight->needs_grad || (bias != NULL && bias->needs_grad)) {
        weights_backward(tape, conv, x, weight, bias, y);
    }
    if (x->needs_grad) {
        MerBlocked dx = convolve(tape, MER_DNNL_CONV_DATA, conv, x, weight, NULL, y);
        if (dx.data != NULL) {
            mer_grad_give(tape, x, dx, false);
        }
    }
}
