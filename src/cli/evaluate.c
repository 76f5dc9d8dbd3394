/* evaluate: the cost of given plans. An infeasible plan is an answer, with its reason. */
#include "cli/cli.h"

#include "base/json.h"
#include "base/yaml.h"
#include "mercator/registry.h"
#include "problem/nest_format.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Request {
    const char *plan, *platform, *evaluator, *objective;
    bool        json, is_help;
} Request;

typedef struct Job { /* the file, opened */
    MerYaml     *root, *tasks;
    MerGraph    *graph;
    MerRunSpec   spec;
    MerArena    *arena;
    const char **details;
} Job;

static int parse(const MerVerb *verb, int count, char **arguments, Request *request)
{
    struct {
        const char  *name;
        const char **value;
    } flags[] = {{"platform", &request->platform}, {"evaluator", &request->evaluator}, {"objective", &request->objective}};
    for (int i = 0; i < count; i++) {
        const char **target = NULL;
        for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++) {
            target = mer_cli_is(arguments[i], flags[f].name) ? flags[f].value : target;
        }
        if (target) {
            const char *flag = arguments[i];
            *target = mer_cli_value(count, arguments, &i);
            if (!*target) {
                return mer_cli_usage(verb, "%s needs a value", flag);
            }
        } else if (mer_cli_is(arguments[i], "json")) {
            request->json = true;
        } else if (mer_cli_is(arguments[i], "help") || strcmp(arguments[i], "-h") == 0) {
            request->is_help = true;
        } else if (arguments[i][0] == '-' || request->plan) {
            return mer_cli_usage(verb, "unexpected argument %s", arguments[i]);
        } else {
            request->plan = arguments[i];
        }
    }
    return request->plan || request->is_help ? MER_EXIT_DONE : mer_cli_usage(verb, "evaluate needs a plan file");
}

/* The operators that the tasks carry make the graph. */
static MerStatus read_tasks(Job *job, MerError *error)
{
    MerStatus status = mer_yaml_need(job->root, "tasks", &job->tasks, error);
    if (status == MER_OK) {
        status = mer_yaml_check_kind(job->tasks, MER_YAML_LIST, error);
    }
    job->graph = mer_graph_new("plan", job->arena);
    for (int t = 0; status == MER_OK && t < job->tasks->count; t++) {
        MerYaml *task = job->tasks->items[t];
        MerYaml *op_node;
        MerOp op;
        status = mer_yaml_check_kind(task, MER_YAML_MAP, error);
        if (status == MER_OK) {
            status = mer_yaml_need(task, "op", &op_node, error);
        }
        if (status == MER_OK) {
            status = mer_op_read(op_node, &op, error);
        }
        if (status == MER_OK) {
            op.name = "layer";
            status = mer_yaml_get_text(task, "name", &op.name, error);
        }
        if (status == MER_OK) {
            mer_graph_add_op(job->graph, &op);
        }
    }
    return status == MER_OK ? mer_graph_finish(job->graph, error) : status;
}

static MerStatus read_name(MerYaml *root, const char *key, const char **name, MerError *error)
{
    MerYaml *node = mer_yaml_get(root, key);
    if (node && node->kind == MER_YAML_MAP) {
        return mer_yaml_get_text(node, "name", name, error);
    }
    return node ? mer_yaml_text(node, name, error) : MER_OK;
}

static MerStatus resolve(Job *job, const Request *request, MerError *error)
{
    const char *problem = "map";
    const char *platform = NULL;
    const char *evaluator = NULL;
    const char *objective = NULL;
    MerRunSpec *spec = &job->spec;
    MerStatus status = mer_yaml_format(job->root, "plan", 1, error);
    status = status == MER_OK ? read_name(job->root, "problem", &problem, error) : status;
    status = status == MER_OK ? read_name(job->root, "platform", &platform, error) : status;
    status = status == MER_OK ? read_name(job->root, "evaluator", &evaluator, error) : status;
    status = status == MER_OK ? read_name(job->root, "objective", &objective, error) : status;
    if (status != MER_OK) {
        return status;
    }
    spec->problem = mer_problem_find(problem, error);
    if (!spec->problem) {
        return MER_NOT_FOUND;
    }
    platform = request->platform ? request->platform : platform ? platform : spec->problem->platform;
    evaluator = request->evaluator ? request->evaluator : evaluator ? evaluator : spec->problem->evaluator;
    spec->objective = request->objective ? request->objective : objective;
    MerReference reference;
    status = mer_reference_parse(evaluator, &reference, job->arena, error);
    spec->evaluator = status == MER_OK ? mer_evaluator_find(reference.name, error) : NULL;
    if (!spec->evaluator) {
        return MER_NOT_FOUND;
    }
    void *options = mer_arena_alloc(job->arena, spec->evaluator->options_size + 1);
    if (spec->evaluator->options) {
        status = mer_options_fill(spec->evaluator->options, NULL, options, &reference, job->arena, error);
        spec->evaluator_options = options;
    }
    return status == MER_OK ? mer_platform_read(platform, job->arena, &spec->platform, error) : status;
}

