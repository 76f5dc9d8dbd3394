/* Convolutions: kernels choose their layouts, forwards and backwards. */
#include "tensor/dnnl_inside.h"

#include <string.h>

typedef struct ConvDescs {
    dnnl_memory_desc_t x, w, bias, y;
    dnnl_dims_t        stride, dilation, padding;
} ConvDescs;

static ConvDescs conv_descs(const MerDnnlKey *key)
{
    ConvDescs d;
    int       grouped[5] = {key->groups, key->w[0] / key->groups, key->w[1], key->w[2], key->w[3]};
    d.x = mer_dnnl_any_desc(4, key->x);
    d.w = key->groups > 1 ? mer_dnnl_any_desc(5, grouped) : mer_dnnl_any_desc(4, key->w);
    d.bias = mer_dnnl_any_desc(1, key->w);
    d.y = mer_dnnl_any_desc(4, key->y);
    for (int i = 0; i < 2; i++) {
        d.stride[i] = key->stride[i];
        d.dilation[i] = key->dilation[i] - 1;
        d.padding[i] = key->padding[i];
    }
    return d;
}

static dnnl_primitive_desc_t conv_forward_desc(const MerDnnl *state, const MerDnnlKey *key)
{
    ConvDescs               d = conv_descs(key);
    dnnl_convolution_desc_t op;
    dnnl_primitive_desc_t   desc;
    mer_dnnl_must(dnnl_dilated_convolution_forward_desc_init(
        &op, dnnl_forward_training, dnnl_convolution_direct, &d.x, &d.w,
        key->has_bias ? &d.bias : NULL, &d.y, d.stride, d.dilation, d.padding, d.padding));
    mer_dnnl_must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, NULL));
    return desc;
}

static void make_conv(MerDnnl *state, MerDnnlKernel *kernel)
{
    int arguments[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS};
    mer_dnnl_finish(state, kernel, conv_forward_desc(state, &kernel->key),
                    kernel->key.has_bias ? 4 : 3, arguments);
}

static void make_conv_data(MerDnnl *state, MerDnnlKernel *kernel)
{
    ConvDescs               d = conv_descs(&kernel->key);
    dnnl_convolution_desc_t op;
    dnnl_primitive_desc_t   desc, hint = conv_forward_desc(state, &kernel->key);
    mer_dnnl_must(dnnl_dilated_convolution_backward_data_desc_init(
        &op, dnnl_convolution_direct, &d.x, &d.w, &d.y, d.stride, d.dilation, d.padding,
        d.padding));
    mer_dnnl_must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, hint));
    mer_dnnl_must(dnnl_primitive_desc_destroy(hint));
    mer_dnnl_finish(state, kernel, desc, 3,
                    (int[]){DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC});
}

static void make_conv_weights(MerDnnl *state, MerDnnlKernel *kernel)
{
    const MerDnnlKey       *key = &kernel->key;
    ConvDescs               d = conv_descs(key);
    dnnl_convolution_desc_t op;
    dnnl_primitive_desc_t   desc, hint = conv_forward_desc(state, key);
    int arguments[] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS};
    mer_dnnl_must(dnnl_dilated_convolution_backward_weights_desc_init(
        &op, dnnl_convolution_direct, &d.x, &d.w, key->has_bias ? &d.bias : NULL, &d.y, d.stride,
        d.dilation, d.padding, d.padding));
    mer_dnnl_must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, hint));
    mer_dnnl_must(dnnl_primitive_desc_destroy(hint));
    mer_dnnl_finish(state, kernel, desc, key->has_bias ? 4 : 3, arguments);
}

static MerDnnlKey conv_key(const MerConvolution *conv, const MerTensor *x, const MerTensor *weight,
                           const MerTensor *bias, const MerTensor *y)
{
    MerDnnlKey key;
    memset(&key, 0, sizeof key);
    key.has_bias = bias != NULL;
    key.groups = conv->groups;
    for (int i = 0; i < 4; i++) {
        key.x[i] = x->shape[i];
        key.w[i] = weight->shape[i];
        key.y[i] = y->shape[i];
    }
    for (int i = 0; i < 2; i++) {
        key.stride[i] = conv->stride[i];
        key.padding[i] = conv->padding[i];
        key.dilation[i] = conv->dilation[i];
    }
    return key;
}

void mer_dnnl_conv(MerTape *tape, const MerConvolution *conv, MerTensor *x, MerTensor *weight,
                   MerTensor *bias, MerTensor *y)
{
    MerDnnl   *state = tape->backend_state;
    MerDnnlKey key = conv_key(conv, x, weight, bias, y);
    key.kind = MER_DNNL_CONV;
    MerDnnlKernel *kernel = mer_dnnl_kernel(state, &key, make_conv);
    float         *out = mer_dnnl_capacity(tape, y, kernel->layouts[2]);
    mer_dnnl_run(state, kernel,
                 (void *[]){mer_dnnl_data(tape, x, kernel->layouts[0]),
                            mer_dnnl_data(tape, weight, kernel->layouts[1]), out,
                            bias != NULL ? mer_tensor_data(tape, bias) : NULL});
    mer_dnnl_set_data(y, out, kernel->layouts[2]);
}

void mer_dnnl_conv_backward(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                            MerTensor *weight, MerTensor *bias, MerTensor *y)
{
    MerDnnl   *state = tape->backend_state;
    MerDnnlKey key = conv_key(conv, x, weight, bias, y);
    bool       has_bias = bias != NULL && bias->needs_grad;
    if (weight->needs_grad || has_bias) {
        key.kind = MER_DNNL_CONV_WEIGHTS;
        MerDnnlKernel *kernel = mer_dnnl_kernel(state, &key, make_conv_weights);
        float         *dw = mer_dnnl_capacity(tape, weight, kernel->layouts[2]);
        float         *db = bias != NULL ? mer_workspace_floats(tape->workspace, bias->size) : NULL;
        mer_dnnl_run(state, kernel,
                     (void *[]){mer_dnnl_data(tape, x, kernel->layouts[0]),
                                mer_dnnl_grad(tape, y, kernel->layouts[1]), dw, db});
        if (weight->needs_grad) {
            mer_grad_give(tape, weight, (MerBlocked){dw, kernel->layouts[2]}, false);
        }
        if (has_bias) {
            mer_grad_give_plain(tape, bias, db, false);
        }
    }
    if (x->needs_grad) {
        key.kind = MER_DNNL_CONV_DATA;
        key.has_bias = 0;
        MerDnnlKernel *kernel = mer_dnnl_kernel(state, &key, make_conv_data);
        float         *dx = mer_dnnl_capacity(tape, x, kernel->layouts[2]);
        mer_dnnl_run(state, kernel,
                     (void *[]){mer_dnnl_grad(tape, y, kernel->layouts[0]),
                                mer_dnnl_data(tape, weight, kernel->layouts[1]), dx});
        mer_grad_give(tape, x, (MerBlocked){dx, kernel->layouts[2]}, false);
    }
}
