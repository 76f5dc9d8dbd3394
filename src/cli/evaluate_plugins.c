/* The plug-ins of an evaluation: as the files say, unless the command line says otherwise. */
#include "cli/evaluate_input.h"

#include "base/file.h"
#include "base/option_json.h"
#include "mercator/import.h"
#include "mercator/registry.h"
#include "run/experiment/experiment.h"

#include <string.h>

/* Flags that the problem does not know but the evaluator does are the evaluator's: --share maxmin. */
static void share_options(const MerReference *given, const MerRunSpec *spec, MerReference *problem,
                          MerReference *evaluator, MerArena *arena)
{
    for (int i = 0; i < given->count; i++) {
        const char *key = given->keys[i];
        bool        is_evaluators = !mer_options_find(spec->problem->options, key) &&
                             mer_options_find(spec->evaluator->options, key);
        MerReference *owner = is_evaluators ? evaluator : problem;
        int           at = mer_reference_find(owner, key);
        if (at >= 0) {
            owner->values[at] = given->values[i]; /* the old one need not be valid */
        } else {
            *owner = mer_reference_add(owner, key, given->values[i], arena);
        }
    }
}

typedef struct Reading { /* what a reader of other tools' files asks back */
    MerEvaluation            *evaluation;
    const MerEvaluateRequest *request;
    const char               *problem;
} Reading;

static MerStatus take_exports(MerEvaluation *evaluation, const MerEvaluateRequest *request,
                              MerError *error)
{
    MerTexts texts = {request->export_count, request->exports};
    MER_TRY(mer_experiment_exports(&texts, &evaluation->spec, evaluation->arena, error));
    for (int i = 0; i < request->export_count; i++) {
        if (!evaluation->spec.exports[i].path) {
            return mer_error_set(
                error, MER_INVALID,
                "--export is \"%s\", expected NAME=FILE: there is no run directory",
                request->exports[i]);
        }
    }
    return MER_OK;
}

/* The one of that name or file; else the one that the workload implies, under its own name too; else the problem's
 * default. */
static MerStatus take_platform(MerRunSpec *spec, const char *given, const char *named,
                               MerArena *arena, MerError *error)
{
    const MerPlatform *implied = spec->graph ? mer_graph_attachment(spec->graph, "platform") : NULL;
    const char        *platform = given ? given : named;
    if (platform && spec->problem->platforms == 0) {
        return mer_error_set(error, MER_INVALID, "%s uses no platform, found %s",
                             spec->problem->name, platform);
    }
    if (!given && implied && (!named || strcmp(named, implied->name) == 0)) {
        spec->platform = implied;
        return MER_OK;
    }
    platform = platform ? platform : spec->problem->platform;
    return platform ? mer_platform_read(platform, arena, &spec->platform, error) : MER_OK;
}

static const char *default_of(MerDefault what, const MerRunSpec *spec)
{
    MerInputs inputs = {
        .graph = spec->graph, .platform = spec->platform, .evaluator = spec->evaluator};
    return mer_experiment_default(spec->problem, what, &inputs);
}

MerStatus mer_evaluate_plugins(MerEvaluation *evaluation, const MerEvaluateRequest *request,
                               const MerEvaluateNames *names, MerError *error)
{
    MerRunSpec  *spec = &evaluation->spec;
    MerReference reference;
    spec->problem =
        mer_problem_find(names->problem ? names->problem : mer_problems()[0]->name, error);
    if (!spec->problem) {
        return MER_NOT_FOUND;
    }
    MER_TRY(take_platform(spec, request->platform, names->platform, evaluation->arena, error));
    const char *evaluator = request->evaluator ? request->evaluator : names->evaluator;
    evaluator = evaluator ? evaluator : default_of(MER_DEFAULT_EVALUATOR, spec);
    MER_TRY(mer_reference_parse(evaluator, &reference, evaluation->arena, error));
    spec->evaluator = mer_evaluator_find(reference.name, error);
    if (!spec->evaluator) {
        return MER_NOT_FOUND;
    }
    spec->objective = request->objective ? request->objective
                      : names->objective ? names->objective
                                         : default_of(MER_DEFAULT_OBJECTIVE, spec);
    MER_TRY(mer_experiment_inner(&reference, NULL, spec, evaluation->arena, error));
    MerReference of_problem = {.name = spec->problem->name};
    MerReference of_evaluator = reference;
    of_evaluator.name = spec->evaluator->name;
    share_options(&request->options, spec, &of_problem, &of_evaluator, evaluation->arena);
    MER_TRY(mer_experiment_fill(spec->evaluator->options, NULL, spec->evaluator->options_size,
                                &of_evaluator, &spec->evaluator_options, evaluation->arena, error));
    MER_TRY(mer_experiment_fill(spec->problem->options, NULL, spec->problem->options_size,
                                &of_problem, &spec->problem_options, evaluation->arena, error));
    return take_exports(evaluation, request, error);
}

