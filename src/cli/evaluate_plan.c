/* Plan files (docs/formats.md, "Plan files"): what they name is read as experiment files are. The workload is what the tasks
 * carry, or it is read again and must be the same one; the platform is the one that the run left beside the plan. */
#include "cli/evaluate_input.h"
#include "cli/request.h"

#include "base/option_json.h"
#include "mercator/import.h"
#include "mercator/registry.h"
#include "mercator/text.h"
#include "run/experiment/experiment.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    MER_TRY(mer_experiment_inner(&reference, NULL, &(MerRunSpec){.evaluator = type}, arena, error));
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
    return mer_experiment_fail_in(evaluator, check_evaluator(names->evaluator, arena, error),
                                  error);
}

/* Options in a map, of the problem or of its evaluator, each checked where it stands. */
static MerStatus check_map(const MerYaml *map, const MerEvaluateRequest *request,
                           const MerEvaluateNames *names, MerArena *arena, MerError *error)
{
    const MerProblemClass   *problem = mer_problem_find(names->problem, NULL);
    const char              *evaluator = request->evaluator ? request->evaluator
                                         : names->evaluator ? names->evaluator
                                                            : problem->evaluator;
    const MerEvaluatorClass *type = mer_experiment_evaluator(evaluator, arena);
    for (int i = 0; i < map->count; i++) {
        const char *key = map->keys[i];
        if (strcmp(key, "name") == 0 || mer_yaml_is_null(map->items[i])) {
            continue;
        }
        if (type && mer_options_find(type->options, key) &&
            !mer_options_find(problem->options, key)) {
            MER_TRY(mer_experiment_check(type->name, type->options, type->options_size, map, i,
                                         arena, error));
        } else {
            MER_TRY(mer_experiment_check(problem->name, problem->options, problem->options_size,
                                         map, i, arena, error));
        }
    }
    return MER_OK;
}

/* The problem of a file that does not name it is the one that makes plans of its kind. */
static const char *problem_of_kind(const char *kind)
{
    for (const MerProblemClass *const *problem = mer_problems(); kind && *problem; problem++) {
        for (const MerPlanKind *const *made = (*problem)->plans; *made; made++) {
            if (strcmp((*made)->name, kind) == 0) {
                return (*problem)->name;
            }
        }
    }
    return mer_problems()[0]->name;
}

/* The kind that the file says must be one its evaluator prices. */
static MerStatus check_kind(const MerEvaluation *evaluation, MerYaml *root, MerError *error)
{
    MerYaml    *node = mer_yaml_get(root, "kind");
    const char *kind;
    if (!node) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_text(node, &kind, error));
    const MerPlanKind *const *priced = evaluation->spec.evaluator->plans;
    while (priced && *priced && strcmp(kind, (*priced)->name) != 0) {
        priced++;
    }
    if (!priced || *priced) {
        return MER_OK;
    }
    return mer_yaml_expected(node, error, "a kind that evaluator %s prices",
                             evaluation->spec.evaluator->name);
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
    MER_TRY(
        mer_experiment_fail_in(node, mer_reference_parse(text, &reference, arena, error), error));
    const MerProblemClass *problem = mer_problem_find(reference.name, error);
    if (!problem) {
        return mer_experiment_fail_in(node, MER_NOT_FOUND, error);
    }
    names->problem = problem->name;
    request->options = mer_reference_join(&reference, &request->options, arena);
    return node->kind == MER_YAML_MAP ? check_map(node, request, names, arena, error) : MER_OK;
}

/* Everything but the tasks. The results of the run that wrote the file are computed anew. */
static MerStatus read_head(MerYaml *root, MerEvaluateRequest *request, MerEvaluateNames *names,
                           MerArena *arena, MerError *error)
{
    static const char *const passed_over[] = {"best", "bound", "tasks", "options"};
    const char              *workload, *kind = NULL;
    MER_TRY(mer_yaml_format(root, "plan", 1, error));
    MER_TRY(mer_evaluate_names(root, request, names, arena, error));
    MER_TRY(read_problem(root, request, names, arena, error));
    MER_TRY(read_input(root, "workload", &workload, error));
    MER_TRY(mer_yaml_get_text(root, "kind", &kind, error));
    for (int i = 0; i < 4; i++) {
        mer_yaml_get(root, passed_over[i]);
    }
    names->problem = names->problem ? names->problem : problem_of_kind(kind);
    return mer_yaml_finish(root, error);
}

