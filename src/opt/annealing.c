/* Simulated annealing on any space (Kirkpatrick et al., Science 1983), as chains with random numbers of their own,
 * which know nothing of each other between two meetings: each is a walk that a thread can go. Temperatures are
 * differences of log(score). Without a budget the schedule runs in rounds of doubling length. */
#include "base/option_rows.h"
#include "opt/elites.h"
#include "space/neighbours.h"
#include "space/positions.h"

#include <math.h>
#include <string.h>

typedef struct Options {
    int64_t chains, samples, rounds, first_round, meetings, transfer;
    double  hot, cold, lost;
} Options;

static const MerOption options[] = {
    MER_INT(chains, "0", 0, 4096,
            "walks side by side; 0: 8, or 16 where there are at least 20000 evaluations"),
    MER_INT(samples, "64", 1, 1e6,
            "random points a chain tries for a feasible start before it takes the best one known"),
    MER_INT(rounds, "2", 1, 30,
            "times the temperature falls from hot to cold within the budget, each twice as long as "
            "the last"),
    MER_INT(first_round, "20000", 100, 1e12,
            "evaluations of the first round when only a time is given"),
    MER_INT(meetings, "10", 0, 1000,
            "times in a round that the worst chains go on from the best one"),
    MER_REAL(lost, "0.25", 0, 1, "share of the chains that do so"),
    MER_REAL(hot, "0.2", 1e-12, 1e6, "first temperature"),
    MER_REAL(cold, "0.001", 1e-12, 1e6, "last temperature"),
    MER_INT(transfer, "0", 0, 1e6, "points of earlier tasks that a task tries first"),
    {0}};

typedef struct Chain {
    char            apart[MER_WALKS_APART];
    MerIndex       *now;
    double          energy; /* +inf until a feasible point is found */
    int64_t         tries;  /* random points so far */
    const MerIndex *guess;  /* of an earlier task, to be tried next; NULL: none */
    MerRng          rng;
} Chain;

typedef struct State {
    const MerSpace *space;
    Options         options;
    MerMoves        moves;
    Chain          *chains;
    int             chain_count, walking; /* the first of them, at the end of the budget */
    MerElites       elites;               /* of all tasks, with transfer */
    MerIndex       *best;
    double          best_score;
    int64_t         done, round_start, round_length, next_meeting;
} State;

static void plan_meeting(State *s)
{
    int64_t parts = s->options.meetings + 1;
    s->next_meeting = s->done + (s->round_length + parts - 1) / parts;
}

static void begin(State *s, const MerSearch *search, Options options, MerElites elites)
{
    uint64_t seed = mer_rng_next(search->rng);
    *s = (State){.space = search->space, .options = options, .elites = elites};
    /* more of them keep more threads and vectors busy; few evaluations are too short a walk for many */
    int64_t usual = search->budget < 20000 ? 8 : 16;
    s->chain_count = (int)(options.chains > 0 ? options.chains : usual);
    s->best_score = INFINITY;
    int64_t parts = ((int64_t)1 << s->options.rounds) - 1; /* 1 + 2 + 4 + ... */
    s->round_length =
        search->budget == INT64_MAX ? s->options.first_round : search->budget / parts + 1;
    plan_meeting(s);
    s->chains = MER_ARRAY(search->arena, Chain, s->chain_count);
    s->best = MER_ARRAY(search->arena, MerIndex, search->space->knob_count + 1);
    for (int c = 0; c < s->chain_count; c++) {
        s->chains[c].now = mer_arena_alloc(
            search->arena, (size_t)search->space->knob_count * sizeof(MerIndex) + MER_WALKS_APART);
        s->chains[c].energy = INFINITY;
        s->chains[c].rng = mer_rng_make(seed, (uint64_t)c);
    }
    mer_moves_make(&s->moves, search->space, search->arena);
    if (options.transfer > 0) {
        mer_elites_begin(&s->elites, search->space, search->arena, (int)options.transfer);
    }
}

static MerStatus open_annealing(void *state, const MerSearch *search, const void *given,
                                MerError *error)
{
    (void)error;
    begin(state, search, *(const Options *)given, (MerElites){0});
    return MER_OK;
}

static MerStatus next_task(void *state, const MerSearch *search, MerError *error)
{
    (void)error;
    State *s = state;
    begin(s, search, s->options, s->elites);
    return MER_OK;
}

static double temperature(const State *s, int64_t done)
{
    double progress = (double)(done - s->round_start) / (double)s->round_length;
    return s->options.hot * pow(s->options.cold / s->options.hot, fmin(1, progress));
}

static void copy_point(const State *s, MerIndex *to, const MerIndex *from)
{
    memcpy(to, from, (size_t)s->space->knob_count * sizeof *to);
}

static void start_from_best(const State *s, Chain *chain)
{
    copy_point(s, chain->now, s->best);
    chain->energy = mer_log_score(s->best_score);
}

static int64_t round_end(const State *s)
{
    return s->round_start + s->round_length;
}

