/* Annealing of schedules that starts from the best of three list schedules (docs/optimizers.md, "Annealing
 * of schedules"); with deadlines also from earliest deadline first and from what the on-line scheduler
 * does. A move takes a job to another place or exchanges two; the acceptance threshold is drawn before
 * pricing, so that a bad neighbour is cut short, and a neighbour whose loads alone exceed it is not priced
 * at all. Small groups are handed to exact_schedule, where it applies. */
#include "schedule/solve/list_schedule.h"

#include "base/option_rows.h"
#include "schedule/jobs/schedule_deadlines.h"
#include "schedule/solve/online.h"
#include "schedule/solve/queue_moves.h"

#include <math.h>
#include <string.h>

enum { PRIORITIES = 1 << 24, STARTS = MER_LIST_STARTS + 1 };
enum { SMALL = 12 }; /* jobs of a group that is solved exactly, where that can be done */

typedef struct Options {
    double  hot, cold, swap, restart_hot;
    int64_t first_round, rounds;
    bool    screens;
} Options;

static const MerOption options[] = {
    MER_REAL(hot, "0.015", 1e-12, 1e3,
             "first temperature, as a part of the start's score; at least 0.5 / jobs, as moves of "
             "few jobs change much"),
    MER_REAL(cold, "0.00001", 1e-15, 1e3, "last temperature, likewise"),
    MER_REAL(swap, "0.6", 0, 1,
             "share of moves that exchange two jobs; the others take one elsewhere"),
    MER_INT(rounds, "1", 1, 30,
            "times the temperature falls within the budget, each twice as long as the last"),
    MER_REAL(restart_hot, "0.005", 1e-12, 1e3,
             "first temperature of later rounds, which start from the best plan"),
    MER_INT(first_round, "20000", 100, 1e12,
            "evaluations of the first round when only a time is given"),
    MER_BOOL_AT("screen", screens, "true",
                "do not price neighbours that the loads of the cores already rule out"),
    {0}};

typedef struct State {
    const MerSchedule *schedule;
    const MerSpace    *space;
    Options            options;
    int                start_count, starts_left; /* list schedules, and those still to be priced */
    MerIndex          *starts[STARTS];
    int               *knob; /* of each job */
    MerQueues          queues;
    MerIndex          *now, *best;
    double             score, best_score, scale;
    int64_t            now_index; /* of the trial that priced it */
    int64_t            done, round_start, round_length;
    double             threshold; /* of the move that is being priced */
    bool               is_asked;
    void              *exact;         /* the state of exact_schedule; NULL: it does not apply */
    bool               is_exact_done; /* it has no more plans to ask for */
} State;

/* Queues from a point, on the units that it names: those of the problem's own decoder may be exchanged between
 * equal units, and a neighbour that rewrites some queues of the point would mix both. */
static void read_point(State *s, const MerIndex *point)
{
    MerArena *scratch = mer_arena_new();
    MerPlan   plan;
    mer_schedule_decode(s->schedule, point, &plan, scratch);
    mer_queues_read(&s->queues, mer_jobs_plan(&plan));
    mer_arena_free(scratch);
}

/* What virtual time allows (docs/bandwidth-model.md, "Virtual time"): proportional sharing without anything that changes virtual time. */
static void prepare_screen(State *s, const MerSearch *search, const MerEvaluator *evaluator)
{
    const MerBandwidthState *bandwidth = mer_bandwidth_state(evaluator);
    s->queues.can_screen =
        s->options.screens && bandwidth && search->objective == MER_METRIC_CYCLES &&
        !bandwidth->input.rules.drops_late && !bandwidth->input.rules.reuses_weights &&
        !bandwidth->input.rules.forwards && bandwidth->input.rules.dispatch != MER_DISPATCH_POLICY;
    if (s->queues.can_screen && bandwidth->is_plain) {
        mer_queues_count_excess(&s->queues, search->arena);
    }
}

static void add_start(State *s, const MerSearch *search, const MerProblem *problem,
                      MerJobsPlan *jobs)
{
    MerPlan   plan = {&mer_plan_jobs, jobs};
    MerIndex *point = MER_ARRAY(search->arena, MerIndex, s->space->knob_count + 1);
    problem->type->encode(problem, &plan, point);
    s->starts[s->start_count++] = point;
}

/* Who knows all requests in advance should not do worse than who learns of them as they come. */
static void add_online_start(State *s, const MerSearch *search, const MerProblem *problem,
                             const MerEvaluator *evaluator)
{
    MerJobsPlan      plan;
    MerOnlinePlanner planner;
    bool counts = s->schedule->has_deadlines && mer_schedule_is_about_deadlines(search->objective);
    if (counts && mer_online_plan(NULL, search, evaluator, &plan, &planner)) {
        add_start(s, search, problem, &plan);
    }
}

static void make_starts(State *s, const MerSearch *search, const MerProblem *problem,
                        const MerEvaluator *evaluator)
{
    MerJobsPlan plans[MER_LIST_STARTS];
    int         count = mer_list_starts(s->schedule, mer_bandwidth_rules(evaluator), search->notes,
                                        search->arena, plans);
    for (int i = 0; i < count; i++) {
        add_start(s, search, problem, &plans[i]);
    }
    add_online_start(s, search, problem, evaluator);
    s->starts_left = s->start_count;
}

