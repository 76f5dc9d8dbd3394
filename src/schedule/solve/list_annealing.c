/* Annealing of schedules that starts from the best of three list schedules (docs/optimizers.md, "Annealing
 * of schedules"); with deadlines also from earliest deadline first and from what the on-line scheduler
 * does. A move takes a job to another place or exchanges two; the acceptance threshold is drawn before
 * pricing, so that a bad neighbour is cut short, and a neighbour whose loads alone exceed it is not priced
 * at all. */
#include "schedule/solve/list_schedule.h"

#include "schedule/cost/bandwidth.h"
#include "schedule/jobs/schedule_deadlines.h"
#include "schedule/solve/online.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { PRIORITIES = 1 << 24, TRIES = 64, STARTS = 5 };

typedef struct Options {
    double  hot, cold, swap, restart_hot;
    int64_t first_round, rounds;
    bool    screens;
} Options;

static const MerOption options[] = {
    {"hot", MER_OPTION_REAL, offsetof(Options, hot), "0.015", 1e-12, 1e3, NULL,
     "first temperature, as a part of the start's score"},
    {"cold", MER_OPTION_REAL, offsetof(Options, cold), "0.00001", 1e-15, 1e3, NULL,
     "last temperature, likewise"},
    {"swap", MER_OPTION_REAL, offsetof(Options, swap), "0.6", 0, 1, NULL,
     "share of moves that exchange two jobs; the others take one elsewhere"},
    {"rounds", MER_OPTION_INT, offsetof(Options, rounds), "1", 1, 30, NULL,
     "times the temperature falls within the budget, each twice as long as the last"},
    {"restart_hot", MER_OPTION_REAL, offsetof(Options, restart_hot), "0.005", 1e-12, 1e3, NULL,
     "first temperature of later rounds, which start from the best plan"},
    {"first_round", MER_OPTION_INT, offsetof(Options, first_round), "20000", 100, 1e12, NULL,
     "evaluations of the first round when only a time is given"},
    {"screen", MER_OPTION_BOOL, offsetof(Options, screens), "true", 0, 0, NULL,
     "do not price neighbours that the loads of the cores already rule out"},
    {0}};

typedef struct Loads { /* of the queues: what the makespan cannot fall below */
    double unit[MER_BANDWIDTH_UNITS];
    double excess, bytes; /* cycles */
} Loads;

typedef struct State {
    const MerSchedule *schedule;
    const MerSpace    *space;
    MerRng            *rng;
    Options            options;
    int                start_count, starts_left; /* list schedules, and those still to be priced */
    MerIndex          *starts[STARTS];
    int               *knob;         /* of each job */
    int               *unit, *place; /* of each job: core and position */
    int               *queue[MER_BANDWIDTH_UNITS];
    int                length[MER_BANDWIDTH_UNITS];
    MerIndex          *now, *best;
    double             score, best_score, scale;
    int64_t            now_index; /* of the trial that priced it */
    int64_t            done, round_start, round_length;
    Loads              loads;
    const double      *excess; /* job x unit, cycles; NULL: not known */
    bool               can_screen;
    /* the move that is being priced */
    double threshold;
    int    job[2], from_unit, from_place; /* job[1] -1: the first was taken elsewhere */
    int    changed[2];                    /* units */
    bool   is_asked;
    Loads  old_loads;
} State;

static void count_loads(State *s)
{
    memset(&s->loads, 0, sizeof s->loads);
    for (int j = 0; j < s->schedule->job_count; j++) {
        int at = j * s->schedule->unit_count + s->unit[j];
        s->loads.unit[s->unit[j]] += s->schedule->latency[at];
        s->loads.excess += s->excess ? s->excess[at] : 0;
        s->loads.bytes += s->schedule->traffic[at] / s->schedule->bandwidth;
    }
}

static void number_queue(State *s, int unit)
{
    for (int i = 0; i < s->length[unit]; i++) {
        s->unit[s->queue[unit][i]] = unit;
        s->place[s->queue[unit][i]] = i;
    }
}

/* Queues from a point, on the units that it names: those of the problem's own decoder may be exchanged between
 * equal units, and a neighbour that rewrites some queues of the point would mix both. */
static void read_point(State *s, const MerIndex *point)
{
    MerArena *scratch = mer_arena_new();
    MerPlan   plan;
    mer_schedule_decode(s->schedule, point, &plan, scratch);
    const MerJobsPlan *jobs = mer_jobs_plan(&plan);
    for (int u = 0; u < s->schedule->unit_count; u++) {
        s->length[u] = jobs->start[u + 1] - jobs->start[u];
        memcpy(s->queue[u], jobs->queue + jobs->start[u], (size_t)s->length[u] * sizeof(int));
        number_queue(s, u);
    }
    mer_arena_free(scratch);
    count_loads(s);
}