/* Files of other tools */

static MerStatus import_workload(MerReadPlans *plans, MerError *error)
{
    const Reading   *reading = plans->state;
    MerImportOptions options = {0};
    MerTexts         dims = {reading->request->dim_count, reading->request->dims};
    MerGraph        *graph;
    MER_TRY(mer_experiment_dims(&dims, &options, plans->arena, error));
    MER_TRY(mer_graph_import(plans->workload, &options, plans->arena, &graph, error));
    plans->graph = graph;
    return MER_OK;
}

static MerStatus open_plugins(MerReadPlans *plans, MerError *error)
{
    Reading           *reading = plans->state;
    MerEvaluateNames   names = {reading->problem, plans->own_platform, plans->own_evaluator,
                                plans->own_objective};
    MerEvaluateRequest request = *reading->request;
    reading->evaluation->spec.graph = plans->graph;
    MER_TRY(mer_evaluate_join_options(plans->own_options, &reading->request->options,
                                      &request.options, plans->arena, error));
    MER_TRY(mer_evaluate_plugins(reading->evaluation, &request, &names, error));
    plans->machine = reading->evaluation->spec.platform;
    return MER_OK;
}

static MerStatus read_names(MerReadPlans *plans, MerYaml *map, MerError *error)
{
    Reading         *reading = plans->state;
    MerEvaluateNames names = {0};
    MER_TRY(mer_evaluate_names(map, reading->request, &names, plans->arena, error));
    plans->own_platform = names.platform;
    plans->own_evaluator = names.evaluator;
    plans->own_objective = names.objective;
    return MER_OK;
}

/* `root` and `why` it could not be read, both as of MerReadPlans. */
static MerStatus read_foreign(MerEvaluation *evaluation, const MerEvaluateRequest *request,
                              MerYaml *root, const MerError *why, MerError *error)
{
    Reading      reading = {evaluation, request, NULL};
    MerReadPlans plans = {.arena = evaluation->arena,
                          .file_count = request->input_count,
                          .files = request->inputs,
                          .root = root,
                          .plan_file = request->plan_file,
                          .platform = request->platform,
                          .evaluator = request->evaluator,
                          .objective = request->objective,
                          .workload = request->workload,
                          .import = import_workload,
                          .open = open_plugins,
                          .read_names = read_names,
                          .state = &reading};
    for (const MerPlanReaderClass *const *reader = mer_plan_readers(); *reader; reader++) {
        if (!(*reader)->probe(&plans)) {
            continue;
        }
        reading.problem = (*reader)->problem;
        MER_TRY((*reader)->read(&plans, error));
        if (!evaluation->spec.problem) {
            MER_TRY(open_plugins(&plans, error));
        }
        if (plans.count == 0) {
            return mer_error_set(error, MER_INVALID, "%s holds no plan", request->inputs[0]);
        }
        evaluation->spec.platform = plans.machine;
        evaluation->spec.graph = plans.graph;
        evaluation->spec.name = plans.graph->name;
        evaluation->count = plans.count;
        evaluation->given = MER_ARRAY(evaluation->arena, MerGivenPlan, plans.count + 1);
        for (int t = 0; t < plans.count; t++) {
            const MerReadPlan *plan = &plans.list[t];
            evaluation->given[t] = (MerGivenPlan){
                .task = plan->task, .body = plan->body, .plan = plan->plan, .read = plan->read};
        }
        return MER_OK;
    }
    if (why->status != MER_OK) {
        return mer_error_set(error, why->status, "%s", why->message);
    }
    for (int i = 0; i < request->input_count && !root; i++) {
        MER_TRY(mer_yaml_read(request->inputs[i], evaluation->arena, &root, error));
    }
    return mer_error_set(error, MER_INVALID,
                         "%s: found no `format: mercator-plan/1`, nor what another plan has; see "
                         "mercator evaluate --help",
                         request->plan_file ? request->plan_file : request->inputs[0]);
}

MerStatus mer_evaluate_open(MerEvaluation *evaluation, const MerEvaluateRequest *request,
                            MerError *error)
{
    MerYaml    *root = NULL;
    bool        is_single = request->input_count == 1 && !request->plan_file;
    const char *path = is_single ? request->inputs[0] : request->plan_file;
    MerError    why = {0};
    MerStatus   status = path ? mer_yaml_read(path, evaluation->arena, &root, &why) : MER_OK;
    if (path && status == MER_OK && root->kind == MER_YAML_MAP && mer_yaml_get(root, "format")) {
        return mer_evaluate_open_plan(evaluation, request, root, error);
    }
    if (path && status != MER_OK && mer_file_is_stream(path)) {
        return mer_error_set(error, status, "%s", why.message);
    }
    return read_foreign(evaluation, request, status == MER_OK ? root : NULL, &why, error);
}
