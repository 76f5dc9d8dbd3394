/* Scores of additive attention, in one op: as a tensor the sums of all pairs would need k times the memory of the
 * scores. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>

static void additive_backward(MerTape *tape, const MerNode *node)
{
    MerAdditive op = *(const MerAdditive *)node->extra;
    op.dy = mer_tensor_grad(tape, node->output);
    op.dquery = mer_grad_wanted(tape, node->inputs[0]);
    op.dkey = mer_grad_wanted(tape, node->inputs[1]);
    op.dv = mer_grad_wanted(tape, node->inputs[2]);
    tape->backend.additive_backward(tape, &op);
}

MerTensor *mer_tensor_additive(MerTape *tape, MerTensor *query, MerTensor *key, MerTensor *v)
{
    assert(query->rank == 3 && key->rank == 3 && query->shape[0] == key->shape[0]);
    assert(query->shape[2] == key->shape[2] && v->size == key->shape[2]);
    MerAdditive op = {.batch = query->shape[0],
                      .m = query->shape[1],
                      .n = key->shape[1],
                      .k = key->shape[2],
                      .query = mer_tensor_data(tape, query),
                      .key = mer_tensor_data(tape, key),
                      .v = mer_tensor_data(tape, v)};
    MerTensor  *y = mer_tape_tensor(tape, 3, (int[]){op.batch, op.m, op.n});
    op.y = y->data;
    tape->backend.additive(tape, &op);
    mer_tape_add(tape, additive_backward, y, query, key, v, &op, sizeof op);
    return y;
}
