/* GAMMA, a genetic algorithm with operators of its domain (Kao and Krishna, ICCAD 2020; rates of the
 * authors' code, docs/optimizers.md, "GAMMA"). Operators find what they act on by the roles of knobs, so
 * they work on data-centric genomes, on loop nests and, with what is left of them, on any space. Tiles
 * inside larger than tiles outside cannot be said, so no repair is needed. */
#include "base/option_rows.h"
#include "mercator/search.h"
#include "opt/gamma_genome.h"

#include <math.h>
#include <string.h>

typedef struct Options {
    int64_t population;
    double  parents, parents_decay, elites;
    double  crossover, swap_order, mutate_tile, mutate_parallel, mutate_hardware, grow, kill;
    int64_t loci;
    bool    use_factor;
    int     start, second;
} Options;

enum { START_PAPER, START_UNIFORM };
static const MerMetric second_metrics[] = {MER_METRIC_ENERGY, MER_METRIC_CYCLES, MER_METRIC_COUNT};

static const MerOption options[] = {
    MER_INT(population, "100", 4, 100000, "points per generation"),
    MER_REAL(parents, "0.4", 0, 1, "best share that has offspring"),
    MER_REAL(parents_decay, "1", 0.01, 1, "what that share is multiplied with each generation"),
    MER_REAL(elites, "0.05", 0, 0.9, "best share that survives"),
    MER_REAL(crossover, "0.57", 0, 1, "probability that a pair swaps the tiles of a dimension"),
    MER_REAL(swap_order, "0.47", 0, 1, "probability that two loops of a level swap"),
    MER_REAL(mutate_tile, "0.53", 0, 1,
             "probability of each change of a tile, or of parallel dimension and cluster size"),
    MER_INT(loci, "3", 1, 1000, "such changes tried per child"),
    MER_REAL(mutate_parallel, "0.1", 0, 1,
             "probability that two levels swap their parallel dimensions"),
    MER_REAL(mutate_hardware, "0.53", 0, 1,
             "probability of another machine, where the space offers machines"),
    MER_REAL(grow, "0.57", 0, 1, "probability of one level more"),
    MER_REAL(kill, "0.27", 0, 1, "probability of one level less (aging)"),
    MER_BOOL(use_factor, "false", "new tiles only of sizes that divide their limit"),
    MER_CHOICE(start, "paper", "paper|uniform",
               "first population: inner tiles of 1, or uniform points"),
    MER_CHOICE(second, "energy", "energy|cycles|none", "what decides between equal scores"),
    {0}};

static const MerPreset presets[] = {{"gamma", "population=20"},
                                    {"archgym", "population=4,swap_order=0.9,grow=0.4,kill=0.5"},
                                    {NULL, NULL}};

typedef struct Member {
    MerIndex *point;
    double    score, second;
} Member;

typedef struct State {
    MerRng        *rng;
    Options        options;
    MerGammaGenome genome;
    int            knobs, population, elites;
    Member        *pool;               /* the best of the last generation, best first */
    int            pool_size, parents; /* 0: the first generation, or none was feasible */
    Member        *members;            /* of this generation: elites, then children */
    int            filled;
    int           *order;
    int64_t        generation;
    MerIndex      *sister; /* second child of a pair */
    bool           has_sister;
    int            started; /* points of a first generation handed out */
} State;

static Member *make_members(const State *s, MerArena *arena)
{
    Member *members = MER_ARRAY(arena, Member, s->population);
    for (int i = 0; i < s->population; i++) {
        members[i].point = MER_ARRAY(arena, MerIndex, s->knobs + 1);
    }
    return members;
}

static MerStatus open_gamma(void *state, const MerSearch *search, const void *given,
                            MerError *error)
{
    (void)error;
    State *s = state;
    *s = (State){
        .rng = search->rng, .options = *(const Options *)given, .knobs = search->space->knob_count};
    s->population = (int)s->options.population;
    s->elites = (int)(s->options.elites * s->population);
    s->elites = s->elites < s->population ? s->elites : s->population - 1;
    s->members = make_members(s, search->arena);
    s->pool = make_members(s, search->arena);
    s->order = MER_ARRAY(search->arena, int, s->population);
    s->sister = MER_ARRAY(search->arena, MerIndex, s->knobs + 1);
    mer_gamma_genome_make(&s->genome, search->space, search->arena);
    return MER_OK;
}

static bool is_lucky(State *s, double probability)
{
    return mer_rng_unit(s->rng) < probability;
}

