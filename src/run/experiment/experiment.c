/* Experiments: gathering what was asked for. Reading files is in experiment_yaml.c, expansion into runs
 * in experiment_expand.c. */
#include "run/experiment/experiment_parts.h"

#include "base/option_rows.h"
#include "mercator/registry.h"
#include "mercator/text.h"

#include <string.h>

const char *const mer_axis_names[MER_AXIS_COUNT] = {
#define X(id, name) name,
    MER_AXIS_MAP(X)
#undef X
};

typedef MerRunOptions Options;

const MerOption mer_run_options[] = {
    MER_INT(total_budget, "0", 0, 9e15,
            "evaluations over all tasks, shared out by MACs; 0: the budget is per task"),
    MER_REAL(time_s, "0", 0, 1e9, "seconds per task (--time); 0: no limit"),
    MER_REAL(total_time_s, "0", 0, 1e9,
             "seconds for all tasks of a run together (--total-time); 0: no limit"),
    MER_REAL(gap, "0", 0, 1e9, "stop when the gap is at most this share: 0.05 or 5%"),
    MER_CHOICE(count, "auto", "auto|all|distinct",
               "whether a plan priced before counts against the budget again; auto: as the problem "
               "has it"),
    MER_CHOICE(log, "auto", "auto|all|improving",
               "trials that go into the log; auto: all up to a million, then the improving ones"),
    MER_CHOICE(legality, "known", "known|learned",
               "whether optimizers may ask if a point is legal before proposing it"),
    MER_TEXT(warm, "",
             "RUN[:k]: tell the k best points of an earlier run first; chain[:k]: of the tasks "
             "before; k: the optimizer's population, or 64"),
    MER_CHOICE(
        warm_match, "rank", "rank|layer",
        "what of another task a thing takes after: the same place in its order, or the same layer"),
    MER_TEXT(policy, "", "file with a saved policy to start from"),
    MER_TEXT(save_policy, "", "file to save the learned policy in"),
    MER_TEXT(inner, "",
             "NAME[:key=value,...]: who prices for an evaluator that trains; also `inner` of the "
             "evaluator"),
    MER_INT(passes, "1", 1, 1000,
            "with --train: times that all networks are gone through, sharing the budget"),
    MER_INT(batch, "256", 1, 65536,
            "points that the optimizer is asked for at a time, at most; images are --batch-size, "
            "or --dim batch=N"),
    MER_INT(threads, "0", 0, 4096, "0: all cores; the result does not depend on it"),
    MER_TEXTS(pareto, "", "metrics whose best trade-offs are kept: energy,cycles"),
    MER_TEXTS(fix, "", "knobs with a fixed choice: NAME=VALUE"),
    MER_TEXTS_AT("export", exports, "",
                 "NAME[=FILE]: write a file for another tool; see mercator list exporters"),
    MER_INT(rounds, "0", 0, 1000,
            "further rounds over all tasks, where the problem has any; 0: as it says itself"),
    MER_INT(assess, "0", 0, 1e7,
            "points up to which a whole space is priced, uncounted, to show how good the "
            "optimizer's models are"),
    MER_TEXTS(dim, "", "sizes of symbolic dimensions of a network: NAME=SIZE"),
    {0}};

void mer_experiment_init(MerExperiment *experiment, const char *problem, MerArena *arena)
{
    *experiment = (MerExperiment){.arena = arena, .problem = {.name = problem}};
    mer_options_defaults(mer_run_options, &experiment->options, arena);
}

void mer_axis_add(MerAxisValues *values, const char *value, const char *place, MerYaml *map,
                  MerArena *arena)
{
    MER_GROW(arena, values->texts, values->count);
    MER_GROW(arena, values->places, values->count);
    MER_GROW(arena, values->maps, values->count);
    values->places[values->count] = place;
    values->maps[values->count] = map;
    values->texts[values->count++] = mer_arena_text(arena, value);
}

void mer_experiment_add(MerExperiment *experiment, MerAxis axis, const char *value, bool replace)
{
    MerAxisValues *values = &experiment->axes[axis];
    values->count = replace ? 0 : values->count;
    mer_axis_add(values, value, NULL, NULL, experiment->arena);
}

