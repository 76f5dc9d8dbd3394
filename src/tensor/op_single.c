/* Ops on one tensor, number by number. */
#include "tensor/ops.h"
#include "tensor/tape.h"

/* Zero stays zero: the padding of a blocked layout needs no care. */
static bool keeps_zero(const MerPointwise *op)
{
    switch (op->kind) {
    case MER_POINTWISE_RELU:
    case MER_POINTWISE_TANH:
    case MER_POINTWISE_SQUARE:
        return true;
    case MER_POINTWISE_AFFINE:
        return op->q == 0;
    case MER_POINTWISE_CLAMP:
        return op->p <= 0 && op->q >= 0;
    default:
        return false;
    }
}

static void single_backward(MerTape *tape, const MerNode *node)
{
    MerPointwise op = *(const MerPointwise *)node->extra;
    MerTensor   *x = node->inputs[0], *y = node->output;
    if (op.y == y->data) {
        op.dy = mer_tensor_grad(tape, y);
        op.dx = mer_grad_begin(tape, x, &op.is_fresh);
        tape->backend.pointwise_backward(tape, &op);
        return;
    }
    op.dy = mer_form_convert(tape, y, mer_grad_form(y), y->blocked.layout);
    op.dx = mer_form_memory(tape, y, y->blocked.layout);
    op.is_fresh = true;
    tape->backend.pointwise_backward(tape, &op);
    mer_grad_give(tape, x, (MerBlocked){op.dx, y->blocked.layout}, false);
}

/* An image stays in its layout where that can be. */
static MerTensor *single(MerTape *tape, MerPointwiseKind kind, MerTensor *x, float p, float q)
{
    MerPointwise op = {.kind = kind, .p = p, .q = q};
    MerAlike     alike = mer_tape_alike(tape, x, keeps_zero(&op));
    op.count = mer_form_size(x, alike.from);
    op.x = alike.from.data;
    op.y = alike.to.data;
    tape->backend.pointwise(tape, &op);
    mer_tape_add(tape, single_backward, alike.y, x, NULL, NULL, &op, sizeof op);
    return alike.y;
}

#define OP(name, id)                                                                               \
    MerTensor *mer_tensor_##name(MerTape *tape, MerTensor *x)                                      \
    {                                                                                              \
        return single(tape, MER_POINTWISE_##id, x, 0, 0);                                          \
    }

OP(relu, RELU)
OP(tanh, TANH)
OP(sigmoid, SIGMOID)
OP(exp, EXP)
OP(log, LOG)
OP(square, SQUARE)

MerTensor *mer_tensor_affine(MerTape *tape, MerTensor *x, float factor, float offset)
{
    return single(tape, MER_POINTWISE_AFFINE, x, factor, offset);
}

MerTensor *mer_tensor_clamp(MerTape *tape, MerTensor *x, float low, float high)
{
    return single(tape, MER_POINTWISE_CLAMP, x, low, high);
}

MerTensor *mer_tensor_stop(MerTape *tape, MerTensor *x)
{
    MerTensor *y = mer_tape_input(tape, x->rank, x->shape, x->data);
    y->blocked = x->blocked;
    return y;
}

/* Srivastava et al., JMLR 2014, scaled in training so that evaluation needs nothing. */
MerTensor *mer_tensor_dropout(MerTape *tape, MerTensor *x, float share, MerRng *rng)
{
    MerTensor *mask = mer_tape_tensor(tape, x->rank, x->shape);
    float      scale = share < 1 ? 1 / (1 - share) : 0;
    for (int64_t i = 0; i < mask->size; i++) {
        mask->data[i] = (float)mer_rng_unit(rng) < share ? 0 : scale;
    }
    return mer_tensor_mul(tape, x, mask);
}
