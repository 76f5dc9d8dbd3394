/* From an experiment to runs: plug-ins are resolved, options checked. Inputs are read by
 * experiment_inputs.c. */
#include "run/experiment/experiment_parts.h"

#include "base/name_table.h"
#include "mercator/registry.h"
#include "mercator/text.h"
#include "run/experiment/cells.h"
#include "run/search/objective.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the user named; else one NULL, which stands for the default. */
static const char **texts_or_none(MerExpansion *e, MerAxis axis)
{
    const MerAxisValues *values = &e->experiment->axes[axis];
    e->counts[axis] = values->count ? values->count : 1;
    return values->count ? values->texts : MER_ARRAY(e->arena, const char *, 1);
}

/* "3", "1-5" (a range) or "10k": appended to `list`. */
static MerStatus add_numbers(const char *text, const char *what, int64_t minimum, int64_t *list,
                             int *count, int capacity, MerError *error)
{
    int64_t     low;
    const char *dash = strchr(text + (*text == '-'), '-');
    if (dash && dash > text) {
        char   *end;
        int64_t high = strtoll(dash + 1, &end, 10);
        low = strtoll(text, NULL, 10);
        if (*end == '\0' && low >= minimum && high >= low && high - low < capacity - *count) {
            for (int64_t n = low; n <= high; n++) {
                list[(*count)++] = n;
            }
            return MER_OK;
        }
    } else if (mer_parse_int(text, &low) && low >= minimum && *count < capacity) {
        list[(*count)++] = low;
        return MER_OK;
    }
    return mer_error_set(error, MER_INVALID,
                         "%s is \"%s\", expected a whole number from %lld to 2^63 - 1, or a range "
                         "such as 1-5",
                         what, text, (long long)minimum);
}

static MerStatus read_numbers(MerExpansion *e, MerAxis axis, const char *what, int64_t minimum,
                              int64_t initial, int64_t **numbers, MerError *error)
{
    enum { MOST_NUMBERS = 10000 };
    const MerAxisValues *values = &e->experiment->axes[axis];
    *numbers = MER_ARRAY(e->arena, int64_t, MOST_NUMBERS);
    int count = 0;
    for (int i = 0; i < values->count; i++) {
        char *rest = NULL;
        char *word = strtok_r(mer_arena_text(e->arena, values->texts[i]), ", ", &rest);
        do { /* a text without a word is no number either */
            MER_TRY(mer_expansion_at_value(
                e, axis, i,
                add_numbers(word ? word : "", what, minimum, *numbers, &count, MOST_NUMBERS, error),
                error));
        } while (word && (word = strtok_r(NULL, ", ", &rest)));
    }
    if (values->count == 0) {
        (*numbers)[count++] = initial;
    }
    e->counts[axis] = count;
    return MER_OK;
}

MerStatus mer_experiment_fill(const MerOption *table, const MerPreset *presets, size_t size,
                              const MerReference *reference, const void **options, MerArena *arena,
                              MerError *error)
{
    void *filled = mer_arena_alloc(arena, size);
    *options = table ? filled : NULL;
    if (!table && reference->count == 0) {
        return MER_OK;
    }
    if (!table) {
        return mer_error_set(error, MER_INVALID, "%s has no options, found \"%s\"", reference->name,
                             reference->keys[0]);
    }
    return mer_options_fill(table, presets, filled, reference, arena, error);
}

/* As far as it is known what a default may depend on; `refused`: an optimizer that it must not be. */
static const char *default_of(const MerRunSpec *spec, MerDefault what, const char *refused)
{
    MerInputs inputs = {.graph = spec->graph,
                        .objective = spec->objective,
                        .platform = spec->platform,
                        .evaluator = spec->evaluator,
                        .options = spec->problem_options,
                        .has_fixed_knobs = spec->fixed_count > 0,
                        .refused = refused};
    return mer_experiment_default(spec->problem, what, &inputs);
}

