/* Points carried from a solved task to another one (docs/scheduling-online.md, "Warm starts"): things that
 * are placed and ordered keep core and priority, matched by their rank or by what they are. */
#ifndef MERCATOR_RUN_SEARCH_WARM_TRANSFER_H
#define MERCATOR_RUN_SEARCH_WARM_TRANSFER_H

#include "mercator/arena.h"
#include "mercator/error.h"
#include "mercator/space.h"

typedef enum MerWarmMatch {
    MER_WARM_RANK, /* place in the sorted table, resampled when there are more or fewer */
    MER_WARM_LAYER /* the job with the same numbers, else the nearest */
} MerWarmMatch;

/* Does the space consist of pairs of a core and a priority per job? */
bool mer_warm_is_pairs(const MerSpace *space);

/* For each knob of `space` the knob of the old space that it takes its choice from. Rank needs nothing but the
 * number of old knobs; layer needs `old`, with the tables latency and traffic. */
void      mer_warm_map_by_rank(const MerSpace *space, int old_knobs, int *from);
MerStatus mer_warm_map_by_layer(const MerSpace *space, const MerSpace *old, int *from,
                                MerArena *arena, MerError *error);

#endif
