/* MAGMA as the public program runs (maestro-project/magma; docs/optimizers.md, "MAGMA"), draw by draw: the
 * same seed gives the same plans and the same best makespan to the last bit. It draws pairs and the first
 * population from NumPy and all else from Python's `random`, never prices the first population, copies one
 * way in two crossovers where it means to swap, prices elites again, and leaves the order of equals to
 * NumPy's sort. */
#include "base/numpy.h"
#include "opt/magma.h"

#include <math.h>
#include <string.h>

typedef struct Rank { /* of one knob, in [0, 1) */
    double value;
    int    knob;
} Rank;

struct MerMagmaShipped {
    const MerSpace *space;
    MerMagmaOptions options;
    MerMagmaGenes   genes;
    MerTwister      python, numpy;
    int             size, elites, parents;
    int             warm;  /* people that an earlier run gave */
    double          least; /* weight of the worst parent */
    double         *people,
        *next; /* people x knobs: sorted ones, and those asked for; an index, or a rank in [0, 1) */
    double *fitness, *next_fitness;
    int     batch; /* of `next`; 0: nothing asked yet */
    int     asked, told;
    double *weights, *sums;
    int    *order;
    Rank   *ranks, *sorted;
    int    *buckets;
};

static double *person(const MerMagmaShipped *s, double *people, int i)
{
    return people + (size_t)i * (size_t)s->space->knob_count;
}

static void copy(const MerMagmaShipped *s, double *to, const double *from)
{
    memcpy(to, from, (size_t)s->space->knob_count * sizeof *to);
}

static MerStatus check_options(const MerMagmaOptions *options, MerError *error)
{
    const char *unused = options->exchange > 0     ? "exchange"
                         : options->offload > 0    ? "offload"
                         : options->swap_units > 0 ? "swap_units"
                                                   : NULL;
    return unused ? mer_error_set(error, MER_INVALID,
                                  "magma: %s has no part in rules=shipped, which is the public "
                                  "program; it works with rules=paper",
                                  unused)
                  : MER_OK;
}

MerStatus mer_magma_shipped_open(MerMagmaShipped **shipped, const MerSearch *search,
                                 const MerMagmaOptions *options, MerError *error)
{
    MerArena        *arena = search->arena;
    MerMagmaShipped *s = *shipped = MER_ARRAY(arena, MerMagmaShipped, 1);
    *s = (MerMagmaShipped){.space = search->space,
                           .options = *options,
                           .genes = mer_magma_genes(search->space, arena),
                           .python = mer_twister_python(search->seed),
                           .numpy = mer_twister_numpy((uint32_t)search->seed),
                           .size = (int)options->population,
                           .elites = mer_magma_elites(options),
                           .parents = mer_magma_parents(options),
                           .least = search->objective == MER_METRIC_CYCLES ? 1 : 0};
    size_t people = (size_t)(s->size + s->elites);
    size_t genes = people * (size_t)s->space->knob_count + 1;
    s->people = MER_ARRAY(arena, double, genes);
    s->next = MER_ARRAY(arena, double, genes);
    s->fitness = MER_ARRAY(arena, double, people);
    s->next_fitness = MER_ARRAY(arena, double, people);
    s->weights = MER_ARRAY(arena, double, people);
    s->sums = MER_ARRAY(arena, double, people);
    s->order = MER_ARRAY(arena, int, people);
    s->ranks = MER_ARRAY(arena, Rank, s->space->knob_count + 1);
    s->sorted = MER_ARRAY(arena, Rank, s->space->knob_count + 1);
    s->buckets = MER_ARRAY(arena, int, s->space->knob_count + 2);
    return check_options(options, error);
}

static bool is_rank(const MerMagmaShipped *s, int knob)
{
    return s->space->knobs[knob].kind == MER_KNOB_RANK;
}

static void create_person(MerMagmaShipped *s, double *genes)
{
    for (int g = 0; g < s->genes.genomes; g++) {
        for (int i = 0; i < s->genes.site_count; i++) {
            int knob = s->genes.sites[i].gene[g];
            if (knob >= 0) {
                genes[knob] =
                    is_rank(s, knob)
                        ? mer_twister_unit(&s->numpy)
                        : mer_twister_numpy_below(&s->numpy, s->space->knobs[knob].choices);
            }
        }
    }
}

