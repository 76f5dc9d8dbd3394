/* A plain genetic algorithm on any space: tournament selection, uniform crossover, mutation of single
 * knobs, elites (docs/optimizers.md, "Black boxes"). Elites are carried over, not priced again.
 * AutoTVM's form (`preset=autotvm`) has parents by fitness, one-point crossover and no point twice. */
#include "base/option_rows.h"
#include "base/stats.h"
#include "opt/tuner.h"

#include <math.h>
#include <string.h>

typedef struct Options {
    int64_t population, tournament;
    double  crossover, mutation, elite;
    int     parents, crossing;
    bool    unique;
} Options;

enum { TOURNAMENT, FITNESS };
enum { UNIFORM, POINT };

static const MerOption options[] = {
    MER_INT(population, "100", 2, 100000, "points per generation"),
    MER_INT(tournament, "2", 1, 1000, "points drawn to choose one parent"),
    MER_REAL(crossover, "0.9", 0, 1, "probability that a child mixes two parents"),
    MER_REAL(mutation, "0", 0, 1, "probability that a knob changes; 0 means 1/knobs"),
    MER_REAL(elite, "0.05", 0, 0.9, "share of the population that survives"),
    MER_CHOICE(parents, "tournament", "tournament|fitness",
               "how they are chosen; fitness: in proportion to best / score"),
    MER_CHOICE(crossing, "uniform", "uniform|point",
               "knob by knob, or all knobs after a random one"),
    MER_BOOL(unique, "false",
             "no point twice, and none that is known to be illegal; ends when all were tried"),
    {0}};

static const MerPreset presets[] = {
    {"autotvm", "population=100,elite=0.03,mutation=0.1,crossover=1,parents=fitness,crossing=point,"
                "unique=true"},
    {NULL, NULL}};

typedef struct State {
    const MerSpace *space;
    MerRng         *rng;
    uint64_t        seed; /* of the children: each has random numbers of its own */
    int64_t         born; /* children so far */
    Options         options;
    int             population, elites;
    MerIndex       *genes, *next_genes; /* population x knobs */
    double         *scores, *next_scores;
    int             filled;  /* of the next generation, elites included */
    int             parents; /* of the present one; 0: the first is still random */
    int            *order;
    MerTuner        tuner; /* what was tried, with unique=true */
    double          best;  /* score of all so far */
} State;

static MerStatus open_genetic(void *state, const MerSearch *search, const void *given,
                              MerError *error)
{
    (void)error;
    State *s = state;
    size_t knobs = (size_t)search->space->knob_count;
    *s = (State){.space = search->space, .rng = search->rng, .options = *(const Options *)given};
    mer_tuner_open(&s->tuner, search, 0);
    s->seed = s->options.unique ? 0 : mer_rng_next(s->rng);
    s->best = INFINITY;
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

/* Scores of maximised metrics are negative. */
static double fitness(const State *s, double score)
{
    if (!isfinite(score)) {
        return 0;
    }
    return s->best < 0 ? fmax(0, score / s->best) : score > 0 ? s->best / score : 1;
}

/* In proportion to fitness; any where none is feasible. */
static int choose_fit(const State *s, MerRng *rng)
{
    double total = 0;
    for (int i = 0; i < s->parents; i++) {
        total += fitness(s, s->scores[i]);
    }
    double at = mer_rng_unit(rng) * total;
    for (int i = 0; i < s->parents && total > 0; i++) {
        at -= fitness(s, s->scores[i]);
        if (at < 0) {
            return i;
        }
    }
    return mer_rng_below(rng, s->parents);
}

static int choose_parent(const State *s, MerRng *rng)
{
    if (s->options.parents == FITNESS) {
        return choose_fit(s, rng);
    }
    int best = mer_rng_below(rng, s->parents);
    for (int i = 1; i < s->options.tournament; i++) {
        int rival = mer_rng_below(rng, s->parents);
        best = s->scores[rival] < s->scores[best] ? rival : best;
    }
    return best;
}

static void breed(const State *s, MerRng *rng, MerIndex *child)
{
    int             mother = choose_parent(s, rng), father = choose_parent(s, rng);
    const MerIndex *parents[] = {individual(s, s->genes, mother), individual(s, s->genes, father)};
    bool            is_mixed = mer_rng_unit(rng) < s->options.crossover;
    int             knobs = s->space->knob_count, cut = knobs;
    if (s->options.crossing == POINT && is_mixed && knobs > 0) {
        cut = mer_rng_below(rng, knobs);
        is_mixed = false;
    }
    MerRng drawing = *rng; /* of our own, so that it can stay in registers */
    for (int k = 0; k < knobs; k++) {
        int of = k >= cut || (is_mixed && mer_rng_below(&drawing, 2));
        child[k] = parents[of][k]; /* looked up, as no processor can guess where a jump would go */
        if (mer_rng_unit(&drawing) < s->options.mutation) {
            child[k] = mer_rng_below(&drawing, s->space->knobs[k].choices);
        }
    }
    *rng = drawing;
}

/* Changes one knob after another until the child is new; false: nothing new is left. */
static bool make_new(State *s, MerIndex *child)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES && s->space->knob_count > 0; i++) {
        if (mer_tuner_is_new(&s->tuner, child)) {
            return true;
        }
        int k = mer_rng_below(s->rng, s->space->knob_count);
        child[k] = mer_rng_below(s->rng, s->space->knobs[k].choices);
    }
    return mer_tuner_sample(&s->tuner, s->rng, child);
}

