/* Linear and multi-layer networks, graph layers, LSTMs and attention. */
#include "tensor/layers.h"
#include "tensor/tape.h"

#include <assert.h>
#include <math.h>

MerPartName mer_part_name(const char *name, const char *part)
{
    MerPartName full;
    snprintf(full.text, sizeof full.text, "%.140s.%.50s", name, part);
    return full;
}

static MerTensor *add(MerParameters *parameters, const char *name, const char *part, int rank,
                      const int *shape)
{
    return mer_parameters_add(parameters, mer_part_name(name, part).text, rank, shape);
}

MerLinearLayer mer_linear_layer(MerParameters *parameters, const char *name, int in, int out,
                                MerRng *rng)
{
    MerLinearLayer layer;
    layer.w = add(parameters, name, "weight", 2, (int[]){in, out});
    layer.bias = add(parameters, name, "bias", 1, (int[]){out});
    mer_tensor_fill_glorot(layer.w, 1, rng);
    return layer;
}

MerTensor *mer_linear_run(MerTape *tape, const MerLinearLayer *layer, MerTensor *x,
                          MerActivation activation)
{
    return mer_tensor_linear(tape, x, layer->w, layer->bias, activation);
}

MerMlp mer_mlp(MerParameters *parameters, const char *name, int sizes_count, const int *sizes,
               MerActivation activation, MerRng *rng)
{
    MerMlp mlp = {.count = sizes_count - 1, .activation = activation};
    assert(mlp.count >= 1 && mlp.count <= MER_MLP_MAX_LAYERS);
    for (int i = 0; i < mlp.count; i++) {
        char part[16];
        snprintf(part, sizeof part, "%d", i);
        MerPartName full = mer_part_name(name, part);
        mlp.layers[i] = mer_linear_layer(parameters, full.text, sizes[i], sizes[i + 1], rng);
    }
    return mlp;
}

MerTensor *mer_mlp_run(MerTape *tape, const MerMlp *mlp, MerTensor *x)
{
    for (int i = 0; i < mlp->count; i++) {
        x = mer_linear_run(tape, &mlp->layers[i], x,
                           i + 1 < mlp->count ? mlp->activation : MER_LINEAR);
    }
    return x;
}

MerSage mer_sage(MerParameters *parameters, const char *name, int in, int out, MerRng *rng)
{
    MerSage sage;
    sage.pool = mer_linear_layer(parameters, mer_part_name(name, "pool").text, in, in, rng);
    sage.join = mer_linear_layer(parameters, mer_part_name(name, "join").text, 2 * in, out, rng);
    return sage;
}

MerTensor *mer_sage_run(MerTape *tape, const MerSage *sage, MerTensor *x, int edge_count,
                        const int *source, const int *target)
{
    MerTensor *sent = mer_linear_run(tape, &sage->pool, x, MER_RELU);
    MerTensor *along = mer_tensor_gather(tape, sent, edge_count, source);
    MerTensor *most = mer_tensor_scatter_max(tape, along, x->shape[0], target);
    MerTensor *both = mer_tensor_concat(tape, 2, (MerTensor *[]){x, most}, 1);
    return mer_linear_run(tape, &sage->join, both, MER_RELU);
}

/* The products with the inputs of a whole sequence are done at once. */
MerLstm mer_lstm(MerParameters *parameters, const char *name, int in, int hidden, MerRng *rng)
{
    MerLstm lstm = {.in = in, .hidden = hidden, .forget = 1};
    int     gates = 4 * hidden;
    lstm.w = add(parameters, name, "input", 2, (int[]){in, gates});
    lstm.u = add(parameters, name, "recurrent", 2, (int[]){hidden, gates});
    lstm.bias = add(parameters, name, "bias", 1, &gates);
    mer_tensor_fill_glorot(lstm.w, 1, rng);
    mer_tensor_fill_glorot(lstm.u, 1, rng);
    return lstm;
}

MerLstmState mer_lstm_start(MerTape *tape, const MerLstm *lstm, int batch)
{
    int          shape[2] = {batch, lstm->hidden};
    const float *zeros = mer_workspace_zeros(tape->workspace, (int64_t)batch * lstm->hidden);
    return (MerLstmState){mer_tape_input(tape, 2, shape, zeros),
                          mer_tape_input(tape, 2, shape, zeros)};
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

/* The products with the inputs of all steps are done at once. */
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

MerAttention mer_attention(MerParameters *parameters, const char *name, int width, int heads,
                           MerRng *rng)
{
    assert(heads >= 1 && width % heads == 0);
    MerAttention             attention = {.heads = heads, .width = width};
    MerLinearLayer          *layers[4] = {&attention.query, &attention.key, &attention.value,
                                          &attention.output};
    static const char *const parts[4] = {"query", "key", "value", "output"};
    for (int i = 0; i < 4; i++) {
        MerPartName full = mer_part_name(name, parts[i]);
        *layers[i] = mer_linear_layer(parameters, full.text, width, width, rng);
    }
    return attention;
}

/* (B, T, heads x d) -> (B x heads, T, d) */
static MerTensor *split_heads(MerTape *tape, const MerAttention *attention, MerTensor *x)
{
    int        batch = x->shape[0], steps = x->shape[1], heads = attention->heads;
    int        d = attention->width / heads;
    MerTensor *y = mer_tensor_reshape(tape, x, 4, (int[]){batch, steps, heads, d});
    y = mer_tensor_transpose(tape, y, (int[]){0, 2, 1, 3});
    return mer_tensor_reshape(tape, y, 3, (int[]){batch * heads, steps, d});
}

static MerTensor *join_heads(MerTape *tape, const MerAttention *attention, MerTensor *x)
{
    int heads = attention->heads, batch = x->shape[0] / heads, steps = x->shape[1], d = x->shape[2];
    MerTensor *y = mer_tensor_reshape(tape, x, 4, (int[]){batch, heads, steps, d});
    y = mer_tensor_transpose(tape, y, (int[]){0, 2, 1, 3});
    return mer_tensor_reshape(tape, y, 3, (int[]){batch, steps, heads * d});
}

/* Vaswani et al., 2017, with a cached segment (Dai et al., ACL 2019). */
MerTensor *mer_attention_run(MerTape *tape, const MerAttention *attention, MerTensor *x,
                             MerTensor *cache, MerTensor *mask)
{
    assert(x->rank == 3 && x->shape[2] == attention->width);
    MerTensor *seen = x;
    if (cache != NULL) {
        MerTensor *both[2] = {mer_tensor_stop(tape, cache), x};
        seen = mer_tensor_concat(tape, 2, both, 1);
    }
    float      scale = 1 / sqrtf((float)(attention->width / attention->heads));
    MerTensor *q = mer_linear_run(tape, &attention->query, x, MER_LINEAR);
    MerTensor *k = mer_linear_run(tape, &attention->key, seen, MER_LINEAR);
    MerTensor *v = mer_linear_run(tape, &attention->value, seen, MER_LINEAR);
    q = split_heads(tape, attention, mer_tensor_affine(tape, q, scale, 0));
    k = split_heads(tape, attention, k);
    v = split_heads(tape, attention, v);
    MerTensor *scores = mer_tensor_matmul_with(tape, q, false, k, true);
    if (mask != NULL) {
        scores = mer_tensor_add(tape, scores, mask);
    }
    MerTensor *mixed = mer_tensor_matmul(tape, mer_tensor_softmax(tape, scores), v);
    return mer_linear_run(tape, &attention->output, join_heads(tape, attention, mixed), MER_LINEAR);
}
