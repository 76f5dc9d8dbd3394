/* What the policy `go` reads of a placement space: its tables, checked, the order in which it walks the operators, and
 * what a placement makes of the units (docs/placement.md, "go"). Times are seconds. */
#ifndef MERCATOR_OPT_GO_GRAPH_H
#define MERCATOR_OPT_GO_GRAPH_H

#include "mercator/arena.h"
#include "mercator/error.h"
#include "mercator/space.h"

/* What is decided of every operator beside the unit of its group. */
typedef enum MerGoTask { MER_GO_PRIORITY, MER_GO_FUSE, MER_GO_TASKS } MerGoTask;

typedef struct MerGoGraph {
    int op_count, edge_count, group_count, unit_count;
    /* operators, as the space numbers them: a topological order */
    const int    *group, *kind;
    const bool   *is_backward;
    const double *op_time; /* (op, unit); INFINITY: does not run there */
    const double *op_work; /* time on the unit where it is least */
    const double *size, *bytes, *transfer;
    const int    *from, *to;              /* of each edge */
    const int    *before_start, *before;  /* producers of each operator */
    const int    *after_start, *after;    /* and consumers */
    const int    *member_start, *members; /* operators of each group */
    const double *time;                   /* (group, unit); INFINITY: not allowed */
    const double *group_size, *work;      /* work: time on the unit where it is least */
    const double *limit, *speed;          /* of each unit; speed: work / time, in all */
    const bool   *is_host;
    double        mean_load; /* all work, shared by speed */
    /* the order: operators, and groups along it */
    const int *op_order, *op_rank; /* sequence of operators, and back */
    const int *depth;              /* edges of the longest way from a source */
    /* times of the longest ways that end and that begin with each operator */
    const double *until, *onward;
    uint64_t      fingerprint; /* of operators and edges, however they are numbered */
    const int    *group_order, *group_rank;
    const double *position; /* of each group: work before its middle, 0 .. 1 */
    /* gaps between groups along the order, group_count + 1: work before, and transfers over it */
    const double *gap_position, *gap_cost;
    const int    *lane;  /* units along the order: hosts last */
    const double *share; /* of the work before the end of each lane, by speed */
    /* knobs: -1 where there is none */
    const int *unit_knob;                /* of each group */
    const int *level_knob[MER_GO_TASKS]; /* of each operator */
    int        levels[MER_GO_TASKS];     /* 0: not decided */
} MerGoGraph;

#define MER_GO_TABLES                                                                              \
    "limit host time size group op_kind op_time op_size op_bytes op_transfer op_backward edge"

/* All of it in `arena`; the space must outlive it. */
MerStatus mer_go_graph_read(MerGoGraph *graph, const MerSpace *space, MerArena *arena,
                            MerError *error);
/* go_order.c: fills the order, from the rest. */
void mer_go_graph_order(MerGoGraph *graph, MerArena *arena);

static inline bool mer_go_allows(const MerGoGraph *graph, int group, int unit)
{
    return graph->time[(int64_t)group * graph->unit_count + unit] < 1e300;
}

/* Cuts of the order, lanes - 1 gaps in any order: a group lies in the lane after as many cuts as lie before it. Fills the
 * unit of each group: the nearest one that it may take and that has memory for it. */
void mer_go_cut(const MerGoGraph *graph, const int *cuts, int *unit);

/* go_rules.c: levels of all operators by a simple rule; the first one leaves all at 0. `levels` are along the order. */
enum { MER_GO_RULES = 5 };
void mer_go_rule(const MerGoGraph *graph, MerGoTask task, int rule, int *levels);

#endif
