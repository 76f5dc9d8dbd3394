/* One run from a MerRunSpec to a result. */
#include "run/search/task_search.h"

#include "base/descriptor.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void mer_run_warn(const MerRunState *run, const char *text)
{
    if (run->hooks.warn) {
        run->hooks.warn(run->hooks.state, text);
    }
}

const char *mer_run_objective(const MerRunSpec *spec)
{
    const char *text = spec->objective ? spec->objective : spec->problem->objective;
    bool        has_clock = spec->platform && !isnan(spec->platform->clock_hz);
    bool        has_cycles = spec->evaluator->metrics >> MER_METRIC_CYCLES & 1;
    return strcmp(text, "latency") == 0 && !has_clock && has_cycles ? "cycles" : text;
}

static MerStatus choose_objective(MerRunState *run, MerError *error)
{
    const MerRunSpec        *spec = run->spec;
    MerObjective            *objective = &run->objective;
    const char              *text = mer_run_objective(spec);
    MerMetric                missing;
    const MerEvaluatorClass *pricer = spec->inner ? spec->inner : spec->evaluator;
    if (strcmp(text, spec->objective ? spec->objective : spec->problem->objective) != 0) {
        mer_run_warn(run, "the platform has no clock_hz: latency is counted in cycles");
    }
    MER_TRY(mer_objective_parse(text, objective, run->arena, error));
    if (!mer_objective_needs(objective, spec->evaluator->metrics, &missing)) {
        return mer_error_set(error, MER_INVALID,
                             "objective %s needs %s, which evaluator %s does not give", text,
                             mer_metric_info(missing)->name, spec->evaluator->name);
    }
    if (spec->platform && isnan(spec->platform->clock_hz) &&
        !mer_objective_needs(objective, ~pricer->clocked, &missing)) {
        return mer_error_set(error, MER_INVALID,
                             "objective %s needs seconds, but platform %s has no clock_hz", text,
                             spec->platform->name);
    }
    run->result->objective = objective->metric;
    run->result->objective_text = objective->text;
    return MER_OK;
}

double mer_run_time(const MerRunSpec *spec)
{
    return spec->time_s > 0 ? spec->time_s : spec->total_time_s;
}

MerStatus mer_run_check(const MerRunSpec *spec, MerError *error)
{
    if (spec->budget <= 0 && spec->total_budget <= 0 && !(spec->time_s > 0) &&
        !(spec->total_time_s > 0)) {
        return mer_error_set(error, MER_INVALID, "a run needs a budget or a time");
    }
    if (spec->warm && mer_warm_is_chain(spec->warm) && !spec->problem->carry) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "--warm chain carries points from task to task, which problem %s "
                             "cannot; learners with transfer carry what they learned",
                             spec->problem->name);
    }
    if (spec->platform && spec->problem->platforms &&
        !(spec->problem->platforms >> spec->platform->kind & 1)) {
        char kinds[160] = "";
        for (int kind = 0, used = 0; spec->problem->platforms >> kind; kind++) {
            if (spec->problem->platforms >> kind & 1) {
                used += snprintf(kinds + used, sizeof kinds - (size_t)used, "%s%s",
                                 used ? " or " : "", mer_platform_kind_name((MerPlatformKind)kind));
            }
        }
        return mer_error_set(error, MER_INVALID,
                             "platform %s is of kind %s, which problem %s cannot use, expected %s: "
                             "see mercator list platforms",
                             spec->platform->name, mer_platform_kind_name(spec->platform->kind),
                             spec->problem->name, kinds);
    }
    const char *solved = spec->optimizer ? spec->optimizer->problem : NULL;
    if (solved && !mer_name_equal(solved, spec->problem->name)) {
        return mer_error_set(error, MER_UNSUPPORTED, "%s solves problem %s, found %s",
                             spec->optimizer->name, solved, spec->problem->name);
    }
    return MER_OK;
}

/* A killed sitting may have left half a line, to which the next one would be added. */
static bool ends_within_line(int descriptor)
{
    char  last = '\n';
    off_t size = lseek(descriptor, 0, SEEK_END);
    return size > 0 && pread(descriptor, &last, 1, size - 1) == 1 && last != '\n';
}

/* Who ran what, where and when: nothing that a result depends on, so it is not in the log. */
static MerStatus open_clock_file(MerRunState *run, MerError *error)
{
    const MerRunSpec *spec = run->spec;
    MerJson           json = {0};
    char              host[256] = "", directory[4096];
    gethostname(host, sizeof host - 1);
    mer_json_object(&json, NULL);
    mer_json_text(&json, "host", host);
    mer_json_int(&json, "threads", mer_pool_threads(run->pool));
    mer_json_raw(&json, "command", spec->command ? spec->command : "null");
    if (getcwd(directory, sizeof directory)) { /* to which the paths of the command belong */
        mer_json_text(&json, "directory", directory);
    }
    mer_json_int(&json, "started", (int64_t)time(NULL));
    mer_json_end_object(&json);
    const char *path = mer_arena_format(run->arena, "%s/clock.jsonl", spec->directory);
    if (spec->resume) {
        run->before = mer_deadline_used(path);
        mer_phase_recall(&run->result->training, path);
    }
    int descriptor =
        mer_descriptor_open(path, O_RDWR | O_CREAT | (spec->resume ? O_APPEND : O_TRUNC));
    run->clock_file = descriptor >= 0 ? fdopen(descriptor, spec->resume ? "a" : "w") : NULL;
    run->watch.clock_file = run->clock_file;
    if (run->clock_file) {
        fprintf(run->clock_file, "%s%s\n", ends_within_line(descriptor) ? "\n" : "", json.text);
        fflush(run->clock_file);
    }
    mer_json_free(&json);
    return run->clock_file
               ? MER_OK
               : mer_error_set(error, MER_IO, "%s: cannot write: %s", path, strerror(errno));
}

