/* The last line of the log, and the summary that `--json` prints (docs/formats.md, "Summary"). */
#include "run/internal.h"

#include "base/file.h"
#include "base/log.h"

#include <math.h>
#include <string.h>

void mer_run_write_bound(MerJson *json, const char *key, const MerBound *bound)
{
    mer_json_object(json, key);
    mer_json_real(json, "value", bound->value);
    mer_json_text(json, "kind", bound->kind);
    mer_json_text(json, "scope", bound->scope);
}

static void write_bound(MerJson *json, const char *key, const MerBound *bound, double gap,
                        bool is_proven)
{
    mer_run_write_bound(json, key, bound);
    mer_json_real(json, "gap", gap);
    mer_json_bool(json, "proven", is_proven);
    mer_json_end_object(json);
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
        mer_write_metrics(json, result->best.value);
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

/* What the summary says of a task and of the whole alike. */
static void write_result(const MerRunState *run, const MerTaskResult *result, MerJson *json)
{
    mer_json_int(json, "trials", result->trials);
    mer_json_int(json, "evaluations", result->evaluations);
    mer_json_text(json, "stopped", result->stopped);
    write_best(run, result, json);
    MerBound bound = result->bound;
    bound.scope = !*bound.scope && result->among ? result->among : bound.scope;
    write_bound(json, "bound", &bound, result->gap, result->is_proven);
    if (strcmp(result->reference.kind, "none") != 0) {
        double gap = mer_objective_gap(&run->objective, result->value, result->reference.value);
        write_bound(json, "reference", &result->reference, gap, gap <= 1e-12);
    }
    write_infeasible(result, json);
    write_front(run, result, json);
    mer_write_spent(json, result->spent);
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
        if (result->outcome) {
            mer_json_raw(json, "result", result->outcome);
        }
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
    MER_TRY(mer_runlog_end_line(&run->log, &json, error));
    return mer_runlog_sync(&run->log, error);
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
    if (spec->inner) {
        mer_json_text(json, "inner", spec->inner->name);
    }
    mer_json_text(json, "optimizer", spec->optimizer->name);
    mer_json_text(json, "objective", run->objective.text);
    mer_json_int(json, "seed", (int64_t)spec->seed);
    mer_json_int(json, "budget", spec->total_budget > 0 ? spec->total_budget : spec->budget);
    mer_json_real(json, "wall_s", result->wall_s);
    mer_json_real(json, "evaluations_per_s",
                  (double)result->total.evaluations / fmax(result->wall_s, 1e-9));
    write_decisions(&result->decisions, json);
    mer_phase_write(&result->training, json);
    mer_json_bool(json, "reproducible", result->is_reproducible);
    write_result(run, &result->total, json);
    write_tasks(run, json);
    mer_json_texts(json, "files", result->files, result->file_count);
    mer_json_end_object(json);
}

/* Seconds as clock.jsonl has them, so that the sum of its sittings is the same number again. */
static double micros(double seconds)
{
    return round(seconds * 1e6) / 1e6;
}

MerStatus mer_run_summary(MerRunState *run, MerError *error)
{
    MerRunResult *result = run->result;
    MER_TRY(write_summary_line(run, error));
    double now = mer_clock();
    double own = micros(now - run->started) - micros(mer_deadline_followed(run, now));
    result->wall_s = micros(run->before.wall_s + own);
    mer_deadline_tick(run, now);
    MerJson json = {0};
    write_summary(run, &json);
    result->summary = mer_json_keep(&json, run->arena);
    return mer_run_write_file(run, "summary.json", result->summary, strlen(result->summary), error);
}

void mer_run_add_file(MerRunState *run, const char *name)
{
    MerRunResult *result = run->result;
    for (int f = 0; f < result->file_count; f++) {
        if (strcmp(result->files[f], name) == 0) {
            return;
        }
    }
    MER_GROW(run->arena, result->files, result->file_count);
    result->files[result->file_count++] = name;
}

static bool is_written(const char *path, const void *data, size_t size)
{
    MerArena *arena = mer_arena_new();
    char     *found;
    size_t    found_size;
    bool      is_same = mer_file_read(path, size, arena, &found, &found_size, NULL) == MER_OK &&
                   found_size == size && memcmp(found, data, size) == 0;
    mer_arena_free(arena);
    return is_same;
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
        if (is_written(path, data, size)) { /* by this run, before it was stopped */
            mer_run_add_file(run, name);
            return MER_OK;
        }
        mer_run_warn(run, mer_arena_format(run->arena,
                                           "%s stays as it is: it was not written by a run", path));
        return MER_OK;
    }
    if (slash) {
        const char *folder = mer_arena_format(run->arena, "%s/%.*s", run->spec->directory,
                                              (int)(slash - name), name);
        MER_TRY(mer_directory_make(folder, run->arena, error));
    }
    mer_folder_will_write(run, name);
    MER_TRY(mer_file_write(path, data, size, error));
    mer_run_add_file(run, name);
    return MER_OK;
}
