/* Rows by index: embedding and the aggregations of graph networks. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>

static void lookup_backward(MerTape *tape, const MerNode *node)
{
    MerLookup op = *(const MerLookup *)node->extra;
    op.dy = mer_tensor_grad(tape, node->output);
    op.dx = mer_grad_zeroed(tape, node->inputs[0]);
    tape->backend.lookup_backward(tape, &op);
}

/* `limit`: of the indices, of which there are `indices`. */
static MerTensor *lookup(MerTape *tape, MerLookup op, MerTensor *x, const int shape[2],
                         int64_t indices, int64_t limit)
{
    assert(x->rank == 2);
    for (int64_t i = 0; i < indices; i++) {
        assert(op.index[i] >= 0 && op.index[i] < limit);
    }
    (void)limit;
    MerTensor *y = mer_tape_tensor(tape, 2, shape);
    op.width = x->shape[1];
    op.x = mer_tensor_data(tape, x);
    op.y = y->data;
    tape->backend.lookup(tape, &op);
    mer_tape_add(tape, lookup_backward, y, x, NULL, NULL, &op, sizeof op);
    return y;
}

MerTensor *mer_tensor_gather(MerTape *tape, MerTensor *table, int count, const int *index)
{
    MerLookup op = {.kind = MER_LOOKUP_GATHER, .count = count, .index = index};
    return lookup(tape, op, table, (int[]){count, table->shape[1]}, count, table->shape[0]);
}

static MerTensor *scatter(MerTape *tape, MerLookupKind kind, MerTensor *x, int rows,
                          const int *index, size_t kept_bytes)
{
    MerLookup op = {.kind = kind, .count = x->shape[0], .rows = rows, .index = index};
    op.kept = mer_workspace_alloc(tape->workspace, kept_bytes);
    return lookup(tape, op, x, (int[]){rows, x->shape[1]}, x->shape[0], rows);
}

MerTensor *mer_tensor_scatter_max(MerTape *tape, MerTensor *x, int rows, const int *index)
{
    size_t winners = (size_t)rows * (size_t)x->shape[1];
    return scatter(tape, MER_LOOKUP_SCATTER_MAX, x, rows, index, winners * sizeof(int));
}

MerTensor *mer_tensor_scatter_mean(MerTape *tape, MerTensor *x, int rows, const int *index)
{
    return scatter(tape, MER_LOOKUP_SCATTER_MEAN, x, rows, index, (size_t)rows * sizeof(float));
}

MerTensor *mer_tensor_pick(MerTape *tape, MerTensor *x, int count, const int *index)
{
    int       rows = x->shape[0];
    MerLookup op = {.kind = MER_LOOKUP_PICK, .count = count, .rows = rows, .index = index};
    return lookup(tape, op, x, (int[]){rows, count}, (int64_t)rows * count, x->shape[1]);
}
