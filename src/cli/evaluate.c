/* evaluate: the cost of given plans. An infeasible plan is an answer, with its reason. */
#include "cli/cli.h"
#include "cli/evaluate_input.h"

#include "base/json_read.h"
#include "mercator/json.h"
#include "mercator/registry.h"
#include "report/pages/run_folder.h"
#include "report/tables/table.h"
#include "run/log/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A reader of other tools' files may have a flag for the file with the plan. */
static bool is_plan_flag(const char *flag)
{
    for (const MerPlanReaderClass *const *reader = mer_plan_readers(); *reader; reader++) {
        if ((*reader)->flag && mer_cli_is(flag, (*reader)->flag)) {
            return true;
        }
    }
    return false;
}

static const MerInspectorClass *inspector_of(const char *flag)
{
    for (const MerInspectorClass *const *type = mer_inspectors(); *type; type++) {
        if ((*type)->flag && mer_cli_is(flag, (*type)->flag)) {
            return *type;
        }
    }
    return NULL;
}

/* Lists, the flags of readers and inspectors, and what is an option of a plug-in. */
static void take_other(MerEvaluateRequest *request, const char *flag, const char *value,
                       MerArena *arena)
{
    if (is_plan_flag(flag)) {
        request->plan_file = value;
    } else if (inspector_of(flag)) {
        request->inspector = inspector_of(flag);
        request->kind = value;
    } else if (mer_cli_is(flag, "export") && request->export_count < MER_EVALUATE_INPUTS) {
        request->exports[request->export_count++] = value;
    } else if (mer_cli_is(flag, "dim") && request->dim_count < MER_EVALUATE_INPUTS) {
        request->dims[request->dim_count++] = value;
    } else {
        const char *key = mer_arena_text_n(arena, flag + 2, strcspn(flag + 2, "="));
        request->options = mer_reference_add(&request->options, key, value, arena);
    }
}

/* The plan in a run directory, or the file itself. */
static const char *find_plan(const char *path, MerArena *arena)
{
    bool is_run = mer_report_is_run(path, arena);
    for (const MerProblemClass *const *problem = mer_problems(); is_run && *problem; problem++) {
        const char *name = (*problem)->plan_file;
        const char *plan = name ? mer_arena_format(arena, "%s/%s", path, name) : NULL;
        if (plan && access(plan, F_OK) == 0) {
            return plan;
        }
    }
    return path;
}

static MerStatus check_folders(const MerEvaluateRequest *request, MerArena *arena, MerError *error)
{
    for (int i = 0; i < request->input_count; i++) {
        const char *first = mer_arena_format(arena, "%s/001", request->inputs[i]);
        if (mer_report_is_run(first, arena)) {
            return mer_error_set(error, MER_INVALID, "%s holds several runs, expected one: %s",
                                 request->inputs[i], first);
        }
        if (mer_report_is_run(request->inputs[i], arena)) {
            return mer_error_set(error, MER_INVALID,
                                 "%s has no plan file: the run has not ended, or found no plan; "
                                 "--resume %s goes on",
                                 request->inputs[i], request->inputs[i]);
        }
    }
    return MER_OK;
}

static int parse(const MerVerb *verb, int count, char **arguments, MerArena *arena,
                 MerEvaluateRequest *request)
{
    bool             is_quiet; /* there is no progress to hide */
    const MerCliFlag flags[] = {{"json", &request->json, NULL},
                                {"quiet", &is_quiet, NULL},
                                {"help", &request->is_help, NULL},
                                {"platform", NULL, &request->platform},
                                {"evaluator", NULL, &request->evaluator},
                                {"objective", NULL, &request->objective},
                                {"plan", NULL, &request->plan_file},
                                {"workload", NULL, &request->workload},
                                {0}};
    for (int i = 0; i < count; i++) {
        const char *flag = arguments[i];
        int         code = mer_cli_take(verb, flags, count, arguments, &i);
        if (code == MER_EXIT_OTHER && flag[0] != '-') {
            if (request->input_count == MER_EVALUATE_INPUTS) {
                return mer_cli_usage(verb, "more than %d files", MER_EVALUATE_INPUTS);
            }
            request->inputs[request->input_count++] = find_plan(flag, arena);
        } else if (code == MER_EXIT_OTHER && strncmp(flag, "--", 2) == 0) {
            const char *value = mer_cli_value(count, arguments, &i);
            if (!value) {
                return mer_cli_usage(verb, "%s needs a value", flag);
            }
            take_other(request, flag, value, arena);
        } else if (code != MER_EXIT_DONE) {
            return code == MER_EXIT_OTHER ? mer_cli_usage(verb, "unexpected argument %s", flag)
                                          : code;
        }
    }
    return request->input_count || request->is_help
               ? MER_EXIT_DONE
               : mer_cli_usage(verb, "evaluate needs a plan file");
}

