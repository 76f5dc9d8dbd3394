/* Ops on pairs of tensors with broadcasting: both operands are walked with steps, 0 where a
 * size of 1 is repeated. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>

/* The size of axis i of MER_TENSOR_RANK ones, shapes being aligned at the end. */
static int size_at(const MerTensor *tensor, int i)
{
    int axis = i - (MER_TENSOR_RANK - tensor->rank);
    return axis >= 0 ? tensor->shape[axis] : 1;
}

static MerPair pair_of(MerPairKind kind, const MerTensor *a, const MerTensor *b)
{
    MerPair op = {.kind = kind, .is_same = a->rank == b->rank, .count = 1};
    int64_t step[2] = {1, 1};
    for (int i = MER_TENSOR_RANK - 1; i >= 0; i--) {
        int size[2] = {size_at(a, i), size_at(b, i)};
        op.size[i] = size[0] == 1 ? size[1] : size[0];
        op.count *= op.size[i];
        op.is_same = op.is_same && size[0] == size[1];
        for (int w = 0; w < 2; w++) {
            assert(size[w] == op.size[i] || size[w] == 1);
            op.step[w][i] = size[w] == 1 ? 0 : step[w];
            step[w] *= size[w];
        }
    }
    return op;
}

static void pair_backward(MerTape *tape, const MerNode *node)
{
    MerPair op = *(const MerPair *)node->extra;
    op.dy = mer_tensor_grad(tape, node->output);
    op.dx[0] = mer_grad_wanted(tape, node->inputs[0]);
    op.dx[1] = mer_grad_wanted(tape, node->inputs[1]);
    tape->backend.pair_backward(tape, &op);
}

static MerTensor *pair(MerTape *tape, MerPairKind kind, MerTensor *a, MerTensor *b)
{
    MerPair    op = pair_of(kind, a, b);
    int        rank = a->rank > b->rank ? a->rank : b->rank;
    MerTensor *y = mer_tape_tensor(tape, rank, op.size + MER_TENSOR_RANK - rank);
    op.x[0] = mer_tensor_data(tape, a);
    op.x[1] = mer_tensor_data(tape, b);
    op.y = y->data;
    tape->backend.pair(tape, &op);
    if (y->size > 0) {
        mer_tape_add(tape, pair_backward, y, a, b, NULL, &op, sizeof op);
    }
    return y;
}

/* Sums of images stay in the layout of the first: the way of a residual network. */
static void add_image_backward(MerTape *tape, const MerNode *node)
{
    for (int w = 0; w < 2; w++) {
        if (node->inputs[w]->needs_grad) {
            mer_grad_give(tape, node->inputs[w], mer_grad_form(node->output), true);
        }
    }
}

static MerTensor *add_image(MerTape *tape, MerTensor *a, MerTensor *b)
{
    const MerLayout *layout = a->blocked.layout;
    MerTensor       *y = mer_tape_image(tape, a->shape);
    y->blocked = (MerBlocked){mer_form_memory(tape, y, layout), layout};
    MerPair op = {.kind = MER_PAIR_ADD,
                  .is_same = true,
                  .count = mer_form_size(y, y->blocked),
                  .x = {a->blocked.data, mer_form_convert(tape, b, mer_data_form(b), layout)},
                  .y = y->blocked.data};
    tape->backend.pair(tape, &op);
    mer_tape_add(tape, add_image_backward, y, a, b, NULL, NULL, 0);
    return y;
}

static bool is_same_image(const MerTensor *a, const MerTensor *b)
{
    bool is_same = a->rank == 4 && b->rank == 4;
    for (int i = 0; i < 4; i++) {
        is_same = is_same && a->shape[i] == b->shape[i];
    }
    return is_same;
}

MerTensor *mer_tensor_add(MerTape *tape, MerTensor *a, MerTensor *b)
{
    if (is_same_image(a, b) && (a->blocked.data != NULL || b->blocked.data != NULL)) {
        bool is_first = a->blocked.data != NULL;
        return add_image(tape, is_first ? a : b, is_first ? b : a);
    }
    return pair(tape, MER_PAIR_ADD, a, b);
}

#define OP(name, id)                                                                               \
    MerTensor *mer_tensor_##name(MerTape *tape, MerTensor *a, MerTensor *b)                        \
    {                                                                                              \
        return pair(tape, MER_PAIR_##id, a, b);                                                    \
    }

OP(sub, SUB)
OP(mul, MUL)
OP(div, DIV)
OP(minimum, MINIMUM)
