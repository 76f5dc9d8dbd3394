/* Groups of operators that go to units, as the tables of a space say it: for policies that place one group after
 * another. Which tables: docs/placement.md, "Tables". */
#ifndef MERCATOR_OPT_PLACER_GRAPH_H
#define MERCATOR_OPT_PLACER_GRAPH_H

#include "mercator/arena.h"
#include "mercator/error.h"
#include "mercator/space.h"

#define MER_PLACER_TABLES                                                                          \
    "limit host link time size group op_bytes op_kind op_backward op_transfer edge"

typedef struct MerPlacerNeighbour { /* of a group, as often as there are edges */
    int group, side;                /* -1: it produces what the group reads, 1: it reads a result */
} MerPlacerNeighbour;

typedef struct MerPlacerGraph {
    const MerSpace *space;
    int             group_count, unit_count, op_count, edge_count;
    const double   *time;           /* [group * unit_count + unit] s, INFINITY: not allowed */
    const double   *size;           /* bytes of each group */
    const double   *limit;          /* bytes of each unit, INFINITY: none */
    const double   *host;           /* of each unit; not 0: moving results costs it nothing */
    const double   *link;           /* [unit * unit_count + unit] s per byte */
    const double   *op_bytes;       /* of its result */
    const double   *op_send;        /* s to move its result; 0: by `link` */
    const double   *op_kind;        /* MerOpKind */
    const double   *op_back;        /* not 0: of the backward pass */
    const int      *group;          /* of each operator */
    const int      *op_start, *ops; /* operators of each group: ops[op_start[g]] .., rising */
    /* producers and consumers of each operator that are in other groups */
    const int *before_start, *before, *after_start, *after;
    const int *near_start; /* neighbours of each group: near[near_start[g]] .., producers first */
    const MerPlacerNeighbour *near;
    const int                *knob; /* of each group, -1: its unit is not to be decided */
    const int
        *choice; /* [group * unit_count + unit]: of its knob, -1: the group may not go there */
    const int *fallback; /* of each group: the fastest unit where it may go */
    /* groups with a knob in the order in which they are placed, and the place of each, -1: none */
    int           order_count;
    const int    *order, *position;
    const double *work;  /* of each group: s on its fastest unit */
    double        total; /* of `work` */
    double        ideal; /* s: all work divided over all units without loss; > 0 */
    double        worst; /* s: all on the slowest unit alone */
} MerPlacerGraph;

/* Everything lives in `arena`; the space must outlive it. Refuses, in the name of `who`, a space that lacks a table
 * or the knobs. */
MerStatus mer_placer_graph(const MerSpace *space, const char *who, MerArena *arena,
                           MerPlacerGraph *graph, MerError *error);

/* Seconds that the result of `op` needs from one unit to another. */
double mer_placer_send(const MerPlacerGraph *graph, int op, int from, int to);
/* The same for all results of a group that others read, from the first unit to the last. */
double mer_placer_group_send(const MerPlacerGraph *graph, int group);
/* Where a group ends up that is sent to `unit`: there, or at its fallback. */
int mer_placer_unit(const MerPlacerGraph *graph, int group, int unit);

#endif
