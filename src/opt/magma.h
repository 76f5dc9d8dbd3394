/* What both rules of MAGMA share: the options and how knobs make genes. */
#ifndef MERCATOR_OPT_MAGMA_H
#define MERCATOR_OPT_MAGMA_H

#include "mercator/search.h"

typedef struct MerMagmaOptions {
    int64_t population;
    double  elite, parents, crossover_gen, crossover_rg, crossover_accel, mutation;
    double  exchange, offload, swap_units;
    int     rules;
} MerMagmaOptions;

typedef struct MerMagmaSite { /* genes that belong together: knobs, -1 if absent */
    int gene[2];
} MerMagmaSite;

typedef struct MerMagmaGenes {
    MerMagmaSite *sites;
    int           site_count, genomes, unit_choices;
} MerMagmaGenes;

/* Knobs of roles UNIT and PRIORITY pair up by operator; all others stand alone. */
MerMagmaGenes mer_magma_genes(const MerSpace *space, MerArena *arena);
/* The knob that says where a site runs; -1: that is fixed, or the site has none. */
int mer_magma_unit_knob(const MerSpace *space, const MerMagmaSite *site);
/* How many of `population` survive and have children. */
int mer_magma_elites(const MerMagmaOptions *options);
int mer_magma_parents(const MerMagmaOptions *options);

typedef struct MerMagmaShipped MerMagmaShipped; /* the public program */

MerStatus mer_magma_shipped_open(MerMagmaShipped **shipped, const MerSearch *search,
                                 const MerMagmaOptions *options, MerError *error);
int       mer_magma_shipped_ask(MerMagmaShipped *s, MerProposal *proposals, int capacity);
void      mer_magma_shipped_tell(MerMagmaShipped *s, const MerTrial *trials, int count);

#endif
