/* Pricing given plans: what `mercator evaluate` does. */
#include "run/internal.h"

#include <math.h>

/* The plan is in task->result. */
static void price(MerRunState *run, MerRunTask *task, const char **detail)
{
    MerTaskResult *result = task->result;
    MerCall        call = {
               .scratch = run->arena, .limit_metric = MER_METRIC_COUNT, .limit = INFINITY, .exact = true};
    mer_price_plan(&task->evaluator, &task->check, &result->plan, &call, &result->best);
    result->score = mer_objective_score(&run->objective, &result->best);
    result->trials = result->evaluations = 1;
    result->stopped = "finished";
    if (result->best.feasible) {
        result->point = task->best_point;
        result->value = mer_objective_value(&run->objective, result->best.value);
        mer_run_set_gap(&run->objective, result);
    } else {
        result->infeasible = 1;
    }
    mer_run_print_plan(run, task);
    *detail = mer_run_detail(task, run->arena);
}

static MerStatus read_body(const MerProblem *problem, const MerGivenPlan *given, MerPlan *plan,
                           MerArena *arena, MerError *error)
{
    MerPlanBodyReader read = given->read ? given->read : problem->plan->read;
    if (!read) {
        return mer_error_set(error, MER_UNSUPPORTED, "plans of kind %s cannot be read back",
                             problem->plan->name);
    }
    return read(problem, given->body, plan, arena, error);
}

static MerStatus check_kind(const MerProblem *problem, const MerPlan *plan,
                            const MerEvaluatorClass *evaluator, MerError *error)
{
    if (plan->kind == problem->plan) {
        return MER_OK;
    }
    return mer_error_set(error, MER_INVALID,
                         "evaluator %s prices plans of kind %s, the plan given is of kind %s",
                         evaluator->name, problem->plan->name, plan->kind->name);
}

/* Tasks that follow each other start when those before them end. */
static MerTask place(const MerRunState *run, const MerRunTask *task, const MerTask *given)
{
    MerTask what = *given;
    if (isinf(what.start)) {
        what.start = 0;
        for (int t = 0; t < task->index; t++) {
            double cycles = run->result->tasks[t].best.value[MER_METRIC_CYCLES];
            what.start += isnan(cycles) ? 0 : cycles;
        }
    }
    return what;
}

/* A proof in the file stands if the plan still has the price it belongs to, and says more than the bound. */
static void take_recorded(const MerRunState *run, MerTaskResult *result, const MerGivenPlan *given)
{
    bool is_minimised = run->objective.direction < 0;
    if (!given->recorded.kind || !result->point || result->score != given->recorded_score) {
        return;
    }
    double bound = given->recorded.value;
    bool   is_tighter = isnan(result->bound.value) ||
                      (is_minimised ? bound > result->bound.value : bound < result->bound.value);
    bool is_beaten =
        is_minimised ? bound > result->value * (1 + 1e-9) : bound < result->value * (1 - 1e-9);
    if (is_tighter && !is_beaten) {
        result->bound = given->recorded;
        mer_run_set_gap(&run->objective, result);
        result->is_recorded = true;
    }
}

static MerStatus price_one(MerRunState *run, MerRunTask *task, MerGivenPlan *given, MerError *error)
{
    MerTaskResult *result = task->result;
    MerTask        what = place(run, task, &given->task);
    MER_TRY(mer_run_open_task(run, task, &what, error));
    result->plan = given->plan;
    if (given->body) {
        MER_TRY(read_body(&task->problem, given, &result->plan, run->arena, error));
    } else {
        MER_TRY(check_kind(&task->problem, &given->plan, run->spec->evaluator, error));
    }
    price(run, task, &given->detail);
    take_recorded(run, result, given);
    return MER_OK;
}

static MerStatus price_all(MerRunState *run, MerGivenPlan *given, int count, MerError *error)
{
    for (int t = 0; t < count; t++) {
        run->tasks[t].index = t;
        run->tasks[t].result = &run->result->tasks[t];
        run->task_count = t + 1; /* those to be closed */
        MER_TRY(price_one(run, &run->tasks[t], &given[t], error));
    }
    mer_run_add_up(run);
    MER_TRY(mer_run_export(run, error));
    run->result->has_ended = true;
    return mer_run_tell_late(run, error);
}

MerStatus mer_run_given(const MerRunSpec *spec, MerGivenPlan *given, int count, MerArena *arena,
                        MerRunResult *result, MerError *error)
{
    MerRunState run = {.spec = spec, .arena = arena, .result = result, .error = error};
    const char *objective = spec->objective ? spec->objective : spec->problem->objective;
    MER_TRY(mer_objective_parse(objective, &run.objective, arena, error));
    *result = (MerRunResult){.task_count = count,
                             .tasks = MER_ARRAY(arena, MerTaskResult, count),
                             .objective = run.objective.metric,
                             .objective_text = run.objective.text};
    run.tasks = MER_ARRAY(arena, MerRunTask, count);
    MerStatus status = price_all(&run, given, count, error);
    mer_run_close_tasks(&run);
    return status;
}
