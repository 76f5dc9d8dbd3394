/* Experiment files: `mercator-experiment/1`. */
#include "run/experiment/experiment.h"

#include "base/text.h"
#include "mercator/registry.h"
#include "mercator/yaml.h"
#include "run/experiment/inline_map.h"

#include <stdio.h>
#include <string.h>

static const char *const axis_names[MER_AXIS_COUNT] = {
#define X(id, name) name,
    MER_AXIS_MAP(X)
#undef X
};

bool mer_experiment_is(const char *path)
{
    char  head[4096];
    FILE *file = mer_file_is_stream(path) ? NULL : fopen(path, "rb");
    if (!file) {
        return false;
    }
    size_t size = fread(head, 1, sizeof head - 1, file);
    fclose(file);
    head[size] = '\0';
    return strstr(head, "mercator-experiment/") != NULL;
}

static const char *place_of(const MerYaml *node, MerArena *arena)
{
    return mer_arena_format(arena, "%s:%d:%d", node->file, node->line, node->column);
}

static MerStatus option_text(const MerYaml *node, const char **text, MerArena *arena,
                             MerError *error)
{
    if (node->kind == MER_YAML_SCALAR) {
        *text = node->text;
        return MER_OK;
    }
    MerStatus   status = mer_yaml_check_kind(node, MER_YAML_LIST, error);
    const char *list = "";
    for (int i = 0; status == MER_OK && i < node->count; i++) {
        status = mer_yaml_check_kind(node->items[i], MER_YAML_SCALAR, error);
        if (status == MER_OK) {
            list = mer_arena_format(arena, "%s%s%s", list, i ? "," : "", node->items[i]->text);
        }
    }
    *text = mer_arena_format(arena, "[%s]", list);
    return status;
}

/* {name: gamma, population: 50} -> gamma:population=50 */
static MerStatus reference_text(MerYaml *node, const char **text, MerArena *arena, MerError *error)
{
    if (node->kind == MER_YAML_SCALAR) {
        *text = node->text;
        return MER_OK;
    }
    MerYaml  *name;
    MerStatus status = mer_yaml_check_kind(node, MER_YAML_MAP, error);
    if (status == MER_OK) {
        status = mer_yaml_need(node, "name", &name, error);
    }
    if (status == MER_OK) {
        status = mer_yaml_text(name, text, error);
    }
    int written = 0;
    for (int i = 0; status == MER_OK && i < node->count; i++) {
        const char *value;
        if (strcmp(node->keys[i], "name") == 0) {
            continue;
        }
        status = option_text(node->items[i], &value, arena, error);
        if (status == MER_OK) {
            *text = mer_arena_format(arena, "%s%c%s=%s", *text, written++ ? ',' : ':',
                                     node->keys[i], value);
        }
    }
    return status;
}

MerStatus mer_experiment_check(const char *name, const MerOption *table, size_t size,
                               const MerYaml *map, int index, MerArena *arena, MerError *error)
{
    const char *value;
    void       *scratch = mer_arena_alloc(arena, size ? size : 1);
    MerStatus   status = option_text(map->items[index], &value, arena, error);
    if (status == MER_OK) {
        status = mer_options_set(table, scratch, name, map->keys[index], value, arena, error);
    }
    return mer_experiment_fail_at(place_of(map->items[index], arena), status, error);
}

/* Where a plug-in is given as a map, its options are checked while it is known where each stands. */
static MerStatus check_options(const char *name, const MerOption *table, size_t size,
                               const MerYaml *map, MerArena *arena, MerError *error)
{
    MerStatus status = MER_OK;
    for (int i = 0; status == MER_OK && i < map->count; i++) {
        const char *key = map->keys[i];
        bool        is_of_run =
            strcmp(key, "name") == 0 || strcmp(key, "preset") == 0 || strcmp(key, "budget") == 0;
        status = is_of_run ? MER_OK : mer_experiment_check(name, table, size, map, i, arena, error);
    }
    return status;
}

