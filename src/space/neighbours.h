/* Small changes of a point, chosen by the kind of knob: what local search walks along. */
#ifndef MERCATOR_SPACE_NEIGHBOURS_H
#define MERCATOR_SPACE_NEIGHBOURS_H

#include "mercator/arena.h"
#include "mercator/space.h"

/* Knobs that belong together. */
typedef struct MerKnobGroups {
    int  count;
    int *start; /* count + 1, into `knobs` */
    int *knobs;
    int *of_knob; /* group of a knob, -1: none */
} MerKnobGroups;

typedef struct MerMoves {
    const MerSpace *space;
    int             single_count; /* knobs that are changed alone: not RANK, more than one choice */
    int            *singles;
    MerKnobGroups   ranks; /* sorted together: RANK knobs of one role and level */
    /* may exchange their choices: same role, level, kind, number of choices */
    MerKnobGroups peers;
    MerKnobGroups kin; /* parts of one thing: same role, dimension, operator, kind */
} MerMoves;

void mer_moves_make(MerMoves *moves, const MerSpace *space, MerArena *arena);
/* One small change: a knob or two take new choices, two exchange theirs, a dimension moves as a whole,
 * or a loop changes its place. */
void mer_moves_step(const MerMoves *moves, MerRng *rng, MerIndex *point);

/* Groups of at least `least` knobs that stand in an equivalence relation (with itself included: a knob
 * that is not related to itself is in no group). */
typedef bool MerKnobRelation(const MerKnob *a, const MerKnob *b);
void mer_knob_groups_make(MerKnobGroups *groups, const MerSpace *space, MerKnobRelation *relation,
                          int least, MerArena *arena);
/* The RANK knobs that are sorted together. */
void mer_rank_groups(MerKnobGroups *groups, const MerSpace *space, MerArena *arena);

enum { MER_RANKS_MOVED = 16 };
/* Reorders at most MER_RANKS_MOVED rank knobs (each with at least `count` choices): the one at place
 * `from` goes to place `to`, the others close up. Places are by rank, ties by knob. */
void mer_ranks_move(const int *knobs, int count, int from, int to, MerIndex *point);

#endif