/* What a run wrote that was interrupted, or found no plan for some tasks. */
static MerStatus warn_of_missing(MerYaml *root, int tasks, MerArena *arena, MerError *error)
{
    MerYaml *best = mer_yaml_get(root, "best");
    MerYaml *flag = best && best->kind == MER_YAML_MAP ? mer_yaml_get(best, "feasible") : NULL;
    bool     is_whole = true;
    MER_TRY(flag ? mer_yaml_bool(flag, &is_whole, error) : MER_OK);
    if (!is_whole) {
        mer_request_warn(
            NULL,
            mer_arena_format(arena,
                             "%s: other tasks of its run have no plan; totals are of the %d in "
                             "the file",
                             root->file, tasks));
    }
    return MER_OK;
}

/* `name` in the folder of the plan file. */
static const char *beside(const MerYaml *root, const char *name, MerArena *arena)
{
    const char *slash = strrchr(root->file, '/');
    int         folder = slash ? (int)(slash - root->file) + 1 : 0;
    return mer_arena_format(arena, "%.*s%s", folder, root->file, name);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* The options of the run that wrote the plan, then those of the command line. */
MerStatus mer_evaluate_join_options(const MerYaml *node, const MerReference *given,
                                    MerReference *all, MerArena *arena, MerError *error)
{
    *all = (MerReference){0};
    for (int i = 0; node && i < node->count; i++) {
        const char *value;
        if (!mer_yaml_is_null(node->items[i]) && mer_reference_find(given, node->keys[i]) < 0) {
            MER_TRY(mer_yaml_option(node->items[i], &value, arena, error));
            *all = mer_reference_add(all, node->keys[i], value, arena);
        }
    }
    *all = mer_reference_join(all, given, arena);
    return MER_OK;
}

static MerStatus check_hash(MerYaml *input, uint64_t hash, const char *what, MerError *error)
{
    const char *wanted = NULL;
    char        found[20];
    MER_TRY(mer_yaml_get_text(input, "hash", &wanted, error));
    snprintf(found, sizeof found, "%016" PRIx64, hash);
    if (!wanted || strcmp(wanted, found) == 0) {
        return MER_OK;
    }
    return mer_yaml_error(mer_yaml_get(input, "hash"), error,
                          "the plan is of content %s, but %s now has content %s", wanted, what,
                          found);
}

/* Relative paths, those within a list of jobs too, are also looked for where the run was started. */
static MerStatus import_workload(const MerYaml *root, const char *path, bool is_given,
                                 const MerImportOptions *options, MerArena *arena, MerGraph **graph,
                                 MerError *error)
{
    MerStatus   status = mer_graph_import(path, options, arena, graph, error);
    const char *start =
        status == MER_OK || is_given ? NULL : mer_cli_start_of(beside(root, ".", arena), arena);
    int here = start ? open(".", O_RDONLY | O_CLOEXEC) : -1;
    if (here >= 0 && chdir(start) == 0) {
        bool is_found = mer_graph_import(path, options, arena, graph, NULL) == MER_OK;
        status = is_found ? MER_OK : status;
        if (fchdir(here) != 0) {
            status = mer_error_set(error, MER_IO, "the folder of this command is gone");
        }
    }
    if (here >= 0) {
        close(here);
    }
    return status;
}

/* From --workload, or from the path in the plan, as it stands or beside the plan. */
static MerStatus read_workload(MerEvaluation *evaluation, const MerEvaluateRequest *request,
                               MerYaml *root, MerError *error)
{
    MerYaml    *input;
    MerGraph   *graph;
    const char *name = NULL, *path = NULL;
    MER_TRY(mer_yaml_need(root, "workload", &input, error));
    MER_TRY(mer_yaml_check_kind(input, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_get_text(input, "name", &name, error));
    MER_TRY(mer_yaml_get_text(input, "file", &path, error));
    const char *near = path && path[0] != '/' ? beside(root, path, evaluation->arena) : NULL;
    path = request->workload                       ? request->workload
           : near && !exists(path) && exists(near) ? near
           : path                                  ? path
                                                   : name;
    if (!path) {
        return mer_yaml_error(input, error, "the workload has no name; give --workload FILE");
    }
    MerError         why = {0};
    MerImportOptions options = {0};
    MerTexts         dims = {request->dim_count, request->dims};
    MER_TRY(mer_experiment_dims(&dims, &options, evaluation->arena, error));
    if (import_workload(root, path, request->workload != NULL, &options, evaluation->arena, &graph,
                        &why) != MER_OK) {
        return mer_yaml_error(input, error, "cannot read the workload of this plan: %s%s",
                              why.message, request->workload ? "" : "; give --workload FILE");
    }
    MER_TRY(check_hash(input, graph->hash, path, error));
    evaluation->spec.graph = graph;
    evaluation->spec.name = graph->name;
    return MER_OK;
}

static MerStatus check_options(MerYaml *root, const MerEvaluateRequest *request,
                               const MerEvaluateNames *names, MerArena *arena, MerError *error)
{
    MerYaml *node = mer_yaml_get(root, "options");
    if (!node) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
    return check_map(node, request, names, arena, error);
}

static MerStatus find_task(MerEvaluation *evaluation, MerYaml *root, MerYaml *node,
                           MerGivenPlan *given, MerError *error)
{
    const MerTask *list;
    const char    *name, *other, *workload = NULL;
    MerYaml       *name_node;
    int            count, found = 0;
    MER_TRY(mer_run_list_tasks(&evaluation->spec, evaluation->arena, &list, &count, error));
    MER_TRY(mer_yaml_need(node, "name", &name_node, error));
    MER_TRY(mer_yaml_text(name_node, &name, error));
    MER_TRY(mer_yaml_get_text(mer_yaml_get(root, "workload"), "name", &workload, error));
    /* a task with the name of its workload had none of its own: in a file of another name it has that name */
    other = workload && strcmp(name, workload) == 0 ? evaluation->spec.graph->name : name;
    while (found < count && strcmp(list[found].name, name) != 0 &&
           strcmp(list[found].name, other) != 0) {
        found++;
    }
    if (found == count) {
        return mer_yaml_expected(name_node, error, "a task of %s, such as \"%s\"",
                                 evaluation->spec.name, count > 0 ? list[0].name : "");
    }
    given->task = list[found];
    return MER_OK;
}

/* A proof that the file carries is of the evaluator, objective and platform that the file names. */
static MerStatus read_proof(const MerEvaluateRequest *request, MerYaml *node, MerGivenPlan *given,
                            MerError *error)
{
    MerYaml *best = mer_yaml_get(node, "best");
    MerYaml *bound = mer_yaml_get(node, "bound");
    bool     is_changed =
        request->platform || request->evaluator || request->objective || request->options.count > 0;
    given->recorded_score = given->recorded.value = NAN;
    if (!best || !bound || is_changed || best->kind != MER_YAML_MAP ||
        bound->kind != MER_YAML_MAP) {
        return MER_OK;
    }
    const char *kind = NULL;
    MerYaml    *value = mer_yaml_get(bound, "value"), *score = mer_yaml_get(best, "score");
    MER_TRY(mer_yaml_get_text(bound, "kind", &kind, error));
    if (!kind || !value || mer_yaml_is_null(value) || !score || mer_yaml_is_null(score)) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_real(value, -INFINITY, INFINITY, &given->recorded.value, error));
    MER_TRY(mer_yaml_real(score, -INFINITY, INFINITY, &given->recorded_score, error));
    given->recorded.kind = kind;
    given->recorded.scope = "";
    return MER_OK;
}

static MerStatus take_tasks(MerEvaluation *evaluation, const MerEvaluateRequest *request,
                            MerYaml *root, MerYaml *tasks, MerError *error)
{
    const MerGraph *graph = evaluation->spec.graph;
    bool            is_carried = evaluation->spec.problem->read_graph != NULL;
    evaluation->count = tasks->count;
    evaluation->given = MER_ARRAY(evaluation->arena, MerGivenPlan, tasks->count + 1);
    for (int t = 0; t < tasks->count; t++) {
        MerGivenPlan *given = &evaluation->given[t];
        MerYaml      *node = tasks->items[t];
        MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
        if (is_carried) {
            mer_yaml_get(node, "name");
            given->task = (MerTask){graph->ops[t].name, 1, (double)graph->ops[t].macs, t, 0, NULL};
        } else {
            MER_TRY(find_task(evaluation, root, node, given, error));
        }
        given->body = node;
        MER_TRY(mer_yaml_get_int(node, "count", 1, INT64_C(1) << 40, &given->task.count, error));
        MER_TRY(read_proof(request, node, given, error));
    }
    return MER_OK;
}

/* The platform that the run left beside the plan, if it is still that one, or the one that the plan names. What is
 * wrong with the first matters where the second is not known. */
static MerStatus find_platform(MerYaml *root, const char **named, MerArena *arena, MerError *error)
{
    MerYaml           *input = mer_yaml_get(root, "platform");
    const char        *path = beside(root, "platform.yaml", arena);
    const MerPlatform *platform;
    MerError           why = {0};
    if (!*named || !exists(path)) {
        return MER_OK;
    }
    MerStatus status = mer_platform_read(path, arena, &platform, &why);
    if (status == MER_OK && input->kind == MER_YAML_MAP) {
        status = check_hash(input, platform->hash, path, &why);
    } else if (status == MER_OK && strcmp(platform->name, *named) != 0) {
        status = mer_yaml_error(input, &why, "the plan is of platform %s, but %s is %s", *named,
                                path, platform->name);
    }
    if (status == MER_OK) {
        *named = path;
        return MER_OK;
    }
    return mer_platform_read(*named, arena, &platform, NULL) == MER_OK
               ? MER_OK
               : mer_error_set(error, status, "%s", why.message);
}

MerStatus mer_evaluate_open_plan(MerEvaluation *evaluation, const MerEvaluateRequest *given,
                                 MerYaml *root, MerError *error)
{
    MerEvaluateNames   names = {0};
    MerEvaluateRequest request = *given;
    MerReference       implied = {0};
    MerYaml           *tasks, *input = mer_yaml_get(root, "platform");
    MER_TRY(read_head(root, &request, &names, evaluation->arena, error));
    MER_TRY(mer_yaml_need(root, "tasks", &tasks, error));
    MER_TRY(mer_yaml_check_kind(tasks, MER_YAML_LIST, error));
    if (tasks->count == 0) {
        return mer_yaml_expected(tasks, error, "at least one task");
    }
    MER_TRY(warn_of_missing(root, tasks->count, evaluation->arena, error));
    MER_TRY(check_options(root, &request, &names, evaluation->arena, error));
    MerReference own = request.options;
    MER_TRY(mer_evaluate_join_options(mer_yaml_get(root, "options"), &own, &request.options,
                                      evaluation->arena, error));
    const MerProblemClass *problem = mer_problem_find(names.problem, NULL);
    if (problem->read_graph) {
        MerGraph *graph;
        for (int t = 0; t < tasks->count; t++) {
            MER_TRY(mer_yaml_check_kind(tasks->items[t], MER_YAML_MAP, error));
        }
        MER_TRY(problem->read_graph(tasks, &graph, &implied, evaluation->arena, error));
        evaluation->spec.graph = graph;
        evaluation->spec.name = graph->name;
        request.options = mer_reference_join(&request.options, &implied, evaluation->arena);
    } else {
        MER_TRY(read_workload(evaluation, &request, root, error));
    }
    if (!request.platform) {
        MER_TRY(find_platform(root, &names.platform, evaluation->arena, error));
    }
    MER_TRY(mer_evaluate_plugins(evaluation, &request, &names, error));
    MER_TRY(check_kind(evaluation, root, error));
    if (!request.platform && input && input->kind == MER_YAML_MAP && evaluation->spec.platform) {
        MER_TRY(check_hash(input, evaluation->spec.platform->hash, evaluation->spec.platform->name,
                           error));
    }
    return take_tasks(evaluation, given, root, tasks, error);
}
