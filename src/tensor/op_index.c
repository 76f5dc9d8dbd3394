/* Rows by index: embedding and the aggregations of graph networks. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>
#include <string.h>

typedef struct Index {
    int        count;
    const int *index;
    void      *kept; /* scatter: the winner of each number, or how many arrived at each row */
} Index;

static MerNode *remember(MerTape *tape, MerBackward backward, MerTensor *y, MerTensor *x,
                         Index index)
{
    MerNode *node = mer_tape_add(tape, backward, y, x, NULL, NULL);
    if (node != NULL) {
        node->extra = mer_workspace_alloc(tape->workspace, sizeof index);
        memcpy(node->extra, &index, sizeof index);
    }
    return node;
}

static void add_row(float *restrict to, const float *restrict from, int width, float factor)
{
    for (int j = 0; j < width; j++) {
        to[j] += factor * from[j];
    }
}

static void gather_backward(MerTape *tape, const MerNode *node)
{
    const Index *index = node->extra;
    int64_t      width = node->output->shape[1];
    const float *dy = mer_tensor_grad(tape, node->output);
    float       *grad = mer_grad_zeroed(tape, node->inputs[0]);
    for (int i = 0; i < index->count; i++) {
        add_row(grad + index->index[i] * width, dy + i * width, (int)width, 1);
    }
}

MerTensor *mer_tensor_gather(MerTape *tape, MerTensor *table, int count, const int *index)
{
    assert(table->rank == 2);
    int64_t      width = table->shape[1];
    const float *in = mer_tensor_data(tape, table);
    MerTensor   *y = mer_tape_tensor(tape, 2, (int[]){count, (int)width});
    for (int i = 0; i < count; i++) {
        assert(index[i] >= 0 && index[i] < table->shape[0]);
        memcpy(y->data + i * width, in + index[i] * width, (size_t)width * sizeof *in);
    }
    remember(tape, gather_backward, y, table, (Index){count, index, NULL});
    return y;
}

static void scatter_max_backward(MerTape *tape, const MerNode *node)
{
    const Index *index = node->extra;
    const int   *winner = index->kept;
    int64_t      width = node->output->shape[1];
    const float *dy = mer_tensor_grad(tape, node->output);
    float       *grad = mer_grad_zeroed(tape, node->inputs[0]);
    for (int64_t i = 0; i < node->output->size; i++) {
        if (winner[i] >= 0) {
            grad[winner[i] * width + i % width] += dy[i];
        }
    }
}

MerTensor *mer_tensor_scatter_max(MerTape *tape, MerTensor *x, int rows, const int *index)
{
    assert(x->rank == 2);
    int64_t      width = x->shape[1];
    const float *in = mer_tensor_data(tape, x);
    MerTensor   *y = mer_tape_tensor(tape, 2, (int[]){rows, (int)width});
    int         *winner = mer_workspace_alloc(tape->workspace, (size_t)y->size * sizeof *winner);
    for (int64_t i = 0; i < y->size; i++) {
        winner[i] = -1;
        y->data[i] = 0;
    }
    for (int i = 0; i < x->shape[0]; i++) {
        assert(index[i] >= 0 && index[i] < rows);
        for (int64_t j = 0; j < width; j++) {
            int64_t to = index[i] * width + j;
            if (winner[to] < 0 || in[i * width + j] > y->data[to]) {
                winner[to] = i;
                y->data[to] = in[i * width + j];
            }
        }
    }
    remember(tape, scatter_max_backward, y, x, (Index){x->shape[0], index, winner});
    return y;
}

static void scatter_mean_backward(MerTape *tape, const MerNode *node)
{
    const Index *index = node->extra;
    const float *share = index->kept;
    int64_t      width = node->output->shape[1];
    const float *dy = mer_tensor_grad(tape, node->output);
    float       *grad = mer_grad_zeroed(tape, node->inputs[0]);
    for (int i = 0; i < index->count; i++) {
        int row = index->index[i];
        add_row(grad + i * width, dy + row * width, (int)width, share[row]);
    }
}

MerTensor *mer_tensor_scatter_mean(MerTape *tape, MerTensor *x, int rows, const int *index)
{
    assert(x->rank == 2);
    int64_t      width = x->shape[1];
    const float *in = mer_tensor_data(tape, x);
    MerTensor   *y = mer_tape_tensor(tape, 2, (int[]){rows, (int)width});
    float       *share = mer_workspace_floats(tape->workspace, rows);
    memset(share, 0, (size_t)rows * sizeof *share);
    memset(y->data, 0, (size_t)y->size * sizeof *y->data);
    for (int i = 0; i < x->shape[0]; i++) {
        assert(index[i] >= 0 && index[i] < rows);
        share[index[i]] += 1;
    }
    for (int r = 0; r < rows; r++) {
        share[r] = share[r] > 0 ? 1 / share[r] : 0;
    }
    for (int i = 0; i < x->shape[0]; i++) {
        add_row(y->data + index[i] * width, in + i * width, (int)width, share[index[i]]);
    }
    remember(tape, scatter_mean_backward, y, x, (Index){x->shape[0], index, share});
    return y;
}

static void pick_backward(MerTape *tape, const MerNode *node)
{
    const Index *index = node->extra;
    int64_t      width = node->inputs[0]->shape[1];
    const float *dy = mer_tensor_grad(tape, node->output);
    float       *grad = mer_grad_zeroed(tape, node->inputs[0]);
    for (int64_t i = 0; i < node->output->size; i++) {
        grad[i / index->count * width + index->index[i]] += dy[i];
    }
}

MerTensor *mer_tensor_pick(MerTape *tape, MerTensor *x, int count, const int *index)
{
    assert(x->rank == 2);
    int64_t      width = x->shape[1];
    const float *in = mer_tensor_data(tape, x);
    MerTensor   *y = mer_tape_tensor(tape, 2, (int[]){x->shape[0], count});
    for (int64_t i = 0; i < y->size; i++) {
        assert(index[i] >= 0 && index[i] < width);
        y->data[i] = in[i / count * width + index[i]];
    }
    remember(tape, pick_backward, y, x, (Index){count, index, NULL});
    return y;
}
