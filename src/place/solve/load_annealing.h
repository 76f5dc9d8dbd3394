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

typedef struct MerLoadValue {
    double excess;    /* bytes above the limits of units */
    double period_us; /* the largest load */
} MerLoadValue;

/* `unit` of each group becomes the best placement met, the start included; gives the moves that were priced. */
int64_t mer_load_anneal(const MerLoadAnnealing *annealing, MerRng *rng, int *unit,
                        MerLoadValue *value);

/* What fits memory first, then the smaller period. */
static inline bool mer_load_is_better(const MerLoadValue *a, const MerLoadValue *b)
{
    return a->excess < b->excess || (a->excess == b->excess && a->period_us < b->period_us);
}

/* Of one placement. */
MerLoadValue mer_load_value(const MerUnitLoads *loads);

#endif
