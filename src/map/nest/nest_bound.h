/* What no loop nest of a layer can beat on a pe-array (docs/loopnest-model.md, "Bounds"). */
#ifndef MERCATOR_MAP_NEST_NEST_BOUND_H
#define MERCATOR_MAP_NEST_NEST_BOUND_H

#include "map/nest/layer_shape.h"
#include "mercator/platform.h"

/* Least words a buffer of some size must exchange with its parent: Q(S) of docs/loopnest-model.md, "Bounds". */
typedef struct MerTrafficBound {
    double total; /* reads and writes at the parent */
    double reads; /* W, I and re-read O alone, over their own best tile */
} MerTrafficBound;

typedef struct MerNestBound { /* of one run of the loops */
    double cycles, energy;
    bool   is_padded; /* it holds for factors that run past the layer */
    /* the parts, for tests and reports */
    double          units;      /* U*: most MACs at once */
    double          reductions; /* largest spatial reduction */
    MerTrafficBound outer;      /* between the outermost memory and the chip */
} MerNestBound;

/* `is_padded`: for nests whose factors may run past the layer. */
void mer_nest_bound(const MerLayerShape *shape, const MerPlatform *platform, bool is_padded,
                    MerNestBound *bound);

#endif
