/* Gates: softmax with a temperature (Risso et al., ISLPED 2023), with Gumbel noise (Jang et al., ICLR 2017), independent sigmoids
 * that are divided by their sum, and thermometers, which give the first columns to the first choice (Risso et al., TCAD 2025). With
 * more than two choices each but the last has a thermometer, which divides what those before it left. */
#include "opt/odimo_gates.h"

#include "tensor/ops.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const float START = 0.01f; /* of logits: no choice is preferred */
static const float LEAST =
    1e-6f; /* of a thermometer's logits: 0 has no slope and could never grow */

static MerStatus check_gate(const MerGates *gates, const MerGate *gate, MerError *error)
{
    const MerKnob *first = &gates->space->knobs[gate->first_knob];
    for (int k = 1; k < gate->knob_count; k++) {
        const MerKnob *knob = first + k;
        if (gate->is_count == (knob->kind == MER_KNOB_CATEGORY) ||
            knob->choices != first->choices) {
            return mer_error_set(error, MER_UNSUPPORTED,
                                 "odimo: knob %s is not a choice like those before it", knob->name);
        }
    }
    return MER_OK;
}

static MerStatus add_gate(MerGates *gates, MerGateKind kind, int first, int count, MerError *error)
{
    const MerKnob *knob = &gates->space->knobs[first];
    MerGate       *gate = &gates->gates[gates->count++];
    *gate = (MerGate){.op = knob->op, .first_knob = first, .knob_count = count};
    gate->is_count = knob->kind != MER_KNOB_CATEGORY;
    gate->kind = gate->is_count ? MER_GATE_THERMOMETER : kind;
    gate->choices = gate->is_count ? count + 1 : knob->choices;
    gate->columns = gate->is_count ? knob->choices - 1 : count;
    MER_TRY(check_gate(gates, gate, error));
    char name[32];
    int  shape[2] = {gate->columns, gate->choices}, rows[2] = {gate->choices - 1, gate->columns};
    snprintf(name, sizeof name, "alpha.%d", gates->count);
    gate->alpha = mer_parameters_add(gates->alphas, name, 2,
                                     gate->kind == MER_GATE_THERMOMETER ? rows : shape);
    return MER_OK;
}

MerStatus mer_gates_open(MerGates *gates, const MerSpace *space, MerGateKind kind, int op_count,
                         MerArena *arena, MerError *error)
{
    *gates = (MerGates){.space = space, .op_count = op_count, .alphas = mer_parameters_new()};
    gates->gates = MER_ARRAY(arena, MerGate, space->knob_count + 1);
    for (int k = 0, next; k < space->knob_count; k = next) {
        const MerKnob *knob = &space->knobs[k];
        if (knob->op < 0) {
            return mer_error_set(
                error, MER_UNSUPPORTED,
                "odimo: knob %s belongs to no operator, expected choices of operators", knob->name);
        }
        for (next = k + 1; next < space->knob_count && space->knobs[next].op == knob->op; next++) {
        }
        if (knob->choices < 2) {
            continue;
        }
        gates->op_count = knob->op + 1 > gates->op_count ? knob->op + 1 : gates->op_count;
        MER_TRY(add_gate(gates, kind, k, next - k, error));
    }
    if (gates->count == 0) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "odimo has nothing to learn, every operator has one choice");
    }
    mer_gates_reset(gates);
    return MER_OK;
}

void mer_gates_close(MerGates *gates)
{
    mer_parameters_free(gates->alphas);
    gates->alphas = NULL;
}

/* What a logit of a thermometer counts for in the sums. A step of all logits moves the sum of n of them by n steps: with equal
 * parts the first of 256 columns would cross the threshold many times in one step of 0.01, and no layer would settle. So all but the
 * last share one part. The last has a whole one, since the last column depends on it alone: in steps, none is then far from all. */
static float part_of(const MerGate *gate, int column)
{
    return column + 1 < gate->columns ? 1 / (float)gate->columns : 1;
}

