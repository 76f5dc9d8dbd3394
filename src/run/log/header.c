/* The first line of the log (docs/formats.md, "Run log"). */
#include "run/log/header.h"

#include "run/internal.h"

#include "base/option_json.h"

void mer_header_plugin(MerJson *json, const char *key, const char *name, const MerOption *table,
                       size_t size, const void *options, MerArena *arena)
{
    mer_json_object(json, key);
    mer_json_text(json, "name", name);
    if (table) {
        const void *all = mer_options_or_defaults(options, table, size, arena);
        mer_options_write(table, all, json, "options");
    }
}

static void write_input(MerJson *json, const char *key, const char *name, uint64_t hash)
{
    mer_json_object(json, key);
    mer_json_text(json, "name", name);
    mer_json_hash(json, "hash", hash);
    mer_json_end_object(json);
}

void mer_header_inputs(MerJson *json, const MerRunSpec *spec, int version, MerArena *arena)
{
    const MerProblemClass *problem = spec->problem;
    mer_json_text(json, "format", mer_arena_format(arena, "mercator-run/%d", version));
    mer_json_text(json, "version", MERCATOR_VERSION);
    mer_header_plugin(json, "problem", problem->name, problem->options, problem->options_size,
                      spec->problem_options, arena);
    mer_json_end_object(json);
    write_input(json, "workload", spec->name, spec->graph ? spec->graph->hash : 0);
    write_input(json, "platform", spec->platform ? spec->platform->name : "none",
                spec->platform ? spec->platform->hash : 0);
}

void mer_header_optimizer(MerJson *json, const MerRunSpec *spec, MerArena *arena)
{
    const MerOptimizerClass *type = spec->optimizer;
    mer_header_plugin(json, "optimizer", type->name, type->options, type->options_size,
                      spec->optimizer_options, arena);
    mer_json_end_object(json);
}

static void write_pareto(MerJson *json, const MerRunSpec *spec)
{
    const char *names[MER_MAX_PARETO];
    for (int m = 0; m < spec->pareto_count; m++) {
        names[m] = mer_metric_info(spec->pareto[m])->name;
    }
    mer_json_texts(json, "pareto", names, spec->pareto_count);
}

static void write_fixed(MerJson *json, const MerRunSpec *spec)
{
    mer_json_object(json, "fixed");
    for (int f = 0; f < spec->fixed_count; f++) {
        mer_json_real(json, spec->fixed[f].name, spec->fixed[f].value);
    }
    mer_json_end_object(json);
}

void mer_header_limits(MerJson *json, const MerRunSpec *spec)
{
    static const char *const log_names[] = {"auto", "all", "improving"};
    mer_json_int(json, "seed", (int64_t)spec->seed);
    mer_json_int(json, "budget", spec->total_budget > 0 ? spec->total_budget : spec->budget);
    if (spec->total_budget > 0) {
        mer_json_int(json, "task_budget", spec->budget);
    }
    if (spec->time_s > 0) {
        mer_json_real(json, "time_s", spec->time_s);
    }
    if (spec->total_time_s > 0) {
        mer_json_real(json, "total_time_s", spec->total_time_s);
    }
    if (spec->pareto_count > 0) {
        write_pareto(json, spec);
    }
    mer_json_int(json, "batch", spec->batch > 0 ? spec->batch : MER_DEFAULT_BATCH);
    mer_json_text(json, "legality", spec->learned_legality ? "learned" : "known");
    if (spec->gap > 0) {
        mer_json_real(json, "gap", spec->gap);
    }
    if (spec->policy) {
        mer_json_text(json, "policy", spec->policy);
    }
    if (spec->warm) {
        mer_json_text(json, "warm", spec->warm);
    }
    if (spec->fixed_count > 0) {
        write_fixed(json, spec);
    }
    if (spec->rounds > 0) {
        mer_json_int(json, "rounds", spec->rounds);
    }
    if (spec->assess > 0) {
        mer_json_int(json, "assess", spec->assess);
    }
    mer_json_text(json, "count", spec->count_distinct ? "distinct" : "all");
    mer_json_text(json, "log", log_names[spec->log]);
}

/* What is priced with, and what only the opened evaluator knows of itself. */
static void write_evaluator(MerRunState *run, MerJson *json)
{
    const MerRunTask        *task = &run->tasks[0];
    const MerEvaluatorClass *type = task->evaluator.type, *inner = task->inner.type;
    mer_header_plugin(json, "evaluator", type->name, type->options, type->options_size,
                      task->evaluator.options, run->arena);
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
    if (inner) {
        mer_header_plugin(json, "inner", inner->name, inner->options, inner->options_size,
                          task->inner.options, run->arena);
        mer_json_end_object(json);
    }
    mer_json_end_object(json);
}

static void write_objective(const MerObjective *objective, MerJson *json)
{
    mer_json_text(json, "objective", objective->text);
    if (objective->metric != MER_METRIC_COUNT) {
        mer_json_text(json, "unit", mer_metric_info(objective->metric)->unit);
    }
    mer_json_int(json, "direction", objective->direction);
}

/* Of all knobs: they say how points are written. */
static void write_choices(const MerSpace *space, MerJson *json)
{
    mer_json_array(json, "choices");
    for (int k = 0; k < space->knob_count; k++) {
        mer_json_int(json, NULL, space->knobs[k].choices);
    }
    mer_json_end_array(json);
}

static void write_tasks(MerRunState *run, MerJson *json)
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
        if (!run->log.words.is_long) {
            write_choices(&task->problem.space, json);
        }
        mer_json_real(json, "log10_size", mer_space_log10_size(&task->view));
        mer_json_hash(json, "hash", mer_space_hash(&task->problem.space));
        mer_run_write_bound(json, "bound", &result->bound);
        mer_json_end_object(json);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

MerStatus mer_run_header(MerRunState *run, MerError *error)
{
    const MerRunSpec *spec = run->spec;
    MerJson           json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "type", "header");
    mer_header_inputs(&json, spec, run->log.words.is_long ? 1 : 2, run->arena);
    write_evaluator(run, &json);
    mer_header_optimizer(&json, spec, run->arena);
    write_objective(&run->objective, &json);
    mer_header_limits(&json, spec);
    mer_json_bool(&json, "reproducible", run->result->is_reproducible);
    if (spec->evaluator->mode == MER_EVALUATE_MEASURED) {
        mer_json_bool(&json, "measured", true);
    }
    write_tasks(run, &json);
    mer_words_take_header(&run->log.words, json.text);
    return mer_runlog_end_line(&run->log, &json, error);
}
