/* MAGMA (Kao and Krishna, HPCA 2022; docs/optimizers.md, "MAGMA"): a genetic algorithm on pairs of genes, where a thing runs and
 * how urgent it is. rules=paper is the published method, rules=shipped the public program, which never prices
 * the first population and prices elites again. A space without such pairs has one gene per knob, and the operator
 * on units does nothing. */
#include "opt/magma.h"
#include "base/option_rows.h"

#include <math.h>
#include <string.h>

enum { PAPER, SHIPPED };

typedef MerMagmaOptions Options;

static const MerOption options[] = {
    MER_CHOICE(rules, "paper", "paper|shipped",
               "as the paper describes it, or as the public code behaves"),
    MER_INT(population, "100", 2, 100000, "children per generation"),
    MER_REAL(elite, "0.05", 0, 1, "share of the population that survives"),
    MER_REAL(parents, "0.1", 0, 1, "share of the population that has children"),
    MER_REAL(crossover_gen, "0.9", 0, 1,
             "probability that a pair swaps the head or tail of one genome"),
    MER_REAL(crossover_rg, "0.1", 0, 1, "probability that a pair swaps a range of both genomes"),
    MER_REAL(crossover_accel, "0.1", 0, 1,
             "probability that a child takes over all that is on one unit"),
    MER_REAL(mutation, "0.05", 0, 1, "probability that a gene becomes random"),
    MER_REAL(exchange, "0", 0, 1, "probability that two units of a child exchange all they have"),
    MER_REAL(offload, "0", 0, 1,
             "probability that something of the busiest unit moves to the least busy one"),
    MER_REAL(swap_units, "0", 0, 1, "probability that two things of a child exchange their units"),
    {0}};

typedef struct Rank { /* of one knob, in [0, 1) */
    double value;
    int    knob;
} Rank;

typedef struct State {
    MerMagma magma;
    double   least;   /* weight of the worst parent; 0: a part of the scores */
    double  *fitness; /* of people */
    double
        *next; /* elites, then their children; as long as nothing is known the first population */
    double *next_fitness;
    int     batch; /* of `next`; 0: nothing asked yet */
    int     asked, told;
    int     warm; /* people that an earlier run gave */
    int    *order;
    Rank   *ranks, *sorted;
    int    *buckets;
} State;

static void copy(const State *s, double *to, const double *from)
{
    memcpy(to, from, (size_t)s->magma.space->knob_count * sizeof *to);
}

static MerStatus check_options(const MerMagmaOptions *options, MerError *error)
{
    const char *unused = options->rules != SHIPPED ? NULL
                         : options->exchange > 0   ? "exchange"
                         : options->offload > 0    ? "offload"
                         : options->swap_units > 0 ? "swap_units"
                                                   : NULL;
    return unused ? mer_error_set(error, MER_INVALID,
                                  "magma: %s has no part in rules=shipped, which is the public "
                                  "program; it works with rules=paper",
                                  unused)
                  : MER_OK;
}

static int share(double part, int least, int size)
{
    int count = (int)fmax(least, part * size);
    return count < size ? count : size;
}

static MerStatus open_magma(void *state, const MerSearch *search, const void *given,
                            MerError *error)
{
    State                 *s = state;
    const MerMagmaOptions *options = given;
    MerArena              *arena = search->arena;
    int                    size = (int)options->population;
    bool                   is_shipped = options->rules == SHIPPED;
    *s = (State){.least = search->objective == MER_METRIC_CYCLES ? 1 : 0,
                 .magma = {.space = search->space,
                           .latency = mer_space_table(search->space, "latency"),
                           .options = *options,
                           .is_shipped = is_shipped,
                           .genes = mer_magma_genes(search->space, arena),
                           .draws = {.rng = is_shipped ? NULL : search->rng,
                                     .python = mer_twister_python(search->seed),
                                     .numpy = mer_twister_numpy((uint32_t)search->seed)},
                           .size = size,
                           .elites = share(options->elite, 1, size),
                           .parents = share(options->parents, 2, size)}};
    size_t people = (size_t)(size + s->magma.elites);
    size_t knobs = (size_t)search->space->knob_count;
    s->magma.people = MER_ARRAY(arena, double, people *knobs + 1);
    s->magma.weights = MER_ARRAY(arena, double, people);
    s->magma.sums = MER_ARRAY(arena, double, people);
    s->next = MER_ARRAY(arena, double, people *knobs + 1);
    s->fitness = MER_ARRAY(arena, double, people);
    s->next_fitness = MER_ARRAY(arena, double, people);
    s->order = MER_ARRAY(arena, int, people);
    s->ranks = MER_ARRAY(arena, Rank, knobs + 1);
    s->sorted = MER_ARRAY(arena, Rank, knobs + 1);
    s->buckets = MER_ARRAY(arena, int, knobs + 2);
    return check_options(options, error);
}

/* By what they gain over the worst of them. Infeasible ones, which the public program does not know, have no
 * children as long as there are two others. */