void mer_gates_reset(MerGates *gates)
{
    gates->temperature = 1;
    for (int g = 0; g < gates->count; g++) {
        MerGate *gate = &gates->gates[g];
        mer_tensor_fill(gate->alpha, START);
        /* sums fall evenly to 0 and pass 1/2 where every choice has as many columns: from 1 if there are two */
        for (int o = 0; gate->kind == MER_GATE_THERMOMETER && o + 1 < gate->choices; o++) {
            float *row = gate->alpha->data + (int64_t)o * gate->columns;
            for (int c = 0; c < gate->columns; c++) {
                row[c] = (float)gate->choices / (float)(2 * (gate->choices - o - 1));
            }
            row[gate->columns - 1] = 0.25f / (float)gate->columns;
        }
    }
}

/* Only absolute values count. A logit that steps over 0 would come back, and so on: with the momentum of Adam by several steps each
 * time, and the sum of all would never come to rest below the threshold. */
void mer_gates_limit(MerGates *gates)
{
    for (int g = 0; g < gates->count; g++) {
        MerGate *gate = &gates->gates[g];
        for (int64_t i = 0; gate->kind == MER_GATE_THERMOMETER && i < gate->alpha->size; i++) {
            gate->alpha->data[i] = fmaxf(gate->alpha->data[i], LEAST);
        }
    }
}

static MerTensor *noise(MerTape *tape, const MerGate *gate, MerRng *rng)
{
    MerTensor *g = mer_tape_tensor(tape, 2, gate->alpha->shape);
    for (int64_t i = 0; i < g->size; i++) {
        g->data[i] = (float)-log(-log(mer_rng_unit(rng) * (1 - 1e-9) + 5e-10));
    }
    return g;
}

static MerTensor *thermometer(const MerGate *gate, MerTape *tape)
{
    MerTensor *parts = mer_tape_tensor(tape, 2, gate->alpha->shape);
    for (int64_t i = 0; i < parts->size; i++) {
        parts->data[i] = part_of(gate, (int)(i % gate->columns));
    }
    MerTensor *on = mer_tensor_thermometer(tape, mer_tensor_mul(tape, gate->alpha, parts));
    if (gate->choices == 2) {
        return mer_tensor_concat(tape, 2, (MerTensor *[]){on, mer_tensor_affine(tape, on, -1, 1)},
                                 0);
    }
    MerTensor **list =
        mer_workspace_alloc(mer_tape_workspace(tape), (size_t)gate->choices * sizeof(MerTensor *));
    MerTensor *left = NULL; /* by those before */
    for (int o = 0; o + 1 < gate->choices; o++) {
        MerTensor *first = mer_tensor_slice(tape, on, 0, o, 1);
        MerTensor *rest = mer_tensor_affine(tape, first, -1, 1);
        list[o] = left == NULL ? first : mer_tensor_mul(tape, left, first);
        left = left == NULL ? rest : mer_tensor_mul(tape, left, rest);
    }
    list[gate->choices - 1] = left;
    return mer_tensor_concat(tape, gate->choices, list, 0);
}

static MerTensor *shares_of(const MerGates *gates, const MerGate *gate, MerTape *tape, MerRng *rng)
{
    MerTensor *x = gate->alpha;
    float      sharp = (float)(1 / gates->temperature);
    if (gate->kind == MER_GATE_THERMOMETER) {
        return thermometer(gate, tape);
    }
    if (gate->kind == MER_GATE_GUMBEL && rng != NULL) {
        x = mer_tensor_add(tape, x, noise(tape, gate, rng));
    }
    x = mer_tensor_affine(tape, x, sharp, 0);
    if (gate->kind == MER_GATE_SIGMOID) {
        x = mer_tensor_sigmoid(tape, x);
        MerTensor *sum = mer_tensor_sum_axis(tape, x, 1);
        x = mer_tensor_div(tape, x, mer_tensor_reshape(tape, sum, 2, (int[]){gate->columns, 1}));
    } else {
        x = mer_tensor_softmax(tape, x);
    }
    return mer_tensor_transpose(tape, x, (int[]){1, 0});
}