/* What the bound of 5.3 allows: proportional sharing without anything that changes virtual time. */
static void prepare_screen(State *s, const MerSearch *search, const MerEvaluator *evaluator)
{
    const MerBandwidthState *bandwidth = mer_bandwidth_state(evaluator);
    const MerSchedule       *schedule = s->schedule;
    s->can_screen = s->options.screens && bandwidth && search->objective == MER_METRIC_CYCLES &&
                    !bandwidth->input.rules.drops_late && !bandwidth->input.rules.reuses_weights &&
                    !bandwidth->input.rules.forwards &&
                    bandwidth->input.rules.dispatch != MER_DISPATCH_POLICY;
    if (!s->can_screen || !bandwidth->is_plain) {
        return;
    }
    int     count = schedule->job_count * schedule->unit_count;
    double *excess = MER_ARRAY(search->arena, double, count);
    for (int i = 0; i < count; i++) {
        excess[i] = schedule->latency[i] * fmax(0, schedule->rate[i] / schedule->bandwidth - 1);
    }
    s->excess = excess;
}

static void add_start(State *s, const MerSearch *search, const MerProblem *problem,
                      const MerJobsPlan *jobs)
{
    MerJobsPlan copy = *jobs;
    MerPlan     plan = {&mer_plan_jobs, &copy};
    MerIndex   *point = MER_ARRAY(search->arena, MerIndex, s->space->knob_count + 1);
    problem->type->encode(problem, &plan, point);
    s->starts[s->start_count++] = point;
}

/* Who knows all requests in advance should not do worse than who learns of them as they come. */
static void add_online_start(State *s, const MerSearch *search, const MerProblem *problem,
                             const MerEvaluator *evaluator)
{
    const MerBandwidthState *bandwidth = mer_bandwidth_state(evaluator);
    if (!bandwidth || bandwidth->input.rules.dispatch == MER_DISPATCH_POLICY ||
        !s->schedule->has_deadlines || !mer_schedule_is_about_deadlines(search->objective)) {
        return;
    }
    const MerOnlineOptions defaults = {.moves = 50, .ahead = 2, .patience = 8};
    MerJobsPlan            plan;
    mer_online_plan(&defaults, search, bandwidth, &plan);
    add_start(s, search, problem, &plan);
}

/* Longest first, in input order, the rounded relaxation of the bound, and by deadline if there are any. */
static void make_starts(State *s, const MerSearch *search, const MerProblem *problem,
                        const MerEvaluator *evaluator)
{
    int           *group = MER_ARRAY(search->arena, int, s->schedule->job_count + 1);
    int           *group_of_unit = MER_ARRAY(search->arena, int, s->schedule->unit_count);
    MerListOptions lists[STARTS - 1] = {
        {.order = MER_LIST_LONGEST, .tenant = -1},
        {.order = MER_LIST_INPUT, .tenant = -1},
        {.order = MER_LIST_LONGEST, .tenant = -1, .group = group, .group_of_unit = group_of_unit},
        {.order = MER_LIST_DEADLINE, .tenant = -1},
    };
    mer_schedule_round(s->schedule, mer_bandwidth_rules(evaluator), group, group_of_unit,
                       search->notes);
    for (int i = 0; i < STARTS - 1 - !s->schedule->has_deadlines; i++) {
        MerJobsPlan plan;
        mer_schedule_list(s->schedule, &lists[i], search->arena, &plan);
        add_start(s, search, problem, &plan);
    }
    add_online_start(s, search, problem, evaluator);
    s->starts_left = s->start_count;
}

static MerStatus open_list_annealing(void *state, const MerSearch *search,
                                     const MerProblem *problem, const MerEvaluator *evaluator,
                                     const void *given, MerError *error)
{
    State             *s = state;
    const MerSchedule *schedule;
    MerStatus          status = mer_list_begin("list_annealing", problem, &schedule, error);
    if (status != MER_OK) {
        return status;
    }
    if (search->space->knob_count != problem->space.knob_count) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "list_annealing moves all jobs, it cannot work with fixed knobs "
                             "(annealing and magma can)");
    }
    *s = (State){.schedule = schedule,
                 .space = search->space,
                 .rng = search->rng,
                 .options = *(const Options *)given,
                 .score = INFINITY,
                 .best_score = INFINITY,
                 .now_index = -1};
    int64_t parts = ((int64_t)1 << s->options.rounds) - 1; /* 1 + 2 + 4 + ... */
    s->round_length =
        search->budget == INT64_MAX ? s->options.first_round : search->budget / parts + 1;
    int jobs = schedule->job_count;
    s->knob = MER_ARRAY(search->arena, int, jobs + 1);
    s->unit = MER_ARRAY(search->arena, int, jobs + 1);
    s->place = MER_ARRAY(search->arena, int, jobs + 1);
    s->now = MER_ARRAY(search->arena, MerIndex, s->space->knob_count + 1);
    s->best = MER_ARRAY(search->arena, MerIndex, s->space->knob_count + 1);
    for (int u = 0; u < schedule->unit_count; u++) {
        s->queue[u] = MER_ARRAY(search->arena, int, jobs + 1);
    }
    for (int i = 0; i < jobs; i++) {
        s->knob[schedule->order[i]] = i;
    }
    prepare_screen(s, search, evaluator);
    make_starts(s, search, problem, evaluator);
    return MER_OK;
}