/* Chains go on alone up to the next meeting; one without a start looks at the best one known after every step. */
static int walks(void *state, int most, int64_t *steps)
{
    State  *s = state;
    int64_t next = s->next_meeting < round_end(s) ? s->next_meeting : round_end(s);
    bool    is_start = false;
    s->walking = s->chain_count < most ? s->chain_count : most;
    for (int c = 0; c < s->walking; c++) {
        Chain *chain = &s->chains[c];
        if (chain->energy == INFINITY && chain->tries >= s->options.samples) {
            start_from_best(s, chain);
        }
        chain->guess = mer_elites_guess(&s->elites);
        is_start = is_start || chain->guess != NULL || chain->energy == INFINITY;
    }
    *steps = is_start || next <= s->done ? 1 : (next - s->done + s->walking - 1) / s->walking;
    return s->walking;
}

/* Metropolis rule; `done`: trials before this one. */
static void step(const State *s, Chain *chain, const MerTrial *trial, int64_t done)
{
    double energy = mer_log_score(trial->score);
    double uphill = energy - chain->energy;
    bool   is_taken = energy < INFINITY && (uphill <= 0 || mer_rng_unit(&chain->rng) <
                                                             exp(-uphill / temperature(s, done)));
    chain->tries++;
    if (is_taken) {
        copy_point(s, chain->now, trial->point);
        chain->energy = energy;
    }
}

static void walk(void *state, int number, int steps, const MerTrial *last, MerProposal *proposal)
{
    State *s = state;
    Chain *chain = &s->chains[number];
    if (last != NULL) {
        step(s, chain, last, s->done + (int64_t)(steps - 1) * s->walking + number);
    }
    if (chain->guess != NULL) {
        copy_point(s, proposal->point, chain->guess);
    } else if (chain->energy == INFINITY) {
        mer_space_sample(s->space, &chain->rng, proposal->point);
    } else {
        copy_point(s, proposal->point, chain->now);
        mer_moves_step(&s->moves, &chain->rng, proposal->point);
    }
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    return mer_walks_ask(walks, walk, state, proposals, capacity);
}

/* The chains that stand worst take the place of the one that stands best. */
static void meet(State *s)
{
    int lost = (int)(s->options.lost * s->chain_count);
    plan_meeting(s);
    for (int i = 0; i < lost; i++) {
        int best = 0;
        int worst = 0;
        for (int c = 1; c < s->chain_count; c++) {
            best = s->chains[c].energy < s->chains[best].energy ? c : best;
            worst = s->chains[c].energy > s->chains[worst].energy ? c : worst;
        }
        if (s->chains[best].energy < s->chains[worst].energy) {
            copy_point(s, s->chains[worst].now, s->chains[best].now);
            s->chains[worst].energy = s->chains[best].energy;
        }
    }
}

/* Later rounds start again from the best point known. */
static void turn_round(State *s)
{
    s->round_start = s->done;
    s->round_length *= 2;
    for (int c = 0; c < s->chain_count; c++) {
        start_from_best(s, &s->chains[c]);
    }
}

static void take_warm(State *s, Chain *chain, const MerTrial *trial)
{
    double energy = mer_log_score(trial->score);
    if (energy < chain->energy) {
        copy_point(s, chain->now, trial->point);
        chain->energy = energy;
        chain->tries = s->options.samples;
    }
}

static void go_on(State *s)
{
    if (s->done >= round_end(s)) {
        turn_round(s);
        plan_meeting(s);
    } else if (s->done >= s->next_meeting) {
        meet(s);
    }
}

/* Of the steps of a walk all but the last have been taken on the way. */
static void tell(void *state, const MerTrial *trials, int count)
{
    State  *s = state;
    int64_t done = s->done;
    for (int i = 0; i < count; i++) {
        if (trials[i].score < s->best_score) {
            s->best_score = trials[i].score;
            copy_point(s, s->best, trials[i].point);
        }
        if (s->options.transfer > 0) {
            mer_elites_offer(&s->elites, trials[i].point, trials[i].score);
        }
        if (trials[i].warm) {
            take_warm(s, &s->chains[i % s->chain_count], &trials[i]);
        } else if (i >= count - s->walking) {
            step(s, &s->chains[i % s->walking], &trials[i], done + i);
        }
        s->done += !trials[i].warm;
    }
    go_on(s);
}

static bool walked(void *state, const MerTrial *last, int count)
{
    State *s = state;
    if (s->options.transfer > 0) {
        return false; /* the elites may be among all of them */
    }
    for (int w = 0; w < s->walking; w++) {
        step(s, &s->chains[w], &last[w], s->done + count - s->walking + w);
    }
    s->done += count;
    go_on(s);
    return true;
}

const MerOptimizerClass mer_optimizer_annealing = {
    .name = "annealing",
    .summary = "simulated annealing with parallel chains and restarts from the best",
    .reference = "Kirkpatrick, Gelatt and Vecchi, Science 220, 1983",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_annealing,
    .ask = ask,
    .tell = tell,
    .walks = walks,
    .walk = walk,
    .walked = walked,
    .next_task = next_task,
};
