/* Solvers of `place` that make a few placements and ask for their prices: what all of the small ones share. */
#ifndef MERCATOR_PLACE_SOLVE_PLACE_LIST_H
#define MERCATOR_PLACE_SOLVE_PLACE_LIST_H

#include "mercator/evaluator.h"
#include "place/place.h"

#include <stddef.h>

typedef struct MerPlaceList {
    const MerPlace *place;
    MerArena       *arena;
    int             knob_count, count, asked;
    MerIndex      **points;
} MerPlaceList;

/* The opened problem, or an error that names the solver: of another problem, or with fixed knobs. */
MerStatus mer_place_solver_begin(const char *solver, const MerSearch *search,
                                 const MerProblem *problem, const MerPlace **place,
                                 MerError *error);
/* An empty list. */
MerStatus mer_place_list_begin(const char *solver, MerPlaceList *list, const MerSearch *search,
                               const MerProblem *problem, MerError *error);
/* Another placement to ask for: the unit of each group. */
void mer_place_list_add(MerPlaceList *list, const int *unit);
/* Memory for such a placement. */
int *mer_place_list_units(const MerPlaceList *list);

int  mer_place_list_ask(void *state, MerProposal *proposals, int capacity);
void mer_place_list_tell(void *state, const MerTrial *trials, int count);
/* What the classes of such solvers have in common. */
#define MER_PLACE_LIST_CLASS                                                                       \
    .state_size = sizeof(MerPlaceList), .problem = "place", .ask = mer_place_list_ask,             \
    .tell = mer_place_list_tell, .makes_own_plan = true

#endif
