/* Fusion: which operators may run as one kernel, and what such a kernel costs (docs/placement.md, "Fusion"). mer_place_fuse itself is
 * in place_parts.h. */
#ifndef MERCATOR_PLACE_COST_FUSION_H
#define MERCATOR_PLACE_COST_FUSION_H

#include "place/place_parts.h"

enum { MER_FUSE_MOST = 64 }; /* operators of one kernel */

typedef enum MerFuseRole {
    MER_FUSE_NEVER,     /* library calls, data movement, parameters */
    MER_FUSE_POINTWISE, /* element by element */
    MER_FUSE_VIEW,      /* reads the same bytes in another shape: costs nothing */
    MER_FUSE_ROOT,      /* products and convolutions: element-wise operators may follow */
    MER_FUSE_REDUCTION  /* element-wise operators may also come before it */
} MerFuseRole;

MerFuseRole mer_fuse_role(const MerPlace *place, int op);
/* A kernel has at most one of these. */
static inline bool mer_fuse_is_root(MerFuseRole role)
{
    return role == MER_FUSE_ROOT || role == MER_FUSE_REDUCTION;
}

typedef struct MerFusion { /* what the cost of a kernel needs; times of [op * unit_count + unit] */
    const MerPlace    *place;
    const MerFuseRole *role;
    const double
        *compute_us; /* of the operations alone; 0 where nothing is known of a simple operator */
    const bool   *is_modelled;             /* the time is the roofline, not a measurement */
    const double *moved_bytes;             /* of each operator, to and from memory */
    const double *launch_us, *us_per_byte; /* of each unit */
} MerFusion;

const MerFusion *mer_fusion_open(const MerPlace *place, MerArena *arena);

/* The time of one kernel on `unit`: `members` rising, `kernel` of each operator of the graph tells who belongs to it. `seen`: of each
 * operator, 0 before the first call, for the function's own use. Never above the sum of the members' times. */
double mer_fusion_time(const MerFusion *fusion, const int *members, int count, const int *kernel,
                       int unit, int *seen);

#endif
