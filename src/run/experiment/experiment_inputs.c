/* The inputs of an experiment: networks and platforms, swept ones too, are read once for all its runs. */
#include "run/experiment/experiment_parts.h"

#include "base/yaml_files.h"
#include "hw/foreign.h"
#include "hw/reader.h"
#include "mercator/text.h"

#include <string.h>
#include <unistd.h>

MerStatus mer_expansion_at_value(const MerExpansion *e, MerAxis axis, int index, MerStatus status,
                                 MerError *error)
{
    const MerAxisValues *values = &e->experiment->axes[axis];
    return mer_experiment_fail_at(index < values->count ? values->places[index] : NULL, status,
                                  error);
}

MerStatus mer_expansion_at_option(const MerExperiment *experiment, const char *key,
                                  MerStatus status, MerError *error)
{
    const MerOption *option = mer_options_find(mer_run_options, key);
    return mer_experiment_fail_at(experiment->option_places[option - mer_run_options], status,
                                  error);
}

/* A file named in an experiment is looked for beside it. */
static const char *beside(const MerExperiment *experiment, const char *name)
{
    const char *slash = experiment->file ? strrchr(experiment->file, '/') : NULL;
    if (!slash || name[0] == '/') {
        return name;
    }
    const char *path = mer_arena_format(experiment->arena, "%.*s/%s",
                                        (int)(slash - experiment->file), experiment->file, name);
    return access(path, F_OK) == 0 ? path : name;
}

bool mer_experiment_dim(const char *text, MerDimBinding *dim, MerArena *arena)
{
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || !mer_parse_int(equals + 1, &dim->size) || dim->size < 1) {
        return false;
    }
    dim->name = mer_arena_text_n(arena, text, (size_t)(equals - text));
    return true;
}

MerStatus mer_experiment_dims(const MerTexts *texts, MerImportOptions *options, MerArena *arena,
                              MerError *error)
{
    MerDimBinding *dims = MER_ARRAY(arena, MerDimBinding, texts->count);
    for (int i = 0; i < texts->count; i++) {
        if (!mer_experiment_dim(texts->values[i], &dims[i], arena)) {
            return mer_error_set(error, MER_INVALID,
                                 "--dim is \"%s\", expected NAME=SIZE with a size of at least 1",
                                 texts->values[i]);
        }
    }
    options->dims = dims;
    options->dim_count = texts->count;
    return MER_OK;
}

/* Is this a map (white space, then a brace)? */
static bool is_map_text(const char *text)
{
    return text[strspn(text, " \n")] == '{';
}

const char *mer_experiment_unlisted(const MerProblemClass *problem, const char *key,
                                    const char *value, MerArena *arena)
{
    const MerOption *option = problem ? mer_options_find(problem->options, key) : NULL;
    size_t           length = strlen(value);
    bool             is_list = length > 1 && value[0] == '[' && value[length - 1] == ']';
    return is_list && option && option->type == MER_OPTION_TEXT
               ? mer_arena_text_n(arena, value + 1, length - 2)
               : value;
}

/* `resnet50:select=[2,4-6]` gives problem options to one workload; a file may be called so, too. */
static MerStatus read_workload(MerExpansion *e, const char *text, MerReference *workload,
                               MerError *error)
{
    const char *colon = strchr(text, ':');
    bool        has_options = colon && strchr(colon, '=') && !is_map_text(text) &&
                       access(beside(e->experiment, text), F_OK) != 0;
    *workload = (MerReference){.name = text};
    if (has_options) {
        MER_TRY(mer_reference_parse(text, workload, e->arena, error));
    }
    for (int i = 0; i < workload->count; i++) {
        workload->values[i] =
            mer_experiment_unlisted(e->problem, workload->keys[i], workload->values[i], e->arena);
    }
    return MER_OK;
}

static MerStatus import_workload(MerExpansion *e, int index, MerError *error)
{
    const char *text = e->experiment->axes[MER_AXIS_WORKLOAD].texts[index];
    MerGraph   *graph = NULL;
    MER_TRY(read_workload(e, text, &e->workloads[index], error));
    MER_TRY(mer_graph_import(beside(e->experiment, e->workloads[index].name), &e->import, e->arena,
                             &graph, error));
    e->graphs[index] = graph;
    for (int w = 0; e->warn && w < graph->warning_count; w++) {
        e->warn(e->warn_state,
                mer_arena_format(e->arena, "%s: %s", graph->name, graph->warnings[w]));
    }
    return MER_OK;
}

MerStatus mer_expansion_workloads(MerExpansion *e, MerError *error)
{
    const MerAxisValues *texts = &e->experiment->axes[MER_AXIS_WORKLOAD];
    if (texts->count == 0) {
        return mer_error_set(
            error, MER_INVALID,
            "%s needs a workload: a built-in model (mercator list models) or a file",
            e->problem->name);
    }
    MER_TRY(mer_expansion_at_option(
        e->experiment, "dim",
        mer_experiment_dims(&e->experiment->options.dim, &e->import, e->arena, error), error));
    e->graphs = MER_ARRAY(e->arena, const MerGraph *, texts->count);
    e->workloads = MER_ARRAY(e->arena, MerReference, texts->count);
    for (int i = 0; i < texts->count; i++) {
        MER_TRY(
            mer_expansion_at_value(e, MER_AXIS_WORKLOAD, i, import_workload(e, i, error), error));
    }
    e->counts[MER_AXIS_WORKLOAD] = texts->count;
    return MER_OK;
}