/* `status` and `counts`: the evaluator's own if its breakdown has them, else ours and the
 * breakdown. */
static void write_counts(const MerTaskResult *result, const char *detail, MerJson *json)
{
    cJSON       *parsed = detail ? cJSON_Parse(detail) : NULL;
    const cJSON *breakdown = mer_json_get(parsed, "breakdown");
    const cJSON *counts = mer_json_get(breakdown, "counts");
    mer_json_text(
        json, "status",
        mer_json_get_text(breakdown, "status", result->best.feasible ? "ok" : "infeasible"));
    char *text = breakdown ? cJSON_PrintUnformatted(counts ? counts : breakdown) : NULL;
    mer_json_raw(json, "counts", text ? text : "null");
    free(text);
    cJSON_Delete(parsed);
}

static void write_bound(const MerTaskResult *result, MerJson *json)
{
    mer_json_object(json, "bound");
    mer_json_real(json, "value", result->bound.value);
    mer_json_text(json, "kind", result->bound.kind);
    if (result->among) {
        mer_json_text(json, "scope", result->among);
    }
    mer_json_real(json, "gap", result->gap);
    if (result->is_recorded) {
        mer_json_bool(json, "proven", result->is_proven);
        mer_json_bool(json, "recorded", true);
    }
    mer_json_end_object(json);
}

static void write_task(const MerTaskResult *result, const char *detail, MerJson *json)
{
    mer_json_object(json, NULL);
    mer_json_text(json, "name", result->task.name);
    mer_json_int(json, "count", result->task.count);
    write_counts(result, detail, json);
    mer_json_object(json, "best");
    mer_json_bool(json, "feasible", result->best.feasible);
    if (result->best.feasible) {
        mer_json_real(json, "score", result->score);
    } else {
        mer_json_text(json, "reason", result->best.reason);
    }
    mer_write_metrics(json, result->best.value);
    mer_json_end_object(json);
    write_bound(result, json);
    if (detail) {
        mer_json_raw(json, "detail", detail);
    }
    mer_json_end_object(json);
}

static bool has_total(const MerRunResult *result)
{
    return result->task_count > 1 || (result->task_count == 1 && result->tasks[0].task.count > 1);
}

static void write_total(const MerRunResult *result, MerJson *json)
{
    mer_json_object(json, "best");
    if (result->is_feasible && !isnan(result->total.score)) {
        mer_json_real(json, "score", result->total.score);
    }
    mer_json_bool(json, "feasible", result->is_feasible);
    if (result->is_feasible) {
        mer_write_metrics(json, result->total.best.value);
    } else {
        int t = 0;
        while (t < result->task_count - 1 && result->tasks[t].best.feasible) {
            t++;
        }
        mer_json_text(json, "reason", result->tasks[t].best.reason);
    }
    mer_json_end_object(json);
    write_bound(&result->total, json);
}

static void print_json(const MerEvaluation *evaluation, const MerRunResult *result)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "format", "mercator-summary/1");
    mer_json_text(&json, "problem", evaluation->spec.problem->name);
    mer_json_text(&json, "platform",
                  evaluation->spec.platform ? evaluation->spec.platform->name : "none");
    mer_json_text(&json, "evaluator", evaluation->spec.evaluator->name);
    write_total(result, &json);
    mer_json_array(&json, "tasks");
    for (int t = 0; t < evaluation->count; t++) {
        write_task(&result->tasks[t], evaluation->given[t].detail, &json);
    }
    mer_json_end_array(&json);
    mer_json_end_object(&json);
    printf("%s\n", json.text);
    mer_json_free(&json);
}

static void print_metrics(const MerTaskResult *result)
{
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        char text[48];
        if (!isnan(result->best.value[m])) {
            mer_show_value(text, (MerMetric)m, result->best.value[m]);
            printf("  %-14s %s\n", mer_metric_info((MerMetric)m)->name, text);
        }
    }
    if (result->is_recorded) {
        printf("  %-14s %.4g %% above the %s bound, recorded in the plan file\n", "gap",
               100 * result->gap, result->bound.kind);
    } else if (result->is_proven) {
        printf("  %-14s 0.00 %%, proven optimal (%s bound)\n", "gap", result->bound.kind);
    } else if (100 * result->gap >= MER_MOST_PERCENT) {
        printf("  %-14s > %d %% above the %s bound\n", "gap", MER_MOST_PERCENT, result->bound.kind);
    } else if (!isnan(result->gap)) {
        printf("  %-14s %.4g %% above the %s bound\n", "gap", 100 * result->gap,
               result->bound.kind);
    }
}

