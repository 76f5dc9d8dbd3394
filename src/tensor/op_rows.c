/* Softmax, log-softmax, layer norm and thermometers over the last axis, and the gates of an LSTM. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>
#include <string.h>

static MerRows rows_of(MerTape *tape, MerRowsKind kind, MerTensor *x)
{
    int width = x->shape[x->rank - 1];
    return (MerRows){.kind = kind,
                     .rows = width > 0 ? x->size / width : 0,
                     .width = width,
                     .x = {mer_tensor_data(tape, x)}};
}

static void rows_backward(MerTape *tape, const MerNode *node)
{
    MerRows op = *(const MerRows *)node->extra;
    op.dy[0] = node->output->has_grad ? mer_tensor_grad(tape, node->output) : NULL;
    if (node->second != NULL && node->second->has_grad) {
        op.dy[1] = mer_tensor_grad(tape, node->second);
    }
    for (int i = 0; i < 3; i++) {
        op.dx[i] = mer_grad_wanted(tape, node->inputs[i]);
    }
    tape->backend.rows_backward(tape, &op);
}

/* One output of the shape of x. */
static MerTensor *run_rows(MerTape *tape, MerRows *op, MerTensor *x, MerTensor *scale,
                           MerTensor *shift)
{
    MerTensor *y = mer_tape_tensor(tape, x->rank, x->shape);
    op->y[0] = y->data;
    tape->backend.rows(tape, op);
    mer_tape_add(tape, rows_backward, y, x, scale, shift, op, sizeof *op);
    return y;
}

MerTensor *mer_tensor_softmax(MerTape *tape, MerTensor *x)
{
    MerRows op = rows_of(tape, MER_ROWS_SOFTMAX, x);
    return run_rows(tape, &op, x, NULL, NULL);
}

MerTensor *mer_tensor_thermometer(MerTape *tape, MerTensor *x)
{
    MerRows op = rows_of(tape, MER_ROWS_THERMOMETER, x);
    return run_rows(tape, &op, x, NULL, NULL);
}

MerTensor *mer_tensor_segment_log_softmax(MerTape *tape, MerTensor *x, int count, const int *first)
{
    MerRows op = rows_of(tape, MER_ROWS_LOG_SOFTMAX, x);
    size_t  bytes = (size_t)(count + 1) * sizeof *first;
    assert(count >= 1 && first[0] == 0 && first[count] == op.width);
    op.segment_count = count;
    op.first = memcpy(mer_workspace_alloc(tape->workspace, bytes), first, bytes);
    return run_rows(tape, &op, x, NULL, NULL);
}

MerTensor *mer_tensor_log_softmax(MerTape *tape, MerTensor *x)
{
    return mer_tensor_segment_log_softmax(tape, x, 1, (int[]){0, x->shape[x->rank - 1]});
}

/* Ba et al., 2016. */
MerTensor *mer_tensor_layer_norm(MerTape *tape, MerTensor *x, MerTensor *scale, MerTensor *shift,
                                 float epsilon)
{
    MerRows op = rows_of(tape, MER_ROWS_LAYER_NORM, x);
    assert(scale->size == op.width && shift->size == op.width);
    op.constant = epsilon;
    op.x[1] = scale->data;
    op.x[2] = shift->data;
    op.kept[0] = mer_workspace_floats(tape->workspace, x->size);
    op.kept[1] = mer_workspace_floats(tape->workspace, op.rows);
    return run_rows(tape, &op, x, scale, shift);
}

static void add_second(MerNode *node, MerTensor *output)
{
    if (node != NULL) {
        node->second = output;
        output->needs_grad = true;
    }
}

MerLstmState mer_tensor_lstm_gates(MerTape *tape, MerTensor *gates, MerTensor *c, float forget)
{
    assert(gates->rank == 2 && c->rank == 2 && gates->shape[1] == 4 * c->shape[1]);
    assert(gates->shape[0] == c->shape[0]);
    MerLstmState next = {mer_tape_tensor(tape, 2, c->shape), mer_tape_tensor(tape, 2, c->shape)};
    MerRows      op = rows_of(tape, MER_ROWS_LSTM, gates);
    op.width = c->shape[1];
    op.constant = forget;
    op.x[1] = mer_tensor_data(tape, c);
    op.y[0] = next.h->data;
    op.y[1] = next.c->data;
    op.kept[0] = mer_workspace_floats(tape->workspace, 5 * c->size);
    tape->backend.rows(tape, &op);
    add_second(mer_tape_add(tape, rows_backward, next.h, gates, c, NULL, &op, sizeof op), next.c);
    return next;
}

static void lstm_backward(MerTape *tape, const MerNode *node)
{
    tape->backend.lstm_backward(tape, node->extra);
}

void mer_tensor_lstm(MerTape *tape, MerLstmTensors *lstm)
{
    MerTensor *inputs[6] = {lstm->x, lstm->w, lstm->u, lstm->bias, lstm->h, lstm->c}, *needy = NULL;
    int        shape[3] = {lstm->x->shape[0], lstm->x->shape[1], lstm->h->shape[1]};
    assert(lstm->x->rank == 3 && lstm->w->shape[0] == lstm->x->shape[2]);
    lstm->y = mer_tape_tensor(tape, 3, shape);
    lstm->last_c = mer_tape_tensor(tape, 2, shape + 1);
    tape->backend.lstm(tape, lstm);
    for (int i = 0; i < 6; i++) {
        needy = inputs[i]->needs_grad ? inputs[i] : needy;
    }
    add_second(mer_tape_add(tape, lstm_backward, lstm->y, needy, NULL, NULL, lstm, sizeof *lstm),
               lstm->last_c);
}
