/* Experiment files: `mercator-experiment/1`. */
#include "run/experiment/experiment_parts.h"

#include "base/file.h"
#include "mercator/registry.h"
#include "mercator/yaml.h"

#include <string.h>

bool mer_experiment_is(const char *path)
{
    char   head[4096];
    size_t size = mer_file_is_stream(path) ? 0 : mer_file_peek(path, head, sizeof head - 1);
    head[size] = '\0';
    return strstr(head, "mercator-experiment/") != NULL;
}

static const char *place_of(const MerYaml *node)
{
    return mer_arena_format(node->arena, "%s:%d:%d", node->file, node->line, node->column);
}

MerStatus mer_experiment_fail_in(const MerYaml *node, MerStatus status, MerError *error)
{
    return mer_experiment_fail_at(place_of(node), status, error);
}

/* {name: gamma, population: 50} -> gamma:population=50 */
static MerStatus reference_text(MerYaml *node, const char **text, MerArena *arena, MerError *error)
{
    if (node->kind == MER_YAML_SCALAR) {
        *text = node->text;
        return MER_OK;
    }
    MerYaml *name;
    int      written = 0;
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_need(node, "name", &name, error));
    MER_TRY(mer_yaml_text(name, text, error));
    for (int i = 0; i < node->count; i++) {
        const char *value;
        if (strcmp(node->keys[i], "name") != 0) {
            MER_TRY(mer_yaml_option(node->items[i], &value, arena, error));
            *text = mer_arena_format(arena, "%s%c%s=%s", *text, written++ ? ',' : ':',
                                     node->keys[i], value);
        }
    }
    return MER_OK;
}

MerStatus mer_experiment_check(const char *name, const MerOption *table, size_t size,
                               const MerYaml *map, int index, MerArena *arena, MerError *error)
{
    const char *value;
    void       *scratch = mer_arena_alloc(arena, size);
    MerStatus   status = mer_yaml_option(map->items[index], &value, arena, error);
    if (status == MER_OK) {
        status = mer_options_set(table, scratch, name, map->keys[index], value, arena, error);
    }
    return mer_experiment_fail_in(map->items[index], status, error);
}

/* Where a plug-in is given as a map, its options are checked while it is known where each stands. */
static MerStatus check_options(const char *name, const MerOption *table, size_t size,
                               const MerYaml *map, MerArena *arena, MerError *error)
{
    for (int i = 0; i < map->count; i++) {
        const char *key = map->keys[i];
        bool        is_of_run = strcmp(key, "name") == 0 || strcmp(key, "preset") == 0 ||
                         strcmp(key, "budget") == 0 || strcmp(key, "inner") == 0;
        if (!is_of_run) {
            MER_TRY(mer_experiment_check(name, table, size, map, i, arena, error));
        }
    }
    return MER_OK;
}

static MerStatus check_plugin(MerAxis axis, const char *text, const MerYaml *map, MerArena *arena,
                              MerError *error)
{
    const MerEvaluatorClass *evaluator =
        axis == MER_AXIS_EVALUATOR ? mer_experiment_evaluator(text, arena) : NULL;
    const MerOptimizerClass *optimizer =
        axis == MER_AXIS_OPTIMIZER ? mer_experiment_optimizer(text, arena) : NULL;
    if (evaluator && evaluator->options) {
        return check_options(evaluator->name, evaluator->options, evaluator->options_size, map,
                             arena, error);
    }
    if (optimizer && optimizer->options) {
        return check_options(optimizer->name, optimizer->options, optimizer->options_size, map,
                             arena, error);
    }
    return MER_OK; /* what is wrong with others is said when they are resolved */
}

MerStatus mer_experiment_plugin(MerAxis axis, MerYaml *node, const char **text, MerArena *arena,
                                MerError *error)
{
    MER_TRY(reference_text(node, text, arena, error));
    return node->kind == MER_YAML_MAP ? check_plugin(axis, *text, node, arena, error) : MER_OK;
}

static MerStatus add_value(MerExperiment *experiment, MerAxis axis, MerYaml *node, MerError *error)
{
    const char *text = "{...}";
    bool        is_map = axis == MER_AXIS_PLATFORM && node->kind == MER_YAML_MAP;
    if (!is_map) {
        MER_TRY(mer_experiment_plugin(axis, node, &text, experiment->arena, error));
    }
    mer_axis_add(&experiment->axes[axis], text, place_of(node), is_map ? node : NULL,
                 experiment->arena);
    return MER_OK;
}

