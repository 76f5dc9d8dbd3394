/* Which cell is this? The header of a log says what was run; a MerRunSpec says what shall be run. Both are
 * brought to one text, so that an experiment finds its finished cells under any name. */
#include "run/experiment/cells.h"

#include "base/file.h"
#include "base/json_read.h"
#include "run/internal.h"
#include "run/log/header.h"

#include <string.h>
#include <sys/stat.h>

static const char *const keys[] = {
    "version", "problem", "workload",     "platform", "optimizer", "objective",  "seed", "budget",
    "time_s",  "gap",     "total_time_s", "pareto",   "batch",     "legality",   "warm", "policy",
    "fixed",   "count",   "log",          "rounds",   "assess",    "task_budget"};

static const char *add(const char *identity, const cJSON *item, MerArena *arena)
{
    char       *printed = item ? cJSON_PrintUnformatted(item) : NULL;
    const char *longer = mer_arena_format(arena, "%s|%s", identity, printed ? printed : "");
    cJSON_free(printed);
    return longer;
}

const char *mer_cell_identity_of(const char *header, MerArena *arena)
{
    cJSON      *object = cJSON_Parse(header);
    const char *identity = mer_json_get(object, "format") ? "run" : NULL; /* of any version */
    for (size_t k = 0; identity && k < sizeof keys / sizeof *keys; k++) {
        identity = add(identity, mer_json_get(object, keys[k]), arena);
    }
    /* of the evaluator only what was asked for: hashes of its tables are known after opening it */
    const cJSON *evaluator = mer_json_get(object, "evaluator");
    const cJSON *inner = mer_json_get(evaluator, "inner");
    for (int part = 0; identity && part < 2; part++) {
        identity = add(identity, mer_json_get(evaluator, part ? "options" : "name"), arena);
    }
    identity = identity && inner ? add(identity, inner, arena) : identity;
    cJSON_Delete(object);
    return identity;
}

/* The header that a run of `spec` would write, as far as it says which cell this is. */
static const char *header_of(const MerRunSpec *spec, MerArena *arena)
{
    const MerEvaluatorClass *evaluator = spec->evaluator;
    MerJson                  json = {0};
    mer_json_object(&json, NULL);
    mer_header_inputs(&json, spec, 2, arena);
    mer_header_plugin(&json, "evaluator", evaluator->name, evaluator->options,
                      evaluator->options_size, spec->evaluator_options, arena);
    if (spec->inner) {
        mer_header_plugin(&json, "inner", spec->inner->name, spec->inner->options,
                          spec->inner->options_size, spec->inner_options, arena);
        mer_json_end_object(&json);
    }
    mer_json_end_object(&json);
    mer_header_optimizer(&json, spec, arena);
    mer_json_text(&json, "objective", mer_run_objective(spec));
    mer_header_limits(&json, spec);
    mer_json_end_object(&json);
    return mer_json_keep(&json, arena);
}

const char *mer_cell_identity(const MerRunSpec *spec, MerArena *arena)
{
    return mer_cell_identity_of(header_of(spec, arena), arena);
}

/* Of an option its name: nobody typed problem.options.select. */
static const char *option_of(const cJSON *was, const cJSON *now, MerArena *arena)
{
    static const char options[] = "options.";
    char              path[200] = "";
    const char       *option =
        mer_json_difference(&was, &now, path, sizeof path) ? strstr(path, options) : NULL;
    return option ? mer_arena_text(arena, option + sizeof options - 1) : NULL;
}

const char *mer_cell_difference(const char *header, const MerRunSpec *spec, MerArena *arena)
{
    cJSON      *was = cJSON_Parse(header), *now = cJSON_Parse(header_of(spec, arena));
    const char *key = NULL;
    for (size_t k = 0; !key && k < sizeof keys / sizeof *keys; k++) {
        const char *before = add("", mer_json_get(was, keys[k]), arena);
        key = strcmp(before, add("", mer_json_get(now, keys[k]), arena)) ? keys[k] : NULL;
    }
    key = key ? key : "evaluator";
    const char *option = option_of(mer_json_get(was, key), mer_json_get(now, key), arena);
    cJSON_Delete(was);
    cJSON_Delete(now);
    return option ? option : key;
}

/* No summary, or one of a run that was interrupted. */
static bool is_open(const char *directory, MerArena *arena)
{
    enum { SUMMARY = 1 << 28 };
    char       *text;
    size_t      size;
    const char *path = mer_arena_format(arena, "%s/summary.json", directory);
    if (mer_file_read(path, SUMMARY, arena, &text, &size, NULL) != MER_OK) {
        return true;
    }
    cJSON *summary = cJSON_Parse(text);
    bool   is_stopped = strcmp(mer_json_get_text(summary, "stopped", ""), "interrupted") == 0;
    cJSON_Delete(summary);
    return is_stopped;
}

bool mer_cell_is_stopped(const MerRunSpec *spec, MerArena *arena)
{
    const MerOptimizerClass *type = spec->optimizer;
    char                    *header = NULL;
    bool                     is_whole;
    struct stat              about;
    const char              *log =
        spec->directory ? mer_arena_format(arena, "%s/run.jsonl", spec->directory) : "";
    bool is_clocked = type->is_clocked && type->is_clocked(mer_run_optimizer_options(spec, arena));
    if (is_clocked || stat(log, &about) != 0 ||
        mer_file_first_line(log, arena, &header, &is_whole, NULL) != MER_OK || !header ||
        about.st_size <= (off_t)strlen(header) + 1) { /* nothing was done */
        return false;
    }
    const char *before = mer_cell_identity_of(header, arena);
    return before && strcmp(before, mer_cell_identity(spec, arena)) == 0 &&
           is_open(spec->directory, arena);
}
