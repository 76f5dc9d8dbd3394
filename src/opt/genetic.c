/* A plain genetic algorithm on any space: tournament selection, uniform crossover, mutation of single
 * knobs, elites (docs/optimizers.md, "Black boxes"). Elites are carried over, not priced again.
 * Long searches have several populations, islands, which know nothing of each other between two meetings: each is a walk
 * that a thread can go. With one population every child of a generation is a walk of one step.
 * AutoTVM's form (`preset=autotvm`) has parents by fitness, one-point crossover and no point twice. */
#include "base/option_rows.h"
#include "base/stats.h"
#include "opt/tuner.h"

#include <math.h>
#include <string.h>

typedef struct Options {
    int64_t population, tournament, islands, meetings;
    double  crossover, mutation, elite;
    int     parents, crossing;
    bool    unique;
} Options;

enum { TOURNAMENT, FITNESS };
enum { UNIFORM, POINT };

static const MerOption options[] = {
    MER_INT(population, "100", 2, 100000, "points per generation"),
    MER_INT(islands, "0", 0, 4096,
            "populations side by side, at most one per point of a batch; 0: 16 where each can have "
            "100 generations and all take at most 256 MB, else 1; with unique=true 1"),
    MER_INT(meetings, "10", 1, 1e6,
            "generations from one time that an island gets its neighbour's best point to the next"),
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

typedef struct Island {
    char      apart[MER_WALKS_APART];
    MerIndex *genes, *next_genes; /* population x knobs */
    double   *scores, *next_scores;
    int      *order;
    int       filled;  /* of the next generation, elites included */
    int       parents; /* of the present one; 0: the first is still random */
    double    best;    /* score of all so far */
} Island;

typedef struct State {
    const MerSpace *space;
    MerRng         *rng;
    uint64_t        seed;               /* of the children: each has random numbers of its own */
    int64_t         born, next_meeting; /* children so far, and at the next meeting */
    Options         options;
    Island         *islands;
    int             island_count, walking; /* islands or children, at the end of the budget fewer */
    int             population, elites;
    MerTuner        tuner; /* what was tried, with unique=true */
} State;

static void plan_meeting(State *s)
{
    s->next_meeting = s->born + (int64_t)s->island_count * s->population * s->options.meetings;
}

/* Where 16 populations would take more than 256 MB there is one. Each is a walk of its own, and a batch has no more walks than
 * points: an island too many would have no children, and pass nothing on at meetings. */
static int count_islands(const Options *options, const MerSearch *search)
{
    enum { USUAL = 16, GENERATIONS = 100, MOST_GENES = 1 << 21 };
    int64_t budget = search->budget, people = options->population, count = options->islands;
    bool    is_long = budget < INT64_MAX && budget / (USUAL * GENERATIONS) >= people &&
                   people * search->space->knob_count <= MOST_GENES;
    count = options->unique ? 1 : count > 0 ? count : is_long ? USUAL : 1;
    return (int)(search->batch > 0 && search->batch < count ? search->batch : count);
}

static MerIndex *make_genes(const State *s, MerArena *arena)
{
    size_t genes = (size_t)s->population * (size_t)s->space->knob_count;
    return mer_arena_alloc(arena, genes * sizeof(MerIndex) + MER_WALKS_APART);
}

static void make_island(const State *s, Island *island, MerArena *arena)
{
    island->best = INFINITY;
    island->genes = make_genes(s, arena);
    island->next_genes = make_genes(s, arena);
    island->scores = MER_ARRAY(arena, double, s->population);
    island->next_scores = MER_ARRAY(arena, double, s->population);
    island->order = MER_ARRAY(arena, int, s->population + MER_WALKS_APART / (int)sizeof(int));
}

static MerStatus open_genetic(void *state, const MerSearch *search, const void *given,
                              MerError *error)
{
    (void)error;
    State *s = state;
    *s = (State){.space = search->space, .rng = search->rng, .options = *(const Options *)given};
    mer_tuner_open(&s->tuner, search, 0);
    s->seed = s->options.unique ? 0 : mer_rng_next(s->rng);
    s->population = (int)s->options.population;
    s->elites = (int)(s->options.elite * s->population);
    if (s->options.mutation == 0) {
        s->options.mutation = 1.0 / fmax(1, (double)search->space->knob_count);
    }
    s->island_count = count_islands(&s->options, search);
    if (s->options.unique && s->options.islands > 1 && search->task == 0) {
        mer_note(search->notes, "warning",
                 "\"with unique=true there is one population: islands is not used\"");
    }
    s->islands = MER_ARRAY(search->arena, Island, s->island_count);
    for (int i = 0; i < s->island_count; i++) {
        make_island(s, &s->islands[i], search->arena);
    }
    plan_meeting(s);
    return MER_OK;
}

static MerIndex *individual(const State *s, MerIndex *genes, int i)
{
    return genes + (size_t)i * (size_t)s->space->knob_count;
}

/* Scores of maximised metrics are negative. */
static double fitness(const Island *island, double score)
{
    if (!isfinite(score)) {
        return 0;
    }
    return island->best < 0 ? fmax(0, score / island->best) : score > 0 ? island->best / score : 1;
}

/* In proportion to fitness; any where none is feasible. */
static int choose_fit(const Island *island, MerRng *rng)
{
    double total = 0;
    for (int i = 0; i < island->parents; i++) {
        total += fitness(island, island->scores[i]);
    }
    double at = mer_rng_unit(rng) * total;
    for (int i = 0; i < island->parents && total > 0; i++) {
        at -= fitness(island, island->scores[i]);
        if (at < 0) {
            return i;
        }
    }
    return mer_rng_below(rng, island->parents);
}

static int choose_parent(const State *s, const Island *island, MerRng *rng)
{
    if (s->options.parents == FITNESS) {
        return choose_fit(island, rng);
    }
    int best = mer_rng_below(rng, island->parents);
    for (int i = 1; i < s->options.tournament; i++) {
        int rival = mer_rng_below(rng, island->parents);
        best = island->scores[rival] < island->scores[best] ? rival : best;
    }
    return best;
}

static void breed(const State *s, const Island *island, MerRng *rng, MerIndex *child)
{
    int             mother = choose_parent(s, island, rng);
    int             father = choose_parent(s, island, rng);
    const MerIndex *parents[] = {individual(s, island->genes, mother),
                                 individual(s, island->genes, father)};
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
        if (s->islands->parents == 0) {
            mer_tuner_add_random(&s->tuner, count);
            break;
        }
        breed(s, s->islands, s->rng, child);
        if (!make_new(s, child)) {
            break;
        }
        mer_tuner_add(&s->tuner, child);
    }
    return mer_tuner_ask(&s->tuner, proposals, count);
}

