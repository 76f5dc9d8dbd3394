/* The formulas of systems on chip: DIANA and Darkside as in the public code of ODiMO (arXiv 2409.18566), GAP8, MPIC and NE16 as in
 * PLiNIO's. Every term of a unit without channels is 0, and a depthwise layer on a pe-array pays for each of its channels; both
 * differ from that code on purpose (docs/channel-split.md, "Where we differ"). */
#include "split/cost/soc_formula.h"

#include <string.h>

/* clang-format off */
static const char *const kind_names[MER_SOC_KIND_COUNT] = {
    "pe-array", "aimc", "simd-matmul", "dw-engine", "gap8-depthwise", "gap8-linear", "mac-rate",
    "ne16", "table"};
/* which formulas call the height x where a platform does not say */
static const bool x_is_height[MER_SOC_KIND_COUNT] = {
    true, true, false, false, true, true, true, true, true};
/* clang-format on */
static const char *const operator_names[MER_SPLIT_OPERATOR_COUNT] = {
#define X(id, name) name,
    MER_SPLIT_OPERATOR_MAP(X)
#undef X
};

/* ceil of whole numbers; 0 for 0 < x < 1, as the papers' code has it. */
static double ceil_div(double x, double n)
{
    return floor((x + n - 1) / n);
}

static const MerConstant *find_constant(const MerFormula *formula, const char *name)
{
    for (int i = 0; i < formula->count; i++) {
        if (strcmp(formula->constants[i].name, name) == 0) {
            return &formula->constants[i];
        }
    }
    return NULL;
}

static const char *word_of(const MerFormula *formula, const char *name)
{
    const MerConstant *constant = find_constant(formula, name);
    return constant ? constant->text : NULL;
}

MerSocKind mer_soc_kind(const MerFormula *formula, MerSplitOperator type)
{
    const char *name = word_of(formula, operator_names[type]);
    name = name ? name : formula->name;
    for (int k = 0; k < MER_SOC_KIND_COUNT; k++) {
        if (strcmp(kind_names[k], name) == 0) {
            return (MerSocKind)k;
        }
    }
    assert(0); /* the reader of platforms knows the same formulas */
    return MER_SOC_TABLE;
}

static MerStatus need(const MerPlatform *platform, const MerUnit *unit, const char *name,
                      double *value, MerError *error)
{
    *value = mer_formula_number(&unit->cost, name, NAN);
    return isnan(*value) ? mer_error_set(error, MER_INVALID,
                                         "platform %s: units.%s.cost lacks %s, expected it for "
                                         "formula %s",
                                         platform->name, unit->name, name, unit->cost.name)
                         : MER_OK;
}

static MerStatus read_pe_array(const MerPlatform *platform, const MerUnit *unit, MerSocCost *cost,
                               MerError *error)
{
    MER_TRY(need(platform, unit, "channels", &cost->channels, error));
    MER_TRY(need(platform, unit, "columns", &cost->columns, error));
    return need(platform, unit, "elements_per_cycle", &cost->elements_per_cycle, error);
}

static MerStatus read_aimc(const MerPlatform *platform, const MerUnit *unit, MerSocCost *cost,
                           MerError *error)
{
    const MerConstant *unroll = find_constant(&unit->cost, "unroll");
    double             mvm_ns;
    MER_TRY(need(platform, unit, "rows", &cost->rows, error));
    MER_TRY(need(platform, unit, "columns", &cost->columns, error));
    MER_TRY(need(platform, unit, "input_block", &cost->input_block, error));
    MER_TRY(need(platform, unit, "min_inputs", &cost->min_inputs, error));
    MER_TRY(need(platform, unit, "mvm_ns", &mvm_ns, error));
    MER_TRY(need(platform, unit, "weight_cycles_per_row", &cost->weight_cycles_per_row, error));
    if (isnan(platform->clock_hz)) {
        return mer_error_set(error, MER_INVALID,
                             "platform %s: units.%s.cost.mvm_ns is a time, expected clock_hz to "
                             "make cycles of it",
                             platform->name, unit->name);
    }
    cost->mvm_cycles = mvm_ns * 1e-9 * platform->clock_hz;
    if (unroll && unroll->count > MER_SOC_MAX_UNROLL) {
        return mer_error_set(error, MER_INVALID,
                             "platform %s: units.%s.cost.unroll has %d numbers, expected at most "
                             "%d",
                             platform->name, unit->name, unroll->count, MER_SOC_MAX_UNROLL);
    }
    cost->unroll_count = unroll ? unroll->count : 0;
    for (int i = 0; i < cost->unroll_count; i++) {
        cost->unroll[i] = unroll->values[i];
    }
    return MER_OK;
}

