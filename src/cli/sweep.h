/* Hardware sweeps: one row per platform, the ones that nothing beats in both energy and time marked. */
#ifndef MERCATOR_CLI_SWEEP_H
#define MERCATOR_CLI_SWEEP_H

#include "cli/cell_progress.h"

/* Prints the table and writes DIR/sweep.csv. */
MerStatus mer_sweep_show(const MerExperiment *experiment, const MerRunSpec *specs,
                         const MerCellTotal *results, int count, const char *directory,
                         MerArena *arena, FILE *file, MerError *error);

#endif
