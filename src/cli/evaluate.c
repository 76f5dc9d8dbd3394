/* evaluate: the cost of given plans. An infeasible plan is an answer, with its reason. */
#include "cli/cli.h"
#include "cli/evaluate_input.h"

#include "base/json.h"
#include "report/table.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_option(MerReference *options, const char *flag, const char *value, int room,
                       MerArena *arena)
{
    if (!options->keys) {
        options->keys = MER_ARRAY(arena, const char *, room);
        options->values = MER_ARRAY(arena, const char *, room);
    }
    options->keys[options->count] = mer_arena_text_n(arena, flag + 2, strcspn(flag + 2, "="));
    options->values[options->count++] = value;
}

static int parse(const MerVerb *verb, int count, char **arguments, MerArena *arena,
                 MerEvaluateRequest *request)
{
    struct {
        const char  *name;
        const char **value;
    } flags[] = {{"platform", &request->platform},
                 {"evaluator", &request->evaluator},
                 {"objective", &request->objective},
                 {"mapping", &request->mapping},
                 {"workload", &request->workload}};
    for (int i = 0; i < count; i++) {
        const char *flag = arguments[i];
        if (mer_cli_is(flag, "json")) {
            request->json = true;
        } else if (mer_cli_is(flag, "help") || strcmp(flag, "-h") == 0) {
            request->is_help = true;
        } else if (flag[0] != '-') {
            if (request->input_count == MER_EVALUATE_INPUTS) {
                return mer_cli_usage(verb, "more than %d files", MER_EVALUATE_INPUTS);
            }
            request->inputs[request->input_count++] = flag;
        } else if (strncmp(flag, "--", 2) == 0) {
            const char **target = NULL;
            for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++) {
                target = mer_cli_is(flag, flags[f].name) ? flags[f].value : target;
            }
            const char *value = mer_cli_value(count, arguments, &i);
            if (!value) {
                return mer_cli_usage(verb, "%s needs a value", flag);
            }
            if (target) {
                *target = value;
            } else if (mer_cli_is(flag, "dim") && request->dim_count < MER_EVALUATE_INPUTS) {
                request->dims[request->dim_count++] = value;
            } else {
                add_option(&request->options, flag, value, count, arena);
            }
        } else {
            return mer_cli_usage(verb, "unexpected argument %s", flag);
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
    const cJSON *breakdown = cJSON_GetObjectItemCaseSensitive(parsed, "breakdown");
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(breakdown, "status");
    const cJSON *counts = cJSON_GetObjectItemCaseSensitive(breakdown, "counts");
    const char  *word = cJSON_GetStringValue(status);
    mer_json_text(json, "status", word ? word : result->best.feasible ? "ok" : "infeasible");
    char *text = breakdown ? cJSON_PrintUnformatted(counts ? counts : breakdown) : NULL;
    mer_json_raw(json, "counts", text ? text : "null");
    free(text);
    cJSON_Delete(parsed);
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
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        if (!isnan(result->best.value[m])) {
            mer_json_real(json, mer_metric_info((MerMetric)m)->name, result->best.value[m]);
        }
    }
    mer_json_end_object(json);
    mer_json_object(json, "bound");
    mer_json_real(json, "value", result->bound.value);
    mer_json_text(json, "kind", result->bound.kind);
    mer_json_real(json, "gap", result->gap);
    mer_json_end_object(json);
    if (detail) {
        mer_json_raw(json, "detail", detail);
    }
    mer_json_end_object(json);
}

static void print_json(const MerEvaluateJob *job, const MerTaskResult *results)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "format", "mercator-summary/1");
    mer_json_text(&json, "problem", job->spec.problem->name);
    mer_json_text(&json, "platform", job->spec.platform->name);
    mer_json_text(&json, "evaluator", job->spec.evaluator->name);
    mer_json_array(&json, "tasks");
    for (int t = 0; t < job->count; t++) {
        write_task(&results[t], job->given[t].detail, &json);
    }
    mer_json_end_array(&json);
    mer_json_end_object(&json);
    printf("%s\n", json.text);
    mer_json_free(&json);
}

static void print_text(const MerEvaluateJob *job, const MerTaskResult *results)
{
    for (int t = 0; t < job->count; t++) {
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
                mer_print_engineering(text, result->best.value[m],
                                      mer_metric_info((MerMetric)m)->unit);
                printf("  %-14s %s\n", mer_metric_info((MerMetric)m)->name, text);
            }
        }
        if (100 * result->gap >= MER_MOST_PERCENT) {
            printf("  %-14s > %d %% above the %s bound\n", "gap", MER_MOST_PERCENT,
                   result->bound.kind);
        } else if (!isnan(result->gap)) {
            printf("  %-14s %.4g %% above the %s bound\n", "gap", 100 * result->gap,
                   result->bound.kind);
        }
    }
}

static MerStatus price(MerEvaluateJob *job, int t, MerTaskResult *result, MerError *error)
{
    MerGiven *given = &job->given[t];
    if (!given->body) {
        return mer_run_price(&job->spec, &given->task, &given->plan, job->arena, result,
                             &given->detail, error);
    }
    MerStatus status = mer_run_plan(&job->spec, &given->task, given->body, job->arena, result,
                                    &given->detail, error);
    return status == MER_OK ? mer_yaml_finish(given->body, error) : status;
}

static void print_help(void)
{
    printf("usage: mercator evaluate FILE... [--mapping FILE] [--platform P] [--evaluator E] "
           "[--objective O] [--json]\n"
           "\n"
           "FILE is a plan file (mapping.yaml, schedule.yaml, nest.txt), a MAESTRO network with "
           "Dataflows (.m), or Timeloop files:\n"
           "a problem and, here or by --mapping and --platform, its mapping, architecture and "
           "energies.\n"
           "A schedule is priced on the workload it names, or on --workload FILE.\n"
           "Further options are those of the problem and of the evaluator: --constraints FILE, "
           "--dataflow NAME,\n"
           "--bandwidth N, --share maxmin; --dim NAME=SIZE for a workload with open sizes.\n");
}

int mer_cli_evaluate(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    MerEvaluateRequest request = {0};
    MerEvaluateJob     job = {.arena = arena};
    MerError           error = {0};
    int                code = parse(verb, count, arguments, arena, &request);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    if (request.is_help) {
        print_help();
        return MER_EXIT_DONE;
    }
    if (mer_evaluate_open(&job, &request, &error) != MER_OK) {
        return mer_cli_fail(&error);
    }
    MerTaskResult *results = MER_ARRAY(arena, MerTaskResult, job.count + 1);
    double         start = 0;
    for (int t = 0; t < job.count; t++) {
        double before = t > 0 ? results[t - 1].best.value[MER_METRIC_CYCLES] : 0;
        start += isnan(before) ? 0 : before;
        job.given[t].task.start = start; /* of tasks that follow each other; others ignore it */
        if (price(&job, t, &results[t], &error) != MER_OK) {
            return mer_cli_fail(&error);
        }
    }
    if (request.json) {
        print_json(&job, results);
    } else {
        print_text(&job, results);
    }
    return MER_EXIT_DONE;
}
