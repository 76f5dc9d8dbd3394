/* Simulated annealing on any space (Kirkpatrick et al., Science 1983), as independent chains that walk
 * in step so that a batch can be priced in parallel. Temperatures are differences of log(score).
 * Without a budget the schedule runs in rounds of doubling length. */
#include "mercator/search.h"
#include "space/neighbours.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct Options {
    int64_t chains, samples, rounds, first_round;
    double  hot, cold;
} Options;

static const MerOption options[] = {
    {"chains", MER_OPTION_INT, offsetof(Options, chains), "8", 1, 4096, NULL, "walks side by side"},
    {"samples", MER_OPTION_INT, offsetof(Options, samples), "64", 1, 1e6, NULL,
     "random points a chain may try to find a feasible start"},
    {"rounds", MER_OPTION_INT, offsetof(Options, rounds), "3", 1, 1e6, NULL,
     "times the temperature falls from hot to cold within the budget"},
    {"first_round", MER_OPTION_INT, offsetof(Options, first_round), "20000", 100, 1e12, NULL,
     "evaluations of the first round when only a time is given"},
    {"hot", MER_OPTION_REAL, offsetof(Options, hot), "1.0", 1e-12, 1e6, NULL, "first temperature"},
    {"cold", MER_OPTION_REAL, offsetof(Options, cold), "0.001", 1e-12, 1e6, NULL, "last temperature"},
    {0}};

typedef struct Chain {
    MerIndex *now;
    double    energy; /* +inf until a feasible point is found */
    int64_t   tries;  /* random points so far */
} Chain;

typedef struct State {
    const MerSpace *space;
    MerRng         *rng;
    Options         options;
    MerMoves        moves;
    Chain          *chains;
    int             chain_count, asked;
    MerIndex       *best;
    double          best_energy;
    int64_t         done, round_start, round_length;
} State;

static MerStatus open_annealing(void *state, const MerSearch *search, const void *given, MerError *error)
{
    (void)error;
    State *s = state;
    *s = (State){.space = search->space, .rng = search->rng, .options = *(const Options *)given};
    s->chain_count = (int)s->options.chains;
    s->best_energy = INFINITY;
    s->round_length = search->budget == INT64_MAX ? s->options.first_round
                                                  : (search->budget + s->options.rounds - 1) / s->options.rounds;
    s->chains = MER_ARRAY(search->arena, Chain, s->chain_count);
    s->best = MER_ARRAY(search->arena, MerIndex, search->space->knob_count + 1);
    for (int c = 0; c < s->chain_count; c++) {
        s->chains[c].now = MER_ARRAY(search->arena, MerIndex, search->space->knob_count + 1);
        s->chains[c].energy = INFINITY;
    }
    mer_moves_make(&s->moves, search->space, search->arena);
    return MER_OK;
}

/* Scores of maximised metrics are negative; the order is kept and ratios become differences. */
static double energy_of(double score)
{
    return score > 0 ? log(score) : score < 0 ? -log(-score) : -INFINITY;
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

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    s->asked = s->chain_count < capacity ? s->chain_count : capacity;
    for (int c = 0; c < s->asked; c++) {
        Chain *chain = &s->chains[c];
        bool is_lost = chain->energy == INFINITY && chain->tries < s->options.samples;
        if (is_lost || chain->tries == 0) {
            mer_space_sample(s->space, s->rng, proposals[c].point);
        } else {
            copy_point(s, proposals[c].point, chain->now);
            mer_moves_step(&s->moves, s->rng, proposals[c].point);
        }
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

/* Metropolis rule. Between two infeasible points every step is taken: a random walk out of there. */
static void step(State *s, Chain *chain, const MerIndex *point, double energy)
{
    double uphill = energy - chain->energy;
    bool is_walk = chain->energy == INFINITY;
    bool is_taken = is_walk || uphill <= 0 || mer_rng_unit(s->rng) < exp(-uphill / temperature(s));
    chain->tries++;
    if (is_taken) {
        copy_point(s, chain->now, point);
        chain->energy = energy;
    }
}

/* Later rounds start again from the best point known. */
static void turn_round(State *s)
{
    s->round_start = s->done;
    s->round_length *= 2;
    for (int c = 0; c < s->chain_count && s->best_energy < INFINITY; c++) {
        copy_point(s, s->chains[c].now, s->best);
        s->chains[c].energy = s->best_energy;
    }
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        double energy = energy_of(trials[i].score);
        keep_best(s, trials[i].point, energy);
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
};
