/* Why trials were infeasible, counted by class. */
#ifndef MERCATOR_RUN_SEARCH_REASONS_H
#define MERCATOR_RUN_SEARCH_REASONS_H

#include "mercator/run.h"

/* "capacity: RF needs 301 words, has 256" counts under "capacity"; the nearest miss is kept. */
void mer_reasons_count(MerTaskResult *result, const MerCost *cost);
/* The number of its class, if the result has that already and a miss as near; else -1. From any thread. */
int  mer_reasons_known(const MerTaskResult *result, const MerCost *cost);
void mer_reasons_merge(MerTaskResult *total, const MerTaskResult *part);

#endif
