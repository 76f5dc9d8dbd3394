/* Sums and means, over everything or along one axis. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>

static void reduce_backward(MerTape *tape, const MerNode *node)
{
    MerReduction op = *(const MerReduction *)node->extra;
    op.dy = mer_tensor_grad(tape, node->output);
    op.dx = mer_grad_zeroed(tape, node->inputs[0]);
    tape->backend.reduce_backward(tape, &op);
}

static MerTensor *reduce(MerTape *tape, MerReduction op, MerTensor *x, int rank, const int *shape)
{
    MerTensor *y = mer_tape_tensor(tape, rank, shape);
    op.x = mer_tensor_data(tape, x);
    op.y = y->data;
    tape->backend.reduce(tape, &op);
    mer_tape_add(tape, reduce_backward, y, x, NULL, NULL, &op, sizeof op);
    return y;
}

static MerTensor *along(MerTape *tape, bool is_mean, MerTensor *x, int axis)
{
    int shape[MER_TENSOR_RANK] = {1}, rank = 0;
    axis += axis < 0 ? x->rank : 0;
    assert(axis >= 0 && axis < x->rank);
    MerReduction op = {.outer = 1, .length = x->shape[axis], .inner = 1, .factor = 1};
    for (int i = 0; i < x->rank; i++) {
        op.outer *= i < axis ? x->shape[i] : 1;
        op.inner *= i > axis ? x->shape[i] : 1;
        if (i != axis) {
            shape[rank++] = x->shape[i];
        }
    }
    if (is_mean) {
        op.factor = op.length > 0 ? 1 / (float)op.length : 0;
    }
    return reduce(tape, op, x, rank > 0 ? rank : 1, shape);
}

MerTensor *mer_tensor_sum_axis(MerTape *tape, MerTensor *x, int axis)
{
    return along(tape, false, x, axis);
}

MerTensor *mer_tensor_mean_axis(MerTape *tape, MerTensor *x, int axis)
{
    return along(tape, true, x, axis);
}

static MerTensor *total(MerTape *tape, MerTensor *x, float factor)
{
    MerReduction op = {MER_REDUCTION_TOTAL, 1, x->size, 1, .factor = factor};
    return reduce(tape, op, x, 1, (int[]){1});
}

MerTensor *mer_tensor_sum(MerTape *tape, MerTensor *x)
{
    return total(tape, x, 1);
}

MerTensor *mer_tensor_mean(MerTape *tape, MerTensor *x)
{
    return total(tape, x, x->size > 0 ? 1 / (float)x->size : 0);
}
