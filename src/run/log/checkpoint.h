/* Saved optimizer states: a stopped run of a long training goes on from the newest one instead of
 * being asked all over again. */
#ifndef MERCATOR_RUN_LOG_CHECKPOINT_H
#define MERCATOR_RUN_LOG_CHECKPOINT_H

#include "run/internal.h"

/* At most every few seconds, if the optimizer can be saved and the run has a directory. */
MerStatus mer_checkpoint_save(MerRunState *run, MerRunTask *task, const MerOptimizerClass *type,
                              const void *optimizer, const MerRng *rng, int64_t counted,
                              MerError *error);
/* On resume: reads the log up to the saved state, loads it, and goes on writing from there. */
MerStatus mer_checkpoint_restore(MerRunState *run, MerRunTask *task, const MerOptimizerClass *type,
                                 void *optimizer, MerRng *rng, int64_t *counted, bool *is_restored,
                                 MerError *error);

#endif
