/* The ask-and-tell side of solvers that make one plan. */
#include "split/solve/one_split.h"

#include <string.h>

extern const MerEvaluatorClass mer_evaluator_soc;

MerStatus mer_one_split_open(MerOneSplit *one, const MerSearch *search, const MerProblem *problem,
                             const MerEvaluator *evaluator, const char *name, bool needs_prices,
                             MerError *error)
{
    static const MerSplitRules any;
    const MerSplitRules       *rules =
        evaluator->type->rules ? evaluator->type->rules(evaluator->state) : NULL;
    rules = rules || needs_prices ? rules : &any;
    if (!rules || !mer_split_of(problem)) {
        return mer_error_set(error, MER_UNSUPPORTED, "%s needs an evaluator that prices by soc",
                             name);
    }
    if (search->space->knob_count != problem->space.knob_count) {
        return mer_error_set(error, MER_UNSUPPORTED, "%s cannot work with fixed knobs, use pin",
                             name);
    }
    *one =
        (MerOneSplit){.split = mer_split_of(problem),
                      .rules = rules,
                      .objective = search->objective,
                      .knob_count = problem->space.knob_count,
                      .point = MER_ARRAY(search->arena, MerIndex, problem->space.knob_count + 1)};
    return MER_OK;
}

MerStatus mer_one_split_take(MerOneSplit *one, const MerPlan *plan, MerError *error)
{
    return mer_split_encode(one->split, mer_split_plan(plan), one->point)
               ? MER_OK
               : mer_error_set(error, MER_UNSUPPORTED,
                               "the split is no point of the space: layers that share their "
                               "assignment (tie) would differ");
}

int mer_one_split_ask(void *state, MerProposal *proposals, int capacity)
{
    MerOneSplit *one = state;
    (void)capacity;
    if (one->is_done) {
        return 0;
    }
    memcpy(proposals[0].point, one->point, (size_t)one->knob_count * sizeof *one->point);
    one->is_done = true;
    return 1;
}

void mer_one_split_tell(void *state, const MerTrial *trials, int count)
{
    (void)state, (void)trials, (void)count; /* it knows the price already */
}

bool mer_one_split_proof(const void *state, MerBound *bound)
{
    const MerOneSplit *one = state;
    *bound = (MerBound){one->value, "search", ""};
    return one->is_done && one->is_proven;
}
