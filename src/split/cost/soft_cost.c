/* The differentiable cost: cycles of a real number of channels in three ways, the soft maximum over units, and the energy, which needs
 * none: it is linear between points where two units end together. The fourth way, the mean over drawn channels, is in
 * expected_cost.c. */
#include "split/cost/soc_formula.h"
#include "split/split_parts.h"

#include <string.h>

typedef struct Reading { /* of one option at some real number of channels */
    double cycles, slope;
} Reading;

/* Straight between the whole numbers `low` and `high`. */
static Reading between(const MerSplitOption *option, int low, int high, double channels)
{
    double slope = high > low ? (option->cycles[high] - option->cycles[low]) / (high - low) : 0;
    return (Reading){option->cycles[low] + (channels - low) * slope, slope};
}

static Reading read_exact(const MerSplitLayer *layer, const MerSplitOption *option, double channels)
{
    int low = (int)fmin(floor(channels), layer->c_out - 1);
    return between(option, low, low + 1, channels);
}

static Reading read_chord(const MerSplitLayer *layer, const MerSplitOption *option, double channels)
{
    int low = (int)fmin(floor(channels / option->step), (layer->c_out - 1) / option->step);
    low *= option->step;
    int high = low + option->step;
    return between(option, low, high < layer->c_out ? high : layer->c_out, channels);
}

static void read_units(const MerSplit *split, const MerSplitSoft *soft, const MerSplitLayer *layer,
                       const double *channels, double *busy, double *slopes)
{
    memset(busy, 0, MER_SPLIT_MAX_UNITS * sizeof *busy);
    (void)split;
    for (int o = 0; o < layer->option_count; o++) {
        const MerSplitOption *option = &layer->options[o];
        double                ch = fmin(fmax(channels[o], 0), layer->c_out);
        Reading reading = soft->gradient == MER_SPLIT_CHORD ? read_chord(layer, option, ch)
                                                            : read_exact(layer, option, ch);
        if (soft->gradient == MER_SPLIT_STE) {
            reading.cycles = mer_soc_cycles(option->formula, ch);
        }
        busy[option->unit] += reading.cycles;
        slopes[o] = reading.slope;
    }
}

/* sum_u p_u t_u with p = softmax(t / tau), and its slopes, over units that the layer can use. */
static double soft_maximum(const MerSplit *split, unsigned used, const double *busy, double tau,
                           double *slopes)
{
    double top = 0, total = 0, mean = 0, p[MER_SPLIT_MAX_UNITS];
    for (int u = 0; u < split->unit_count; u++) {
        top = fmax(top, busy[u]);
    }
    for (int u = 0; u < split->unit_count; u++) {
        p[u] = used >> u & 1 ? exp((busy[u] - top) / tau) : 0;
        total += p[u];
    }
    for (int u = 0; u < split->unit_count; u++) {
        p[u] /= total;
        mean += p[u] * busy[u];
    }
    for (int u = 0; u < split->unit_count; u++) {
        slopes[u] = p[u] * (1 + (busy[u] - mean) / tau);
    }
    return mean;
}

double mer_split_combine(const MerSplit *split, const MerSplitSoft *soft,
                         const MerSplitLayer *layer, const double *busy, double *slopes)
{
    unsigned used = 0;
    double   whole = layer->options[layer->reference].cycles[layer->c_out];
    for (int o = 0; o < layer->option_count; o++) {
        used |= 1u << layer->options[o].unit;
    }
    if (soft->metric == MER_METRIC_ENERGY) {
        return mer_split_energy_slopes(split, busy, slopes);
    }
    double scale = soft->metric == MER_METRIC_LATENCY ? 1 / split->clock_hz : 1;
    double tau = fmax(soft->smooth * whole, 1e-9);
    double value = soft_maximum(split, used, busy, tau, slopes);
    for (int u = 0; u < split->unit_count; u++) {
        slopes[u] *= scale;
    }
    return scale * value;
}

double mer_split_soft_layer_cost(const MerSplit *split, const MerSplitSoft *soft, int l,
                                 const double *theta, double *gradient, MerArena *scratch)
{
    const MerSplitLayer *layer = &split->layers[l];
    double               channels[MER_SPLIT_MAX_OPTIONS] = {0}, slopes[MER_SPLIT_MAX_OPTIONS];
    double               busy[MER_SPLIT_MAX_UNITS], by_unit[MER_SPLIT_MAX_UNITS] = {0};
    if (soft->gradient == MER_SPLIT_EXPECTED) {
        return mer_split_expected_cost(split, soft, l, theta, gradient, scratch);
    }
    for (int o = 0; o < layer->option_count; o++) {
        for (int c = 0; c < layer->c_out; c++) {
            channels[o] += theta[o * layer->c_out + c];
        }
    }
    read_units(split, soft, layer, channels, busy, slopes);
    double value = mer_split_combine(split, soft, layer, busy, by_unit);
    for (int o = 0; gradient && o < layer->option_count; o++) {
        double weight = by_unit[layer->options[o].unit];
        if (soft->gradient == MER_SPLIT_STE) {
            slopes[o] = mer_soc_published_slope(layer->options[o].formula, channels[o], weight);
        }
        for (int c = 0; c < layer->c_out; c++) {
            gradient[o * layer->c_out + c] += weight * slopes[o];
        }
    }
    return value;
}

double mer_split_soft_cost(const MerSplit *split, const MerSplitSoft *soft,
                           const double *const *theta, double *const *gradient, MerArena *scratch)
{
    double sum = 0;
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        if (theta[l]) {
            sum += mer_split_soft_layer_cost(split, soft, l, theta[l],
                                             gradient ? gradient[l] : NULL, scratch);
            continue;
        }
        int counts[MER_SPLIT_MAX_OPTIONS] = {0};
        counts[layer->fixed >= 0 ? layer->fixed : layer->reference] = layer->c_out;
        MerSplitPrice price = mer_split_layer_cost(split, l, counts);
        sum += mer_split_value(split, &price, soft->metric);
    }
    return sum;
}
