/* Inside of schedule_bound_columns.c: the linear program over configurations and queues of long jobs. */
#ifndef MERCATOR_SCHEDULE_BOUND_SCHEDULE_BOUND_COLUMNS_H
#define MERCATOR_SCHEDULE_BOUND_SCHEDULE_BOUND_COLUMNS_H

#include "schedule/bound/schedule_bound.h"

typedef enum ColumnsGoal {
    COLUMNS_VALUE,    /* the least makespan */
    COLUMNS_QUESTION, /* the same, of interest only if it is above the limit */
    COLUMNS_EXCESS    /* the least excess */
} ColumnsGoal;

typedef struct
    ColumnPrices { /* of a job, a pair and a core in cycles, and of a cycle of the limit */
    double *job, *pair, *core, time;
} ColumnPrices;

typedef struct Columns {
    const Relaxation   *relaxation;
    ConfigurationPricer pricer;
    CorePricer          core_pricer;
    int64_t             lp_work, most_work; /* steps, about equally long */
    double              tolerance;          /* of values, in parts of the limit */
    /* found so far, at any limit */
    int            configurations, queues;
    Configuration *configuration;
    CoreQueue     *queue;
    ColumnPrices   memory[2]; /* the best of the last program, and of the last for the excess */
    /* of one program */
    double  limit, core_limit; /* cycles */
    bool    is_excess;
    bool   *is_allowed, *is_long; /* by pair of row and class */
    int    *link;                 /* likewise: row of the program, or -1 */
    int     class_row, time_row, rows;
    int     loaded, loaded_queues;
    double *proposed, *center,
        *price;            /* by row: CLP's, those of the best value, and those at work */
    double *value, *worth; /* by pair, by row */
    double  best;          /* value */
} Columns;

/* False if there are too many kinds of cores. */
bool mer_columns_begin(Columns *columns, const Relaxation *relaxation);
/* What no schedule can beat whose makespan is at most `limit` and whose virtual time is at most `core_limit`:
 * the makespan or the excess in cycles, INFINITY if there is no such schedule. `core_limit` INFINITY: without
 * queues, which is less work. */
double mer_columns_solve(Columns *columns, double limit, double core_limit, ColumnsGoal goal);
bool   mer_columns_are_exhausted(const Columns *columns);

#endif
