/* Convolutions of images of a few pixels, as networks have them at their end. oneDNN's kernels are made for
 * larger ones: a filter of one pixel is a product of matrices here, which needs no weights in another order
 * and is cut by the channels of its result; and images no larger than a filter of their own for each
 * channel, which oneDNN does number by number, are done by lanes. */
#include "tensor/dnnl_inside.h"
#include "tensor/plain_inside.h"
#include "tensor/vector_math.h"

bool mer_dnnl_is_product(const MerConvolution *conv, const MerTensor *weight, const MerTensor *y)
{
    enum {
        IMAGES = 64
    }; /* of a usual batch: the kind of kernel must not follow from how many there are */
    for (int i = 0; i < 2; i++) {
        if (weight->shape[2 + i] != 1 || conv->stride[i] != 1 || conv->padding[i] != 0) {
            return false;
        }
    }
    /* To bring both images into rows and back must cost less than to bring the weights into order. */
    double channels = weight->shape[0] + weight->shape[1];
    double pixels = (double)IMAGES * y->shape[2] * y->shape[3];
    return conv->groups == 1 && pixels * channels <= 2.0 * (double)weight->size;
}

/* An image as a matrix: a row for each pixel, a column for each channel. */
static const MerLayout *rows_of(MerTape *tape, const MerTensor *image)
{
    return mer_dnnl_image_layout(tape, image->shape, 0);
}

static int pixels_of(const MerTensor *image)
{
    return image->shape[0] * image->shape[2] * image->shape[3];
}

static void multiply(MerTape *tape, int m, int n, int k, MerMatrix a, MerMatrix b, float *c,
                     float beta)
{
    tape->backend.product(tape, &(MerProduct){1, m, n, k, a, b, {.data = c, .row = n}, beta});
}

void mer_dnnl_product_conv(MerTape *tape, MerTensor *x, MerTensor *weight, MerTensor *bias,
                           MerTensor *y)
{
    int              c = x->shape[1], k = y->shape[1], pixels = pixels_of(x);
    const MerLayout *from = mer_planes_layout(x), *rows = rows_of(tape, y);
    const MerLayout *to = mer_dnnl_image_layout(tape, y->shape, from != NULL ? from->lanes : 0);
    if (tape->error.status != MER_OK) {
        return;
    }
    MerMatrix  in = {.data = mer_dnnl_data(tape, x, rows_of(tape, x)), .row = c};
    MerMatrix  w = {.data = mer_tensor_data(tape, weight), .row = c, .is_transposed = true};
    MerBlocked out = {mer_form_memory(tape, y, rows), rows};
    multiply(tape, pixels, k, c, in, w, out.data, 0);
    if (bias != NULL) {
        MerRows add = {.kind = MER_ROWS_BIAS, .rows = pixels, .width = k, .y = {out.data}};
        add.x[1] = mer_tensor_data(tape, bias);
        tape->backend.rows(tape, &add);
    }
    mer_data_set(y, (MerBlocked){mer_form_convert(tape, y, out, to), to});
}

static void bias_backward(MerTape *tape, MerTensor *bias, MerTensor *y)
{
    if (bias != NULL && bias->needs_grad) {
        float *rows = mer_dnnl_grad(tape, y, rows_of(tape, y));
        float *sum = mer_dnnl_sum(tape, rows, pixels_of(y), y->shape[1]);
        mer_grad_give_plain(tape, bias, sum, false);
    }
}

void mer_dnnl_product_backward(MerTape *tape, MerTensor *x, MerTensor *weight, MerTensor *bias,
                               MerTensor *y)
{
    int              c = x->shape[1], k = y->shape[1], pixels = pixels_of(x);
    const MerLayout *rows = rows_of(tape, x);
    MerMatrix        dy = {.data = mer_dnnl_grad(tape, y, rows_of(tape, y)), .row = k};
    if (weight->needs_grad) {
        bool      is_fresh;
        MerMatrix turned = {.data = dy.data, .row = k, .is_transposed = true};
        MerMatrix in = {.data = mer_dnnl_data(tape, x, rows), .row = c};
        float    *dw = mer_grad_begin(tape, weight, &is_fresh);
        multiply(tape, k, c, pixels, turned, in, dw, is_fresh ? 0 : 1);
    }
    bias_backward(tape, bias, y);
    if (x->needs_grad) {
        MerMatrix w = {.data = mer_tensor_data(tape, weight), .row = c};
        float    *dx = mer_form_memory(tape, x, rows);
        multiply(tape, pixels, c, k, dy, w, dx, 0);
        mer_grad_give(tape, x, (MerBlocked){dx, rows}, false);
    }
}