/* One platform of a sweep: the changes of combination `number`, and a name that shows them. */
static MerStatus read_swept(MerExpansion *e, const char *text, int number,
                            const MerPlatform **platform, MerError *error)
{
    const MerExperiment *experiment = e->experiment;
    const char          *changes[MER_MAX_SWEEPS];
    const char          *shown = "";
    for (int s = experiment->sweep_count - 1; s >= 0; s--) {
        const MerSweep *sweep = &experiment->sweeps[s];
        const char     *value = sweep->values.texts[number % sweep->values.count];
        number /= sweep->values.count;
        changes[s] = mer_arena_format(e->arena, "%s=%s", sweep->path, value);
        shown = mer_arena_format(e->arena, "%s%s%s", changes[s], *shown ? " " : "", shown);
    }
    const MerPlatform *read = NULL;
    MER_TRY(mer_platform_read_with(text, changes, experiment->sweep_count, e->arena, &read, error));
    MerPlatform *named = MER_NEW(e->arena, MerPlatform);
    *named = *read;
    named->name = mer_arena_format(e->arena, "%s %s", read->name, shown);
    *platform = named;
    return MER_OK;
}

/* A map of the experiment file, read where it stands; it need not say its format. */
static MerStatus read_map(MerYaml *map, MerArena *arena, const MerPlatform **platform,
                          MerError *error)
{
    MerYaml *root, *resolved;
    if (!mer_yaml_get(map, "format")) {
        MerYaml *format = MER_NEW(arena, MerYaml);
        *format = (MerYaml){.file = map->file,
                            .line = map->line,
                            .column = map->column,
                            .text = "mercator-platform/1",
                            .arena = arena};
        mer_yaml_add(map, "format", format, map->line, map->column);
    }
    mer_platform_set_paths(map, "");
    MER_TRY(mer_platform_adopt(map, &root, error));
    MER_TRY(mer_platform_resolve(root, &resolved, error));
    return mer_platform_from_yaml(resolved, platform, error);
}

static MerStatus read_platform(MerExpansion *e, const char *text, MerYaml *map, int combination,
                               const MerPlatform **platform, MerError *error)
{
    if (e->problem->platforms == 0 && (text || e->experiment->sweep_count > 0)) {
        return mer_error_set(error, MER_INVALID, "%s uses no platform, found %s%s",
                             e->problem->name, text ? "" : "a sweep over ",
                             text ? text : e->experiment->sweeps[0].path);
    }
    if (!text && e->experiment->sweep_count > 0) {
        return mer_error_set(error, MER_INVALID, "a sweep needs --platform");
    }
    if (!text) { /* the workload may imply one */
        *platform = NULL;
        return MER_OK;
    }
    if (is_map_text(text) && e->experiment->sweep_count > 0) {
        return mer_error_set(error, MER_INVALID,
                             "a sweep needs a platform by name or file, found a map");
    }
    if (map) {
        return read_map(map, e->arena, platform, error);
    }
    if (is_map_text(text)) {
        const char *name = e->experiment->file ? e->experiment->file : "platform";
        return mer_platform_parse(name, text, strlen(text), e->arena, platform, error);
    }
    const char *path = beside(e->experiment, text);
    return e->experiment->sweep_count > 0 ? read_swept(e, path, combination, platform, error)
                                          : mer_platform_read(path, e->arena, platform, error);
}

/* Is the platform itself to blame, or one of the sweeps over it? */
static MerStatus at_platform(MerExpansion *e, const char *text, int index, MerStatus status,
                             MerError *error)
{
    const MerExperiment *experiment = e->experiment;
    const MerPlatform   *unused;
    bool is_inline = text && is_map_text(text); /* the message names a place inside it already */
    if (status == MER_OK || (is_inline && experiment->sweep_count == 0)) {
        return status;
    }
    bool is_swept = experiment->sweep_count > 0 && text && !is_inline &&
                    mer_platform_read(beside(experiment, text), e->arena, &unused, NULL) == MER_OK;
    return is_swept ? mer_experiment_fail_at(experiment->sweeps[0].place, status, error)
                    : mer_expansion_at_value(e, MER_AXIS_PLATFORM, index, status, error);
}

MerStatus mer_expansion_platforms(MerExpansion *e, MerError *error)
{
    const MerAxisValues *texts = &e->experiment->axes[MER_AXIS_PLATFORM];
    int                  named = texts->count ? texts->count : 1;
    int64_t              combinations = 1;
    for (int s = 0; s < e->experiment->sweep_count && combinations < 100000; s++) {
        combinations *= e->experiment->sweeps[s].values.count;
    }
    if (combinations * named > 100000) {
        return mer_error_set(error, MER_INVALID, "the sweep has more than 100000 platforms");
    }
    e->counts[MER_AXIS_PLATFORM] = (int)(combinations * named);
    e->platforms = MER_ARRAY(e->arena, const MerPlatform *, combinations *named);
    for (int i = 0; i < e->counts[MER_AXIS_PLATFORM]; i++) {
        int         at = (int)(i / combinations);
        const char *text = texts->count ? texts->texts[at] : e->problem->platform;
        MerYaml    *map = texts->count ? texts->maps[at] : NULL;
        MerStatus   status =
            read_platform(e, text, map, (int)(i % combinations), &e->platforms[i], error);
        MER_TRY(at_platform(e, text, at, status, error));
    }
    return MER_OK;
}
