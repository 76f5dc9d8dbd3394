/* Reader, attention and writer. */
#include "opt/placer_net.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static MerTensor *add_matrix(MerParameters *parameters, const char *name, int in, int out,
                             MerRng *rng)
{
    MerTensor *w = mer_parameters_add(parameters, name, 2, (int[]){in, out});
    mer_tensor_fill_glorot(w, 1, rng);
    return w;
}

/* Looks at the loads of every unit with the same weights, so that what is learned on one unit holds for all. */
static void add_scorer(MerPlacerNet *net, MerParameters *parameters, MerRng *rng)
{
    const MerPlacerShape *s = &net->shape;
    net->unit_score = mer_linear_layer(parameters, "score.unit", s->unit_features, s->scorer, rng);
    net->state_score = mer_linear_layer(parameters, "score.state", 2 * s->hidden, s->scorer, rng);
    net->score = add_matrix(parameters, "score.sum", s->scorer, 1, rng);
    net->direct = mer_parameters_add(parameters, "score.direct", 2, (int[]){s->unit_features, 1});
    for (int64_t i = 0; i < net->head->size; i++) {
        net->head->data[i] *= 0.1f; /* units begin nearly equal */
    }
}

static void add_attention(MerPlacerNet *net, MerParameters *parameters, MerRng *rng)
{
    int   hidden = net->shape.hidden;
    float limit = sqrtf(6 / (float)(hidden + 1)); /* Glorot of a (hidden, 1) matrix */
    net->key = add_matrix(parameters, "attention.key", hidden, hidden, rng);
    net->query = add_matrix(parameters, "attention.query", hidden, hidden, rng);
    net->sum = mer_parameters_add(parameters, "attention.sum", 1, &hidden);
    mer_tensor_fill_uniform(net->sum, -limit, limit, rng);
}

MerPlacerNet mer_placer_net(MerParameters *parameters, const MerPlacerShape *shape, MerRng *rng)
{
    MerPlacerNet net = {.shape = *shape};
    bool         sees_loads = shape->unit_features > 0;
    int          hidden = shape->hidden, half = shape->is_both_ways ? hidden / 2 : hidden;
    int          read = shape->inputs;
    if (shape->kinds > 0) {
        net.kinds = add_matrix(parameters, "kinds", shape->kinds, shape->embedding, rng);
        read += shape->embedding - shape->kinds;
    }
    net.reader = mer_lstm(parameters, "reader", read, half, rng);
    if (shape->is_both_ways) {
        assert(hidden % 2 == 0);
        net.back_reader = mer_lstm(parameters, "back_reader", read, half, rng);
    }
    net.before = add_matrix(parameters, "before", shape->units + 1, shape->embedding, rng);
    net.writer =
        mer_lstm(parameters, "writer",
                 shape->embedding + (sees_loads ? hidden + shape->step_features : 0), hidden, rng);
    add_attention(&net, parameters, rng);
    net.head = add_matrix(parameters, "head", 2 * hidden, shape->units, rng);
    if (sees_loads) {
        add_scorer(&net, parameters, rng);
    }
    return net;
}

static MerTensor *join(MerTape *tape, MerTensor *a, MerTensor *b, int axis)
{
    return mer_tensor_concat(tape, 2, (MerTensor *[]){a, b}, axis);
}

static MerTensor *as_matrix(MerTape *tape, MerTensor *x, int columns)
{
    return mer_tensor_reshape(tape, x, 2, (int[]){-1, columns});
}

/* One state for all lanes. */
static MerTensor *repeat(MerTape *tape, MerTensor *x, int lanes)
{
    if (x->shape[0] == lanes) {
        return x;
    }
    int *index = mer_workspace_alloc(mer_tape_workspace(tape), (size_t)lanes * sizeof *index);
    memset(index, 0, (size_t)lanes * sizeof *index);
    return mer_tensor_gather(tape, x, lanes, index);
}