static int ask_unique(State *s, MerProposal *proposals, int count)
{
    mer_tuner_needs_plan(&s->tuner); /* forgets what was handed out */
    for (int i = 0; i < count; i++) {
        MerIndex *child = proposals[i].point;
        if (s->parents == 0) {
            mer_tuner_add_random(&s->tuner, count);
            break;
        }
        breed(s, s->rng, child);
        if (!make_new(s, child)) {
            break;
        }
        mer_tuner_add(&s->tuner, child);
    }
    return mer_tuner_ask(&s->tuner, proposals, count);
}

static int children_left(const State *s, int most)
{
    int left = s->population - s->filled;
    return left < most ? left : most;
}

static int walks(void *state, int most, int64_t *steps)
{
    const State *s = state;
    *steps = 1;
    return s->options.unique ? 0 : children_left(s, most);
}

static size_t bytes_of_point(const State *s)
{
    return (size_t)s->space->knob_count * sizeof(MerIndex);
}

/* A child goes to its place in the next generation, too: what a thread wrote itself it need not fetch from another. */
static void walk(void *state, int number, int step, const MerTrial *last, MerProposal *proposal)
{
    const State *s = state;
    MerIndex    *child = individual(s, s->next_genes, s->filled + number);
    (void)step;
    (void)last;
    MerRng rng = mer_rng_make(s->seed, (uint64_t)(s->born + number));
    if (s->parents == 0) {
        mer_space_sample(s->space, &rng, child);
    } else {
        breed(s, &rng, child);
    }
    memcpy(proposal->point, child, bytes_of_point(s));
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    return s->options.unique ? ask_unique(s, proposals, children_left(s, capacity))
                             : mer_walks_ask(walks, walk, state, proposals, capacity);
}

static void keep(State *s, const MerIndex *point, double score)
{
    memcpy(individual(s, s->next_genes, s->filled), point, bytes_of_point(s));
    s->next_scores[s->filled++] = score;
}

/* The best parents go into the first places of `order`, equal ones as they come. A few are quicker inserted than all
 * are sorted, and all threads wait for it. */
static void choose_elites(State *s)
{
    enum { FEW = 32 };
    if (s->elites > FEW) {
        mer_sort_order(s->scores, s->parents, s->order);
        return;
    }
    for (int i = 0; i < s->parents; i++) {
        int at = i < s->elites ? i : s->elites;
        for (; at > 0 && s->scores[i] < s->scores[s->order[at - 1]]; at--) {
            s->order[at] = s->order[at - 1]; /* the last one falls out */
        }
        s->order[at] = i;
    }
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
    choose_elites(s);
    for (int i = 0; i < s->elites; i++) {
        keep(s, individual(s, s->genes, s->order[i]), s->scores[s->order[i]]);
    }
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        s->born += !trials[i].warm;
        s->best = fmin(s->best, trials[i].score);
        if (trials[i].warm || s->options.unique) {
            keep(s, trials[i].point, trials[i].score);
        } else { /* the child is there */
            s->next_scores[s->filled++] = trials[i].score;
        }
        if (s->filled == s->population) {
            turn_generation(s);
        }
    }
}

static void close_genetic(void *state)
{
    mer_tuner_close(&((State *)state)->tuner);
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
    .presets = presets,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_genetic,
    .ask = ask,
    .tell = tell,
    .walks = walks,
    .walk = walk,
    .population = population,
    .close = close_genetic,
};
