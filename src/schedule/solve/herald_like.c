/* Herald-like list scheduling (our reading of Kwon et al., HPCA 2021; docs/optimizers.md, "List
 * schedulers"): models in turn, each job where it ends first, unless the loads of the cores drift apart. */
#include "schedule/solve/list_schedule.h"

#include <stddef.h>

typedef struct Options {
    double imbalance, slowdown;
} Options;

static const MerOption options[] = {
    {"imbalance", MER_OPTION_REAL, offsetof(Options, imbalance), "1.5", 1, 1e6, NULL,
     "largest load over smallest load that is accepted"},
    {"slowdown", MER_OPTION_REAL, offsetof(Options, slowdown), "2", 1, 1e6, NULL,
     "how much slower than the best core one may be to take a job for balance"},
    {0}};

static MerStatus open_herald_like(void *state, const MerSearch *search, const MerProblem *problem,
                                  const MerEvaluator *evaluator, const void *given, MerError *error)
{
    (void)evaluator;
    const Options     *chosen = given;
    const MerSchedule *schedule;
    MerJobsPlan        plan;
    MerListOptions     list = {.order = MER_LIST_ROUND_ROBIN,
                               .rule = MER_LIST_BALANCED,
                               .tenant = -1,
                               .imbalance = chosen->imbalance,
                               .slowdown = chosen->slowdown};
    MER_TRY(mer_list_begin("herald_like", problem, &schedule, error));
    mer_schedule_list(schedule, &list, search->arena, &plan);
    mer_list_set(state, search, problem, &plan);
    return MER_OK;
}

const MerOptimizerClass mer_optimizer_herald_like = {
    .name = "herald_like",
    .summary = "list scheduling for unequal cores: ends first, kept in balance",
    .reference =
        "after Kwon et al., Heterogeneous Dataflow Accelerators for Multi-DNN Workloads, HPCA 2021",
    .options = options,
    .options_size = sizeof(Options),
    MER_LIST_CLASS,
    .open_problem = open_herald_like,
};
