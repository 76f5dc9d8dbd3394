/* Which cell is this? The header of a log says what was run; a spec says what shall be run. Both are
 * brought to one text, so that an experiment finds its finished cells under any name. */
#include "run/experiment/cells.h"

#include "base/option_json.h"
#include "run/search/objective.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

static const char *const keys[] = {"version",   "problem", "workload", "platform", "optimizer",
                                   "objective", "seed",    "budget",   "time_s",   "gap",
                                   "pareto",    "batch",   "legality", "warm",     "fixed",
                                   "count",     "log"};

static const char *canonical(const char *text, MerArena *arena)
{
    cJSON       *object = cJSON_Parse(text);
    const cJSON *evaluator = cJSON_GetObjectItemCaseSensitive(object, "evaluator");
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(object, "format");
    const char  *identity = cJSON_IsString(format) ? format->valuestring : NULL;
    for (size_t k = 0; identity && k < sizeof keys / sizeof *keys; k++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, keys[k]);
        char        *printed = item ? cJSON_PrintUnformatted(item) : NULL;
        identity = mer_arena_format(arena, "%s|%s", identity, printed ? printed : "");
        cJSON_free(printed);
    }
    /* of the evaluator only what was asked for: hashes of its tables are known after opening it */
    for (int part = 0; identity && part < 2; part++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(evaluator, part ? "options" : "name");
        char        *printed = item ? cJSON_PrintUnformatted(item) : NULL;
        identity = mer_arena_format(arena, "%s|%s", identity, printed ? printed : "");
        cJSON_free(printed);
    }
    cJSON_Delete(object);
    return identity;
}

static void write_plugin(MerJson *json, const char *key, const char *name, const MerOption *table,
                         size_t size, const void *options, MerArena *arena)
{
    void *defaults = mer_arena_alloc(arena, size + 1);
    mer_json_object(json, key);
    mer_json_text(json, "name", name);
    if (table) {
        mer_options_defaults(table, defaults, arena);
        mer_options_write(table, options ? options : defaults, json, "options");
    }
    mer_json_end_object(json);
}

static void write_input(MerJson *json, const char *key, const char *name, uint64_t hash)
{
    mer_json_object(json, key);
    mer_json_text(json, "name", name);
    mer_json_hash(json, "hash", hash);
    mer_json_end_object(json);
}

/* As the run chooses it: without a clock latency is counted in cycles. */
static const char *objective_of(const MerRunSpec *spec, MerArena *arena)
{
    MerObjective objective;
    const char  *text = spec->objective ? spec->objective : spec->problem->objective;
    bool         has_clock = spec->platform && !isnan(spec->platform->clock_hz);
    bool         has_cycles = spec->evaluator->metrics >> MER_METRIC_CYCLES & 1;
    text = strcmp(text, "latency") == 0 && !has_clock && has_cycles ? "cycles" : text;
    return mer_objective_parse(text, &objective, arena, NULL) == MER_OK ? objective.text : text;
}

static void write_limits(const MerRunSpec *spec, MerJson *json)
{
    mer_json_int(json, "seed", (int64_t)spec->seed);
    mer_json_int(json, "budget", spec->total_budget > 0 ? spec->total_budget : spec->budget);
    if (spec->time_s > 0) {
        mer_json_real(json, "time_s", spec->time_s);
    }
    if (spec->gap > 0) {
        mer_json_real(json, "gap", spec->gap);
    }
    if (spec->warm) {
        mer_json_text(json, "warm", spec->warm);
    }
    for (int m = 0; m < spec->pareto_count; m++) {
        if (m == 0) {
            mer_json_array(json, "pareto");
        }
        mer_json_text(json, NULL, mer_metric_info(spec->pareto[m])->name);
        if (m + 1 == spec->pareto_count) {
            mer_json_end_array(json);
        }
    }
    for (int f = 0; f < spec->fixed_count; f++) {
        if (f == 0) {
            mer_json_object(json, "fixed");
        }
        mer_json_real(json, spec->fixed[f].name, spec->fixed[f].value);
        if (f + 1 == spec->fixed_count) {
            mer_json_end_object(json);
        }
    }
}

const char *mer_cell_identity(const MerRunSpec *spec, MerArena *arena)
{
    static const char *const log_names[] = {"auto", "all", "improving"};
    MerJson                  json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "format", "mercator-run/1");
    mer_json_text(&json, "version", MERCATOR_VERSION);
    write_plugin(&json, "problem", spec->problem->name, spec->problem->options,
                 spec->problem->options_size, spec->problem_options, arena);
    write_input(&json, "workload", spec->name, spec->graph ? spec->graph->hash : 0);
    write_input(&json, "platform", spec->platform ? spec->platform->name : "none",
                spec->platform ? spec->platform->hash : 0);
    write_plugin(&json, "evaluator", spec->evaluator->name, spec->evaluator->options,
                 spec->evaluator->options_size, spec->evaluator_options, arena);
    write_plugin(&json, "optimizer", spec->optimizer->name, spec->optimizer->options,
                 spec->optimizer->options_size, spec->optimizer_options, arena);
    mer_json_text(&json, "objective", objective_of(spec, arena));
    write_limits(spec, &json);
    mer_json_int(&json, "batch", spec->batch > 0 ? spec->batch : MER_DEFAULT_BATCH);
    mer_json_text(&json, "legality", spec->learned_legality ? "learned" : "known");
    mer_json_text(&json, "count", spec->count_distinct ? "distinct" : "all");
    mer_json_text(&json, "log", log_names[spec->log]);
    mer_json_end_object(&json);
    const char *identity = canonical(json.text, arena);
    mer_json_free(&json);
    return identity;
}

const char *mer_cell_identity_of(const char *header, MerArena *arena)
{
    return canonical(header, arena);
}
