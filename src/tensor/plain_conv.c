/* Convolutions as they are defined, in plain (N, C, Y, X) order and on one thread: the reference. */
#include "tensor/plain_inside.h"

/* Calls `visit` for every product of a convolution: indices into y, x and weight. */
typedef struct Visit {
    const float *x, *w, *dy;
    float       *y, *dx, *dw;
} Visit;

static void visit_product(const Visit *v, int64_t iy, int64_t ix, int64_t iw)
{
    if (v->y != NULL) {
        v->y[iy] += v->x[ix] * v->w[iw];
    }
    if (v->dx != NULL) {
        v->dx[ix] += v->dy[iy] * v->w[iw];
    }
    if (v->dw != NULL) {
        v->dw[iw] += v->dy[iy] * v->x[ix];
    }
}

/* One output pixel. */
static void conv_pixel(const MerConvolution *conv, const MerTensor *x, const MerTensor *weight,
                       const MerTensor *y, const int at[4], const Visit *v)
{
    const int *sx = x->shape, *sw = weight->shape, *sy = y->shape;
    int        group = at[1] / (sw[0] / conv->groups);
    int64_t    iy = (((int64_t)at[0] * sy[1] + at[1]) * sy[2] + at[2]) * sy[3] + at[3];
    for (int c = 0; c < sw[1]; c++) {
        for (int r = 0; r < sw[2]; r++) {
            int row = at[2] * conv->stride[0] - conv->padding[0] + r * conv->dilation[0];
            for (int s = 0; s < sw[3] && row >= 0 && row < sx[2]; s++) {
                int column = at[3] * conv->stride[1] - conv->padding[1] + s * conv->dilation[1];
                if (column >= 0 && column < sx[3]) {
                    int     channel = group * sw[1] + c;
                    int64_t ix =
                        (((int64_t)at[0] * sx[1] + channel) * sx[2] + row) * sx[3] + column;
                    int64_t iw = (((int64_t)at[1] * sw[1] + c) * sw[2] + r) * sw[3] + s;
                    visit_product(v, iy, ix, iw);
                }
            }
        }
    }
}

static void conv_all(const MerConvolution *conv, const MerTensor *x, const MerTensor *weight,
                     const MerTensor *y, const Visit *v)
{
    int at[4];
    for (at[0] = 0; at[0] < y->shape[0]; at[0]++) {
        for (at[1] = 0; at[1] < y->shape[1]; at[1]++) {
            for (at[2] = 0; at[2] < y->shape[2]; at[2]++) {
                for (at[3] = 0; at[3] < y->shape[3]; at[3]++) {
                    conv_pixel(conv, x, weight, y, at, v);
                }
            }
        }
    }
}

void mer_plain_conv(MerTape *tape, const MerConvolution *conv, MerTensor *x, MerTensor *weight,
                    MerTensor *bias, MerTensor *y)
{
    y->data = mer_workspace_floats(tape->workspace, y->size);
    int64_t pixels = (int64_t)y->shape[2] * y->shape[3];
    for (int64_t i = 0; i < y->size; i++) {
        y->data[i] = bias != NULL ? bias->data[i / pixels % y->shape[1]] : 0;
    }
    Visit v = {.x = mer_tensor_data(tape, x), .w = mer_tensor_data(tape, weight), .y = y->data};
    conv_all(conv, x, weight, y, &v);
}

void mer_plain_conv_backward(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                             MerTensor *weight, MerTensor *bias, MerTensor *y)
{
    Visit v = {.x = mer_tensor_data(tape, x),
               .w = mer_tensor_data(tape, weight),
               .dy = mer_tensor_grad(tape, y)};
    v.dx = mer_grad_wanted(tape, x);
    v.dw = mer_grad_wanted(tape, weight);
    conv_all(conv, x, weight, y, &v);
    if (bias != NULL && bias->needs_grad) {
        int64_t pixels = (int64_t)y->shape[2] * y->shape[3];
        float  *grad = mer_grad_zeroed(tape, bias);
        for (int64_t i = 0; i < y->size; i++) {
            grad[i / pixels % y->shape[1]] += v.dy[i];
        }
    }
}
