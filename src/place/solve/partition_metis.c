/* Parts of equal time with few transfers between them, by METIS's multilevel k-way scheme (Karypis and Kumar, SIAM J. Sci. Comput. 20,
 * 1998). */
#include "place/solve/placements.h"

#include "place/solve/partition_graph.h"

#ifdef MERCATOR_METIS
#include <metis.h>

bool mer_place_has_metis(void)
{
    return true;
}

/* Times, and, `with_memory`, bytes as a second weight of each vertex. */
static bool split(const MerPartitionGraph *graph, bool with_memory, uint64_t seed, idx_t *part,
                  MerArena *arena)
{
    idx_t   vertices = graph->vertex_count, parts = graph->worker_count;
    idx_t   weights = with_memory ? 2 : 1, cut;
    idx_t  *weight = MER_ARRAY(arena, idx_t, (size_t)vertices * 2 + 1);
    real_t *share = MER_ARRAY(arena, real_t, (size_t)parts * 2);
    idx_t   options[METIS_NOPTIONS];
    _Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS of 32 bits");
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

bool mer_place_metis(const MerPlace *place, bool with_memory, uint64_t seed, int *unit)
{
    MerArena          *arena = mer_arena_new();
    MerPartitionGraph *graph = mer_partition_graph_new(place, arena);
    idx_t             *part = MER_ARRAY(arena, idx_t, graph->vertex_count + 1);
    bool               is_small = graph->vertex_count <= graph->worker_count;
    for (int v = 0; v < graph->vertex_count; v++) {
        part[v] = is_small ? v : 0;
    }
    bool is_done = is_small || graph->worker_count == 1 || graph->arc_count == 0 ||
                   split(graph, with_memory, seed, part, arena);
    if (is_done) {
        mer_partition_apply(place, graph, part, unit);
    }
    mer_arena_free(arena);
    return is_done;
}

#else

bool mer_place_has_metis(void)
{
    return false;
}

bool mer_place_metis(const MerPlace *place, bool with_memory, uint64_t seed, int *unit)
{
    (void)place, (void)with_memory, (void)seed, (void)unit;
    return false;
}

#endif