static MerStatus resolve_evaluator(MerExpansion *e, const char *text, MerRunSpec *spec,
                                   MerError *error)
{
    MerReference reference;
    text = text ? text : default_of(spec, MER_DEFAULT_EVALUATOR, NULL);
    spec->evaluator_text = text;
    MER_TRY(mer_reference_parse(text, &reference, e->arena, error));
    spec->evaluator = mer_evaluator_find(reference.name, error);
    if (!spec->evaluator) {
        return MER_NOT_FOUND;
    }
    MER_TRY(mer_experiment_inner(&reference, e->experiment->options.inner, spec, e->arena, error));
    MerReference all = mer_reference_join(&reference, &e->experiment->evaluator_options, e->arena);
    return mer_experiment_fill(spec->evaluator->options, NULL, spec->evaluator->options_size, &all,
                               &spec->evaluator_options, e->arena, error);
}

/* The options of a reference as text, behind a name. */
static const char *text_of(const char *name, const MerReference *reference, MerArena *arena)
{
    for (int i = 0; i < reference->count; i++) {
        name = mer_arena_format(arena, "%s%c%s=%s", name, i ? ',' : ':', reference->keys[i],
                                reference->values[i]);
    }
    return name;
}

/* `bayes:budget=500`: this optimizer gets another budget than the rest. It is a key of the run, so it leaves
 * the reference and the text that tables show. */
static MerStatus take_own_budget(MerReference *reference, MerRunSpec *spec, MerArena *arena,
                                 MerError *error)
{
    bool        is_option = mer_options_find(spec->optimizer->options, "budget") != NULL;
    const char *value = is_option ? NULL : mer_experiment_take_key(reference, "budget");
    if (!value) {
        return MER_OK;
    }
    if (!mer_parse_int(value, &spec->budget) || spec->budget < 1) {
        return mer_error_set(error, MER_INVALID,
                             "%s: budget is \"%s\", expected a whole number from 1 to 2^63 - 1",
                             reference->name, value);
    }
    spec->optimizer_text = text_of(reference->name, reference, arena);
    return MER_OK;
}

static MerStatus resolve_optimizer(MerExpansion *e, const char *text, MerRunSpec *spec,
                                   MerError *error)
{
    MerReference reference;
    text = text ? text : default_of(spec, MER_DEFAULT_OPTIMIZER, NULL);
    spec->optimizer_text = text;
    MER_TRY(mer_reference_parse(text, &reference, e->arena, error));
    if (strcmp(reference.name, "exact") == 0) {
        if (!e->problem->exact) {
            return mer_error_set(error, MER_UNSUPPORTED, "problem %s has no exact solver yet",
                                 e->problem->name);
        }
        reference.name = e->problem->exact;
    }
    spec->optimizer = mer_optimizer_find(reference.name, error);
    if (!spec->optimizer) {
        return MER_NOT_FOUND;
    }
    int given = reference.count;
    MER_TRY(take_own_budget(&reference, spec, e->arena, error));
    e->has_own_budget = reference.count < given;
    return mer_experiment_fill(spec->optimizer->options, spec->optimizer->presets,
                               spec->optimizer->options_size, &reference, &spec->optimizer_options,
                               e->arena, error);
}

/* Seconds need a clock: without one latency is counted in cycles, as an objective is. */
static MerStatus take_clocked(MerExpansion *e, const MerRunSpec *spec, MerMetric *metric,
                              MerError *error)
{
    bool has_clock = !spec->platform || !isnan(spec->platform->clock_hz);
    if (has_clock || !(spec->evaluator->clocked >> *metric & 1)) {
        return MER_OK;
    }
    if (*metric != MER_METRIC_LATENCY || !(spec->evaluator->metrics >> MER_METRIC_CYCLES & 1)) {
        return mer_error_set(error, MER_INVALID,
                             "--pareto: %s needs seconds, but platform %s has no clock_hz",
                             mer_metric_info(*metric)->name, spec->platform->name);
    }
    *metric = MER_METRIC_CYCLES;
    if (e->warn) {
        e->warn(e->warn_state, "the platform has no clock_hz: latency is counted in cycles");
    }
    return MER_OK;
}