MerStatus mer_experiment_fail_at(const char *place, MerStatus status, MerError *error)
{
    bool is_plain = error && place && strncmp(error->message, place, strlen(place)) != 0;
    return is_plain && status != MER_OK
               ? mer_error_set(error, status, "%s: %s", place, error->message)
               : status;
}

MerStatus mer_experiment_sweep(MerExperiment *experiment, const char *text, MerError *error)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || equals[1] == '\0') {
        return mer_error_set(error, MER_INVALID,
                             "--sweep is \"%s\", expected PATH=VALUE,VALUE,... such as "
                             "memories.GLB.words=16Ki,32Ki or memories.GLB.words=16Ki..512Ki:x2",
                             text);
    }
    if (experiment->sweep_count == MER_MAX_SWEEPS) {
        return mer_error_set(error, MER_INVALID, "more than %d sweeps", MER_MAX_SWEEPS);
    }
    MerSweep *sweep = &experiment->sweeps[experiment->sweep_count++];
    *sweep = (MerSweep){.path = mer_arena_text_n(experiment->arena, text, (size_t)(equals - text))};
    char *rest = NULL;
    for (char *word = strtok_r(mer_arena_text(experiment->arena, equals + 1), ", ", &rest); word;
         word = strtok_r(NULL, ", ", &rest)) {
        MER_TRY(mer_sweep_values(word, &sweep->values, experiment->arena, error));
    }
    return MER_OK;
}

static void add_option(MerReference *options, const char *key, const char *value, MerArena *arena)
{
    *options =
        mer_reference_add(options, mer_arena_text(arena, key), mer_arena_text(arena, value), arena);
}

const MerEvaluatorClass *mer_experiment_evaluator(const char *text, MerArena *arena)
{
    MerReference reference;
    bool         is_reference = mer_reference_parse(text, &reference, arena, NULL) == MER_OK;
    return is_reference ? mer_evaluator_find(reference.name, NULL) : NULL;
}

const MerOptimizerClass *mer_experiment_optimizer(const char *text, MerArena *arena)
{
    MerReference reference;
    bool         is_reference = mer_reference_parse(text, &reference, arena, NULL) == MER_OK;
    return is_reference ? mer_optimizer_find(reference.name, NULL) : NULL;
}

const char *mer_experiment_default(const MerProblemClass *problem, MerDefault what,
                                   const MerInputs *inputs)
{
    const char *const fixed[] = {problem->evaluator, problem->optimizer, problem->objective};
    const char *chosen = problem->choose_default ? problem->choose_default(what, inputs) : NULL;
    return chosen ? chosen : fixed[what];
}

static const MerOption *option_of_evaluator(const MerExperiment   *experiment,
                                            const MerProblemClass *problem, const char *key)
{
    const MerAxisValues *named = &experiment->axes[MER_AXIS_EVALUATOR];
    const MerOption     *option = NULL;
    for (int i = 0; !option && i < (named->count ? named->count : 1); i++) {
        const char              *text = named->count ? named->texts[i] : problem->evaluator;
        const MerEvaluatorClass *type = mer_experiment_evaluator(text, experiment->arena);
        option = type ? mer_options_find(type->options, key) : NULL;
    }
    return option;
}

const MerOption *mer_experiment_option(const MerExperiment *experiment, const char *key)
{
    const MerProblemClass *problem = mer_problem_find(experiment->problem.name, NULL);
    const MerOption       *option = mer_options_find(mer_run_options, key);
    if (!option && problem) {
        option = mer_options_find(problem->options, key);
    }
    return option || !problem ? option : option_of_evaluator(experiment, problem, key);
}

static int list_names(const MerOption *table, const char **names, int count)
{
    for (; table && table->name && count < 200; table++) {
        names[count++] = table->name;
    }
    return count;
}

