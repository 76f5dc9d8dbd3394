/* Memory limits of a split (docs/channel-split.md, "Memory"), which the published models leave out: weights in the memory of each unit,
 * the input and output of a layer in the innermost shared memory, and all tensors that are alive in the one outside of it. */
#include "split/cost/soc_formula.h"
#include "split/split_parts.h"

#include <string.h>

static double bytes_per_element(const MerSplit *split)
{
    return ceil(split->platform->activation_bits / 8.0);
}

static const MerMemory *memory_at(const MerSplit *split, int from_inside)
{
    int index = split->platform->memory_count - 1 - from_inside;
    return index >= 0 ? &split->platform->memories[index] : NULL;
}

double mer_split_refill_rate(const MerSplit *split)
{
    const MerMemory *memory = memory_at(split, 1);
    return memory ? memory->read_words_per_cycle * memory->word_bits / 8 : INFINITY;
}

static double option_bytes(const MerSplitLayer *layer, const MerSplitOption *option, double count)
{
    bool   is_depthwise = option->type == MER_SPLIT_DEPTHWISE;
    double weights = is_depthwise ? (double)layer->k_h * layer->k_w : (double)layer->weights;
    return count * weights * option->bits / 8;
}

void mer_split_weight_bytes(const MerSplitLayer *layer, const int *counts, double *bytes)
{
    memset(bytes, 0, MER_SPLIT_MAX_UNITS * sizeof *bytes);
    for (int o = 0; o < layer->option_count; o++) {
        bytes[layer->options[o].unit] += option_bytes(layer, &layer->options[o], counts[o]);
    }
}

/* Input and output of a layer. */
static double image_bytes(const MerSplit *split, const MerSplitLayer *layer)
{
    double input = layer->i_h > 0 ? (double)layer->i_h * layer->i_w : (double)layer->o_h;
    return (input * layer->c_in + (double)layer->o_h * layer->o_w * layer->c_out) *
           bytes_per_element(split);
}

static double live_bytes(const MerSplit *split, const MerSplitLayer *layer)
{
    return (double)layer->live_elements * bytes_per_element(split);
}

static bool check(double needs, double has, const MerSplitLayer *layer, const char *where,
                  MerCost *reason)
{
    if (needs > has && reason) {
        mer_cost_refuse(reason, "memory: %.40s of %.30s needs %.10g bytes, has %.10g", where,
                        layer ? layer->name : "the network", needs, has);
    }
    return needs <= has;
}

bool mer_split_layer_fits(const MerSplit *split, const MerSplitRules *rules, int l,
                          const int *counts, MerCost *reason)
{
    const MerSplitLayer *layer = &split->layers[l];
    const MerMemory     *inner = memory_at(split, 0), *outer = memory_at(split, 1);
    double               bytes[MER_SPLIT_MAX_UNITS];
    if (rules->memory == MER_SPLIT_MEMORY_OFF) {
        return true;
    }
    if (outer && !check(live_bytes(split, layer), outer->bytes, layer, outer->name, reason)) {
        return false;
    }
    if (rules->memory == MER_SPLIT_MEMORY_PRICE) {
        return true;
    }
    if (inner && !check(image_bytes(split, layer), inner->bytes, layer, inner->name, reason)) {
        return false;
    }
    mer_split_weight_bytes(layer, counts, bytes);
    for (int u = 0; u < split->unit_count; u++) {
        const MerUnit *unit = &split->platform->units[u];
        if (!check(bytes[u], unit->memory_bytes, layer, unit->name, reason)) {
            return false;
        }
    }
    return true;
}

static void network_bytes(const MerSplit *split, const MerSplitPlan *plan, double *sum)
{
    memset(sum, 0, MER_SPLIT_MAX_UNITS * sizeof *sum);
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        double               bytes[MER_SPLIT_MAX_UNITS];
        mer_split_weight_bytes(layer, plan->counts + layer->option_start, bytes);
        for (int u = 0; u < split->unit_count; u++) {
            sum[u] += bytes[u];
        }
    }
}

bool mer_split_network_fits(const MerSplit *split, const MerSplitRules *rules,
                            const MerSplitPlan *plan, MerCost *reason)
{
    double bytes[MER_SPLIT_MAX_UNITS];
    if (rules->memory != MER_SPLIT_MEMORY_CHECK || !rules->is_resident) {
        return true;
    }
    network_bytes(split, plan, bytes);
    for (int u = 0; u < split->unit_count; u++) {
        const MerUnit *unit = &split->platform->units[u];
        if (!check(bytes[u], unit->memory_bytes, NULL, unit->name, reason)) {
            return false;
        }
    }
    return true;
}

/* Rows that are read again because the image is computed in strips. */
static double halo_cycles(const MerSplit *split, const MerSplitLayer *layer)
{
    const MerMemory *inner = memory_at(split, 0);
    double           image = image_bytes(split, layer);
    double           strips = inner && isfinite(inner->bytes) ? ceil(image / inner->bytes) : 1;
    double           rows = fmax(layer->k_h - layer->stride_h, 0);
    return (strips - 1) * rows * layer->i_w * layer->c_in * bytes_per_element(split) /
           mer_split_refill_rate(split);
}

