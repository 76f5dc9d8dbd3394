/* The optimum of small groups (at most 20 jobs) by branch and bound: cores first, longest job first, with the
 * loads and bytes of section 9 as bound; then, where bandwidth makes the order matter, all orders of the
 * queues. Plain schedules with proportional sharing only; a test oracle for everything else. */
#include "solve/list_schedule.h"

#include "cost/bandwidth.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MAX_JOBS = 20 };

typedef struct State {
    MerListState       list; /* the point to ask for, once found */
    const MerSchedule *schedule;
    const MerProblem  *problem;
    MerBandwidthInput  input;
    MerJobsPlan        plan, best;
    double             best_cycles;
    double             bound; /* of the problem: nothing is left to look for there */
    double excess[MAX_JOBS * MER_BANDWIDTH_UNITS], bytes[MAX_JOBS * MER_BANDWIDTH_UNITS];
    double later_excess[MAX_JOBS + 1],
        later_bytes[MAX_JOBS + 1]; /* least of the jobs from here on */
    int     order[MAX_JOBS], unit[MAX_JOBS];
    int64_t steps;
    int64_t max_steps;
    bool    is_proven;
} State;

typedef struct Options {
    int64_t steps;
} Options;

static const MerOption options[] = {{"steps", MER_OPTION_INT, offsetof(Options, steps), "5000000",
                                     1, 1e15, NULL,
                                     "choices looked at before it gives up the proof"},
                                    {0}};

static void keep_if_better(State *s)
{
    MerBandwidthOutput output;
    s->steps++;
    s->input.limit = s->best_cycles;
    mer_bandwidth_plain(&s->input, &s->plan, NULL, NULL, &output);
    if (!output.is_cut && output.cycles < s->best_cycles) {
        s->best_cycles = output.cycles;
        memcpy(s->best.queue, s->plan.queue, (size_t)s->plan.job_count * sizeof(int));
        memcpy(s->best.start, s->plan.start, (size_t)(s->plan.unit_count + 1) * sizeof(int));
        memcpy(s->best.unit, s->plan.unit, (size_t)s->plan.job_count * sizeof(int));
    }
}

static bool is_at_bound(const State *s)
{
    return s->best_cycles * (1 - 1e-12) <= s->bound;
}

/* All orders of queue `unit` from `at` on, then of the queues behind it. */
static void permute(State *s, int unit, int at)
{
    const MerSchedule *schedule = s->schedule;
    if (s->steps > s->max_steps || is_at_bound(s)) {
        return;
    }
    if (unit == schedule->unit_count) {
        keep_if_better(s);
        return;
    }
    int end = s->plan.start[unit + 1];
    if (at >= end) {
        permute(s, unit + 1, unit + 1 < schedule->unit_count ? s->plan.start[unit + 1] : 0);
        return;
    }
    int *queue = s->plan.queue;
    for (int i = at; i < end; i++) {
        bool is_repeat = false; /* an equal job stood here already */
        for (int k = at; k < i; k++) {
            is_repeat = is_repeat || schedule->layer[queue[k]] == schedule->layer[queue[i]];
        }
        if (is_repeat) {
            continue;
        }
        int job = queue[i];
        queue[i] = queue[at];
        queue[at] = job;
        permute(s, unit, at + 1);
        queue[at] = queue[i];
        queue[i] = job;
    }
}

/* Without contention the order does not matter: the needs of the hungriest job of each core fit together. */
static bool order_matters(const State *s)
{
    double need = 0;
    for (int u = 0; u < s->plan.unit_count; u++) {
        double most = 0;
        for (int i = s->plan.start[u]; i < s->plan.start[u + 1]; i++) {
            most = fmax(most, s->schedule->rate[s->plan.queue[i] * s->plan.unit_count + u]);
        }
        need += most;
    }
    return need > s->schedule->bandwidth;
}

static void assign(State *s, int depth, const double *load, double excess, double bytes)
{
    const MerSchedule *schedule = s->schedule;
    int                units = schedule->unit_count;
    double             most = 0;
    for (int u = 0; u < units; u++) {
        most = fmax(most, load[u]);
    }
    s->steps++;
    double least = fmax(most + excess + s->later_excess[depth], bytes + s->later_bytes[depth]);
    if (least * (1 - 1e-12) >= s->best_cycles || s->steps > s->max_steps || is_at_bound(s)) {
        return;
    }
    if (depth == schedule->job_count) {
        mer_schedule_make_queues(s->order, s->unit, &s->plan);
        if (order_matters(s)) {
            permute(s, 0, 0);
        } else {
            keep_if_better(s);
        }
        return;
    }
    int job = s->order[depth];
    for (int u = 0; u < units; u++) {
        bool is_repeat = false; /* an equal core with the same load was tried */
        for (int v = 0; v < u; v++) {
            is_repeat = is_repeat ||
                        (schedule->unit_class[v] == schedule->unit_class[u] && load[v] == load[u]);
        }
        if (is_repeat && load[u] == 0) {
            continue;
        }
        double next[MER_BANDWIDTH_UNITS];
        memcpy(next, load, (size_t)units * sizeof *next);
        next[u] += schedule->latency[job * units + u];
        s->unit[job] = u;
        assign(s, depth + 1, next, excess + s->excess[job * units + u],
               bytes + s->bytes[job * units + u]);
    }
}