static MerTensor **list_of(const MerGates *gates, MerTape *tape)
{
    size_t      bytes = (size_t)(gates->op_count + 1) * sizeof(MerTensor *);
    MerTensor **list = mer_workspace_alloc(mer_tape_workspace(tape), bytes);
    for (int i = 0; i <= gates->op_count; i++) {
        list[i] = NULL;
    }
    return list;
}

MerTensor **mer_gates_shares(const MerGates *gates, MerTape *tape, MerRng *rng)
{
    MerTensor **list = list_of(gates, tape);
    for (int g = 0; g < gates->count; g++) {
        list[gates->gates[g].op] = shares_of(gates, &gates->gates[g], tape, rng);
    }
    return list;
}

static int pick(const float *shares, int choices, int columns, int column, MerRng *rng)
{
    double left = mer_rng_unit(rng);
    for (int o = 0; o + 1 < choices; o++) {
        left -= shares[o * columns + column];
        if (left < 0) {
            return o;
        }
    }
    return choices - 1;
}

MerTensor **mer_gates_draw(const MerGates *gates, MerTape *tape, MerTensor *const *shares,
                           MerRng *rng, bool is_through)
{
    MerTensor **list = list_of(gates, tape);
    for (int g = 0; g < gates->count; g++) {
        const MerGate *gate = &gates->gates[g];
        MerTensor     *share = shares[gate->op];
        MerTensor     *hard = mer_tape_tensor(tape, 2, share->shape);
        mer_tensor_fill(hard, 0);
        for (int c = 0; c < gate->columns; c++) {
            int o = pick(mer_tensor_data(tape, share), gate->choices, gate->columns, c, rng);
            hard->data[o * gate->columns + c] = 1;
        }
        list[gate->op] = is_through ? mer_tensor_replace(tape, share, hard->data) : hard;
    }
    return list;
}

MerTensor *mer_gates_log_probability(const MerGates *gates, MerTape *tape, MerTensor *const *shares,
                                     MerTensor *const *drawn)
{
    MerTensor *sum = NULL;
    for (int g = 0; g < gates->count; g++) {
        int        op = gates->gates[g].op;
        MerTensor *log = mer_tensor_log(tape, mer_tensor_affine(tape, shares[op], 1, 1e-12f));
        MerTensor *part = mer_tensor_sum(tape, mer_tensor_mul(tape, log, drawn[op]));
        sum = sum == NULL ? part : mer_tensor_add(tape, sum, part);
    }
    return sum;
}

static int best_choice(const MerGate *gate, int column)
{
    const float *row = gate->alpha->data + (int64_t)column * gate->choices;
    int          best = 0;
    for (int o = 1; o < gate->choices; o++) {
        best = row[o] > row[best] ? o : best;
    }
    return best;
}

/* Columns that are on in the thermometer of a choice. */
static int filled(const MerGate *gate, int choice)
{
    const float *row = gate->alpha->data + (int64_t)choice * gate->columns;
    float        sum = 0;
    for (int c = gate->columns - 1; c >= 0; c--) {
        sum += fabsf(row[c] * part_of(gate, c));
        if (sum > 0.5f) {
            return c + 1;
        }
    }
    return 0;
}

/* Counts are shares of what is left, in parts of all columns. */
static void fill_counts(const MerGate *gate, MerIndex *point)
{
    int left = gate->columns, end = 0;
    for (int o = 0; o < gate->knob_count; o++) {
        int count = filled(gate, o) - end;
        count = count > 0 ? count : 0;
        point[o] = left > 0 ? (MerIndex)(((int64_t)count * gate->columns + left / 2) / left) : 0;
        left -= count;
        end += count;
    }
}

/* The choice that counts give to a column. */
static int counted_choice(const MerGate *gate, const MerIndex *point, int column)
{
    int left = gate->columns;
    for (int o = 0; o < gate->knob_count; o++) {
        left -= (int)(((int64_t)left * point[o] + gate->columns / 2) / gate->columns);
        if (column < gate->columns - left) {
            return o;
        }
    }
    return gate->knob_count;
}

