/* A split without training: the least loss of weights for some cost. A price of loss, found by bisection, makes the layers independent; each
 * then takes the counts that cost least in all. Which channels go where follows their sensitivity. */
#include "base/option_rows.h"
#include "mercator/view.h"
#include "split/solve/layer_split.h"
#include "split/solve/one_split.h"

#include <string.h>

typedef struct Options {
    double  target;
    int64_t sweep;
} Options;

static const MerOption options[] = {
    MER_REAL(
        target, "0.5", 0, 1,
        "cost allowed, between that of the cheapest split (0) and of all on the reference (1)"),
    MER_INT(sweep, "1", 1, 1000, "splits to propose: targets up to `target` in equal parts"),
    {0}};

typedef struct State {
    MerOneSplit one;
    MerMetric   metric;
    double      least, most; /* cost of the cheapest split, and all on the reference */
    double      target;
    int         sweep, asked;
    MerArena   *arena;
} State;

static MerStatus open_sensitivity(void *opened, const MerSearch *search, const MerProblem *problem,
                                  const MerEvaluator *evaluator, const void *given, MerError *error)
{
    State         *state = opened;
    const Options *chosen = given;
    MerPlan        plan;
    *state = (State){.metric = search->objective == MER_METRIC_ENERGY ? MER_METRIC_ENERGY
                                                                      : MER_METRIC_CYCLES,
                     .target = chosen->target,
                     .sweep = (int)chosen->sweep,
                     .arena = search->arena};
    MER_TRY(
        mer_one_split_open(&state->one, search, problem, evaluator, "sensitivity", true, error));
    const MerSplit *split = state->one.split;
    if (state->metric == MER_METRIC_ENERGY && (!split->power_mw || isnan(split->clock_hz))) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "sensitivity for energy: platform %s has no power_mw or no clock_hz",
                             split->platform->name);
    }
    if (!split->has_weights) {
        mer_view_warning(search->notes, &(MerView){.id = "weights", .title = "No weights"},
                         mer_split_no_weights, "a file with weights, or training");
    }
    MerSplitPlan *made = mer_split_new_plan(split, &plan, search->arena);
    MerSplitPrice all = mer_split_price(split, state->one.rules, made);
    state->most = mer_split_value(split, &all, state->metric);
    state->least = mer_split_best_network(split, state->one.rules,
                                          &(MerSplitAim){.metric = state->metric}, made);
    return state->least < INFINITY
               ? MER_OK
               : mer_error_set(error, MER_UNSUPPORTED, "sensitivity: no split fits into memory");
}

/* The split at one price, and what it costs without it. */
static double split_at(const State *state, double price, MerSplitPlan *plan)
{
    mer_split_best_network(state->one.split, state->one.rules,
                           &(MerSplitAim){.metric = state->metric, .price = price}, plan);
    MerSplitPrice cost = mer_split_price(state->one.split, state->one.rules, plan);
    return mer_split_value(state->one.split, &cost, state->metric);
}

/* The highest price whose split stays within `limit`: cost rises with the price. */
static void find_split(const State *state, double limit, MerSplitPlan *plan)
{
    double low = 1e-6 * state->most, high = 1e6 * state->most; /* per unit of loss */
    if (split_at(state, high, plan) > limit) {
        for (int step = 0; step < 40; step++) {
            double middle = sqrt(low * high);
            double cost = split_at(state, middle, plan);
            low = cost <= limit ? middle : low;
            high = cost <= limit ? high : middle;
        }
        split_at(state, low, plan);
    }
    mer_split_assign(state->one.split, plan);
}

static int ask(void *opened, MerProposal *proposals, int capacity)
{
    State *state = opened;
    int    count = 0;
    for (; count < capacity && state->asked < state->sweep; count++) {
        MerPlan       plan;
        MerSplitPlan *made = mer_split_new_plan(state->one.split, &plan, state->arena);
        double        share = state->target * (state->sweep - state->asked) / state->sweep;
        double        limit = state->least + share * fmax(state->most - state->least, 0);
        find_split(state, limit * (1 + 1e-12), made);
        state->asked++;
        if (!mer_split_encode(state->one.split, made, proposals[count].point)) {
            return count; /* layers that share their assignment would differ */
        }
    }
    return count;
}

const MerOptimizerClass mer_optimizer_sensitivity = {
    .name = "sensitivity",
    .summary = "the least loss of weights within a share of the cost, without training or data",
    .reference = "docs/channel-split.md",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .problem = "split",
    .makes_own_plan = true,
    .open_problem = open_sensitivity,
    .ask = ask,
    .tell = mer_one_split_tell,
};
