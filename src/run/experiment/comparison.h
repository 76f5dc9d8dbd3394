/* Optimizers against each other: the results of many runs, grouped by everything but seed and
 * optimizer, with medians, intervals and a rank test. */
#ifndef MERCATOR_RUN_EXPERIMENT_COMPARISON_H
#define MERCATOR_RUN_EXPERIMENT_COMPARISON_H

#include "mercator/json.h"
#include "mercator/run.h"

typedef struct MerCell {         /* one finished run */
    const MerRunSpec *spec;      /* of an experiment: its objective is set */
    const char       *optimizer; /* name with the options that were given */
    double            value;     /* objective of the whole workload; NaN: nothing feasible */
    double            gap, wall_s;
    int64_t           evaluations;
    bool              is_timed; /* stopped by time, not by samples */
} MerCell;

typedef struct MerComparisonRow {
    const char *optimizer;
    int         runs, failed;             /* failed: nothing feasible */
    double      median, low, high;        /* of the value; 95 % bootstrap interval of the median */
    double      ratio;                    /* median over the group's best median; >= 1 */
    double      gap, evaluations, wall_s; /* medians */
    double      p; /* rank test against the best row; NaN for the best itself */
} MerComparisonRow;

typedef struct MerComparisonGroup {
    const char       *workload, *platform, *evaluator, *objective; /* platform NULL: none */
    bool              is_timed;
    double            limit; /* budget, or seconds */
    int               direction;
    int               row_count;
    MerComparisonRow *rows; /* best median first */
} MerComparisonGroup;

/* Groups in order of first appearance. */
int mer_compare(const MerCell *cells, int count, MerArena *arena, MerComparisonGroup **groups);
/* a JSON array */
void mer_compare_write(const MerComparisonGroup *groups, int count, MerJson *json);

#endif
