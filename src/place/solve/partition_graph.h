/* Groups as an undirected graph with whole weights, as METIS and Scotch read it (docs/placement.md, "Partitioners"). */
#ifndef MERCATOR_PLACE_SOLVE_PARTITION_GRAPH_H
#define MERCATOR_PLACE_SOLVE_PARTITION_GRAPH_H

#include "place/place.h"

typedef struct MerPartitionGraph {
    int      vertex_count, arc_count; /* an edge is two arcs */
    int32_t *start, *neighbour;       /* of vertex v: start[v] .. start[v + 1] - 1 */
    int32_t *edge_weight;             /* transfers between two groups, at least 1 */
    int32_t *time, *bytes;            /* of each vertex, parts of 2^29 */
    int      worker_count;
    int     *workers; /* units that take a part each */
    double  *share;   /* of the work, by the speed of each worker; sums to 1 */
} MerPartitionGraph;

MerPartitionGraph *mer_partition_graph_new(const MerPlace *place, MerArena *arena);
/* Groups on the worker of their part; with fewer groups than workers the libraries are not asked. */
void mer_partition_apply(const MerPlace *place, const MerPartitionGraph *graph, const int32_t *part,
                         int *unit);

#endif
