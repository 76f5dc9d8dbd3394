/* Opens every task of a workload: problem, evaluators, budgets. */
#include "run/internal.h"

#include "mercator/registry.h"

#include <math.h>
#include <string.h>

/* The problem as the MerRunSpec has it, not opened yet. */
static MerProblem blank_problem(const MerRunSpec *spec, MerArena *arena)
{
    const MerProblemClass *type = spec->problem;
    return (MerProblem){.type = type,
                        .graph = spec->graph,
                        .platform = spec->platform,
                        .options = mer_options_or_defaults(spec->problem_options, type->options,
                                                           type->options_size, arena)};
}

MerStatus mer_run_list_tasks(const MerRunSpec *spec, MerArena *arena, const MerTask **tasks,
                             int *count, MerError *error)
{
    MerProblem blank = blank_problem(spec, arena);
    if (spec->problem->tasks) {
        return spec->problem->tasks(&blank, arena, tasks, count, error);
    }
    MerTask *whole = MER_NEW(arena, MerTask);
    *whole = (MerTask){spec->name, 1, (double)(spec->graph ? spec->graph->macs : 0), -1, 0, NULL};
    *tasks = whole;
    *count = 1;
    return MER_OK;
}

static MerStatus open_evaluator(MerEvaluator *evaluator, const MerEvaluatorClass *type,
                                const void *options, const MerProblem *problem, MerArena *arena,
                                MerError *error)
{
    evaluator->type = type;
    evaluator->options = mer_options_or_defaults(options, type->options, type->options_size, arena);
    evaluator->state = mer_arena_alloc(arena, type->state_size);
    MerStatus status = type->open(evaluator->state, problem, evaluator->options, arena, error);
    if (status != MER_OK) {
        evaluator->type = NULL; /* nothing to close */
    }
    return status;
}

bool mer_evaluator_prices(const MerEvaluatorClass *type, const MerPlanKind *kind)
{
    const MerPlanKind *const *priced = type->plans;
    while (priced && *priced && *priced != kind) {
        priced++;
    }
    return priced ? *priced != NULL : kind->write != NULL;
}

/* The kind of plan that the problem makes and the evaluator prices. */
static MerStatus choose_plan(MerProblem *problem, const MerEvaluatorClass *evaluator,
                             MerError *error)
{
    for (const MerPlanKind *const *made = problem->type->plans; *made; made++) {
        if (mer_evaluator_prices(evaluator, *made)) {
            problem->plan = *made;
            return MER_OK;
        }
    }
    return mer_error_set(error, MER_INVALID, "evaluator %s does not price the plans of problem %s",
                         evaluator->name, problem->type->name);
}

/* Whoever prices plans without looking whether they fit has the problem's own evaluator, or the first that knows such
 * plans, look before. */
static MerStatus open_check(const MerRunState *run, MerRunTask *task, MerError *error)
{
    const MerPlanKind              *kind = task->problem.plan;
    const MerEvaluatorClass        *type = run->spec->evaluator;
    const char                     *name = task->problem.type->evaluator;
    const MerEvaluatorClass        *own = name ? mer_evaluator_find(name, NULL) : NULL;
    const MerEvaluatorClass *const *next = mer_evaluators();
    if (type->checks_plans || (type->needs_check && !type->needs_check(task->evaluator.state))) {
        return MER_OK;
    }
    while (!own || own == type || !own->checks_plans || !mer_evaluator_prices(own, kind)) {
        own = *next;
        if (!*next++) {
            return MER_OK;
        }
    }
    return open_evaluator(&task->check, own, NULL, &task->problem, run->arena, error);
}

/* NULL: nothing is known of how it prices. */
static const void *rules_of(const MerEvaluator *evaluator)
{
    return evaluator->type->rules ? evaluator->type->rules(evaluator->state) : NULL;
}

MerBound mer_run_bound(const MerRunTask *task, MerMetric metric)
{
    MerBound    bound = {NAN, "none", ""};
    const void *rules = rules_of(&task->evaluator);
    if (rules) {
        task->problem.type->bound(&task->problem, rules, metric, &bound);
    }
    return bound;
}

