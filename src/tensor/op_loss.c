/* Losses: one number, the mean over rows (cross-entropy) or over all numbers; and numbers that were computed
 * elsewhere, with their gradients. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>
#include <string.h>

/* The gradient is known in the forward pass: the node keeps it until the factor comes. */
static void loss_backward(MerTape *tape, const MerNode *node)
{
    const MerLoss *op = node->extra;
    MerTensor     *x = node->inputs[0], *target = node->inputs[1];
    float          factor = mer_tensor_grad(tape, node->output)[0];
    if (x->needs_grad) {
        mer_grad_add(tape, x, factor, op->grad);
    }
    if (target != NULL && target->needs_grad) {
        mer_grad_add(tape, target, -factor, op->grad);
    }
}

static MerTensor *loss_of(MerTape *tape, MerLoss op, MerTensor *x, MerTensor *target)
{
    op.x = mer_tensor_data(tape, x);
    op.target = target != NULL ? mer_tensor_data(tape, target) : NULL;
    op.grad = mer_workspace_floats(tape->workspace, x->size);
    MerTensor *loss = mer_tape_scalar(tape, (float)tape->backend.loss(tape, &op));
    mer_tape_add(tape, loss_backward, loss, x, target, NULL, &op, sizeof op);
    return loss;
}

MerTensor *mer_tensor_cross_entropy(MerTape *tape, MerTensor *logits, const int *labels,
                                    float smoothing)
{
    assert(logits->rank == 2 && logits->shape[0] > 0);
    MerLoss op = {.kind = MER_LOSS_CROSS_ENTROPY,
                  .rows = logits->shape[0],
                  .width = logits->shape[1],
                  .smoothing = smoothing,
                  .labels = labels};
    return loss_of(tape, op, logits, NULL);
}

MerTensor *mer_tensor_mse(MerTape *tape, MerTensor *x, MerTensor *target)
{
    assert(x->size == target->size && x->size > 0);
    return loss_of(tape, (MerLoss){.kind = MER_LOSS_MSE, .rows = x->size, .width = 1}, x, target);
}

typedef struct Known {
    int           count;
    MerTensor   **inputs;
    const float **gradients;
} Known;

static void known_backward(MerTape *tape, const MerNode *node)
{
    const Known *known = node->extra;
    float        dy = mer_tensor_grad(tape, node->output)[0];
    for (int i = 0; i < known->count; i++) {
        float *dx = mer_grad_wanted(tape, known->inputs[i]);
        for (int64_t j = 0; dx != NULL && j < known->inputs[i]->size; j++) {
            dx[j] += dy * known->gradients[i][j];
        }
    }
}

MerTensor *mer_tensor_known(MerTape *tape, float value, int count, MerTensor *const *inputs,
                            const float *const *gradients)
{
    MerTensor *y = mer_tape_scalar(tape, value), *learned = NULL;
    size_t     bytes = (size_t)count * sizeof(void *);
    Known      known = {count, mer_workspace_alloc(tape->workspace, bytes + 1),
                        mer_workspace_alloc(tape->workspace, bytes + 1)};
    memcpy(known.inputs, inputs, bytes);
    memcpy(known.gradients, gradients, bytes);
    for (int i = 0; i < count; i++) {
        learned = inputs[i]->needs_grad ? inputs[i] : learned;
    }
    mer_tape_add(tape, known_backward, y, learned, NULL, NULL, &known, sizeof known);
    return y;
}
