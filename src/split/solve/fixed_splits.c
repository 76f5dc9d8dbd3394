/* Splits by a rule. The first channels of a layer are those of the finer format, as in the published baselines, unless weights tell
 * which are more sensitive. Naive splits: a unit that is said to be `speedup` times as fast as the reference gets all channels but about one
 * in so many; of a layer with C channels the reference has floor(C / speedup) - 1, as the published baselines do. */
#include "split/solve/fixed_splits.h"

#include "base/option_rows.h"
#include "split/solve/one_split.h"

#include <string.h>

static const char *const names[] = {
#define X(id, name, help) #name,
    MER_SPLIT_FIXED_MAP(X)
#undef X
};

const char *mer_split_fixed_name(MerSplitFixed which)
{
    return names[which];
}

/* `side` 1: the most bits, -1: the fewest; the reference among equals if it is fine, the last option if it is coarse. */
static int by_bits(const MerSplitLayer *layer, int side)
{
    int best = layer->reference;
    for (int o = 0; o < layer->option_count; o++) {
        if (side * layer->options[o].bits > side * layer->options[best].bits) {
            best = o;
        }
    }
    return best;
}

static int by_type(const MerSplitLayer *layer, bool wants_depthwise)
{
    for (int o = 0; o < layer->option_count; o++) {
        if ((layer->options[o].type == MER_SPLIT_DEPTHWISE) == wants_depthwise) {
            return o;
        }
    }
    return layer->reference;
}

/* The option that does the whole layer for the least; the reference among equals. `skip`: not this one. */
static int cheapest(const MerSplit *split, const MerSplitRules *rules, int l, MerMetric metric,
                    int skip)
{
    const MerSplitLayer *layer = &split->layers[l];
    double               least = INFINITY;
    int                  best = skip;
    for (int i = 0; i < layer->option_count; i++) {
        /* the reference first, so that it wins ties */
        int o = i == 0 ? layer->reference : i <= layer->reference ? i - 1 : i;
        int counts[MER_SPLIT_MAX_OPTIONS] = {0};
        counts[o] = layer->c_out;
        MerSplitPrice price = mer_split_layer_price(split, rules, l, counts);
        double        value = mer_split_value(split, &price, metric);
        if (o != skip && value < least) {
            least = value;
            best = o;
        }
    }
    return best;
}

static bool has_choice(const MerSplit *split, MerSplitFixed which)
{
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        bool                 by_format =
            layer->options[by_bits(layer, 1)].bits != layer->options[by_bits(layer, -1)].bits;
        if (which == MER_SPLIT_FIXED_ALL_TERNARY || which == MER_SPLIT_FIXED_IO_8BIT ? by_format
            : which == MER_SPLIT_FIXED_ALL_CONV || which == MER_SPLIT_FIXED_ALL_DEPTHWISE
                ? layer->is_ordered
                : true) {
            return true;
        }
    }
    return false;
}

static void fill_layer(const MerSplit *split, const MerSplitRules *rules, MerSplitFixed which,
                       MerMetric metric, int l, int *counts)
{
    const MerSplitLayer *layer = &split->layers[l];
    bool                 is_end = l == 0 || l == split->layer_count - 1;
    int                  option = layer->reference;
    switch (which) {
    case MER_SPLIT_FIXED_ALL_8BIT:
        option = by_bits(layer, 1);
        break;
    case MER_SPLIT_FIXED_ALL_TERNARY:
        option = by_bits(layer, -1);
        break;
    case MER_SPLIT_FIXED_IO_8BIT:
        option = by_bits(layer, is_end ? 1 : -1);
        break;
    case MER_SPLIT_FIXED_ALL_CONV:
        option = by_type(layer, layer->type == MER_SPLIT_DEPTHWISE);
        break;
    case MER_SPLIT_FIXED_ALL_DEPTHWISE:
        option = by_type(layer, true);
        break;
    default:
        option = cheapest(split, rules, l, metric, -1);
        break;
    }
    memset(counts, 0, (size_t)layer->option_count * sizeof *counts);
    counts[option] = layer->c_out;
    if (which == MER_SPLIT_FIXED_HALF && layer->option_count > 1) {
        memset(counts, 0, (size_t)layer->option_count * sizeof *counts);
        counts[layer->reference] = layer->c_out / 2;
        counts[cheapest(split, rules, l, metric, layer->reference)] =
            layer->c_out - layer->c_out / 2;
    }
}