void mer_run_add_warning(MerTaskResult *result, const char *lines, MerArena *arena)
{
    if (lines) {
        result->warnings =
            mer_arena_format(arena, "%s%s", result->warnings ? result->warnings : "", lines);
    }
}

static void gather_warnings(const MerRunState *run, MerRunTask *task)
{
    const MerProblemClass   *problem = task->problem.type;
    const MerEvaluatorClass *evaluator = task->evaluator.type;
    MerMetric                objective = run->objective.metric;
    task->result->warnings = NULL;
    if (problem->warnings) {
        mer_run_add_warning(
            task->result,
            problem->warnings(&task->problem, rules_of(&task->evaluator), objective, run->arena),
            run->arena);
    }
    const char *warm = run->spec->warm ? run->spec->warm : "";
    bool        is_chain = mer_warm_is_chain(warm);
    if (is_chain && run->task_count == 1) {
        mer_run_add_warning(task->result, "--warm chain has no effect: there is one task\n",
                            run->arena);
    }
    if (*warm && !is_chain && run->spec->optimizer && run->spec->optimizer->makes_own_plan) {
        mer_run_add_warning(
            task->result,
            mer_arena_format(run->arena,
                             "%s makes a plan of its own: the points of --warm are priced, "
                             "but do not guide it\n",
                             run->spec->optimizer->name),
            run->arena);
    }
    if (evaluator->warnings) {
        mer_run_add_warning(task->result,
                            evaluator->warnings(task->evaluator.state, objective, run->arena),
                            run->arena);
    }
}

static bool is_interrupted(void *state)
{
    const MerRunState *run = state;
    return run->hooks.is_cancelled && run->hooks.is_cancelled(run->hooks.state);
}

/* A product with a factor that is always 0 is best with any plan: whoever asks for it means something else. */
static MerStatus check_zeros(const MerRunState *run, const MerRunTask *task, MerError *error)
{
    const MerEvaluator *evaluator = &task->evaluator;
    const char         *why = "";
    uint64_t zeros = evaluator->type->zeros ? evaluator->type->zeros(evaluator->state, &why) : 0;
    double   low[MER_METRIC_COUNT], high[MER_METRIC_COUNT];
    if (zeros == 0 || !run->objective.text) {
        return MER_OK;
    }
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        low[m] = zeros >> m & 1 ? 0 : 2 + m / 7.0; /* quotients of metrics differ too */
        high[m] = zeros >> m & 1 ? 0 : 3 + m / 3.0;
    }
    double value = mer_objective_value(&run->objective, low);
    bool   is_constant = value == mer_objective_value(&run->objective, high) || !isfinite(value);
    return is_constant ? mer_error_set(error, MER_INVALID,
                                       "objective %s is the same for every plan: %s; give them, or "
                                       "choose another objective such as cycles",
                                       run->objective.text, why)
                       : MER_OK;
}

/* Said before a search that could only refuse every plan. */
static MerStatus check_unknown(const MerRunState *run, const MerRunTask *task, MerError *error)
{
    const MerEvaluator *evaluator = &task->evaluator;
    const char         *why = "";
    MerMetric           missing;
    uint64_t            unknown =
        evaluator->type->unknown ? evaluator->type->unknown(evaluator->state, &why) : 0;
    for (int m = 0; m < run->spec->pareto_count; m++) {
        if (unknown >> run->spec->pareto[m] & 1) {
            return mer_error_set(error, MER_INVALID, "--pareto: no plan has %s: %s",
                                 mer_metric_info(run->spec->pareto[m])->name, why);
        }
    }
    if (!run->objective.text || mer_objective_needs(&run->objective, ~unknown, &missing)) {
        return MER_OK;
    }
    return mer_error_set(error, MER_INVALID,
                         "objective %s needs %s, which no plan has: %s; give it, or choose another "
                         "objective",
                         run->objective.text, mer_metric_info(missing)->name, why);
}

