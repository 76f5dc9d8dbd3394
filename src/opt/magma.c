/* MAGMA (Kao and Krishna, HPCA 2022; docs/optimizers.md, "MAGMA"): a genetic algorithm on pairs of genes,
 * where a thing runs and how urgent it is. rules=paper, here, is the published method; rules=shipped is
 * the public program. A space without such pairs has one gene per knob, and the operator on cores does
 * nothing. */
#include "opt/magma.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { PAPER, SHIPPED };

#define RATE(field, initial, text)                                                                 \
    {                                                                                              \
#field, MER_OPTION_REAL, offsetof(MerMagmaOptions, field), initial, 0, 1, NULL, text       \
    }
static const MerOption options[] = {
    {"rules", MER_OPTION_CHOICE, offsetof(MerMagmaOptions, rules), "paper", 0, 0, "paper|shipped",
     "as the paper describes it, or as the public code behaves"},
    {"population", MER_OPTION_INT, offsetof(MerMagmaOptions, population), "100", 2, 100000, NULL,
     "children per generation"},
    RATE(elite, "0.05", "share of the population that survives"),
    RATE(parents, "0.1", "share of the population that has children"),
    RATE(crossover_gen, "0.9", "probability that a pair swaps the head or tail of one genome"),
    RATE(crossover_rg, "0.1", "probability that a pair swaps a range of both genomes"),
    RATE(crossover_accel, "0.1", "probability that a child takes over all jobs of one core"),
    RATE(mutation, "0.05", "probability that a gene becomes random"),
    RATE(exchange, "0", "probability that two cores of a child exchange all their jobs"),
    RATE(offload, "0", "probability that a job of the busiest core moves to the least busy one"),
    RATE(swap_units, "0", "probability that two jobs of a child exchange their cores"),
    {0}};

typedef struct State {
    const MerSpace  *space;
    const MerTable  *latency; /* hint, NULL if absent */
    MerRng          *rng;
    MerMagmaShipped *shipped; /* NULL: rules=paper */
    MerMagmaOptions  options;
    int              size, elites, parents; /* population, and how many of it */
    MerMagmaGenes    genes;
    MerIndex        *people, *next; /* (size + elites) x knobs */
    double          *scores, *next_scores;
    int              known; /* of `people`, priced and sorted; 0: none yet */
    int              batch; /* of `next` in this generation */
    int              asked, told;
    int              warm;
    double          *weights;
    int             *order;
} State;

static MerIndex *person(const State *s, MerIndex *people, int i)
{
    return people + (size_t)i * (size_t)s->space->knob_count;
}

static void copy(const State *s, MerIndex *to, const MerIndex *from)
{
    memcpy(to, from, (size_t)s->space->knob_count * sizeof *to);
}

MerMagmaGenes mer_magma_genes(const MerSpace *space, MerArena *arena)
{
    int           knobs = space->knob_count;
    int           largest = 0;
    MerMagmaGenes genes = {MER_ARRAY(arena, MerMagmaSite, knobs + 1), 0, 1, 0};
    for (int k = 0; k < knobs; k++) {
        largest = space->knobs[k].op > largest ? space->knobs[k].op : largest;
    }
    int *site_of = MER_ARRAY(arena, int, largest + 2); /* + 1; 0: none */
    for (int k = 0; k < knobs; k++) {
        const MerKnob *knob = &space->knobs[k];
        if (knob->role == MER_ROLE_PRIORITY && knob->op >= 0 && site_of[knob->op] > 0) {
            genes.sites[site_of[knob->op] - 1].gene[1] = k;
            genes.genomes = 2;
            continue;
        }
        genes.sites[genes.site_count] = (MerMagmaSite){{k, -1}};
        if (knob->role == MER_ROLE_UNIT && knob->op >= 0) {
            site_of[knob->op] = genes.site_count + 1;
            genes.unit_choices = knob->choices;
        }
        genes.site_count++;
    }
    return genes;
}

int mer_magma_unit_knob(const MerSpace *space, const MerMagmaSite *site)
{
    return space->knobs[site->gene[0]].role == MER_ROLE_UNIT ? site->gene[0] : -1;
}

