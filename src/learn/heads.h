/* Categorical policies over several knobs: one head per knob, packed side by side in one row of
 * logits, so that one product makes them all and one pass turns them into log-probabilities. */
#ifndef MERCATOR_LEARN_HEADS_H
#define MERCATOR_LEARN_HEADS_H

#include "mercator/arena.h"
#include "mercator/rng.h"
#include "tensor/ops.h"

typedef struct MerHeads {
    int        count, total; /* heads, and choices of all of them */
    const int *first;        /* first column of each head; first[count] = total */
} MerHeads;

MerHeads mer_heads_make(int count, const int *choices, MerArena *arena);
/* One choice per head from a row of log-probabilities. */
void mer_heads_sample(const MerHeads *heads, const float *log_probabilities, MerRng *rng,
                      int *choices);
void mer_heads_best(const MerHeads *heads, const float *log_probabilities, int *choices);
/* The columns that choices lie in, for mer_tensor_pick. */
void mer_heads_columns(const MerHeads *heads, const int *choices, int *columns);

MerTensor *mer_heads_log_softmax(MerTape *tape, const MerHeads *heads,
                                 MerTensor *logits); /* (B, total) */
/* -sum p log p over the heads, the mean over rows: (1). */
MerTensor *mer_heads_entropy(MerTape *tape, MerTensor *log_probabilities);

#endif
