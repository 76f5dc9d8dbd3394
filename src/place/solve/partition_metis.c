/* Parts of equal time with few transfers between them, by METIS's multilevel k-way scheme (Karypis and Kumar, SIAM J. Sci. Comput. 20,
 * 1998). */
#include "place/solve/partition_graph.h"

#ifdef MERCATOR_METIS
#include <metis.h>

/* Times, and, `with_memory`, bytes as a second weight of each vertex. */
static bool split(const MerPlace *place, const MerPartitionGraph *graph, bool with_memory,
                  uint64_t seed, idx_t *part, MerArena *arena)
{
    (void)place;
    idx_t   vertices = graph->vertex_count, parts = graph->worker_count;
    idx_t   weights = with_memory ? 2 : 1, cut;
    idx_t  *weight = MER_ARRAY(arena, idx_t, (size_t)vertices * 2 + 1);
    real_t *share = MER_ARRAY(arena, real_t, (size_t)parts * 2);
    idx_t   options[METIS_NOPTIONS];
    _Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS of 32 bits");
    if (graph->vertex_count <= graph->worker_count || graph->arc_count == 0) {
        for (int v = 0; v < vertices; v++) {
            part[v] = graph->vertex_count <= graph->worker_count ? v : 0;
        }
        return true;
    }
    for (int v = 0; v < vertices; v++) {
        weight[v * weights] = graph->time[v];
        weight[v * weights + weights - 1] = with_memory ? graph->bytes[v] : graph->time[v];
    }
    for (int p = 0; p < parts; p++) {
        share[p * weights] = (real_t)graph->share[p];
        share[p * weights + weights - 1] = (real_t)(with_memory ? 1.0 / parts : graph->share[p]);
    }
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = (idx_t)(seed & 0x7fffffff);
    return METIS_PartGraphKway(&vertices, &weights, graph->start, graph->neighbour, weight, NULL,
                               graph->edge_weight, &parts, share, NULL, options, &cut,
                               part) == METIS_OK;
}

MerPartitioner *const mer_partition_metis = split;
#else
MerPartitioner *const mer_partition_metis = NULL;
#endif