static void add_load(State *s, int job, int unit, double sign)
{
    int at = job * s->schedule->unit_count + unit;
    s->loads.unit[unit] += sign * s->schedule->latency[at];
    s->loads.excess += sign * (s->excess ? s->excess[at] : 0);
    s->loads.bytes += sign * s->schedule->traffic[at] / s->schedule->bandwidth;
}

static void take_out(State *s, int job)
{
    int  unit = s->unit[job];
    int *queue = s->queue[unit];
    int  place = s->place[job];
    s->length[unit]--;
    memmove(queue + place, queue + place + 1, (size_t)(s->length[unit] - place) * sizeof *queue);
    for (int i = place; i < s->length[unit]; i++) {
        s->place[queue[i]] = i;
    }
    add_load(s, job, unit, -1);
}

static void put_in(State *s, int job, int unit, int place)
{
    int *queue = s->queue[unit];
    memmove(queue + place + 1, queue + place, (size_t)(s->length[unit] - place) * sizeof *queue);
    queue[place] = job;
    s->length[unit]++;
    s->unit[job] = unit;
    for (int i = place; i < s->length[unit]; i++) {
        s->place[queue[i]] = i;
    }
    add_load(s, job, unit, 1);
}

static void exchange(State *s, int a, int b)
{
    int unit = s->unit[a];
    int place = s->place[a];
    add_load(s, a, unit, -1);
    add_load(s, b, s->unit[b], -1);
    s->unit[a] = s->unit[b];
    s->place[a] = s->place[b];
    s->unit[b] = unit;
    s->place[b] = place;
    s->queue[s->unit[a]][s->place[a]] = a;
    s->queue[unit][place] = b;
    add_load(s, a, s->unit[a], 1);
    add_load(s, b, unit, 1);
}

static int any_busy_unit(State *s)
{
    int unit;
    do {
        unit = mer_rng_below(s->rng, s->schedule->unit_count);
    } while (s->length[unit] == 0);
    return unit;
}

static int heaviest_unit(const State *s)
{
    int heaviest = 0;
    for (int u = 1; u < s->schedule->unit_count; u++) {
        heaviest = s->loads.unit[u] > s->loads.unit[heaviest] ? u : heaviest;
    }
    return heaviest;
}

static int any_job(State *s, int unit)
{
    return s->queue[unit][mer_rng_below(s->rng, s->length[unit])];
}

static void undo_move(State *s)
{
    if (s->job[1] >= 0) {
        exchange(s, s->job[0], s->job[1]);
    } else {
        take_out(s, s->job[0]);
        put_in(s, s->job[0], s->from_unit, s->from_place);
    }
    s->loads = s->old_loads;
}

/* Whether it does not matter which of two jobs is which: layers are equal, and so is whatever else a metric or a
 * rule may look at. */
static bool is_interchangeable(const MerSchedule *schedule, int a, int b)
{
    bool is_timed = schedule->has_releases || schedule->has_deadlines;
    bool is_equal = schedule->layer[a] == schedule->layer[b] && !schedule->has_dependencies &&
                    schedule->tenant[a] == schedule->tenant[b];
    return is_equal && (!is_timed || (schedule->release[a] == schedule->release[b] &&
                                      schedule->deadline[a] == schedule->deadline[b] &&
                                      schedule->model[a] == schedule->model[b] &&
                                      schedule->request[a] == schedule->request[b]));
}

/* Changes the queues; false if the change would say the same plan. */
static bool make_move(State *s)
{
    bool is_swap = mer_rng_unit(s->rng) < s->options.swap;
    int  unit = any_busy_unit(s);
    int  job = any_job(s, unit);
    s->old_loads = s->loads;
    s->job[0] = job;
    s->changed[0] = s->from_unit = unit;
    s->from_place = s->place[job];
    if (is_swap) {
        int other = any_job(s, any_busy_unit(s));
        if (other == job || is_interchangeable(s->schedule, job, other)) {
            return false;
        }
        s->job[1] = other;
        s->changed[1] = s->unit[other];
        exchange(s, job, other);
        return true;
    }
    int target = mer_rng_below(s->rng, s->schedule->unit_count);
    int place = mer_rng_below(s->rng, s->length[target] + (target != unit));
    if (target == unit && place == s->from_place) {
        return false;
    }
    s->job[1] = -1;
    s->changed[1] = target;
    take_out(s, job);
    put_in(s, job, target, place);
    return true;
}

