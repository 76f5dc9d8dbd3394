/* Inside of MAGMA: genes, where random numbers come from, and the operators. Both rules use the same ones;
 * rules=shipped is the public program (maestro-project/magma; docs/optimizers.md, "MAGMA"), draw by draw, so that the
 * same seed gives the same plans. What it does otherwise than the paper says stands where it does so. */
#ifndef MERCATOR_OPT_MAGMA_H
#define MERCATOR_OPT_MAGMA_H

#include "base/numpy.h"
#include "mercator/search.h"

typedef struct MerMagmaOptions {
    int64_t population;
    double  elite, parents, crossover_gen, crossover_rg, crossover_accel, mutation;
    double  exchange, offload, swap_units;
    int     rules;
} MerMagmaOptions;

/* Where random numbers come from: the library's generator, or Python's `random` and NumPy's, from which the public program
 * draws pairs and the first population. */
typedef struct MerMagmaDraws {
    MerRng    *rng; /* NULL: the others */
    MerTwister python, numpy;
} MerMagmaDraws;

typedef struct MerMagmaSite { /* genes that belong together: knobs, -1 if absent */
    int gene[2];
} MerMagmaSite;

/* Knobs of roles UNIT and PRIORITY pair up by operator; all others stand alone. */
typedef struct MerMagmaGenes {
    MerMagmaSite *sites;
    int           site_count, genomes, unit_choices;
} MerMagmaGenes;

typedef struct MerMagma {
    const MerSpace *space;
    const MerTable *latency; /* hint, NULL if absent */
    MerMagmaOptions options;
    bool            is_shipped;
    MerMagmaGenes   genes;
    MerMagmaDraws   draws;
    int     size, elites, parents; /* population, and how many of it survive and have children */
    double *people;                /* size x knobs, best first: an index, or a rank in [0, 1) */
    double *weights, *sums;        /* of parents: shares of 1, and their running sums */
} MerMagma;

/* magma_operators.c */
MerMagmaGenes mer_magma_genes(const MerSpace *space, MerArena *arena);
void          mer_magma_create(MerMagma *magma, double *person);
/* `size` children of the first `parents` people. */
void mer_magma_breed(MerMagma *magma, int parents, double *children);

static inline bool mer_magma_is_rank(const MerMagma *magma, int knob)
{
    return magma->space->knobs[knob].kind == MER_KNOB_RANK;
}

static inline double *mer_magma_person(const MerMagma *magma, double *people, int i)
{
    return people + (size_t)i * (size_t)magma->space->knob_count;
}

#endif
