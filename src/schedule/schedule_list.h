/* List scheduling on the job analysis table (docs/optimizers.md, "List schedulers"): jobs in some order,
 * each to the core that some rule picks from no-stall latencies. The order of decisions is the order in
 * the queues. */
#ifndef MERCATOR_SCHEDULE_SCHEDULE_LIST_H
#define MERCATOR_SCHEDULE_SCHEDULE_LIST_H

#include "schedule/schedule.h"

typedef enum MerListOrder {
    MER_LIST_INPUT,
    MER_LIST_LONGEST,  /* by the latency on the job's best core, falling */
    MER_LIST_SHORTEST, /* by the mean latency, rising */
    MER_LIST_RANDOM,
    MER_LIST_DEADLINE,   /* rising, ties as input */
    MER_LIST_ROUND_ROBIN /* over models, each in layer order */
} MerListOrder;

typedef enum MerListRule {
    MER_LIST_MIN_COMPLETION,
    MER_LIST_LEAST_LOADED,
    MER_LIST_ROBIN,
    MER_LIST_MIN_EXECUTION,
    MER_LIST_ANY,
    MER_LIST_BALANCED /* least completion, unless the loads drift apart */
} MerListRule;

typedef struct MerListOptions {
    int        order, rule; /* MerListOrder, MerListRule */
    double     imbalance;   /* BALANCED: the largest load over the smallest that is accepted, */
    double     slowdown;    /* and how much slower a core may be that takes a job instead */
    const int *group, *group_of_unit; /* a job may only go to units of its group; NULL: anywhere */
    MerRng    *rng;                   /* for the random ones */
} MerListOptions;

/* Every job gets a place; `plan` and its arrays live in `arena`. */
void mer_schedule_list(const MerSchedule *schedule, const MerListOptions *options, MerArena *arena,
                       MerJobsPlan *plan);

#endif