int mer_magma_elites(const MerMagmaOptions *options)
{
    int size = (int)options->population;
    int elites = (int)fmax(1, options->elite * size);
    return elites < size ? elites : size;
}

int mer_magma_parents(const MerMagmaOptions *options)
{
    int size = (int)options->population;
    int parents = (int)fmax(2, options->parents * size);
    return parents < size ? parents : size;
}

static MerStatus open_magma(void *state, const MerSearch *search, const void *given,
                            MerError *error)
{
    State                 *s = state;
    const MerMagmaOptions *options = given;
    *s = (State){.space = search->space, .rng = search->rng, .options = *options};
    if (options->rules == SHIPPED) {
        return mer_magma_shipped_open(&s->shipped, search, options, error);
    }
    s->size = (int)options->population;
    s->elites = mer_magma_elites(options);
    s->parents = mer_magma_parents(options);
    s->genes = mer_magma_genes(search->space, search->arena);
    s->latency = mer_space_table(search->space, "latency");
    size_t people = (size_t)(s->size + s->elites);
    size_t genes = people * (size_t)s->space->knob_count + 1;
    s->people = MER_ARRAY(search->arena, MerIndex, genes);
    s->next = MER_ARRAY(search->arena, MerIndex, genes);
    s->scores = MER_ARRAY(search->arena, double, people);
    s->next_scores = MER_ARRAY(search->arena, double, people);
    s->weights = MER_ARRAY(search->arena, double, people);
    s->order = MER_ARRAY(search->arena, int, people);
    return MER_OK;
}

/* Parents are drawn by what they gain over the worst of them; before anything is known, evenly. */
static int weigh_parents(State *s)
{
    int    count = s->known > 0 ? (s->parents < s->known ? s->parents : s->known) : s->size;
    double worst = -INFINITY;
    for (int i = 0; i < count && s->known > 0; i++) {
        worst = isfinite(s->scores[i]) ? fmax(worst, s->scores[i]) : worst;
    }
    double least = fmin(1, 1e-3 * fabs(worst));
    for (int i = 0; i < count; i++) {
        bool is_plain = s->known == 0 || !isfinite(worst);
        s->weights[i] = is_plain ? 1 : isfinite(s->scores[i]) ? worst - s->scores[i] + least : 0;
    }
    return count;
}

static int draw(State *s, int count, int except)
{
    double sum = 0;
    int    last = except == 0 ? 1 : 0;
    for (int i = 0; i < count; i++) {
        sum += i == except ? 0 : s->weights[i];
    }
    double at = mer_rng_unit(s->rng) * sum;
    for (int i = 0; i < count; i++) {
        if (i == except || s->weights[i] <= 0) {
            continue;
        }
        last = i;
        at -= s->weights[i];
        if (at < 0) {
            return i;
        }
    }
    return last < count ? last : 0;
}

static void draw_pair(State *s, int count, const MerIndex **dad, const MerIndex **mom)
{
    int first = draw(s, count, -1);
    *dad = person(s, s->people, first);
    *mom = person(s, s->people, draw(s, count, first));
}

/* Exchanges one genome (or both, genome -1) on sites low .. high - 1; `b` NULL: there is only one child. */
static void cross(const State *s, MerIndex *a, MerIndex *b, const MerIndex *dad,
                  const MerIndex *mom, int genome, int low, int high)
{
    for (int i = low; i < high; i++) {
        for (int g = 0; g < 2; g++) {
            int knob = s->genes.sites[i].gene[g];
            if (knob >= 0 && (genome < 0 || genome == g)) {
                a[knob] = mom[knob];
                if (b) {
                    b[knob] = dad[knob];
                }
            }
        }
    }
}

static void crossover_gen(State *s, int parents, MerIndex *a, MerIndex *b)
{
    const MerIndex *dad, *mom;
    draw_pair(s, parents, &dad, &mom);
    copy(s, a, dad);
    if (b) {
        copy(s, b, mom);
    }
    if (mer_rng_unit(s->rng) >= s->options.crossover_gen) {
        return;
    }
    int  genome = s->genes.genomes == 2 ? mer_rng_below(s->rng, 2) : 0;
    int  pivot = mer_rng_below(s->rng, s->genes.site_count);
    bool is_head = pivot < s->genes.site_count / 2;
    cross(s, a, b, dad, mom, genome, is_head ? 0 : pivot, is_head ? pivot : s->genes.site_count);
}

