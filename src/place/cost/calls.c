/* Evaluator `calls`: one sample alone. An accelerator is called with a connected piece of work: it waits for all results from
 * outside, takes them in, computes, and gives its results out; operators on hosts run as soon as they can, any number side by
 * side (Tarnawski et al., NeurIPS 2020; docs/placement.md, "calls"). */
#include "mercator/evaluator.h"
#include "place/place_parts.h"

#include "base/smallest.h"

#include <stddef.h>
#include <string.h>

typedef struct Options {
    int64_t max_calls, noise_seed;
    bool    price_infeasible;
    double  noise;
} Options;

static const MerOption options[] = {
    {"max_calls", MER_OPTION_INT, offsetof(Options, max_calls), "1", 1, 1e6, NULL,
     "how often an accelerator may be called, one call after the other"},
    {"price_infeasible", MER_OPTION_BOOL, offsetof(Options, price_infeasible), "false", 0, 0, NULL,
     "give the value of placements that are refused, too"},
    {"noise", MER_OPTION_REAL, offsetof(Options, noise), "0", 0, 10, NULL,
     "standard deviation of the logarithm of what the search is told"},
    {"noise_seed", MER_OPTION_INT, offsetof(Options, noise_seed), "1", 0, 9e15, NULL,
     "of that noise"},
    {0}};

typedef struct State {
    const MerPlace *place;
    MerPlaceRules   rules;
    bool            prices_infeasible;
    double          noise;
    uint64_t        noise_seed;
} State;

static MerStatus open_calls(void *opened, const MerProblem *problem, const void *given,
                            MerArena *arena, MerError *error)
{
    const Options *chosen = given;
    State         *state = opened;
    (void)arena, (void)error;
    *state = (State){.place = mer_place_of(problem),
                     .rules = {.form = MER_PLACE_CALLS,
                               .max_calls = (int)chosen->max_calls,
                               .bytes_per_us = INFINITY},
                     .prices_infeasible = chosen->price_infeasible,
                     .noise = chosen->noise,
                     .noise_seed = (uint64_t)chosen->noise_seed};
    return MER_OK;
}

/* Operators are taken one after the other once all their producers are. */
typedef struct Run {
    const MerPlace *place;
    const int      *unit;
    int            *waiting; /* producers of each operator that are not taken yet */
    int            *call;   /* that an operator runs in, counted from 1; 0: on a host, or not yet */
    double         *finish; /* of each operator */
    int    *ready; /* operators that wait for their unit: heaps, from ready_start[unit] on */
    int    *ready_start, *ready_count;
    int    *left;     /* operators of each unit that are not taken */
    int    *calls;    /* of each unit, so far */
    double *free_at;  /* end of the last call of each unit */
    double *transfer; /* of each unit, all calls */
    int    *members;  /* of the call that is being made */
    int     member_count, call_count, taken;
} Run;

static void release(Run *run, int op)
{
    int unit = run->unit[op];
    mer_smallest_push(run->ready + run->ready_start[unit], &run->ready_count[unit], op);
}

static void release_consumers(Run *run, int op)
{
    const MerPlace *place = run->place;
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        if (--run->waiting[place->after[i]] == 0) {
            release(run, place->after[i]);
        }
    }
}

/* The smallest first, so that sums do not depend on the order in which units are looked at. */
static int take_ready(Run *run, int unit)
{
    run->left[unit]--;
    run->taken++;
    return mer_smallest_take(run->ready + run->ready_start[unit], &run->ready_count[unit]);
}

static double time_of(const MerPlace *place, const double *table, int op, int unit)
{
    return table[(size_t)op * (size_t)place->unit_count + (size_t)unit];
}

static void run_on_host(Run *run, int unit)
{
    const MerPlace *place = run->place;
    while (run->ready_count[unit] > 0) {
        int    op = take_ready(run, unit);
        double start = 0;
        for (int i = place->before_start[op]; i < place->before_start[op + 1]; i++) {
            start = fmax(start, run->finish[place->before[i]]);
        }
        run->finish[op] = start + time_of(place, place->time_us, op, unit);
        release_consumers(run, op);
    }
}

/* All operators of the unit that can run now, and those that can once these have. */
static void gather_call(Run *run, int unit)
{
    run->member_count = 0;
    run->call_count++;
    while (run->ready_count[unit] > 0) {
        int op = take_ready(run, unit);
        run->call[op] = run->call_count;
        run->members[run->member_count++] = op;
        release_consumers(run, op);
    }
}

/* `seen` of a producer is the last call that took its result in. */
static double take_in(const Run *run, int unit, int *seen, double *start)
{
    const MerPlace *place = run->place;
    double          time = 0;
    for (int m = 0; m < run->member_count; m++) {
        int op = run->members[m];
        for (int i = place->before_start[op]; i < place->before_start[op + 1]; i++) {
            int producer = place->before[i];
            if (run->call[producer] != run->call_count && seen[producer] != run->call_count) {
                seen[producer] = run->call_count;
                time += time_of(place, place->transfer_us, producer, unit);
                *start = fmax(*start, run->finish[producer]);
            }
        }
    }
    return time;
}

