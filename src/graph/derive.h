/* What the files of this folder share. */
#ifndef MERCATOR_GRAPH_DERIVE_H
#define MERCATOR_GRAPH_DERIVE_H

#include "mercator/graph.h"

/* The largest loop extent; products of extents are checked apart. */
#define MER_MAX_EXTENT INT64_C(2147483647)

/* Indices of values exist, names are there, strides, pads and extents are in range. Needs nothing
 * derived. */
MerStatus mer_graph_check_ops(const MerGraph *graph, MerError *error);

/* elements and bytes of a value; false if they overflow or a size is negative. Rank -1 gives 0. */
bool mer_value_measure(const MerValue *value, int64_t *elements, int64_t *bytes);

/* The repeats and all loop extents, multiplied; false if they overflow. */
bool mer_op_multiply(const MerOp *op, int64_t *product);

/* Float weights, and quantised ones: integers of at most 8 bits. */
bool mer_type_is_parameter(MerType type);

#endif
