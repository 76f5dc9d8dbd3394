/* Weights of a network whose file has them. Importers leave them out, since few problems look at them; who does reads them here. */
#ifndef MERCATOR_IMPORT_NETWORK_WEIGHTS_H
#define MERCATOR_IMPORT_NETWORK_WEIGHTS_H

#include "mercator/graph.h"

/* What a graph made in memory may attach, in place of a file. */
#define MER_NETWORK_WEIGHTS "weights"

typedef struct MerNetworkWeights {
    int                 count;  /* of values of the graph */
    const float *const *values; /* elements of a value in C order; NULL: not known */
} MerNetworkWeights;

/* float32 weights of the file that `graph` was read from. NULL: it has none, or is no ONNX file. */
const MerNetworkWeights *mer_network_weights(const MerGraph *graph, MerArena *arena);

#endif
