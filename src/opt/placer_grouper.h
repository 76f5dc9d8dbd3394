/* The grouper of the hierarchical model (Mirhoseini et al., ICLR 2018): puts groups together into clusters, which are
 * then placed one after another. */
#ifndef MERCATOR_OPT_PLACER_GROUPER_H
#define MERCATOR_OPT_PLACER_GROUPER_H

#include "opt/placer_inputs.h"

typedef struct MerPlacerGrouper {
    const MerPlacerGraph *graph;
    int                   clusters, width;
    const float          *vectors; /* (order_count, width) */
    const float          *pull;    /* (order_count, clusters): added to the logits; NULL: none */
    MerTensor            *in, *out;
} MerPlacerGrouper;

/* `pull`: by how much the logit of a cluster falls with its distance from a group's place in the order; 0: none. */
void mer_placer_grouper_make(MerPlacerGrouper *grouper, const MerPlacerGraph *graph,
                             MerPlacerFeatures features, int clusters, double pull,
                             MerArena *arena);
/* Its weights. */
void mer_placer_grouper_add(MerPlacerGrouper *grouper, int hidden, MerParameters *parameters,
                            MerRng *rng);
/* Log-probabilities (order_count, clusters). `noise` as MerPlacerRows has it, of the whole matrix. */
MerTensor *mer_placer_grouper_run(MerTape *tape, const MerPlacerGrouper *grouper,
                                  const float *noise);

#endif
