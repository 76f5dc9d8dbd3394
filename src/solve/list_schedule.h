/* Solvers of `schedule` that make one plan and ask for its price: what fcfs, lpt, edf, herald_like and
 * aimt_like share. */
#ifndef MERCATOR_SOLVE_LIST_SCHEDULE_H
#define MERCATOR_SOLVE_LIST_SCHEDULE_H

#include "mercator/evaluator.h"
#include "problem/schedule_list.h"

typedef struct MerListState {
    const MerSpace *space;
    MerIndex       *point;
    bool            is_asked;
} MerListState;

/* The tables of the opened problem, or an error that names the solver. */
MerStatus mer_list_begin(const char *solver, const MerProblem *problem,
                         const MerSchedule **schedule, MerError *error);
/* Encodes `plan` as the only point to ask for. */
void mer_list_set(MerListState *state, const MerSearch *search, const MerProblem *problem,
                  const MerJobsPlan *plan);
int  mer_list_ask(void *state, MerProposal *proposals, int capacity);
void mer_list_tell(void *state, const MerTrial *trials, int count);

#endif
