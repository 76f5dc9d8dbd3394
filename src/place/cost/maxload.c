/* Evaluator `maxload`: the time per sample of a full pipeline is the largest load of a unit, its operators plus the results that
 * cross its border (Tarnawski et al., NeurIPS 2020; docs/placement.md, "maxload"). Stages on several units as PipeDream prices
 * them (Narayanan et al., SOSP 2019). */
#include "base/option_rows.h"
#include "mercator/evaluator.h"
#include "place/cost/what_if.h"
#include "place/place_parts.h"

#include <string.h>

typedef struct Options {
    int     transfer; /* 0 sum, 1 max */
    bool    require_contiguous, charge_activations, price_infeasible;
    double  bandwidth, noise;
    int64_t noise_seed;
} Options;

static const MerOption options[] = {
    MER_CHOICE(transfer, "sum", "sum|max",
               "transfers add to the operators of a unit, or run beside them"),
    MER_BOOL(require_contiguous, "false", "refuse placements whose units are no chain"),
    MER_BOOL(charge_activations, "false",
             "of pipeline profiles: results between stages take time too"),
    MER_REAL(bandwidth, "0", 0, 1e18,
             "bytes per second between replicas of a stage; 0: the platform's fastest link"),
    MER_BOOL(price_infeasible, "false", "give the value of placements that are refused, too"),
    MER_REAL(noise, "0", 0, 10, "standard deviation of the logarithm of what the search is told"),
    MER_INT(noise_seed, "1", 0, 9e15, "of that noise"),
    {0}};

typedef struct State {
    const MerPlace *place;
    MerPlacePricer  pricer;
    MerPlaceRules   rules;
    bool            prices_infeasible, has_transfers;
    double          noise;
    uint64_t        noise_seed;
} State;

static double fastest_link(const MerPlace *place)
{
    double best = 0;
    for (int i = 0; i < place->unit_count * place->unit_count; i++) {
        if (place->routes[i].count > 0) {
            best = fmax(best, 1 / place->routes[i].us_per_byte);
        }
    }
    return best > 0 ? best : INFINITY;
}

extern const MerEvaluatorClass mer_evaluator_maxload;

static MerStatus open_maxload(void *opened, const MerProblem *problem, const void *given,
                              MerArena *arena, MerError *error)
{
    const Options *chosen = given;
    State         *state = opened;
    (void)arena, (void)error;
    *state =
        (State){.place = mer_place_of(problem),
                .pricer = {problem, {&mer_evaluator_maxload, opened, given}, MER_METRIC_PERIOD},
                .rules = {.form = MER_PLACE_MAXLOAD,
                          .overlaps = chosen->transfer == 1,
                          .needs_contiguous = chosen->require_contiguous,
                          .charges_activations = chosen->charge_activations,
                          .max_calls = 1},
                .prices_infeasible = chosen->price_infeasible,
                .noise = chosen->noise,
                .noise_seed = (uint64_t)chosen->noise_seed};
    state->rules.bytes_per_us =
        chosen->bandwidth > 0 ? 1e-6 * chosen->bandwidth : fastest_link(state->place);
    state->has_transfers = !state->place->is_pipeline || chosen->charge_activations;
    return MER_OK;
}

typedef struct Loads {                            /* by unit */
    double *compute, *transfer, *bytes, *weights; /* weights: what replicas keep equal */
} Loads;

/* Results that leave an operator's unit: paid once there, and once by every other unit that reads them. */
static void add_crossing(const MerPlace *place, const int *unit, int op, int *seen, Loads *loads)
{
    int           own = unit[op];
    bool          leaves = false;
    const double *cost = place->transfer_us + (size_t)op * (size_t)place->unit_count;
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        int other = unit[place->after[i]];
        if (other != own && seen[other] != op + 1) {
            seen[other] = op + 1;
            loads->transfer[other] += cost[other];
            leaves = true;
        }
    }
    if (leaves) {
        loads->transfer[own] += cost[own];
    }
}

static Loads find_loads(const State *state, const MerGraphPlan *plan, MerArena *scratch)
{
    const MerPlace *place = state->place;
    int             units = place->unit_count;
    double         *memory = MER_ARRAY(scratch, double, 4 * (size_t)units);
    int            *seen = MER_ARRAY(scratch, int, units);
    Loads           loads = {memory, memory + units, memory + 2 * units, memory + 3 * units};
    const int      *unit = plan->unit;
    for (int o = 0; o < plan->op_count; o++) {
        loads.compute[unit[o]] += place->time_us[o * units + unit[o]];
        loads.bytes[unit[o]] += place->size[o];
    }
    const double *weights = place->weight_bytes ? place->weight_bytes : place->size;
    for (int o = 0; plan->replicas && o < plan->op_count; o++) {
        loads.weights[unit[o]] += weights[o];
    }
    for (int o = 0; state->has_transfers && o < plan->op_count; o++) {
        add_crossing(place, unit, o, seen, &loads);
    }
    return loads;
}

