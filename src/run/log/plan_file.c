/* The plan file (`mercator-plan/1`): YAML that people can read and `mercator evaluate` reads back.
 * Outer maps and lists are written in block form, everything inside a level or an operator in flow. */
#include "run/internal.h"

#include "base/option_json.h"

#include <cjson/cJSON.h>
#include <string.h>

static void flow(const cJSON *node, MerJson *json, const char *key)
{
    const cJSON *item;
    if (cJSON_IsObject(node)) {
        mer_json_object(json, key);
        cJSON_ArrayForEach(item, node) flow(item, json, item->string);
        mer_json_end_object(json);
    } else if (cJSON_IsArray(node)) {
        mer_json_array(json, key);
        cJSON_ArrayForEach(item, node) flow(item, json, NULL);
        mer_json_end_array(json);
    } else if (cJSON_IsString(node)) {
        mer_json_text(json, key, node->valuestring);
    } else if (cJSON_IsNumber(node)) {
        mer_json_real(json, key, node->valuedouble);
    } else if (cJSON_IsBool(node)) {
        mer_json_bool(json, key, cJSON_IsTrue(node));
    } else {
        mer_json_null(json, key);
    }
}

/* A body's maps in flow form, its lists of maps one item per line. */
static void write_member(const cJSON *node, const char *indent, FILE *file)
{
    MerJson json = {0};
    bool    is_list_of_maps = cJSON_IsArray(node) && node->child && cJSON_IsObject(node->child);
    fprintf(file, "%s%s:", indent, node->string);
    if (!is_list_of_maps) {
        flow(node, &json, NULL);
        fprintf(file, " %s\n", json.text);
    } else {
        const cJSON *item;
        fputc('\n', file);
        cJSON_ArrayForEach(item, node)
        {
            mer_json_reset(&json);
            flow(item, &json, NULL);
            fprintf(file, "%s  - %s\n", indent, json.text);
        }
    }
    mer_json_free(&json);
}

/* A line of the file; the writer is empty afterwards. */
static void write_line(const char *indent, const char *key, MerJson *json, FILE *file)
{
    fprintf(file, "%s%s: %s\n", indent, key, json->text);
    mer_json_free(json);
}

static void write_cost(const MerTaskResult *result, bool is_feasible, const char *indent,
                       FILE *file)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    if (is_feasible) {
        mer_json_real(&json, "score", result->score);
        mer_write_metrics(&json, result->best.value);
    } else { /* of the whole: some tasks have no plan */
        mer_json_bool(&json, "feasible", false);
    }
    mer_json_end_object(&json);
    write_line(indent, "best", &json, file);
    mer_json_object(&json, NULL);
    mer_json_real(&json, "value", result->bound.value);
    mer_json_text(&json, "kind", result->bound.kind);
    mer_json_real(&json, "gap", result->gap);
    mer_json_bool(&json, "proven", result->is_proven);
    mer_json_end_object(&json);
    write_line(indent, "bound", &json, file);
}

static void write_quoted(const char *key, const char *text, FILE *file)
{
    MerJson json = {0};
    mer_json_text(&json, NULL, text);
    write_line("", key, &json, file);
}

/* `path`: where the input came from, NULL if it does not matter. */
static void write_input(const char *key, const char *name, uint64_t hash, const char *path,
                        FILE *file)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "name", name);
    mer_json_hash(&json, "hash", hash);
    if (path) {
        mer_json_text(&json, "file", path);
    }
    mer_json_end_object(&json);
    write_line("", key, &json, file);
}

/* Whoever reads the plan needs the same workload and the same options. */
static void write_problem_options(const MerRunState *run, FILE *file)
{
    MerJson           json = {0};
    const MerProblem *problem = &run->tasks[0].problem;
    mer_options_write(problem->type->options, problem->options, &json, NULL);
    write_line("", "options", &json, file);
}

static void write_task(const MerTaskResult *result, FILE *file)
{
    cJSON *body = cJSON_Parse(result->body);
    write_quoted("  - name", result->task.name, file);
    fprintf(file, "    count: %lld\n", (long long)result->task.count);
    write_cost(result, true, "    ", file);
    const cJSON *member;
    cJSON_ArrayForEach(member, body) write_member(member, "    ", file);
    cJSON_Delete(body);
}

static void write_plan_text(MerRunState *run, FILE *file)
{
    const MerRunSpec *spec = run->spec;
    fprintf(file, "format: mercator-plan/1\nkind: %s\nproblem: %s\n",
            run->tasks[0].problem.plan->name, spec->problem->name);
    write_input("workload", spec->name, spec->graph ? spec->graph->hash : 0,
                spec->graph ? spec->graph->path : NULL, file);
    if (spec->problem->options) {
        write_problem_options(run, file);
    }
    if (spec->platform) {
        write_input("platform", spec->platform->name, spec->platform->hash, NULL, file);
    }
    write_quoted("evaluator", mer_run_evaluator_text(spec, run->arena), file);
    write_quoted("objective", run->objective.text, file);
    write_cost(&run->result->total, run->result->is_feasible, "", file);
    fprintf(file, "tasks:\n");
    for (int t = 0; t < run->task_count; t++) {
        if (run->result->tasks[t].body) {
            write_task(&run->result->tasks[t], file);
        }
    }
}

