/* Placements that are asked for one after the other. */
#include "place/solve/place_list.h"

#include <string.h>

MerStatus mer_place_solver_begin(const char *solver, const MerSearch *search,
                                 const MerProblem *problem, const MerPlace **place, MerError *error)
{
    *place = mer_place_of(problem);
    if (!*place) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "solver %s is made for problem place, not for %s", solver,
                             problem->type->name);
    }
    if (search->space->knob_count != problem->space.knob_count) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%s places all groups, it cannot work with fixed knobs (annealing and "
                             "genetic can; pin keeps operators on units)",
                             solver);
    }
    return MER_OK;
}

MerStatus mer_place_list_begin(const char *solver, MerPlaceList *list, const MerSearch *search,
                               const MerProblem *problem, MerError *error)
{
    *list = (MerPlaceList){.arena = search->arena, .knob_count = problem->space.knob_count};
    return mer_place_solver_begin(solver, search, problem, &list->place, error);
}

void mer_place_list_add(MerPlaceList *list, const int *unit)
{
    MerIndex *point = MER_ARRAY(list->arena, MerIndex, list->knob_count + 1);
    MER_GROW(list->arena, list->points, list->count);
    bool is_point = mer_place_point(list->place, unit, point);
    assert(is_point);
    (void)is_point;
    list->points[list->count++] = point;
}

int *mer_place_list_units(const MerPlaceList *list)
{
    return MER_ARRAY(list->arena, int, list->place->group_count + 1);
}

int mer_place_list_ask(void *state, MerProposal *proposals, int capacity)
{
    MerPlaceList *list = state;
    int           count = 0;
    for (; count < capacity && list->asked < list->count; count++, list->asked++) {
        memcpy(proposals[count].point, list->points[list->asked],
               (size_t)list->knob_count * sizeof(MerIndex));
    }
    return count;
}

void mer_place_list_tell(void *state, const MerTrial *trials, int count)
{
    (void)state, (void)trials, (void)count;
}
