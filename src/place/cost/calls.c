/* Evaluator `calls`: one sample alone. An accelerator is called with a connected piece of work: it waits for all results from
 * outside, takes them in, computes, and gives its results out; operators on hosts run as soon as they can, any number side by
 * side (Tarnawski et al., NeurIPS 2020; docs/placement.md, "calls"). */
#include "place/cost/calls.h"
#include "base/option_rows.h"
#include "mercator/evaluator.h"
#include "place/cost/what_if.h"

typedef struct Options {
    int64_t max_calls, noise_seed;
    bool    price_infeasible;
    double  noise;
} Options;

static const MerOption options[] = {
    MER_INT(max_calls, "1", 1, 1e6,
            "how often an accelerator may be called, one call after the other"),
    MER_BOOL(price_infeasible, "false", "give the value of placements that are refused, too"),
    MER_REAL(noise, "0", 0, 10, "standard deviation of the logarithm of what the search is told"),
    MER_INT(noise_seed, "1", 0, 9e15, "of that noise"),
    {0}};

typedef struct State {
    const MerPlace *place;
    MerPlaceRules   rules;
    MerPlacePricer  pricer;
    bool            prices_infeasible;
    double          noise;
    uint64_t        noise_seed;
} State;

extern const MerEvaluatorClass mer_evaluator_calls;

static MerStatus open_calls(void *opened, const MerProblem *problem, const void *given,
                            MerArena *arena, MerError *error)
{
    const Options *chosen = given;
    State         *state = opened;
    (void)arena;
    if (mer_place_of(problem)->has_replicas) {
        return mer_error_set(error, MER_INVALID,
                             "evaluator calls runs every operator once, expected "
                             "replication=false");
    }
    *state = (State){.place = mer_place_of(problem),
                     .pricer = {problem, {&mer_evaluator_calls, opened, given}, MER_METRIC_LATENCY},
                     .rules = {.form = MER_PLACE_CALLS,
                               .max_calls = (int)chosen->max_calls,
                               .bytes_per_us = INFINITY},
                     .prices_infeasible = chosen->price_infeasible,
                     .noise = chosen->noise,
                     .noise_seed = (uint64_t)chosen->noise_seed};
    return MER_OK;
}

static bool check_calls(const State *state, const MerCallsRun *run, MerCost *cost)
{
    for (int u = 0; u < state->place->unit_count; u++) {
        if (run->calls[u] > state->rules.max_calls) {
            mer_cost_refuse(cost, "calls: %.40s needs %d calls, has %d",
                            state->place->unit_names[u], run->calls[u], state->rules.max_calls);
            return false;
        }
    }
    return true;
}

static double *unit_bytes(const MerPlace *place, const MerGraphPlan *plan, MerArena *arena)
{
    double *bytes = MER_ARRAY(arena, double, place->unit_count);
    for (int o = 0; o < place->op_count; o++) {
        bytes[plan->unit[o]] += place->size[o];
    }
    return bytes;
}

static void fill(const MerPlace *place, const MerGraphPlan *plan, const MerCallsRun *run,
                 const double *bytes, MerCost *cost)
{
    double busy = 0, peak = 0, latency = run->latency_us;
    for (int o = 0; o < place->op_count; o++) {
        busy += mer_place_time(place, o, plan->unit[o]);
    }
    for (int u = 0; u < place->unit_count; u++) {
        peak = fmax(peak, bytes[u]);
    }
    cost->value[MER_METRIC_LATENCY] = 1e-6 * latency;
    cost->value[MER_METRIC_PEAK_BYTES] = peak;
    cost->value[MER_METRIC_UTILISATION] =
        latency > 0 ? fmin(1, busy / (latency * place->unit_count)) : 1; /* hosts have any width */
}

static void evaluate(const void *opened, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    const State        *state = opened;
    const MerPlace     *place = state->place;
    const MerGraphPlan *graph = mer_graph_plan(plan);
    double             *bytes = unit_bytes(place, graph, call->scratch);
    MerCallsRun         run;
    mer_cost_clear(cost);
    bool is_good =
        mer_place_check_memory(place, bytes, cost) && mer_place_check(place, graph, cost);
    if (!is_good && !state->prices_infeasible) {
        return;
    }
    mer_calls_run(place, graph, call->scratch, &run);
    is_good = is_good && check_calls(state, &run, cost);
    if (is_good || state->prices_infeasible) {
        fill(place, graph, &run, bytes, cost);
    }
    if (state->noise > 0 && !call->exact) {
        cost->value[MER_METRIC_LATENCY] *=
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

static MerPlacePriced price_parts(const State *state, const MerPlan *plan, MerArena *arena,
                                  MerCallsRun *run)
{
    const MerGraphPlan *graph = mer_graph_plan(plan);
    mer_calls_run(state->place, graph, arena, run);
    return (MerPlacePriced){plan, mer_calls_parts(state->place, graph, run, arena),
                            unit_bytes(state->place, graph, arena)};
}

static void show(const void *opened, const MerPlan *plan, MerNotes *notes)
{
    const State   *state = opened;
    MerArena      *arena = mer_arena_new();
    MerCallsRun    run;
    MerPlacePriced priced = price_parts(state, plan, arena, &run);
    mer_place_show(state->place, mer_graph_plan(plan), priced.load_us, priced.peak, notes);
    mer_calls_show(state->place, mer_graph_plan(plan), &run, arena, notes);
    mer_place_show_what_ifs(&state->pricer, &priced, notes);
    mer_arena_free(arena);
}

static const char *print(const void *opened, const MerPlan *plan, MerArena *arena)
{
    const State   *state = opened;
    MerCallsRun    run;
    MerPlacePriced priced = price_parts(state, plan, arena, &run);
    return mer_place_explain(&state->pricer, &priced, arena);
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_graph, NULL};

const MerEvaluatorClass mer_evaluator_calls = {
    .name = "calls",
    .summary = "one sample alone: each accelerator is called with one piece of work",
    .reference = "Tarnawski et al., NeurIPS 2020",
    .plans = plan_kinds,
    .metrics = UINT64_C(1) << MER_METRIC_LATENCY | UINT64_C(1) << MER_METRIC_PEAK_BYTES |
               UINT64_C(1) << MER_METRIC_UTILISATION,
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .checks_plans = true,
    .open = open_calls,
    .evaluate = evaluate,
    .detail = show,
    .print = print,
    .rules = rules,
    .approximates = approximates,
};
