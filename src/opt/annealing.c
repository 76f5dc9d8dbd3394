/* Simulated annealing on any space (Kirkpatrick et al., Science 1983), as independent chains that walk
 * in step so that a batch can be priced in parallel. Temperatures are differences of log(score).
 * Without a budget the schedule runs in rounds of doubling length. */
#include "opt/elites.h"
#include "space/neighbours.h"
#include "space/positions.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct Options {
    int64_t chains, samples, rounds, first_round, meetings, transfer;
    double  hot, cold, lost;
} Options;

static const MerOption options[] = {
    {"chains", MER_OPTION_INT, offsetof(Options, chains), "8", 1, 4096, NULL, "walks side by side"},
    {"samples", MER_OPTION_INT, offsetof(Options, samples), "64", 1, 1e6, NULL,
     "random points a chain tries for a feasible start before it takes the best one known"},
    {"rounds", MER_OPTION_INT, offsetof(Options, rounds), "2", 1, 30, NULL,
     "times the temperature falls from hot to cold within the budget, each twice as long as the "
     "last"},
    {"first_round", MER_OPTION_INT, offsetof(Options, first_round), "20000", 100, 1e12, NULL,
     "evaluations of the first round when only a time is given"},
    {"meetings", MER_OPTION_INT, offsetof(Options, meetings), "10", 0, 1000, NULL,
     "times in a round that the worst chains go on from the best one"},
    {"lost", MER_OPTION_REAL, offsetof(Options, lost), "0.25", 0, 1, NULL,
     "share of the chains that do so"},
    {"hot", MER_OPTION_REAL, offsetof(Options, hot), "0.2", 1e-12, 1e6, NULL, "first temperature"},
    {"cold", MER_OPTION_REAL, offsetof(Options, cold), "0.001", 1e-12, 1e6, NULL,
     "last temperature"},
    {"transfer", MER_OPTION_INT, offsetof(Options, transfer), "0", 0, 1e6, NULL,
     "points of earlier tasks that a task tries first"},
    {0}};

typedef struct Chain {
    MerIndex *now;
    double    energy; /* +inf until a feasible point is found */
    int64_t   tries;  /* random points so far */
} Chain;

typedef struct State {
    const MerSearch *search;
    const MerSpace  *space;
    MerRng          *rng;
    Options          options;
    MerMoves         moves;
    Chain           *chains;
    int              chain_count, asked;
    MerElites        elites; /* of all tasks, with transfer */
    MerIndex        *best;
    double           best_energy;
    int64_t          done, round_start, round_length, next_meeting;
} State;

static void plan_meeting(State *s)
{
    int64_t parts = s->options.meetings + 1;
    s->next_meeting = s->done + (s->round_length + parts - 1) / parts;
}

static void begin(State *s, const MerSearch *search, Options options, MerElites elites)
{
    *s = (State){.search = search,
                 .space = search->space,
                 .rng = search->rng,
                 .options = options,
                 .elites = elites};
    s->chain_count = (int)s->options.chains;
    s->best_energy = INFINITY;
    int64_t parts = ((int64_t)1 << s->options.rounds) - 1; /* 1 + 2 + 4 + ... */
    s->round_length =
        search->budget == INT64_MAX ? s->options.first_round : search->budget / parts + 1;
    plan_meeting(s);
    s->chains = MER_ARRAY(search->arena, Chain, s->chain_count);
    s->best = MER_ARRAY(search->arena, MerIndex, search->space->knob_count + 1);
    for (int c = 0; c < s->chain_count; c++) {
        s->chains[c].now = MER_ARRAY(search->arena, MerIndex, search->space->knob_count + 1);
        s->chains[c].energy = INFINITY;
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

static double temperature(const State *s)
{
    double progress = (double)(s->done - s->round_start) / (double)s->round_length;
    return s->options.hot * pow(s->options.cold / s->options.hot, fmin(1, progress));
}

static void copy_point(const State *s, MerIndex *to, const MerIndex *from)
{
    memcpy(to, from, (size_t)s->space->knob_count * sizeof *to);
}

static void start_from_best(const State *s, Chain *chain)
{
    copy_point(s, chain->now, s->best);
    chain->energy = s->best_energy;
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    s->asked = s->chain_count < capacity ? s->chain_count : capacity;
    for (int c = 0; c < s->asked; c++) {
        Chain *chain = &s->chains[c];
        if (chain->energy == INFINITY && chain->tries >= s->options.samples) {
            start_from_best(s, chain);
        }
        const MerIndex *guess = mer_elites_guess(&s->elites);
        if (guess != NULL) {
            copy_point(s, proposals[c].point, guess);
        } else if (chain->energy == INFINITY) {
            mer_space_sample(s->space, s->rng, proposals[c].point);
        } else {
            copy_point(s, proposals[c].point, chain->now);
            mer_moves_step(&s->moves, s->rng, proposals[c].point);
        }
        mer_search_ready(s->search, c + 1);
    }
    return s->asked;
}

static void keep_best(State *s, const MerIndex *point, double energy)
{
    if (energy < s->best_energy) {
        s->best_energy = energy;
        copy_point(s, s->best, point);
    }
}

/* Metropolis rule. */
static void step(State *s, Chain *chain, const MerIndex *point, double energy)
{
    double uphill = energy - chain->energy;
    bool   is_taken =
        energy < INFINITY && (uphill <= 0 || mer_rng_unit(s->rng) < exp(-uphill / temperature(s)));
    chain->tries++;
    if (is_taken) {
        copy_point(s, chain->now, point);
        chain->energy = energy;
    }
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

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        double energy = mer_log_score(trials[i].score);
        keep_best(s, trials[i].point, energy);
        if (s->options.transfer > 0) {
            mer_elites_offer(&s->elites, trials[i].point, trials[i].score);
        }
        if (trials[i].warm) {
            Chain *chain = &s->chains[i % s->chain_count];
            if (energy < chain->energy) {
                copy_point(s, chain->now, trials[i].point);
                chain->energy = energy;
                chain->tries = s->options.samples;
            }
        } else {
            step(s, &s->chains[i], trials[i].point, energy);
            s->done++;
        }
    }
    if (s->done - s->round_start >= s->round_length) {
        turn_round(s);
        plan_meeting(s);
    } else if (s->done >= s->next_meeting) {
        meet(s);
    }
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
    .next_task = next_task,
};
