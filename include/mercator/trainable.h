/* A model that learns while others decide about it: what a search by gradients and an evaluation by training need to know of it. */
#ifndef MERCATOR_TRAINABLE_H
#define MERCATOR_TRAINABLE_H

#include "mercator/error.h"
#include "mercator/notes.h"
#include "mercator/threads.h"

#include <stdint.h>

typedef struct MerTape       MerTape;
typedef struct MerTensor     MerTensor;
typedef struct MerParameters MerParameters;

/* What a part of a set gave: sums over its examples. */
typedef struct MerTally {
    int64_t examples, correct;
    double  loss; /* mean over what was seen so far */
} MerTally;

/* A model to train whose loss depends on relaxed choices; the rest is hidden. One training at a time. */
typedef struct MerTrainable {
    void *state;
    /* Back to where every training with choices begins, whatever was done before. The first time this may take long: the
     * model is then trained without choices. NULL: there is nothing to train, and no other slot is filled. */
    MerStatus (*start)(void *state, MerPool *pool, MerNotes *notes, MerError *error);
    int (*batch_count)(const void *state, int part); /* part 0 train, 1 validation, 2 test */
    /* The loss of a batch, (1); adds to `tally`. choice[op] is (choices, knobs) for the knobs of an operator (MerKnob.op) in
     * their order, columns sum to 1; NULL for operators without knobs. */
    MerTensor *(*loss)(void *state, MerTape *tape, MerTensor *const *choice, int part, int epoch,
                       int batch, MerTally *tally);
    /* group 0: weights; 1: scales of what is rounded, which want a smaller step */
    MerParameters *(*parameters)(void *state, int group);
} MerTrainable;

#endif
