/* Softmax, log-softmax and layer norm over the last axis. */
#include "tensor/ops.h"
#include "tensor/tape.h"
#include "tensor/vector_math.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static int width_of(const MerTensor *x)
{
    return x->shape[x->rank - 1];
}

static int64_t rows_of(const MerTensor *x)
{
    return width_of(x) > 0 ? x->size / width_of(x) : 0;
}

static float largest(const float *x, int n)
{
    float most = x[0];
    for (int i = 1; i < n; i++) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

static void softmax_row(const float *restrict x, float *restrict y, int n)
{
    float most = largest(x, n), sum = 0;
    for (int i = 0; i < n; i++) {
        y[i] = mer_fast_exp(x[i] - most);
    }
    for (int i = 0; i < n; i++) {
        sum += y[i];
    }
    for (int i = 0; i < n; i++) {
        y[i] /= sum;
    }
}

static void softmax_backward(MerTape *tape, const MerNode *node)
{
    int          n = width_of(node->output);
    int64_t      rows = rows_of(node->output);
    const float *y = node->output->data, *dy = mer_tensor_grad(tape, node->output);
    float       *grad = mer_grad_zeroed(tape, node->inputs[0]);
    for (int64_t r = 0; r < rows; r++, y += n, dy += n, grad += n) {
        float dot = 0;
        for (int i = 0; i < n; i++) {
            dot += dy[i] * y[i];
        }
        for (int i = 0; i < n; i++) {
            grad[i] += y[i] * (dy[i] - dot);
        }
    }
}

MerTensor *mer_tensor_softmax(MerTape *tape, MerTensor *x)
{
    MerTensor   *y = mer_tape_tensor(tape, x->rank, x->shape);
    const float *in = mer_tensor_data(tape, x);
    int          n = width_of(x);
    for (int64_t r = 0; r < rows_of(x); r++) {
        softmax_row(in + r * n, y->data + r * n, n);
    }
    mer_tape_add(tape, softmax_backward, y, x, NULL, NULL);
    return y;
}

typedef struct Segments {
    int  count;
    int *first;
} Segments;

static void log_softmax_part(const float *restrict x, float *restrict y, int n)
{
    float most = largest(x, n), sum = 0;
    for (int i = 0; i < n; i++) {
        y[i] = mer_fast_exp(x[i] - most);
    }
    for (int i = 0; i < n; i++) {
        sum += y[i];
    }
    float shift = most + logf(sum);
    for (int i = 0; i < n; i++) {
        y[i] = x[i] - shift;
    }
}

static void log_softmax_backward(MerTape *tape, const MerNode *node)
{
    const Segments *segments = node->extra;
    int             width = width_of(node->output);
    int64_t         rows = rows_of(node->output);
    const float    *y = node->output->data, *dy = mer_tensor_grad(tape, node->output);
    float          *grad = mer_grad_zeroed(tape, node->inputs[0]);
    for (int64_t r = 0; r < rows; r++, y += width, dy += width, grad += width) {
        for (int s = 0; s < segments->count; s++) {
            float sum = 0;
            for (int i = segments->first[s]; i < segments->first[s + 1]; i++) {
                sum += dy[i];
            }
            for (int i = segments->first[s]; i < segments->first[s + 1]; i++) {
                grad[i] += dy[i] - mer_fast_exp(y[i]) * sum;
            }
        }
    }
}

MerTensor *mer_tensor_segment_log_softmax(MerTape *tape, MerTensor *x, int count, const int *first)
{
    assert(count >= 1 && first[0] == 0 && first[count] == width_of(x));
    MerTensor   *y = mer_tape_tensor(tape, x->rank, x->shape);
    const float *in = mer_tensor_data(tape, x);
    int          width = width_of(x);
    for (int64_t r = 0; r < rows_of(x); r++) {
        for (int s = 0; s < count; s++) {
            int64_t offset = r * width + first[s];
            log_softmax_part(in + offset, y->data + offset, first[s + 1] - first[s]);
        }
    }
    MerNode *node = mer_tape_add(tape, log_softmax_backward, y, x, NULL, NULL);
    if (node != NULL) {
        size_t    bytes = (size_t)(count + 1) * sizeof *first;
        Segments *segments = node->extra = mer_workspace_alloc(tape->workspace, sizeof *segments);
        segments->count = count;
        segments->first = mer_workspace_alloc(tape->workspace, bytes);
        memcpy(segments->first, first, bytes);
    }
    return y;
}

MerTensor *mer_tensor_log_softmax(MerTape *tape, MerTensor *x)
{
    return mer_tensor_segment_log_softmax(tape, x, 1, (int[]){0, width_of(x)});
}

typedef struct LayerNorm {
    float *normal;  /* (x - mean) / deviation */
    float *inverse; /* 1 / deviation of each row */
} LayerNorm;

static void layer_norm_backward(MerTape *tape, const MerNode *node)
{
    const LayerNorm *norm = node->extra;
    MerTensor       *x = node->inputs[0], *scale = node->inputs[1], *shift = node->inputs[2];
    int              n = width_of(x);
    const float     *dy = mer_tensor_grad(tape, node->output), *z = norm->normal;
    float           *dx = x->needs_grad ? mer_grad_zeroed(tape, x) : NULL;
    float           *dscale = scale->needs_grad ? mer_grad_zeroed(tape, scale) : NULL;
    float           *dshift = shift->needs_grad ? mer_grad_zeroed(tape, shift) : NULL;
    for (int64_t r = 0; r < rows_of(x); r++, dy += n, z += n) {
        float mean = 0, along = 0;
        for (int i = 0; i < n; i++) {
            float g = dy[i] * scale->data[i];
            mean += g;
            along += g * z[i];
        }
        for (int i = 0; dx != NULL && i < n; i++) {
            float g = dy[i] * scale->data[i];
            dx[r * n + i] += norm->inverse[r] * (g - (mean + z[i] * along) / (float)n);
        }
        for (int i = 0; dscale != NULL && i < n; i++) {
            dscale[i] += dy[i] * z[i];
        }
        for (int i = 0; dshift != NULL && i < n; i++) {
            dshift[i] += dy[i];
        }
    }
}

/* Ba et al., 2016. */
MerTensor *mer_tensor_layer_norm(MerTape *tape, MerTensor *x, MerTensor *scale, MerTensor *shift,
                                 float epsilon)
{
    int          n = width_of(x);
    MerTensor   *y = mer_tape_tensor(tape, x->rank, x->shape);
    const float *in = mer_tensor_data(tape, x);
    LayerNorm    norm = {mer_workspace_floats(tape->workspace, x->size),
                         mer_workspace_floats(tape->workspace, rows_of(x))};
    assert(scale->size == n && shift->size == n);
    for (int64_t r = 0; r < rows_of(x); r++) {
        const float *row = in + r * n;
        double       sum = 0, square = 0;
        for (int i = 0; i < n; i++) {
            sum += row[i];
        }
        float mean = (float)(sum / n);
        for (int i = 0; i < n; i++) {
            square += (double)(row[i] - mean) * (row[i] - mean);
        }
        norm.inverse[r] = (float)(1 / sqrt(square / n + epsilon));
        for (int i = 0; i < n; i++) {
            norm.normal[r * n + i] = (row[i] - mean) * norm.inverse[r];
            y->data[r * n + i] = norm.normal[r * n + i] * scale->data[i] + shift->data[i];
        }
    }
    MerNode *node = mer_tape_add(tape, layer_norm_backward, y, x, scale, shift);
    if (node != NULL) {
        node->extra = mer_workspace_alloc(tape->workspace, sizeof norm);
        memcpy(node->extra, &norm, sizeof norm);
    }
    return y;
}
