/* Solvers of `schedule` that make one plan and ask for its price: what fcfs, lpt, edf, herald_like and
 * aimt_like share. */
#ifndef MERCATOR_SCHEDULE_SOLVE_LIST_SCHEDULE_H
#define MERCATOR_SCHEDULE_SOLVE_LIST_SCHEDULE_H

#include "mercator/evaluator.h"
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
/* Options of the plain list schedulers, which differ in the order they begin with. */
typedef struct MerListChoices {
    int order, rule;
} MerListChoices;
#define MER_LIST_ORDERS                                                                            \
    "input|lpt|sjf|random|deadline",                                                               \
        "jobs as given, longest first, shortest first, in random order, or by deadline"
#define MER_LIST_RULES                                                                             \
    "mct|least_loaded|round_robin|met|random",                                                     \
        "the core of a job: least completion time, least load, in turn, least latency, or any"
/* Makes the one plan that these choices give. */
MerStatus mer_list_open(const char *solver, MerListState *state, const MerSearch *search,
                        const MerProblem *problem, const MerListChoices *chosen, MerError *error);
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
                  const MerJobsPlan *plan);
/* What the classes of such solvers have in common. */
#define MER_LIST_CLASS                                                                             \
    .state_size = sizeof(MerListState), .problem = "schedule", .ask = mer_list_ask,                \
    .tell = mer_list_tell, .makes_own_plan = true
/* Also at work inside list_annealing. */
extern const MerOptimizerClass mer_optimizer_exact_schedule;
int                            mer_list_ask(void *state, MerProposal *proposals, int capacity);
void                           mer_list_tell(void *state, const MerTrial *trials, int count);

#endif
