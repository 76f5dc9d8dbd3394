/* The best points of an earlier run, told to the optimizer before its first ask. */
#ifndef MERCATOR_RUN_SEARCH_WARM_H
#define MERCATOR_RUN_SEARCH_WARM_H

#include "run/internal.h"

/* `spec->warm` is RUN or RUN:k, or `chain`: the tasks of this run that were searched before. Gives at most k
 * (the optimizer's population, 64 if it has none) distinct points of the optimizer's view, best first; none if
 * the spec has no warm run. Where the problem can, points of other tasks are carried over
 * (`spec->warm_match`); otherwise another space than the task's is an error. Damaged lines of the log are
 * skipped and counted in one warning. */
MerStatus mer_warm_read(MerRunState *run, MerRunTask *task, MerIndex **points, int *count,
                        MerError *error);

#endif
