/* Naive splits: a unit that is said to be `speedup` times as fast as the reference gets all channels but about one in so many; of a
 * layer with C channels the reference has floor(C / speedup) - 1, as the published baselines do. */
#include "base/option_rows.h"
#include "split/solve/fixed_splits.h"
#include "split/solve/one_split.h"

typedef struct Options {
    double speedup;
} Options;

static const MerOption options[] = {
    MER_REAL(speedup, "10", 1, 1e6,
             "of the best other option over the reference; the authors try 5, 10 and 100"),
    {0}};

/* From half and half, which says which option is the other one. */
static void move_channels(const MerSplit *split, double speedup, MerSplitPlan *plan)
{
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        int                 *counts = plan->counts + layer->option_start;
        int                  kept = (int)(layer->c_out / speedup) - 1, other = layer->reference;
        for (int o = 0; o < layer->option_count; o++) {
            other = o != layer->reference && counts[o] > 0 ? o : other;
        }
        if (layer->is_searchable && other != layer->reference) {
            counts[layer->reference] = kept > 0 ? kept : 0;
            counts[other] = layer->c_out - counts[layer->reference];
        }
    }
    mer_split_assign(split, plan);
}

static MerStatus open_naive(void *state, const MerSearch *search, const MerProblem *problem,
                            const MerEvaluator *evaluator, const void *given, MerError *error)
{
    MerOneSplit *one = state;
    MerPlan      plan;
    MerMetric    metric =
        search->objective == MER_METRIC_ENERGY ? MER_METRIC_ENERGY : MER_METRIC_CYCLES;
    MER_TRY(mer_one_split_open(one, search, problem, evaluator, "naive", true, error));
    MER_TRY(mer_split_make_fixed(one->split, one->rules, MER_SPLIT_FIXED_HALF, metric, &plan,
                                 search->arena, error));
    move_channels(one->split, ((const Options *)given)->speedup,
                  (MerSplitPlan *)mer_split_plan(&plan));
    return mer_one_split_take(one, &plan, error);
}

const MerOptimizerClass mer_optimizer_naive = {
    .name = "naive",
    .summary = "floor(channels / speedup) - 1 of each layer on the reference, the rest on the best "
               "of the others",
    .reference = "ODiMO (arXiv 2409.18566), baselines",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(MerOneSplit),
    .problem = "split",
    .makes_own_plan = true,
    .open_problem = open_naive,
    .ask = mer_one_split_ask,
    .tell = mer_one_split_tell,
};
