/* Annealing of the largest load, from coarse parts to single groups (docs/placement.md, "Multilevel annealing"). */
#ifndef MERCATOR_PLACE_SOLVE_LOAD_ANNEALING_H
#define MERCATOR_PLACE_SOLVE_LOAD_ANNEALING_H

#include "mercator/notes.h"
#include "place/solve/load_levels.h"

typedef struct MerLoadAnnealing {
    const MerLoadTables *tables; /* of single groups */
    const MerPlaceRules *rules;
    int64_t              moves;
    double               hot, cold; /* temperatures, as parts of the mean load */
    bool                 has_start; /* `unit` is a placement to begin with; else a random one is */
    MerNotes            *notes;     /* asked whether to stop */
} MerLoadAnnealing;

/* `unit` of each group becomes the best placement met, the start included; gives the moves that were priced. */
int64_t mer_load_anneal(const MerLoadAnnealing *annealing, MerRng *rng, int *unit,
                        MerPlaceValue *value);

#endif