static MerStatus take_pareto(MerExpansion *e, const MerTexts *texts, MerRunSpec *spec,
                             MerError *error)
{
    if (texts->count > MER_MAX_PARETO || texts->count == 1) {
        return mer_error_set(error, MER_INVALID, "--pareto has %d metrics, expected 2 .. %d",
                             texts->count, MER_MAX_PARETO);
    }
    for (int i = 0; i < texts->count; i++) {
        spec->pareto[i] = mer_metric_find(texts->values[i]);
        if (spec->pareto[i] == MER_METRIC_COUNT ||
            !(spec->evaluator->metrics >> spec->pareto[i] & 1)) {
            return mer_error_set(error, MER_INVALID,
                                 "--pareto: evaluator %s gives no metric \"%s\"",
                                 spec->evaluator->name, texts->values[i]);
        }
        MER_TRY(take_clocked(e, spec, &spec->pareto[i], error));
        for (int before = 0; before < i; before++) {
            if (spec->pareto[before] == spec->pareto[i]) {
                return mer_error_set(error, MER_INVALID, "--pareto has %s twice",
                                     mer_metric_info(spec->pareto[i])->name);
            }
        }
    }
    spec->pareto_count = texts->count;
    return MER_OK;
}

/* `NAME` or `NAME=FILE` of an exporter that knows the problem. */
static MerStatus find_exporter(const char *text, const MerProblemClass *problem,
                               MerExportRequest *request, MerArena *arena, MerError *error)
{
    const char *equals = strchr(text, '=');
    const char *name = equals ? mer_arena_text_n(arena, text, (size_t)(equals - text)) : text;
    *request = (MerExportRequest){mer_exporter_find(name, error), equals ? equals + 1 : NULL};
    if (!request->type) {
        return MER_NOT_FOUND;
    }
    if (equals && !equals[1]) {
        return mer_error_set(error, MER_INVALID, "--export is \"%s\", expected NAME or NAME=FILE",
                             text);
    }
    if (request->type->problem && !mer_name_equal(request->type->problem, problem->name)) {
        return mer_error_set(error, MER_INVALID, "exporter %s writes plans of %s, not of %s",
                             request->type->name, request->type->problem, problem->name);
    }
    return MER_OK;
}

MerStatus mer_experiment_exports(const MerTexts *texts, MerRunSpec *spec, MerArena *arena,
                                 MerError *error)
{
    MerExportRequest *exports = MER_ARRAY(arena, MerExportRequest, texts->count + 1);
    for (int i = 0; i < texts->count; i++) {
        MER_TRY(find_exporter(texts->values[i], spec->problem, &exports[i], arena, error));
    }
    spec->exports = exports;
    spec->export_count = texts->count;
    return MER_OK;
}

static MerStatus take_fixed(const MerTexts *texts, MerRunSpec *spec, MerArena *arena,
                            MerError *error)
{
    MerFixedKnob *fixed = MER_ARRAY(arena, MerFixedKnob, texts->count + 1);
    for (int i = 0; i < texts->count; i++) {
        const char *equals = strrchr(texts->values[i], '=');
        if (!equals || equals[1] == '\0') {
            return mer_error_set(error, MER_INVALID, "--fix is \"%s\", expected KNOB=VALUE",
                                 texts->values[i]);
        }
        if (!mer_parse_real(equals + 1, &fixed[i].value)) {
            fixed[i].value = NAN;
            fixed[i].word = equals + 1;
        }
        fixed[i].name =
            mer_arena_text_n(arena, texts->values[i], (size_t)(equals - texts->values[i]));
    }
    spec->fixed = fixed;
    spec->fixed_count = texts->count;
    return MER_OK;
}

/* An exact solver proposes what improves one objective: its front would be a point. */
static bool is_lonely(const MerExpansion *e, const MerRunSpec *spec)
{
    return spec->pareto_count > 0 && e->problem->exact &&
           mer_name_equal(spec->optimizer->name, e->problem->exact);
}

/* A default that does not support what was asked for gives way to the problem's general one, and that to whatever
 * else the problem has. */