/* Small groups are handed on. Without a proof annealing follows, from the best plan found so far. */
static void try_exact(State *s, const MerSearch *search, const MerProblem *problem,
                      const MerEvaluator *evaluator)
{
    const MerOptimizerClass *exact = &mer_optimizer_exact_schedule;
    /* a fraction of a second; alone exact_schedule takes 50 times as many */
    const MerReference chosen_steps = {exact->name, 1, &(const char *){"steps"},
                                       &(const char *){"1000000"}};
    if (s->schedule->job_count > SMALL) {
        return;
    }
    void *state = mer_arena_alloc(search->arena, exact->state_size);
    void *chosen = mer_arena_alloc(search->arena, exact->options_size);
    if (mer_options_fill(exact->options, NULL, chosen, &chosen_steps, search->arena, NULL) ==
            MER_OK &&
        exact->open_problem(state, search, problem, evaluator, chosen, NULL) == MER_OK) {
        s->exact = state;
    }
}

static MerStatus open_list_annealing(void *state, const MerSearch *search,
                                     const MerProblem *problem, const MerEvaluator *evaluator,
                                     const void *given, MerError *error)
{
    State             *s = state;
    const MerSchedule *schedule;
    MER_TRY(mer_list_begin("list_annealing", problem, &schedule, error));
    if (search->space->knob_count != problem->space.knob_count) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "list_annealing moves all jobs, it cannot work with fixed knobs "
                             "(annealing and magma can)");
    }
    *s = (State){.schedule = schedule,
                 .space = search->space,
                 .options = *(const Options *)given,
                 .score = INFINITY,
                 .best_score = INFINITY,
                 .now_index = -1};
    int64_t parts = ((int64_t)1 << s->options.rounds) - 1; /* 1 + 2 + 4 + ... */
    s->round_length =
        search->budget == INT64_MAX ? s->options.first_round : search->budget / parts + 1;
    int jobs = schedule->job_count;
    s->knob = MER_ARRAY(search->arena, int, jobs + 1);
    s->now = MER_ARRAY(search->arena, MerIndex, s->space->knob_count + 1);
    s->best = MER_ARRAY(search->arena, MerIndex, s->space->knob_count + 1);
    mer_queues_begin(&s->queues, schedule, search->rng, s->options.swap, search->arena);
    for (int i = 0; i < jobs; i++) {
        s->knob[schedule->order[i]] = i;
    }
    prepare_screen(s, search, evaluator);
    try_exact(s, search, problem, evaluator);
    make_starts(s, search, problem, evaluator);
    return MER_OK;
}

static double temperature(const State *s)
{
    double progress = fmin(1, (double)(s->done - s->round_start) / (double)s->round_length);
    double least = 0.5 / s->schedule->job_count;
    double hot = s->round_start == 0 ? fmax(s->options.hot, least) : s->options.restart_hot;
    return s->scale * hot * pow(s->options.cold / hot, progress);
}

/* Priorities of a queue, spread evenly. */
static void write_queue(const State *s, int unit, MerIndex *point)
{
    int jobs = s->schedule->job_count;
    int length = s->queues.length[unit];
    for (int i = 0; i < length; i++) {
        int knob = s->knob[s->queues.queue[unit][i]];
        point[knob] = unit;
        point[jobs + knob] = (MerIndex)((double)PRIORITIES * (i + 0.5) / length);
    }
}

static void copy_point(const State *s, MerIndex *to, const MerIndex *from)
{
    memcpy(to, from, (size_t)s->space->knob_count * sizeof *to);
}

static bool proof(const void *state, MerBound *bound)
{
    const State *s = state;
    return s->exact && mer_optimizer_exact_schedule.proof(s->exact, bound);
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    if (s->exact && !s->is_exact_done) {
        int      count = mer_optimizer_exact_schedule.ask(s->exact, proposals, capacity);
        MerBound bound;
        s->is_exact_done = count == 0;
        if (count > 0 || (proof(s, &bound) && strcmp(bound.kind, "optimum") == 0)) {
            return count;
        }
    }
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
    s->is_asked = mer_queues_anneal(&s->queues, s->score, temperature(s), &s->threshold);
    copy_point(s, proposals[0].point, s->now);
    if (s->is_asked) {
        write_queue(s, s->queues.changed[0], proposals[0].point);
        write_queue(s, s->queues.changed[1], proposals[0].point);
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
    s->starts_left -= !trial->warm && (!s->exact || s->is_exact_done);
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
        if (trials[i].score < s->best_score && !trials[i].cost->cut) {
            s->best_score = trials[i].score;
            copy_point(s, s->best, trials[i].point);
        }
        if (trials[i].warm || s->starts_left > 0) {
            tell_start(s, &trials[i]);
        } else if (trials[i].score <= s->threshold && !trials[i].cost->cut) {
            settle(s, &trials[i]);
        } else if (s->is_asked) {
            mer_queues_undo(&s->queues);
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
    .proof = proof,
};
