/* Local moves on a loop nest: what a change leaves alone is not computed again. For local search inside
 * a solver, which knows what it changed:
 *
 *     mer_nest_delta_start(&here, model, &plan);
 *     ... change the factors of dim d in plan ...
 *     mer_nest_delta_copy(&there, &here);
 *     mer_nest_delta_move(&there, &plan, 1u << d, 0);
 *     if (there.is_feasible && there.energy < here.energy) {
 *         mer_nest_delta_copy(&here, &there);
 *     }
 */
#ifndef MERCATOR_MAP_COST_LOOPNEST_DELTA_H
#define MERCATOR_MAP_COST_LOOPNEST_DELTA_H

#include "map/cost/loopnest.h"

typedef struct MerNestDeltaLevel {
    unsigned keep;
    int      loop_count; /* loops of more than one trip, outer to inner */
    int      dim[MER_DIM_COUNT];
    double   trips[MER_DIM_COUNT];
    /* what it holds; what all its children hold together */
    double tile[MER_DIM_COUNT], array[MER_DIM_COUNT];
    int    temporal[MER_DIM_COUNT]; /* factors of the plan */
    double spatial[MER_DIM_COUNT];  /* copies below it, per dim, ... */
    double copies, reductions;      /* ... in all, and over reduction dims */
    double footprint[MER_TENSOR_COUNT];
    /* the loops of this level and all outside it */
    double outward, moves[MER_TENSOR_COUNT]; /* as in MerNestLoops */
    int    first_dim;                        /* the innermost of them; -1: there is none */
    double first_trips, first_rest, first_inside;
} MerNestDeltaLevel;

typedef struct MerNestDelta { /* the first three are the result, the rest is inside */
    bool   is_feasible;
    double cycles, energy; /* of one run of the loops, to the bit as mer_nest_price gives them */
    const MerNestModel *model;
    /* what moves to plans that do not fit left undone */
    unsigned          late_dims, late_loops, late_tiles;
    MerNestDeltaLevel levels[MER_NEST_MAX_LEVELS];
} MerNestDelta;

/* Keeps the model. Options halo=timeloop and ramp are not for local moves: false. */
bool mer_nest_delta_start(MerNestDelta *delta, const MerNestModel *model, const MerNestPlan *plan);
void mer_nest_delta_copy(MerNestDelta *to, const MerNestDelta *from);

/* Goes to a plan that differs from the last one at most in the factors of `dims` and in the order of the
 * loops of `levels` (bit masks), and keeps the same tensors. */
void mer_nest_delta_move(MerNestDelta *delta, const MerNestPlan *plan, unsigned dims,
                         unsigned levels);

#endif
