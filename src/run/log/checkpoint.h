/* Saved optimizer states: a stopped run of a long training goes on from the newest one instead of
 * being asked all over again. */
#ifndef MERCATOR_RUN_LOG_CHECKPOINT_H
#define MERCATOR_RUN_LOG_CHECKPOINT_H

#include "run/search/task_search.h"

/* At most every few seconds, if the optimizer can be saved and the run has a directory. */
MerStatus mer_checkpoint_save(MerTaskSearch *s, MerError *error);
/* On resume: reads the log up to the saved state, loads it, and goes on writing from there. */
MerStatus mer_checkpoint_restore(MerTaskSearch *s, bool *is_restored, MerError *error);

#endif