/* Shares of kinds become a mean of embeddings. */
static MerTensor *embed_kinds(MerTape *tape, const MerPlacerNet *net, MerTensor *x)
{
    int kinds = net->shape.kinds, rest = net->shape.inputs - kinds;
    if (kinds == 0) {
        return x;
    }
    MerTensor *rows = as_matrix(tape, x, net->shape.inputs);
    MerTensor *mean =
        mer_tensor_matmul(tape, mer_tensor_slice(tape, rows, 1, 0, kinds), net->kinds);
    if (rest > 0) {
        mean = join(tape, mean, mer_tensor_slice(tape, rows, 1, kinds, rest), 1);
    }
    return mer_tensor_reshape(tape, mean, 3, (int[]){x->shape[0], x->shape[1], net->reader.in});
}

MerPlacerRead mer_placer_read(MerTape *tape, const MerPlacerNet *net, MerTensor *x, int lanes)
{
    int           hidden = net->shape.hidden;
    MerPlacerRead read = {.steps = x->shape[0], .lanes = lanes, .copies = x->shape[1]};
    MerLstmState  end = mer_lstm_start(tape, &net->reader, read.copies);
    x = embed_kinds(tape, net, x);
    MerTensor *y = mer_lstm_sequence(tape, &net->reader, x, &end, false);
    if (net->shape.is_both_ways) {
        MerLstmState other = mer_lstm_start(tape, &net->back_reader, read.copies);
        y = join(tape, y, mer_lstm_sequence(tape, &net->back_reader, x, &other, true), 2);
        end = (MerLstmState){join(tape, end.h, other.h, 1), join(tape, end.c, other.c, 1)};
    }
    read.states = as_matrix(tape, y, hidden);
    read.keys = mer_tensor_matmul(tape, read.states, net->key);
    read.keys = mer_tensor_reshape(tape, read.keys, 3, (int[]){read.steps, read.copies, hidden});
    read.keys = mer_tensor_transpose(tape, read.keys, (int[]){1, 0, 2});
    read.state = (MerLstmState){repeat(tape, end.h, lanes), repeat(tape, end.c, lanes)};
    return read;
}

/* The rows of `states` that belong to the rows of the writer. */
static const int *read_rows(MerTape *tape, const MerPlacerRead *read, int first, int rows)
{
    int *index = mer_workspace_alloc(mer_tape_workspace(tape), (size_t)rows * sizeof *index);
    for (int i = 0; i < rows; i++) {
        int lane = read->copies > 1 ? i % read->lanes : 0;
        index[i] = (first + i / read->lanes) * read->copies + lane;
    }
    return index;
}

/* What the writer is given: the unit before and, if it sees loads, what was read at this step and the step's own
 * numbers. */
static MerTensor *writer_inputs(MerTape *tape, const MerPlacerNet *net, const MerPlacerRead *read,
                                int first, int rows, const MerPlacerRows *given)
{
    MerTensor *x = mer_tensor_gather(tape, net->before, rows, given->before);
    if (net->shape.unit_features == 0) {
        return x;
    }
    MerTensor *here =
        mer_tensor_gather(tape, read->states, rows, read_rows(tape, read, first, rows));
    MerTensor *step =
        mer_tape_input(tape, 2, (int[]){rows, net->shape.step_features}, given->step_features);
    return mer_tensor_concat(tape, 3, (MerTensor *[]){x, here, step}, 1);
}

/* h (count x lanes, hidden) -> the same shape: score_j = v tanh(W1 e_j + W2 h), shares by softmax, sum of W1 e_j. */
static MerTensor *attend(MerTape *tape, const MerPlacerNet *net, const MerPlacerRead *read,
                         MerTensor *h, int count)
{
    int        hidden = net->shape.hidden, lanes = read->lanes;
    bool       is_apart = read->copies > 1;
    MerTensor *query = mer_tensor_matmul(tape, h, net->query);
    if (is_apart) {
        query = mer_tensor_reshape(tape, query, 3, (int[]){count, lanes, hidden});
        query = mer_tensor_transpose(tape, query, (int[]){1, 0, 2});
    } else {
        query = mer_tensor_reshape(tape, query, 3, (int[]){1, count * lanes, hidden});
    }
    MerTensor *shares =
        mer_tensor_softmax(tape, mer_tensor_additive(tape, query, read->keys, net->sum));
    MerTensor *context = mer_tensor_matmul(tape, shares, read->keys);
    if (is_apart) {
        context = mer_tensor_transpose(tape, context, (int[]){1, 0, 2});
    }
    return as_matrix(tape, context, hidden);
}