/* rate_A_W of the least listed widths that hold activations and weights, else `rate`. */
static MerStatus read_rate(const MerPlatform *platform, const MerUnit *unit, MerSocCost *cost,
                           MerError *error)
{
    static const int widths[] = {2, 4, 8};
    char             name[24];
    for (int a = 0; a < 3; a++) {
        for (int w = 0; w < 3; w++) {
            snprintf(name, sizeof name, "rate_%d_%d", widths[a], widths[w]);
            double rate = mer_formula_number(&unit->cost, name, NAN);
            if (widths[a] >= platform->activation_bits && widths[w] >= cost->bits && !isnan(rate)) {
                cost->rate = rate;
                return MER_OK;
            }
        }
    }
    return need(platform, unit, "rate", &cost->rate, error);
}

static MerStatus refuse(const MerSplitLayer *layer, const MerUnit *unit, const char *why,
                        MerError *error)
{
    return mer_error_set(error, MER_UNSUPPORTED, "layer %s: unit %s (%s) %s", layer->name,
                         unit->name, unit->cost.name, why);
}

static MerStatus read_constants(const MerPlatform *platform, const MerSplitLayer *layer,
                                const MerUnit *unit, MerSocCost *cost, MerArena *arena,
                                MerError *error)
{
    switch (cost->kind) {
    case MER_SOC_PE_ARRAY:
        return read_pe_array(platform, unit, cost, error);
    case MER_SOC_AIMC:
        return cost->groups > 1 ? refuse(layer, unit, "takes no groups", error)
                                : read_aimc(platform, unit, cost, error);
    case MER_SOC_DW_ENGINE:
        return cost->k_x != 3 || cost->k_y != 3
                   ? refuse(layer, unit, "takes filters of 3x3 only", error)
                   : MER_OK;
    case MER_SOC_MAC_RATE:
        return read_rate(platform, unit, cost, error);
    case MER_SOC_SIMD_MATMUL:
        cost->is_ungated = mer_formula_number(&unit->cost, "gated", 1) == 0;
        return MER_OK;
    case MER_SOC_TABLE:
        return mer_soc_table_points(&unit->cost, cost, unit->name, arena, error);
    default:
        return MER_OK;
    }
}

MerStatus mer_soc_cost_make(const MerPlatform *platform, const MerSplitLayer *layer,
                            const MerSplitOption *option, MerSocCost *cost, MerArena *arena,
                            MerError *error)
{
    const MerUnit *unit = &platform->units[option->unit];
    MerSocKind     kind = mer_soc_kind(&unit->cost, option->type);
    const char    *axis = word_of(&unit->cost, "x_axis");
    bool           is_height = axis ? strcmp(axis, "height") == 0 : x_is_height[kind];
    bool           is_depthwise = option->type == MER_SPLIT_DEPTHWISE;
    *cost = (MerSocCost){.kind = kind,
                         .type = option->type,
                         .c_in = layer->c_in,
                         .c_out = layer->c_out,
                         .groups = is_depthwise ? layer->c_out : layer->groups,
                         .k_x = is_height ? layer->k_h : layer->k_w,
                         .k_y = is_height ? layer->k_w : layer->k_h,
                         .o_x = is_height ? layer->o_h : layer->o_w,
                         .o_y = is_height ? layer->o_w : layer->o_h,
                         .stride = is_height ? layer->stride_h : layer->stride_w,
                         .repeat = layer->repeat,
                         .bits = option->bits};
    return read_constants(platform, layer, unit, cost, arena, error);
}

static double gate(double channels)
{
    return channels >= 1 ? 1 : 0;
}

static double pe_array_cycles(const MerSocCost *c, double channels)
{
    double spatial = ceil_div(c->o_x, c->columns) * c->o_y * c->k_x * c->k_y;
    bool   is_depthwise = c->type == MER_SPLIT_DEPTHWISE;
    double compute =
        is_depthwise ? channels : ceil_div(channels / c->groups, c->channels) * c->c_in;
    double moved = channels + (is_depthwise ? channels : c->c_in); /* loads and stores */
    return compute * spatial + gate(channels) * c->o_x * c->o_y * moved / c->elements_per_cycle;
}