/* A consumer outside is one that no call has yet, or that another unit or a later call of this one has. */
static double give_out(const Run *run, int unit)
{
    const MerPlace *place = run->place;
    double          time = 0;
    for (int m = 0; m < run->member_count; m++) {
        int  op = run->members[m];
        bool leaves = false;
        for (int i = place->after_start[op]; i < place->after_start[op + 1] && !leaves; i++) {
            leaves = run->call[place->after[i]] != run->call_count;
        }
        time += leaves ? time_of(place, place->transfer_us, op, unit) : 0;
    }
    return time;
}

static void run_call(Run *run, int unit, int *seen)
{
    const MerPlace *place = run->place;
    double          start = run->free_at[unit], compute = 0;
    gather_call(run, unit);
    double in = take_in(run, unit, seen, &start), out = give_out(run, unit);
    for (int m = 0; m < run->member_count; m++) {
        compute += time_of(place, place->time_us, run->members[m], unit);
    }
    double end = start + in + compute + out;
    for (int m = 0; m < run->member_count; m++) {
        run->finish[run->members[m]] = end;
    }
    run->transfer[unit] += in + out;
    run->free_at[unit] = end;
    run->calls[unit]++;
}

/* How many operators of a unit one call would take; a dry run of gather_call that leaves `waiting` as it was. */
static int count_call(Run *run, int unit)
{
    const MerPlace *place = run->place;
    int             count = run->ready_count[unit], next = 0;
    memcpy(run->members, run->ready + run->ready_start[unit], (size_t)count * sizeof(int));
    for (; next < count; next++) {
        int op = run->members[next];
        for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
            int after = place->after[i];
            if (run->unit[after] == unit && --run->waiting[after] == 0) {
                run->members[count++] = after;
            }
        }
    }
    for (next = 0; next < count; next++) {
        int op = run->members[next];
        for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
            run->waiting[place->after[i]] += run->unit[place->after[i]] == unit;
        }
    }
    return count;
}

/* The accelerator to call next: one that a call brings to its end, so that no call is wasted; else the one whose first operator
 * comes first. -1: all is done. */
static int choose_unit(Run *run)
{
    int first = -1;
    for (int u = 0; u < run->place->unit_count; u++) {
        if (run->ready_count[u] == 0) {
            continue;
        }
        if (count_call(run, u) == run->left[u]) {
            return u;
        }
        bool is_earlier =
            first < 0 || run->ready[run->ready_start[u]] < run->ready[run->ready_start[first]];
        first = is_earlier ? u : first;
    }
    return first;
}

static void start_run(Run *run, const MerPlace *place, const MerGraphPlan *plan, MerArena *arena)
{
    size_t ops = (size_t)place->op_count, units = (size_t)place->unit_count;
    *run = (Run){.place = place,
                 .unit = plan->unit,
                 .waiting = MER_ARRAY(arena, int, 4 * ops),
                 .finish = MER_ARRAY(arena, double, ops),
                 .left = MER_ARRAY(arena, int, 4 * units + 1),
                 .free_at = MER_ARRAY(arena, double, 2 * units)};
    run->call = run->waiting + ops;
    run->ready = run->waiting + 2 * ops;
    run->members = run->waiting + 3 * ops;
    run->calls = run->left + units;
    run->ready_count = run->left + 2 * units;
    run->ready_start = run->left + 3 * units;
    run->transfer = run->free_at + units;
    for (int o = 0; o < place->op_count; o++) {
        run->left[plan->unit[o]]++;
    }
    for (int u = 0; u < place->unit_count; u++) {
        run->ready_start[u + 1] = run->ready_start[u] + run->left[u];
    }
    for (int o = 0; o < place->op_count; o++) {
        run->waiting[o] = place->before_start[o + 1] - place->before_start[o];
        if (run->waiting[o] == 0) {
            release(run, o);
        }
    }
}

static void run_plan(Run *run, const MerPlace *place, const MerGraphPlan *plan, MerArena *arena)
{
    start_run(run, place, plan, arena);
    int *seen = MER_ARRAY(arena, int, place->op_count);
    while (run->taken < place->op_count) {
        int before = run->taken;
        for (int u = 0; u < place->unit_count; u++) {
            if (place->is_host[u]) {
                run_on_host(run, u);
            }
        }
        int unit = run->taken == before ? choose_unit(run) : -1;
        if (unit >= 0) {
            run_call(run, unit, seen);
        }
    }
}

static bool check_calls(const State *state, const Run *run, MerCost *cost)
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

static double end_of(const Run *run)
{
    double end = 0;
    for (int o = 0; o < run->place->op_count; o++) {
        end = fmax(end, run->finish[o]);
    }
    return end;
}

static void fill(const Run *run, const double *bytes, MerCost *cost)
{
    const MerPlace *place = run->place;
    double          latency = end_of(run), busy = 0, peak = 0;
    for (int o = 0; o < place->op_count; o++) {
        busy += time_of(place, place->time_us, o, run->unit[o]);
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
    Run                 run;
    mer_cost_clear(cost);
    bool is_good =
        mer_place_check_memory(place, bytes, cost) && mer_place_check(place, graph, cost);
    if (!is_good && !state->prices_infeasible) {
        return;
    }
    run_plan(&run, place, graph, call->scratch);
    is_good = is_good && check_calls(state, &run, cost);
    if (is_good || state->prices_infeasible) {
        fill(&run, bytes, cost);
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
    .open = open_calls,
    .evaluate = evaluate,
    .rules = rules,
    .approximates = approximates,
};
