/* Linear programs over configurations (schedule_bound.h), for the bound and for exact_schedule, and what finds
 * their columns.
 *
 * The bound asks about all of virtual time at once. exact_schedule cuts it into phases, stretches of which more is
 * known: which jobs run throughout, which cores must not be idle, and how long some phases take together. A
 * class of cores belongs to one phase, so that a core has a number in each. */
#ifndef MERCATOR_SCHEDULE_BOUND_CONFIGURATION_PROGRAM_H
#define MERCATOR_SCHEDULE_BOUND_CONFIGURATION_PROGRAM_H

#include "schedule/bound/schedule_bound.h"

enum { CONFIGURATION_JOBS = 64, CONFIGURATION_SPANS = 32, CONFIGURATIONS_KEPT = 20 };

typedef struct Configuration {
    int     phase, jobs; /* jobs without those that run throughout the phase */
    int16_t row[CONFIGURATION_JOBS], class[CONFIGURATION_JOBS];
    double  need; /* of all */
} Configuration;

typedef struct ConfigurationCost { /* of a cycle: least + slope * max(0, need - 1) */
    double least, slope;
} ConfigurationCost;

static inline double mer_configuration_cost(ConfigurationCost cost, double need)
{
    return cost.least + (need > 1 ? cost.slope * (need - 1) : 0);
}

typedef struct ConfigurationPhase {
    int        first_class, classes;
    const int *busy; /* by class of the phase: cores that must not be idle; NULL: all may */
    int        runs; /* jobs that run throughout, on cores that are in no class of the phase: */
    int        run_row[CONFIGURATION_JOBS];
    double     run_load[CONFIGURATION_JOBS];
    double     need;  /* of these together */
    uint32_t   spans; /* whose durations it is a part of, by bit */
} ConfigurationPhase;

/* configuration_pricing.c */
typedef struct ConfigurationPricer {
    const Relaxation          *relaxation;
    const ConfigurationPhase  *phase;   /* at work, and of it: */
    int                        classes; /* numbered from 0 */
    const int                 *units;
    int                        places;      /* numbers of busy units of each class, as one number */
    int                       *stride;      /* by class */
    int                       *used;        /* [place * classes + class] */
    bool                      *is_complete; /* by place: no unit is idle that must not be */
    int                        items;       /* jobs, as many of a row as there are units */
    int                       *item_row;
    double                    *item_value, *item_need, *gain;  /* [item * classes + class] */
    double                    *unit_price, *rest, *rest_units; /* configuration_pricing.c */
    struct ConfigurationKey   *keys;
    struct ConfigurationState *states;
    int                        state_count;
    int *now, *next, *now_start, *next_start; /* states by place, needs and worths rising */
    /* found */
    int           kept;
    Configuration best[CONFIGURATIONS_KEPT]; /* the last is the best */
    int64_t       work;                      /* steps taken since the beginning */
} ConfigurationPricer;

/* Whether its cores are not of too many kinds to look at all configurations. */
bool mer_configurations_fit(const Relaxation *relaxation, const ConfigurationPhase *phase);
/* For phases that have at most as many classes as `widest`, and no more ways to be busy. */
void mer_configurations_begin(ConfigurationPricer *pricer, const Relaxation *relaxation,
                              const ConfigurationPhase *widest);
/* Turns to a phase, which stays as it is until the next one. */
void mer_configurations_enter(ConfigurationPricer *pricer, const ConfigurationPhase *phase);
/* `value` of a cycle of a pair, 0 where it must not run, and of a cycle of the phase. No configuration of the phase
 * is worth more than the result, which is above 0. */
double mer_configurations_price(ConfigurationPricer *pricer, const double *value,
                                double phase_value, ConfigurationCost cost);

/* queue_pricing.c: what one core runs of long jobs. */
enum { CORE_PARTS = 16, CORE_JOBS = CORE_PARTS + 1 }; /* long: above the time / CORE_PARTS */