static int choice_of(const MerGate *gate, const MerIndex *point, int column)
{
    return gate->is_count ? counted_choice(gate, point + gate->first_knob, column)
                          : point[gate->first_knob + column];
}

void mer_gates_point(const MerGates *gates, MerIndex *point)
{
    for (int g = 0; g < gates->count; g++) {
        const MerGate *gate = &gates->gates[g];
        bool           is_thermometer = gate->kind == MER_GATE_THERMOMETER;
        MerIndex      *first = point + gate->first_knob;
        if (gate->is_count) {
            fill_counts(gate, first);
            continue;
        }
        for (int c = 0; c < gate->columns; c++) {
            first[c] = is_thermometer ? gate->choices - 1 : best_choice(gate, c);
        }
        for (int o = gate->choices - 2; is_thermometer && o >= 0; o--) {
            for (int c = filled(gate, o) - 1; c >= 0; c--) {
                first[c] = o;
            }
        }
    }
}

void mer_gates_drawn_point(const MerGates *gates, MerTensor *const *drawn, MerIndex *point)
{
    for (int g = 0; g < gates->count; g++) {
        const MerGate *gate = &gates->gates[g];
        const float   *shares = drawn[gate->op]->data; /* (choices, columns) of 0 and 1 */
        assert(gate->kind != MER_GATE_THERMOMETER);
        for (int c = 0; c < gate->columns; c++) {
            int o = 0;
            while (o + 1 < gate->choices && shares[o * gate->columns + c] == 0) {
                o++;
            }
            point[gate->first_knob + c] = o;
        }
    }
}

MerTensor **mer_gates_decided(const MerGates *gates, MerTape *tape, const MerIndex *point)
{
    MerTensor **list = list_of(gates, tape);
    for (int g = 0; g < gates->count; g++) {
        const MerGate *gate = &gates->gates[g];
        int            shape[2] = {gate->choices, gate->columns};
        MerTensor     *hard = mer_tape_tensor(tape, 2, shape);
        mer_tensor_fill(hard, 0);
        for (int c = 0; c < gate->columns; c++) {
            hard->data[choice_of(gate, point, c) * gate->columns + c] = 1;
        }
        list[gate->op] = hard;
    }
    return list;
}

static int count_of(const MerGate *gate, const MerIndex *point, int choice)
{
    int count = 0;
    for (int c = 0; c < gate->columns; c++) {
        count += choice_of(gate, point, c) == choice;
    }
    return count;
}

void mer_gates_write_counts(const MerGates *gates, const MerIndex *point, FILE *file)
{
    fputs("\"counts\": [", file);
    for (int g = 0; g < gates->count; g++) {
        for (int o = 0; o < gates->gates[g].choices; o++) {
            fprintf(file, "%s%d",
                    o > 0   ? ", "
                    : g > 0 ? "], ["
                            : "[",
                    count_of(&gates->gates[g], point, o));
        }
    }
    fputs("]]", file);
}

double mer_gates_settled(const MerGates *gates)
{
    double sum = 0, count = 0;
    for (int g = 0; g < gates->count; g++) {
        const MerGate *gate = &gates->gates[g];
        for (int c = 0; c < gate->columns; c++, count++) {
            const float *row = gate->alpha->data + (int64_t)c * gate->choices;
            double       total = 0, top = 0;
            if (gate->kind == MER_GATE_THERMOMETER) {
                sum += 1;
                continue;
            }
            int best = best_choice(gate, c);
            for (int o = 0; o < gate->choices; o++) {
                double x = gate->kind == MER_GATE_SIGMOID
                               ? 1 / (1 + exp(-row[o] / gates->temperature))
                               : exp((row[o] - row[best]) / gates->temperature);
                total += x;
                top = x > top ? x : top;
            }
            sum += top / total;
        }
    }
    return count > 0 ? sum / count : 1;
}
