/* Inside of the bounds of schedules. The files in the order of their use:
 *
 *     schedule_bound.c          asks all others and answers with the best
 *     relaxation.c              merges equal jobs and equal cores; what each pair of them takes
 *     split_program.c           jobs split over cores, as one linear program
 *     split_prices.c            the same for groups so large that the program would take too long
 *     configuration_limit.c     in virtual time: the largest limit that no schedule keeps to, by asking
 *     configuration_program.c   the linear program over configurations and queues at one limit
 *     configuration_columns.c   its rows and columns, for CLP; columns come from
 *     configuration_pricing.c   the best configurations at given prices, and from
 *     queue_pricing.c           the best queue of long jobs of one core
 *
 * Where virtual time holds (docs/bandwidth-model.md, "Virtual time"), a schedule is a sequence of configurations, sets of jobs that run
 * at the same moment, and its makespan is the sum of their durations times max(1, need). Besides, what one core
 * runs fits into virtual time, which is the makespan less the excess, the integral of max(0, need - 1).
 * The solver exact_schedule works with the same program of configurations (configuration_program.h). */
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
    double *need;   /* bytes / load: the part of the bandwidth that it takes while it runs */
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

/* Into `relaxation`, of which `arena` and `notes` are given. */
void mer_relaxation_build(const MerSchedule *schedule, const MerScheduleRules *rules,
                          bool is_published, Relaxation *relaxation);
/* What the job needs that needs most, each where it needs least, in cycles. */
double mer_relaxation_longest_job(const Relaxation *relaxation);
/* Whether the program of the relaxation is so large that prices take its place. Counted, never timed, so that
 * results do not depend on the machine. */
bool mer_relaxation_is_large(const Relaxation *relaxation);

/* Jobs split over cores, as one linear program; `relaxation` is kept. */
typedef struct SplitProgram SplitProgram;
SplitProgram               *mer_split_begin(Relaxation *relaxation);
void                        mer_split_end(SplitProgram *program);
/* No makespan of a schedule whose pairs have `alone` of at most `limit` is below the result, which is INFINITY if
 * there is none. Fills the relaxation's `row_price`. */
double mer_split_solve(SplitProgram *program, double limit);
/* No makespan at all is below the result; 0 if it was stopped. */
double mer_split_bound(SplitProgram *program);
/* Of the last one solved: how many jobs of each row go to each class, in parts. */
const double *mer_split_parts(const SplitProgram *program);

/* Likewise by prices: no makespan is below the result. `parts`, if not NULL: as above, about. */
double mer_schedule_bound_by_prices(const Relaxation *relaxation, double *parts);

/* No makespan is below the result, which is `bound`, one that holds, or higher. Needs virtual time. */
double mer_schedule_bound_by_configurations(const Relaxation *relaxation, double bound);

#endif
