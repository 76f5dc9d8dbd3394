/* Contiguous splits of a graph for max load (docs/placement.md, "Exact splits"): a chain of down-sets, one unit for each
 * difference. Both functions work with the rules of `maxload`; where an evaluator prices otherwise their splits are a
 * start and no optimum. Scratch memory is the arena's. */
#ifndef MERCATOR_PLACE_SOLVE_IDEALS_H
#define MERCATOR_PLACE_SOLVE_IDEALS_H

#include "place/place.h"

#include "mercator/notes.h"
#include "mercator/threads.h"

typedef struct MerIdealLimits {
    int64_t stored;   /* down-sets, the empty one included */
    int64_t explored; /* candidates that are looked at while they are listed */
} MerIdealLimits;

/* The best contiguous split, or, where the graph has more down-sets than `limits` allow or `notes` says stop, the best one of a
 * chain: `is_proven` tells which. `unit_of_group` gets the unit of every group, `value_us` the largest load. false: there
 * is no such split within memory (proven if `is_proven`). `notes` and `pool` may be NULL; the result does not depend
 * on the pool. */
bool mer_place_ideal_split(const MerPlace *place, const MerPlaceRules *rules,
                           const MerIdealLimits *limits, MerNotes *notes, MerPool *pool,
                           int *unit_of_group, double *value_us, bool *is_proven, MerArena *arena);

/* The best cuts of one chain: groups by `order` (each group once) as far as dependencies allow, NULL: depth first.
 * Groups that depend on each other both ways stay together. false: no cuts of this chain fit memory. */
bool mer_place_chain_split(const MerPlace *place, const MerPlaceRules *rules, const int *order,
                           MerNotes *notes, int *unit_of_group, double *value_us, MerArena *arena);

/* Down-sets of the contracted graph, the empty one included; -1: more than `limits` allow. */
int64_t mer_place_count_ideals(const MerPlace *place, const MerPlaceRules *rules,
                               const MerIdealLimits *limits, MerArena *arena);

#endif
