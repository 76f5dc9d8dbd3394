/* Small changes of a point, chosen by the kind of knob: what local search walks along. */
#ifndef MERCATOR_SPACE_NEIGHBOURS_H
#define MERCATOR_SPACE_NEIGHBOURS_H

#include "mercator/arena.h"
#include "mercator/space.h"

typedef struct MerMoves {
    const MerSpace *space;
    int             single_count;   /* knobs that are changed alone: not RANK, more than one choice */
    int            *singles;
    int             group_count;    /* two or more RANK knobs sorted together: same role and level */
    int            *group_start;    /* group_count + 1 */
    int            *group_knobs;
} MerMoves;

void mer_moves_make(MerMoves *moves, const MerSpace *space, MerArena *arena);
/* Changes one knob or two, or swaps two ranks of one group. */
void mer_moves_step(const MerMoves *moves, MerRng *rng, MerIndex *point);

#endif
