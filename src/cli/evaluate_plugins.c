/* The plug-ins of an evaluation: as the files say, unless the command line says otherwise. */
#include "cli/evaluate_input.h"

#include "base/try.h"
#include "mercator/registry.h"

static void add_option(MerReference *reference, const char *key, const char *value)
{
    for (int i = 0; i < reference->count; i++) {
        if (mer_name_equal(reference->keys[i], key)) {
            reference->values[i] = value;
            return;
        }
    }
    reference->keys[reference->count] = key;
    reference->values[reference->count++] = value;
}

static MerReference with_capacity(const MerReference *from, const char *name, int more,
                                  MerArena *arena)
{
    MerReference copy = {name, 0, MER_ARRAY(arena, const char *, from->count + more + 1),
                         MER_ARRAY(arena, const char *, from->count + more + 1)};
    for (int i = 0; i < from->count; i++) {
        add_option(&copy, from->keys[i], from->values[i]);
    }
    return copy;
}

/* Flags that the problem does not know but the evaluator does are the evaluator's: --share maxmin. */
static void share_options(const MerReference *given, const MerRunSpec *spec, MerReference *problem,
                          MerReference *evaluator)
{
    for (int i = 0; i < given->count; i++) {
        bool is_problems =
            spec->problem->options && mer_options_find(spec->problem->options, given->keys[i]);
        bool is_evaluators =
            spec->evaluator->options && mer_options_find(spec->evaluator->options, given->keys[i]);
        add_option(!is_problems && is_evaluators ? evaluator : problem, given->keys[i],
                   given->values[i]);
    }
}

static MerStatus fill(const MerOption *table, size_t size, const MerReference *reference,
                      MerArena *arena, const void **filled, MerError *error)
{
    if (!table) {
        return MER_OK;
    }
    void *options = mer_arena_alloc(arena, size + 1);
    *filled = options;
    return mer_options_fill(table, NULL, options, reference, arena, error);
}

MerStatus mer_evaluate_plugins(MerEvaluateJob *job, const MerEvaluateRequest *request,
                               const MerEvaluateNames *names, MerError *error)
{
    MerRunSpec         *spec = &job->spec;
    MerReference        reference;
    const MerReference *given = &request->options;
    spec->problem = mer_problem_find(names->problem ? names->problem : "map", error);
    if (!spec->problem) {
        return MER_NOT_FOUND;
    }
    const char *platform = request->platform ? request->platform : names->platform;
    const char *evaluator = request->evaluator ? request->evaluator : names->evaluator;
    spec->objective = request->objective ? request->objective : names->objective;
    MER_TRY(mer_reference_parse(evaluator ? evaluator : spec->problem->evaluator, &reference,
                                job->arena, error));
    spec->evaluator = mer_evaluator_find(reference.name, error);
    if (!spec->evaluator) {
        return MER_NOT_FOUND;
    }
    MerReference of_problem =
        with_capacity(&(MerReference){0}, spec->problem->name, given->count, job->arena);
    MerReference of_evaluator =
        with_capacity(&reference, spec->evaluator->name, given->count, job->arena);
    share_options(given, spec, &of_problem, &of_evaluator);
    MER_TRY(fill(spec->evaluator->options, spec->evaluator->options_size, &of_evaluator, job->arena,
                 &spec->evaluator_options, error));
    MER_TRY(fill(spec->problem->options, spec->problem->options_size, &of_problem, job->arena,
                 &spec->problem_options, error));
    return mer_platform_read(platform ? platform : spec->problem->platform, job->arena,
                             &spec->platform, error);
}