MerStatus mer_run_open_task(MerRunState *run, MerRunTask *task, const MerTask *what,
                            MerError *error)
{
    const MerRunSpec *spec = run->spec;
    task->result->task = *what;
    task->problem = blank_problem(spec, run->arena);
    task->problem.task = &task->result->task;
    task->problem.notes = run->opening;
    MER_TRY(choose_plan(&task->problem, spec->evaluator, error));
    task->problem.state = mer_arena_alloc(run->arena, spec->problem->state_size);
    MER_TRY(spec->problem->open(&task->problem, run->arena, error));
    if (!spec->problem->tasks && task->problem.graph != spec->graph) {
        task->result->task.macs = (double)task->problem.graph->macs; /* it took another one */
    }
    if (spec->inner) {
        MER_TRY(open_evaluator(&task->inner, spec->inner, spec->inner_options, &task->problem,
                               run->arena, error));
        task->problem.inner = &task->inner;
    }
    MER_TRY(open_evaluator(&task->evaluator, spec->evaluator, spec->evaluator_options,
                           &task->problem, run->arena, error));
    MER_TRY(open_check(run, task, error));
    gather_warnings(run, task);
    MER_TRY(check_zeros(run, task, error));
    MER_TRY(check_unknown(run, task, error));
    return mer_run_begin_task(run, task, error);
}

MerStatus mer_run_begin_task(MerRunState *run, MerRunTask *task, MerError *error)
{
    MerTaskResult *result = task->result;
    *result = (MerTaskResult){.task = result->task, .warnings = result->warnings};
    MER_TRY(mer_run_fix_knobs(run, task, error));
    task->best_point = MER_ARRAY(run->arena, MerIndex, task->problem.space.knob_count + 1);
    result->bound = result->reference = (MerBound){NAN, "none", ""};
    result->among = task->problem.type->covers ? task->problem.type->covers(&task->problem) : NULL;
    result->gap = result->score = result->value = NAN;
    if (run->objective.metric != MER_METRIC_COUNT) {
        result->bound = mer_run_bound(task, run->objective.metric);
    }
    if (mer_is_cancelled(task->problem.notes)) { /* the bound may have been cut short */
        return mer_error_set(
            error, MER_CANCELLED,
            "interrupted before the search could begin: the bound of %s is not complete",
            result->task.name);
    }
    return MER_OK;
}

/* A total budget is shared out by work, at least one evaluation each; the last task takes the rest. */
static void share_budget(MerRunState *run)
{
    const MerRunSpec *spec = run->spec;
    double            macs = 0;
    int64_t           left = spec->total_budget;
    for (int t = 0; t < run->task_count; t++) {
        run->tasks[t].budget = spec->budget > 0 ? spec->budget : INT64_MAX;
        macs += run->result->tasks[t].task.macs;
    }
    for (int t = 0; t < run->task_count && spec->total_budget > 0; t++) {
        MerRunTask *task = &run->tasks[t];
        double      part = macs > 0 ? task->result->task.macs / macs : 1.0 / run->task_count;
        int64_t     share = (int64_t)fmax(1, floor(part * (double)spec->total_budget));
        share = t + 1 == run->task_count || share > left ? left : share;
        task->budget = share < task->budget ? share : task->budget;
        left -= share;
    }
    for (int t = 0; t < run->task_count; t++) {
        run->tasks[t].all_budget = run->tasks[t].budget;
        mer_run_round_budget(run, &run->tasks[t]);
    }
}

void mer_run_round_budget(const MerRunState *run, MerRunTask *task)
{
    const MerProblemClass *problem = run->spec->problem;
    if (problem->round_share && task->all_budget < INT64_MAX) {
        double share =
            problem->round_share(&task->problem, run->round_number, mer_run_last_round(run));
        task->budget = (int64_t)fmax(1, floor(share * (double)task->all_budget));
    }
}

