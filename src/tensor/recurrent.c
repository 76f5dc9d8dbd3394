/* LSTM layers. The products with the inputs of a whole sequence are done at once. */
#include "tensor/layers.h"
#include "tensor/tape.h"

#include <assert.h>
#include <string.h>

MerLstm mer_lstm(MerParameters *parameters, const char *name, int in, int hidden, MerRng *rng)
{
    MerLstm lstm = {.in = in, .hidden = hidden, .forget = 1};
    int     gates = 4 * hidden;
    lstm.w =
        mer_parameters_add(parameters, mer_part_name(name, "input").text, 2, (int[]){in, gates});
    lstm.u = mer_parameters_add(parameters, mer_part_name(name, "recurrent").text, 2,
                                (int[]){hidden, gates});
    lstm.bias = mer_parameters_add(parameters, mer_part_name(name, "bias").text, 1, &gates);
    mer_tensor_fill_glorot(lstm.w, 1, rng);
    mer_tensor_fill_glorot(lstm.u, 1, rng);
    return lstm;
}

MerLstmState mer_lstm_start(MerTape *tape, const MerLstm *lstm, int batch)
{
    int          shape[2] = {batch, lstm->hidden};
    MerLstmState state = {mer_tape_tensor(tape, 2, shape), mer_tape_tensor(tape, 2, shape)};
    memset(state.h->data, 0, (size_t)state.h->size * sizeof(float));
    memset(state.c->data, 0, (size_t)state.c->size * sizeof(float));
    return state;
}

/* `gates` already hold x w + bias. */
static MerLstmState go_on(MerTape *tape, const MerLstm *lstm, MerTensor *gates, MerLstmState state)
{
    MerTensor *recurrent = mer_tensor_matmul(tape, state.h, lstm->u);
    return mer_tensor_lstm_gates(tape, mer_tensor_add(tape, gates, recurrent), state.c,
                                 lstm->forget);
}

MerLstmState mer_lstm_step(MerTape *tape, const MerLstm *lstm, MerTensor *x, MerLstmState state)
{
    MerTensor *gates = mer_tensor_linear(tape, x, lstm->w, lstm->bias, MER_LINEAR);
    return go_on(tape, lstm, gates, state);
}

/* The state after the last step, from what a whole sequence gave. */
static MerLstmState end_of(MerTape *tape, const MerLstmTensors *done)
{
    int        last = done->is_backwards ? 0 : done->y->shape[0] - 1;
    MerTensor *h = mer_tensor_slice(tape, done->y, 0, last, 1);
    h = mer_tensor_reshape(tape, h, 2, (int[]){done->y->shape[1], done->y->shape[2]});
    return (MerLstmState){h, done->last_c};
}

MerTensor *mer_lstm_sequence(MerTape *tape, const MerLstm *lstm, MerTensor *x, MerLstmState *state,
                             bool is_backwards)
{
    assert(x->rank == 3 && x->shape[2] == lstm->in);
    int steps = x->shape[0], batch = x->shape[1];
    if (tape->backend.lstm != NULL) {
        MerLstmTensors whole = {.x = x,
                                .w = lstm->w,
                                .u = lstm->u,
                                .bias = lstm->bias,
                                .h = state->h,
                                .c = state->c,
                                .forget = lstm->forget,
                                .is_backwards = is_backwards};
        mer_tensor_lstm(tape, &whole);
        *state = end_of(tape, &whole);
        return whole.y;
    }
    MerTensor  *all = mer_tensor_linear(tape, x, lstm->w, lstm->bias, MER_LINEAR);
    MerTensor **outputs = mer_workspace_alloc(tape->workspace, (size_t)steps * sizeof *outputs);
    for (int i = 0; i < steps; i++) {
        int        t = is_backwards ? steps - 1 - i : i;
        MerTensor *gates = mer_tensor_slice(tape, all, 0, t, 1);
        gates = mer_tensor_reshape(tape, gates, 2, (int[]){batch, 4 * lstm->hidden});
        *state = go_on(tape, lstm, gates, *state);
        outputs[t] = mer_tensor_reshape(tape, state->h, 3, (int[]){1, batch, lstm->hidden});
    }
    return mer_tensor_concat(tape, steps, outputs, 0);
}
