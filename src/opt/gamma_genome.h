/* GAMMA's genetic operators, told where to act by the roles of knobs. */
#ifndef MERCATOR_OPT_GAMMA_GENOME_H
#define MERCATOR_OPT_GAMMA_GENOME_H

#include "space/neighbours.h"

typedef struct MerGammaGenome {
    const MerSpace *space;
    MerKnobGroups   orders;     /* RANK knobs of one level */
    MerKnobGroups   dims;       /* tiles and spatial factors of one dimension, over all levels */
    MerKnobGroups   parallels;  /* parallel dimensions of different levels: may swap */
    MerKnobGroups   tile_peers; /* tiles that may swap where parallelism is part of them */
    /* a locus is a tile or other single knob, or PARALLEL with its CLUSTER */
    int locus_count;
    /* clusters[i]: the cluster knob that goes with locus i, -1: none */
    int *loci, *clusters;
    int  category_order_count; /* loop orders that are one choice each */
    int *category_orders;
    int  hardware_count;
    int *hardware;
    int  levels;      /* the LEVELS knob, -1: none */
    int  outer_level; /* of the outermost tiles, -1: tiles have no level */
    /* tiles per level where levels nest as in GAMMA's genome, else 0 */
    int  tile_count;
    int *tiles; /* [level - lowest level][tile_count] */
} MerGammaGenome;

void mer_gamma_genome_make(MerGammaGenome *genome, const MerSpace *space, MerArena *arena);

/* A point of the first population: outer tiles and the rest uniform, inner tiles 1; or all tiles 1. */
void mer_gamma_start(const MerGammaGenome *genome, MerRng *rng, bool is_all_ones, MerIndex *point);
/* Swaps the tiles of one dimension at all levels; without dimensions, one knob. */
void mer_gamma_cross(const MerGammaGenome *genome, MerRng *rng, MerIndex *a, MerIndex *b);
void mer_gamma_swap_order(const MerGammaGenome *genome, MerRng *rng, MerIndex *point);
void mer_gamma_mutate_locus(const MerGammaGenome *genome, MerRng *rng, bool use_factor,
                            MerIndex *point);
void mer_gamma_swap_parallel(const MerGammaGenome *genome, MerRng *rng, MerIndex *point);
void mer_gamma_mutate_hardware(const MerGammaGenome *genome, MerRng *rng, MerIndex *point);
/* One level more or less; a level that appears is drawn anew. */
void mer_gamma_change_levels(const MerGammaGenome *genome, MerRng *rng, int step, MerIndex *point);

#endif