static MerStatus read_axis(MerExperiment *experiment, MerAxis axis, MerYaml *node, MerError *error)
{
    if (node->kind != MER_YAML_LIST) {
        return add_value(experiment, axis, node, error);
    }
    for (int i = 0; i < node->count; i++) {
        MER_TRY(add_value(experiment, axis, node->items[i], error));
    }
    return node->count > 0 ? MER_OK : mer_yaml_expected(node, error, "at least one value");
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
    if (status == MER_OK && problem && problem->options) {
        experiment->places =
            mer_reference_add(&experiment->places, mer_arena_text(experiment->arena, key),
                              place_of(node), experiment->arena);
    }
    return mer_experiment_fail_in(node, status, error);
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
    MER_TRY(name ? mer_yaml_text(name, &text, error)
                 : mer_yaml_expected(node, error, "a key \"name\""));
    MER_TRY(mer_experiment_fail_in(
        name, mer_reference_parse(text, &reference, experiment->arena, error), error));
    if (!mer_name_equal(reference.name, experiment->problem.name)) {
        return mer_yaml_expected(name, error, "%s, the verb", experiment->problem.name);
    }
    for (int i = 0; i < reference.count; i++) {
        MER_TRY(set_at(experiment, name, reference.keys[i], reference.values[i], error));
    }
    for (int i = 0; node->kind == MER_YAML_MAP && i < node->count; i++) {
        const char *value;
        if (strcmp(node->keys[i], "name") != 0) {
            MER_TRY(mer_yaml_option(node->items[i], &value, experiment->arena, error));
            if (node->items[i]->kind == MER_YAML_LIST) {
                value = mer_experiment_unlisted(mer_problem_find(reference.name, NULL),
                                                node->keys[i], value, experiment->arena);
            }
            MER_TRY(set_at(experiment, node->items[i], node->keys[i], value, error));
        }
    }
    return MER_OK;
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
    for (const MerOption *option = mer_run_options; option->name; option++) {
        MerYaml    *node = mer_yaml_get(root, option->name);
        const char *text;
        if (node) {
            MER_TRY(mer_yaml_option(node, &text, experiment->arena, error));
            MER_TRY(mer_experiment_set_common(experiment, option, place_of(node), text, error));
        }
    }
    return MER_OK;
}

/* sweep: {memories.GLB.words: [16Ki, 32Ki]} */
static MerStatus read_sweeps(MerExperiment *experiment, MerYaml *root, MerError *error)
{
    MerYaml *map = mer_yaml_get(root, "sweep");
    if (!map) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    for (int i = 0; i < map->count; i++) {
        const char *values;
        MER_TRY(mer_yaml_option(map->items[i], &values, experiment->arena, error));
        bool        is_list = values[0] == '[';
        const char *place = place_of(map->items[i]);
        const char *text = mer_arena_format(experiment->arena, "%s=%.*s", map->keys[i],
                                            (int)strlen(values) - 2 * is_list, values + is_list);
        MER_TRY(
            mer_experiment_fail_at(place, mer_experiment_sweep(experiment, text, error), error));
        experiment->sweeps[experiment->sweep_count - 1].place = place;
    }
    return MER_OK;
}

MerStatus mer_experiment_read(MerExperiment *experiment, const char *path, MerError *error)
{
    MerYaml *root;
    MER_TRY(mer_yaml_read(path, experiment->arena, &root, error));
    MER_TRY(mer_yaml_check_kind(root, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_format(root, "experiment", 1, error));
    MER_TRY(mer_yaml_get_text(root, "name", &experiment->name, error));
    for (int axis = 0; axis < MER_AXIS_COUNT; axis++) {
        MerYaml *node = mer_yaml_get(root, mer_axis_names[axis]);
        MER_TRY(node ? read_axis(experiment, (MerAxis)axis, node, error) : MER_OK);
    }
    MER_TRY(read_problem(experiment, root, error));
    MER_TRY(read_options(experiment, root, error));
    MER_TRY(read_sweeps(experiment, root, error));
    experiment->file = mer_arena_text(experiment->arena, path);
    return mer_yaml_finish(root, error);
}
