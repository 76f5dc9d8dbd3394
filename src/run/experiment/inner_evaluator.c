/* `inner=NAME[:key=value,...]` of an evaluator that has another one price for it. It is a key of the run, which opens both. */
#include "run/experiment/experiment.h"

#include "base/option_json.h"
#include "mercator/registry.h"

const char *mer_experiment_take_key(MerReference *reference, const char *key)
{
    int at = mer_reference_find(reference, key);
    if (at < 0) {
        return NULL;
    }
    const char *value = reference->values[at];
    reference->count--;
    for (int i = at; i < reference->count; i++) {
        reference->keys[i] = reference->keys[i + 1];
        reference->values[i] = reference->values[i + 1];
    }
    return value;
}

static MerStatus check(const MerRunSpec *spec, MerError *error)
{
    const MerEvaluatorClass *inner = spec->inner;
    if (!spec->evaluator->takes_inner) {
        return mer_error_set(error, MER_INVALID,
                             "evaluator %s prices all itself, it has no inner evaluator",
                             spec->evaluator->name);
    }
    if (inner->mode != MER_EVALUATE_PARALLEL) {
        return mer_error_set(error, MER_INVALID,
                             "inner is %s, which trains or measures: expected an evaluator that "
                             "only prices, such as command:./simulator",
                             inner->name);
    }
    if (!spec->problem) {
        return MER_OK;
    }
    for (const MerPlanKind *const *made = spec->problem->plans; *made; made++) {
        if (mer_evaluator_prices(spec->evaluator, *made) && mer_evaluator_prices(inner, *made)) {
            return MER_OK;
        }
    }
    return mer_error_set(error, MER_INVALID,
                         "inner is %s, which does not price the plans of problem %s", inner->name,
                         spec->problem->name);
}

MerStatus mer_experiment_inner(MerReference *reference, const char *named, MerRunSpec *spec,
                               MerArena *arena, MerError *error)
{
    bool         may_have = spec->evaluator->takes_inner;
    const char  *own = may_have ? mer_experiment_take_key(reference, "inner") : NULL;
    const char  *text = own ? own : named;
    MerReference inner;
    spec->inner = NULL;
    spec->inner_options = NULL;
    if (!text || !*text) {
        return MER_OK;
    }
    MER_TRY(mer_reference_parse(text, &inner, arena, error));
    spec->inner = mer_evaluator_find(inner.name, error);
    if (!spec->inner) {
        return MER_NOT_FOUND;
    }
    MER_TRY(check(spec, error));
    return mer_experiment_fill(spec->inner->options, NULL, spec->inner->options_size, &inner,
                               &spec->inner_options, arena, error);
}