/* An analog array takes as many channels as it has columns: more are loaded after each other. */
static double reload_cycles(const MerSplitOption *option, int count)
{
    const MerSocCost *f = option->formula;
    return f->kind == MER_SOC_AIMC && count > f->columns
               ? (ceil(count / f->columns) - 1) * f->weight_cycles_per_row * f->c_in * f->k_x *
                     f->k_y
               : 0;
}

/* Cycles that memory adds to a layer under MER_SPLIT_MEMORY_PRICE, to each unit's time. */
static void memory_cycles(const MerSplit *split, int l, const int *counts, double *cycles)
{
    const MerSplitLayer *layer = &split->layers[l];
    double               bytes[MER_SPLIT_MAX_UNITS], halo = halo_cycles(split, layer);
    memset(cycles, 0, MER_SPLIT_MAX_UNITS * sizeof *cycles);
    mer_split_weight_bytes(layer, counts, bytes);
    for (int u = 0; u < split->unit_count; u++) {
        double excess = fmax(bytes[u] - split->platform->units[u].memory_bytes, 0);
        cycles[u] = (bytes[u] > 0 ? halo : 0) + excess / mer_split_refill_rate(split);
    }
    for (int o = 0; o < layer->option_count; o++) {
        cycles[layer->options[o].unit] += reload_cycles(&layer->options[o], counts[o]);
    }
}

static void add_cycles(const MerSplit *split, const double *cycles, MerSplitPrice *price)
{
    price->cycles = 0;
    for (int u = 0; u < split->unit_count; u++) {
        price->busy[u] += cycles[u];
        price->cycles = fmax(price->cycles, price->busy[u]);
    }
    price->energy_pj = mer_split_energy(split, price->busy);
}

MerSplitPrice mer_split_layer_price(const MerSplit *split, const MerSplitRules *rules, int l,
                                    const int *counts)
{
    MerSplitPrice price = mer_split_layer_cost(split, l, counts);
    double        cycles[MER_SPLIT_MAX_UNITS];
    if (rules->memory == MER_SPLIT_MEMORY_PRICE) {
        memory_cycles(split, l, counts, cycles);
        add_cycles(split, cycles, &price);
    }
    return price;
}

/* With `residency=network`, a unit whose memory does not hold all its weights loads those of every layer. */
static MerSplitPrice resident_price(const MerSplit *split, const MerSplitRules *rules,
                                    const MerSplitPlan *plan, int l, const bool *is_full)
{
    const MerSplitLayer *layer = &split->layers[l];
    const int           *counts = plan->counts + layer->option_start;
    MerSplitPrice        price = mer_split_layer_price(split, rules, l, counts);
    double               bytes[MER_SPLIT_MAX_UNITS];
    mer_split_weight_bytes(layer, counts, bytes);
    for (int u = 0; u < split->unit_count; u++) {
        double held = fmin(bytes[u], split->platform->units[u].memory_bytes);
        bytes[u] =
            is_full[u] ? held / mer_split_refill_rate(split) : 0; /* the excess is in already */
    }
    add_cycles(split, bytes, &price);
    return price;
}

MerSplitPrice mer_split_price(const MerSplit *split, const MerSplitRules *rules,
                              const MerSplitPlan *plan)
{
    MerSplitPrice sum = {0};
    double        bytes[MER_SPLIT_MAX_UNITS];
    bool          is_full[MER_SPLIT_MAX_UNITS] = {0};
    bool          loads = rules->memory == MER_SPLIT_MEMORY_PRICE && rules->is_resident;
    network_bytes(split, plan, bytes);
    for (int u = 0; u < split->unit_count; u++) {
        is_full[u] = loads && bytes[u] > split->platform->units[u].memory_bytes;
    }
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        if (rules->searchable_only && !layer->is_searchable) {
            continue;
        }
        MerSplitPrice price =
            loads ? resident_price(split, rules, plan, l, is_full)
                  : mer_split_layer_price(split, rules, l, plan->counts + layer->option_start);
        sum.cycles += price.cycles;
        sum.energy_pj += price.energy_pj;
        for (int u = 0; u < split->unit_count; u++) {
            sum.busy[u] += price.busy[u];
        }
    }
    return sum;
}

double mer_split_peak_bytes(const MerSplit *split, const MerSplitRules *rules,
                            const MerSplitPlan *plan)
{
    double peak = 0, bytes[MER_SPLIT_MAX_UNITS];
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        peak = fmax(peak, live_bytes(split, layer));
        mer_split_weight_bytes(layer, plan->counts + layer->option_start, bytes);
        for (int u = 0; u < split->unit_count; u++) {
            peak = fmax(peak, bytes[u]);
        }
    }
    network_bytes(split, plan, bytes);
    for (int u = 0; u < split->unit_count && rules->is_resident; u++) {
        peak = fmax(peak, bytes[u]);
    }
    return peak;
}
