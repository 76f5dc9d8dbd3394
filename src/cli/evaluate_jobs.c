/* Plans of jobs: the file names jobs, cores and the options of its run, so the workload is read again and
 * must be the same one. The platform is the one that the run left beside the plan. */
#include "cli/evaluate_input.h"

#include "base/text.h"
#include "base/try.h"
#include "mercator/import.h"
#include "mercator/registry.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
static MerStatus join_options(MerYaml *root, const MerReference *given, MerReference *all,
                              MerArena *arena, MerError *error)
{
    MerYaml *node = mer_yaml_get(root, "options");
    int      capacity = given->count + 1;
    if (node) {
        MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
        capacity += node->count;
    }
    *all = (MerReference){NULL, 0, MER_ARRAY(arena, const char *, capacity),
                          MER_ARRAY(arena, const char *, capacity)};
    for (int i = 0; node && i < node->count; i++) {
        bool is_given = mer_yaml_is_null(node->items[i]);
        for (int k = 0; k < given->count; k++) {
            is_given = is_given || mer_name_equal(given->keys[k], node->keys[i]);
        }
        if (!is_given) {
            all->keys[all->count] = node->keys[i];
            MER_TRY(mer_yaml_text(node->items[i], &all->values[all->count], error));
            all->count++;
        }
    }
    for (int k = 0; k < given->count; k++) {
        all->keys[all->count] = given->keys[k];
        all->values[all->count++] = given->values[k];
    }
    return MER_OK;
}

static MerStatus check_options(MerYaml *root, const MerEvaluateRequest *request,
                               const MerEvaluateNames *names, MerArena *arena, MerError *error)
{
    MerYaml               *node = mer_yaml_get(root, "options");
    const MerProblemClass *problem = mer_problem_find(names->problem, NULL);
    if (!node || !problem) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
    const char *evaluator = request->evaluator ? request->evaluator : names->evaluator;
    return mer_evaluate_check_options(node, problem, evaluator, arena, error);
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

static MerStatus bind_dims(const MerEvaluateRequest *request, MerDimBinding *dims, MerArena *arena,
                           MerError *error)
{
    for (int i = 0; i < request->dim_count; i++) {
        const char *equals = strrchr(request->dims[i], '=');
        if (!equals || equals == request->dims[i] || !mer_parse_int(equals + 1, &dims[i].size) ||
            dims[i].size < 1) {
            return mer_error_set(error, MER_INVALID,
                                 "--dim is \"%s\", expected NAME=SIZE with a size of at least 1",
                                 request->dims[i]);
        }
        dims[i].name =
            mer_arena_text_n(arena, request->dims[i], (size_t)(equals - request->dims[i]));
    }
    return MER_OK;
}

/* From --workload, or from the path in the plan, as it stands or beside the plan. */
static MerStatus read_workload(MerEvaluateJob *job, const MerEvaluateRequest *request,
                               MerYaml *root, MerError *error)
{
    MerYaml    *input;
    MerGraph   *graph;
    const char *name = NULL, *path = NULL;
    MER_TRY(mer_yaml_need(root, "workload", &input, error));
    MER_TRY(mer_yaml_check_kind(input, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_get_text(input, "name", &name, error));
    MER_TRY(mer_yaml_get_text(input, "file", &path, error));
    const char *near = path && path[0] != '/' ? beside(root, path, job->arena) : NULL;
    path = request->workload                       ? request->workload
           : near && !exists(path) && exists(near) ? near
           : path                                  ? path
                                                   : name;
    if (!path) {
        return mer_yaml_error(input, error, "the workload has no name; give --workload FILE");
    }
    MerError         why = {0};
    MerDimBinding    dims[MER_EVALUATE_INPUTS];
    MerImportOptions options = {.dim_count = request->dim_count, .dims = dims};
    MER_TRY(bind_dims(request, dims, job->arena, error));
    if (mer_graph_import(path, &options, job->arena, &graph, &why) != MER_OK) {
        return mer_yaml_error(input, error, "cannot read the workload of this plan: %s%s",
                              why.message, request->workload ? "" : "; give --workload FILE");
    }
    MER_TRY(check_hash(input, graph->hash, path, error));
    job->spec.graph = graph;
    job->spec.name = graph->name;
    return MER_OK;
}

/* A task with the name of its workload had none of its own: in a file of another name it has that name. */
static MerStatus name_task(const MerEvaluateJob *job, MerYaml *root, const char *given,
                           const char **name, MerError *error)
{
    const char *workload = NULL;
    MER_TRY(mer_yaml_get_text(mer_yaml_get(root, "workload"), "name", &workload, error));
    *name = workload && strcmp(given, workload) == 0 ? job->spec.graph->name : given;
    return MER_OK;
}

/* Every task of the file by its name among those of the workload. */
static MerStatus find_tasks(MerEvaluateJob *job, MerYaml *root, MerYaml *tasks, MerError *error)
{
    const MerTask *list;
    int            count;
    MerProblem     blank = {.type = job->spec.problem,
                            .graph = job->spec.graph,
                            .platform = job->spec.platform,
                            .options = job->spec.problem_options};
    MER_TRY(job->spec.problem->tasks(&blank, job->arena, &list, &count, error));
    job->count = tasks->count;
    job->given = MER_ARRAY(job->arena, MerGiven, tasks->count + 1);
    for (int t = 0; t < tasks->count; t++) {
        MerYaml *node = tasks->items[t], *name_node;
        int      found = 0;
        MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
        MER_TRY(mer_yaml_need(node, "name", &name_node, error));
        const char *name, *other;
        MER_TRY(mer_yaml_text(name_node, &name, error));
        MER_TRY(name_task(job, root, name, &other, error));
        while (found < count && strcmp(list[found].name, name) != 0 &&
               strcmp(list[found].name, other) != 0) {
            found++;
        }
        if (found == count) {
            return mer_yaml_expected(name_node, error, "a group of %s, such as \"%s\"",
                                     job->spec.name, count > 0 ? list[0].name : "");
        }
        job->given[t] = (MerGiven){.task = list[found], .body = node};
        MER_TRY(
            mer_yaml_get_int(node, "count", 1, INT64_C(1) << 40, &job->given[t].task.count, error));
        mer_yaml_get(node, "best"); /* computed anew */
        mer_yaml_get(node, "bound");
    }
    return MER_OK;
}

MerStatus mer_evaluate_open_jobs(MerEvaluateJob *job, const MerEvaluateRequest *request,
                                 const MerEvaluateNames *names, MerYaml *root, MerYaml *tasks,
                                 MerError *error)
{
    MerEvaluateRequest asked = *request;
    MerEvaluateNames   found = *names;
    const char        *platform = beside(root, "platform.yaml", job->arena);
    MerYaml           *input = mer_yaml_get(root, "platform");
    if (!names->problem) {
        found.problem = "schedule";
    }
    if (exists(platform)) {
        found.platform = platform;
    }
    MER_TRY(check_options(root, request, &found, job->arena, error));
    MER_TRY(join_options(root, &request->options, &asked.options, job->arena, error));
    MER_TRY(read_workload(job, request, root, error));
    MER_TRY(mer_evaluate_plugins(job, &asked, &found, error));
    if (!job->spec.problem->tasks) {
        return mer_yaml_expected(mer_yaml_get(root, "problem"), error, "a problem with jobs");
    }
    if (!request->platform && input && input->kind == MER_YAML_MAP) {
        MER_TRY(check_hash(input, job->spec.platform->hash, job->spec.platform->name, error));
    }
    return find_tasks(job, root, tasks, error);
}