const MerOptimizerClass *mer_experiment_optimizer_with(const MerExperiment *experiment,
                                                       const char          *key)
{
    const MerAxisValues *named = &experiment->axes[MER_AXIS_OPTIMIZER];
    for (int i = 0; i < named->count; i++) {
        const MerOptimizerClass *type =
            mer_experiment_optimizer(named->texts[i], experiment->arena);
        if (type && mer_options_find(type->options, key)) {
            return type;
        }
    }
    const MerOptimizerClass *const *list = mer_optimizers();
    while (*list && !mer_options_find((*list)->options, key)) {
        list++;
    }
    return *list;
}

static MerStatus unknown_key(const MerExperiment *experiment, const MerProblemClass *problem,
                             const char *key, const char *value, MerError *error)
{
    const MerOptimizerClass *owner = mer_experiment_optimizer_with(experiment, key);
    if (owner) {
        return mer_error_set(error, MER_NOT_FOUND,
                             "%s has no option \"%s\", but optimizer %s has: --optimizer %s:%s=%s",
                             experiment->problem.name, key, owner->name, owner->name,
                             mer_options_find(owner->options, key)->name, value);
    }
    const char *names[256];
    int         count = list_names(mer_run_options, names, 0);
    count = list_names(problem->options, names, count);
    const MerEvaluatorClass *evaluator = mer_evaluator_find(problem->evaluator, NULL);
    count = list_names(evaluator ? evaluator->options : NULL, names, count);
    for (int axis = 0; axis < MER_AXIS_COUNT; axis++) {
        names[count++] = mer_axis_names[axis];
    }
    const char *nearest = mer_name_nearest(key, names, count);
    return mer_error_set(error, MER_NOT_FOUND, "%s has no option \"%s\"%s%s%s",
                         experiment->problem.name, key, nearest ? ", did you mean \"" : "",
                         nearest ? nearest : "", nearest ? "\"" : "");
}

/* 5% is 0.05; what is no share stays as it was typed. */
static const char *read_percent(const char *value, MerArena *arena)
{
    size_t      length = strlen(value);
    const char *number = length > 0 ? mer_arena_text_n(arena, value, length - 1) : "";
    double      share;
    bool        is_percent =
        length > 0 && value[length - 1] == '%' && mer_parse_real(number, &share) && share >= 0;
    char text[32];
    if (!is_percent) {
        return value;
    }
    mer_print_real(text, share / 100);
    return mer_arena_text(arena, text);
}

MerStatus mer_experiment_set_common(MerExperiment *experiment, const MerOption *option,
                                    const char *place, const char *value, MerError *error)
{
    MerArena *arena = experiment->arena;
    experiment->option_places[option - mer_run_options] = place;
    value = strcmp(option->name, "gap") == 0 ? read_percent(value, arena) : value;
    return mer_options_set(mer_run_options, &experiment->options, place ? place : "run",
                           option->name, value, arena, error);
}

const char *mer_experiment_blamed(const MerRunSpec *spec, const char *message, MerArena *arena)
{
    bool        is_option = strncmp(message, "--", 2) == 0;
    const char *name = message + 2 * is_option;
    name = mer_arena_text_n(arena, name, strcspn(name, is_option ? " " : ":"));
    for (int i = spec->places.count - 1; i >= 0; i--) {
        if (mer_name_equal(spec->places.keys[i], name)) {
            return spec->places.values[i];
        }
    }
    return NULL;
}

MerStatus mer_experiment_set(MerExperiment *experiment, const char *key, const char *value,
                             MerError *error)
{
    const MerProblemClass *problem = mer_problem_find(experiment->problem.name, error);
    if (!problem) {
        return MER_NOT_FOUND;
    }
    const MerOption *common = mer_options_find(mer_run_options, key);
    if (common) {
        return mer_experiment_set_common(experiment, common, NULL, value, error);
    }
    if (mer_options_find(problem->options, key)) {
        add_option(&experiment->problem, key, value, experiment->arena);
        experiment->places = mer_reference_add(&experiment->places, key, NULL, experiment->arena);
        return MER_OK;
    }
    if (option_of_evaluator(experiment, problem, key)) {
        add_option(&experiment->evaluator_options, key, value, experiment->arena);
        return MER_OK;
    }
    return unknown_key(experiment, problem, key, value, error);
}
