/* The pointwise part of an LSTM step in one pass (Hochreiter and Schmidhuber, 1997; forget gate
 * after Gers et al., 2000): i, f, o = sigmoid, g = tanh; c' = f c + i g; h = o tanh(c'). */
#include "tensor/ops.h"
#include "tensor/tape.h"
#include "tensor/vector_math.h"

#include <assert.h>
#include <string.h>

typedef struct Kept { /* (B, 5H): i, f, g, o, tanh(c') */
    float *values;
} Kept;

static void step_row(const float *restrict gates, const float *restrict c, int n, float forget,
                     float *restrict kept, float *restrict next, float *restrict h)
{
    for (int j = 0; j < n; j++) {
        kept[j] = mer_fast_sigmoid(gates[j]);
        kept[n + j] = mer_fast_sigmoid(gates[n + j] + forget);
        kept[2 * n + j] = mer_fast_tanh(gates[2 * n + j]);
        kept[3 * n + j] = mer_fast_sigmoid(gates[3 * n + j]);
        next[j] = kept[n + j] * c[j] + kept[j] * kept[2 * n + j];
        kept[4 * n + j] = mer_fast_tanh(next[j]);
        h[j] = kept[3 * n + j] * kept[4 * n + j];
    }
}

static void back_row(const float *kept, const float *c, const float *dh, const float *dnext, int n,
                     float *dgates, float *dc)
{
    for (int j = 0; j < n; j++) {
        float i = kept[j], f = kept[n + j], g = kept[2 * n + j], o = kept[3 * n + j];
        float t = kept[4 * n + j];
        float along_h = dh != NULL ? dh[j] : 0;
        float along_c = (dnext != NULL ? dnext[j] : 0) + along_h * o * (1 - t * t);
        if (dgates != NULL) {
            dgates[j] += along_c * g * i * (1 - i);
            dgates[n + j] += along_c * c[j] * f * (1 - f);
            dgates[2 * n + j] += along_c * i * (1 - g * g);
            dgates[3 * n + j] += along_h * t * o * (1 - o);
        }
        if (dc != NULL) {
            dc[j] += along_c * f;
        }
    }
}

static void gates_backward(MerTape *tape, const MerNode *node)
{
    const Kept *kept = node->extra;
    MerTensor  *gates = node->inputs[0], *c = node->inputs[1], *h = node->output,
              *next = node->second;
    int64_t      n = c->shape[1];
    const float *dh = h->has_grad ? mer_tensor_grad(tape, h) : NULL;
    const float *dnext = next->has_grad ? mer_tensor_grad(tape, next) : NULL;
    float       *dgates = gates->needs_grad ? mer_grad_zeroed(tape, gates) : NULL;
    float       *dc = c->needs_grad ? mer_grad_zeroed(tape, c) : NULL;
    for (int64_t b = 0; b < c->shape[0]; b++) {
        back_row(kept->values + 5 * b * n, c->data + b * n, dh != NULL ? dh + b * n : NULL,
                 dnext != NULL ? dnext + b * n : NULL, (int)n,
                 dgates != NULL ? dgates + 4 * b * n : NULL, dc != NULL ? dc + b * n : NULL);
    }
}

MerLstmState mer_tensor_lstm_gates(MerTape *tape, MerTensor *gates, MerTensor *c, float forget)
{
    assert(gates->rank == 2 && c->rank == 2 && gates->shape[1] == 4 * c->shape[1]);
    assert(gates->shape[0] == c->shape[0]);
    int64_t      n = c->shape[1];
    const float *in = mer_tensor_data(tape, gates), *old = mer_tensor_data(tape, c);
    MerLstmState next = {mer_tape_tensor(tape, 2, c->shape), mer_tape_tensor(tape, 2, c->shape)};
    float       *values = mer_workspace_floats(tape->workspace, 5 * c->size);
    for (int64_t b = 0; b < c->shape[0]; b++) {
        step_row(in + 4 * b * n, old + b * n, (int)n, forget, values + 5 * b * n,
                 next.c->data + b * n, next.h->data + b * n);
    }
    MerNode *node = mer_tape_add(tape, gates_backward, next.h, gates, c, NULL);
    if (node != NULL) {
        Kept *kept = node->extra = mer_workspace_alloc(tape->workspace, sizeof *kept);
        kept->values = values;
        node->second = next.c;
        next.c->needs_grad = true;
    }
    return next;
}

static void lstm_backward(MerTape *tape, const MerNode *node)
{
    tape->backend->lstm_backward(tape, node->extra);
}

void mer_tensor_lstm(MerTape *tape, MerLstmTensors *lstm)
{
    MerTensor *inputs[6] = {lstm->x, lstm->w, lstm->u, lstm->bias, lstm->h, lstm->c}, *needy = NULL;
    int        shape[3] = {lstm->x->shape[0], lstm->x->shape[1], lstm->h->shape[1]};
    assert(lstm->x->rank == 3 && lstm->w->shape[0] == lstm->x->shape[2]);
    lstm->y = mer_tape_tensor(tape, 3, shape);
    lstm->last_c = mer_tape_tensor(tape, 2, shape + 1);
    tape->backend->lstm(tape, lstm);
    for (int i = 0; i < 6; i++) {
        needy = inputs[i]->needs_grad ? inputs[i] : needy;
    }
    MerNode *node = mer_tape_add(tape, lstm_backward, lstm->y, needy, NULL, NULL);
    if (node != NULL) {
        node->extra = mer_workspace_alloc(tape->workspace, sizeof *lstm);
        memcpy(node->extra, lstm, sizeof *lstm);
        node->second = lstm->last_c;
        lstm->last_c->needs_grad = true;
    }
}
