/* The linear relaxation of the bound, each job on the kind of core where most of it lies, longest first
 * (docs/optimizers.md, "List schedulers"). */
#include "schedule/solve/list_schedule.h"

#include "schedule/cost/bandwidth.h"

static MerStatus open_lp_round(void *state, const MerSearch *search, const MerProblem *problem,
                               const MerEvaluator *evaluator, const void *given, MerError *error)
{
    (void)given;
    const MerSchedule *schedule;
    MerJobsPlan        plan;
    MER_TRY(mer_list_begin("lp_round", problem, &schedule, error));
    mer_list_round(schedule, mer_bandwidth_rules(evaluator), search->notes, search->arena, &plan);
    mer_list_set(state, search, problem, &plan);
    return MER_OK;
}

const MerOptimizerClass mer_optimizer_lp_round = {
    .name = "lp_round",
    .summary = "the linear relaxation, rounded: each job on the kind of core where most of it lies",
    .reference = "after Lenstra, Shmoys and Tardos, Mathematical Programming 46, 1990",
    MER_LIST_CLASS,
    .open_problem = open_lp_round,
};
