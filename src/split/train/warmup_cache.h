/* Float networks that were trained before, as files of a folder: WARMUP-KEY.bin, whole or not at all. */
#ifndef MERCATOR_SPLIT_TRAIN_WARMUP_CACHE_H
#define MERCATOR_SPLIT_TRAIN_WARMUP_CACHE_H

#include "mercator/trainable.h"
#include "tensor/tensor.h"

typedef struct MerWarmup {
    MerParameters *weights;
    MerTally      *tallies; /* of each epoch */
    int            epochs;
    uint64_t       key; /* hash of all that decides about the weights */
} MerWarmup;

/* Fills weights and tallies if the folder has them; a file that is broken is an error. */
MerStatus mer_warmup_load(const char *folder, const MerWarmup *warmup, MerArena *arena,
                          bool *is_found, MerError *error);
/* Makes the folder if needed. */
MerStatus mer_warmup_save(const char *folder, const MerWarmup *warmup, MerArena *arena,
                          MerError *error);

#endif
