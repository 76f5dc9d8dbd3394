/* First and last line of the log, and the summary that `--json` prints (docs/formats.md, "Run log" and
 * "Summary"). */
#include "run/internal.h"
#include "run/log/folder.h"

#include "base/log.h"
#include "base/option_json.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void write_plugin(MerJson *json, const char *key, const char *name, const MerOption *table,
                         const void *options)
{
    mer_json_object(json, key);
    mer_json_text(json, "name", name);
    if (table) {
        mer_options_write(table, options, json, "options");
    }
}

static void write_input(MerJson *json, const char *key, const char *name, uint64_t hash)
{
    mer_json_object(json, key);
    mer_json_text(json, "name", name);
    mer_json_hash(json, "hash", hash);
    mer_json_end_object(json);
}

static void write_bound(MerJson *json, const char *key, const MerBound *bound, double gap,
                        bool is_proven, bool with_gap)
{
    mer_json_object(json, key);
    mer_json_real(json, "value", bound->value);
    mer_json_text(json, "kind", bound->kind);
    mer_json_text(json, "scope", bound->scope);
    if (with_gap) {
        mer_json_real(json, "gap", gap);
        mer_json_bool(json, "proven", is_proven);
    }
    mer_json_end_object(json);
}

static void write_header_tasks(MerRunState *run, MerJson *json)
{
    mer_json_array(json, "tasks");
    for (int t = 0; t < run->task_count; t++) {
        const MerRunTask    *task = &run->tasks[t];
        const MerTaskResult *result = task->result;
        mer_json_object(json, NULL);
        mer_json_text(json, "name", result->task.name);
        mer_json_int(json, "count", result->task.count);
        mer_json_real(json, "macs", result->task.macs);
        mer_json_int(json, "knobs", task->view.knob_count);
        mer_json_array(json, "knob_names"); /* notes of optimizers speak of knobs by their place */
        for (int k = 0; k < task->view.knob_count; k++) {
            mer_json_text(json, NULL, task->view.knobs[k].name);
        }
        mer_json_end_array(json);
        mer_json_real(json, "log10_size", mer_space_log10_size(&task->view));
        mer_json_hash(json, "hash", mer_space_hash(&task->problem.space));
        write_bound(json, "bound", &result->bound, 0, false, false);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

static void write_evaluator(MerRunState *run, MerJson *json)
{
    const MerRunTask        *task = &run->tasks[0];
    const MerEvaluatorClass *type = task->evaluator.type;
    write_plugin(json, "evaluator", type->name, type->options, task->evaluator.options);
    if (type->tables_hash) {
        mer_json_hash(json, "tables_hash", type->tables_hash(task->evaluator.state));
    }
    bool is_close = false;
    for (int t = 0; type->approximates && t < run->task_count; t++) {
        is_close = is_close || type->approximates(run->tasks[t].evaluator.state);
    }
    if (is_close) {
        mer_json_text(json, "exact", "best"); /* other trials have values close to the exact ones */
    }
    if (task->inner.type) {
        write_plugin(json, "inner", task->inner.type->name, task->inner.type->options,
                     task->inner.options);
        mer_json_end_object(json);
    }
    mer_json_end_object(json);
}

static void write_optimizer(MerRunState *run, MerJson *json)
{
    const MerOptimizerClass *type = run->spec->optimizer;
    const void              *options = run->spec->optimizer_options;
    if (!options && type->options) {
        void *defaults = mer_arena_alloc(run->arena, type->options_size);
        mer_options_defaults(type->options, defaults, run->arena);
        options = defaults;
    }
    write_plugin(json, "optimizer", type->name, type->options, options);
    mer_json_end_object(json);
}

MerStatus mer_run_header(MerRunState *run, MerError *error)
{
    static const char *const log_names[] = {"auto", "all", "improving"};
    const MerRunSpec        *spec = run->spec;
    MerJson                  json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "type", "header");
    mer_json_text(&json, "format", "mercator-run/1");
    mer_json_text(&json, "version", MERCATOR_VERSION);
    write_plugin(&json, "problem", spec->problem->name, spec->problem->options,
                 run->tasks[0].problem.options);
    mer_json_end_object(&json);
    write_input(&json, "workload", spec->name, spec->graph ? spec->graph->hash : 0);
    write_input(&json, "platform", spec->platform ? spec->platform->name : "none",
                spec->platform ? spec->platform->hash : 0);
    write_evaluator(run, &json);
    write_optimizer(run, &json);
    mer_json_text(&json, "objective", run->objective.text);
    if (run->objective.metric == MER_METRIC_COUNT) {
        mer_json_int(&json, "direction", run->objective.direction);
    } else {
        mer_json_text(&json, "unit", mer_metric_info(run->objective.metric)->unit);
        mer_json_int(&json, "direction", mer_metric_info(run->objective.metric)->direction);
    }
    mer_json_int(&json, "seed", (int64_t)spec->seed);
    mer_json_int(&json, "budget", spec->total_budget > 0 ? spec->total_budget : spec->budget);
    if (spec->total_budget > 0) {
        mer_json_int(&json, "task_budget", spec->budget);
    }
    if (spec->time_s > 0) {
        mer_json_real(&json, "time_s", spec->time_s);
    }
    for (int m = 0; m < spec->pareto_count; m++) {
        if (m == 0) {
            mer_json_array(&json, "pareto");
        }
        mer_json_text(&json, NULL, mer_metric_info(spec->pareto[m])->name);
        if (m + 1 == spec->pareto_count) {
            mer_json_end_array(&json);
        }
    }
    mer_json_int(&json, "batch", spec->batch > 0 ? spec->batch : MER_DEFAULT_BATCH);
    mer_json_text(&json, "legality", spec->learned_legality ? "learned" : "known");
    if (spec->gap > 0) {
        mer_json_real(&json, "gap", spec->gap);
    }
    if (spec->warm) {
        mer_json_text(&json, "warm", spec->warm);
    }
    for (int f = 0; f < spec->fixed_count; f++) {
        if (f == 0) {
            mer_json_object(&json, "fixed");
        }
        mer_json_real(&json, spec->fixed[f].name, spec->fixed[f].value);
        if (f + 1 == spec->fixed_count) {
            mer_json_end_object(&json);
        }
    }
    mer_json_text(&json, "count", spec->count_distinct ? "distinct" : "all");
    mer_json_text(&json, "log", log_names[spec->log]);
    mer_json_bool(&json, "reproducible", run->result->is_reproducible);
    if (spec->evaluator->mode == MER_EVALUATE_MEASURED) {
        mer_json_bool(&json, "measured", true);
    }
    write_header_tasks(run, &json);
    mer_json_end_object(&json);
    MerStatus status = mer_runlog_line(&run->log, json.text, error);
    mer_json_free(&json);
    return status;
}

static void write_best(const MerRunState *run, const MerTaskResult *result, MerJson *json)
{
    bool is_total = result == &run->result->total;
    mer_json_object(json, "best");
    if (is_total ? !run->result->is_feasible : isnan(result->value)) {
        mer_json_bool(json, "feasible", false);
        const MerReasonCount *commonest = NULL;
        for (int r = 0; r < result->reason_count; r++) {
            bool is_commoner = !commonest || result->reasons[r].count > commonest->count;
            commonest = is_commoner ? &result->reasons[r] : commonest;
        }
        bool was_stopped = result->stopped && strcmp(result->stopped, "interrupted") == 0;
        mer_json_text(json, "reason",
                      was_stopped ? "interrupted"
                      : commonest ? commonest->nearest
                                  : "no trial");
    } else {
        if (!isnan(result->score)) {
            mer_json_real(json, "score", result->score);
        }
        mer_json_bool(json, "feasible", true);
        if (isnan(result->score)) {
            mer_json_text(json, "reason", MER_NO_TOTAL);
        }
        for (int m = 0; m < MER_METRIC_COUNT; m++) {
            if (!isnan(result->best.value[m])) {
                mer_json_real(json, mer_metric_info((MerMetric)m)->name, result->best.value[m]);
            }
        }
    }
    mer_json_end_object(json);
}

static void write_infeasible(const MerTaskResult *result, MerJson *json)
{
    mer_json_object(json, "infeasible");
    mer_json_int(json, "count", result->infeasible);
    mer_json_object(json, "reasons");
    for (int r = 0; r < result->reason_count; r++) {
        mer_json_int(json, result->reasons[r].class_name, result->reasons[r].count);
    }
    mer_json_end_object(json);
    mer_json_object(json, "nearest");
    for (int r = 0; r < result->reason_count; r++) {
        mer_json_text(json, result->reasons[r].class_name, result->reasons[r].nearest);
    }
    mer_json_end_object(json);
    mer_json_end_object(json);
}

static void write_front(const MerRunState *run, const MerTaskResult *result, MerJson *json)
{
    const MerRunSpec *spec = run->spec;
    mer_json_array(json, "front");
    for (int i = 0; i < result->front_count; i++) {
        mer_json_object(json, NULL);
        mer_json_int(json, "index", result->front[i].index);
        for (int m = 0; m < spec->pareto_count; m++) {
            const MerMetricInfo *info = mer_metric_info(spec->pareto[m]);
            mer_json_real(json, info->name, -info->direction * result->front[i].value[m]);
        }
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

static void write_spent(const MerTaskResult *result, MerJson *json)
{
    static const char *const names[MER_SPENT_COUNT] = {
#define X(id, name) name,
        MER_SPENT_MAP(X)
#undef X
    };
    mer_json_object(json, "spent");
    for (int s = 0; s < MER_SPENT_COUNT; s++) {
        if (result->spent[s] != 0) {
            mer_json_real(json, names[s], result->spent[s]);
        }
    }
    mer_json_end_object(json);
}

/* What the summary says of a task and of the whole alike. */
static void write_result(const MerRunState *run, const MerTaskResult *result, MerJson *json)
{
    mer_json_int(json, "trials", result->trials);
    mer_json_int(json, "evaluations", result->evaluations);
    mer_json_text(json, "stopped", result->stopped);
    write_best(run, result, json);
    MerBound bound = result->bound;
    bound.scope = !*bound.scope && result->among ? result->among : bound.scope;
    write_bound(json, "bound", &bound, result->gap, result->is_proven, true);
    if (strcmp(result->reference.kind, "none") != 0) {
        double gap = mer_objective_gap(&run->objective, result->value, result->reference.value);
        write_bound(json, "reference", &result->reference, gap, gap <= 1e-12, true);
    }
    write_infeasible(result, json);
    write_front(run, result, json);
    write_spent(result, json);
}

void mer_run_write_warnings(MerJson *json, const char *key, const char *text, MerArena *arena)
{
    mer_json_array(json, key);
    while (*text) {
        size_t length = strcspn(text, "\n");
        mer_json_text(json, NULL, mer_arena_text_n(arena, text, length));
        text += length + (text[length] == '\n');
    }
    mer_json_end_array(json);
}

static void write_milestones(const MerTaskResult *result, MerJson *json)
{
    mer_json_array(json, "milestones");
    for (int i = 0; i < result->milestone_count; i++) {
        mer_json_object(json, NULL);
        mer_json_int(json, "generations", result->milestones[i].generations);
        mer_json_int(json, "evaluations", result->milestones[i].evaluations);
        mer_json_real(json, "value", result->milestones[i].value);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

static void write_tasks(const MerRunState *run, MerJson *json)
{
    mer_json_array(json, "tasks");
    for (int t = 0; t < run->task_count; t++) {
        const MerTaskResult *result = &run->result->tasks[t];
        mer_json_object(json, NULL);
        mer_json_text(json, "name", result->task.name);
        mer_json_int(json, "count", result->task.count);
        mer_json_real(json, "macs", result->task.macs);
        if (result->warnings) {
            mer_run_write_warnings(json, "warnings", result->warnings, run->arena);
        }
        write_result(run, result, json);
        if (result->milestone_count > 0) {
            write_milestones(result, json);
        }
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

static MerStatus write_summary_line(MerRunState *run, MerError *error)
{
    MerJson json = {0};
    if (run->is_interrupted && run->log.is_replay) {
        return MER_OK; /* the old log goes further than this run came: it stays as it is */
    }
    mer_json_object(&json, NULL);
    mer_json_text(&json, "type", "summary");
    write_result(run, &run->result->total, &json);
    write_tasks(run, &json);
    mer_json_end_object(&json);
    MerStatus status = mer_runlog_line(&run->log, json.text, error);
    mer_json_free(&json);
    return status == MER_OK ? mer_runlog_flush(&run->log, error) : status;
}

static void write_decisions(const MerDecisionTimes *times, MerJson *json)
{
    if (times->count == 0) {
        return;
    }
    mer_json_object(json, "decisions");
    mer_json_int(json, "count", times->count);
    mer_json_real(json, "mean_ms", times->total_ms / (double)times->count);
    mer_json_real(json, "worst_ms", times->worst_ms);
    if (times->allowed_ms > 0) {
        mer_json_real(json, "allowed_ms", times->allowed_ms);
        mer_json_int(json, "late", times->late);
    }
    mer_json_end_object(json);
}

static void write_summary(MerRunState *run, MerJson *json)
{
    const MerRunSpec *spec = run->spec;
    MerRunResult     *result = run->result;
    mer_json_object(json, NULL);
    mer_json_text(json, "format", "mercator-summary/1");
    mer_json_text(json, "problem", spec->problem->name);
    mer_json_text(json, "workload", spec->name);
    mer_json_text(json, "platform", spec->platform ? spec->platform->name : "none");
    mer_json_text(json, "evaluator", spec->evaluator->name);
    mer_json_text(json, "optimizer", spec->optimizer->name);
    mer_json_text(json, "objective", run->objective.text);
    mer_json_int(json, "seed", (int64_t)spec->seed);
    mer_json_int(json, "budget", spec->total_budget > 0 ? spec->total_budget : spec->budget);
    mer_json_real(json, "wall_s", result->wall_s);
    mer_json_real(json, "evaluations_per_s",
                  (double)result->total.evaluations / fmax(result->wall_s, 1e-9));
    write_decisions(&result->decisions, json);
    mer_json_bool(json, "reproducible", result->is_reproducible);
    write_result(run, &result->total, json);
    write_tasks(run, json);
    mer_json_array(json, "files");
    for (int f = 0; f < result->file_count; f++) {
        mer_json_text(json, NULL, result->files[f]);
    }
    mer_json_end_array(json);
    mer_json_end_object(json);
}

MerStatus mer_run_summary(MerRunState *run, MerError *error)
{
    MerRunResult *result = run->result;
    MerStatus     status = write_summary_line(run, error);
    result->wall_s = mer_clock() - run->started;
    MerJson json = {0};
    write_summary(run, &json);
    result->summary = mer_arena_text(run->arena, json.text);
    mer_json_free(&json);
    return status == MER_OK ? mer_run_write_file(run, "summary.json", result->summary,
                                                 strlen(result->summary), error)
                            : status;
}

void mer_run_add_file(MerRunState *run, const char *name)
{
    MerRunResult *result = run->result;
    for (int f = 0; f < result->file_count; f++) {
        if (strcmp(result->files[f], name) == 0) {
            return;
        }
    }
    if (result->file_count == result->file_capacity) {
        const char **old = result->files;
        result->file_capacity = result->file_capacity * 2 + 16;
        result->files = MER_ARRAY(run->arena, const char *, result->file_capacity);
        if (old) {
            memcpy(result->files, old, (size_t)result->file_count * sizeof *old);
        }
    }
    result->files[result->file_count++] = name;
}

MerStatus mer_run_write_file(MerRunState *run, const char *name, const void *data, size_t size,
                             MerError *error)
{
    if (!run->spec->directory) {
        return MER_OK;
    }
    const char *path = mer_arena_format(run->arena, "%s/%s", run->spec->directory, name);
    const char *slash = strrchr(name, '/');
    if (!mer_folder_may_write(run, name)) {
        if (run->hooks.warn) {
            run->hooks.warn(run->hooks.state,
                            mer_arena_format(run->arena,
                                             "%s stays as it is: it was not written by a run",
                                             path));
        }
        return MER_OK;
    }
    if (slash) {
        const char *folder = mer_arena_format(run->arena, "%s/%.*s", run->spec->directory,
                                              (int)(slash - name), name);
        MER_TRY(mer_directory_make(folder, run->arena, error));
    }
    MER_TRY(mer_file_write(path, data, size, run->arena, error));
    mer_run_add_file(run, name);
    return MER_OK;
}
