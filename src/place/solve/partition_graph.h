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
/* A part for every vertex into `part`, all 0 at first; false: the library found none. `variant`: METIS: bytes are balanced, too; Scotch:
 * parts are mapped onto the links. NULL where the library was not there when Mercator was built. */
typedef bool MerPartitioner(const MerPlace *place, const MerPartitionGraph *graph, bool variant,
                            uint64_t seed, int32_t *part, MerArena *arena);
extern MerPartitioner *const mer_partition_metis, *const mer_partition_scotch;
/* Groups on the worker of their part. false: there is no such partitioner, or it found no partition. */
bool mer_place_partition(const MerPlace *place, MerPartitioner *partitioner, bool variant,
                         uint64_t seed, int *unit);

#endif
