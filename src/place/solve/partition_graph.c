/* The graph that partitioners see: vertices weigh their time, edges the transfers that a cut between two groups costs. */
#include "place/solve/partition_graph.h"

#include "place/solve/placements.h"

#include <stdlib.h>

typedef struct Arc {
    int    from, to;
    double weight;
} Arc;

static int compare_arcs(const void *a, const void *b)
{
    const Arc *x = a, *y = b;
    if (x->from != y->from) {
        return (x->from > y->from) - (x->from < y->from);
    }
    return (x->to > y->to) - (x->to < y->to);
}

static double largest_transfer(const MerPlace *place, int op)
{
    double most = 0;
    for (int u = 0; u < place->unit_count; u++) {
        double us = place->transfer_us[(size_t)op * (size_t)place->unit_count + (size_t)u];
        most = isfinite(us) ? fmax(most, us) : most;
    }
    return most;
}

/* Both directions of every edge between groups; a result that several operators of a group read counts once for it. */
static int list_arcs(const MerPlace *place, Arc *arcs, int *seen)
{
    int count = 0;
    for (int o = 0; o < place->op_count; o++) {
        double weight = largest_transfer(place, o);
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int from = place->group[o], to = place->group[place->after[i]];
            if (from != to && seen[to] != o + 1) {
                seen[to] = o + 1;
                arcs[count++] = (Arc){from, to, weight};
                arcs[count++] = (Arc){to, from, weight};
            }
        }
    }
    qsort(arcs, (size_t)count, sizeof *arcs, compare_arcs);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (kept > 0 && compare_arcs(&arcs[kept - 1], &arcs[i]) == 0) {
            arcs[kept - 1].weight += arcs[i].weight;
        } else {
            arcs[kept++] = arcs[i];
        }
    }
    return kept;
}

/* Whole numbers that together stay below 2^30, as libraries with 32 bits need it. */
static void scale(const double *values, int count, int least, int32_t *scaled)
{
    double all = 0;
    for (int i = 0; i < count; i++) {
        all += values[i];
    }
    for (int i = 0; i < count; i++) {
        double part = all > 0 ? values[i] / all * (double)(1 << 29) : 0;
        scaled[i] = part > least ? (int32_t)part : least;
    }
}

/* Parts in proportion to speed: the inverse of the time that all groups it may take need on a worker. */
static void find_shares(const MerPlace *place, MerPartitionGraph *graph)
{
    double sum = 0;
    for (int w = 0; w < graph->worker_count; w++) {
        double own = 0, mean = 0;
        for (int g = 0; g < place->group_count; g++) {
            if (mer_place_may_take(place, g, graph->workers[w])) {
                own += place->group_us[(size_t)g * (size_t)place->unit_count +
                                       (size_t)graph->workers[w]];
                mean += mer_place_mean_us(place, g, graph->workers, graph->worker_count);
            }
        }
        graph->share[w] = own > 0 ? mean / own : 1;
        sum += graph->share[w];
    }
    for (int w = 0; w < graph->worker_count; w++) {
        graph->share[w] /= sum;
    }
}

static void write_arcs(MerPartitionGraph *graph, const Arc *arcs, MerArena *arena,
                       MerArena *scratch)
{
    int     count = graph->arc_count;
    double *weights = MER_ARRAY(scratch, double, count + 1);
    graph->start = MER_ARRAY(arena, int32_t, graph->vertex_count + 1);
    graph->neighbour = MER_ARRAY(arena, int32_t, count + 1);
    graph->edge_weight = MER_ARRAY(arena, int32_t, count + 1);
    for (int i = 0; i < count; i++) {
        graph->start[arcs[i].from + 1]++;
        graph->neighbour[i] = arcs[i].to;
        weights[i] = arcs[i].weight;
    }
    for (int v = 0; v < graph->vertex_count; v++) {
        graph->start[v + 1] += graph->start[v];
    }
    scale(weights, count, 1, graph->edge_weight);
}

MerPartitionGraph *mer_partition_graph_new(const MerPlace *place, MerArena *arena)
{
    MerArena          *scratch = mer_arena_new();
    MerPartitionGraph *graph = MER_NEW(arena, MerPartitionGraph);
    int                groups = place->group_count;
    double            *times = MER_ARRAY(scratch, double, groups + 1);
    Arc               *arcs = MER_ARRAY(scratch, Arc, 2 * (size_t)place->edge_count + 1);
    *graph = (MerPartitionGraph){.vertex_count = groups,
                                 .time = MER_ARRAY(arena, int32_t, groups + 1),
                                 .bytes = MER_ARRAY(arena, int32_t, groups + 1),
                                 .workers = MER_ARRAY(arena, int, place->unit_count),
                                 .share = MER_ARRAY(arena, double, place->unit_count)};
    graph->worker_count = mer_place_workers(place, graph->workers);
    graph->arc_count = list_arcs(place, arcs, MER_ARRAY(scratch, int, groups + 1));
    for (int g = 0; g < groups; g++) {
        times[g] = mer_place_mean_us(place, g, graph->workers, graph->worker_count);
    }
    scale(times, groups, 0, graph->time);
    scale(place->group_size, groups, 0, graph->bytes);
    find_shares(place, graph);
    write_arcs(graph, arcs, arena, scratch);
    mer_arena_free(scratch);
    return graph;
}

bool mer_place_partition(const MerPlace *place, MerPartitioner *partitioner, bool variant,
                         uint64_t seed, int *unit)
{
    MerArena          *arena = mer_arena_new();
    MerPartitionGraph *graph = mer_partition_graph_new(place, arena);
    int32_t           *part = MER_ARRAY(arena, int32_t, graph->vertex_count + 1);
    bool               is_done = partitioner && (graph->worker_count == 1 ||
                                   partitioner(place, graph, variant, seed, part, arena));
    for (int g = 0; is_done && g < place->group_count; g++) {
        int wanted = graph->workers[part[g]];
        unit[g] = mer_place_may_take(place, g, wanted) ? wanted : mer_place_instead(place, g);
    }
    mer_arena_free(arena);
    return is_done;
}
