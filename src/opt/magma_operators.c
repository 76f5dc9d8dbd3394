/* MAGMA's operators (docs/optimizers.md, "MAGMA"). */
#include "opt/magma.h"

#include <string.h>

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

/* The knob that says where a site runs; -1: that is fixed, or the site has none. */
static int unit_knob(const MerMagma *m, int site)
{
    int knob = m->genes.sites[site].gene[0];
    return m->space->knobs[knob].role == MER_ROLE_UNIT ? knob : -1;
}

static void copy(const MerMagma *m, double *to, const double *from)
{
    memcpy(to, from, (size_t)m->space->knob_count * sizeof *to);
}

static double draw_unit(MerMagmaDraws *draws)
{
    return draws->rng ? mer_rng_unit(draws->rng) : mer_twister_unit(&draws->python);
}

static int draw_below(MerMagmaDraws *draws, int n)
{
    return draws->rng ? mer_rng_below(draws->rng, n) : mer_twister_python_below(&draws->python, n);
}

static bool is_due(MerMagma *m, double rate)
{
    return draw_unit(&m->draws) < rate;
}

static double draw_gene(MerMagma *m, int knob)
{
    return mer_magma_is_rank(m, knob) ? draw_unit(&m->draws)
                                      : draw_below(&m->draws, m->space->knobs[knob].choices);
}

/* The public program makes the first population with NumPy. */
static double first_unit(MerMagmaDraws *draws)
{
    return draws->rng ? mer_rng_unit(draws->rng) : mer_twister_unit(&draws->numpy);
}

static int first_below(MerMagmaDraws *draws, int n)
{
    return draws->rng ? mer_rng_below(draws->rng, n) : mer_twister_numpy_below(&draws->numpy, n);
}

void mer_magma_create(MerMagma *m, double *person)
{
    for (int g = 0; g < m->genes.genomes; g++) {
        for (int i = 0; i < m->genes.site_count; i++) {
            int knob = m->genes.sites[i].gene[g];
            if (knob >= 0) {
                person[knob] = mer_magma_is_rank(m, knob)
                                   ? first_unit(&m->draws)
                                   : first_below(&m->draws, m->space->knobs[knob].choices);
            }
        }
    }
}

static int draw_one(MerRng *rng, const double *weights, int count, int except)
{
    double at = mer_rng_unit(rng) * (except < 0 ? 1 : 1 - weights[except]);
    int    last = -1;
    for (int i = 0; i < count; i++) {
        if (i == except || weights[i] <= 0) {
            continue;
        }
        last = i;
        at -= weights[i];
        if (at < 0) {
            break;
        }
    }
    return last; /* also where rounding leaves a little of `at` */
}

/* Two parents, by weights of which at least two are above 0. */
static void draw_pair(MerMagma *m, int parents, const double **dad, const double **mom)
{
    int pair[2];
    if (m->draws.rng) {
        pair[0] = draw_one(m->draws.rng, m->weights, parents, -1);
        pair[1] = draw_one(m->draws.rng, m->weights, parents, pair[0]);
    } else {
        mer_twister_choose_pair(&m->draws.numpy, m->weights, m->sums, parents, pair);
    }
    *dad = mer_magma_person(m, m->people, pair[0]);
    *mom = mer_magma_person(m, m->people, pair[1]);
}

/* One genome (or both, genome -1) of sites low .. high - 1. */
static void take_over(const MerMagma *m, double *child, const double *from, int genome, int low,
                      int high)
{
    for (int i = low; i < high; i++) {
        for (int g = 0; g < 2; g++) {
            int knob = m->genes.sites[i].gene[g];
            if (knob >= 0 && (genome < 0 || genome == g)) {
                child[knob] = from[knob];
            }
        }
    }
}

/* Two children, `b` NULL: one, exchange a head or tail of one genome. As shipped the second is mom, since the swap
 * back comes too late. */
static void crossover_gen(MerMagma *m, int parents, double *a, double *b)
{
    const double *dad, *mom;
    int           sites = m->genes.site_count;
    draw_pair(m, parents, &dad, &mom);
    copy(m, a, dad);
    if (b) {
        copy(m, b, mom);
    }
    if (is_due(m, m->options.crossover_gen)) {
        int  genome = m->genes.genomes == 1 || is_due(m, 0.5) ? 0 : 1;
        int  pivot = draw_below(&m->draws, sites);
        bool is_head = pivot < sites / 2;
        int  low = is_head ? 0 : pivot, high = is_head ? pivot : sites;
        take_over(m, a, mom, genome, low, high);
        if (b && !m->is_shipped) {
            take_over(m, b, dad, genome, low, high);
        }
    }
}

/* They exchange a range of both genomes. As shipped it is a head, and both children are mom's head and dad's
 * tail. */
