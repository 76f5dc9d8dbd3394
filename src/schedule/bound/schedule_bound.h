/* Inside of the bounds of schedules: the relaxations of schedule_bound*.c.
 *
 * Where virtual time holds (docs/bandwidth-model.md, "Virtual time"), a schedule is a sequence of
 * configurations, sets of jobs that run at the same moment, and its makespan is the sum of their durations
 * times max(1, need). Besides, what one core runs fits into virtual time, which is the makespan less the
 * excess, the integral of max(0, need - 1). */
#ifndef MERCATOR_SCHEDULE_BOUND_SCHEDULE_BOUND_H
#define MERCATOR_SCHEDULE_BOUND_SCHEDULE_BOUND_H

#include "mercator/arena.h"
#include "mercator/notes.h"
#include "schedule/schedule.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Relaxation { /* equal jobs and equal cores are merged, which changes nothing */
    int     rows, classes;
    int    *count; /* jobs of each row */
    int    *units; /* cores of each class */
    double *load;  /* [row * classes + class]: cycles on the core, with the switch before the job */
    double *excess; /* cycles by which one such job stretches the time of all cores */
    double *bytes;  /* traffic / bandwidth, in cycles */
    double *alone;  /* the makespan is at least this if a job of the row runs on the class */
    double  scale;
    double  free_switch;  /* cycles: the first job of a core needs none */
    bool    is_published; /* without the rows of single jobs */
    bool    is_virtual;   /* all running jobs slow down alike */
    double *row_price;    /* cycles that a job of the row adds to the bound at least */
    int    *row_of_job, *class_of_unit; /* who is merged into what */
    MerArena *arena;
    MerNotes *notes; /* asked whether to stop; NULL: nobody stops it */
} Relaxation;

/* schedule_bound_relaxation.c: into `relaxation`, of which `arena` and `notes` are given. */
void mer_relaxation_build(const MerSchedule *schedule, const MerScheduleRules *rules,
                          bool is_published, Relaxation *relaxation);
/* What the job needs that needs most, each where it needs least, in cycles. */
double mer_relaxation_longest_job(const Relaxation *relaxation);

/* schedule_bound_prices.c: whether the program of the relaxation is so large that prices take its place. Counted,
 * never timed, so that results do not depend on the machine. */
bool mer_relaxation_is_large(const Relaxation *relaxation);
/* No makespan is below the result. `parts`, if not NULL: how many jobs of each row go to each class, about. */
double mer_schedule_bound_by_prices(const Relaxation *relaxation, double *parts);

/* No makespan is below the result, which is `bound`, one that holds, or higher. Needs virtual time. */
double mer_schedule_bound_by_configurations(const Relaxation *relaxation, double bound);

/* schedule_bound_configuration.c: the configurations that are worth most beyond their cost. */
enum { CONFIGURATION_JOBS = 64, CONFIGURATIONS_KEPT = 20 };

typedef struct Configuration {
    int     jobs;
    int16_t row[CONFIGURATION_JOBS], class[CONFIGURATION_JOBS];
    double  need;
} Configuration;

typedef struct ConfigurationCost { /* of a cycle: least + slope * max(0, need - 1) */
    double least, slope;
} ConfigurationCost;

static inline double mer_configuration_cost(ConfigurationCost cost, double need)
{
    return cost.least + (need > 1 ? cost.slope * (need - 1) : 0);
}

typedef struct ConfigurationPricer {
    const Relaxation          *relaxation;
    const double              *need;   /* by pair of row and class: rate / bandwidth */
    int                        places; /* numbers of busy units of each class, as one number */
    int                       *stride; /* by class */
    int                       *used;   /* [place * classes + class] */
    int                        items;  /* jobs, as many of a row as there are units */
    int                       *item_row;
    double                    *item_value, *item_need;         /* [item * classes + class] */
    double                    *unit_price, *rest, *rest_units; /* schedule_bound_configuration.c */
    struct ConfigurationKey   *keys;
    struct ConfigurationState *states;
    int                        state_count;
    int *now, *next, *now_start, *next_start; /* states by place, needs and worths rising */
    /* found */
    int           kept;
    Configuration best[CONFIGURATIONS_KEPT]; /* the last is the best */
    int64_t       work;                      /* steps taken since the beginning */
} ConfigurationPricer;

/* False if there are too many kinds of cores. `need` is kept. */
bool mer_configurations_begin(ConfigurationPricer *pricer, const Relaxation *relaxation,
                              const double *need);
/* `value` of a cycle of a pair, 0 where it must not run. No configuration is worth more than the result, which
 * is above 0. */
double mer_configurations_price(ConfigurationPricer *pricer, const double *value,
                                ConfigurationCost cost);

/* schedule_bound_core.c: what one core runs of long jobs. */
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

#endif
