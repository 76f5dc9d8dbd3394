/* Coarser and coarser tables of one graph: parts joined by dear transfers become one, so that a search moves them together first and
 * apart later, as multilevel partitioners do (docs/placement.md, "Multilevel annealing"). */
#ifndef MERCATOR_PLACE_SOLVE_LOAD_LEVELS_H
#define MERCATOR_PLACE_SOLVE_LOAD_LEVELS_H

#include "mercator/rng.h"
#include "place/solve/unit_loads.h"

enum { MER_LOAD_LEVELS = 32 };

typedef struct MerLoadLevels {
    int                  count; /* tables[0]: every group alone */
    const MerLoadTables *tables[MER_LOAD_LEVELS];
} MerLoadLevels;

/* In `arena`; `rules` and `rng` are borrowed. `unit`: of each group; only what shares a unit is joined, so that the placement is one of
 * every level; NULL: whatever fits together. */
void mer_load_levels_build(MerLoadLevels *levels, const MerLoadTables *finest,
                           const MerPlaceRules *rules, const int *unit, MerRng *rng,
                           MerArena *arena);

#endif
