/* A plain genetic algorithm on any space: tournament selection, uniform crossover, mutation of single
 * knobs, elites (docs/optimizers.md, "Black boxes"). Elites are carried over, not priced again. */
#include "base/stats.h"
#include "mercator/search.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct Options {
    int64_t population, tournament;
    double  crossover, mutation, elite;
} Options;

static const MerOption options[] = {
    {"population", MER_OPTION_INT, offsetof(Options, population), "100", 2, 100000, NULL,
     "points per generation"},
    {"tournament", MER_OPTION_INT, offsetof(Options, tournament), "2", 1, 1000, NULL,
     "points drawn to choose one parent"},
    {"crossover", MER_OPTION_REAL, offsetof(Options, crossover), "0.9", 0, 1, NULL,
     "probability that a child mixes two parents"},
    {"mutation", MER_OPTION_REAL, offsetof(Options, mutation), "0", 0, 1, NULL,
     "probability that a knob changes; 0 means 1/knobs"},
    {"elite", MER_OPTION_REAL, offsetof(Options, elite), "0.05", 0, 0.9, NULL,
     "share of the population that survives"},
    {0}};

typedef struct State {
    const MerSpace *space;
    MerRng         *rng;
    Options         options;
    int             population, elites;
    MerIndex       *genes, *next_genes; /* population x knobs */
    double         *scores, *next_scores;
    int             filled;  /* of the next generation, elites included */
    int             parents; /* of the present one; 0: the first is still random */
    int            *order;
} State;

static MerStatus open_genetic(void *state, const MerSearch *search, const void *given,
                              MerError *error)
{
    (void)error;
    State *s = state;
    size_t knobs = (size_t)search->space->knob_count;
    *s = (State){.space = search->space, .rng = search->rng, .options = *(const Options *)given};
    s->population = (int)s->options.population;
    s->elites = (int)(s->options.elite * s->population);
    if (s->options.mutation == 0) {
        s->options.mutation = 1.0 / fmax(1, (double)knobs);
    }
    size_t genes = (size_t)s->population * knobs + 1;
    s->genes = MER_ARRAY(search->arena, MerIndex, genes);
    s->next_genes = MER_ARRAY(search->arena, MerIndex, genes);
    s->scores = MER_ARRAY(search->arena, double, s->population);
    s->next_scores = MER_ARRAY(search->arena, double, s->population);
    s->order = MER_ARRAY(search->arena, int, s->population);
    return MER_OK;
}

static MerIndex *individual(const State *s, MerIndex *genes, int i)
{
    return genes + (size_t)i * (size_t)s->space->knob_count;
}

static int choose_parent(State *s)
{
    int best = mer_rng_below(s->rng, s->parents);
    for (int i = 1; i < s->options.tournament; i++) {
        int rival = mer_rng_below(s->rng, s->parents);
        best = s->scores[rival] < s->scores[best] ? rival : best;
    }
    return best;
}

static void breed(State *s, MerIndex *child)
{
    const MerIndex *mother = individual(s, s->genes, choose_parent(s));
    const MerIndex *father = individual(s, s->genes, choose_parent(s));
    bool            is_mixed = mer_rng_unit(s->rng) < s->options.crossover;
    for (int k = 0; k < s->space->knob_count; k++) {
        child[k] = is_mixed && mer_rng_below(s->rng, 2) ? father[k] : mother[k];
        if (mer_rng_unit(s->rng) < s->options.mutation) {
            child[k] = mer_rng_below(s->rng, s->space->knobs[k].choices);
        }
    }
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    int    wanted = s->population - s->filled;
    int    count = wanted < capacity ? wanted : capacity;
    for (int i = 0; i < count; i++) {
        if (s->parents == 0) {
            mer_space_sample(s->space, s->rng, proposals[i].point);
        } else {
            breed(s, proposals[i].point);
        }
    }
    return count;
}

static void keep(State *s, const MerIndex *point, double score)
{
    size_t bytes = (size_t)s->space->knob_count * sizeof *point;
    memcpy(individual(s, s->next_genes, s->filled), point, bytes);
    s->next_scores[s->filled++] = score;
}

static void turn_generation(State *s)
{
    MerIndex *genes = s->genes;
    double   *scores = s->scores;
    s->genes = s->next_genes;
    s->scores = s->next_scores;
    s->next_genes = genes;
    s->next_scores = scores;
    s->parents = s->filled;
    s->filled = 0;
    mer_sort_order(s->scores, s->parents, s->order);
    for (int i = 0; i < s->elites; i++) {
        keep(s, individual(s, s->genes, s->order[i]), s->scores[s->order[i]]);
    }
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        keep(s, trials[i].point, trials[i].score);
        if (s->filled == s->population) {
            turn_generation(s);
        }
    }
}

static int64_t population(const void *options)
{
    return ((const Options *)options)->population;
}

const MerOptimizerClass mer_optimizer_genetic = {
    .name = "genetic",
    .summary = "genetic algorithm: tournaments, uniform crossover, mutation, elites",
    .reference = "Holland, Adaptation in Natural and Artificial Systems, 1975",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_genetic,
    .ask = ask,
    .tell = tell,
    .population = population,
};