/* PipeDream: m units take every m-th sample each and exchange 4 (m - 1) / m of the weights' bytes per sample. */
static double replicated(const State *state, const Loads *loads, int unit, int replicas)
{
    double m = replicas,
           sync = 4 * (m - 1) * loads->weights[unit] / (state->rules.bytes_per_us * m);
    return (loads->compute[unit] + sync) / m;
}

static double load_of(const State *state, const MerGraphPlan *plan, const Loads *loads, int unit)
{
    double compute = loads->compute[unit], transfer = loads->transfer[unit];
    if (plan->replicas && plan->replicas[unit] > 1) {
        compute = replicated(state, loads, unit, plan->replicas[unit]);
        transfer /= plan->replicas[unit];
    }
    return state->rules.overlaps || state->place->is_pipeline ? fmax(compute, transfer)
                                                              : compute + transfer;
}

static void fill(const State *state, const MerGraphPlan *plan, const Loads *loads, MerCost *cost)
{
    const MerPlace *place = state->place;
    double          period = 0, peak = 0, busy = 0;
    for (int u = 0; u < place->unit_count; u++) {
        period = fmax(period, load_of(state, plan, loads, u));
        busy += loads->compute[u];
        peak = fmax(peak, loads->bytes[u]);
    }
    cost->value[MER_METRIC_PERIOD] = 1e-6 * period;
    cost->value[MER_METRIC_PEAK_BYTES] = peak;
    cost->value[MER_METRIC_UTILISATION] = period > 0 ? busy / (period * place->unit_count) : 1;
}

static void evaluate(const void *opened, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    const State        *state = opened;
    const MerGraphPlan *graph = mer_graph_plan(plan);
    Loads               loads = find_loads(state, graph, call->scratch);
    mer_cost_clear(cost);
    bool is_good = mer_place_check_memory(state->place, loads.bytes, cost) &&
                   mer_place_check(state->place, graph, cost);
    if (is_good && state->rules.needs_contiguous && !mer_place_is_contiguous(state->place, graph)) {
        mer_cost_refuse(cost, "contiguous: units depend on each other in a circle");
        is_good = false;
    }
    if (is_good || state->prices_infeasible) {
        fill(state, graph, &loads, cost);
    }
    if (state->noise > 0 && !call->exact) {
        cost->value[MER_METRIC_PERIOD] *=
            mer_place_noise(mer_plan_hash(plan), state->noise_seed, state->noise);
    }
}

static bool approximates(const void *opened)
{
    return ((const State *)opened)->noise > 0;
}

static const void *rules(const void *opened)
{
    return &((const State *)opened)->rules;
}

/* Loads in parts, as views and explanations take them. */
static MerPlacePriced price_parts(const State *state, const MerPlan *plan, MerArena *arena)
{
    const MerGraphPlan *graph = mer_graph_plan(plan);
    Loads               loads = find_loads(state, graph, arena);
    int                 units = state->place->unit_count;
    double             *parts = MER_ARRAY(arena, double, 3 * (size_t)units), period = 0;
    for (int u = 0; u < units; u++) {
        period = fmax(period, load_of(state, graph, &loads, u));
    }
    for (int u = 0; u < units; u++) {
        parts[3 * u] = loads.compute[u];
        parts[3 * u + 1] = loads.transfer[u];
        parts[3 * u + 2] = period - load_of(state, graph, &loads, u);
    }
    return (MerPlacePriced){plan, parts, loads.bytes};
}

static void show(const void *opened, const MerPlan *plan, MerNotes *notes)
{
    const State        *state = opened;
    const MerGraphPlan *graph = mer_graph_plan(plan);
    MerArena           *arena = mer_arena_new();
    MerPlacePriced      priced = price_parts(state, plan, arena);
    mer_place_show(state->place, graph, priced.load_us, priced.peak, notes);
    if (!graph->replicas) {
        mer_place_show_period(state->place, graph, priced.load_us,
                              state->rules.overlaps || state->place->is_pipeline, notes);
    }
    mer_place_show_what_ifs(&state->pricer, &priced, notes);
    mer_arena_free(arena);
}

static const char *print(const void *opened, const MerPlan *plan, MerArena *arena)
{
    const State   *state = opened;
    MerPlacePriced priced = price_parts(state, plan, arena);
    return mer_place_explain(&state->pricer, &priced, arena);
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_graph, NULL};

const MerEvaluatorClass mer_evaluator_maxload = {
    .name = "maxload",
    .summary = "time per sample of a full pipeline: the largest load of a unit",
    .reference = "Tarnawski et al., NeurIPS 2020; Narayanan et al., SOSP 2019",
    .plans = plan_kinds,
    .metrics = UINT64_C(1) << MER_METRIC_PERIOD | UINT64_C(1) << MER_METRIC_PEAK_BYTES |
               UINT64_C(1) << MER_METRIC_UTILISATION,
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .checks_plans = true,
    .open = open_maxload,
    .evaluate = evaluate,
    .detail = show,
    .print = print,
    .rules = rules,
    .approximates = approximates,
};