static MerStatus end_file(MerRunState *run, MerExportFiles *files, FILE *memory, const char *name,
                          MerError *error)
{
    MER_TRY(mer_export_end(files, memory, name, error));
    return mer_run_write_file(run, name, files->list[0].data, files->list[0].size, error);
}

/* The resolved platform, so that the plan can be priced again wherever its platform came from. */
static MerStatus write_platform(MerRunState *run, MerError *error)
{
    MerExportFiles files = {.arena = run->arena};
    if (!run->spec->platform) {
        return MER_OK;
    }
    FILE *memory = mer_export_begin(&files);
    if (memory) {
        mer_platform_write(run->spec->platform, memory);
    }
    return end_file(run, &files, memory, "platform.yaml", error);
}

MerStatus mer_run_write_plans(MerRunState *run, MerError *error)
{
    const MerProblemClass *type = run->spec->problem;
    bool                   has_plan = false;
    for (int t = 0; t < run->task_count; t++) {
        has_plan = has_plan || run->result->tasks[t].body;
    }
    if (!run->spec->directory || !type->plan_file || !has_plan) {
        return MER_OK;
    }
    MerExportFiles files = {.arena = run->arena};
    FILE          *memory = mer_export_begin(&files);
    if (memory) {
        write_plan_text(run, memory);
    }
    MER_TRY(end_file(run, &files, memory, type->plan_file, error));
    return write_platform(run, error);
}

void mer_run_print_plan(MerRunState *run, MerRunTask *task)
{
    MerTaskResult      *result = task->result;
    const MerPlanKind  *kind = result->plan.kind;
    const MerEvaluator *evaluator = &task->evaluator;
    const char *plan = kind->print ? kind->print(&task->problem, &result->plan, run->arena) : NULL;
    const char *runs = evaluator->type->print
                           ? evaluator->type->print(evaluator->state, &result->plan, run->arena)
                           : NULL;
    if (plan || runs) {
        result->text = mer_arena_format(run->arena, "%s%s", plan ? plan : "", runs ? runs : "");
    }
}

/* The best plan in three forms: decoded, as text for people, and as the body of a plan file. */
static void describe_best(MerRunState *run, MerRunTask *task)
{
    MerTaskResult         *result = task->result;
    const MerProblemClass *type = task->problem.type;
    type->decode(&task->problem, result->point, &result->plan, run->arena);
    mer_run_print_plan(run, task);
    if (result->plan.kind->write) {
        MerJson body = {0};
        mer_json_object(&body, NULL);
        result->plan.kind->write(&task->problem, &result->plan, &body);
        mer_json_end_object(&body);
        result->body = mer_json_keep(&body, run->arena);
    }
}

typedef struct DetailTarget {
    MerRunState *run;
    MerRunTask  *task;
    MerStatus    status;
    MerError    *error;
} DetailTarget;

static void note(DetailTarget *target, const char *source, const char *name, const char *value)
{
    if (target->status == MER_OK) {
        MerJson json = {0};
        mer_line_note(&json, target->run->trials, target->task->index, source, name, value);
        target->status = mer_runlog_end_line(&target->run->log, &json, target->error);
    }
}

static void write_note(DetailTarget *target, const char *source, const char *name, MerJson *value)
{
    note(target, source, name, value->text);
    mer_json_free(value);
}

static void detail_note(void *state, const char *name, const char *value)
{
    DetailTarget *target = state;
    if (strcmp(name, "result") == 0) {
        target->task->result->outcome = mer_arena_text(target->run->arena, value);
    }
    note(target, target->task->evaluator.type->name, name, value);
}

/* What the user fixed, as it was understood. */
static void note_constraints(DetailTarget *target)
{
    const MerProblem *problem = &target->task->problem;
    const char       *text =
        problem->type->constraints ? problem->type->constraints(problem, target->run->arena) : NULL;
    target->task->result->constraints = text;
    if (text) {
        MerJson json = {0};
        mer_json_text(&json, NULL, text);
        write_note(target, problem->type->name, "constraints", &json);
    }
}

static void note_warnings(DetailTarget *target)
{
    const char *text = target->task->result->warnings;
    if (text) {
        MerJson json = {0};
        mer_run_write_warnings(&json, NULL, text, target->run->arena);
        write_note(target, target->task->problem.type->name, "warnings", &json);
    }
}

MerStatus mer_run_note_best(MerRunState *run, MerRunTask *task, MerError *error)
{
    DetailTarget   target = {run, task, MER_OK, error};
    MerTaskResult *result = task->result;
    note_constraints(&target);
    note_warnings(&target);
    if (!result->point) {
        return target.status;
    }
    describe_best(run, task);
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "name", result->task.name);
    mer_json_int(&json, "count", result->task.count);
    mer_json_text(&json, "kind", result->plan.kind->name);
    mer_json_text(&json, "text", result->text);
    if (result->body) {
        mer_json_raw(&json, "body", result->body);
    }
    mer_json_end_object(&json);
    write_note(&target, "run", "plan", &json);
    if (task->evaluator.type->detail) {
        MerNotes notes = {.state = &target, .note = detail_note};
        task->evaluator.type->detail(task->evaluator.state, &result->plan, &notes);
    }
    return target.status;
}
