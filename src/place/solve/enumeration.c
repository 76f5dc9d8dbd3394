/* All points of a small space, one after the other: what is best is then proven. */
#include "place/solve/enumeration.h"

#include <string.h>

/* What matters to the evaluator: order and fusion do to `cluster` alone, and come behind the units. */
static MerSpace what_matters(const MerPointPricer *pricer)
{
    const MerEvaluator  *evaluator = pricer->evaluator;
    const MerPlace      *place = mer_place_of(pricer->problem);
    const MerPlaceRules *rules =
        evaluator->type->rules ? evaluator->type->rules(evaluator->state) : NULL;
    MerSpace space = pricer->problem->space;
    if (rules && rules->form != MER_PLACE_CLUSTER && !place->has_replicas) {
        space.knob_count = place->group_count;
    }
    return space;
}

/* Noisy prices prove nothing. */
static bool is_exact(const MerEvaluator *evaluator)
{
    return !evaluator->type->approximates || !evaluator->type->approximates(evaluator->state);
}

bool mer_place_enumerate(const MerPointPricer *pricer, int64_t most, MerIndex *best, double *score)
{
    const MerProblem *problem = pricer->problem;
    MerSpace          space = what_matters(pricer);
    double            priced = pow(10, mer_space_log10_size(&space)) * problem->graph->op_count;
    *score = INFINITY;
    if (!is_exact(pricer->evaluator) || priced > (double)most) {
        return false;
    }
    MerArena      *arena = mer_arena_new();
    MerPointPricer own = *pricer;
    MerIndex      *point = MER_ARRAY(arena, MerIndex, problem->space.knob_count + 1);
    bool           is_cancelled;
    own.arena = mer_arena_new();
    do {
        double found = mer_point_price(&own, point, *score).score;
        if (found < *score) {
            *score = found;
            memcpy(best, point, (size_t)problem->space.knob_count * sizeof *best);
        }
        is_cancelled = mer_is_cancelled(pricer->search->notes);
    } while (!is_cancelled && mer_space_next(&space, point));
    mer_arena_free(own.arena);
    mer_arena_free(arena);
    return !is_cancelled && isfinite(*score);
}
