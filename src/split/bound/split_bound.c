/* What no split can beat: every layer at its best. Layers do not depend on each other, so that without limits over the whole network
 * this is the optimum. */
#include "split/solve/layer_split.h"

static double least_distortion(const MerSplitLayer *layer)
{
    double sum = 0;
    for (int c = 0; c < layer->c_out; c++) {
        double least = INFINITY;
        for (int o = 0; o < layer->option_count; o++) {
            least = fmin(least, layer->errors[(size_t)o * (size_t)layer->c_out + (size_t)c]);
        }
        sum += layer->fixed >= 0
                   ? layer->errors[(size_t)layer->fixed * (size_t)layer->c_out + (size_t)c]
                   : least;
    }
    return sum;
}

MerBound mer_split_lower_bound(const MerSplit *split, const MerSplitRules *rules, MerMetric metric)
{
    bool        is_time = metric == MER_METRIC_CYCLES || metric == MER_METRIC_LATENCY;
    MerSplitAim aim = {.metric = is_time ? MER_METRIC_CYCLES : metric};
    /* what memory adds is never negative: without it the bound holds, and is exact for any number of options */
    MerSplitRules limits = *rules;
    limits.memory = limits.memory == MER_SPLIT_MEMORY_PRICE ? MER_SPLIT_MEMORY_OFF : limits.memory;
    if (!is_time && metric != MER_METRIC_ENERGY && metric != MER_METRIC_DISTORTION) {
        return (MerBound){NAN, "none", ""};
    }
    MerArena *scratch = mer_arena_new();
    double    sum = 0;
    for (int l = 0; l < split->layer_count; l++) {
        int counts[MER_SPLIT_MAX_OPTIONS];
        if (rules->searchable_only && !split->layers[l].is_searchable) {
            continue;
        }
        sum += metric == MER_METRIC_DISTORTION
                   ? least_distortion(&split->layers[l])
                   : mer_split_best_layer(split, &limits, l, &aim, counts, scratch);
        mer_arena_reset(scratch);
    }
    mer_arena_free(scratch);
    sum = metric == MER_METRIC_LATENCY ? sum / split->clock_hz : sum; /* as prices are made */
    bool is_optimum = rules->memory == MER_SPLIT_MEMORY_OFF ||
                      (rules->memory == MER_SPLIT_MEMORY_CHECK && !rules->is_resident);
    return isfinite(sum) ? (MerBound){sum, is_optimum ? "optimum" : "layers", ""}
                         : (MerBound){NAN, "none", ""};
}
