/* A run of the extended loop (docs/bandwidth-model.md, "The extended loop") as its two files see it: the
 * events in bandwidth_extended.c, who may start and who does in bandwidth_dispatch.c. */
#ifndef MERCATOR_SCHEDULE_COST_BANDWIDTH_RUN_H
#define MERCATOR_SCHEDULE_COST_BANDWIDTH_RUN_H

#include "schedule/cost/bandwidth_loop.h"

typedef enum MerCoreStateMode {
    MER_CORE_FREE,
    MER_CORE_SWITCHING,
    MER_CORE_RUNNING
} MerCoreStateMode;
typedef enum MerJobProgress {
    MER_JOB_WAITING,
    MER_JOB_STARTED,
    MER_JOB_DONE,
    MER_JOB_DROPPED
} MerJobProgress;

typedef struct MerCoreState { /* one unit */
    MerCoreStateMode mode;
    int              job, last; /* running or switched to; the one before, -1: none */
    int              head;      /* first position of its queue that may still be unstarted */
    double           switched;  /* when the switch ends */
    double           begun;     /* when the job that runs began */
} MerCoreState;

struct MerBandwidthRun {
    const MerBandwidthInput *input;
    const MerJobsPlan       *plan;
    const MerSchedule       *schedule;
    MerBandwidthTimes       *times;
    MerBandwidthOutput      *output;
    double                   t, waste; /* so far; the output's waste ends with the last job */
    int                      unfinished;
    MerCoreState             cores[MER_BANDWIDTH_UNITS];
    double left[MER_BANDWIDTH_UNITS], need[MER_BANDWIDTH_UNITS], use[MER_BANDWIDTH_UNITS];
    bool   is_free_of_traffic[MER_BANDWIDTH_UNITS]; /* `left` counts cycles */
    int    tenant[MER_BANDWIDTH_UNITS];
    int    ready[MER_BANDWIDTH_UNITS + 1]; /* jobs of each unit's queue that could start; the sum */
    int    next_release, next_deadline;    /* places in the schedule's orders */
    unsigned char *progress;               /* by job, MerJobProgress */
    int           *missing;                /* by job: predecessors not done */
    int           *ready_jobs;             /* dispatch=policy: the ready ones, in any order, */
    double        *cheapest;               /* and by job the price on its best unit */
    int           *dropping;               /* late=drop: jobs whose successors go with them */
    double         seen;                   /* releases after it are not known */
    /* dispatch=skip: by job its place in the queues, and per unit a heap of the places of ready jobs, the first
     * on top, which begins where the unit's queue does; NULL: queues are walked */
    int *place, *heap;
    int  heap_count[MER_BANDWIDTH_UNITS];
};

/* fmin without its care for NAN, which calls a function. */
static inline double mer_smaller(double a, double b)
{
    return a < b ? a : b;
}

/* One ready job more or less in its unit's count (`change` 1 or -1). */
void mer_bandwidth_count_ready(MerBandwidthRun *run, int job, int change);
/* Jobs whose time has come count as ready if nothing else holds them. */
void mer_bandwidth_release(MerBandwidthRun *run);
/* Those whose deadline has come without a start go, with all that wait for them, if the rules say so. */
void mer_bandwidth_drop_late(MerBandwidthRun *run);

/* Heaps of ready jobs, in which a free unit finds its next one without walking its queue. */
void mer_bandwidth_prepare_heaps(MerBandwidthRun *run, MerArena *scratch);
/* What a policy needs besides: lists of the ready and the price of each job where it is cheapest. */
void mer_bandwidth_prepare_policy(MerBandwidthRun *run, MerArena *scratch);
/* Free units take jobs, first the one that has just ended one (-1: none). */
void mer_bandwidth_dispatch(MerBandwidthRun *run, int completing);
/* The unit begins to run the job it was given. */
void mer_bandwidth_start(MerBandwidthRun *run, int unit);

#endif
