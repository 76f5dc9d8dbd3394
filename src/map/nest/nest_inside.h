/* Inside of the space of loop nests, for the files that implement it. */
#ifndef MERCATOR_MAP_NEST_NEST_INSIDE_H
#define MERCATOR_MAP_NEST_NEST_INSIDE_H

#include "map/nest/nest.h"

/* How many factors a slot can take of `n` of a dim: an axis of a fan-out never more than it has, and no
 * slot more than a constraint says. */
int mer_nest_choices(const MerNestSpace *nest, const MerNestSlot *slot, int dim, int n);
/* The factor of `n` at `rank` among the choices, from 0. */
int mer_nest_factor_at(const MerNestSpace *nest, int n, int rank);
/* The place of a factor among the choices, -1 if it is none of them. */
int mer_nest_factor_rank(const MerNestSpace *nest, int n, int factor);

/* What fixed factors leave of a dim. */
int mer_nest_free_size(const MerNestSpace *nest, int dim);
/* The slot that takes what is left of a dim: the outermost temporal one that is free, without a limit
 * if there is one; -1 if all of the dim is fixed. */
int mer_nest_rest_slot(const MerNestSpace *nest, int dim);
/* Slots of the genomes divisors and padded in the order they take their share of a dim: fan-outs
 * first; the one that takes the rest has no knob, nor have fixed ones. Gives their number. */
int mer_nest_share_slots(const MerNestSpace *nest, int dim, int order[MER_NEST_SLOTS]);

/* Where a slot's factor of a dim stands. Here because decoding calls it for every knob. */
static inline int *mer_nest_slot_factor(MerNestLevel *levels, const MerNestSlot *slot, int dim)
{
    return &levels[slot->level].factors[slot->place][dim];
}

#endif