/* A new value for one gene, after the first population. */
static double draw_gene(MerMagmaShipped *s, int knob)
{
    return is_rank(s, knob) ? mer_twister_unit(&s->python)
                            : mer_twister_python_below(&s->python, s->space->knobs[knob].choices);
}

/* By what they gain over the worst of them. Infeasible ones, which the program does not know, have no children
 * as long as there are two others. */
static void weigh_parents(MerMagmaShipped *s, int parents)
{
    double worst = -INFINITY;
    int    finite = 0;
    for (int i = 0; i < parents; i++) {
        bool is_finite = isfinite(s->fitness[i]);
        worst = is_finite ? fmax(worst, -s->fitness[i]) : worst;
        finite += is_finite;
    }
    double least = s->least > 0 ? s->least : fmin(1, 1e-3 * fabs(worst));
    for (int i = 0; i < parents; i++) {
        s->weights[i] = finite < 2                ? 1
                        : isfinite(s->fitness[i]) ? worst + s->fitness[i] + least
                                                  : 0;
    }
    double sum = mer_numpy_sum(s->weights, parents);
    double running = 0;
    for (int i = 0; i < parents; i++) {
        s->weights[i] /= sum;
        s->sums[i] = running += s->weights[i];
    }
}

static void draw_pair(MerMagmaShipped *s, int parents, const double **dad, const double **mom)
{
    int pair[2];
    mer_twister_choose_pair(&s->numpy, s->weights, s->sums, parents, pair);
    *dad = person(s, s->people, pair[0]);
    *mom = person(s, s->people, pair[1]);
}

static bool is_due(MerMagmaShipped *s, double rate)
{
    return mer_twister_unit(&s->python) < rate;
}

/* One genome (or both, genome -1) of sites low .. high - 1. */
static void take_over(const MerMagmaShipped *s, double *child, const double *from, int genome,
                      int low, int high)
{
    for (int i = low; i < high; i++) {
        for (int g = 0; g < 2; g++) {
            int knob = s->genes.sites[i].gene[g];
            if (knob >= 0 && (genome < 0 || genome == g)) {
                child[knob] = from[knob];
            }
        }
    }
}

/* The first child takes a head or tail of one genome from mom; the second is mom, as the swap back comes too late. */
static void crossover_gen(MerMagmaShipped *s, int parents, double *a, double *b)
{
    const double *dad, *mom;
    int           sites = s->genes.site_count;
    draw_pair(s, parents, &dad, &mom);
    copy(s, a, dad);
    if (b) {
        copy(s, b, mom);
    }
    if (is_due(s, s->options.crossover_gen)) {
        int  genome = s->genes.genomes == 1 || is_due(s, 0.5) ? 0 : 1;
        int  pivot = mer_twister_python_below(&s->python, sites);
        bool is_head = pivot < sites / 2;
        take_over(s, a, mom, genome, is_head ? 0 : pivot, is_head ? pivot : sites);
    }
}

/* Both children are mom's head and dad's tail. */
static void crossover_rg(MerMagmaShipped *s, int parents, double *a, double *b)
{
    const double *dad, *mom;
    draw_pair(s, parents, &dad, &mom);
    copy(s, a, dad);
    take_over(s, a, mom, -1, 0, mer_twister_python_below(&s->python, s->genes.site_count));
    if (b) {
        copy(s, b, a);
    }
}

/* All jobs that mom runs on one core move there; those that only dad runs there go anywhere. */
static void crossover_accel(MerMagmaShipped *s, int parents, double *child)
{
    const double *dad, *mom;
    draw_pair(s, parents, &dad, &mom);
    int core = mer_twister_python_below(&s->python, s->genes.unit_choices);
    copy(s, child, dad);
    for (int i = 0; i < s->genes.site_count; i++) {
        int unit = mer_magma_unit_knob(s->space, &s->genes.sites[i]);
        if (unit < 0 || (mom[unit] == core) == (dad[unit] == core)) {
            continue;
        }
        if (mom[unit] == core) {
            take_over(s, child, mom, -1, i, i + 1);
        } else {
            child[unit] = draw_gene(s, unit);
        }
    }
}