static MerStatus check_plugin(MerAxis axis, const char *text, const MerYaml *map, MerArena *arena,
                              MerError *error)
{
    MerReference reference;
    if (mer_reference_parse(text, &reference, arena, NULL) != MER_OK) {
        return MER_OK; /* said when it is resolved */
    }
    const MerEvaluatorClass *evaluator =
        axis == MER_AXIS_EVALUATOR ? mer_evaluator_find(reference.name, NULL) : NULL;
    const MerOptimizerClass *optimizer =
        axis == MER_AXIS_OPTIMIZER ? mer_optimizer_find(reference.name, NULL) : NULL;
    if (evaluator && evaluator->options) {
        return check_options(evaluator->name, evaluator->options, evaluator->options_size, map,
                             arena, error);
    }
    if (optimizer && optimizer->options) {
        return check_options(optimizer->name, optimizer->options, optimizer->options_size, map,
                             arena, error);
    }
    return MER_OK;
}

MerStatus mer_experiment_plugin(MerAxis axis, MerYaml *node, const char **text, MerArena *arena,
                                MerError *error)
{
    MerStatus status = reference_text(node, text, arena, error);
    return status == MER_OK && node->kind == MER_YAML_MAP
               ? check_plugin(axis, *text, node, arena, error)
               : status;
}

static MerStatus add_value(MerExperiment *experiment, MerAxis axis, MerYaml *node, MerError *error)
{
    const char *text = NULL;
    bool        is_inline = axis == MER_AXIS_PLATFORM && node->kind == MER_YAML_MAP;
    MerStatus   status = MER_OK;
    if (is_inline) {
        text = mer_inline_text(node, "mercator-platform/1", experiment->arena);
    } else {
        status = mer_experiment_plugin(axis, node, &text, experiment->arena, error);
    }
    if (status == MER_OK) {
        mer_experiment_add_at(experiment, axis, text, place_of(node, experiment->arena));
    }
    return status;
}

static MerStatus read_axis(MerExperiment *experiment, MerAxis axis, MerYaml *node, MerError *error)
{
    if (node->kind != MER_YAML_LIST) {
        return add_value(experiment, axis, node, error);
    }
    MerStatus status =
        node->count > 0 ? MER_OK : mer_yaml_expected(node, error, "at least one value");
    for (int i = 0; status == MER_OK && i < node->count; i++) {
        status = add_value(experiment, axis, node->items[i], error);
    }
    return status;
}

/* Sets an option of the problem (or of its evaluator), checked while it is known where it stands. */
static MerStatus set_at(MerExperiment *experiment, const MerYaml *node, const char *key,
                        const char *value, MerError *error)
{
    const MerProblemClass *problem = mer_problem_find(experiment->problem.name, NULL);
    MerStatus              status = mer_experiment_set(experiment, key, value, error);
    if (status == MER_OK && problem && problem->options &&
        mer_options_find(problem->options, key)) {
        void *scratch = mer_arena_alloc(experiment->arena, problem->options_size);
        status = mer_options_set(problem->options, scratch, problem->name, key, value,
                                 experiment->arena, error);
    }
    return status == MER_OK
               ? MER_OK
               : mer_experiment_fail_at(place_of(node, experiment->arena), status, error);
}

static MerStatus read_problem(MerExperiment *experiment, MerYaml *root, MerError *error)
{
    MerYaml    *node = mer_yaml_get(root, "problem");
    const char *text;
    if (!node) {
        return MER_OK;
    }
    MerReference reference = {0};
    MerYaml     *name = node->kind == MER_YAML_MAP ? mer_yaml_get(node, "name") : node;
    MerStatus    status =
        name ? mer_yaml_text(name, &text, error) : mer_yaml_expected(node, error, "a key \"name\"");
    if (status == MER_OK) {
        status = mer_experiment_fail_at(
            place_of(name, experiment->arena),
            mer_reference_parse(text, &reference, experiment->arena, error), error);
    }
    if (status == MER_OK && !mer_name_equal(reference.name, experiment->problem.name)) {
        status = mer_yaml_expected(name, error, "%s, the verb", experiment->problem.name);
    }
    for (int i = 0; status == MER_OK && i < reference.count; i++) {
        status = set_at(experiment, name, reference.keys[i], reference.values[i], error);
    }
    for (int i = 0; status == MER_OK && node->kind == MER_YAML_MAP && i < node->count; i++) {
        const char *value;
        if (strcmp(node->keys[i], "name") != 0) {
            status = option_text(node->items[i], &value, experiment->arena, error);
            status = status == MER_OK
                         ? set_at(experiment, node->items[i], node->keys[i], value, error)
                         : status;
        }
    }
    return status;
}