bool mer_dnnl_is_small_depthwise(const MerConvolution *conv, const MerTensor *x,
                                 const MerTensor *weight)
{
    bool is_depthwise = conv->groups == x->shape[1] && conv->groups == weight->shape[0];
    return is_depthwise && x->shape[2] <= weight->shape[2] && x->shape[3] <= weight->shape[3];
}

typedef struct Depthwise { /* weight gradients at work */
    const MerConvolution *conv;
    const int            *in, *out, *filter; /* rows and columns */
    MerPlanes             from, to;
    const float          *x, *dy;
    float                *dw; /* (C, R, S) */
} Depthwise;

/* The gradient of one number of the filters of a group of channels, `lanes` of a known number. */
MER_BODY add_up(const Depthwise *d, int64_t group, int r, int s, int lanes, float *sums)
{
    float sum[MER_MOST_LANES] = {0};
    for (int64_t plane = group; plane < d->from.count; plane += d->from.groups) {
        const float *x = d->x + plane * d->from.pixels * lanes;
        const float *dy = d->dy + plane * d->to.pixels * lanes;
        for (int i = 0; i < d->out[0]; i++) {
            int row = i * d->conv->stride[0] - d->conv->padding[0] + r * d->conv->dilation[0];
            for (int j = 0; j < d->out[1] && row >= 0 && row < d->in[0]; j++) {
                int column =
                    j * d->conv->stride[1] - d->conv->padding[1] + s * d->conv->dilation[1];
                if (column < 0 || column >= d->in[1]) {
                    continue;
                }
                const float *a = x + (row * d->in[1] + column) * lanes;
                const float *b = dy + (i * d->out[1] + j) * lanes;
                for (int l = 0; l < lanes; l++) {
                    sum[l] += a[l] * b[l];
                }
            }
        }
    }
    memcpy(sums, sum, (size_t)lanes * sizeof *sums);
}

MER_BODY filters_body(void *context, int64_t first, int64_t end)
{
    const Depthwise *d = context;
    int              lanes = d->from.lanes, size = d->filter[0] * d->filter[1];
    for (int64_t i = first * size; i < end * size; i++) {
        int64_t group = i / size;
        int     r = (int)(i % size) / d->filter[1], s = (int)(i % size) % d->filter[1];
        float   sums[MER_MOST_LANES];
        if (lanes == 16) {
            add_up(d, group, r, s, 16, sums);
        } else {
            add_up(d, group, r, s, lanes, sums);
        }
        for (int64_t l = 0; l < lanes && group * lanes + l < d->from.channels; l++) {
            d->dw[(group * lanes + l) * size + i % size] = sums[l];
        }
    }
}
MER_WIDE(filters, (void *context, int64_t first, int64_t end), (context, first, end))

static void depthwise_weights(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                              MerTensor *weight, MerTensor *y)
{
    const MerLayout *from = mer_planes_layout(x);
    const MerLayout *to = from != NULL ? mer_dnnl_image_layout(tape, y->shape, from->lanes) : NULL;
    Depthwise        d = {.conv = conv,
                          .in = x->shape + 2,
                          .out = y->shape + 2,
                          .filter = weight->shape + 2,
                          .from = mer_planes(x, from),
                          .to = mer_planes(y, to),
                          .x = mer_form_convert(tape, x, mer_data_form(x), from),
                          .dy = mer_dnnl_grad(tape, y, to),
                          .dw = mer_workspace_floats(tape->workspace, weight->size)};
    int64_t          products = y->size / d.from.groups * d.filter[0] * d.filter[1];
    mer_tape_split(tape, d.from.groups, 1 + MER_GRAIN / (1 + products), filters, &d);
    mer_grad_give_plain(tape, weight, d.dw, false);
}

void mer_dnnl_depthwise_weights(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                                MerTensor *weight, MerTensor *bias, MerTensor *y)
{
    if (weight->needs_grad) {
        depthwise_weights(tape, conv, x, weight, y);
    }
    bias_backward(tape, bias, y);
}
