/* Losses: one number, the mean over rows (cross-entropy) or over all numbers. */
#include "tensor/ops.h"
#include "tensor/tape.h"
#include "tensor/vector_math.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The gradient is known in the forward pass: the node keeps it until the factor comes. */
static void kept_backward(MerTape *tape, const MerNode *node)
{
    const float *kept = node->extra;
    float        factor = mer_tensor_grad(tape, node->output)[0];
    bool         is_fresh;
    float       *grad = mer_grad_begin(tape, node->inputs[0], &is_fresh);
    for (int64_t i = 0; i < node->inputs[0]->size; i++) {
        grad[i] = (is_fresh ? 0 : grad[i]) + factor * kept[i];
    }
    MerTensor *target = node->inputs[1];
    if (target != NULL && target->needs_grad) {
        grad = mer_grad_zeroed(tape, target);
        for (int64_t i = 0; i < target->size; i++) {
            grad[i] -= factor * kept[i];
        }
    }
}

static MerTensor *loss_of(MerTape *tape, double total, MerTensor *x, MerTensor *target, float *kept)
{
    MerTensor *loss = mer_tape_scalar(tape, (float)total);
    MerNode   *node = mer_tape_add(tape, kept_backward, loss, x, target, NULL);
    if (node != NULL) {
        node->extra = kept;
    }
    return loss;
}

/* -sum_j t_j log p_j of one row, t = 1 - smoothing at the label and smoothing / n everywhere; p
 * - t is left in `grad`. */
MER_BODY cross_entropy_row_body(const float *restrict x, int n, int label, float smoothing,
                                float *restrict grad, double *total)
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
    *total += loss;
}
MER_WIDE(cross_entropy_row,
         (const float *x, int n, int label, float smoothing, float *grad, double *total),
         (x, n, label, smoothing, grad, total))

MerTensor *mer_tensor_cross_entropy(MerTape *tape, MerTensor *logits, const int *labels,
                                    float smoothing)
{
    assert(logits->rank == 2 && logits->shape[0] > 0);
    int          rows = logits->shape[0], n = logits->shape[1];
    const float *x = mer_tensor_data(tape, logits);
    float       *kept = mer_workspace_floats(tape->workspace, logits->size);
    double       total = 0;
    for (int r = 0; r < rows; r++) {
        assert(labels[r] >= 0 && labels[r] < n);
        int64_t offset = (int64_t)r * n;
        cross_entropy_row(x + offset, n, labels[r], smoothing, kept + offset, &total);
    }
    for (int64_t i = 0; i < logits->size; i++) {
        kept[i] /= (float)rows;
    }
    return loss_of(tape, total / rows, logits, NULL, kept);
}

MerTensor *mer_tensor_mse(MerTape *tape, MerTensor *x, MerTensor *target)
{
    assert(x->size == target->size && x->size > 0);
    const float *a = mer_tensor_data(tape, x), *b = mer_tensor_data(tape, target);
    float       *kept = mer_workspace_floats(tape->workspace, x->size);
    double       total = 0;
    for (int64_t i = 0; i < x->size; i++) {
        float difference = a[i] - b[i];
        total += (double)difference * difference;
        kept[i] = 2 * difference / (float)x->size;
    }
    return loss_of(tape, total / (double)x->size, x, target, kept);
}

/* Huber, 1964: square near zero, linear beyond `delta`. */
MerTensor *mer_tensor_huber(MerTape *tape, MerTensor *x, MerTensor *target, float delta)
{
    assert(x->size == target->size && x->size > 0);
    const float *a = mer_tensor_data(tape, x), *b = mer_tensor_data(tape, target);
    float       *kept = mer_workspace_floats(tape->workspace, x->size);
    double       total = 0;
    for (int64_t i = 0; i < x->size; i++) {
        float difference = a[i] - b[i], distance = fabsf(difference);
        bool  is_near = distance <= delta;
        total +=
            is_near ? 0.5 * difference * difference : (double)delta * (distance - 0.5f * delta);
        kept[i] = (is_near ? difference : (difference > 0 ? delta : -delta)) / (float)x->size;
    }
    return loss_of(tape, total / (double)x->size, x, target, kept);
}