static size_t bytes_of_point(const State *s)
{
    return (size_t)s->space->knob_count * sizeof(MerIndex);
}

/* The best parents go into the first places of `order`, equal ones as they come. A few are quicker inserted than all
 * are sorted, and all threads wait for it. */
static void choose_elites(const State *s, Island *island)
{
    enum { FEW = 32 };
    if (s->elites > FEW) {
        mer_sort_order(island->scores, island->parents, island->order);
        return;
    }
    for (int i = 0; i < island->parents; i++) {
        int at = i < s->elites ? i : s->elites;
        for (; at > 0 && island->scores[i] < island->scores[island->order[at - 1]]; at--) {
            island->order[at] = island->order[at - 1]; /* the last one falls out */
        }
        island->order[at] = i;
    }
}

static void turn_generation(const State *s, Island *island)
{
    MerIndex *genes = island->genes;
    double   *scores = island->scores;
    island->genes = island->next_genes;
    island->scores = island->next_scores;
    island->next_genes = genes;
    island->next_scores = scores;
    island->parents = island->filled;
    choose_elites(s, island);
    for (island->filled = 0; island->filled < s->elites; island->filled++) {
        int from = island->order[island->filled];
        memcpy(individual(s, genes, island->filled), individual(s, island->genes, from),
               bytes_of_point(s));
        scores[island->filled] = island->scores[from];
    }
}

