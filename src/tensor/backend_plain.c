/* Every kernel in plain C: the reference the others are checked against, and the way without
 * oneDNN. Images stay in plain (N, C, Y, X) order. */
#include "tensor/tape.h"

#include <math.h>
#include <string.h>

static void *open_plain(void)
{
    return NULL;
}

static void close_plain(void *state)
{
    (void)state;
}

static int64_t allocations(const void *state)
{
    (void)state;
    return 0;
}

static void matmul(void *state, bool transpose_a, bool transpose_b, int m, int n, int k,
                   const float *a, int row_a, const float *b, int row_b, float beta, float *c,
                   int row_c)
{
    (void)state;
    for (int i = 0; i < m; i++) {
        float *row = c + (int64_t)i * row_c;
        for (int j = 0; j < n; j++) {
            row[j] = beta == 0 ? 0 : beta * row[j];
        }
        for (int l = 0; l < k; l++) {
            float x = transpose_a ? a[(int64_t)l * row_a + i] : a[(int64_t)i * row_a + l];
            for (int j = 0; j < n; j++) {
                row[j] += x * (transpose_b ? b[(int64_t)j * row_b + l] : b[(int64_t)l * row_b + j]);
            }
        }
    }
}

static int64_t layout_size(const MerLayout *layout)
{
    (void)layout;
    return 0; /* there are no layouts here */
}

static void reorder(MerTape *tape, const MerTensor *shape, const MerLayout *from,
                    const float *source, const MerLayout *to, float *target)
{
    (void)tape, (void)from, (void)to;
    memcpy(target, source, (size_t)shape->size * sizeof *target);
}

static void make_plain(MerTape *tape, MerTensor *y)
{
    y->data = mer_workspace_floats(tape->workspace, y->size);
}

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

static void conv_forward(MerTape *tape, const MerConvolution *conv, MerTensor *x, MerTensor *weight,
                         MerTensor *bias, MerTensor *y)
{
    make_plain(tape, y);
    int64_t pixels = (int64_t)y->shape[2] * y->shape[3];
    for (int64_t i = 0; i < y->size; i++) {
        y->data[i] = bias != NULL ? bias->data[i / pixels % y->shape[1]] : 0;
    }
    Visit v = {.x = mer_tensor_data(tape, x), .w = mer_tensor_data(tape, weight), .y = y->data};
    conv_all(conv, x, weight, y, &v);
}

static void conv_backward(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                          MerTensor *weight, MerTensor *bias, MerTensor *y)
{
    Visit v = {.x = mer_tensor_data(tape, x),
               .w = mer_tensor_data(tape, weight),
               .dy = mer_tensor_grad(tape, y)};
    v.dx = x->needs_grad ? mer_grad_zeroed(tape, x) : NULL;
    v.dw = weight->needs_grad ? mer_grad_zeroed(tape, weight) : NULL;
    conv_all(conv, x, weight, y, &v);
    if (bias != NULL && bias->needs_grad) {
        int64_t pixels = (int64_t)y->shape[2] * y->shape[3];
        float  *grad = mer_grad_zeroed(tape, bias);
        for (int64_t i = 0; i < y->size; i++) {
            grad[i / pixels % y->shape[1]] += v.dy[i];
        }
    }
}

/* Mean and variance of one channel, in double. */
static void statistics(const MerTensor *x, const float *data, int c, float *mean, float *variance)
{
    int64_t pixels = (int64_t)x->shape[2] * x->shape[3], count = x->shape[0] * pixels;
    double  sum = 0, square = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < count; i++) {
            double value = data[(i / pixels * x->shape[1] + c) * pixels + i % pixels];
            sum += pass == 0 ? value : 0;
            square += pass == 1 ? (value - sum / (double)count) * (value - sum / (double)count) : 0;
        }
    }
    *mean = (float)(sum / (double)count);
    *variance = (float)(square / (double)count);
}

static void batch_norm(MerTape *tape, const MerBatchNorm *norm, const MerBatchNormTensors *t)
{
    const float *x = mer_tensor_data(tape, t->x);
    int64_t      pixels = (int64_t)t->x->shape[2] * t->x->shape[3];
    make_plain(tape, t->y);
    for (int c = 0; c < t->x->shape[1] && norm->is_training; c++) {
        statistics(t->x, x, c, &t->mean[c], &t->variance[c]);
    }
    for (int64_t i = 0; i < t->x->size; i++) {
        int64_t c = i / pixels % t->x->shape[1];
        float   inverse = 1 / sqrtf(t->variance[c] + norm->epsilon);
        t->y->data[i] = (x[i] - t->mean[c]) * inverse * t->scale->data[c] + t->shift->data[c];
    }
}