/* The most output columns at once that fit the array. */
static double unrolling(const MerSocCost *c, double channels)
{
    double best = 1, inputs = fmax(c->min_inputs, c->c_in);
    for (int i = 0; i < c->unroll_count; i++) {
        double u = c->unroll[i];
        if (u * channels <= c->columns && (u + c->k_x - 1) * inputs * c->k_y <= c->rows) {
            best = fmax(best, u);
        }
    }
    return best;
}

static double aimc_cycles(const MerSocCost *c, double channels)
{
    double products = ceil_div(channels, c->columns) * ceil_div(c->c_in, c->input_block);
    return products * c->o_x * c->o_y / unrolling(c, channels) * c->mvm_cycles +
           gate(channels) * c->weight_cycles_per_row * c->c_in * c->k_x * c->k_y;
}

/* `inputs`: of one group. */
static double simd_cycles(const MerSocCost *c, double inputs, double channels)
{
    double filter = c->k_x * c->k_y * inputs;
    return gate(channels) * ceil_div(c->o_y, 2) * ceil_div(c->o_x, 8) *
           (2 * filter + ceil_div(channels, 4) * (14 * ceil_div(filter, 4) + 15));
}

static double dw_engine_cycles(const MerSocCost *c, double channels)
{
    return ceil_div(channels, 16) * (9 + 9 * c->o_x + 4 * c->o_x * c->o_y);
}

typedef struct Ne16Pass { /* cycles of a block of channels: by input block, and once */
    double inputs, load, per_weight, once;
} Ne16Pass;

static double ne16_blocks(const MerSocCost *c, const Ne16Pass *pass, double block, double channels)
{
    double full = floor(channels / block), rest = channels - full * block;
    double total = 0;
    for (int part = 0; part < 2; part++) {
        double k = part ? rest : block, times = part ? (rest > 0 ? 1 : 0) : full;
        double work = pass->load + 6 + (6 + k * pass->per_weight) + 2;
        total += times * (pass->inputs * work + (9 + k) + 13);
    }
    return ceil_div(c->o_y, 3) * ceil_div(c->o_x, 3) * total;
}

/* Passes of 3x3 and, for what is left of larger filters, of 1x1. */
static double ne16_cycles(const MerSocCost *c, double inputs, double channels)
{
    double blocks = ceil_div(inputs, 16);
    double dx = fmod(c->k_x, 3), dy = fmod(c->k_y, 3);
    double wide = floor(c->k_x / 3) * floor(c->k_y / 3);
    double narrow = dx * c->k_y + dy * c->k_x - dx * dy;
    return wide * ne16_blocks(c, &(Ne16Pass){blocks, 31, c->bits, 0}, 32, channels) +
           narrow * ne16_blocks(c, &(Ne16Pass){blocks, 19, 1, 0}, 32, channels);
}

static double ne16_depthwise_cycles(const MerSocCost *c, double channels)
{
    double full = floor(channels / 16), rest = channels - full * 16, total = 0;
    for (int part = 0; part < 2; part++) {
        double k = part ? rest : 16, times = part ? (rest > 0 ? 1 : 0) : full;
        total += times * (31 + (6 + k) + (6 + k * c->bits) + 2 + (9 + k) + 13);
    }
    return ceil_div(c->k_x, 3) * ceil_div(c->k_y, 3) * ceil_div(c->o_y, 3) * ceil_div(c->o_x, 3) *
           total;
}

static double mac_rate_cycles(const MerSocCost *c, double channels)
{
    double inputs = c->c_in / c->groups;
    return channels * inputs * c->k_x * c->k_y * c->o_x * c->o_y / c->rate;
}

/* Groups one after another: as many whole ones as the channels fill, then a part of one. */
static double by_groups(const MerSocCost *c, double channels,
                        double (*cycles)(const MerSocCost *c, double inputs, double channels))
{
    double per_group = c->c_out / c->groups, inputs = c->c_in / c->groups;
    double full = c->groups > 1 ? floor(channels / per_group) : 0;
    return (full > 0 ? full * cycles(c, inputs, per_group) : 0) +
           cycles(c, inputs, channels - full * per_group);
}