static void crossover_rg(State *s, int parents, MerIndex *a, MerIndex *b)
{
    const MerIndex *dad, *mom;
    draw_pair(s, parents, &dad, &mom);
    copy(s, a, dad);
    int low = mer_rng_below(s->rng, s->genes.site_count);
    int high = mer_rng_below(s->rng, s->genes.site_count);
    if (b) {
        copy(s, b, mom);
    }
    cross(s, a, b, dad, mom, -1, low < high ? low : high, (low < high ? high : low) + 1);
}

static int unit_knob(const State *s, int i)
{
    return mer_magma_unit_knob(s->space, &s->genes.sites[i]);
}

/* All jobs that mom runs on one core move there; those that only dad runs there go anywhere. */
static void crossover_accel(State *s, int parents, MerIndex *child)
{
    const MerIndex *dad, *mom;
    draw_pair(s, parents, &dad, &mom);
    int core = mer_rng_below(s->rng, s->genes.unit_choices);
    copy(s, child, dad);
    for (int i = 0; i < s->genes.site_count; i++) {
        int unit = unit_knob(s, i);
        int priority = s->genes.sites[i].gene[1];
        if (unit < 0) {
            continue;
        }
        if (mom[unit] == core && dad[unit] != core) {
            child[unit] = core;
            if (priority >= 0) {
                child[priority] = mom[priority];
            }
        } else if (dad[unit] == core && mom[unit] != core) {
            child[unit] = mer_rng_below(s->rng, s->space->knobs[unit].choices);
        }
    }
}

/* Operators that the public code has and does not use. */
static void exchange_units(State *s, MerIndex *child)
{
    int a = mer_rng_below(s->rng, s->genes.unit_choices);
    int b = mer_rng_below(s->rng, s->genes.unit_choices);
    for (int i = 0; i < s->genes.site_count; i++) {
        int unit = unit_knob(s, i);
        if (unit >= 0) {
            child[unit] = child[unit] == a ? b : child[unit] == b ? a : child[unit];
        }
    }
}

static void offload(State *s, MerIndex *child)
{
    double load[256] = {0};
    int    busiest = 0;
    int    idlest = 0;
    if (!s->latency || s->latency->columns != s->genes.unit_choices ||
        s->genes.unit_choices > 256) {
        return;
    }
    for (int i = 0; i < s->genes.site_count; i++) {
        int unit = unit_knob(s, i);
        if (unit >= 0) {
            load[child[unit]] +=
                s->latency->values[s->space->knobs[unit].op * s->genes.unit_choices + child[unit]];
        }
    }
    for (int u = 0; u < s->genes.unit_choices; u++) {
        busiest = load[u] > load[busiest] ? u : busiest;
        idlest = load[u] < load[idlest] ? u : idlest;
    }
    int start = mer_rng_below(s->rng, s->genes.site_count);
    for (int i = 0; i < s->genes.site_count; i++) {
        int unit = unit_knob(s, (start + i) % s->genes.site_count);
        if (unit >= 0 && child[unit] == busiest) {
            child[unit] = idlest;
            return;
        }
    }
}

static void swap_units(State *s, MerIndex *child)
{
    int a = unit_knob(s, mer_rng_below(s->rng, s->genes.site_count));
    int b = unit_knob(s, mer_rng_below(s->rng, s->genes.site_count));
    if (a >= 0 && b >= 0 && s->space->knobs[a].choices == s->space->knobs[b].choices) {
        MerIndex unit = child[a];
        child[a] = child[b];
        child[b] = unit;
    }
}

static void apply_extras(State *s, MerIndex *child)
{
    void (*const operators[3])(State *, MerIndex *) = {exchange_units, offload, swap_units};
    const double rates[3] = {s->options.exchange, s->options.offload, s->options.swap_units};
    for (int i = 0; i < 3; i++) {
        if (rates[i] > 0 && mer_rng_unit(s->rng) < rates[i]) {
            operators[i](s, child);
        }
    }
}

