/* Iteration cases of one cluster level, grouped. What a unit computes depends only on which rows
 * stand at a partial tile (an edge set); what it takes in only on the innermost row that moved and
 * on the spatial rows at an edge. So the up to 3^n cases of n moving rows need 2^n edge sets times
 * n + 1 movers, and products over rows factor into a temporal and a spatial part. */
#ifndef MERCATOR_LAYER_DATACENTRIC_CASES_H
#define MERCATOR_LAYER_DATACENTRIC_CASES_H

#include "layer/datacentric_levels.h"

enum { MER_DATACENTRIC_SETS = 1 << MER_DATACENTRIC_DIMS };

typedef struct MerDatacentricSet { /* cases with one set of rows at an edge */
    int64_t  outputs, macs;        /* temporal part of what a unit computes */
    int64_t  count;                /* ways the rows outside the last one of the set can stand */
    int      last;    /* index into `movers` of the innermost row of the set, -1: none */
    unsigned rows;    /* bit per row whose partial tile differs from the whole one */
    unsigned spatial; /* bit per spatial row (0: first, 1: second) at an edge */
} MerDatacentricSet;

typedef struct MerDatacentricCases {
    const MerDatacentricLevel *level;
    int                        mover_count;
    int                        mover[MER_DATACENTRIC_ROWS];  /* rows with more than one state */
    int64_t                    steady[MER_DATACENTRIC_ROWS]; /* per mover; 0: no steady state */
    int               edge[MER_DATACENTRIC_ROWS]; /* per mover: bit of its edge, -1: none */
    bool              init_edge[MER_DATACENTRIC_ROWS];
    bool              see[2];                 /* per spatial row, at its edge */
    unsigned          fixed_spatial;          /* spatial rows that begin at their edge */
    int               edge_count, set_count;  /* set_count = 2^edge_count */
    int64_t           in_full[2], in_slid[2]; /* temporal part of input and filter */
    int               last_mover[2];          /* innermost row of the tensor that moves, -1 */
    MerDatacentricSet set[MER_DATACENTRIC_SETS];
} MerDatacentricCases;

/* Spatial parts for one set of spatial edges. */
typedef struct MerDatacentricShares {
    int64_t egress, critical, macs;
} MerDatacentricShares;

/* Groups the cases of `level`; extent i belongs to row i. */
void mer_datacentric_group(const MerDatacentricLevel *level, const int64_t *extents,
                           MerDatacentricCases *cases);
/* `with_macs`: also the share of the array's multiplications, which only the first level needs. */
void mer_datacentric_share(const MerDatacentricCases *cases, unsigned spatial, bool with_macs,
                           MerDatacentricShares *shares);
/* What the array takes in of a tensor when `mover` (-1: the first case) is innermost to move. */
int64_t mer_datacentric_ingress(const MerDatacentricCases *cases, int tensor, int mover,
                                unsigned spatial);
/* Which sets of spatial edges a mover can meet: those with rows at or outside it. */
unsigned mer_datacentric_spatial_edges(const MerDatacentricCases *cases, int mover);

#endif
