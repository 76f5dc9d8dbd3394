/* Pricing one given plan: what `mercator evaluate` does. */
#include "run/internal.h"

#include "base/yaml.h"

#include <math.h>
#include <string.h>

typedef struct Details { /* notes of an evaluator gathered into one JSON object */
    MerJson json;
} Details;

static void gather(void *state, const char *name, const char *value)
{
    Details *details = state;
    mer_json_raw(&details->json, name, value);
}

/* The plan is in task->result. */
static void price(MerRunState *run, MerRunTask *task, const char **detail)
{
    MerTaskResult *result = task->result;
    MerCall call = {.scratch = run->arena, .limit_metric = MER_METRIC_COUNT, .limit = INFINITY, .exact = true};
    task->evaluator.type->evaluate(task->evaluator.state, &result->plan, &call, &result->best);
    result->score = mer_objective_score(&run->objective, &result->best);
    result->trials = result->evaluations = 1;
    result->stopped = "finished";
    if (result->best.feasible) {
        result->point = task->best_point;
        result->value = mer_objective_value(&run->objective, result->best.value);
        result->gap = mer_objective_gap(&run->objective, result->value, result->bound.value);
        result->is_proven = result->gap <= 1e-12;
    } else {
        result->infeasible = 1;
    }
    mer_run_print_plan(run, task);
    if (detail && task->evaluator.type->detail) {
        Details details = {0};
        MerNotes notes = {.state = &details, .note = gather};
        mer_json_object(&details.json, NULL);
        task->evaluator.type->detail(task->evaluator.state, &result->plan, &notes);
        mer_json_end_object(&details.json);
        *detail = mer_arena_text(run->arena, details.json.text);
        mer_json_free(&details.json);
    }
}

static MerStatus read_body(const MerProblem *problem, const MerYaml *body, MerPlan *plan, MerArena *arena,
                           MerError *error)
{
    if (!problem->type->read_plan) {
        return mer_error_set(error, MER_UNSUPPORTED, "plans of problem %s cannot be read back", problem->type->name);
    }
    return problem->type->read_plan(problem, body, plan, arena, error);
}

static MerStatus check_kind(const MerProblem *problem, const MerPlan *plan, const MerEvaluatorClass *evaluator,
                            MerError *error)
{
    if (plan->kind == problem->plan) {
        return MER_OK;
    }
    return mer_error_set(error, MER_INVALID, "evaluator %s prices plans of kind %s, the plan given is of kind %s",
                         evaluator->name, mer_plan_kind_name(problem->plan), mer_plan_kind_name(plan->kind));
}

/* Either `body` or `plan` is given. */
static MerStatus price_given(const MerRunSpec *spec, const MerTask *what, const MerYaml *body, const MerPlan *plan,
                             MerArena *arena, MerTaskResult *result, const char **detail, MerError *error)
{
    MerRunResult whole = {0};
    MerRunState run = {.spec = spec, .arena = arena, .result = &whole, .error = error};
    const char *objective = spec->objective ? spec->objective : spec->problem->objective;
    MerStatus status = mer_objective_parse(objective, &run.objective, arena, error);
    if (status != MER_OK) {
        return status;
    }
    MerRunTask task = {.result = result};
    *result = (MerTaskResult){0};
    run.tasks = &task;
    run.task_count = 1;
    status = mer_run_open_task(&run, &task, what, error);
    if (status == MER_OK && plan) {
        result->plan = *plan;
        status = check_kind(&task.problem, plan, spec->evaluator, error);
    } else if (status == MER_OK) {
        status = read_body(&task.problem, body, &result->plan, arena, error);
    }
    if (status == MER_OK) {
        price(&run, &task, detail);
    }
    mer_run_close_tasks(&run);
    return status;
}

MerStatus mer_run_plan(const MerRunSpec *spec, const MerTask *what, const MerYaml *body, MerArena *arena,
                       MerTaskResult *result, const char **detail, MerError *error)
{
    return price_given(spec, what, body, NULL, arena, result, detail, error);
}

MerStatus mer_run_price(const MerRunSpec *spec, const MerTask *what, const MerPlan *plan, MerArena *arena,
                        MerTaskResult *result, const char **detail, MerError *error)
{
    return price_given(spec, what, NULL, plan, arena, result, detail, error);
}