static void mutate(State *s, MerIndex *child)
{
    const MerGammaGenome *genome = &s->genome;
    if (is_lucky(s, s->options.swap_order)) {
        mer_gamma_swap_order(genome, s->rng, child);
    }
    for (int64_t i = 0; i < s->options.loci; i++) {
        if (is_lucky(s, s->options.mutate_tile)) {
            mer_gamma_mutate_locus(genome, s->rng, s->options.use_factor, child);
        }
    }
    if (is_lucky(s, s->options.mutate_parallel)) {
        mer_gamma_swap_parallel(genome, s->rng, child);
    }
    if (is_lucky(s, s->options.mutate_hardware)) {
        mer_gamma_mutate_hardware(genome, s->rng, child);
    }
    if (is_lucky(s, s->options.grow)) {
        mer_gamma_change_levels(genome, s->rng, 1, child);
    }
    if (is_lucky(s, s->options.kill)) {
        mer_gamma_change_levels(genome, s->rng, -1, child);
    }
}

static void copy(const State *s, MerIndex *to, const MerIndex *from)
{
    memcpy(to, from, (size_t)s->knobs * sizeof *to);
}

/* Children come in pairs; the second waits for the next call. */
static void breed(State *s, MerIndex *child)
{
    if (s->has_sister) {
        copy(s, child, s->sister);
    } else {
        copy(s, child, s->pool[mer_rng_below(s->rng, s->parents)].point);
        copy(s, s->sister, s->pool[mer_rng_below(s->rng, s->parents)].point);
        if (is_lucky(s, s->options.crossover)) {
            mer_gamma_cross(&s->genome, s->rng, child, s->sister);
        }
    }
    s->has_sister = !s->has_sister;
    mutate(s, child);
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    int    left = s->population - s->filled;
    int    count = left < capacity ? left : capacity;
    for (int i = 0; i < count; i++) {
        if (s->parents > 0) {
            breed(s, proposals[i].point);
        } else if (s->options.start == START_UNIFORM) {
            mer_space_sample(s->genome.space, s->rng, proposals[i].point);
        } else {
            mer_gamma_start(&s->genome, s->rng, s->started++ < 2, proposals[i].point);
        }
    }
    return count;
}

static void put(const State *s, Member *to, const MerIndex *point, double score, double second)
{
    copy(s, to->point, point);
    to->score = score;
    to->second = second;
}

static bool is_before(const Member *a, const Member *b)
{
    return a->score < b->score || (a->score == b->score && a->second < b->second);
}

/* Indices of the members, best first, equal ones in the order they came. */
static void sort_members(State *s)
{
    for (int i = 0; i < s->filled; i++) {
        int place = i;
        for (; place > 0 && is_before(&s->members[i], &s->members[s->order[place - 1]]); place--) {
            s->order[place] = s->order[place - 1];
        }
        s->order[place] = i;
    }
}

static bool is_in_pool(const State *s, const Member *member)
{
    size_t bytes = (size_t)s->knobs * sizeof *member->point;
    for (int i = s->pool_size - 1; i >= 0 && s->pool[i].score == member->score; i--) {
        if (memcmp(s->pool[i].point, member->point, bytes) == 0) {
            return true;
        }
    }
    return false;
}

/* The best feasible points, each once, become parents; the first of them survive. */
static void turn_generation(State *s)
{
    double share = s->options.parents * pow(s->options.parents_decay, (double)s->generation++);
    int    wanted = (int)fmax(2, share * s->population);
    int    capacity = wanted > s->elites ? wanted : s->elites;
    sort_members(s);
    s->pool_size = 0;
    for (int i = 0; i < s->filled && s->pool_size < capacity; i++) {
        const Member *member = &s->members[s->order[i]];
        if (member->score < INFINITY && !is_in_pool(s, member)) {
            put(s, &s->pool[s->pool_size++], member->point, member->score, member->second);
        }
    }
    s->parents = s->pool_size < wanted ? s->pool_size : wanted;
    s->filled = s->pool_size < s->elites ? s->pool_size : s->elites;
    for (int i = 0; i < s->filled; i++) {
        put(s, &s->members[i], s->pool[i].point, s->pool[i].score, s->pool[i].second);
    }
    s->has_sister = false;
    s->started = 0;
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State    *s = state;
    MerMetric metric = second_metrics[s->options.second];
    for (int i = 0; i < count; i++) {
        double second = metric == MER_METRIC_COUNT ? 0 : trials[i].cost->value[metric];
        put(s, &s->members[s->filled++], trials[i].point, trials[i].score,
            isnan(second) ? 0 : second);
        if (s->filled == s->population) {
            turn_generation(s);
        }
    }
}

static int64_t population(const void *options)
{
    return ((const Options *)options)->population;
}

const MerOptimizerClass mer_optimizer_gamma = {
    .name = "gamma",
    .summary = "genetic algorithm with operators on tiles, loop orders, parallelism and levels",
    .reference = "Kao and Krishna, GAMMA, ICCAD 2020",
    .options = options,
    .presets = presets,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_gamma,
    .ask = ask,
    .tell = tell,
    .population = population,
};
