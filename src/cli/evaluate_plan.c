/* Plan files (docs/formats.md, "Plan files"): what they name is read as experiment files are, and the
 * plans of operators carry those with them. */
#include "cli/evaluate_input.h"

#include "base/try.h"
#include "map/nest/nest_format.h"
#include "mercator/registry.h"
#include "run/experiment/experiment.h"

#include <string.h>

static MerStatus fail_at(const MerYaml *node, MerStatus status, MerArena *arena, MerError *error)
{
    const char *place = mer_arena_format(arena, "%s:%d:%d", node->file, node->line, node->column);
    return mer_experiment_fail_at(place, status, error);
}

/* NAME, or a map of what a run writes about an input: {name, hash, file}. */
static MerStatus read_input(MerYaml *root, const char *key, const char **name, MerError *error)
{
    MerYaml *node = mer_yaml_get(root, key);
    if (!node || node->kind != MER_YAML_MAP) {
        return node ? mer_yaml_text(node, name, error) : MER_OK;
    }
    mer_yaml_get(node, "hash"); /* looked at where the input is read */
    mer_yaml_get(node, "file");
    MER_TRY(mer_yaml_get_text(node, "name", name, error));
    return mer_yaml_finish(node, error);
}

static MerStatus check_evaluator(const char *text, MerArena *arena, MerError *error)
{
    MerReference reference;
    MER_TRY(mer_reference_parse(text, &reference, arena, error));
    const MerEvaluatorClass *type = mer_evaluator_find(reference.name, error);
    if (!type) {
        return MER_NOT_FOUND;
    }
    void *scratch = mer_arena_alloc(arena, type->options_size + 1);
    return type->options ? mer_options_fill(type->options, NULL, scratch, &reference, arena, error)
                         : MER_OK;
}

MerStatus mer_evaluate_names(MerYaml *root, const MerEvaluateRequest *request,
                             MerEvaluateNames *names, MerArena *arena, MerError *error)
{
    MerYaml *evaluator = mer_yaml_get(root, "evaluator");
    MER_TRY(read_input(root, "platform", &names->platform, error));
    MER_TRY(mer_yaml_get_text(root, "objective", &names->objective, error));
    if (!evaluator || request->evaluator) {
        return MER_OK;
    }
    MER_TRY(mer_experiment_plugin(MER_AXIS_EVALUATOR, evaluator, &names->evaluator, arena, error));
    return fail_at(evaluator, check_evaluator(names->evaluator, arena, error), arena, error);
}

MerStatus mer_evaluate_check_options(const MerYaml *map, const MerProblemClass *problem,
                                     const char *evaluator, MerArena *arena, MerError *error)
{
    MerReference             reference;
    const MerEvaluatorClass *type = NULL;
    if (mer_reference_parse(evaluator ? evaluator : problem->evaluator, &reference, arena, NULL) ==
        MER_OK) {
        type = mer_evaluator_find(reference.name, NULL);
    }
    for (int i = 0; i < map->count; i++) {
        const char *key = map->keys[i];
        bool        is_evaluators = type && type->options && mer_options_find(type->options, key) &&
                             !(problem->options && mer_options_find(problem->options, key));
        if (strcmp(key, "name") == 0 || mer_yaml_is_null(map->items[i])) {
            continue;
        }
        if (is_evaluators) {
            MER_TRY(mer_experiment_check(type->name, type->options, type->options_size, map, i,
                                         arena, error));
        } else {
            MER_TRY(mer_experiment_check(problem->name, problem->options, problem->options_size,
                                         map, i, arena, error));
        }
    }
    return MER_OK;
}

/* The operators that the tasks carry make the graph. */
static MerStatus read_task_op(MerYaml *task, MerGraph *graph, MerError *error)
{
    MerYaml *op_node;
    MerOp    op;
    MER_TRY(mer_yaml_check_kind(task, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_need(task, "op", &op_node, error));
    MER_TRY(mer_op_read(op_node, &op, error));
    op.name = "layer";
    MER_TRY(mer_yaml_get_text(task, "name", &op.name, error));
    mer_graph_add_op(graph, &op);
    return MER_OK;
}

/* The kind that the file says must be one its evaluator prices. */
static MerStatus check_plan_kind(const MerEvaluateJob *job, MerYaml *root, MerError *error)
{
    MerYaml    *node = mer_yaml_get(root, "kind");
    const char *kind;
    if (!node) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_text(node, &kind, error));
    for (int k = 0; k < MER_PLAN_KIND_COUNT; k++) {
        bool is_priced = job->spec.evaluator->plans >> k & 1;
        if (is_priced && strcmp(kind, mer_plan_kind_name((MerPlanKind)k)) == 0) {
            return MER_OK;
        }
    }
    return mer_yaml_expected(node, error, "a kind that evaluator %s prices",
                             job->spec.evaluator->name);
}

