/* Parts by Scotch's dual recursive bipartitioning (Pellegrini and Roman, HPCN 1996): of equal time with few transfers, or mapped onto the
 * units and the links between them. */
#include "place/solve/partition_graph.h"

#ifdef MERCATOR_SCOTCH
#include <scotch.h>

/* Distance of two workers: microseconds that a byte takes between them, in parts of 1000 of the longest. */
static SCOTCH_Num distance(const MerPlace *place, int from, int to, double longest)
{
    const MerRoute *route = &place->routes[from * place->unit_count + to];
    double          part = route->count > 0 ? 1000 * route->us_per_byte / longest : 1000;
    return place->has_transfer_times || part < 1 ? 1 : (SCOTCH_Num)part;
}

static double longest_route(const MerPlace *place)
{
    double longest = 1e-300;
    for (int i = 0; i < place->unit_count * place->unit_count; i++) {
        longest =
            place->routes[i].count > 0 ? fmax(longest, place->routes[i].us_per_byte) : longest;
    }
    return longest;
}

/* The machine as a complete graph of its workers: each weighs its speed, each edge its distance. */
static bool build_machine(const MerPlace *place, const MerPartitionGraph *graph,
                          SCOTCH_Arch *machine, MerArena *arena)
{
    int          count = graph->worker_count, arcs = 0;
    SCOTCH_Num  *start = MER_ARRAY(arena, SCOTCH_Num, count + 1);
    SCOTCH_Num  *speed = MER_ARRAY(arena, SCOTCH_Num, count);
    SCOTCH_Num  *to = MER_ARRAY(arena, SCOTCH_Num, count * count);
    SCOTCH_Num  *length = MER_ARRAY(arena, SCOTCH_Num, count * count);
    double       longest = longest_route(place);
    SCOTCH_Graph links;
    SCOTCH_Strat halves; /* of the machine; the mapping has a strategy of its own */
    for (int a = 0; a < count; a++) {
        speed[a] = (SCOTCH_Num)(1 + 1000 * graph->share[a]);
        for (int b = 0; b < count; b++) {
            if (a != b) {
                to[arcs] = b;
                length[arcs++] = distance(place, graph->workers[a], graph->workers[b], longest);
            }
        }
        start[a + 1] = arcs;
    }
    for (int a = 0; a < count; a++) { /* both directions alike: the longer of the two */
        for (int b = 0; b < a; b++) {
            SCOTCH_Num *one = &length[start[a] + b], *two = &length[start[b] + a - 1];
            *one = *two = *one > *two ? *one : *two;
        }
    }
    SCOTCH_graphInit(&links);
    SCOTCH_stratInit(&halves);
    bool is_built =
        SCOTCH_graphBuild(&links, 0, count, start, NULL, speed, NULL, arcs, to, length) == 0 &&
        SCOTCH_archBuild(machine, &links, 0, NULL, &halves) == 0;
    SCOTCH_stratExit(&halves);
    SCOTCH_graphExit(&links);
    return is_built;
}

/* One thread and a seed of its own, so that the answer is always the same. */
static bool bind(SCOTCH_Context *context, const SCOTCH_Graph *graph, uint64_t seed,
                 SCOTCH_Graph *bound)
{
    return SCOTCH_contextOptionSetNum(context, SCOTCH_OPTIONNUMDETERMINISTIC, 1) == 0 &&
           SCOTCH_contextRandomClone(context) == 0 &&
           (SCOTCH_contextRandomSeed(context, (SCOTCH_Num)(seed & 0x7fffffff)), true) &&
           SCOTCH_contextThreadSpawn(context, 1, NULL) == 0 &&
           SCOTCH_contextBindGraph(context, graph, bound) == 0;
}

static bool split(const MerPlace *place, const MerPartitionGraph *graph, bool with_links,
                  uint64_t seed, SCOTCH_Num *part, MerArena *arena)
{
    SCOTCH_Graph   groups, bound;
    SCOTCH_Strat   strategy;
    SCOTCH_Context context;
    SCOTCH_Arch    machine;
    _Static_assert(sizeof(SCOTCH_Num) == sizeof(int32_t), "Scotch of 32 bits");
    SCOTCH_stratInit(&strategy);
    SCOTCH_graphInit(&groups);
    SCOTCH_graphInit(&bound);
    SCOTCH_contextInit(&context);
    SCOTCH_archInit(&machine);
    bool is_done =
        SCOTCH_graphBuild(&groups, 0, graph->vertex_count, graph->start, NULL, graph->time, NULL,
                          graph->arc_count, graph->neighbour, graph->edge_weight) == 0 &&
        bind(&context, &groups, seed, &bound);
    if (with_links) {
        is_done = is_done && build_machine(place, graph, &machine, arena) &&
                  SCOTCH_graphMap(&bound, &machine, &strategy, part) == 0;
    } else {
        is_done = is_done && SCOTCH_graphPart(&bound, graph->worker_count, &strategy, part) == 0;
    }
    SCOTCH_archExit(&machine);
    SCOTCH_graphExit(&bound);
    SCOTCH_contextExit(&context);
    SCOTCH_graphExit(&groups);
    SCOTCH_stratExit(&strategy);
    return is_done;
}

MerPartitioner *const mer_partition_scotch = split;
#else
MerPartitioner *const mer_partition_scotch = NULL;
#endif
