/* Categorical heads, packed. */
#include "learn/heads.h"

#include <math.h>
#include <string.h>

MerHeads mer_heads_make(int count, const int *choices, MerArena *arena)
{
    int *first = MER_ARRAY(arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        first[i + 1] = first[i] + choices[i];
    }
    return (MerHeads){.count = count, .total = first[count], .first = first};
}

void mer_heads_join(MerHeads *heads, MerArena *arena)
{
    int64_t total = heads->total;
    float  *later = MER_ARRAY(arena, float, total *total);
    for (int h = 0; h < heads->count; h++) {
        for (int64_t row = heads->first[h]; row < heads->first[h + 1]; row++) {
            for (int64_t column = heads->first[h + 1]; column < total; column++) {
                later[row * total + column] = 1;
            }
        }
    }
    heads->later = later;
}

/* A choice's logit is half its own strength and half the mean of the strengths around it, weighed
 * by a bell whose deviation is a sixteenth of the range and at least one step: what is learned of
 * a choice speaks for its neighbours, and a sharp peak is still within reach. (from, to) */
static const float *make_share(int choices, MerArena *arena)
{
    float *share = MER_ARRAY(arena, float, (int64_t)choices *choices);
    double deviation = fmax(1, choices / 16.0);
    for (int to = 0; to < choices; to++) {
        double all = 0;
        for (int from = 0; from < choices; from++) {
            all += exp(-0.5 * pow((from - to) / deviation, 2));
        }
        for (int from = 0; from < choices; from++) {
            double near = exp(-0.5 * pow((from - to) / deviation, 2)) / all;
            share[(int64_t)from * choices + to] = (float)(0.5 * near + (from == to ? 0.5 : 0));
        }
    }
    return share;
}

void mer_heads_order(MerHeads *heads, const bool *is_ordered, MerArena *arena)
{
    const float **shares = MER_ARRAY(arena, const float *, heads->count + 1);
    for (int h = 0; h < heads->count; h++) {
        if (is_ordered[h]) {
            shares[h] = make_share(heads->first[h + 1] - heads->first[h], arena);
        }
    }
    heads->shares = shares;
}

/* Walks the cumulated probabilities; rounding at the end goes to the last choice. */
static int sample_head(const MerHeads *heads, int h, const float *log_probabilities, MerRng *rng)
{
    double left = mer_rng_unit(rng);
    int    column = heads->first[h];
    while (column + 1 < heads->first[h + 1]) {
        left -= exp(log_probabilities[column]);
        if (left < 0) {
            break;
        }
        column++;
    }
    return column;
}

void mer_heads_sample(const MerHeads *heads, const float *log_probabilities, MerRng *rng,
                      int *columns)
{
    for (int h = 0; h < heads->count; h++) {
        columns[h] = sample_head(heads, h, log_probabilities, rng);
    }
}

/* Log-probabilities again after something was added. */
static void normalise(float *logits, int count)
{
    double most = -INFINITY, sum = 0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, logits[i]);
    }
    for (int i = 0; i < count; i++) {
        sum += exp(logits[i] - most);
    }
    for (int i = 0; i < count; i++) {
        logits[i] = (float)(logits[i] - most - log(sum));
    }
}

void mer_heads_sample_joint(const MerHeads *heads, const float *log_probabilities,
                            const float *table, MerRng *rng, int *columns, float *given)
{
    memcpy(given, log_probabilities, (size_t)heads->total * sizeof *given);
    for (int h = 0; h < heads->count; h++) {
        int first = heads->first[h], end = heads->first[h + 1];
        normalise(given + first, end - first);
        columns[h] = sample_head(heads, h, given, rng);
        const float *row = table + (int64_t)columns[h] * heads->total;
        for (int column = end; column < heads->total; column++) {
            given[column] += row[column];
        }
    }
}

MerTensor *mer_heads_later(MerTape *tape, const MerHeads *heads, MerTensor *table, int rows,
                           const int *columns)
{
    int64_t total = heads->total;
    float  *chosen = mer_workspace_zeros(mer_tape_workspace(tape), rows * total);
    for (int64_t i = 0; i < rows; i++) {
        for (int h = 0; h < heads->count; h++) {
            chosen[i * total + columns[i * heads->count + h]] = 1;
        }
    }
    MerTensor *x = mer_tape_input(tape, 2, (int[]){rows, heads->total}, chosen);
    MerTensor *later = mer_tape_input(tape, 2, (int[]){heads->total, heads->total}, heads->later);
    return mer_tensor_matmul(tape, x, mer_tensor_mul(tape, table, later));
}

/* Head by head: one matrix for all of them would be mostly zeros. */
MerTensor *mer_heads_share(MerTape *tape, const MerHeads *heads, MerTensor *strengths)
{
    size_t      bytes = (size_t)heads->count * sizeof(MerTensor *);
    MerTensor **parts = mer_workspace_alloc(mer_tape_workspace(tape), bytes);
    for (int h = 0; h < heads->count; h++) {
        int width = heads->first[h + 1] - heads->first[h];
        parts[h] = mer_tensor_slice(tape, strengths, 1, heads->first[h], width);
        if (heads->shares[h] != NULL) {
            MerTensor *share = mer_tape_input(tape, 2, (int[]){width, width}, heads->shares[h]);
            parts[h] = mer_tensor_matmul(tape, parts[h], share);
        }
    }
    return mer_tensor_concat(tape, heads->count, parts, 1);
}

MerTensor *mer_heads_log_softmax(MerTape *tape, const MerHeads *heads, MerTensor *logits)
{
    return mer_tensor_segment_log_softmax(tape, logits, heads->count, heads->first);
}

MerTensor *mer_heads_entropy(MerTape *tape, MerTensor *log_probabilities)
{
    MerTensor *p = mer_tensor_exp(tape, log_probabilities);
    MerTensor *total = mer_tensor_sum(tape, mer_tensor_mul(tape, p, log_probabilities));
    return mer_tensor_affine(tape, total, -1 / (float)log_probabilities->shape[0], 0);
}
