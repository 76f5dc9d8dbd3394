/* Earliest deadline first (schedule.md 7.5), each job on the core where it ends first. */
#include "solve/list_schedule.h"

#include <stddef.h>

typedef struct Options {
    int order, rule;
} Options;

static const MerOption options[] = {
    {"order", MER_OPTION_CHOICE, offsetof(Options, order), "deadline", 0, 0,
     "input|lpt|sjf|random|deadline",
     "jobs as given, longest first, shortest first, in random order, or by deadline"},
    {"rule", MER_OPTION_CHOICE, offsetof(Options, rule), "mct", 0, 0,
     "mct|least_loaded|round_robin|met|random",
     "the core of a job: least completion time, least load, in turn, least latency, or any"},
    {0}};

static MerStatus open_edf(void *state, const MerSearch *search, const MerProblem *problem,
                          const MerEvaluator *evaluator, const void *given, MerError *error)
{
    (void)evaluator;
    const Options     *chosen = given;
    const MerSchedule *schedule;
    MerJobsPlan        plan;
    MerStatus          status = mer_list_begin("edf", problem, &schedule, error);
    if (status == MER_OK) {
        MerListOptions list = {.order = (MerListOrder)chosen->order,
                               .rule = (MerListRule)chosen->rule,
                               .tenant = -1,
                               .rng = search->rng};
        mer_schedule_list(schedule, &list, search->arena, &plan);
        mer_list_set(state, search, problem, &plan);
    }
    return status;
}

const MerOptimizerClass mer_optimizer_edf = {
    .name = "edf",
    .summary = "list scheduling: earliest deadline first, each where it ends first",
    .reference = "Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17, 1969",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(MerListState),
    .problem = "schedule",
    .open_problem = open_edf,
    .ask = mer_list_ask,
    .tell = mer_list_tell,
};
