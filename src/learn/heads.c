/* Categorical heads, packed. */
#include "learn/heads.h"

#include <math.h>

MerHeads mer_heads_make(int count, const int *choices, MerArena *arena)
{
    int *first = MER_ARRAY(arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        first[i + 1] = first[i] + choices[i];
    }
    return (MerHeads){count, first[count], first};
}

/* Walks the cumulated probabilities; rounding at the end goes to the last choice. */
void mer_heads_sample(const MerHeads *heads, const float *log_probabilities, MerRng *rng,
                      int *choices)
{
    for (int h = 0; h < heads->count; h++) {
        double left = mer_rng_unit(rng);
        int    column = heads->first[h];
        while (column + 1 < heads->first[h + 1]) {
            left -= exp(log_probabilities[column]);
            if (left < 0) {
                break;
            }
            column++;
        }
        choices[h] = column - heads->first[h];
    }
}

void mer_heads_best(const MerHeads *heads, const float *log_probabilities, int *choices)
{
    for (int h = 0; h < heads->count; h++) {
        int best = heads->first[h];
        for (int column = best + 1; column < heads->first[h + 1]; column++) {
            best = log_probabilities[column] > log_probabilities[best] ? column : best;
        }
        choices[h] = best - heads->first[h];
    }
}

void mer_heads_columns(const MerHeads *heads, const int *choices, int *columns)
{
    for (int h = 0; h < heads->count; h++) {
        columns[h] = heads->first[h] + choices[h];
    }
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
