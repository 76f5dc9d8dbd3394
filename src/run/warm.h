/* The best points of an earlier run, told to the optimizer before its first ask. */
#ifndef MERCATOR_RUN_WARM_H
#define MERCATOR_RUN_WARM_H

#include "run/internal.h"

/* `spec->warm` is RUN or RUN:k. Gives at most k (64) distinct points of the optimizer's view, best
 * first; none if the spec has no warm run. Another space than the task's is an error. */
MerStatus mer_warm_read(MerRunState *run, MerRunTask *task, MerIndex **points, int *count, MerError *error);

#endif
