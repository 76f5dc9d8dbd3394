/* Sums and means, over everything or along one axis, and the losses. */
#include "tensor/plain_inside.h"
#include "tensor/vector_math.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Numbers first .. end - 1 of the inner axis. */
static void sum_run(const MerReduction *op, int64_t outer, int64_t first, int64_t end)
{
    float *restrict to = op->y + outer * op->inner;
    memset(to + first, 0, (size_t)(end - first) * sizeof *to);
    for (int64_t l = 0; l < op->length; l++) {
        const float *restrict from = op->x + (outer * op->length + l) * op->inner;
        for (int64_t i = first; i < end; i++) {
            to[i] += from[i];
        }
    }
    for (int64_t i = first; op->factor != 1 && i < end; i++) {
        to[i] *= op->factor;
    }
}

static void sum_inner(void *context, int64_t first, int64_t end)
{
    sum_run(context, 0, first, end);
}

static void sum_outer(void *context, int64_t first, int64_t end)
{
    const MerReduction *op = context;
    for (int64_t o = first; o < end; o++) {
        sum_run(op, o, 0, op->inner);
    }
}

/* In double: a sum over everything may be long. */
static void total(const MerReduction *op)
{
    double sum = 0;
    for (int64_t i = 0; i < op->length; i++) {
        sum += op->x[i];
    }
    op->y[0] = (float)(sum * op->factor);
}

void mer_plain_reduce(MerTape *tape, const MerReduction *op)
{
    int64_t run = op->length > 0 ? op->length : 1;
    if (op->kind == MER_REDUCTION_TOTAL) {
        total(op);
    } else if (op->outer == 1) {
        mer_tape_split(tape, op->inner, 1 + MER_GRAIN / run, sum_inner, (void *)op);
    } else {
        mer_tape_split(tape, op->outer, 1 + MER_GRAIN / (run * op->inner + 1), sum_outer,
                       (void *)op);
    }
}

void mer_plain_reduce_backward(MerTape *tape, const MerReduction *op)
{
    (void)tape;
    for (int64_t o = 0; o < op->outer; o++) {
        for (int64_t l = 0; l < op->length; l++) {
            float *to = op->dx + (o * op->length + l) * op->inner;
            for (int64_t i = 0; i < op->inner; i++) {
                to[i] += op->factor * op->dy[o * op->inner + i];
            }
        }
    }
}

/* -sum_j t_j log p_j of one row, t = 1 - smoothing at the label and smoothing / n everywhere; p
 * - t is left in `grad`. */
MER_BODY cross_entropy_row_body(const float *restrict x, int n, int label, float smoothing,
                                float *restrict grad, double *sum_of_rows)
{
    float most = x[0], sum = 0, even = smoothing / (float)n;
    for (int j = 1; j < n; j++) {
        most = x[j] > most ? x[j] : most;
    }
    for (int j = 0; j < n; j++) {
        grad[j] = mer_fast_exp(x[j] - most);
    }
    for (int j = 0; j < n; j++) {
        sum += grad[j];
    }
    float inverse = 1 / sum;
    for (int j = 0; j < n; j++) {
        grad[j] = grad[j] * inverse - even;
    }
    grad[label] -= 1 - smoothing;
    double loss = most + log(sum) - (1 - smoothing) * x[label];
    for (int j = 0; j < n && smoothing > 0; j++) {
        loss -= even * x[j];
    }
    *sum_of_rows += loss;
}
MER_WIDE(cross_entropy_row,
         (const float *x, int n, int label, float smoothing, float *grad, double *sum_of_rows),
         (x, n, label, smoothing, grad, sum_of_rows))

static double cross_entropy(const MerLoss *op)
{
    double sum = 0;
    for (int64_t r = 0; r < op->rows; r++) {
        int64_t at = r * op->width;
        assert(op->labels[r] >= 0 && op->labels[r] < op->width);
        cross_entropy_row(op->x + at, op->width, op->labels[r], op->smoothing, op->grad + at, &sum);
    }
    for (int64_t i = 0; i < op->rows * op->width; i++) {
        op->grad[i] /= (float)op->rows;
    }
    return sum / (double)op->rows;
}

static double mse(const MerLoss *op)
{
    double sum = 0;
    for (int64_t i = 0; i < op->rows; i++) {
        float difference = op->x[i] - op->target[i];
        sum += (double)difference * difference;
        op->grad[i] = 2 * difference / (float)op->rows;
    }
    return sum / (double)op->rows;
}

double mer_plain_loss(MerTape *tape, const MerLoss *op)
{
    (void)tape;
    return op->kind == MER_LOSS_MSE ? mse(op) : cross_entropy(op);
}
