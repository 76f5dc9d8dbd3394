/* Solvers of `schedule` that make one plan and ask for its price: what fcfs, lpt, edf, herald_like,
 * lp_round, aimt_like and online share. */
#ifndef MERCATOR_SCHEDULE_SOLVE_LIST_SCHEDULE_H
#define MERCATOR_SCHEDULE_SOLVE_LIST_SCHEDULE_H

#include "schedule/schedule_list.h"

#include <stddef.h>

typedef struct MerListState {
    const MerSpace *space;
    MerIndex       *point;
    bool            is_asked;
} MerListState;

/* The tables of the opened problem, or an error that names the solver. */
MerStatus mer_list_begin(const char *solver, const MerProblem *problem,
                         const MerSchedule **schedule, MerError *error);
/* Plans to start a search from, in `arena`: longest first, in input order, the rounded relaxation of the bound,
 * and by deadline if there are any. Their number. */
enum { MER_LIST_STARTS = 4 };
int mer_list_starts(const MerSchedule *schedule, const MerScheduleRules *rules, MerNotes *notes,
                    MerArena *arena, MerJobsPlan plans[MER_LIST_STARTS]);
/* The rounded relaxation alone. */
void mer_list_round(const MerSchedule *schedule, const MerScheduleRules *rules, MerNotes *notes,
                    MerArena *arena, MerJobsPlan *plan);
/* Encodes `plan` as the only point to ask for. */
void mer_list_set(MerListState *state, const MerSearch *search, const MerProblem *problem,
                  MerJobsPlan *plan);
/* What the classes of such solvers have in common. */
#define MER_LIST_CLASS                                                                             \
    .state_size = sizeof(MerListState), .problem = "schedule", .ask = mer_list_ask,                \
    .tell = mer_list_tell, .makes_own_plan = true
/* A solver that is no more than how it makes its plan, in the search's arena. */
typedef void MerListMaker(const MerSchedule *schedule, const MerSearch *search,
                          const MerEvaluator *evaluator, const void *options, MerJobsPlan *plan);
MerStatus    mer_list_open(const char *solver, MerListMaker *make, MerListState *state,
                           const MerSearch *search, const MerProblem *problem,
                           const MerEvaluator *evaluator, const void *options, MerError *error);
#define MER_LIST_SOLVER(solver, make, ...)                                                         \
    static MerStatus open_##solver(void *state, const MerSearch *search,                           \
                                   const MerProblem *problem, const MerEvaluator *evaluator,       \
                                   const void *options, MerError *error)                           \
    {                                                                                              \
        return mer_list_open(#solver, make, state, search, problem, evaluator, options, error);    \
    }                                                                                              \
    const MerOptimizerClass mer_optimizer_##solver = {                                             \
        .name = #solver, MER_LIST_CLASS, .open_problem = open_##solver, __VA_ARGS__}
/* Also at work inside list_annealing. */
extern const MerOptimizerClass mer_optimizer_exact_schedule;
int                            mer_list_ask(void *state, MerProposal *proposals, int capacity);
void                           mer_list_tell(void *state, const MerTrial *trials, int count);

#endif
