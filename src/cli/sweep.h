/* What the files of a sweep's table share. */
#ifndef MERCATOR_CLI_SWEEP_H
#define MERCATOR_CLI_SWEEP_H

#include "cli/request.h"

int mer_sweep_combinations(const MerExperiment *experiment); /* of the swept values */
/* Energy and time where both are known, else the score alone. */
void mer_sweep_axes(const MerCellTotal *result, double axes[2]);
/* Nothing in the sweep is at least as good on both axes and better on one, or equal and further up. */
bool mer_sweep_is_on_front(const MerCellTotal *results, int count, int at);

/* sweep_knee.c: marks the knee of each group of runs that differ in the swept numbers alone; is_knee[count] is false
 * before. A group whose curve is straight, or goes up, has none. */
void mer_sweep_knees(const MerExperiment *experiment, const MerRunSpec *specs,
                     const MerCellTotal *results, int count, bool *is_knee, MerArena *arena);

#endif
