/* What the files of a sweep's table share. */
#ifndef MERCATOR_CLI_SWEEP_H
#define MERCATOR_CLI_SWEEP_H

#include "cli/request.h"

typedef struct MerSweepRow {        /* runs that differ in their seed alone */
    const MerRunSpec *spec;         /* the first of them */
    const char       *base, *swept; /* of the platform's name: "s256", "memories.GLB.words=8Ki" */
    const char       *setting;
    int               platform, combination; /* as named, and of the swept values */
    int               group;                 /* rows with the same number can be compared */
    int               runs, found;           /* found: those that have a plan */
    MerCellTotal      median;
    bool              is_on_front, is_knee;
} MerSweepRow;

typedef struct MerSweepTable {
    int          count;
    MerSweepRow *rows;   /* in the order of their first runs */
    int         *row_of; /* each run */
} MerSweepTable;

/* sweep_rows.c: medians over seeds, and what nothing beats; knees are marked by mer_sweep_knees. */
MerSweepTable mer_sweep_rows(const MerExperiment *experiment, const MerRunSpec *specs,
                             const MerCellTotal *results, int count, MerArena *arena);
/* Energy and time where both are known, else the score alone. */
void mer_sweep_axes(const MerCellTotal *result, double axes[2]);

/* sweep_knee.c: marks the knee of each group of rows that differ in the swept numbers alone. A group whose curve is
 * straight, or ends no better than it begins, has none. */
void mer_sweep_knees(const MerExperiment *experiment, MerSweepTable *table, MerArena *arena);

#endif
