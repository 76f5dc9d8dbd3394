/* The problem `place`, opened: operators with their times, groups that must share a unit, units and what lies
 * between them; for its evaluators, bounds and solvers (docs/placement.md). Times are microseconds, as in the
 * published simulators; metrics are seconds. */
#ifndef MERCATOR_PLACE_PLACE_H
#define MERCATOR_PLACE_PLACE_H

#include "mercator/problem.h"

#include <assert.h>
#include <math.h>

/* Plans of kind "graph": the unit of every operator, and, where they are decided, order and fusion. */
typedef struct MerGraphPlan {
    int  op_count, unit_count;
    int *unit;
    int *priority; /* larger first; NULL: all equal, operators run as they become ready */
    /* operators with equal numbers are one fused kernel, named by its first operator; NULL: none is fused. `level` is what
     * the clusters were made from; NULL: a file gave them */
    int *cluster, *level;
    /* of PipeDream's replication: units that share the work of stage u; the stage of an operator is its `unit`. NULL: every
     * stage has one */
    int *replicas;
    /* accelerators that do not exist, but were added so that the plan of a file can be priced */
    int absent;
} MerGraphPlan;

extern const MerPlanKind mer_plan_graph;

static inline MerGraphPlan *mer_graph_plan(const MerPlan *plan)
{
    assert(plan->kind == &mer_plan_graph);
    return plan->content;
}

/* What an importer of measured graphs attaches under "profile", arrays by operator of the graph. */
#define MER_PLACE_PROFILE "profile"
typedef struct MerPlaceProfile {
    /* times on a unit of class "cpu" and on any other; NaN: by the roofline of the unit's class; INFINITY: does not
     * run there */
    const double *host_us, *unit_us;
    const double *size;         /* bytes that stay on its unit: weights and what the file counts */
    const double *output_bytes; /* of its result, wherever it goes */
    const double *weight_bytes; /* what replicas must keep equal; NULL: all of `size` */
    /* to move the result between a unit and the host; NULL: by the links */
    const double  *transfer_us;
    const bool    *is_backward; /* NULL: none is */
    const int64_t *class_of;    /* equal values share a unit; -1: none; NULL: no classes */
    const int64_t *ids;         /* as the file numbers the operators; NULL: as it lists them */
    const int     *file_index;  /* position in the file, from 0 */
    /* as its name tells: nothing is known of its loops, so the operators themselves are MER_OP_MOVE */
    const MerOpKind *kinds;
    bool             is_pipeline; /* of training in a pipeline: PipeDream, Piper */
} MerPlaceProfile;

/* Results that leave a unit go over a route of links (platform kind "cluster"). */
typedef struct MerRoute {
    double latency_us, us_per_byte; /* of the whole route, by the platform's `routes` */
    int    count;                   /* of links; 0: there is no way */
    int   *links;
} MerRoute;

typedef struct MerPlace {
    const MerGraph    *graph;
    const MerPlatform *platform;
    int                op_count, group_count, unit_count, class_count;
    /* operators in the graph's topological order */
    const char *const *names;
    const int64_t     *ids;        /* of the file */
    const int         *file_index; /* position in the file */
    const MerOpKind   *kinds;
    const bool        *is_backward;
    const int         *group;           /* of each operator */
    const double      *time_us;         /* [op * unit_count + unit]; INFINITY: does not run there */
    const double      *size;            /* bytes that stay on its unit throughout */
    const double      *weight_bytes;    /* what replicas must keep equal; NULL: all of `size` */
    const double      *output_bytes;    /* of its result */
    const double      *workspace_bytes; /* while it runs */
    /* operations and bytes for the rooflines; NULL: times are measured, nothing else is known */
    const double *flops, *moved_bytes;
    /* to move the result of an operator between this unit and the rest: [op * unit_count + unit], 0 on hosts (maxload
     * and calls) */
    const double *transfer_us;
    bool          has_transfer_times; /* these are of the file, not of links */
    bool          is_pipeline;
    /* consumers and producers of each operator, once each: after[after_start[o]] .. after[after_start[o+1]-1], rising */
    int        edge_count;
    const int *after_start, *after, *before_start, *before;
    /* groups, numbered by their first operators */
    const char *const *group_names;
    const int         *member_start, *members; /* operators of each group, rising */
    const double      *group_us;               /* [group * unit_count + unit] */
    const double      *group_size;
    const int *choice_start, *choices; /* units that each group may take, rising; at least one */
    /* units */
    const char *const *unit_names;
    const int         *unit_class; /* equal: priced alike */
    const bool
        *is_host; /* class "cpu": memory of the host, no transfers to it in maxload and calls */
    const double   *limit;             /* bytes, INFINITY: none */
    int             accelerator_count; /* units that are no host */
    const MerRoute *routes;            /* [from * unit_count + to] */
    /* what the space decides besides units */
    bool decides_order, decides_fusion, has_replicas;
    int  levels; /* of priorities and of fusion */
} MerPlace;

/* Microseconds; INFINITY: does not run there. */
static inline double mer_place_time(const MerPlace *place, int op, int unit)
{
    return place->time_us[(size_t)op * (size_t)place->unit_count + (size_t)unit];
}

/* NULL if `problem` is another one. */
const MerPlace *mer_place_of(const MerProblem *problem);

/* How an evaluator prices: its `rules`, for bounds and solvers. */
typedef enum MerPlaceForm {
    MER_PLACE_MAXLOAD, /* metric period: the largest load of a unit */
    MER_PLACE_CALLS,   /* metric latency: each accelerator is called once per part */
    MER_PLACE_CLUSTER  /* metric makespan: events */
} MerPlaceForm;
typedef struct MerPlaceRules {
    MerPlaceForm form;
    bool         overlaps;            /* maxload: load = max(compute, transfers), not their sum */
    bool         needs_contiguous;    /* maxload: other splits are refused */
    bool         charges_activations; /* maxload of replicated stages */
    bool         ignores_limits;      /* memory and classes do not matter (published runs) */
    int          max_calls;           /* calls: parts per accelerator */
    double       bytes_per_us;        /* of weights between replicas; INFINITY: free */
    double       gap_us; /* cluster: least time that a unit rests after an operator of some cost */
    bool         fuses;  /* cluster: an operator may cost less than its time says */
} MerPlaceRules;

/* The plan of a point, all arrays in `arena`. */
void mer_place_decode(const MerPlace *place, const MerIndex *point, MerPlan *plan, MerArena *arena);
/* A plan with `unit` for every operator, and no more. */
MerGraphPlan *mer_place_new_plan(const MerPlace *place, MerPlan *plan, MerArena *arena);
/* The point that puts each group on unit[group]; what else the space decides gets its default. false: a group
 * may not go there. */
bool mer_place_point(const MerPlace *place, const int *unit, MerIndex *point);
/* The unit of each group at a point. */
void mer_place_units(const MerPlace *place, const MerIndex *point, int *unit);

/* Refuses, with the first reason of unsupported, colocation and devices that holds; true: none does. Values stay. */
bool mer_place_check(const MerPlace *place, const MerGraphPlan *plan, MerCost *cost);
/* Refuses a unit whose `bytes` are above its limit. */
bool mer_place_check_memory(const MerPlace *place, const double *bytes, MerCost *cost);

/* Has the group backward operators alone? */
bool mer_place_is_orphan(const MerPlace *place, int group);
/* Are the units of the forward operators a chain, so that no result goes back (docs/placement.md, "Contiguous")? */
bool mer_place_is_contiguous(const MerPlace *place, const MerGraphPlan *plan);

#endif