/* One number per unit from its own features and the writer's state. */
static MerTensor *score_units(MerTape *tape, const MerPlacerNet *net, MerTensor *state,
                              const float *features)
{
    int        rows = state->shape[0], units = net->shape.units, width = net->shape.scorer;
    MerTensor *f =
        mer_tape_input(tape, 2, (int[]){rows * units, net->shape.unit_features}, features);
    MerTensor *unit = mer_linear_run(tape, &net->unit_score, f, MER_LINEAR);
    MerTensor *all = mer_linear_run(tape, &net->state_score, state, MER_LINEAR);
    unit = mer_tensor_reshape(tape, unit, 3, (int[]){rows, units, width});
    all = mer_tensor_reshape(tape, all, 3, (int[]){rows, 1, width});
    MerTensor *hidden = mer_tensor_tanh(tape, mer_tensor_add(tape, unit, all));
    MerTensor *score = mer_tensor_matmul(tape, as_matrix(tape, hidden, width), net->score);
    score = mer_tensor_add(tape, score, mer_tensor_matmul(tape, f, net->direct));
    return as_matrix(tape, score, units);
}

MerTensor *mer_placer_disturb(MerTape *tape, MerTensor *x, const float *noise)
{
    int          columns = x->shape[1];
    const float *values = mer_tensor_data(tape, x);
    float       *added = mer_workspace_floats(mer_tape_workspace(tape), x->size);
    for (int r = 0; r < x->shape[0]; r++) {
        double square = 0;
        for (int64_t i = (int64_t)r * columns; i < (int64_t)(r + 1) * columns; i++) {
            square += (double)values[i] * values[i];
        }
        float size = (float)sqrt(square / columns);
        for (int64_t i = (int64_t)r * columns; i < (int64_t)(r + 1) * columns; i++) {
            added[i] = size * noise[i];
        }
    }
    return mer_tensor_add(tape, x, mer_tape_input(tape, 2, x->shape, added));
}

/* (rows, 2 hidden): where the writer is, and what it attends to. */
static MerTensor *run_writer(MerTape *tape, const MerPlacerNet *net, MerPlacerRead *read, int first,
                             int count, const MerPlacerRows *rows)
{
    MerTensor *x = writer_inputs(tape, net, read, first, count * read->lanes, rows), *h;
    if (count == 1) {
        read->state = mer_lstm_step(tape, &net->writer, x, read->state);
        h = read->state.h;
    } else {
        x = mer_tensor_reshape(tape, x, 3, (int[]){count, read->lanes, net->writer.in});
        h = mer_lstm_sequence(tape, &net->writer, x, &read->state, false);
        h = as_matrix(tape, h, net->shape.hidden);
    }
    return join(tape, h, attend(tape, net, read, h, count), 1);
}

MerTensor *mer_placer_write(MerTape *tape, const MerPlacerNet *net, MerPlacerRead *read, int first,
                            int count, const MerPlacerRows *rows)
{
    const MerPlacerShape *shape = &net->shape;
    MerTensor            *state = run_writer(tape, net, read, first, count, rows);
    MerTensor            *logits = mer_tensor_matmul(tape, state, net->head);
    if (shape->unit_features > 0) {
        logits = mer_tensor_add(tape, logits, score_units(tape, net, state, rows->unit_features));
    }
    logits = mer_tensor_affine(tape, logits, 1 / shape->temperature, 0);
    if (shape->tanh_constant > 0) {
        logits = mer_tensor_affine(tape, mer_tensor_tanh(tape, logits), shape->tanh_constant, 0);
    }
    if (rows->noise != NULL) {
        logits = mer_placer_disturb(tape, logits, rows->noise);
    }
    MerTensor *mask = mer_tape_input(tape, 2, logits->shape, rows->mask);
    return mer_tensor_log_softmax(tape, mer_tensor_add(tape, logits, mask));
}