static void mutate(MerMagmaShipped *s, double *child)
{
    for (int g = 0; g < s->genes.genomes; g++) {
        for (int i = 0; i < s->genes.site_count; i++) {
            int knob = s->genes.sites[i].gene[g];
            if (knob >= 0 && is_due(s, s->options.mutation)) {
                child[knob] = draw_gene(s, knob);
            }
        }
    }
}

/* Operators pass over all slots one after another. */
static void breed(MerMagmaShipped *s, int parents, double *children)
{
    for (int i = 0; i < s->size; i += 2) {
        crossover_gen(s, parents, person(s, children, i),
                      i + 1 < s->size ? person(s, children, i + 1) : NULL);
    }
    for (int i = 0; i < s->size; i += 2) {
        if (is_due(s, s->options.crossover_rg)) {
            crossover_rg(s, parents, person(s, children, i),
                         i + 1 < s->size ? person(s, children, i + 1) : NULL);
        }
    }
    for (int i = 0; i < s->size && s->genes.unit_choices > 0; i++) {
        if (is_due(s, s->options.crossover_accel)) {
            crossover_accel(s, parents, person(s, children, i));
        }
    }
    for (int i = 0; i < s->size; i++) {
        mutate(s, person(s, children, i));
    }
}

/* Best first; of equals, the last of NumPy's ascending order. */
static void sort_people(MerMagmaShipped *s, int count)
{
    mer_numpy_argsort(s->next_fitness, count, s->order);
    for (int i = 0; i < s->size; i++) {
        int from = s->order[count - 1 - i];
        copy(s, person(s, s->people, i), person(s, s->next, from));
        s->fitness[i] = s->next_fitness[from];
    }
}

static void begin_generation(MerMagmaShipped *s)
{
    bool is_first = s->batch == 0;
    int  parents = is_first ? s->size : s->parents;
    if (is_first) {
        for (int i = 0; i < s->size; i++) {
            if (i >= s->warm) {
                create_person(s, person(s, s->next, i));
            }
            s->next_fitness[i] = 1;
        }
    }
    sort_people(s, is_first ? s->size : s->batch);
    weigh_parents(s, parents);
    for (int i = 0; i < s->elites; i++) {
        copy(s, person(s, s->next, i), person(s, s->people, i));
    }
    breed(s, parents, person(s, s->next, s->elites));
    s->batch = s->elites + s->size;
    s->asked = s->told = 0;
}

/* Ascending, equals in their order. Ranks are spread evenly, so that a bucket for each leaves little to sort. */
static void sort_ranks(MerMagmaShipped *s, int count)
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

/* Ranks have fewer choices than doubles have values: what counts is their order, which is written down evenly. */
static void write_point(MerMagmaShipped *s, const double *genes, MerIndex *point)
{
    int count = 0;
    for (int k = 0; k < s->space->knob_count; k++) {
        if (is_rank(s, k)) {
            s->ranks[count++] = (Rank){genes[k], k};
        } else {
            point[k] = (MerIndex)genes[k];
        }
    }
    sort_ranks(s, count);
    for (int r = 0; r < count; r++) {
        int choices = s->space->knobs[s->sorted[r].knob].choices;
        point[s->sorted[r].knob] = (MerIndex)((int64_t)r * choices / count);
    }
}

int mer_magma_shipped_ask(MerMagmaShipped *s, MerProposal *proposals, int capacity)
{
    if (s->told == s->batch) {
        begin_generation(s);
    }
    int count = s->batch - s->asked < capacity ? s->batch - s->asked : capacity;
    for (int i = 0; i < count; i++) {
        write_point(s, person(s, s->next, s->asked + i), proposals[i].point);
    }
    s->asked += count;
    return count;
}

static void take_warm(MerMagmaShipped *s, const MerIndex *point)
{
    if (s->batch > 0 || s->warm == s->size) {
        return;
    }
    double *genes = person(s, s->next, s->warm++);
    for (int k = 0; k < s->space->knob_count; k++) {
        const MerKnob *knob = &s->space->knobs[k];
        genes[k] = is_rank(s, k) ? mer_knob_position(knob, point[k]) : point[k];
    }
}

void mer_magma_shipped_tell(MerMagmaShipped *s, const MerTrial *trials, int count)
{
    for (int i = 0; i < count; i++) {
        if (trials[i].warm) {
            take_warm(s, trials[i].point);
        } else {
            s->next_fitness[s->told++] = -trials[i].score;
        }
    }
}
