/* Operators of a placement gathered into blocks, for pictures that stay readable. */
#ifndef MERCATOR_PLACE_COST_PLACE_BLOCKS_H
#define MERCATOR_PLACE_COST_PLACE_BLOCKS_H

#include "place/place.h"

typedef struct MerPlaceBlocks {
    int          count;
    int         *of;    /* block of each operator */
    int         *unit;  /* of each block: its operators are all there */
    const char **names; /* all different */
} MerPlaceBlocks;

/* At most about `most` blocks: operators of one unit whose names begin alike, as long as names say enough, else runs of
 * neighbours in the order of the graph. */
MerPlaceBlocks mer_place_find_blocks(const MerPlace *place, const MerGraphPlan *plan, int most,
                                     MerArena *arena);

#endif