static MerStatus fall_back(MerExpansion *e, MerRunSpec *spec, MerError *error)
{
    MerError    refusal = {0};
    const char *other = default_of(spec, MER_DEFAULT_OPTIMIZER, spec->optimizer->name);
    bool        has_other = other && !mer_name_equal(other, spec->optimizer->name);
    if ((spec->policy || spec->save_policy) &&
        (!spec->optimizer->save || spec->optimizer->has_no_policy)) {
        return MER_OK; /* a policy is of an optimizer that the user names */
    }
    if (has_other && is_lonely(e, spec)) {
        mer_error_set(&refusal, MER_UNSUPPORTED,
                      "%s searches one objective, --pareto needs an optimizer that explores",
                      spec->optimizer->name);
    } else if (!has_other || mer_run_try(spec, e->arena, &refusal) != MER_UNSUPPORTED) {
        return MER_OK;
    }
    MerRunSpec with_other = *spec;
    MER_TRY(resolve_optimizer(e, other, &with_other, error));
    if (mer_run_try(&with_other, e->arena, NULL) != MER_OK) {
        return MER_OK; /* it is not the optimizer: the run will say what it is */
    }
    if (e->warn) {
        e->warn(e->warn_state, mer_arena_format(e->arena, "%s; using %s", refusal.message, other));
    }
    *spec = with_other;
    return MER_OK;
}

/* The evaluator, the optimizer, and the options that depend on them. */
static MerStatus resolve_plugins(MerExpansion *e, const int *at, MerRunSpec *spec, MerError *error)
{
    const MerRunOptions *options = &e->experiment->options;
    const char          *evaluator = e->evaluators[at[MER_AXIS_EVALUATOR]];
    const char          *optimizer = e->optimizers[at[MER_AXIS_OPTIMIZER]];
    MER_TRY(mer_expansion_at_value(e, MER_AXIS_EVALUATOR, at[MER_AXIS_EVALUATOR],
                                   resolve_evaluator(e, evaluator, spec, error), error));
    spec->objective =
        spec->objective ? spec->objective : default_of(spec, MER_DEFAULT_OBJECTIVE, NULL);
    MER_TRY(mer_expansion_at_value(e, MER_AXIS_OPTIMIZER, at[MER_AXIS_OPTIMIZER],
                                   resolve_optimizer(e, optimizer, spec, error), error));
    MER_TRY(mer_expansion_at_option(e->experiment, "pareto",
                                    take_pareto(e, &options->pareto, spec, error), error));
    MER_TRY(mer_expansion_at_option(
        e->experiment, "export", mer_experiment_exports(&options->exports, spec, e->arena, error),
        error));
    MER_TRY(mer_expansion_at_option(e->experiment, "fix",
                                    take_fixed(&options->fix, spec, e->arena, error), error));
    if (spec->optimizer->needs_model && spec->fixed_count > 0) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "--fix: %s learns all choices of an operator together, none can be "
                             "left out",
                             spec->optimizer->name);
    }
    if (!optimizer) {
        return fall_back(e, spec, error);
    }
    if (spec->assess > 0 && spec->evaluator->mode == MER_EVALUATE_MEASURED) {
        return mer_error_set(error, MER_INVALID,
                             "--assess prices the whole space, which %s would have to measure: "
                             "leave it out",
                             spec->evaluator->name);
    }
    if (is_lonely(e, spec) && e->warn) {
        e->warn(e->warn_state,
                mer_arena_format(e->arena,
                                 "%s searches one objective: the front of --pareto has what it "
                                 "meets on the way",
                                 spec->optimizer->name));
    }
    return MER_OK;
}

static const char *place_at(const MerExpansion *e, MerAxis axis, const int *at)
{
    const MerAxisValues *values = &e->experiment->axes[axis];
    return at[axis] < values->count ? values->places[at[axis]] : NULL;
}