static bool has_line(const char *text, const char *line, size_t length)
{
    bool is_found = false;
    while (text && *text && !is_found) {
        size_t own = strcspn(text, "\n");
        is_found = own == length && strncmp(text, line, length) == 0;
        text += own + (text[own] == '\n');
    }
    return is_found;
}

/* Has no task before the t-th this warning? */
static bool is_new(const MerTaskResult *tasks, int t, const char *line, size_t length)
{
    for (int before = 0; before < t; before++) {
        if (has_line(tasks[before].warnings, line, length)) {
            return false;
        }
    }
    return true;
}

/* The warnings of the first tasks that have some, each once; a long list of tasks is no reason for a long list
 * here. */
static void warn(MerRunState *run)
{
    enum { SHOWN = 4 };
    int warned = 0;
    for (int t = 0; run->hooks.warn && t < run->task_count; t++) {
        const char *text = run->result->tasks[t].warnings;
        bool        has_new = false;
        while (text && *text) {
            size_t length = strcspn(text, "\n");
            if (is_new(run->result->tasks, t, text, length)) {
                warned += !has_new;
                has_new = true;
                if (warned <= SHOWN) {
                    mer_run_warn(run, mer_arena_text_n(run->arena, text, length));
                }
            }
            text += length + (text[length] == '\n');
        }
    }
    if (warned > SHOWN) {
        mer_run_warn(run,
                     mer_arena_format(run->arena, "%d more tasks have warnings, see the summary",
                                      warned - SHOWN));
    }
}

static MerStatus open_listed(MerRunState *run, const MerTask *list, MerError *error)
{
    for (int t = 0; t < run->task_count; t++) {
        MerRunTask *task = &run->tasks[t];
        task->index = t;
        task->result = &run->result->tasks[t];
        MerStatus status = mer_run_open_task(run, task, &list[t], error);
        task->problem.notes = NULL; /* they are those of the opening */
        MER_TRY(status);
    }
    return MER_OK;
}

MerStatus mer_run_open_tasks(MerRunState *run, int most, MerError *error)
{
    const MerTask *list = NULL;
    MER_TRY(mer_run_list_tasks(run->spec, run->arena, &list, &run->task_count, error));
    run->task_count = run->task_count < most ? run->task_count : most;
    run->tasks = MER_ARRAY(run->arena, MerRunTask, run->task_count);
    run->result->tasks = MER_ARRAY(run->arena, MerTaskResult, run->task_count);
    run->result->task_count = run->task_count;
    MerNotes opening = {.state = run, .is_cancelled = is_interrupted};
    run->opening = &opening;
    MerStatus status = open_listed(run, list, error);
    run->opening = NULL;
    MER_TRY(status);
    share_budget(run);
    warn(run);
    return MER_OK;
}

static void close_task(MerRunTask *task)
{
    MerEvaluator *evaluators[] = {&task->evaluator, &task->check, &task->inner};
    for (int e = 0; e < 3; e++) {
        if (evaluators[e]->type && evaluators[e]->type->close) {
            evaluators[e]->type->close(evaluators[e]->state);
        }
        *evaluators[e] = (MerEvaluator){0};
    }
    if (task->problem.state && task->problem.type->close) {
        task->problem.type->close(&task->problem);
    }
    task->problem.state = NULL;
}

void mer_run_close_tasks(MerRunState *run)
{
    for (int t = 0; run->tasks && t < run->task_count; t++) {
        close_task(&run->tasks[t]);
    }
}

MerStatus mer_run_start_task(MerRunState *run, MerRunTask *task, MerError *error)
{
    const MerProblemClass *type = run->spec->problem;
    if (!type->depends_on_start || !type->depends_on_start(&task->problem)) {
        return MER_OK;
    }
    MerTask what = task->result->task;
    what.start = 0;
    for (int t = 0; t < task->index; t++) {
        double cycles = run->tasks[t].result->best.value[MER_METRIC_CYCLES];
        what.start += run->tasks[t].result->point && !isnan(cycles) ? cycles : 0;
    }
    close_task(task);
    return mer_run_open_task(run, task, &what, error);
}