static void prepare(State *s)
{
    const MerSchedule *schedule = s->schedule;
    int                units = schedule->unit_count;
    for (int i = 0; i < schedule->job_count * units; i++) {
        s->excess[i] = schedule->latency[i] * fmax(0, schedule->rate[i] / schedule->bandwidth - 1);
        s->bytes[i] = schedule->traffic[i] / schedule->bandwidth;
    }
    for (int d = schedule->job_count - 1; d >= 0; d--) {
        double excess = INFINITY;
        double bytes = INFINITY;
        for (int u = 0; u < units; u++) {
            excess = fmin(excess, s->excess[s->order[d] * units + u]);
            bytes = fmin(bytes, s->bytes[s->order[d] * units + u]);
        }
        s->later_excess[d] = s->later_excess[d + 1] + excess;
        s->later_bytes[d] = s->later_bytes[d + 1] + bytes;
    }
}

/* Good plans to begin with: longest first, in input order, and the rounded relaxation of the bound. */
static void price_lists(State *s, MerArena *arena)
{
    int           *group = MER_ARRAY(arena, int, s->schedule->job_count + 1);
    int           *group_of_unit = MER_ARRAY(arena, int, s->schedule->unit_count);
    MerListOptions lists[] = {
        {.order = MER_LIST_LONGEST, .tenant = -1},
        {.order = MER_LIST_INPUT, .tenant = -1},
        {.order = MER_LIST_LONGEST, .tenant = -1, .group = group, .group_of_unit = group_of_unit},
    };
    mer_schedule_round(s->schedule, mer_schedule_rules(s->problem), group, group_of_unit);
    for (int i = 0; i < 3; i++) {
        mer_schedule_list(s->schedule, &lists[i], arena, &s->plan);
        keep_if_better(s);
    }
}

/* Why a group is refused, the first reason of several. */
static const char *what_is_found(const MerSearch *search, const MerSchedule *schedule,
                                 const MerBandwidthState *bandwidth, const MerProblem *problem)
{
    return schedule->job_count > MAX_JOBS                           ? "more jobs"
           : search->objective != MER_METRIC_CYCLES                 ? "another objective"
           : search->space->knob_count != problem->space.knob_count ? "fixed knobs"
           : !bandwidth                                             ? "another evaluator"
           : schedule->has_dependencies                             ? "dependencies"
           : schedule->has_releases || schedule->has_deadlines      ? "releases or deadlines"
           : schedule->tenant_count > 1                             ? "several tenants"
           : bandwidth->input.rules.share != MER_SHARE_PROPORTIONAL
               ? "another way of sharing"
               : "another rule, or a job that moves none";
}

static MerStatus open_exact_schedule(void *state, const MerSearch *search,
                                     const MerProblem *problem, const MerEvaluator *evaluator,
                                     const void *given, MerError *error)
{
    State             *s = state;
    const MerSchedule *schedule;
    const Options     *chosen = given;
    MerStatus          status = mer_list_begin("exact_schedule", problem, &schedule, error);
    if (status != MER_OK) {
        return status;
    }
    const MerBandwidthState *bandwidth = mer_bandwidth_state(evaluator);
    if (schedule->job_count > MAX_JOBS || !bandwidth || !bandwidth->is_plain ||
        search->objective != MER_METRIC_CYCLES ||
        search->space->knob_count != problem->space.knob_count) {
        return mer_error_set(
            error, MER_UNSUPPORTED,
            "exact_schedule minimises cycles of at most %d independent jobs of one "
            "tenant that all move bytes, with proportional sharing and nothing "
            "else switched on, found %s",
            MAX_JOBS, what_is_found(search, schedule, bandwidth, problem));
    }
    *s = (State){.schedule = schedule,
                 .problem = problem,
                 .input = bandwidth->input,
                 .best_cycles = INFINITY,
                 .max_steps = chosen->steps};
    mer_schedule_new_plan(schedule, search->arena, &s->plan);
    mer_schedule_new_plan(schedule, search->arena, &s->best);
    double *key = MER_ARRAY(search->arena, double, schedule->job_count + 1);
    for (int j = 0; j < schedule->job_count; j++) {
        key[j] = INFINITY;
        for (int u = 0; u < schedule->unit_count; u++) {
            key[j] = fmin(key[j], schedule->latency[j * schedule->unit_count + u]);
        }
        key[j] = -key[j];
    }
    memcpy(s->order, mer_schedule_sorted(key, schedule->job_count, search->arena),
           (size_t)schedule->job_count * sizeof(int));
    s->bound = mer_schedule_bound(schedule, mer_schedule_rules(problem), false).value;
    price_lists(s, search->arena);
    prepare(s);
    double load[MER_BANDWIDTH_UNITS] = {0};
    assign(s, 0, load, 0, 0);
    s->is_proven = s->steps <= s->max_steps || is_at_bound(s);
    mer_list_set(&s->list, search, problem, &s->best);
    return MER_OK;
}

static bool proof(const void *state, MerBound *bound)
{
    const State *s = state;
    *bound = (MerBound){s->best_cycles, "optimum", ""};
    return s->is_proven;
}

const MerOptimizerClass mer_optimizer_exact_schedule = {
    .name = "exact_schedule",
    .summary = "the optimum of at most 20 independent jobs by branch and bound; says so if `steps` "
               "are too few for the proof",
    .reference =
        "Lawler and Wood, Branch-and-Bound Methods: A Survey, Operations Research 14, 1966",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .problem = "schedule",
    .open_problem = open_exact_schedule,
    .ask = mer_list_ask,
    .tell = mer_list_tell,
    .proof = proof,
};
