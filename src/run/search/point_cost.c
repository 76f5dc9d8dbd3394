/* Prices of points for optimizers that ask while they learn. They are no trials: neither counted nor logged. */
#include "run/search/task_search.h"

#include <math.h>

static bool can_price(const MerEvaluatorClass *type)
{
    return type->price || type->mode == MER_EVALUATE_PARALLEL;
}

/* The objective of a plan, minimised. */
static MerStatus price(MerTaskSearch *s, const MerPlan *plan, double *value, MerCost *cost,
                       MerError *error)
{
    const MerEvaluator *evaluator = &s->task->evaluator;
    MerCall             call = {.scratch = s->scratch,
                                .notes = &s->notes,
                                .limit_metric = MER_METRIC_COUNT,
                                .limit = INFINITY};
    if (evaluator->type->price) {
        evaluator->type->price(evaluator->state, plan, &call, cost);
    } else {
        mer_price_plan(evaluator, &s->task->check, plan, &call, cost);
    }
    if (mer_run_is_cancelled(s->run)) {
        return mer_error_set(error, MER_CANCELLED, "interrupted while a plan was priced");
    }
    mer_objective_refuse(&s->run->objective, cost);
    *value = cost->feasible ? mer_objective_value(&s->run->objective, cost->value) : NAN;
    return cost->feasible ? MER_OK : mer_error_set(error, MER_INVALID, "%s", cost->reason);
}

/* Priced once, when it is first needed: the program behind an evaluator may take long to start. */
static MerStatus find_reference(MerTaskSearch *s, MerError *error)
{
    const MerProblem   *problem = &s->task->problem;
    const MerEvaluator *evaluator = problem->inner ? problem->inner : &s->task->evaluator;
    MerPlan             plan;
    MerCost             cost;
    MerError            why = {0};
    problem->type->reference(problem, &plan, s->scratch);
    MerStatus status = price(s, &plan, &s->reference, &cost, &why);
    mer_arena_reset(s->scratch);
    if (status == MER_OK && s->reference > 0) {
        return MER_OK;
    }
    bool is_known = status == MER_OK;
    s->reference = NAN;
    return status == MER_CANCELLED
               ? mer_error_set(error, status, "%s", why.message)
               : mer_error_set(error, MER_NOT_FOUND,
                               "the plan that costs are shares of has no %s above 0 by evaluator "
                               "%s: %s",
                               s->run->objective.text, evaluator->type->name,
                               is_known ? "it costs nothing" : why.message);
}

static MerStatus share(void *state, const MerIndex *point, double *value, MerCost *cost,
                       MerError *error)
{
    MerTaskSearch    *s = state;
    const MerProblem *problem = &s->task->problem;
    MerPlan           plan;
    MerCost           own;
    if (isnan(s->reference)) {
        MER_TRY(find_reference(s, error));
    }
    mer_run_expand(s->task, point, s->priced_point);
    problem->type->decode(problem, s->priced_point, &plan, s->scratch);
    MerStatus status = price(s, &plan, value, cost ? cost : &own, error);
    mer_arena_reset(s->scratch);
    *value /= s->reference;
    return status;
}

void mer_point_cost_open(MerTaskSearch *s)
{
    const MerRunState *run = s->run;
    s->reference = NAN;
    if (can_price(s->task->evaluator.type) && s->task->problem.type->reference &&
        run->objective.direction < 0) {
        s->scratch = mer_arena_new();
        s->priced_point = MER_ARRAY(run->arena, MerIndex, s->task->problem.space.knob_count + 1);
        s->numbers = (MerPointCost){s, share};
        s->search.numbers = &s->numbers;
    }
}

void mer_point_cost_close(MerTaskSearch *s)
{
    mer_arena_free(s->scratch);
    s->scratch = NULL;
}
