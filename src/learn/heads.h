/* Categorical policies over several knobs: one head per knob, packed side by side in one row of
 * logits, so that one product makes them all and one pass turns them into log-probabilities.
 * Heads are independent unless they are joined (a head's choice shifts the logits of the heads
 * after it) or ordered (near choices share what they learn). */
#ifndef MERCATOR_LEARN_HEADS_H
#define MERCATOR_LEARN_HEADS_H

#include "mercator/arena.h"
#include "mercator/rng.h"
#include "tensor/ops.h"

typedef struct MerHeads {
    int                 count, total; /* heads, and choices of all of them */
    const int          *first;        /* first column of each head; first[count] = total */
    const float        *later;        /* joined: (total, total); NULL: they are not */
    const float *const *shares; /* ordered: per head (choices, choices), NULL: choices apart */
} MerHeads;

MerHeads mer_heads_make(int count, const int *choices, MerArena *arena);
/* Makes room for a table (total, total) of what a choice (row) adds to the logits of later heads:
 * p(c1, c2, ...) = p(c1) p(c2 | c1) p(c3 | c1, c2) ..., in the order of the heads. */
void mer_heads_join(MerHeads *heads, MerArena *arena);
/* Heads with is_ordered share strength among near choices. */
void mer_heads_order(MerHeads *heads, const bool *is_ordered, MerArena *arena);

/* One choice per head from a row of log-probabilities: the columns it lies in, for mer_tensor_pick. */
void mer_heads_sample(const MerHeads *heads, const float *log_probabilities, MerRng *rng,
                      int *columns);
/* The same for joined heads with that table. `log_probabilities` are those before anything is
 * chosen; fills `given` (total) with those that the choices were drawn from. */
void mer_heads_sample_joint(const MerHeads *heads, const float *log_probabilities,
                            const float *table, MerRng *rng, int *columns, float *given);

/* What choices in columns (B, count) add to the logits of later heads: (B, total). */
MerTensor *mer_heads_later(MerTape *tape, const MerHeads *heads, MerTensor *table, int rows,
                           const int *columns);
/* Logits (B, total) of ordered heads from the strength of each choice. */
MerTensor *mer_heads_share(MerTape *tape, const MerHeads *heads, MerTensor *strengths);
MerTensor *mer_heads_log_softmax(MerTape *tape, const MerHeads *heads,
                                 MerTensor *logits); /* (B, total) */
/* -sum p log p over the heads, the mean over rows: (1). Of joined heads it is that of every head
 * given the choices before it, whose expectation is the entropy of all of them together. */
MerTensor *mer_heads_entropy(MerTape *tape, MerTensor *log_probabilities);

#endif
