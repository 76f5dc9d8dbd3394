/* The optimum of small groups (at most 20 jobs) by branch and bound in virtual time: a good plan by annealing, the
 * relaxation of configurations (exact_schedule.h) as bound, and where these differ three searches of what lies
 * between. Plain schedules with proportional sharing only; a test oracle for everything else. */
#include "schedule/solve/exact_schedule.h"

#include "base/option_rows.h"
#include "schedule/solve/list_schedule.h"

#include <math.h>
#include <string.h>

typedef struct State {
    const MerSearch  *given;
    const MerProblem *problem;
    MerListState      list; /* the point to ask for */
    ExactSearch       search;
    double            told_cycles; /* of the last plan asked for */
    int64_t           proposed;
} State;

typedef struct Options {
    int64_t steps;
} Options;

static const MerOption options[] = {
    MER_INT(steps, "50000000", 1, 1e15, "choices looked at before it gives up the proof"), {0}};

static double weight_of(const ExactJobs *jobs, int job)
{
    double weight = INFINITY;
    for (int u = 0; u < jobs->units; u++) {
        weight = fmin(weight, jobs->length[job][u] * fmax(1, jobs->need[job][u]));
    }
    return weight;
}

static bool is_lighter(const void *context, int a, int b)
{
    const ExactJobs *jobs = context;
    double           x = weight_of(jobs, a), y = weight_of(jobs, b);
    return x != y ? x < y : jobs->kind[a] > jobs->kind[b];
}

/* Longest job first. Which jobs and cores are equal is known to the bound. */
static void read_jobs(const MerSchedule *schedule, const MerScheduleRules *rules, ExactJobs *jobs,
                      MerArena *arena)
{
    Relaxation merged = {.arena = arena};
    int        units = schedule->unit_count;
    double    *key = MER_ARRAY(arena, double, schedule->job_count + 1);
    mer_relaxation_build(schedule, rules, false, &merged);
    jobs->jobs = schedule->job_count;
    jobs->units = units;
    for (int j = 0; j < jobs->jobs; j++) {
        key[j] = -mer_schedule_shortest(schedule, j);
    }
    const int *order = mer_schedule_sorted(key, jobs->jobs, arena);
    for (int i = 0; i < jobs->jobs; i++) {
        int row = merged.row_of_job[order[i]];
        jobs->number[i] = order[i];
        jobs->by_weight[i] = i;
        for (int u = 0; u < units; u++) {
            int class = merged.class_of_unit[u];
            jobs->length[i][u] = schedule->latency[order[i] * units + u];
            jobs->need[i][u] = schedule->rate[order[i] * units + u] / schedule->bandwidth;
            jobs->alone[i][u] = merged.alone[row * merged.classes + class];
        }
        while (merged.row_of_job[order[jobs->kind[i]]] != row) {
            jobs->kind[i]++;
        }
    }
    for (int u = 0; u < units; u++) {
        while (merged.class_of_unit[jobs->unit_class[u]] != merged.class_of_unit[u]) {
            jobs->unit_class[u]++;
        }
    }
    mer_schedule_merge_sort(jobs->by_weight, jobs->jobs, is_lighter, jobs);
}

void exact_relax_root(ExactSearch *s)
{
    ExactRelaxation *relaxation = &s->relaxation;
    ExactPhase      *phase = &relaxation->phase[0];
    relaxation->limit = exact_limit(s);
    relaxation->phase_count = 1;
    relaxation->span_count = 0;
    *phase = (ExactPhase){.unit_count = s->jobs.units};
    for (int u = 0; u < s->jobs.units; u++) {
        phase->unit[u] = u;
        phase->may_idle[u] = true;
        phase->others[u] = exact_possible_jobs(s, u);
    }
}

uint32_t exact_possible_jobs(const ExactSearch *s, int unit)
{
    uint32_t possible = 0;
    for (int j = 0; j < s->jobs.jobs; j++) {
        bool is_possible = s->jobs.alone[j][unit] <= s->best_cycles * (1 + 1e-9);
        possible |= is_possible ? (uint32_t)1 << j : 0;
    }
    return possible;
}

static void relax(ExactSearch *s)
{
    exact_relax_root(s);
    s->bound = fmax(s->bound, fmin(exact_relax(s, false), s->best_cycles));
}

/* Annealing, the longer the farther the bound is. */
static void improve_plan(ExactSearch *s, MerRng *rng)
{
    exact_anneal(s, rng, 5000, 0.02);
    relax(s);
    for (int64_t moves = 10000; moves <= 80000 && exact_limit(s) > s->bound; moves *= 2) {
        exact_anneal(s, rng, moves, 0.03);
    }
    if (!exact_is_done(s)) {
        relax(s); /* fewer pairs of job and core are possible now */
    }
}

/* Each search is complete, and each is hopeless where others shine, so they take turns that double. Where orders of
 * events decide it takes few steps to see it, where loads do it takes many. */
static void take_turn(ExactSearch *s, int turn)
{
    const struct {
        void (*run)(ExactSearch *);
        int64_t steps; /* of its first turn */
    } searches[] = {{exact_events, 500000}, {exact_assign, 2000000}, {exact_place, 1000000}};
    int64_t max_steps = s->max_steps;
    int64_t steps = searches[turn % 3].steps << turn / 3;
    s->max_steps = steps < max_steps - s->steps ? s->steps + steps : max_steps;
    searches[turn % 3].run(s);
    s->is_finished = s->steps < s->max_steps && !s->stop.is_stopped;
    s->max_steps = max_steps;
    s->bound = s->is_finished ? s->best_cycles : s->bound;
}