static void crossover_rg(MerMagma *m, int parents, double *a, double *b)
{
    const double *dad, *mom;
    draw_pair(m, parents, &dad, &mom);
    int low = 0, high = draw_below(&m->draws, m->genes.site_count);
    if (!m->is_shipped) {
        int other = draw_below(&m->draws, m->genes.site_count);
        low = other < high ? other : high;
        high = (other < high ? high : other) + 1;
    }
    copy(m, a, dad);
    take_over(m, a, mom, -1, low, high);
    if (b && m->is_shipped) {
        copy(m, b, a);
    } else if (b) {
        copy(m, b, mom);
        take_over(m, b, dad, -1, low, high);
    }
}

/* All things that mom runs on one place move there; those that only dad runs there go anywhere. */
static void crossover_accel(MerMagma *m, int parents, double *child)
{
    const double *dad, *mom;
    draw_pair(m, parents, &dad, &mom);
    int place = draw_below(&m->draws, m->genes.unit_choices);
    copy(m, child, dad);
    for (int i = 0; i < m->genes.site_count; i++) {
        int unit = unit_knob(m, i);
        if (unit < 0 || (mom[unit] == place) == (dad[unit] == place)) {
            continue;
        }
        if (mom[unit] == place) {
            take_over(m, child, mom, -1, i, i + 1);
        } else {
            child[unit] = draw_gene(m, unit);
        }
    }
}

/* Operators that the public code has and does not use. */
static void exchange_units(MerMagma *m, double *child)
{
    int a = draw_below(&m->draws, m->genes.unit_choices);
    int b = draw_below(&m->draws, m->genes.unit_choices);
    for (int i = 0; i < m->genes.site_count; i++) {
        int unit = unit_knob(m, i);
        if (unit >= 0) {
            child[unit] = child[unit] == a ? b : child[unit] == b ? a : child[unit];
        }
    }
}

static void offload(MerMagma *m, double *child)
{
    enum { UNITS = 256 };
    double load[UNITS] = {0};
    int    units = m->genes.unit_choices;
    int    busiest = 0, idlest = 0;
    if (!m->latency || m->latency->columns != units || units > UNITS) {
        return;
    }
    for (int i = 0; i < m->genes.site_count; i++) {
        int unit = unit_knob(m, i);
        if (unit >= 0) {
            int place = (int)child[unit];
            load[place] += m->latency->values[m->space->knobs[unit].op * units + place];
        }
    }
    for (int u = 0; u < units; u++) {
        busiest = load[u] > load[busiest] ? u : busiest;
        idlest = load[u] < load[idlest] ? u : idlest;
    }
    int start = draw_below(&m->draws, m->genes.site_count);
    for (int i = 0; i < m->genes.site_count; i++) {
        int unit = unit_knob(m, (start + i) % m->genes.site_count);
        if (unit >= 0 && child[unit] == busiest) {
            child[unit] = idlest;
            return;
        }
    }
}

static void swap_units(MerMagma *m, double *child)
{
    int a = unit_knob(m, draw_below(&m->draws, m->genes.site_count));
    int b = unit_knob(m, draw_below(&m->draws, m->genes.site_count));
    if (a >= 0 && b >= 0 && m->space->knobs[a].choices == m->space->knobs[b].choices) {
        double unit = child[a];
        child[a] = child[b];
        child[b] = unit;
    }
}

static void apply_extras(MerMagma *m, double *child)
{
    void (*const operators[3])(MerMagma *, double *) = {exchange_units, offload, swap_units};
    const double rates[3] = {m->options.exchange, m->options.offload, m->options.swap_units};
    for (int i = 0; i < 3; i++) {
        if (rates[i] > 0 && m->genes.unit_choices > 0 && is_due(m, rates[i])) {
            operators[i](m, child);
        }
    }
}

static void mutate(MerMagma *m, double *child)
{
    for (int g = 0; g < m->genes.genomes; g++) {
        for (int i = 0; i < m->genes.site_count; i++) {
            int knob = m->genes.sites[i].gene[g];
            if (knob >= 0 && is_due(m, m->options.mutation)) {
                child[knob] = draw_gene(m, knob);
            }
        }
    }
}

/* Operators pass over all slots one after another. */
void mer_magma_breed(MerMagma *m, int parents, double *children)
{
    double *none = NULL;
    for (int i = 0; i < m->size; i += 2) {
        crossover_gen(m, parents, mer_magma_person(m, children, i),
                      i + 1 < m->size ? mer_magma_person(m, children, i + 1) : none);
    }
    for (int i = 0; i < m->size; i += 2) {
        if (is_due(m, m->options.crossover_rg)) {
            crossover_rg(m, parents, mer_magma_person(m, children, i),
                         i + 1 < m->size ? mer_magma_person(m, children, i + 1) : none);
        }
    }
    for (int i = 0; i < m->size && m->genes.unit_choices > 0; i++) {
        if (is_due(m, m->options.crossover_accel)) {
            crossover_accel(m, parents, mer_magma_person(m, children, i));
        }
    }
    for (int i = 0; i < m->size; i++) {
        apply_extras(m, mer_magma_person(m, children, i));
        mutate(m, mer_magma_person(m, children, i));
    }
}
