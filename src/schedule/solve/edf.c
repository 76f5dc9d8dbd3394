/* Earliest deadline first (docs/optimizers.md, "List schedulers"), each job on the core where it ends first. */
#include "schedule/solve/list_schedule.h"

static const MerOption options[] = {
    {"order", MER_OPTION_CHOICE, offsetof(MerListChoices, order), "deadline", 0, 0,
     MER_LIST_ORDERS},
    {"rule", MER_OPTION_CHOICE, offsetof(MerListChoices, rule), "mct", 0, 0, MER_LIST_RULES},
    {0}};

static MerStatus open_edf(void *state, const MerSearch *search, const MerProblem *problem,
                          const MerEvaluator *evaluator, const void *given, MerError *error)
{
    (void)evaluator;
    return mer_list_open("edf", state, search, problem, given, error);
}

const MerOptimizerClass mer_optimizer_edf = {
    .name = "edf",
    .summary = "list scheduling: earliest deadline first, each where it ends first",
    .reference = "Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17, 1969",
    .options = options,
    .options_size = sizeof(MerListChoices),
    .state_size = sizeof(MerListState),
    .problem = "schedule",
    .open_problem = open_edf,
    .ask = mer_list_ask,
    .tell = mer_list_tell,
    .makes_own_plan = true,
};