/* A child is in its place already: what a thread wrote itself it need not fetch from another. */
static void take_child(const State *s, Island *island, double score)
{
    island->best = fmin(island->best, score);
    island->next_scores[island->filled++] = score;
    if (island->filled == s->population) {
        turn_generation(s, island);
    }
}

static void take_stranger(const State *s, Island *island, const MerIndex *point, double score)
{
    memcpy(individual(s, island->next_genes, island->filled), point, bytes_of_point(s));
    take_child(s, island, score);
}

static int children_left(const State *s, int most)
{
    int left = s->population - s->islands->filled;
    return left < most ? left : most;
}

static int walks(void *state, int most, int64_t *steps)
{
    State *s = state;
    if (s->options.unique) {
        return 0;
    }
    if (s->island_count == 1) {
        *steps = 1;
        s->walking = children_left(s, most);
    } else {
        s->walking = s->island_count < most ? s->island_count : most;
        *steps = (s->next_meeting - s->born + s->walking - 1) / s->walking;
    }
    return s->walking;
}

static void walk(void *state, int number, int step, const MerTrial *last, MerProposal *proposal)
{
    const State *s = state;
    bool         is_alone = s->island_count == 1;
    Island      *island = &s->islands[is_alone ? 0 : number];
    if (last != NULL) {
        take_child(s, island, last->score);
    }
    int       place = island->filled + (is_alone ? number : 0);
    MerIndex *child = individual(s, island->next_genes, place);
    MerRng rng = mer_rng_make(s->seed, (uint64_t)(s->born + (int64_t)step * s->walking + number));
    if (island->parents == 0) {
        mer_space_sample(s->space, &rng, child);
    } else {
        breed(s, island, &rng, child);
    }
    memcpy(proposal->point, child, bytes_of_point(s));
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    return s->options.unique ? ask_unique(s, proposals, children_left(s, capacity))
                             : mer_walks_ask(walks, walk, state, proposals, capacity);
}

/* Each island gets the best parent of the one before it, as one of its next generation. */
static void meet(State *s)
{
    for (int i = 0; i < s->island_count; i++) {
        const Island *from = &s->islands[i];
        int           best = 0;
        for (int p = 1; p < from->parents; p++) {
            best = from->scores[p] < from->scores[best] ? p : best;
        }
        if (from->parents > 0) {
            take_stranger(s, &s->islands[(i + 1) % s->island_count],
                          individual(s, from->genes, best), from->scores[best]);
        }
    }
    plan_meeting(s);
}

static void go_on(State *s, int64_t born)
{
    s->born += born;
    if (s->island_count > 1 && s->born >= s->next_meeting) {
        meet(s);
    }
}

/* Of the steps of a walk all but the last have been taken on the way. */
static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    int    born = 0;
    for (int i = 0; i < count; i++) {
        Island *island = &s->islands[i % s->island_count];
        if (trials[i].warm || s->options.unique) {
            take_stranger(s, island, trials[i].point, trials[i].score);
        } else if (s->island_count == 1) {
            take_child(s, island, trials[i].score);
        } else if (i >= count - s->walking) {
            take_child(s, &s->islands[i % s->walking], trials[i].score);
        }
        born += !trials[i].warm;
    }
    go_on(s, born);
}

static bool walked(void *state, const MerTrial *last, int count)
{
    State *s = state;
    for (int w = 0; w < s->walking; w++) {
        take_child(s, &s->islands[s->island_count == 1 ? 0 : w], last[w].score);
    }
    go_on(s, count);
    return true;
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
    .walked = walked,
    .population = population,
    .close = close_genetic,
};