/* Some options are looked at only when a run opens: its messages shall say where they stand, too. */
static void keep_places(const MerExpansion *e, const int *at, MerRunSpec *spec)
{
    const MerReference *workload = &e->workloads[at[MER_AXIS_WORKLOAD]];
    spec->places = e->experiment->places;
    for (int i = 0; i < workload->count; i++) {
        spec->places = mer_reference_add(&spec->places, workload->keys[i],
                                         place_at(e, MER_AXIS_WORKLOAD, at), e->arena);
    }
    spec->places = mer_reference_add(&spec->places, spec->optimizer->name,
                                     place_at(e, MER_AXIS_OPTIMIZER, at), e->arena);
}

static MerStatus make_spec(MerExpansion *e, const int *at, MerRunSpec *spec, MerError *error)
{
    const MerRunOptions *options = &e->experiment->options;
    bool                 has_budget = e->experiment->axes[MER_AXIS_BUDGET].count > 0;
    bool is_timed = (options->time_s > 0 || options->total_time_s > 0) && !has_budget;
    *spec = (MerRunSpec){
        .name = e->graphs[at[MER_AXIS_WORKLOAD]]->name,
        .workload_text = text_of(e->graphs[at[MER_AXIS_WORKLOAD]]->name,
                                 &e->workloads[at[MER_AXIS_WORKLOAD]], e->arena),
        .problem = e->problem,
        .graph = e->graphs[at[MER_AXIS_WORKLOAD]],
        .platform = e->platforms[at[MER_AXIS_PLATFORM]],
        .objective = e->objectives[at[MER_AXIS_OBJECTIVE]],
        .seed = e->seeds[at[MER_AXIS_SEED]],
        .budget = is_timed || (options->total_budget > 0 && !has_budget)
                      ? 0
                      : e->budgets[at[MER_AXIS_BUDGET]],
        .total_budget = options->total_budget,
        .time_s = options->time_s,
        .total_time_s = options->total_time_s,
        .gap = options->gap,
        .count_distinct =
            options->count == 2 || (options->count == 0 && e->problem->counts_distinct),
        .log = (MerLogMode)options->log,
        .warm = options->warm,
        .warm_match = (MerMatch)options->warm_match,
        .policy = options->policy,
        .save_policy = options->save_policy,
        .learned_legality = options->legality == 1,
        .rounds = (int)options->rounds,
        .assess = options->assess,
        .batch = (int)options->batch,
        .threads = (int)options->threads,
    };
    const MerPlatform *implied = mer_graph_attachment(spec->graph, "platform");
    bool               is_open = e->experiment->axes[MER_AXIS_PLATFORM].count == 0;
    spec->platform = is_open && implied ? implied : spec->platform;
    if (!spec->platform && e->problem->platforms != 0) {
        return mer_error_set(error, MER_INVALID, "%s needs --platform", e->problem->name);
    }
    MerReference problem =
        mer_reference_join(&e->experiment->problem, &e->workloads[at[MER_AXIS_WORKLOAD]], e->arena);
    MerStatus status = mer_experiment_fill(e->problem->options, NULL, e->problem->options_size,
                                           &problem, &spec->problem_options, e->arena, error);
    if (e->workloads[at[MER_AXIS_WORKLOAD]].count > 0) {
        mer_expansion_at_value(e, MER_AXIS_WORKLOAD, at[MER_AXIS_WORKLOAD], status, error);
    }
    MER_TRY(status);
    if (e->problem->take_seed) {
        e->problem->take_seed((void *)spec->problem_options, spec->seed);
    }
    return resolve_plugins(e, at, spec, error);
}

static MerStatus gather(MerExpansion *e, MerError *error)
{
    int64_t *seeds = NULL;
    MER_TRY(mer_expansion_workloads(e, error));
    MER_TRY(mer_expansion_platforms(e, error));
    e->evaluators = texts_or_none(e, MER_AXIS_EVALUATOR);
    e->optimizers = texts_or_none(e, MER_AXIS_OPTIMIZER);
    e->objectives = texts_or_none(e, MER_AXIS_OBJECTIVE);
    for (int i = 0; i < e->counts[MER_AXIS_OBJECTIVE] && e->objectives[i]; i++) {
        MerObjective objective;
        MER_TRY(mer_expansion_at_value(
            e, MER_AXIS_OBJECTIVE, i,
            mer_objective_parse(e->objectives[i], &objective, e->arena, error), error));
        e->objectives[i] = objective.text;
    }
    MER_TRY(read_numbers(e, MER_AXIS_SEED, "seed", 0, 1, &seeds, error));
    MER_TRY(read_numbers(e, MER_AXIS_BUDGET, "budget", 1, e->problem->budget, &e->budgets, error));
    e->seeds = (uint64_t *)seeds;
    return MER_OK;
}

