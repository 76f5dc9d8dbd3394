/* The list schedulers that differ only in the order they begin with (docs/optimizers.md, "List schedulers"): first come, first served,
 * longest processing time first, earliest deadline first. Each job goes to the core where it ends first, unless
 * options say otherwise. */
#include "schedule/solve/list_schedule.h"

#define LIST_SOLVER(solver, first_order, words)                                                    \
    static const MerOption solver##_options[] = {                                                  \
        {"order", MER_OPTION_CHOICE, offsetof(MerListChoices, order), first_order, 0, 0,           \
         MER_LIST_ORDERS},                                                                         \
        {"rule", MER_OPTION_CHOICE, offsetof(MerListChoices, rule), "mct", 0, 0, MER_LIST_RULES},  \
        {0}};                                                                                      \
    static MerStatus open_##solver(void *state, const MerSearch *search,                           \
                                   const MerProblem *problem, const MerEvaluator *evaluator,       \
                                   const void *given, MerError *error)                             \
    {                                                                                              \
        (void)evaluator;                                                                           \
        return mer_list_open(#solver, state, search, problem, given, error);                       \
    }                                                                                              \
    const MerOptimizerClass mer_optimizer_##solver = {                                             \
        .name = #solver,                                                                           \
        .summary = "list scheduling: " words ", each where it ends first",                         \
        .reference =                                                                               \
            "Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17, 1969",    \
        .options = solver##_options,                                                               \
        .options_size = sizeof(MerListChoices),                                                    \
        MER_LIST_CLASS,                                                                            \
        .open_problem = open_##solver,                                                             \
    };

LIST_SOLVER(fcfs, "input", "jobs in input order")
LIST_SOLVER(lpt, "lpt", "longest job first")
LIST_SOLVER(edf, "deadline", "earliest deadline first")
