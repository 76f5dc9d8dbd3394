/* Many loop nests at once: the same model as loopnest_model.c, one plan per lane of a vector. */
#ifndef MERCATOR_MAP_COST_LOOPNEST_BATCH_H
#define MERCATOR_MAP_COST_LOOPNEST_BATCH_H

#include "map/cost/loopnest.h"

enum { MER_NEST_LANES = 8 };

typedef struct MerNestFigures { /* what the metrics of a cost are made from, per plan */
    double cycles[MER_NEST_LANES], energy[MER_NEST_LANES];
    double words[MER_NEST_LANES]; /* to and from the outermost memory */
    bool   is_priced[MER_NEST_LANES];
} MerNestFigures;

/* Prices plans[0 .. MER_NEST_LANES-1], each to the bit as mer_nest_price does. Left alone (is_priced is
 * false) are plans that do not fit or whose counts are too large to be exact, and all of them if they
 * do not keep the same tensors, if one is not in the form that decoding gives, and where the model needs
 * what is not here (halo=timeloop, ramp, constraints). Vectors are as wide as the machine has them, at most `bits`
 * (128, 256 or 512). */
void mer_nest_price_lanes(const MerNestModel *model, const MerNestPlan *const *plans, int bits,
                          MerNestFigures *figures);

#endif