static void mutate(State *s, MerIndex *child)
{
    for (int k = 0; k < s->space->knob_count; k++) {
        if (mer_rng_unit(s->rng) < s->options.mutation) {
            child[k] = mer_rng_below(s->rng, s->space->knobs[k].choices);
        }
    }
}

/* Operators pass over all slots one after another. */
static void breed(State *s)
{
    int       parents = weigh_parents(s);
    MerIndex *none = NULL;
    for (int i = 0; i < s->size; i += 2) {
        crossover_gen(s, parents, person(s, s->next, i),
                      i + 1 < s->size ? person(s, s->next, i + 1) : none);
    }
    for (int i = 0; i < s->size; i += 2) {
        if (mer_rng_unit(s->rng) < s->options.crossover_rg) {
            crossover_rg(s, parents, person(s, s->next, i),
                         i + 1 < s->size ? person(s, s->next, i + 1) : none);
        }
    }
    for (int i = 0; i < s->size && s->genes.unit_choices > 1; i++) {
        if (mer_rng_unit(s->rng) < s->options.crossover_accel) {
            crossover_accel(s, parents, person(s, s->next, i));
        }
    }
    for (int i = 0; i < s->size; i++) {
        if (s->genes.unit_choices > 1) {
            apply_extras(s, person(s, s->next, i));
        }
        mutate(s, person(s, s->next, i));
    }
}

static void begin_generation(State *s)
{
    if (s->known > 0) {
        breed(s);
    } else {
        for (int i = s->warm; i < s->size; i++) {
            mer_space_sample(s->space, s->rng, person(s, s->people, i));
        }
        memcpy(s->next, s->people,
               (size_t)s->size * (size_t)s->space->knob_count * sizeof *s->next);
    }
    s->batch = s->size;
    s->asked = s->told = 0;
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    if (s->shipped) {
        return mer_magma_shipped_ask(s->shipped, proposals, capacity);
    }
    if (s->told == s->batch) {
        begin_generation(s);
    }
    int count = s->batch - s->asked < capacity ? s->batch - s->asked : capacity;
    for (int i = 0; i < count; i++) {
        copy(s, proposals[i].point, person(s, s->next, s->asked + i));
    }
    s->asked += count;
    return count;
}

/* The new population, best first: what was priced now and the old elites. */
static void end_generation(State *s)
{
    int count = s->batch;
    for (int i = 0; i < s->elites && s->known > 0; i++) {
        copy(s, person(s, s->next, count), person(s, s->people, i));
        s->next_scores[count++] = s->scores[i];
    }
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && s->next_scores[i] < s->next_scores[s->order[at - 1]]; at--) {
            s->order[at] = s->order[at - 1];
        }
        s->order[at] = i;
    }
    s->known = count < s->size ? count : s->size;
    for (int i = 0; i < s->known; i++) {
        copy(s, person(s, s->people, i), person(s, s->next, s->order[i]));
        s->scores[i] = s->next_scores[s->order[i]];
    }
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    if (s->shipped) {
        mer_magma_shipped_tell(s->shipped, trials, count);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (trials[i].warm) {
            if (s->known == 0 && s->warm < s->size) {
                copy(s, person(s, s->people, s->warm++), trials[i].point);
            }
            continue;
        }
        s->next_scores[s->told++] = trials[i].score;
        if (s->told == s->batch) {
            end_generation(s);
        }
    }
}

static int64_t population(const void *options)
{
    return ((const MerMagmaOptions *)options)->population;
}

const MerOptimizerClass mer_optimizer_magma = {
    .name = "magma",
    .summary = "MAGMA's genetic algorithm on cores and priorities, as published or as shipped",
    .reference =
        "Kao and Krishna, MAGMA: An Optimization Framework for Mapping Multiple DNNs on Multiple "
        "Accelerator Cores, HPCA 2022",
    .options = options,
    .options_size = sizeof(MerMagmaOptions),
    .state_size = sizeof(State),
    .open = open_magma,
    .ask = ask,
    .tell = tell,
    .population = population,
};
