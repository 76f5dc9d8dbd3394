/* Neighbours of a schedule: the jobs of each core in order, changed by one move at a time that can be undone.
 * What list_annealing and exact_schedule anneal. */
#ifndef MERCATOR_SCHEDULE_SOLVE_QUEUE_MOVES_H
#define MERCATOR_SCHEDULE_SOLVE_QUEUE_MOVES_H

#include "mercator/rng.h"
#include "schedule/cost/bandwidth.h"

typedef struct MerQueueLoads { /* what the makespan cannot fall below */
    double unit[MER_BANDWIDTH_UNITS];
    double excess, bytes; /* cycles */
} MerQueueLoads;

typedef struct MerQueues {
    const MerSchedule *schedule;
    MerRng            *rng;
    double             swap;         /* part of the moves that exchange two jobs */
    int               *unit, *place; /* of each job: core and position */
    int               *queue[MER_BANDWIDTH_UNITS];
    int                length[MER_BANDWIDTH_UNITS];
    MerQueueLoads      loads, old_loads; /* before the move */
    const double      *excess;           /* job x unit, cycles; NULL: not known */
    bool               can_screen;       /* the loads rule moves out */
    /* the last move */
    int job[2], from_unit, from_place; /* job[1] -1: the first was taken elsewhere */
    int changed[2];                    /* units */
} MerQueues;

/* All arrays are in `arena`; `schedule` and `rng` are kept. */
void mer_queues_begin(MerQueues *queues, const MerSchedule *schedule, MerRng *rng, double swap,
                      MerArena *arena);
/* Where virtual time holds, loads count the bytes by which jobs alone exceed the bandwidth (docs/bandwidth-model.md,
 * "Virtual time"). */
void mer_queues_count_excess(MerQueues *queues, MerArena *arena);
void mer_queues_read(MerQueues *queues, const MerJobsPlan *plan);
/* Queues and starts of `plan`, not the units of its jobs. */
void mer_queues_write(const MerQueues *queues, MerJobsPlan *plan);
/* A random move from queues with this score. The worst score that annealing accepts is drawn before it is priced,
 * so that pricing can stop there; if `can_screen`, a move that the loads alone put above it is given up for
 * another. False: none was found, all that were tried change nothing. */
bool mer_queues_anneal(MerQueues *queues, double score, double temperature, double *threshold);
void mer_queues_undo(MerQueues *queues);

#endif
