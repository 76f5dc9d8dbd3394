/* Ops that move numbers without changing them: reshape, transpose, concat, slice. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>
#include <string.h>

static void reshape_backward(MerTape *tape, const MerNode *node)
{
    mer_grad_give_plain(tape, node->inputs[0], mer_tensor_grad(tape, node->output), true);
}

MerTensor *mer_tensor_reshape(MerTape *tape, MerTensor *x, int rank, const int *shape)
{
    int     sizes[MER_TENSOR_RANK], open = -1;
    int64_t known = 1;
    assert(rank >= 1 && rank <= MER_TENSOR_RANK);
    for (int i = 0; i < rank; i++) {
        sizes[i] = shape[i];
        assert(shape[i] >= 0 || open < 0);
        open = shape[i] < 0 ? i : open;
        known *= shape[i] < 0 ? 1 : shape[i];
    }
    if (open >= 0) {
        sizes[open] = known > 0 ? (int)(x->size / known) : 0;
    }
    MerTensor *y =
        mer_tape_input(tape, rank, sizes, mer_tensor_data(tape, x)); /* the same memory */
    assert(y->size == x->size);
    mer_tape_add(tape, reshape_backward, y, x, NULL, NULL, NULL, 0);
    return y;
}

/* The way back of a move: from the output's gradient, added to the input's. */
static void move_backward(MerTape *tape, const MerNode *node)
{
    const MerMove *done = node->extra;
    MerTensor     *x = node->inputs[0], *y = node->output;
    MerMove        op = {.is_added = true};
    memcpy(op.size, done->size, sizeof op.size);
    memcpy(op.step[0], done->step[1], sizeof op.step[0]);
    memcpy(op.step[1], done->step[0], sizeof op.step[1]);
    op.from = mer_tensor_grad(tape, y) + (done->to - y->data);
    op.to = mer_grad_zeroed(tape, x) + (done->from - x->data);
    tape->backend.move(tape, &op);
}

static void move(MerTape *tape, const MerMove *op, MerTensor *x, MerTensor *y)
{
    tape->backend.move(tape, op);
    mer_tape_add(tape, move_backward, y, x, NULL, NULL, op, sizeof *op);
}

MerTensor *mer_tensor_transpose(MerTape *tape, MerTensor *x, const int *order)
{
    int     shape[MER_TENSOR_RANK], missing = MER_TENSOR_RANK - x->rank;
    int64_t step[MER_TENSOR_RANK];
    MerMove op = {0};
    for (int64_t i = x->rank - 1, s = 1; i >= 0; i--) {
        step[i] = s;
        s *= x->shape[i];
    }
    for (int i = 0; i < x->rank; i++) {
        shape[i] = x->shape[order[i]];
    }
    MerTensor *y = mer_tape_tensor(tape, x->rank, shape);
    assert(y->size == x->size);
    for (int64_t i = MER_TENSOR_RANK - 1, s = 1; i >= 0; i--) {
        op.size[i] = i < missing ? 1 : shape[i - missing];
        op.step[0][i] = i < missing ? 0 : step[order[i - missing]];
        op.step[1][i] = s;
        s *= op.size[i];
    }
    op.from = mer_tensor_data(tape, x);
    op.to = y->data;
    move(tape, &op, x, y);
    return y;
}

/* A part of a longer axis, cut out of the longer tensor or put into it: `outer` runs. */
static MerMove part_of(const MerTensor *longer, const MerTensor *part, int axis, bool is_cut)
{
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < part->rank; i++) {
        outer *= i < axis ? part->shape[i] : 1;
        inner *= i > axis ? part->shape[i] : 1;
    }
    MerMove op = {.size = {1, 1, 1, (int)outer, (int)(inner * part->shape[axis])}};
    op.step[is_cut ? 0 : 1][MER_TENSOR_RANK - 2] = inner * longer->shape[axis];
    op.step[is_cut ? 1 : 0][MER_TENSOR_RANK - 2] = inner * part->shape[axis];
    op.step[0][MER_TENSOR_RANK - 1] = op.step[1][MER_TENSOR_RANK - 1] = 1;
    return op;
}

/* How many numbers lie before place `start` of an axis. */
static int64_t offset_of(const MerTensor *x, int axis, int64_t start)
{
    for (int i = axis + 1; i < x->rank; i++) {
        start *= x->shape[i];
    }
    return start;
}

MerTensor *mer_tensor_slice(MerTape *tape, MerTensor *x, int axis, int start, int length)
{
    axis += axis < 0 ? x->rank : 0;
    assert(axis >= 0 && axis < x->rank && start >= 0 && start + length <= x->shape[axis]);
    int shape[MER_TENSOR_RANK];
    memcpy(shape, x->shape, sizeof shape);
    shape[axis] = length;
    MerTensor *y = mer_tape_tensor(tape, x->rank, shape);
    MerMove    op = part_of(x, y, axis, true);
    op.from = mer_tensor_data(tape, x) + offset_of(x, axis, start);
    op.to = y->data;
    move(tape, &op, x, y);
    return y;
}

/* One node per part: each takes its piece of the gradient. */
MerTensor *mer_tensor_concat(MerTape *tape, int count, MerTensor *const *parts, int axis)
{
    assert(count >= 1);
    axis += axis < 0 ? parts[0]->rank : 0;
    int shape[MER_TENSOR_RANK], length = 0;
    memcpy(shape, parts[0]->shape, sizeof shape);
    for (int i = 0; i < count; i++) {
        length += parts[i]->shape[axis];
    }
    shape[axis] = length;
    MerTensor *y = mer_tape_tensor(tape, parts[0]->rank, shape);
    for (int i = 0, start = 0; i < count; start += parts[i]->shape[axis], i++) {
        MerMove op = part_of(y, parts[i], axis, false);
        assert(parts[i]->rank == y->rank &&
               parts[i]->size * length == y->size * parts[i]->shape[axis]);
        op.from = mer_tensor_data(tape, parts[i]);
        op.to = y->data + offset_of(y, axis, start);
        move(tape, &op, parts[i], y);
    }
    return y;
}
