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

MerPlacerNet mer_placer_net(MerParameters *parameters, const MerPlacerShape *shape, MerRng *rng)
{
    MerPlacerNet net = {.shape = *shape};
    int          hidden = shape->hidden, half = shape->is_both_ways ? hidden / 2 : hidden;
    int          in = shape->embedding + (shape->unit_features > 0 ? hidden + shape->step_features : 0);
    net.reader = mer_lstm(parameters, "reader", shape->inputs, half, rng);
    if (shape->is_both_ways) {
        net.back_reader = mer_lstm(parameters, "back_reader", shape->inputs, half, rng);
    }
    net.embedding = add_matrix(parameters, "embedding", shape->units + 1, shape->embedding, rng);
    net.writer = mer_lstm(parameters, "writer", in, hidden, rng);
    net.key = add_matrix(parameters, "attention.key", hidden, hidden, rng);
    net.query = add_matrix(parameters, "attention.query", hidden, hidden, rng);
    net.head = add_matrix(parameters, "head", 2 * hidden, shape->units, rng);
    if (shape->unit_features > 0) {
        net.unit_score = mer_linear_layer(parameters, "score.unit", shape->unit_features, shape->scorer, rng);
        net.state_score = mer_linear_layer(parameters, "score.state", 2 * hidden, shape->scorer, rng);
        net.score = add_matrix(parameters, "score.sum", shape->scorer, 1, rng);
        net.direct = mer_parameters_add(parameters, "score.direct", 2, (int[]){shape->unit_features, 1});
        for (int64_t i = 0; i < net.head->size; i++) net.head->data[i] *= 0.1f;
    }
    return net;
}

static MerTensor *join(MerTape *tape, MerTensor *a, MerTensor *b, int axis)
{
    return mer_tensor_concat(tape, 2, (MerTensor *[]){a, b}, axis);
}

/* One state for all lanes. */
static MerTensor *repeat(MerTape *tape, MerTensor *x, int lanes)
{
    int *index = mer_workspace_alloc(mer_tape_workspace(tape), (size_t)lanes * sizeof *index);
    memset(index, 0, (size_t)lanes * sizeof *index);
    return x->shape[0] == lanes ? x : mer_tensor_gather(tape, x, lanes, index);
}

MerPlacerRead mer_placer_read(MerTape *tape, const MerPlacerNet *net, MerTensor *x, int lanes)
{
    int           hidden = net->shape.hidden;
    MerPlacerRead read = {.steps = x->shape[0], .lanes = lanes, .copies = x->shape[1]};
    MerLstmState  end = mer_lstm_start(tape, &net->reader, read.copies);
    MerTensor    *y = mer_lstm_sequence(tape, &net->reader, x, &end, false);
    if (net->shape.is_both_ways) {
        MerLstmState other = mer_lstm_start(tape, &net->back_reader, read.copies);
        y = join(tape, y, mer_lstm_sequence(tape, &net->back_reader, x, &other, true), 2);
        end = (MerLstmState){join(tape, end.h, other.h, 1), join(tape, end.c, other.c, 1)};
    }
    read.states = mer_tensor_reshape(tape, y, 2, (int[]){-1, hidden});
    read.keys = mer_tensor_matmul(tape, read.states, net->key);
    read.keys = mer_tensor_reshape(tape, read.keys, 3, (int[]){read.steps, read.copies, hidden});
    read.keys = mer_tensor_transpose(tape, read.keys, (int[]){1, 0, 2});
    read.state = (MerLstmState){repeat(tape, end.h, lanes), repeat(tape, end.c, lanes)};
    return read;
}

/* What the writer is given for each row: the unit before and, if it sees loads, what was read at this step and the
 * numbers of the step. */
static MerTensor *inputs_of(MerTape *tape, const MerPlacerNet *net, const MerPlacerRead *read, int first,
                            int count, const MerPlacerRows *rows)
{
    int        row_count = count * read->lanes;
    MerTensor *x = mer_tensor_gather(tape, net->embedding, row_count, rows->before);
    if (net->shape.unit_features == 0) {
        return x;
    }
    int *index = mer_workspace_alloc(mer_tape_workspace(tape), (size_t)row_count * sizeof *index);
    for (int i = 0; i < row_count; i++) {
        int lane = read->copies > 1 ? i % read->lanes : 0;
        index[i] = (first + i / read->lanes) * read->copies + lane;
    }
    MerTensor *here = mer_tensor_gather(tape, read->states, row_count, index);
    MerTensor *step = mer_tape_input(tape, 2, (int[]){row_count, net->shape.step_features}, rows->step_features);
    return mer_tensor_concat(tape, 3, (MerTensor *[]){x, here, step}, 1);
}