/* What the new queues need at least: the heaviest core, stretched by every job that alone exceeds the
 * bandwidth; and all the bytes. */
static double least_score(const State *s)
{
    return fmax((s->loads.unit[heaviest_unit(s)] + s->loads.excess) * (1 - 1e-9),
                s->loads.bytes * (1 - 1e-9));
}

static double temperature(const State *s)
{
    double progress = fmin(1, (double)(s->done - s->round_start) / (double)s->round_length);
    double hot = s->round_start == 0 ? s->options.hot : s->options.restart_hot;
    return s->scale * hot * pow(s->options.cold / hot, progress);
}

/* Priorities of a queue, spread evenly. */
static void write_queue(const State *s, int unit, MerIndex *point)
{
    int jobs = s->schedule->job_count;
    for (int i = 0; i < s->length[unit]; i++) {
        int knob = s->knob[s->queue[unit][i]];
        point[knob] = unit;
        point[jobs + knob] = (MerIndex)((double)PRIORITIES * (i + 0.5) / s->length[unit]);
    }
}

static void copy_point(const State *s, MerIndex *to, const MerIndex *from)
{
    memcpy(to, from, (size_t)s->space->knob_count * sizeof *to);
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    if (s->starts_left > 0) {
        int count = s->starts_left < capacity ? s->starts_left : capacity;
        for (int i = 0; i < count; i++) {
            copy_point(s, proposals[i].point, s->starts[s->start_count - s->starts_left + i]);
        }
        return count;
    }
    if (s->schedule->job_count < 2 && s->schedule->unit_count < 2) {
        return 0;
    }
    s->threshold = s->score - temperature(s) * log(1 - mer_rng_unit(s->rng));
    for (int tries = 0; tries < TRIES; tries++) {
        if (!make_move(s)) {
            s->is_asked = false;
            continue;
        }
        s->is_asked = true;
        if (tries + 1 == TRIES || !s->can_screen || least_score(s) <= s->threshold) {
            break;
        }
        undo_move(s);
        s->is_asked = false;
    }
    copy_point(s, proposals[0].point, s->now);
    if (s->is_asked) {
        write_queue(s, s->changed[0], proposals[0].point);
        write_queue(s, s->changed[1], proposals[0].point);
    }
    proposals[0].limit = s->threshold;
    proposals[0].base = s->now_index;
    return 1;
}

static void settle(State *s, const MerTrial *trial)
{
    copy_point(s, s->now, trial->point);
    s->score = trial->score;
    s->now_index = trial->index;
}

static void keep_best(State *s, const MerTrial *trial)
{
    if (trial->score < s->best_score && !trial->cost->cut) {
        s->best_score = trial->score;
        copy_point(s, s->best, trial->point);
    }
}

/* Later rounds go on from the best plan. */
static void turn_round(State *s)
{
    s->round_start = s->done;
    s->round_length *= 2;
    if (s->best_score < INFINITY) {
        copy_point(s, s->now, s->best);
        s->score = s->best_score;
        s->now_index = -1;
        read_point(s, s->now);
    }
}

static void tell_start(State *s, const MerTrial *trial)
{
    s->starts_left -= !trial->warm;
    if (trial->score < s->score || s->now_index < 0) {
        settle(s, trial);
        read_point(s, s->now);
        s->scale = isfinite(trial->score) ? fabs(trial->score) : 1;
    }
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        keep_best(s, &trials[i]);
        if (trials[i].warm || s->starts_left > 0) {
            tell_start(s, &trials[i]);
        } else if (trials[i].score <= s->threshold && !trials[i].cost->cut) {
            settle(s, &trials[i]);
        } else if (s->is_asked) {
            undo_move(s);
        }
        s->done += !trials[i].warm;
    }
    if (s->done - s->round_start >= s->round_length) {
        turn_round(s);
    }
}

const MerOptimizerClass mer_optimizer_list_annealing = {
    .name = "list_annealing",
    .summary = "annealing of queues from the best of lpt, fcfs and the rounded LP; reads the job "
               "table to skip hopeless moves",
    .reference = "Kirkpatrick, Gelatt and Vecchi, Science 220, 1983",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .problem = "schedule",
    .open_problem = open_list_annealing,
    .ask = ask,
    .tell = tell,
};
