/* What a split costs: units work on a layer side by side, so that it takes as long as the longest of them; layers follow each other.
 * Energy counts every interval by the power of the units that are busy in it. */
#include "split/split.h"

static void add_busy(const MerSplitLayer *layer, const int *counts, double *busy)
{
    for (int o = 0; o < layer->option_count; o++) {
        busy[layer->options[o].unit] += layer->options[o].cycles[counts[o]];
    }
}

/* Units by their times, rising; of equals the first one first. */
static void sort_units(const double *busy, int count, int *order)
{
    for (int u = 0; u < count; u++) {
        int at = u;
        for (; at > 0 && busy[order[at - 1]] > busy[u]; at--) {
            order[at] = order[at - 1];
        }
        order[at] = u;
    }
}

double mer_split_energy_slopes(const MerSplit *split, const double *busy, double *slopes)
{
    int    order[MER_SPLIT_MAX_UNITS];
    double before = 0, energy = 0, pj = 1e9 / split->clock_hz; /* of a mW for a cycle */
    int    active = (1 << split->unit_count) - 1;
    if (!split->power_mw || isnan(split->clock_hz)) {
        return NAN;
    }
    sort_units(busy, split->unit_count, order);
    for (int i = 0; i < split->unit_count; i++) {
        int u = order[i];
        energy += split->power_mw[active] * (busy[u] - before) * pj;
        if (slopes) {
            slopes[u] = (split->power_mw[active] -
                         (active & (active - 1) ? split->power_mw[active & ~(1 << u)] : 0)) *
                        pj;
        }
        before = busy[u];
        active &= ~(1 << u);
    }
    return energy;
}

double mer_split_energy(const MerSplit *split, const double *busy)
{
    return mer_split_energy_slopes(split, busy, NULL);
}

MerSplitPrice mer_split_layer_cost(const MerSplit *split, int l, const int *counts)
{
    MerSplitPrice price = {0};
    add_busy(&split->layers[l], counts, price.busy);
    for (int u = 0; u < split->unit_count; u++) {
        price.cycles = fmax(price.cycles, price.busy[u]);
    }
    price.energy_pj = mer_split_energy(split, price.busy);
    return price;
}

static void add_price(MerSplitPrice *sum, const MerSplitPrice *price)
{
    sum->cycles += price->cycles;
    sum->energy_pj += price->energy_pj;
    for (int u = 0; u < MER_SPLIT_MAX_UNITS; u++) {
        sum->busy[u] += price->busy[u];
    }
}

double mer_split_value(const MerSplit *split, const MerSplitPrice *price, MerMetric metric)
{
    return metric == MER_METRIC_ENERGY    ? price->energy_pj
           : metric == MER_METRIC_LATENCY ? price->cycles / split->clock_hz
                                          : price->cycles;
}

double mer_split_reference_cost(const MerSplit *split, MerMetric metric)
{
    MerSplitPrice sum = {0};
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        int                  counts[MER_SPLIT_MAX_OPTIONS] = {0};
        counts[layer->fixed >= 0 ? layer->fixed : layer->reference] = layer->c_out;
        MerSplitPrice price = mer_split_layer_cost(split, l, counts);
        add_price(&sum, &price);
    }
    return mer_split_value(split, &sum, metric);
}