/* Padded plans are held against the bounds of padded factors. */
static MerStatus is_any_padded(const MerYaml *tasks, bool *is_padded, MerError *error)
{
    *is_padded = false;
    for (int t = 0; t < tasks->count; t++) {
        bool is_this = false;
        MER_TRY(mer_yaml_check_kind(tasks->items[t], MER_YAML_MAP, error));
        MER_TRY(mer_yaml_get_bool(tasks->items[t], "padded", &is_this, error));
        *is_padded = *is_padded || is_this;
    }
    return MER_OK;
}

/* Options of the problem's own map come before those of the command line, which win. */
static MerStatus read_problem(MerYaml *root, MerEvaluateRequest *request, MerEvaluateNames *names,
                              MerArena *arena, MerError *error)
{
    MerYaml     *node = mer_yaml_get(root, "problem");
    const char  *text;
    MerReference reference;
    if (!node) {
        return MER_OK;
    }
    MER_TRY(mer_experiment_plugin(MER_AXIS_WORKLOAD, node, &text, arena, error));
    MER_TRY(fail_at(node, mer_reference_parse(text, &reference, arena, error), arena, error));
    const MerProblemClass *problem = mer_problem_find(reference.name, error);
    if (!problem) {
        return fail_at(node, MER_NOT_FOUND, arena, error);
    }
    names->problem = problem->name;
    request->options = mer_experiment_join(&reference, &request->options, arena);
    const char *evaluator = request->evaluator ? request->evaluator : names->evaluator;
    return node->kind == MER_YAML_MAP
               ? mer_evaluate_check_options(node, problem, evaluator, arena, error)
               : MER_OK;
}

/* Everything but the tasks. The results of the run that wrote the file are computed anew. */
static MerStatus read_head(MerYaml *root, MerEvaluateRequest *request, MerEvaluateNames *names,
                           const char **kind, MerArena *arena, MerError *error)
{
    static const char *const passed_over[] = {"best", "bound", "tasks"};
    const char              *workload;
    MER_TRY(mer_yaml_format(root, "plan", 1, error));
    MER_TRY(mer_evaluate_names(root, request, names, arena, error));
    MER_TRY(read_problem(root, request, names, arena, error));
    MER_TRY(read_input(root, "workload", &workload, error));
    MER_TRY(mer_yaml_get_text(root, "kind", kind, error));
    for (int i = 0; i < 3; i++) {
        mer_yaml_get(root, passed_over[i]);
    }
    if (*kind && strcmp(*kind, mer_plan_kind_name(MER_PLAN_JOBS)) == 0) {
        mer_yaml_get(root, "options");
    }
    return mer_yaml_finish(root, error);
}

static MerStatus open_operators(MerEvaluateJob *job, const MerEvaluateRequest *request,
                                const MerEvaluateNames *names, MerYaml *root, MerYaml *tasks,
                                MerError *error)
{
    MER_TRY(mer_evaluate_plugins(job, request, names, error));
    MER_TRY(check_plan_kind(job, root, error));
    MerGraph *graph = mer_graph_new("plan", job->arena);
    for (int t = 0; t < tasks->count; t++) {
        MER_TRY(read_task_op(tasks->items[t], graph, error));
    }
    MER_TRY(mer_graph_finish(graph, error));
    mer_evaluate_take_graph(job, graph);
    for (int t = 0; t < tasks->count; t++) {
        job->given[t].body = tasks->items[t];
        MER_TRY(mer_yaml_get_int(tasks->items[t], "count", 1, INT64_C(1) << 40,
                                 &job->given[t].task.count, error));
        /* results of the run that wrote the file: they are computed anew */
        mer_yaml_get(tasks->items[t], "best");
        mer_yaml_get(tasks->items[t], "bound");
    }
    return MER_OK;
}

MerStatus mer_evaluate_open_plan(MerEvaluateJob *job, const MerEvaluateRequest *given,
                                 MerYaml *root, MerError *error)
{
    MerEvaluateNames   names = {0};
    MerEvaluateRequest request = *given;
    MerYaml           *tasks;
    bool               is_padded;
    const char        *kind = NULL;
    MER_TRY(read_head(root, &request, &names, &kind, job->arena, error));
    MER_TRY(mer_yaml_need(root, "tasks", &tasks, error));
    MER_TRY(mer_yaml_check_kind(tasks, MER_YAML_LIST, error));
    MER_TRY(is_any_padded(tasks, &is_padded, error));
    if (tasks->count == 0) {
        return mer_yaml_expected(tasks, error, "at least one task");
    }
    if (is_padded) {
        const char        *key = "factors", *value = "padded";
        const MerReference factors = {NULL, 1, &key, &value};
        request.options = mer_experiment_join(&request.options, &factors, job->arena);
    }
    return kind && strcmp(kind, mer_plan_kind_name(MER_PLAN_JOBS)) == 0
               ? mer_evaluate_open_jobs(job, &request, &names, root, tasks, error)
               : open_operators(job, &request, &names, root, tasks, error);
}
