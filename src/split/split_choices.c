/* How a platform can compute a layer: one option per unit, operator and weight format that fits, with its cycles for every number of
 * channels. */
#include "split/cost/soc_formula.h"
#include "split/split_parts.h"

#include "mercator/option.h"

#include <stdlib.h>
#include <string.h>

static const char *const operator_names[MER_SPLIT_OPERATOR_COUNT] = {
#define X(id, name) name,
    MER_SPLIT_OPERATOR_MAP(X)
#undef X
};

static bool has_operator(const MerUnit *unit, MerSplitOperator type)
{
    for (int i = 0; i < unit->option_count; i++) {
        if (strcmp(unit->options[i].operator_name, operator_names[type]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_depthwise_engine(const MerUnit *unit)
{
    return has_operator(unit, MER_SPLIT_DEPTHWISE) && !has_operator(unit, MER_SPLIT_CONV) &&
           !has_operator(unit, MER_SPLIT_POINTWISE) && !has_operator(unit, MER_SPLIT_LINEAR);
}

bool mer_split_has_depthwise_engine(const MerPlatform *platform)
{
    bool has_engine = false, has_conv = false;
    for (int u = 0; u < platform->unit_count; u++) {
        has_engine |= is_depthwise_engine(&platform->units[u]);
        has_conv |= has_operator(&platform->units[u], MER_SPLIT_CONV);
    }
    return has_engine && has_conv;
}

/* The operator by which a unit takes layers of `type`: its own, or `conv` for 1x1 and fully connected layers that no unit names. */
static MerSplitOperator operator_for(const MerPlatform *platform, const MerUnit *unit,
                                     MerSplitOperator type)
{
    bool is_named = false;
    for (int u = 0; u < platform->unit_count; u++) {
        is_named |= has_operator(&platform->units[u], type);
    }
    bool is_dense = type == MER_SPLIT_POINTWISE || type == MER_SPLIT_LINEAR;
    return has_operator(unit, type)                                      ? type
           : is_dense && !is_named && has_operator(unit, MER_SPLIT_CONV) ? MER_SPLIT_CONV
                                                                         : MER_SPLIT_OPERATOR_COUNT;
}

/* Bits of a weight format by its name: int8-pow2 8, ternary 2; 8 where it has no number. */
static int bits_of(const char *weights)
{
    long bits = strtol(weights + strcspn(weights, "0123456789"), NULL, 10);
    return strncmp(weights, "ternary", 7) == 0 ? 2 : bits >= 1 && bits <= 64 ? (int)bits : 8;
}

static MerStatus add_option(const MerPlatform *platform, MerSplitLayer *layer, int unit,
                            const MerUnitOption *from, MerSplitOperator type, MerArena *arena,
                            MerError *error)
{
    MerSplitOption *options = (MerSplitOption *)layer->options;
    MerSplitOption  option = {.name = from->name,
                              .unit = unit,
                              .type = type,
                              .weights = from->weights,
                              .bits = bits_of(from->weights),
                              .branch =
                                  type == MER_SPLIT_DEPTHWISE && layer->type != MER_SPLIT_DEPTHWISE};
    MerSocCost     *formula = MER_NEW(arena, MerSocCost);
    MER_TRY(mer_soc_cost_make(platform, layer, &option, formula, arena, error));
    if (layer->option_count == MER_SPLIT_MAX_OPTIONS) {
        return mer_error_set(error, MER_INVALID,
                             "layer %s: platform %s has more than %d ways to compute it",
                             layer->name, platform->name, MER_SPLIT_MAX_OPTIONS);
    }
    for (int o = 0; o < layer->option_count; o++) {
        if (mer_name_equal(options[o].name, option.name)) {
            option.name = mer_arena_format(arena, "%s.%s", platform->units[unit].name, option.name);
        }
    }
    option.formula = formula;
    option.step = mer_soc_step(formula);
    option.is_estimated = formula->is_estimated;
    double *cycles = MER_ARRAY(arena, double, layer->c_out + 1);
    for (int c = 0; c <= layer->c_out; c++) {
        cycles[c] = mer_soc_cycles(formula, c);
    }
    option.cycles = cycles;
    options[layer->option_count++] = option;
    return MER_OK;
}

/* A measured table is the user's, who may not know that it lacks rows; what formulas do not take is in their description. */
static void refuse(const MerUnit *unit, MerSplitOperator type, const char *why,
                   const char **refusal, MerSplitRemarks *remarks)
{
    *refusal = mer_arena_text(remarks->arena, why);
    if (mer_soc_kind(&unit->cost, type) == MER_SOC_TABLE) {
        mer_split_remark(remarks, "%s: it computes no such layer", why);
    }
}

/* Options of one unit. What its formula does not take is left out; `refusal` keeps why. */
static MerStatus add_unit(const MerPlatform *platform, MerSplitLayer *layer, int u,
                          MerSplitOperator asked, MerSplitOperator type, const char **refusal,
                          MerSplitRemarks *remarks, MerArena *arena, MerError *error)
{
    const MerUnit *unit = &platform->units[u];
    for (int i = 0; i < unit->option_count; i++) {
        if (strcmp(unit->options[i].operator_name, operator_names[asked]) != 0) {
            continue;
        }
        MerError  failure = {0};
        MerStatus status = add_option(platform, layer, u, &unit->options[i], type, arena, &failure);
        if (status == MER_UNSUPPORTED) {
            refuse(unit, type, failure.message, refusal, remarks);
        } else if (status != MER_OK) {
            return mer_error_set(error, status, "%s", failure.message);
        }
    }
    return MER_OK;
}

/* A depthwise engine can stand in where channel c of the output may read channel c of the input alone. */
static bool is_replaceable(const MerSplitLayer *layer)
{
    return layer->type == MER_SPLIT_CONV && layer->groups == 1 && layer->c_in == layer->c_out &&
           layer->k_h == 3 && layer->k_w == 3 && layer->stride_h == 1 && layer->stride_w == 1;
}

/* Is a measured curve used outside of its shapes, beyond its channels, or does it fall? */
static void remark_table(const MerSplitLayer *layer, const MerSplitOption *option,
                         const MerPlatform *platform, MerSplitRemarks *remarks)
{
    const MerSocCost *formula = option->formula;
    const char       *unit = platform->units[option->unit].name;
    bool              falls = false;
    if (formula->kind != MER_SOC_TABLE) {
        return;
    }
    for (int c = 0; c < layer->c_out; c++) {
        falls |= option->cycles[c + 1] < option->cycles[c];
    }
    if (formula->is_estimated) {
        mer_split_remark(remarks,
                         "layer %s: estimated, no row of the table of unit %s has its shape",
                         layer->name, unit);
    }
    if (layer->c_out > formula->points[2 * (formula->point_count - 1)]) {
        mer_split_remark(remarks,
                         "layer %s: %d channels are beyond the %g measured on unit %s, continued "
                         "by the last slope",
                         layer->name, layer->c_out, formula->points[2 * (formula->point_count - 1)],
                         unit);
    }
    if (falls) {
        mer_split_remark(remarks, "layer %s: the table of unit %s falls with more channels",
                         layer->name, unit);
    }
}

MerStatus mer_split_find_options(const MerPlatform *platform, MerSplitLayer *layer, bool replaces,
                                 MerSplitRemarks *remarks, MerArena *arena, MerError *error)
{
    const char **refusals = MER_ARRAY(arena, const char *, platform->unit_count + 1);
    const char  *reason = NULL;
    layer->refusals = refusals;
    layer->options = MER_ARRAY(arena, MerSplitOption, MER_SPLIT_MAX_OPTIONS);
    for (int u = 0; u < platform->unit_count; u++) {
        const MerUnit   *unit = &platform->units[u];
        MerSplitOperator asked = operator_for(platform, unit, layer->type);
        int              before = layer->option_count;
        if (asked != MER_SPLIT_OPERATOR_COUNT) {
            MER_TRY(add_unit(platform, layer, u, asked, layer->type, &refusals[u], remarks, arena,
                             error));
        } else if (replaces && is_replaceable(layer) && is_depthwise_engine(unit)) {
            MER_TRY(add_unit(platform, layer, u, MER_SPLIT_DEPTHWISE, MER_SPLIT_DEPTHWISE,
                             &refusals[u], remarks, arena, error));
            layer->is_ordered |= layer->option_count > before;
        }
        reason = refusals[u] ? refusals[u] : reason;
        if (layer->option_count == before && !refusals[u]) {
            refusals[u] = mer_arena_format(arena, "unit %s has no operator %s", unit->name,
                                           operator_names[layer->type]);
        }
    }
    if (layer->option_count == 0) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "layer %s (%s, %d to %d channels): no unit of platform %s computes "
                             "it%s%s",
                             layer->name, operator_names[layer->type], layer->c_in, layer->c_out,
                             platform->name, reason ? ": " : "", reason ? reason : "");
    }
    int reference = platform->reference >= 0 ? platform->reference : 0;
    for (int o = layer->option_count - 1; o >= 0; o--) {
        layer->reference = layer->options[o].unit == reference ? o : layer->reference;
        remark_table(layer, &layer->options[o], platform, remarks);
    }
    return MER_OK;
}

void mer_split_by_precision(const MerSplitLayer *layer, int *order)
{
    for (int o = 0; o < layer->option_count; o++) {
        int at = o;
        for (; at > 0 && layer->options[order[at - 1]].bits < layer->options[o].bits; at--) {
            order[at] = order[at - 1];
        }
        order[at] = o;
    }
}
