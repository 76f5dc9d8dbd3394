/* What a policy reads of groups, and of sets of them: a vector of numbers each (docs/placement.md, "Learned
 * placement"). */
#ifndef MERCATOR_OPT_PLACER_INPUTS_H
#define MERCATOR_OPT_PLACER_INPUTS_H

#include "mercator/graph.h"
#include "opt/placer_lanes.h"

typedef enum MerPlacerFeatures {
    MER_PLACER_PAPER, /* kinds, bytes of results, neighbours */
    MER_PLACER_FULL /* times, sizes and transfers too, and nothing whose width grows with the graph */
} MerPlacerFeatures;
#define MER_PLACER_FEATURE_CHOICES "paper|full"

/* Vectors of groups for an LSTM, in the order of the graph; the first numbers are shares of kinds. */
int  mer_placer_group_width(const MerPlacerGraph *graph, MerPlacerFeatures features);
void mer_placer_group_vectors(const MerPlacerGraph *graph, MerPlacerFeatures features,
                              float *vectors);
enum { MER_PLACER_KINDS = MER_OP_KIND_COUNT }; /* how many of them */

/* Vectors of groups for a grouper, in the order of the graph. */
int  mer_placer_member_width(MerPlacerFeatures features);
void mer_placer_member_vectors(const MerPlacerGraph *graph, MerPlacerFeatures features,
                               float *vectors);

/* The vector of every set of a lane; `stride`: numbers from one step to the next. */
int  mer_placer_set_width(int steps, MerPlacerFeatures features);
void mer_placer_set_vectors(const MerPlacerLanes *lanes, int lane, MerPlacerFeatures features,
                            float *vectors, int64_t stride);

#endif