void exact_begin(ExactSearch *s, const MerBandwidthInput *input, const MerScheduleRules *rules,
                 int64_t max_steps, MerNotes *notes, MerArena *arena)
{
    const double       swap = 0.5; /* few jobs: half of the moves change the loads */
    const MerSchedule *schedule = input->schedule;
    *s = (ExactSearch){.input = *input,
                       .best_cycles = INFINITY,
                       .max_steps = max_steps,
                       .stop.notes = notes,
                       .seen = mer_arena_alloc(arena, exact_seen_size())};
    read_jobs(schedule, rules, &s->jobs, arena);
    mer_queues_begin(&s->queues, schedule, NULL, swap, arena);
    mer_queues_count_excess(&s->queues, arena);
    s->queues.can_screen = true;
    exact_relaxation_begin(&s->relaxation, &s->jobs, notes, arena);
    mer_schedule_new_plan(schedule, arena, &s->best);
    s->bound = s->given_bound = mer_schedule_bound(schedule, rules, false, notes).value;
    exact_list_plans(s, rules, arena);
}

void exact_step(ExactSearch *s, MerRng *rng)
{
    if (s->turn == 0) {
        improve_plan(s, rng);
    } else {
        take_turn(s, s->turn - 1);
    }
    s->turn++;
    s->is_finished = s->is_finished || exact_is_done(s);
    s->is_proven = exact_limit(s) <= s->bound;
}

/* Why a group is refused, the first reason of several; NULL: it is not. */
static const char *what_is_found(const MerSearch *search, const MerSchedule *schedule,
                                 const MerBandwidthState *bandwidth, const MerProblem *problem)
{
    return schedule->job_count > EXACT_JOBS
               ? mer_arena_format(search->arena, "%d jobs", schedule->job_count)
           : search->objective != MER_METRIC_CYCLES                 ? "another objective"
           : search->space->knob_count != problem->space.knob_count ? "fixed knobs"
           : !bandwidth                                             ? "another evaluator"
           : schedule->has_dependencies                             ? "dependencies"
           : schedule->has_releases || schedule->has_deadlines      ? "releases or deadlines"
           : schedule->tenant_count > 1                             ? "several tenants"
           : bandwidth->input.rules.share != MER_SHARE_PROPORTIONAL ? "another way of sharing"
           : !bandwidth->is_plain ? "another rule, or a job that moves none"
                                  : NULL;
}

static MerStatus open_exact_schedule(void *state, const MerSearch *search,
                                     const MerProblem *problem, const MerEvaluator *evaluator,
                                     const void *given, MerError *error)
{
    State             *s = state;
    const MerSchedule *schedule;
    const Options     *chosen = given;
    MER_TRY(mer_list_begin("exact_schedule", problem, &schedule, error));
    const MerBandwidthState *bandwidth = mer_bandwidth_state(evaluator);
    const char              *found = what_is_found(search, schedule, bandwidth, problem);
    if (found) {
        return mer_error_set(
            error, MER_UNSUPPORTED,
            "exact_schedule minimises cycles of at most %d independent jobs of one "
            "tenant that all move bytes, with proportional sharing and nothing "
            "else switched on, found %s",
            EXACT_JOBS, found);
    }
    s->given = search;
    s->problem = problem;
    s->told_cycles = INFINITY;
    exact_begin(&s->search, &bandwidth->input, mer_bandwidth_rules(evaluator), chosen->steps,
                search->notes, search->arena);
    return MER_OK;
}

/* Plans are asked for as they are found, since none can be priced once the time is up. The last one that the
 * budget allows is kept for the optimum. */
static int ask(void *state, MerProposal *proposals, int capacity)
{
    State       *s = state;
    ExactSearch *search = &s->search;
    bool         is_last = s->given->budget - s->proposed <= 1;
    while (!search->is_finished && (is_last || !(search->best_cycles < s->told_cycles))) {
        exact_step(search, s->given->rng);
    }
    if (capacity < 1 || !(search->best_cycles < s->told_cycles)) {
        return 0;
    }
    s->told_cycles = search->best_cycles;
    s->proposed++;
    mer_list_set(&s->list, s->given, s->problem, &search->best);
    return mer_list_ask(&s->list, proposals, capacity);
}

static bool proof(const void *state, MerBound *bound)
{
    const State *s = state;
    *bound = s->search.is_proven ? (MerBound){s->search.best_cycles, "optimum", ""}
                                 : (MerBound){s->search.bound, "configurations", ""};
    return s->search.is_proven || s->search.bound > s->search.given_bound;
}

const MerOptimizerClass mer_optimizer_exact_schedule = {
    .name = "exact_schedule",
    .summary =
        "the optimum of at most 20 independent jobs: annealing, a linear program over what can "
        "run together, and branch and bound; says so if `steps` are too few for the proof",
    .reference =
        "Lawler and Wood, Branch-and-Bound Methods: A Survey, Operations Research 14, 1966",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .problem = "schedule",
    .open_problem = open_exact_schedule,
    .ask = ask,
    .tell = mer_list_tell,
    .makes_own_plan = true,
    .ends_itself = true,
    .proof = proof,
};
