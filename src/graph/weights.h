/* Weights of a network whose file has them, attached to its graph under MER_GRAPH_WEIGHTS. */
#ifndef MERCATOR_GRAPH_WEIGHTS_H
#define MERCATOR_GRAPH_WEIGHTS_H

#include "mercator/graph.h"

#define MER_GRAPH_WEIGHTS "weights"

typedef struct MerGraphWeights {
    int                 count;  /* of values of the graph */
    const float *const *values; /* elements of a value in C order; NULL: not known */
} MerGraphWeights;

/* The elements of a value, NULL: the file does not have them. */
static inline const float *mer_graph_weights(const MerGraph *graph, int value)
{
    const MerGraphWeights *weights = mer_graph_attachment(graph, MER_GRAPH_WEIGHTS);
    return weights && value >= 0 && value < weights->count ? weights->values[value] : NULL;
}

#endif