/* Runs that are asked for again, as with a seed given twice, would be taken for independent ones: the first of them is
 * kept. */
static int drop_equal(MerExpansion *e, MerRunSpec *specs, int count)
{
    MerNameTable known = {.arena = e->arena};
    MerArena    *scratch = mer_arena_new(); /* an identity is long */
    int          kept = 0;
    for (int i = 0; i < count; i++) {
        uint64_t hash = mer_hash_text(MER_HASH_START, mer_cell_identity(&specs[i], scratch));
        char     name[64]; /* the table of a sweep has a row for each platform */
        snprintf(name, sizeof name, "%016" PRIx64 " %p", hash, (const void *)specs[i].platform);
        mer_arena_reset(scratch);
        if (!mer_name_table_find(&known, name)) {
            specs[kept] = specs[i];
            mer_name_table_set(&known, mer_arena_text(e->arena, name), &specs[kept++]);
        }
    }
    mer_arena_free(scratch);
    if (kept < count && e->warn) {
        e->warn(e->warn_state,
                mer_arena_format(e->arena,
                                 "%d of %d runs are the same as others, as with a seed or an "
                                 "optimizer given twice: each is made once",
                                 count - kept, count));
    }
    return kept;
}

static MerStatus expand(const MerExperiment *experiment, MerRunSpec **specs, int *count,
                        void (*warn)(void *state, const char *text), void *state, MerError *error)
{
    MerExpansion e = {
        .experiment = experiment, .arena = experiment->arena, .warn = warn, .warn_state = state};
    int64_t total = 1;
    e.problem = mer_problem_find(experiment->problem.name, error);
    MER_TRY(e.problem ? gather(&e, error) : MER_NOT_FOUND);
    for (int axis = 0; axis < MER_AXIS_COUNT; axis++) {
        total *= e.counts[axis];
        if (total > 100000) {
            return mer_error_set(error, MER_INVALID, "the experiment has more than 100000 runs");
        }
    }
    *count = 0;
    *specs = MER_ARRAY(e.arena, MerRunSpec, total);
    for (int64_t r = 0; r < total; r++) {
        int     at[MER_AXIS_COUNT];
        int64_t rest = r;
        for (int axis = MER_AXIS_COUNT - 1; axis >= 0; axis--) {
            at[axis] = (int)(rest % e.counts[axis]);
            rest /= e.counts[axis];
        }
        MER_TRY(make_spec(&e, at, &(*specs)[*count], error));
        keep_places(&e, at, &(*specs)[*count]);
        /* an optimizer with a budget of its own is run once, not once per budget of the others */
        *count += !(e.has_own_budget && at[MER_AXIS_BUDGET] > 0);
    }
    *count = experiment->keeps_equal ? *count : drop_equal(&e, *specs, *count);
    return MER_OK;
}

/* Values of a file are checked here, long after reading: the message still says which file. */
MerStatus mer_experiment_expand(const MerExperiment *experiment, MerRunSpec **specs, int *count,
                                void (*warn)(void *state, const char *text), void *state,
                                MerError *error)
{
    MerError  plain = {0};
    MerStatus status = expand(experiment, specs, count, warn, state, &plain);
    bool      is_placed = !experiment->file ||
                     strncmp(plain.message, experiment->file, strlen(experiment->file)) == 0;
    if (status != MER_OK) {
        mer_error_set(error, status, "%s%s%s", is_placed ? "" : experiment->file,
                      is_placed ? "" : ": ", plain.message);
    }
    return status;
}
