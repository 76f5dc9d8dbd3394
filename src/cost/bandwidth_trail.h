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

/* Events between two states that are kept. */
int mer_trail_stride(int job_count);
/* Keeps the state if its turn has come. */
void mer_trail_pass(MerTrail *trail, const MerLoopState *state);

typedef enum MerTrailStart {
    MER_TRAIL_CUT,     /* the loads alone pass the limit */
    MER_TRAIL_RESUMED, /* the state is one of `base` that the plan shares */
    MER_TRAIL_NEW /* the loop has to begin; nothing of the state is set but waiting and excess */
} MerTrailStart;
/* Begins the trail of `plan` in `trail`. Both may be NULL; a trail that is its own base has none. */
MerTrailStart mer_trail_start(const MerBandwidthInput *input, const MerJobsPlan *plan,
                              const MerTrail *base, MerTrail *trail, MerLoopState *state);

/* The same schedule in virtual time, with trails of its own kind: `left` is when a job ends there, `waste` the
 * bytes so far. Only cycles and is_cut are told. */
void mer_bandwidth_fast(const MerBandwidthInput *input, const MerJobsPlan *plan,
                        const MerTrail *base, MerTrail *trail, MerBandwidthOutput *output);

/* The plain loop on 4, 8 or 16 units, with the bits of the one in bandwidth_plain.c; false: it was cut. */
bool mer_bandwidth_lanes(const MerBandwidthInput *input, const MerJobsPlan *plan, MerTrail *trail,
                         MerLoopState *state);

/* The same as mer_bandwidth_plain without vectors, trails and limit, to compare with. */
void mer_bandwidth_reference(const MerBandwidthInput *input, const MerJobsPlan *plan,
                             MerBandwidthOutput *output);

#endif