static MerStatus open_files(MerRunState *run, MerError *error)
{
    const MerRunSpec *spec = run->spec;
    if (!spec->directory) {
        return mer_runlog_open(&run->log, NULL, false, error);
    }
    MER_TRY(mer_folder_claim(run, error));
    const char *path = mer_arena_format(run->arena, "%s/run.jsonl", spec->directory);
    if (spec->resume && access(path, F_OK) != 0) {
        return mer_error_set(error, MER_NOT_FOUND, "%s: no log to resume", path);
    }
    if (spec->resume) {
        run->ends = mer_log_ends_read(path, run->arena);
    }
    MER_TRY(mer_runlog_open(&run->log, path, spec->resume, error));
    MER_TRY(open_clock_file(run, error));
    if (spec->resume) {
        mer_phase_limit(&run->result->training, path);
    }
    mer_run_add_file(run, "run.jsonl");
    mer_run_add_file(run, "clock.jsonl");
    mer_run_add_file(run, "summary.json");
    return MER_OK;
}

static MerStatus search_task(MerRunState *run, MerRunTask *task, MerError *error)
{
    MER_TRY(mer_run_start_task(run, task, error));
    MER_TRY(mer_run_search(run, task, error));
    if (run->is_interrupted) {
        return MER_OK;
    }
    if (!task->result->point) {
        mer_run_explain(run, task);
    }
    return mer_run_note_best(run, task, error);
}

MerStatus mer_run_search_tasks(MerRunState *run, MerError *error)
{
    for (int t = 0; t < run->task_count && !run->is_interrupted; t++) {
        MER_TRY(search_task(run, &run->tasks[t], error));
    }
    for (int t = 0; t < run->task_count; t++) {
        MerTaskResult *result = run->tasks[t].result;
        result->stopped = result->stopped ? result->stopped : "interrupted";
    }
    return MER_OK;
}

static MerStatus finish(MerRunState *run, MerError *error)
{
    if (run->is_interrupted) { /* the best so far, though the log does not carry it as notes yet */
        MerRunlog silent = run->log;
        run->log = (MerRunlog){0};
        for (int t = 0; t < run->task_count; t++) {
            mer_run_note_best(run, &run->tasks[t], error);
        }
        run->log = silent;
    } else {
        MER_TRY(mer_run_note_graph(run, error));
    }
    mer_run_add_up(run);
    MER_TRY(mer_run_write_plans(run, error));
    MER_TRY(mer_run_export(run, error));
    MER_TRY(mer_run_summary(run, error));
    run->result->has_ended = true;
    return mer_run_tell_late(run, error);
}

static MerStatus open_run(MerRunState *run, int most_tasks, MerError *error)
{
    MER_TRY(mer_run_check(run->spec, error));
    MER_TRY(choose_objective(run, error));
    return mer_run_open_tasks(run, most_tasks, error);
}

MerStatus mer_run_try(const MerRunSpec *spec, MerArena *arena, MerError *error)
{
    MerRunResult result = {0};
    MerRunState  run = {.spec = spec,
                        .arena = arena,
                        .result = &result,
                        .error = error,
                        .deadline = INFINITY,
                        .total_end = INFINITY};
    run.optimizer_arena = mer_arena_new();
    MerStatus status = open_run(&run, 1, error);
    if (status == MER_OK) {
        MerTaskSearch search = {.run = &run, .task = &run.tasks[0], .type = spec->optimizer};
        status = mer_task_search_open(&search, error);
        mer_task_search_close(&search, true);
    }
    mer_run_close_tasks(&run);
    mer_arena_free(run.optimizer_arena);
    return status;
}

/* Does a part of the run look at the clock, or measure? Then no two runs agree. */
static bool is_reproducible(const MerRunSpec *spec, MerArena *arena)
{
    const MerOptimizerClass *type = spec->optimizer;
    bool is_clocked = type->is_clocked && type->is_clocked(mer_run_optimizer_options(spec, arena));
    return !is_clocked && spec->evaluator->mode != MER_EVALUATE_MEASURED;
}

static MerStatus carry_out(MerRunState *run, MerError *error)
{
    MER_TRY(open_run(run, INT_MAX, error));
    MER_TRY(open_files(run, error));
    MER_TRY(mer_run_header(run, error));
    MER_TRY(mer_run_first_round(run, error));
    MER_TRY(mer_run_search_tasks(run, error));
    MER_TRY(mer_run_rounds(run, error));
    return finish(run, error);
}

MerStatus mer_run(const MerRunSpec *spec, const MerRunHooks *hooks, MerArena *arena,
                  MerRunResult *result, MerError *error)
{
    MerRunState run = {
        .spec = spec, .arena = arena, .result = result, .error = error, .started = mer_clock()};
    *result = (MerRunResult){.is_reproducible = is_reproducible(spec, arena)};
    if (hooks) {
        run.hooks = *hooks;
    }
    run.total_end = INFINITY;
    run.watch = (MerPhaseWatch){.times = &result->training, .began = NAN};
    run.last_checkpoint = run.last_tick = run.started;
    run.optimizer_arena = mer_arena_new();
    run.pool = mer_pool_new(spec->threads > 0 ? spec->threads : mer_cpu_count());
    MerStatus status = carry_out(&run, error);
    MerStatus closed = mer_runlog_close(&run.log, status == MER_OK ? error : NULL);
    if (run.clock_file) {
        fclose(run.clock_file);
    }
    mer_run_close_tasks(&run);
    mer_pool_free(run.pool);
    mer_arena_free(run.optimizer_arena);
    return status != MER_OK ? status : closed;
}
