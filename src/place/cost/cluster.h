/* Inside evaluator `cluster`: units that run operators, channels that carry results, and the simulation from event to event
 * (docs/placement.md, "cluster"). For its views and for exporters that show when things happen. Times are microseconds. */
#ifndef MERCATOR_PLACE_COST_CLUSTER_H
#define MERCATOR_PLACE_COST_CLUSTER_H

#include "place/cost/fusion.h"
#include "place/cost/what_if.h"

typedef enum MerLinkModel { /* as the option `link_model` lists them */
                            MER_LINKS_PAIR,
                            MER_LINKS_BUS,
                            MER_LINKS_PATH,
                            MER_LINKS_BOTH_ENDS
} MerLinkModel;

typedef enum MerTieOrder { MER_TIES_NAME, MER_TIES_NUMERIC, MER_TIES_TOPOLOGICAL } MerTieOrder;

typedef struct MerClusterOptions {
    int     preset; /* 0 none, 1 placeto */
    int     link_model, tie_order;
    bool    overlap, limits, price_infeasible;
    double  segment_bytes, noise;
    int64_t max_segments, noise_seed;
} MerClusterOptions;

typedef struct MerHop {
    int    channel; /* what transfers queue for: one at a time */
    double latency_us, us_per_byte, gap_us;
} MerHop;

typedef struct MerWay {  /* from one unit to another */
    int           count; /* of hops; 0: there is no way */
    const MerHop *hops;
    double latency_us, us_per_byte; /* of the whole, where all its channels are held at once */
} MerWay;

typedef struct MerPlaceto MerPlaceto;

typedef struct MerCluster { /* the opened evaluator */
    const MerPlace    *place;
    MerClusterOptions  options;
    MerPlaceRules      rules;
    bool               has_rules; /* bounds hold */
    MerPlacePricer     pricer;    /* without a problem: nobody asks for explanations */
    int                channel_count;
    const char *const *channel_names;
    const MerWay      *ways;         /* [from * unit_count + to] */
    bool               goes_by_hops; /* a transfer has one channel of its way after the other */
    bool               is_broadcast; /* one transfer goes to all units that read a result */
    int                max_parts;    /* of a result that goes by hops */
    /* units: operators at once, and the first stream of each */
    const int    *streams, *stream_start;
    const double *gap_us;
    const int    *leader; /* first operator of each operator's group */
    /* least time from the start of an operator to the end of all; NULL: unknown, as fusion shortens operators */
    const double            *tail_us;
    const MerFusion         *fusion;
    const MerPlaceto        *placeto;   /* NULL: the model of our own */
    const struct MerPlainOp *plain_ops; /* NULL: units or links need the full simulation */
} MerCluster;

MerStatus mer_cluster_open(MerCluster *cluster, const MerPlace *place,
                           const MerClusterOptions *options, MerArena *arena, MerError *error);
/* cluster_channels.c: channels and ways by the chosen model of links. */
void mer_cluster_find_ways(MerCluster *cluster, MerArena *arena);

/* What runs as one: operators, or clusters of them. NULL arrays: every operator for itself. */
typedef struct MerKernels {
    const int    *kernel;          /* of each operator: the first operator of its cluster */
    const int    *start, *members; /* of kernel k: members[start[k]] .. members[start[k + 1] - 1] */
    const double *time_us;         /* of each kernel */
    const int    *priority;        /* of each kernel; NULL: all equal */
    int           count;
} MerKernels;
/* cluster_kernels.c; false: refused, with a reason. */
bool mer_cluster_kernels(const MerCluster *cluster, const MerGraphPlan *plan, MerArena *arena,
                         MerKernels *kernels, MerCost *cost);

typedef struct MerTransferTimes { /* one result, or a part of it, over one channel */
    int    op, to;                /* to -1: all that read it */
    int    channel;               /* the first, where several are held at once */
    double bytes, ready_us, start_us, end_us;
} MerTransferTimes;

typedef struct MerMemoryStep { /* from then on */
    double time_us, bytes;
    int    unit;
} MerMemoryStep;

typedef struct MerClusterRecord { /* who wants to know when things happened; filled in `arena` */
    MerArena *arena;
    const int
           *kernel; /* of each operator: the first operator of its cluster; NULL: all run alone */
    double *ready_us, *start_us, *end_us; /* of each operator; members of a cluster run with it */
    int    *stream;
    int     transfer_count, step_count;
    MerTransferTimes *transfers; /* in the order of their starts being decided */
    MerMemoryStep    *steps;     /* as time goes on */
} MerClusterRecord;

typedef enum MerClusterEnd {
    MER_CLUSTER_DONE,
    MER_CLUSTER_REFUSED, /* not even tried */
    MER_CLUSTER_CUT,     /* passed the limit */
    MER_CLUSTER_NO_WAY,  /* `op` should go to unit `to` */
    MER_CLUSTER_CYCLE    /* `op` waits for itself: clusters that depend on each other */
} MerClusterEnd;

typedef struct MerClusterOutcome {
    MerClusterEnd end;
    int           op, to;
    double        makespan_us;
    double        busy_us; /* sum over operators, each divided by the streams of its unit */
    double       *peak;    /* bytes of each unit */
    int          *peak_op; /* what came then; -1: weights alone */
} MerClusterOutcome;

/* cluster_run.c: `scratch` holds the outcome's arrays. `record` may be NULL. */
void mer_cluster_run(const MerCluster *cluster, const MerGraphPlan *plan, const MerKernels *kernels,
                     double limit_us, MerArena *scratch, MerClusterRecord *record,
                     MerClusterOutcome *outcome);

/* cluster_plain.c: the same for plans without priorities and clusters, where `plain_ops` are there. */
void mer_cluster_run_plain(const MerCluster *cluster, const MerGraphPlan *plan, double limit_us,
                           MerArena *scratch, MerClusterOutcome *outcome);
void mer_cluster_prepare_plain(MerCluster *cluster, MerArena *arena);

/* placeto.c: the published simulator, rule by rule. */
const MerPlaceto *mer_placeto_open(const MerPlace *place, MerTieOrder ties, MerArena *arena);
void mer_placeto_run(const MerCluster *cluster, const MerGraphPlan *plan, MerArena *scratch,
                     MerClusterRecord *record, MerClusterOutcome *outcome);
/* Are the times of the graph whole microseconds, so that its rounding changes nothing? */
bool mer_placeto_is_exact(const MerPlaceto *placeto);

/* The whole, as `evaluate` does it but with a record; false: the plan cannot be simulated. */
bool mer_cluster_play(const MerCluster *cluster, const MerPlan *plan, MerClusterRecord *record,
                      MerClusterOutcome *outcome);
static inline int mer_record_kernel(const MerClusterRecord *record, int op)
{
    return record->kernel ? record->kernel[op] : op;
}

/* cluster_path.c: what the end waited for, back to the start. */
typedef struct MerPathStep {
    bool   is_transfer;
    int    index; /* first operator of a kernel, or a transfer of the record */
    double start_us, end_us;
    double wait_us; /* between the end of what it waited for and its start: gaps */
} MerPathStep;
/* Gives how many steps there are, the first one first. */
int mer_cluster_path(const MerPlace *place, const MerGraphPlan *plan,
                     const MerClusterRecord *record, MerPathStep **steps, MerArena *arena);

/* cluster_detail.c */
void        mer_cluster_detail(const void *opened, const MerPlan *plan, MerNotes *notes);
const char *mer_cluster_print(const void *opened, const MerPlan *plan, MerArena *arena);

extern const MerEvaluatorClass mer_evaluator_cluster;

#endif