static void print_text(const MerEvaluation *evaluation, const MerRunResult *result)
{
    for (int t = 0; t < result->task_count; t++) {
        const MerTaskResult *task = &result->tasks[t];
        printf("%s%s%s\n", task->task.name, evaluation->spec.platform ? " on " : "",
               evaluation->spec.platform ? evaluation->spec.platform->name : "");
        if (task->text) {
            mer_print_lines(stdout, task->text, 2);
        }
        if (!task->best.feasible) {
            printf("infeasible: %s\n", task->best.reason);
        }
        print_metrics(task);
    }
    if (has_total(result) && result->is_feasible) {
        printf("total\n");
        print_metrics(&result->total);
    } else if (has_total(result)) {
        printf("no total: not every plan is feasible\n");
    }
}

static MerStatus price(MerEvaluation *evaluation, MerRunResult *result, MerError *error)
{
    MerStatus status = mer_run_given(&evaluation->spec, evaluation->given, evaluation->count,
                                     evaluation->arena, result, error);
    if (status != MER_OK && !result->has_ended) {
        return status;
    }
    for (int t = 0; t < evaluation->count; t++) {
        MerYaml *body = evaluation->given[t].body;
        if (body && mer_yaml_finish(body, error) != MER_OK) {
            result->has_ended = false;
            return MER_INVALID;
        }
    }
    return status;
}

static void print_help(void)
{
    int columns = mer_terminal_columns(stdout);
    mer_print_lines(
        stdout,
        "usage: mercator evaluate FILE... [--plan FILE] [--platform P] [--evaluator E] "
        "[--objective O] [--export NAME=FILE] [--json]\n"
        "\n"
        "FILE is a plan file that a run has written, or its folder, or files of another tool:\n",
        0);
    for (const MerPlanReaderClass *const *reader = mer_plan_readers(); *reader; reader++) {
        fputs("  ", stdout);
        mer_print_words(stdout, (*reader)->summary, 2, 2, columns);
        if ((*reader)->flag) {
            printf("    (--%s FILE says the same as --plan FILE)\n", (*reader)->flag);
        }
    }
    for (const MerInspectorClass *const *type = mer_inspectors(); *type; type++) {
        if ((*type)->flag) {
            int used = printf("--%s KIND FILE: ", (*type)->flag);
            mer_print_words(stdout, (*type)->summary, used, 0, columns);
        }
    }
    mer_print_lines(stdout,
                    "A plan that does not carry its workload is priced on the one it names, or on "
                    "--workload FILE.\n"
                    "Further options are those of the problem and of the evaluator, as of the "
                    "searching verbs; --dim NAME=SIZE for a workload with open sizes.\n",
                    0);
}

static int print_numbers(const MerEvaluateRequest *request, MerArena *arena)
{
    MerError      error = {0};
    MerInspection file = {.arena = arena,
                          .path = request->inputs[0],
                          .platform = request->platform,
                          .kind = request->kind,
                          .is_json = request->json,
                          .out = stdout};
    return mer_cli_print_file(request->inspector, &file, &error) == MER_OK ? MER_EXIT_DONE
                                                                           : mer_cli_fail(&error);
}

int mer_cli_evaluate(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    MerEvaluateRequest request = {0};
    MerEvaluation      evaluation = {.arena = arena};
    MerRunResult       result = {0};
    MerError           error = {0};
    int                code = parse(verb, count, arguments, arena, &request);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    if (request.is_help) {
        print_help();
        return MER_EXIT_DONE;
    }
    if (request.inspector) {
        return print_numbers(&request, arena);
    }
    if (check_folders(&request, arena, &error) != MER_OK ||
        mer_evaluate_open(&evaluation, &request, &error) != MER_OK) {
        return mer_cli_fail(&error);
    }
    bool is_priced = price(&evaluation, &result, &error) == MER_OK;
    if (!is_priced && !result.has_ended) {
        return mer_cli_fail(&error);
    }
    if (request.json) {
        print_json(&evaluation, &result);
    } else {
        print_text(&evaluation, &result);
    }
    return is_priced ? MER_EXIT_DONE : mer_cli_fail(&error); /* of an exporter */
}