const char *mer_experiment_problem(const char *path, MerArena *arena)
{
    MerYaml     *root;
    const char  *text;
    MerReference reference;
    if (mer_yaml_read(path, arena, &root, NULL) != MER_OK || root->kind != MER_YAML_MAP) {
        return NULL;
    }
    MerYaml *node = mer_yaml_get(root, "problem");
    bool     is_named = node && reference_text(node, &text, arena, NULL) == MER_OK &&
                    mer_reference_parse(text, &reference, arena, NULL) == MER_OK;
    return is_named ? reference.name : NULL;
}

static MerStatus read_options(MerExperiment *experiment, MerYaml *root, MerError *error)
{
    MerStatus status = MER_OK;
    for (const MerOption *option = mer_run_options; status == MER_OK && option->name; option++) {
        MerYaml    *node = mer_yaml_get(root, option->name);
        const char *text;
        if (!node) {
            continue;
        }
        status = option_text(node, &text, experiment->arena, error);
        if (status == MER_OK) {
            const char *place = place_of(node, experiment->arena);
            experiment->option_places[option - mer_run_options] = place;
            status = mer_options_set(mer_run_options, &experiment->options, place, option->name,
                                     text, experiment->arena, error);
        }
    }
    return status;
}

/* sweep: {memories.GLB.words: [16Ki, 32Ki]} */
static MerStatus read_sweeps(MerExperiment *experiment, MerYaml *root, MerError *error)
{
    MerYaml  *map = mer_yaml_get(root, "sweep");
    MerStatus status = map ? mer_yaml_check_kind(map, MER_YAML_MAP, error) : MER_OK;
    for (int i = 0; map && status == MER_OK && i < map->count; i++) {
        const char *values;
        status = option_text(map->items[i], &values, experiment->arena, error);
        if (status == MER_OK) {
            size_t length = strlen(values);
            bool   is_list = values[0] == '[';
            status = mer_experiment_sweep(
                experiment,
                mer_arena_format(experiment->arena, "%s=%.*s", map->keys[i],
                                 (int)(is_list ? length - 2 : length), values + is_list),
                error);
            const char *place = place_of(map->items[i], experiment->arena);
            if (status == MER_OK) {
                experiment->sweeps[experiment->sweep_count - 1].place = place;
            } else {
                mer_experiment_fail_at(place, status, error);
            }
        }
    }
    return status;
}

MerStatus mer_experiment_read(MerExperiment *experiment, const char *path, MerError *error)
{
    MerYaml  *root;
    MerStatus status = mer_yaml_read(path, experiment->arena, &root, error);
    if (status == MER_OK) {
        status = mer_yaml_check_kind(root, MER_YAML_MAP, error);
    }
    if (status == MER_OK) {
        status = mer_yaml_format(root, "experiment", 1, error);
    }
    if (status == MER_OK) {
        status = mer_yaml_get_text(root, "name", &experiment->name, error);
    }
    for (int axis = 0; status == MER_OK && axis < MER_AXIS_COUNT; axis++) {
        MerYaml *node = mer_yaml_get(root, axis_names[axis]);
        status = node ? read_axis(experiment, (MerAxis)axis, node, error) : MER_OK;
    }
    if (status == MER_OK) {
        status = read_problem(experiment, root, error);
    }
    if (status == MER_OK) {
        status = read_options(experiment, root, error);
    }
    if (status == MER_OK) {
        status = read_sweeps(experiment, root, error);
    }
    experiment->file = mer_arena_text(experiment->arena, path);
    return status == MER_OK ? mer_yaml_finish(root, error) : status;
}