typedef struct CoreQueue { /* in any order */
    int class, jobs;
    int16_t row[CORE_JOBS];
    double  cycles; /* rounded down */
} CoreQueue;

typedef struct CorePricer {
    const Relaxation *relaxation;
    double           *most;  /* by grid point: the most that fits */
    uint8_t          *taken; /* [item][grid point] */
    int              *item_row, *item_size;
    int64_t           work;
} CorePricer;

void mer_core_queues_begin(CorePricer *pricer, const Relaxation *relaxation);
/* Of the pairs of `class` that are `is_long`, each at most `limit` cycles: no queue of these within `limit` is
 * worth more than the result. `worth` is by row. */
double mer_core_queues_price(CorePricer *pricer, int class, const double *worth,
                             const bool *is_long, double limit, CoreQueue *best);

/* configuration_program.c */
typedef enum ColumnsGoal {
    COLUMNS_VALUE,    /* the least makespan */
    COLUMNS_QUESTION, /* the same, of interest only if it is above the limit */
    COLUMNS_EXCESS    /* the least excess */
} ColumnsGoal;

/* Of a job, a pair and a core in cycles, of a cycle of the limit, and of a cycle of each span. */
typedef struct ColumnPrices {
    double *job, *pair, *core, time, span[CONFIGURATION_SPANS];
} ColumnPrices;

typedef struct Columns {
    const Relaxation   *relaxation;
    ConfigurationPricer pricer;
    CorePricer          core_pricer;
    int64_t             lp_work, most_work; /* steps, about equally long */
    double              tolerance;          /* of values, in parts of the limit */
    /* Phases only. CLP's value is a little wrong: a question is open only this part of the limit below it. And
     * no LP is solved where the prices of the last program answer; the bound, whose work is counted and limited,
     * would end elsewhere. */
    double                    doubt;
    bool                      answers_early;
    ConfigurationPhase        whole; /* all of virtual time */
    const ConfigurationPhase *phase;
    int                       phase_count;
    const double             *span;     /* cycles that the phases of each span take together, */
    const bool               *is_least; /* or more */
    int                       span_count;
    /* found so far, at any limit */
    int            configurations, queues;
    Configuration *configuration;
    CoreQueue     *queue;
    ColumnPrices   memory[2]; /* the best of the last program, and of the last for the excess */
    /* of one program */
    double limit, core_limit; /* cycles */
    bool   is_excess;
    bool  *is_allowed, *is_long; /* by pair of row and class */
    int   *link;                 /* likewise: row of the program, or -1 */
    int    class_row, time_row, span_row, rows;
    int    loaded, loaded_queues;
    /* by row: prices of CLP, those of the best value, and those at work */
    double *proposed, *center, *price;
    double *row_lower, *row_upper;
    double *value, *worth; /* by pair, by row */
    double  best;          /* value */
} Columns;

/* For programs of all virtual time. False if there are too many kinds of cores. */
bool mer_columns_begin(Columns *columns, const Relaxation *relaxation);
/* What no schedule can beat whose makespan is at most `limit` and whose virtual time is at most `core_limit`:
 * the makespan or the excess in cycles, INFINITY if there is no such schedule. `core_limit` INFINITY: without
 * queues, which is less work. */
double mer_columns_solve(Columns *columns, double limit, double core_limit, ColumnsGoal goal);
bool   mer_columns_are_exhausted(const Columns *columns);

/* For programs with phases, without queues. Before the first is set, `relaxation` is one of as many classes as
 * all phases may have together, of which `widest` has the first. */
void mer_columns_begin_phases(Columns *columns, const Relaxation *relaxation,
                              const ConfigurationPhase *widest, int most_spans);
/* Keeps `phase`; what was found in others is forgotten. Spans are set by hand. */
void mer_columns_set_phases(Columns *columns, const ConfigurationPhase *phase, int count);
/* Steps since the beginning. */
int64_t mer_columns_work(const Columns *columns);

#endif