static void weigh_parents(State *s, int parents)
{
    double *weights = s->magma.weights;
    double  worst = -INFINITY;
    int     finite = 0;
    for (int i = 0; i < parents; i++) {
        bool is_finite = isfinite(s->fitness[i]);
        worst = is_finite ? fmax(worst, -s->fitness[i]) : worst;
        finite += is_finite;
    }
    double least = s->least > 0 || worst == 0 ? 1 : fmin(1, 1e-3 * fabs(worst));
    for (int i = 0; i < parents; i++) {
        weights[i] = finite < 2 ? 1 : isfinite(s->fitness[i]) ? worst + s->fitness[i] + least : 0;
    }
    double sum = mer_numpy_sum(weights, parents);
    double running = 0;
    for (int i = 0; i < parents; i++) {
        weights[i] /= sum;
        s->magma.sums[i] = running += weights[i];
    }
}

/* Best first; of equals, the last of NumPy's ascending order. */
static void sort_people(State *s, int count)
{
    mer_numpy_argsort(s->next_fitness, count, s->order);
    for (int i = 0; i < s->magma.size; i++) {
        int from = s->order[count - 1 - i];
        copy(s, mer_magma_person(&s->magma, s->magma.people, i),
             mer_magma_person(&s->magma, s->next, from));
        s->fitness[i] = s->next_fitness[from];
    }
}

static void create_people(State *s)
{
    for (int i = 0; i < s->magma.size; i++) {
        if (i >= s->warm) {
            mer_magma_create(&s->magma, mer_magma_person(&s->magma, s->next, i));
        }
        s->next_fitness[i] = 1; /* as shipped: all are equally good */
    }
    s->batch = s->magma.size;
}

static void begin_generation(State *s)
{
    MerMagma *m = &s->magma;
    bool      is_first = s->batch == 0;
    s->asked = s->told = 0;
    if (is_first) {
        create_people(s);
        if (!m->is_shipped) {
            return;
        }
    }
    int parents = is_first ? m->size : m->parents;
    sort_people(s, s->batch);
    weigh_parents(s, parents);
    for (int i = 0; i < m->elites; i++) {
        copy(s, mer_magma_person(m, s->next, i), mer_magma_person(m, m->people, i));
        s->next_fitness[i] = s->fitness[i];
    }
    mer_magma_breed(m, parents, mer_magma_person(m, s->next, m->elites));
    s->batch = m->elites + m->size;
    s->asked = s->told = m->is_shipped ? 0 : m->elites;
}

/* Ascending, equals in their order. Ranks are spread evenly, so that a bucket for each leaves little to sort. */
static void sort_ranks(State *s, int count)
{
    memset(s->buckets, 0, (size_t)(count + 1) * sizeof *s->buckets);
    for (int i = 0; i < count; i++) {
        s->buckets[(int)(s->ranks[i].value * count) + 1]++;
    }
    for (int b = 0; b < count; b++) {
        s->buckets[b + 1] += s->buckets[b];
    }
    for (int i = 0; i < count; i++) {
        s->sorted[s->buckets[(int)(s->ranks[i].value * count)]++] = s->ranks[i];
    }
    for (int i = 1; i < count; i++) {
        Rank moved = s->sorted[i];
        int  at = i;
        for (; at > 0 && moved.value < s->sorted[at - 1].value; at--) {
            s->sorted[at] = s->sorted[at - 1];
        }
        s->sorted[at] = moved;
    }
}

/* Ranks have fewer choices than doubles have values. To be the public program to the bit, their order is written
 * down evenly; otherwise it is enough to round them, which also keeps their distance to ranks that are fixed. */
static void write_point(State *s, const double *genes, MerIndex *point)
{
    const MerKnob *knobs = s->magma.space->knobs;
    int            count = 0;
    for (int k = 0; k < s->magma.space->knob_count; k++) {
        bool is_rank = mer_magma_is_rank(&s->magma, k);
        point[k] = is_rank ? mer_knob_index(&knobs[k], genes[k]) : (MerIndex)genes[k];
        if (is_rank && s->magma.is_shipped) {
            s->ranks[count++] = (Rank){genes[k], k};
        }
    }
    sort_ranks(s, count);
    for (int r = 0; r < count; r++) {
        int choices = knobs[s->sorted[r].knob].choices;
        point[s->sorted[r].knob] = (MerIndex)((int64_t)r * choices / count);
    }
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    if (s->told == s->batch) {
        begin_generation(s);
    }
    int count = s->batch - s->asked < capacity ? s->batch - s->asked : capacity;
    for (int i = 0; i < count; i++) {
        write_point(s, mer_magma_person(&s->magma, s->next, s->asked + i), proposals[i].point);
    }
    s->asked += count;
    return count;
}

static void take_warm(State *s, const MerIndex *point)
{
    if (s->batch > 0 || s->warm == s->magma.size) {
        return;
    }
    double *genes = mer_magma_person(&s->magma, s->next, s->warm++);
    for (int k = 0; k < s->magma.space->knob_count; k++) {
        const MerKnob *knob = &s->magma.space->knobs[k];
        genes[k] = mer_magma_is_rank(&s->magma, k) ? mer_knob_position(knob, point[k]) : point[k];
    }
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        if (trials[i].warm) {
            take_warm(s, trials[i].point);
        } else {
            s->next_fitness[s->told++] = -trials[i].score;
        }
    }
}

static int64_t population(const void *options)
{
    return ((const MerMagmaOptions *)options)->population;
}

const MerOptimizerClass mer_optimizer_magma = {
    .name = "magma",
    .summary = "MAGMA's genetic algorithm on units and priorities, as published or as shipped",
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
