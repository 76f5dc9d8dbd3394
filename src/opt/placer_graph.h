/* Groups of operators that go to units, as the tables of a space say it: for policies that place group after group. */
#ifndef MERCATOR_OPT_PLACER_GRAPH_H
#define MERCATOR_OPT_PLACER_GRAPH_H

#include "mercator/arena.h"
#include "mercator/error.h"
#include "mercator/space.h"

typedef struct MerPlacerGraph {
    const MerSpace *space;
    int             group_count, unit_count, op_count, edge_count;
    const double   *time;       /* [group * unit_count + unit] s, INFINITY: not allowed */
    const double   *size;       /* bytes of each group */
    const double   *limit;      /* bytes of each unit, INFINITY: none */
    const double   *host;       /* of each unit: 1: its memory is the host's */
    const double   *link;       /* [unit * unit_count + unit] s per byte */
    const double   *op_bytes;   /* of its result */
    const double   *op_send;    /* s to move its result; 0: by `link` */
    const double   *op_kind;    /* MerOpKind */
    const double   *op_back;    /* 1: of the backward pass */
    const int      *group;      /* of each operator */
    const int      *op_start;   /* operators of each group: ops[op_start[g]] .. */
    const int      *ops;        /* rising */
    /* producers and consumers of each operator in other groups */
    const int *before_start, *before, *after_start, *after;
    const int *order;   /* groups, in the order in which they are placed */
    const int *at;      /* and back */
    const double *work; /* of each group: s on its fastest unit */
    double     total;   /* of `work` */
    double     ideal;   /* s: all work divided over all units without loss */
} MerPlacerGraph;

/* Everything lives in `arena`; the space must outlive it. Refuses a space without one of the tables. */
MerStatus mer_placer_graph(const MerSpace *space, const char *who, MerArena *arena,
                           MerPlacerGraph *graph, MerError *error);

/* Seconds that the result of `op` needs from one unit to another. */
double mer_placer_send(const MerPlacerGraph *graph, int op, int from, int to);
/* The choice of the group's knob that means `unit`; -1: none. */
int mer_placer_choice(const MerPlacerGraph *graph, int group, int unit);

#endif