static void channel_norm_backward(const MerBatchNorm *norm, const MerBatchNormTensors *t, int c,
                                  const float *dy, float *dx, float *dscale, float *dshift)
{
    int64_t pixels = (int64_t)t->x->shape[2] * t->x->shape[3], count = t->x->shape[0] * pixels;
    float   inverse = 1 / sqrtf(t->variance[c] + norm->epsilon);
    double  sum = 0, along = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = (i / pixels * t->x->shape[1] + c) * pixels + i % pixels;
        sum += dy[at];
        along += (double)dy[at] * (t->x->data[at] - t->mean[c]) * inverse;
    }
    for (int64_t i = 0; dx != NULL && i < count; i++) {
        int64_t at = (i / pixels * t->x->shape[1] + c) * pixels + i % pixels;
        double  z = (t->x->data[at] - t->mean[c]) * inverse;
        double  common = norm->is_training ? (sum + z * along) / (double)count : 0;
        dx[at] += (float)(t->scale->data[c] * inverse * (dy[at] - common));
    }
    if (dscale != NULL) {
        dscale[c] += (float)along;
    }
    if (dshift != NULL) {
        dshift[c] += (float)sum;
    }
}

static void batch_norm_backward(MerTape *tape, const MerBatchNorm *norm,
                                const MerBatchNormTensors *t)
{
    const float *dy = mer_tensor_grad(tape, t->y);
    float       *dx = t->x->needs_grad ? mer_grad_zeroed(tape, t->x) : NULL;
    float       *dscale = t->scale->needs_grad ? mer_grad_zeroed(tape, t->scale) : NULL;
    float       *dshift = t->shift->needs_grad ? mer_grad_zeroed(tape, t->shift) : NULL;
    for (int c = 0; c < t->x->shape[1]; c++) {
        channel_norm_backward(norm, t, c, dy, dx, dscale, dshift);
    }
}

typedef struct Window { /* the real pixels under one output pixel */
    int64_t plane;
    int     row[2], column[2]; /* first, one past the last */
} Window;

static Window window_of(const MerPool *pool, const MerTensor *x, const MerTensor *y, int64_t index)
{
    int64_t pixels = (int64_t)y->shape[2] * y->shape[3];
    Window  w = {.plane = index / pixels * x->shape[2] * x->shape[3]};
    int     at[2] = {(int)(index % pixels / y->shape[3]), (int)(index % y->shape[3])};
    for (int i = 0; i < 2; i++) {
        int  first = at[i] * pool->stride[i] - pool->padding[i];
        int  end = first + pool->window[i];
        int *range = i == 0 ? w.row : w.column;
        range[0] = first < 0 ? 0 : first;
        range[1] = end > x->shape[2 + i] ? x->shape[2 + i] : end;
    }
    return w;
}

static void pool_forward(MerTape *tape, const MerPool *pool, MerTensor *x, MerTensor *y,
                         void **choice)
{
    const float *in = mer_tensor_data(tape, x);
    int64_t     *winner = mer_workspace_alloc(tape->workspace, (size_t)y->size * sizeof *winner);
    make_plain(tape, y);
    for (int64_t i = 0; i < y->size; i++) {
        Window w = window_of(pool, x, y, i);
        float  sum = 0;
        winner[i] = -1;
        for (int r = w.row[0]; r < w.row[1]; r++) {
            for (int c = w.column[0]; c < w.column[1]; c++) {
                int64_t at = w.plane + (int64_t)r * x->shape[3] + c;
                sum += in[at];
                winner[i] = winner[i] < 0 || in[at] > in[winner[i]] ? at : winner[i];
            }
        }
        int count = (w.row[1] - w.row[0]) * (w.column[1] - w.column[0]);
        y->data[i] = pool->kind == MER_POOL_MAX ? in[winner[i]] : sum / (float)count;
    }
    if (choice != NULL) {
        *choice = winner;
    }
}

static void pool_backward(MerTape *tape, const MerPool *pool, MerTensor *x, MerTensor *y,
                          void *choice)
{
    const int64_t *winner = choice;
    const float   *dy = mer_tensor_grad(tape, y);
    float         *dx = mer_grad_zeroed(tape, x);
    for (int64_t i = 0; i < y->size; i++) {
        if (pool->kind == MER_POOL_MAX) {
            dx[winner[i]] += dy[i];
            continue;
        }
        Window w = window_of(pool, x, y, i);
        int    count = (w.row[1] - w.row[0]) * (w.column[1] - w.column[0]);
        for (int r = w.row[0]; r < w.row[1]; r++) {
            for (int c = w.column[0]; c < w.column[1]; c++) {
                dx[w.plane + (int64_t)r * x->shape[3] + c] += dy[i] / (float)count;
            }
        }
    }
}

const MerBackend mer_backend_plain = {
    .name = "plain",
    .open = open_plain,
    .close = close_plain,
    .allocations = allocations,
    .matmul = matmul,
    .layout_size = layout_size,
    .reorder = reorder,
    .conv = conv_forward,
    .conv_backward = conv_backward,
    .batch_norm = batch_norm,
    .batch_norm_backward = batch_norm_backward,
    .pool = pool_forward,
    .pool_backward = pool_backward,
};
