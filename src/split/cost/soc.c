/* Evaluator `soc`: cycles, latency, energy and memory of a split, by the formulas of the platform (docs/channel-split.md). */
#include "split/cost/soc.h"

#include "mercator/evaluator.h"
#include "split/cost/soc_views.h"

#include <string.h>

#define METRIC(name) UINT64_C(1) << MER_METRIC_##name

typedef struct Options {
    MerSocOptions soc;
} Options;
static const MerOption options[] = {MER_SOC_OPTIONS, {0}};

typedef struct State {
    const MerSplit *split;
    MerSplitRules   rules;
} State;

MerSplitRules mer_soc_rules(const MerSocOptions *chosen)
{
    return (MerSplitRules){.memory = (MerSplitMemoryMode)chosen->memory,
                           .is_resident = chosen->residency == 1,
                           .searchable_only = chosen->scope == 1,
                           .soft = {.gradient = (MerSplitGradient)chosen->gradient,
                                    .metric = MER_METRIC_CYCLES,
                                    .smooth = chosen->smooth}};
}

static MerStatus open_soc(void *opened, const MerProblem *problem, const void *given,
                          MerArena *arena, MerError *error)
{
    State *state = opened;
    (void)arena, (void)error;
    *state = (State){.split = mer_split_of(problem),
                     .rules = mer_soc_rules(&((const Options *)given)->soc)};
    return MER_OK;
}

static double distortion_of(const MerSplit *split, const MerSplitPlan *plan)
{
    double sum = 0;
    for (int l = 0; l < split->layer_count; l++) { /* layer by layer, as bounds add it up */
        const MerSplitLayer *layer = &split->layers[l];
        double               own = 0;
        for (int c = 0; c < layer->c_out; c++) {
            int o = plan->assignment[layer->channel_start + c];
            own += layer->errors[(size_t)o * (size_t)layer->c_out + (size_t)c];
        }
        sum += own;
    }
    return sum;
}

static bool check(const MerSplit *split, const MerSplitRules *rules, const MerSplitPlan *plan,
                  MerCost *cost)
{
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        const int           *counts = plan->counts + layer->option_start;
        if (layer->fixed >= 0 && counts[layer->fixed] != layer->c_out) {
            mer_cost_refuse(cost, "coverage: layer %.60s is fixed to %.40s", layer->name,
                            layer->options[layer->fixed].name);
            return false;
        }
        if (!mer_split_layer_fits(split, rules, l, counts, cost)) {
            return false;
        }
    }
    return mer_split_network_fits(split, rules, plan, cost);
}

void mer_soc_price(const MerSplit *split, const MerSplitRules *rules, const MerSplitPlan *content,
                   MerCost *cost)
{
    double busy = 0;
    mer_cost_clear(cost);
    if (!check(split, rules, content, cost)) {
        return;
    }
    MerSplitPrice price = mer_split_price(split, rules, content);
    for (int u = 0; u < split->unit_count; u++) {
        busy += price.busy[u];
    }
    cost->value[MER_METRIC_CYCLES] = price.cycles;
    cost->value[MER_METRIC_LATENCY] = price.cycles / split->clock_hz;
    cost->value[MER_METRIC_ENERGY] = price.energy_pj;
    cost->value[MER_METRIC_EDP] = price.energy_pj * price.cycles;
    cost->value[MER_METRIC_UTILISATION] =
        price.cycles > 0 ? busy / (split->unit_count * price.cycles) : 0;
    cost->value[MER_METRIC_PEAK_BYTES] = mer_split_peak_bytes(split, rules, content);
    cost->value[MER_METRIC_DISTORTION] = distortion_of(split, content);
}

static void evaluate(const void *opened, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    const State *state = opened;
    (void)call;
    mer_soc_price(state->split, &state->rules, mer_split_plan(plan), cost);
}

static MerTensor *expected(const void *opened, MerTape *tape, MerTensor *const *choice,
                           MerMetric metric)
{
    const State *state = opened;
    return mer_soc_expected(state->split, &state->rules, tape, choice, metric);
}

static bool is_number(const void *state)
{
    return ((const State *)state)->rules.soft.gradient == MER_SPLIT_SCORE;
}

uint64_t mer_soc_unknown(const MerSplit *split, const char **why)
{
    bool has_power = !isnan(mer_split_energy(split, (double[MER_SPLIT_MAX_UNITS]){0}));
    *why = split->power_mw ? "the platform has no clock_hz" : "the platform has no power_mw";
    return has_power ? 0 : METRIC(ENERGY) | METRIC(EDP);
}

static uint64_t unknown(const void *state, const char **why)
{
    return mer_soc_unknown(((const State *)state)->split, why);
}

static const void *rules_of(const void *state)
{
    return &((const State *)state)->rules;
}

static void show(const void *opened, const MerPlan *plan, MerNotes *notes)
{
    const State *state = opened;
    mer_split_show(state->split, &state->rules, mer_split_plan(plan), notes);
}

static const char *print(const void *opened, const MerPlan *plan, MerArena *arena)
{
    const State  *state = opened;
    MerSplitPrice price = mer_split_price(state->split, &state->rules, mer_split_plan(plan));
    const char   *text = "";
    for (int u = 0; u < state->split->unit_count; u++) {
        text = mer_arena_format(arena, "%s%s %.1f %% busy%s", text,
                                state->split->platform->units[u].name,
                                price.cycles > 0 ? 100 * price.busy[u] / price.cycles : 0,
                                u + 1 < state->split->unit_count ? ", " : "\n");
    }
    return text;
}

static const char *warnings(const void *opened, MerMetric objective, MerArena *arena)
{
    const State *state = opened;
    if (state->rules.memory == MER_SPLIT_MEMORY_PRICE &&
        isinf(mer_split_refill_rate(state->split))) {
        return mer_arena_format(arena,
                                "platform %s has no rate of the memory outside of the innermost "
                                "one: transfers cost nothing\n",
                                state->split->platform->name);
    }
    (void)objective;
    return NULL;
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_split, NULL};

const MerEvaluatorClass mer_evaluator_soc = {
    .name = "soc",
    .summary = "units of a system on chip side by side on each layer, layers one after another",
    .reference = "Risso et al., ODiMO, ISLPED 2023 and TCAD 2025 (arXiv 2306.05060, 2409.18566)",
    .plans = plan_kinds,
    .metrics = METRIC(CYCLES) | METRIC(LATENCY) | METRIC(ENERGY) | METRIC(EDP) |
               METRIC(UTILISATION) | METRIC(PEAK_BYTES) | METRIC(DISTORTION),
    .clocked = METRIC(LATENCY) | METRIC(ENERGY) | METRIC(EDP),
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .checks_plans = true,
    .open = open_soc,
    .evaluate = evaluate,
    .expected = expected,
    .is_number = is_number,
    .detail = show,
    .print = print,
    .rules = rules_of,
    .unknown = unknown,
    .warnings = warnings,
};
