/* The best split, layer by layer: exact, since layers do not depend on each other. `exact_split` minimises the objective of the run,
 * `min_latency` and `min_energy` their own. */
#include "split/solve/layer_split.h"
#include "split/solve/one_split.h"

#include <string.h>

/* Layers that are priced alike and may go to the same options. */
static bool are_alike(const MerSplitLayer *a, const MerSplitLayer *b)
{
    return a->type == b->type && a->c_in == b->c_in && a->c_out == b->c_out &&
           a->groups == b->groups && a->k_h == b->k_h && a->k_w == b->k_w && a->o_h == b->o_h &&
           a->o_w == b->o_w && a->i_h == b->i_h && a->i_w == b->i_w && a->stride_h == b->stride_h &&
           a->stride_w == b->stride_w && a->repeat == b->repeat && a->fixed == b->fixed &&
           a->option_count == b->option_count && a->live_elements == b->live_elements;
}

double mer_split_best_network(const MerSplit *split, const MerSplitRules *rules,
                              const MerSplitAim *aim, MerSplitPlan *plan)
{
    MerArena *scratch = mer_arena_new();
    double   *values = mer_arena_alloc_array(scratch, (size_t)split->layer_count, sizeof *values);
    MerArena *inner = mer_arena_new();
    double    sum = 0;
    bool      weighs = aim->price > 0 || aim->metric == MER_METRIC_DISTORTION;
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        int                 *counts = plan->counts + layer->option_start, like = 0;
        while (like < l && (weighs || !are_alike(&split->layers[like], layer))) {
            like++;
        }
        if (like < l) {
            values[l] = values[like];
            memcpy(counts, plan->counts + split->layers[like].option_start,
                   (size_t)layer->option_count * sizeof *counts);
        } else {
            values[l] = mer_split_best_layer(split, rules, l, aim, counts, inner);
            mer_arena_reset(inner);
        }
        sum += !rules->searchable_only || layer->is_searchable ? values[l] : 0;
    }
    mer_arena_free(inner);
    mer_arena_free(scratch);
    return sum;
}

static bool is_exact(const MerSplit *split, const MerSplitRules *rules)
{
    for (int l = 0; l < split->layer_count; l++) {
        if (split->layers[l].option_count > 3 && rules->memory == MER_SPLIT_MEMORY_PRICE) {
            return false;
        }
    }
    return !(rules->memory != MER_SPLIT_MEMORY_OFF && rules->is_resident) && !split->is_tied;
}

static bool is_same_aim(MerMetric a, MerMetric b)
{
    bool a_is_time = a == MER_METRIC_CYCLES || a == MER_METRIC_LATENCY;
    bool b_is_time = b == MER_METRIC_CYCLES || b == MER_METRIC_LATENCY;
    return a == b || (a_is_time && b_is_time);
}

static MerStatus open_for(MerMetric metric, const char *name, void *state, const MerSearch *search,
                          const MerProblem *problem, const MerEvaluator *evaluator, MerError *error)
{
    MerOneSplit *one = state;
    MerPlan      plan;
    if (metric != MER_METRIC_CYCLES && metric != MER_METRIC_LATENCY &&
        metric != MER_METRIC_ENERGY && metric != MER_METRIC_DISTORTION) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%s minimises cycles, latency, energy or distortion", name);
    }
    MER_TRY(mer_one_split_open(one, search, problem, evaluator, name, true, error));
    if (metric == MER_METRIC_ENERGY && (!one->split->power_mw || isnan(one->split->clock_hz))) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%s needs energies: platform %s has no power_mw or no clock_hz", name,
                             one->split->platform->name);
    }
    MerSplitPlan *made = mer_split_new_plan(one->split, &plan, search->arena);
    /* seconds as prices make them, out of the sum of cycles */
    MerSplitAim aim = {.metric = metric == MER_METRIC_LATENCY ? MER_METRIC_CYCLES : metric};
    double      value = mer_split_best_network(one->split, one->rules, &aim, made);
    value /= metric == MER_METRIC_LATENCY ? one->split->clock_hz : 1;
    if (value < INFINITY && !mer_split_network_fits(one->split, one->rules, made, NULL)) {
        mer_split_repair(one->split, one->rules, &aim, made); /* else the evaluator says why not */
    }
    if (value < INFINITY) {
        mer_split_assign(one->split, made);
    } else { /* the evaluator says what does not fit */
        mer_split_new_plan(one->split, &plan, search->arena);
    }
    one->is_proven = value < INFINITY && is_same_aim(metric, search->objective) &&
                     is_exact(one->split, one->rules);
    one->value = value;
    return mer_one_split_take(one, &plan, error);
}

static MerStatus open_exact(void *state, const MerSearch *search, const MerProblem *problem,
                            const MerEvaluator *evaluator, const void *options, MerError *error)
{
    (void)options;
    return open_for(search->objective, "exact_split", state, search, problem, evaluator, error);
}

static MerStatus open_latency(void *state, const MerSearch *search, const MerProblem *problem,
                              const MerEvaluator *evaluator, const void *options, MerError *error)
{
    (void)options;
    return open_for(search->objective == MER_METRIC_CYCLES ? MER_METRIC_CYCLES : MER_METRIC_LATENCY,
                    "min_latency", state, search, problem, evaluator, error);
}

static MerStatus open_energy(void *state, const MerSearch *search, const MerProblem *problem,
                             const MerEvaluator *evaluator, const void *options, MerError *error)
{
    (void)options;
    return open_for(MER_METRIC_ENERGY, "min_energy", state, search, problem, evaluator, error);
}

#define SOLVER(spelled, help, opened)                                                              \
    const MerOptimizerClass mer_optimizer_##spelled = {                                            \
        .name = #spelled,                                                                          \
        .summary = help,                                                                           \
        .reference = "ODiMO (arXiv 2409.18566), baselines; any number of units here",              \
        .state_size = sizeof(MerOneSplit),                                                         \
        .problem = "split",                                                                        \
        .makes_own_plan = true,                                                                    \
        .ends_itself = true,                                                                       \
        .open_problem = opened,                                                                    \
        .ask = mer_one_split_ask,                                                                  \
        .tell = mer_one_split_tell,                                                                \
        .proof = mer_one_split_proof,                                                              \
    };
SOLVER(exact_split, "the best split of each layer by the objective, exactly", open_exact)
SOLVER(min_latency, "the fastest split of each layer, more on the reference among equals",
       open_latency)
SOLVER(min_energy, "the split of each layer that takes least energy", open_energy)