static double formula_cycles(const MerSocCost *c, double channels)
{
    switch (c->kind) {
    case MER_SOC_PE_ARRAY:
        return pe_array_cycles(c, channels);
    case MER_SOC_AIMC:
        return aimc_cycles(c, channels);
    case MER_SOC_SIMD_MATMUL:
        return by_groups(c, channels, simd_cycles);
    case MER_SOC_DW_ENGINE:
        return dw_engine_cycles(c, channels);
    case MER_SOC_GAP8_DEPTHWISE:
        return 4 * ceil_div(channels, 4) * c->o_x * c->o_y * c->k_x * c->k_y;
    case MER_SOC_GAP8_LINEAR: /* of one row; a product of matrices has o_x o_y of them */
        return ceil_div(c->c_in, 2) * ceil_div(channels, 4) * c->o_x * c->o_y;
    case MER_SOC_MAC_RATE:
        return mac_rate_cycles(c, channels);
    case MER_SOC_NE16:
        return c->type == MER_SPLIT_DEPTHWISE ? ne16_depthwise_cycles(c, channels)
                                              : by_groups(c, channels, ne16_cycles);
    default:
        return mer_soc_table_cycles(c, channels);
    }
}

/* What an ungated unit takes to arrange the input. */
static double arranging(const MerSocCost *c)
{
    return ceil_div(c->o_y, 2) * ceil_div(c->o_x, 8) * 2 * c->k_x * c->k_y * c->c_in;
}

double mer_soc_cycles(const MerSocCost *cost, double channels)
{
    if (cost->is_ungated && channels < 1) {
        return cost->repeat * arranging(cost);
    }
    return channels > 0 ? cost->repeat * formula_cycles(cost, channels) : 0;
}

int mer_soc_step(const MerSocCost *c)
{
    bool is_depthwise = c->type == MER_SPLIT_DEPTHWISE;
    switch (c->kind) {
    case MER_SOC_PE_ARRAY:
        return is_depthwise ? 1 : (int)(c->channels * c->groups);
    case MER_SOC_AIMC:
        return (int)c->columns;
    case MER_SOC_DW_ENGINE:
        return 16;
    case MER_SOC_SIMD_MATMUL:
    case MER_SOC_GAP8_DEPTHWISE:
    case MER_SOC_GAP8_LINEAR:
        return 4;
    case MER_SOC_NE16:
        return is_depthwise ? 16 : 32;
    default:
        return 1;
    }
}

/* What a gate adds to the slope: `factor` is what it switches on. */
static double gate_slope(double channels, double factor, double weight)
{
    return channels > 0 && channels < 1 && weight > 0 ? 1 / (weight * factor + 1) / weight : 0;
}

double mer_soc_published_slope(const MerSocCost *c, double channels, double weight)
{
    double open = gate(channels), filter = c->k_x * c->k_y * c->c_in, slope;
    switch (c->kind) {
    case MER_SOC_PE_ARRAY: {
        double moved = c->o_x * c->o_y / c->elements_per_cycle;
        double spatial = ceil_div(c->o_x, c->columns) * c->o_y * c->k_x * c->k_y;
        double factor = moved * (channels + c->c_in);
        slope = (c->type == MER_SPLIT_DEPTHWISE ? 1 : c->c_in / c->groups) * spatial +
                open * moved + gate_slope(channels, factor, weight);
        break;
    }
    case MER_SOC_AIMC: {
        double load = c->weight_cycles_per_row * filter;
        slope = ceil_div(c->c_in, c->input_block) * c->o_x * c->o_y / unrolling(c, channels) *
                    c->mvm_cycles +
                gate_slope(channels, load, weight);
        break;
    }
    case MER_SOC_SIMD_MATMUL: {
        double spatial = ceil_div(c->o_y, 2) * ceil_div(c->o_x, 8);
        double per_block = 14 * ceil_div(filter, 4) + 15;
        double factor = spatial * (2 * filter + ceil_div(channels, 4) * per_block);
        slope = open * spatial * per_block + gate_slope(channels, factor, weight);
        break;
    }
    case MER_SOC_DW_ENGINE:
        slope = 9 + 9 * c->o_x + 4 * c->o_x * c->o_y;
        break;
    case MER_SOC_GAP8_DEPTHWISE:
        slope = 4 * c->o_x * c->o_y * c->k_x * c->k_y;
        break;
    case MER_SOC_GAP8_LINEAR:
        slope = ceil_div(c->c_in, 2) * c->o_x * c->o_y;
        break;
    default: /* no floor to pass: the chord over one step */
        slope = formula_cycles(c, c->c_out) / c->c_out;
        break;
    }
    return c->repeat * slope;
}