static MerStatus price_task(Job *job, int t, MerTaskResult *result, MerError *error)
{
    MerYaml *body = job->tasks->items[t];
    MerTask task = {job->graph->ops[t].name, 1, (double)job->graph->ops[t].macs, t};
    int64_t count = 1;
    MerStatus status = mer_yaml_get_int(body, "count", 1, INT64_C(1) << 40, &count, error);
    task.count = count;
    /* results of the run that wrote the file: they are computed anew */
    mer_yaml_get(body, "best");
    mer_yaml_get(body, "bound");
    if (status == MER_OK) {
        status = mer_run_plan(&job->spec, &task, body, job->arena, result, &job->details[t], error);
    }
    return status == MER_OK ? mer_yaml_finish(body, error) : status;
}

static void print_json(const Job *job, const MerTaskResult *results)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "format", "mercator-summary/1");
    mer_json_text(&json, "problem", job->spec.problem->name);
    mer_json_text(&json, "platform", job->spec.platform->name);
    mer_json_text(&json, "evaluator", job->spec.evaluator->name);
    mer_json_array(&json, "tasks");
    for (int t = 0; t < job->tasks->count; t++) {
        const MerTaskResult *result = &results[t];
        mer_json_object(&json, NULL);
        mer_json_text(&json, "name", result->task.name);
        mer_json_int(&json, "count", result->task.count);
        mer_json_text(&json, "status", result->best.feasible ? "ok" : "infeasible");
        mer_json_object(&json, "best");
        mer_json_bool(&json, "feasible", result->best.feasible);
        if (result->best.feasible) {
            mer_json_real(&json, "score", result->score);
        } else {
            mer_json_text(&json, "reason", result->best.reason);
        }
        for (int m = 0; m < MER_METRIC_COUNT; m++) {
            if (!isnan(result->best.value[m])) {
                mer_json_real(&json, mer_metric_info((MerMetric)m)->name, result->best.value[m]);
            }
        }
        mer_json_end_object(&json);
        mer_json_object(&json, "bound");
        mer_json_real(&json, "value", result->bound.value);
        mer_json_text(&json, "kind", result->bound.kind);
        mer_json_real(&json, "gap", result->gap);
        mer_json_end_object(&json);
        if (job->details[t]) {
            mer_json_raw(&json, "detail", job->details[t]);
        }
        mer_json_end_object(&json);
    }
    mer_json_end_array(&json);
    mer_json_end_object(&json);
    printf("%s\n", json.text);
    mer_json_free(&json);
}

static void print_text(const Job *job, const MerTaskResult *results)
{
    for (int t = 0; t < job->tasks->count; t++) {
        const MerTaskResult *result = &results[t];
        printf("%s on %s\n", result->task.name, job->spec.platform->name);
        if (result->text) {
            printf("%s", result->text);
        }
        if (!result->best.feasible) {
            printf("infeasible: %s\n", result->best.reason);
        }
        for (int m = 0; m < MER_METRIC_COUNT; m++) {
            char text[48];
            if (!isnan(result->best.value[m])) {
                mer_print_engineering(text, result->best.value[m], mer_metric_info((MerMetric)m)->unit);
                printf("  %-14s %s\n", mer_metric_info((MerMetric)m)->name, text);
            }
        }
        if (!isnan(result->gap)) {
            printf("  %-14s %.4g %% above the %s bound\n", "gap", 100 * result->gap, result->bound.kind);
        }
    }
}

int mer_cli_evaluate(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    Request request = {0};
    Job job = {.arena = arena};
    MerError error = {0};
    int code = parse(verb, count, arguments, &request);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    if (request.is_help) {
        printf("usage: mercator evaluate PLAN.yaml [--platform P] [--evaluator E] [--objective O] [--json]\n");
        return MER_EXIT_DONE;
    }
    MerStatus status = mer_yaml_read(request.plan, arena, &job.root, &error);
    status = status == MER_OK ? mer_yaml_check_kind(job.root, MER_YAML_MAP, &error) : status;
    status = status == MER_OK ? resolve(&job, &request, &error) : status;
    status = status == MER_OK ? read_tasks(&job, &error) : status;
    if (status != MER_OK) {
        return mer_cli_fail(&error);
    }
    job.spec.graph = job.graph;
    job.spec.name = job.graph->name;
    job.details = MER_ARRAY(arena, const char *, job.tasks->count + 1);
    MerTaskResult *results = MER_ARRAY(arena, MerTaskResult, job.tasks->count + 1);
    for (int t = 0; status == MER_OK && t < job.tasks->count; t++) {
        status = price_task(&job, t, &results[t], &error);
    }
    if (status != MER_OK) {
        return mer_cli_fail(&error);
    }
    if (request.json) {
        print_json(&job, results);
    } else {
        print_text(&job, results);
    }
    return MER_EXIT_DONE;
}