/* h (count, lanes, hidden) -> context of the same shape: scores of all that was read, softmax, sum. */
static MerTensor *attend(MerTape *tape, const MerPlacerNet *net, const MerPlacerRead *read, MerTensor *h, int count)
{
    int        hidden = net->shape.hidden, lanes = read->lanes;
    MerTensor *q = mer_tensor_matmul(tape, mer_tensor_reshape(tape, h, 2, (int[]){-1, hidden}), net->query);
    q = mer_tensor_affine(tape, q, 1 / sqrtf((float)hidden), 0);
    q = mer_tensor_reshape(tape, q, 3, (int[]){count, lanes, hidden});
    q = read->copies > 1 ? mer_tensor_transpose(tape, q, (int[]){1, 0, 2}) : mer_tensor_reshape(tape, q, 3, (int[]){1, count * lanes, hidden});
    MerTensor *share = mer_tensor_softmax(tape, mer_tensor_matmul_with(tape, q, false, read->keys, true));
    MerTensor *context = mer_tensor_matmul(tape, share, read->keys);
    if (read->copies > 1) {
        context = mer_tensor_transpose(tape, context, (int[]){1, 0, 2});
    }
    return mer_tensor_reshape(tape, context, 2, (int[]){-1, hidden});
}

/* One number per unit from its own features, with the same weights for every unit. */
static MerTensor *score_units(MerTape *tape, const MerPlacerNet *net, MerTensor *both, const float *features)
{
    int        rows = both->shape[0], units = net->shape.units, width = net->shape.scorer;
    MerTensor *f = mer_tape_input(tape, 2, (int[]){rows * units, net->shape.unit_features}, features);
    MerTensor *unit = mer_linear_run(tape, &net->unit_score, f, MER_LINEAR);
    MerTensor *state = mer_linear_run(tape, &net->state_score, both, MER_LINEAR);
    unit = mer_tensor_reshape(tape, unit, 3, (int[]){rows, units, width});
    state = mer_tensor_reshape(tape, state, 3, (int[]){rows, 1, width});
    MerTensor *hidden = mer_tensor_tanh(tape, mer_tensor_add(tape, unit, state));
    hidden = mer_tensor_reshape(tape, hidden, 2, (int[]){rows * units, width});
    MerTensor *score = mer_tensor_matmul(tape, hidden, net->score);
    score = mer_tensor_add(tape, score, mer_tensor_matmul(tape, f, net->direct));
    return mer_tensor_reshape(tape, score, 2, (int[]){rows, units});
}

MerTensor *mer_placer_write(MerTape *tape, const MerPlacerNet *net, MerPlacerRead *read, int first,
                            int count, const MerPlacerRows *rows)
{
    const MerPlacerShape *shape = &net->shape;
    int                   row_count = count * read->lanes;
    MerTensor            *x = inputs_of(tape, net, read, first, count, rows), *h;
    if (count == 1) {
        read->state = mer_lstm_step(tape, &net->writer, x, read->state);
        h = read->state.h;
    } else {
        x = mer_tensor_reshape(tape, x, 3, (int[]){count, read->lanes, net->writer.in});
        h = mer_lstm_sequence(tape, &net->writer, x, &read->state, false);
        h = mer_tensor_reshape(tape, h, 2, (int[]){row_count, shape->hidden});
    }
    MerTensor *both = join(tape, h, attend(tape, net, read, h, count), 1);
    MerTensor *logits = mer_tensor_matmul(tape, both, net->head);
    if (shape->unit_features > 0) {
        logits = mer_tensor_add(tape, logits, score_units(tape, net, both, rows->unit_features));
    }
    logits = mer_tensor_affine(tape, logits, 1 / shape->temperature, 0);
    if (shape->tanh_constant > 0) {
        logits = mer_tensor_affine(tape, mer_tensor_tanh(tape, logits), shape->tanh_constant, 0);
    }
    MerTensor *mask = mer_tape_input(tape, 2, (int[]){row_count, shape->units}, rows->mask);
    return mer_tensor_log_softmax(tape, mer_tensor_add(tape, logits, mask));
}
