/* What the plain loop leaves behind for plans that differ little (schedule.md section 15): its state at a few
 * events, to go on from there, and the loads of the units, which rule most neighbours out at once. */
#ifndef MERCATOR_COST_BANDWIDTH_TRAIL_H
#define MERCATOR_COST_BANDWIDTH_TRAIL_H

#include "cost/bandwidth_loop.h"

#include <math.h>

/* What the queue of each unit asks for, whatever the others do. */
typedef struct MerQueueLoads {
    double cycles[MER_BANDWIDTH_UNITS]; /* without stall */
    double excess
        [MER_BANDWIDTH_UNITS]; /* bytes that jobs need above what the bandwidth gives them alone */
    double bytes[MER_BANDWIDTH_UNITS]; /* all they move */
} MerQueueLoads;

typedef struct MerLoopState { /* padded: a unit that is not there asks for nothing and never ends */
    double left[MER_BANDWIDTH_UNITS], need[MER_BANDWIDTH_UNITS], finish[MER_BANDWIDTH_UNITS];
    double waiting[MER_BANDWIDTH_UNITS]; /* no-stall cycles of the jobs a unit has not begun */
    int    next[MER_BANDWIDTH_UNITS]; /* queue positions; one past the end once the end was seen */
    double excess;                    /* bytes, of all jobs that have not begun */
    double t, waste;
    int    running, events;
} MerLoopState;

typedef struct MerTrail { /* then queues, starts and states */
    int           job_count, unit_count, state_count;
    MerQueueLoads loads;
} MerTrail;

static inline double mer_work_excess(const MerWork *work, double bandwidth)
{
    double over = work->rate - bandwidth;
    return 0.5 * (over + fabs(over)) * work->latency; /* max(0, over), without a branch */
}

/* The loads of `plan`; those of units that have the same queue in `base` (NULL: none) are taken from there. */
void mer_queue_loads(const MerBandwidthInput *input, const MerJobsPlan *plan, const MerTrail *base,
                     const int *same, MerQueueLoads *loads);
/* The makespan that they alone demand. */
double mer_queue_loads_least(const MerBandwidthInput *input, const MerQueueLoads *loads, int units);

/* Begins the trail of `plan`. */
void mer_trail_open(MerTrail *trail, const MerJobsPlan *plan, const MerQueueLoads *loads);
/* Events between two states that are kept. */
int mer_trail_stride(int job_count);
/* Keeps the state if its turn has come. */
void mer_trail_pass(MerTrail *trail, const MerLoopState *state);

/* Is there anything in `base` that a plan of this size can use? */
bool mer_trail_fits(const MerTrail *base, const MerJobsPlan *plan);
/* By unit, how many places from the front are the same in both; one more than all if nothing differs. */
void mer_trail_compare(const MerTrail *base, const MerJobsPlan *plan, int *same);
/* The latest state of `base` that the plan shares; it and those before go to `trail`. False: none. */
bool mer_trail_resume(const MerTrail *base, const MerJobsPlan *plan, const int *same,
                      const MerQueueLoads *loads, MerTrail *trail, MerLoopState *state);

/* The plain loop on 4, 8 or 16 units, with the bits of the one in bandwidth_plain.c; false: it was cut. */
bool mer_bandwidth_lanes(const MerBandwidthInput *input, const MerJobsPlan *plan, MerTrail *trail,
                         MerLoopState *state);

/* The same as mer_bandwidth_plain without vectors, trails and limit, to compare with. */
void mer_bandwidth_reference(const MerBandwidthInput *input, const MerJobsPlan *plan,
                             MerBandwidthOutput *output);

#endif
