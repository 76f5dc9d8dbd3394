/* Differential evolution (Storn and Price, Journal of Global Optimization 11, 1997) on the positions of
 * knobs in [0,1): rand/1/bin, or current-to-best/1. Members are compared as points, so a population
 * that has shrunk to a few points starts again around its best. */
#include "base/option_rows.h"
#include "mercator/search.h"
#include "space/positions.h"

#include <math.h>
#include <string.h>

enum { RAND_1, CURRENT_TO_BEST_1 };

typedef struct Options {
    int64_t population, patience;
    double  factor, best_factor, crossover;
    int     rule;
} Options;

static const MerOption options[] = {
    MER_INT(population, "30", 4, 100000, "members"),
    MER_REAL(factor, "0.5", 0, 2, "F, weight of a difference of members"),
    MER_REAL(best_factor, "0.8", 0, 2, "weight of the way to the best member (current_to_best)"),
    MER_REAL(crossover, "0.1", 0, 1, "CR, probability that a knob comes from the mutant"),
    MER_CHOICE(rule, "current_to_best", "rand|current_to_best", "how mutants are made"),
    MER_INT(patience, "20", 0, 1e9,
            "generations without a better member before all but the best are drawn anew; 0: never"),
    {0}};

/* Spaces of choices are rough: changing few knobs at a time finds more than the usual 0.9. */
static const MerPreset presets[] = {
    {"map", "population=50,rule=rand,factor=0.5,crossover=0.9,patience=0"},
    {"m3e",
     "population=100,rule=current_to_best,factor=0.8,best_factor=0.8,crossover=0.5,patience=0"},
    {NULL, NULL}};

typedef struct State {
    MerRng      *rng;
    Options      options;
    MerPositions positions;
    int          knobs, population;
    double      *members, *trials; /* population x knobs */
    double      *scores;
    int          next;       /* member whose trial is told next */
    int64_t      generation; /* 0: the first draw */
    int64_t      last_gain;  /* generation of the last improvement */
    int          best;
} State;

static MerStatus open_de(void *state, const MerSearch *search, const void *given, MerError *error)
{
    (void)error;
    State *s = state;
    *s = (State){
        .rng = search->rng, .options = *(const Options *)given, .knobs = search->space->knob_count};
    s->population = (int)s->options.population;
    size_t capacity = (size_t)s->population * (size_t)s->knobs + 1;
    s->members = MER_ARRAY(search->arena, double, capacity);
    s->trials = MER_ARRAY(search->arena, double, capacity);
    s->scores = MER_ARRAY(search->arena, double, s->population);
    for (int i = 0; i < s->population; i++) {
        s->scores[i] = INFINITY;
    }
    mer_positions_make(&s->positions, search->space, search->arena);
    return MER_OK;
}

static double *row(const State *s, double *vectors, int i)
{
    return vectors + (size_t)i * (size_t)s->knobs;
}

/* A member other than those in `taken`. */
static int draw_other(State *s, const int *taken, int count)
{
    for (;;) {
        int  drawn = mer_rng_below(s->rng, s->population);
        bool is_taken = false;
        for (int i = 0; i < count; i++) {
            is_taken = is_taken || taken[i] == drawn;
        }
        if (!is_taken) {
            return drawn;
        }
    }
}

static void make_trial(State *s, int i, double *trial)
{
    bool is_rand = s->options.rule == RAND_1;
    int  taken[4] = {i};
    for (int t = 1; t < 4; t++) {
        taken[t] = draw_other(s, taken, t);
    }
    const double *now = row(s, s->members, i);
    const double *base = is_rand ? row(s, s->members, taken[3]) : now;
    const double *a = row(s, s->members, taken[1]);
    const double *b = row(s, s->members, taken[2]);
    const double *best = row(s, s->members, s->best);
    double        pull = is_rand ? 0 : s->options.best_factor;
    int           forced = mer_rng_below(s->rng, s->knobs);
    for (int k = 0; k < s->knobs; k++) {
        bool   is_mutant = mer_rng_unit(s->rng) < s->options.crossover || k == forced;
        double mutant = base[k] + s->options.factor * (a[k] - b[k]) + pull * (best[k] - now[k]);
        trial[k] = is_mutant ? mer_position_mirror(mutant) : now[k];
    }
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    int    left = s->population - s->next;
    int    count = left < capacity ? left : capacity;
    for (int i = 0; i < count; i++) {
        double *trial = row(s, s->trials, s->next + i);
        /* no use in mixing what never worked */
        if (s->scores[s->next + i] == INFINITY || s->knobs == 0) {
            mer_positions_sample(&s->positions, s->rng, trial);
        } else {
            make_trial(s, s->next + i, trial);
        }
        mer_positions_to_point(&s->positions, trial, proposals[i].point);
    }
    return count;
}

/* All but the best are forgotten; their places are drawn anew. */
static void restart(State *s)
{
    for (int i = 0; i < s->population; i++) {
        s->scores[i] = i == s->best ? s->scores[i] : INFINITY;
    }
    s->last_gain = s->generation;
}

static void take(State *s, int i, const double *vector, double score)
{
    if (score <= s->scores[i]) {
        memcpy(row(s, s->members, i), vector, (size_t)s->knobs * sizeof *vector);
        s->last_gain = score < s->scores[i] ? s->generation : s->last_gain;
        s->scores[i] = score;
        s->best = score < s->scores[s->best] ? i : s->best;
    }
}

static void take_warm(State *s, const MerTrial *trial)
{
    int worst = 0;
    for (int i = 1; i < s->population; i++) {
        worst = s->scores[i] > s->scores[worst] ? i : worst;
    }
    double *capacity = row(s, s->trials, worst);
    mer_positions_from_point(&s->positions, trial->point, capacity);
    take(s, worst, capacity, trial->score);
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        if (trials[i].warm) {
            take_warm(s, &trials[i]);
            continue;
        }
        take(s, s->next, row(s, s->trials, s->next), trials[i].score);
        if (++s->next == s->population) {
            s->next = 0;
            s->generation++;
            if (s->options.patience > 0 && s->generation - s->last_gain > s->options.patience) {
                restart(s);
            }
        }
    }
}

static int64_t population(const void *options)
{
    return ((const Options *)options)->population;
}

const MerOptimizerClass mer_optimizer_de = {
    .name = "de",
    .summary = "differential evolution on knob positions",
    .reference = "Storn and Price, Journal of Global Optimization 11, 1997",
    .options = options,
    .presets = presets,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_de,
    .ask = ask,
    .tell = tell,
    .population = population,
};