MerStatus mer_split_make_fixed(const MerSplit *split, const MerSplitRules *rules,
                               MerSplitFixed which, MerMetric metric, MerPlan *plan,
                               MerArena *arena, MerError *error)
{
    if (!has_choice(split, which)) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%s says nothing about platform %s: its units do not differ in %s",
                             names[which], split->platform->name,
                             which == MER_SPLIT_FIXED_ALL_CONV ||
                                     which == MER_SPLIT_FIXED_ALL_DEPTHWISE
                                 ? "operators"
                                 : "formats");
    }
    MerSplitPlan *made = mer_split_new_plan(split, plan, arena);
    for (int l = 0; l < split->layer_count; l++) {
        if (split->layers[l].is_searchable) {
            fill_layer(split, rules, which, metric, l,
                       made->counts + split->layers[l].option_start);
        }
    }
    mer_split_assign(split, made);
    return MER_OK;
}

typedef struct Options {
    double speedup;
} Options;

static const MerOption naive_options[] = {
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

/* `naive`: NULL, or its options. */
static MerStatus open_rule(MerSplitFixed which, const char *name, const Options *naive, void *state,
                           const MerSearch *search, const MerProblem *problem,
                           const MerEvaluator *evaluator, MerError *error)
{
    MerOneSplit *one = state;
    MerPlan      plan;
    MerMetric    metric =
        search->objective == MER_METRIC_ENERGY ? MER_METRIC_ENERGY : MER_METRIC_CYCLES;
    bool by_price = which == MER_SPLIT_FIXED_LAYER_WISE || which == MER_SPLIT_FIXED_HALF;
    MER_TRY(mer_one_split_open(one, search, problem, evaluator, name, by_price, error));
    MER_TRY(
        mer_split_make_fixed(one->split, one->rules, which, metric, &plan, search->arena, error));
    if (naive) {
        move_channels(one->split, naive->speedup, (MerSplitPlan *)mer_split_plan(&plan));
    }
    return mer_one_split_take(one, &plan, error);
}

#define SOLVER(id, solver, help, table, naive)                                                     \
    static MerStatus open_##solver(void *state, const MerSearch *search,                           \
                                   const MerProblem *problem, const MerEvaluator *evaluator,       \
                                   const void *options, MerError *error)                           \
    {                                                                                              \
        (void)options;                                                                             \
        return open_rule(MER_SPLIT_FIXED_##id, #solver, naive, state, search, problem, evaluator,  \
                         error);                                                                   \
    }                                                                                              \
    const MerOptimizerClass mer_optimizer_##solver = {                                             \
        .name = #solver,                                                                           \
        .summary = help,                                                                           \
        .reference = "ODiMO (arXiv 2409.18566), baselines",                                        \
        .options = table,                                                                          \
        .options_size = sizeof(Options),                                                           \
        .state_size = sizeof(MerOneSplit),                                                         \
        .problem = "split",                                                                        \
        .makes_own_plan = true,                                                                    \
        .open_problem = open_##solver,                                                             \
        .ask = mer_one_split_ask,                                                                  \
        .tell = mer_one_split_tell,                                                                \
    };
#define X(id, name, help) SOLVER(id, name, help, NULL, NULL)
MER_SPLIT_FIXED_MAP(X)
#undef X
SOLVER(HALF, naive,
       "floor(channels / speedup) - 1 of each layer on the reference, the rest on the best of the "
       "others",
       naive_options, options)
