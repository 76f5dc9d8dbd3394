/* What the plain loop leaves behind for plans that differ little (docs/bandwidth-model.md, "Speed"): its
 * state at a few events, to go on from there, and the loads of the units, which rule most neighbours out
 * at once. */
#ifndef MERCATOR_SCHEDULE_COST_BANDWIDTH_SNAPSHOT_H
#define MERCATOR_SCHEDULE_COST_BANDWIDTH_SNAPSHOT_H

#include "schedule/cost/bandwidth_loop.h"

typedef struct MerLoopClock { /* how far the loop is */
    double t, waste;
    double begun_excess; /* of all jobs that have begun */
    int    running, events;
} MerLoopClock;

typedef struct MerLoopState { /* padded: a unit that is not there asks for nothing and never ends */
    double left[MER_BANDWIDTH_UNITS], need[MER_BANDWIDTH_UNITS], finish[MER_BANDWIDTH_UNITS];
    double begun[MER_BANDWIDTH_UNITS]; /* no-stall cycles of the jobs a unit has begun */
    int    next[MER_BANDWIDTH_UNITS];  /* queue positions; one past the end once the end was seen */
    MerLoopClock now;
    /* Of the whole plan, not of this moment: the sums of each unit's queue, and the excess of all. Without
     * a limit they may be 0. */
    MerWork load[MER_BANDWIDTH_UNITS];
    double  excess;
} MerLoopState;

typedef struct MerSnapshot { /* then queues, starts and states */
    int     job_count, unit_count, state_count;
    MerWork load[MER_BANDWIDTH_UNITS];
} MerSnapshot;

typedef enum MerSnapshotStart {
    MER_SNAPSHOT_CUT,     /* the loads alone pass the limit */
    MER_SNAPSHOT_RESUMED, /* the state is one of `base` that the plan shares */
    MER_SNAPSHOT_NEW      /* the loop has to begin; nothing of the state is set but the loads */
} MerSnapshotStart;
/* Begins the snapshot of `plan` in `snapshot`. Both may be NULL; a snapshot that is its own base has none. */
MerSnapshotStart mer_snapshot_start(const MerBandwidthInput *input, const MerJobsPlan *plan,
                                    const MerSnapshot *base, MerSnapshot *snapshot,
                                    MerLoopState *state);
/* The number of events after which the snapshot wants the next state; -1: never. */
int  mer_snapshot_due(const MerSnapshot *snapshot);
void mer_snapshot_keep(MerSnapshot *snapshot, const MerLoopState *state);

/* The same schedule in virtual time, with snapshots of its own kind: `left` is when a job ends there, `waste` the
 * bytes so far. Only cycles and is_cut are told. */
void mer_bandwidth_fast(const MerBandwidthInput *input, const MerJobsPlan *plan, const void *base,
                        void *snapshot, MerBandwidthOutput *output);

/* The plain loop on 4, 8 or 16 units, with the bits of the one in bandwidth_plain.c; false: it was cut. */
bool mer_bandwidth_lanes(const MerBandwidthInput *input, const MerJobsPlan *plan,
                         MerSnapshot *snapshot, MerLoopState *state);

/* The same as mer_bandwidth_plain without vectors, snapshots and limit, to compare with. */
void mer_bandwidth_reference(const MerBandwidthInput *input, const MerJobsPlan *plan,
                             MerBandwidthOutput *output);

#endif
