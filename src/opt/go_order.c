/* The order in which `go` walks a graph: one that depends on what the operators are and how they hang together, not on how they are
 * numbered, and that leaves few results waiting. Producers are emitted where they are first needed, so that weights stand
 * beside their consumers. Of training graphs the forward operators count: the backward ones go with their groups. */
#include "opt/go_graph.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Sorter {
    MerGoGraph *graph;
    uint64_t   *hash; /* of each operator, by structure */
    int        *depth, *order, *rank;
    int         done;
} Sorter;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
}

static uint64_t mix_real(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return mix(hash ^ bits) + 1;
}

/* What an operator is, then what it is made from, then what is made of it. */
static void hash_ops(Sorter *s)
{
    const MerGoGraph *g = s->graph;
    for (int o = 0; o < g->op_count; o++) {
        uint64_t h = mix_real(mix_real(mix_real(1, g->size[o]), g->bytes[o]), g->transfer[o]);
        for (int u = 0; u < g->unit_count; u++) {
            h = mix_real(h, g->op_time[(int64_t)o * g->unit_count + u]);
        }
        uint64_t inputs = 0;
        for (int i = g->before_start[o]; i < g->before_start[o + 1]; i++) {
            int b = g->before[i];
            inputs += mix(s->hash[b]);
            s->depth[o] = s->depth[b] + 1 > s->depth[o] ? s->depth[b] + 1 : s->depth[o];
        }
        s->hash[o] = mix(h ^ mix((uint64_t)g->kind[o] * 2 + g->is_backward[o]) ^ inputs);
    }
    for (int o = g->op_count - 1; o >= 0; o--) {
        uint64_t outputs = 0;
        for (int i = g->after_start[o]; i < g->after_start[o + 1]; i++) {
            outputs += mix(s->hash[g->after[i]] + 7);
        }
        s->hash[o] = mix(s->hash[o] ^ outputs);
        s->graph->fingerprint += mix(s->hash[o]);
    }
}

static void measure_ways(MerGoGraph *g, MerArena *arena)
{
    double *until = MER_ARRAY(arena, double, g->op_count + 1);
    double *onward = MER_ARRAY(arena, double, g->op_count + 1);
    for (int o = 0; o < g->op_count; o++) {
        for (int i = g->before_start[o]; i < g->before_start[o + 1]; i++) {
            until[o] = fmax(until[o], until[g->before[i]]);
        }
        until[o] += g->op_work[o];
    }
    for (int o = g->op_count - 1; o >= 0; o--) {
        for (int i = g->after_start[o]; i < g->after_start[o + 1]; i++) {
            onward[o] = fmax(onward[o], onward[g->after[i]]);
        }
        onward[o] += g->op_work[o];
    }
    g->until = until;
    g->onward = onward;
}

typedef struct Entry { /* an operator or a group, and what it is sorted by */
    int      item;
    double   key;
    uint64_t hash;
} Entry;

static int by_key(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : x->item - y->item;
}

/* Forward producers of an operator that have not come yet, onto the stack: the deepest comes first. */
static int push_inputs(const Sorter *s, int op, Entry *stack, int top)
{
    const MerGoGraph *g = s->graph;
    int               first = top;
    for (int i = g->before_start[op]; i < g->before_start[op + 1]; i++) {
        int b = g->before[i];
        if (s->rank[b] < 0 && g->is_backward[b] == g->is_backward[op]) {
            stack[top++] = (Entry){b, s->depth[b], s->hash[b]};
        }
    }
    qsort(stack + first, (size_t)(top - first), sizeof *stack, by_key);
    return top;
}

static void emit(Sorter *s, int op)
{
    s->rank[op] = s->done;
    s->order[s->done++] = op;
}

/* All that leads to an operator, then the operator. An operator may lie on the stack several times: edges bound it. */
static void emit_tree(Sorter *s, int root, Entry *stack)
{
    int top = 0;
    stack[top++] = (Entry){.item = root};
    while (top > 0) {
        int op = stack[top - 1].item, next = top;
        if (s->rank[op] < 0) {
            next = push_inputs(s, op, stack, top);
            if (next == top) {
                emit(s, op);
            }
        }
        top = next == top ? top - 1 : next;
    }
}

/* Ends of the graph, the shallow ones first: an output on the way comes where it is made. */
static void emit_part(Sorter *s, bool is_backward)
{
    const MerGoGraph *g = s->graph;
    Entry            *ends = mer_heap_zeroed((size_t)g->op_count + 1, sizeof *ends);
    Entry *stack = mer_heap_zeroed((size_t)g->op_count + (size_t)g->edge_count + 2, sizeof *stack);
    int    count = 0;
    for (int o = 0; o < g->op_count; o++) {
        bool is_end = g->is_backward[o] == is_backward;
        for (int i = g->after_start[o]; i < g->after_start[o + 1] && is_end; i++) {
            is_end = g->is_backward[g->after[i]] != is_backward;
        }
        if (is_end) {
            ends[count++] = (Entry){o, s->depth[o], s->hash[o]};
        }
    }
    qsort(ends, (size_t)count, sizeof *ends, by_key);
    for (int i = 0; i < count; i++) {
        emit_tree(s, ends[i].item, stack);
    }
    free(ends);
    free(stack);
}

/* Where groups stand: the mean rank of their forward operators, by work. */
static double group_key(const MerGoGraph *g, int group)
{
    double weighted = 0, weight = 0, sum = 0;
    int    count = 0;
    for (int i = g->member_start[group]; i < g->member_start[group + 1]; i++) {
        int o = g->members[i];
        if (!g->is_backward[o]) {
            weighted += g->op_work[o] * g->op_rank[o];
            weight += g->op_work[o];
            sum += g->op_rank[o];
            count++;
        }
    }
    return weight > 0 ? weighted / weight : count > 0 ? sum / count : NAN;
}

/* Groups without forward operators stand amid those that they exchange results with. */
static bool spread_keys(const MerGoGraph *g, double *key)
{
    double *sum = mer_heap_zeroed((size_t)g->group_count + 1, sizeof *sum);
    double *count = mer_heap_zeroed((size_t)g->group_count + 1, sizeof *count);
    bool    is_changed = false;
    for (int e = 0; e < g->edge_count; e++) {
        int a = g->group[g->from[e]], b = g->group[g->to[e]];
        if (isnan(key[a]) != isnan(key[b])) {
            int open = isnan(key[a]) ? a : b, known = isnan(key[a]) ? b : a;
            sum[open] += key[known];
            count[open]++;
        }
    }
    for (int i = 0; i < g->group_count; i++) {
        if (count[i] > 0) {
            key[i] = sum[i] / count[i];
            is_changed = true;
        }
    }
    free(sum);
    free(count);
    return is_changed;
}

static void order_groups(Sorter *s, MerArena *arena)
{
    MerGoGraph *g = s->graph;
    double     *key = mer_heap_zeroed((size_t)g->group_count + 1, sizeof *key);
    Entry      *list = mer_heap_zeroed((size_t)g->group_count + 1, sizeof *list);
    int        *order = MER_ARRAY(arena, int, g->group_count + 1);
    int        *rank = MER_ARRAY(arena, int, g->group_count + 1);
    for (int i = 0; i < g->group_count; i++) {
        key[i] = group_key(g, i);
    }
    while (spread_keys(g, key)) {
    }
    for (int i = 0; i < g->group_count; i++) {
        bool has_members = g->member_start[i + 1] > g->member_start[i];
        list[i] = (Entry){i, isnan(key[i]) ? 0.5 * g->op_count : key[i],
                          has_members ? s->hash[g->members[g->member_start[i]]] : 0};
    }
    qsort(list, (size_t)g->group_count, sizeof *list, by_key);
    for (int i = 0; i < g->group_count; i++) {
        order[i] = list[i].item;
        rank[order[i]] = i;
    }
    g->group_order = order;
    g->group_rank = rank;
    free(key);
    free(list);
}

static void measure_positions(MerGoGraph *g, MerArena *arena)
{
    double *gap = MER_ARRAY(arena, double, g->group_count + 2);
    double *position = MER_ARRAY(arena, double, g->group_count + 1);
    double  all = 0, sum = 0;
    for (int i = 0; i < g->group_count; i++) {
        all += g->work[i];
    }
    for (int i = 0; i < g->group_count; i++) {
        int group = g->group_order[i];
        gap[i] = all > 0 ? sum / all : (double)i / g->group_count;
        sum += g->work[group];
        gap[i + 1] = all > 0 ? sum / all : (i + 1.0) / g->group_count;
        position[group] = (gap[i] + gap[i + 1]) / 2;
    }
    g->gap_position = gap;
    g->position = position;
}

/* A result crosses the gaps between the first and the last of its producer and consumers. */
static void measure_gaps(MerGoGraph *g, MerArena *arena)
{
    double *cost = MER_ARRAY(arena, double, g->group_count + 2);
    for (int o = 0; o < g->op_count; o++) {
        int first = g->group_rank[g->group[o]], last = first;
        for (int i = g->after_start[o]; i < g->after_start[o + 1]; i++) {
            int rank = g->group_rank[g->group[g->after[i]]];
            first = rank < first ? rank : first;
            last = rank > last ? rank : last;
        }
        cost[first + 1] += g->transfer[o];
        cost[last + 1] -= g->transfer[o];
    }
    for (int i = 0; i < g->group_count; i++) {
        cost[i + 1] += cost[i];
    }
    for (int i = 0; i <= g->group_count; i++) {
        cost[i] = cost[i] > 1e-9 * g->mean_load ? cost[i] : 0;
    }
    g->gap_cost = cost;
}

static void order_units(MerGoGraph *g, MerArena *arena)
{
    int    *lane = MER_ARRAY(arena, int, g->unit_count + 1);
    double *share = MER_ARRAY(arena, double, g->unit_count + 1), all = 0, sum = 0;
    int     count = 0;
    for (int host = 0; host < 2; host++) {
        for (int u = 0; u < g->unit_count; u++) {
            if (g->is_host[u] == (host == 1)) {
                lane[count++] = u;
                all += g->speed[u];
            }
        }
    }
    for (int i = 0; i < g->unit_count; i++) {
        sum += g->speed[lane[i]];
        share[i] = all > 0 ? sum / all : 1;
    }
    g->lane = lane;
    g->share = share;
}

void mer_go_graph_order(MerGoGraph *graph, MerArena *arena)
{
    Sorter s = {.graph = graph,
                .hash = mer_heap_zeroed((size_t)graph->op_count + 1, sizeof *s.hash),
                .depth = MER_ARRAY(arena, int, graph->op_count + 1),
                .order = MER_ARRAY(arena, int, graph->op_count + 1),
                .rank = MER_ARRAY(arena, int, graph->op_count + 1)};
    memset(s.rank, -1, sizeof *s.rank * (size_t)graph->op_count);
    hash_ops(&s);
    emit_part(&s, false);
    emit_part(&s, true);
    graph->op_order = s.order;
    graph->op_rank = s.rank;
    graph->depth = s.depth;
    order_groups(&s, arena);
    measure_ways(graph, arena);
    measure_positions(graph, arena);
    measure_gaps(graph, arena);
    order_units(graph, arena);
    free(s.hash);
}

static bool fits(const MerGoGraph *g, int group, int lane, const double *used)
{
    int unit = g->lane[lane];
    return mer_go_allows(g, group, unit) && used[lane] + g->group_size[group] <= g->limit[unit];
}

/* The lane nearest to `wanted` where the group may go and has space left, the earlier of two; without space, where it may go. */
static int nearest_lane(const MerGoGraph *g, int group, int wanted, const double *used)
{
    int allowed = -1;
    for (int d = 0; d < g->unit_count; d++) {
        for (int side = 0; side < (d > 0 ? 2 : 1); side++) {
            int lane = side == 0 ? wanted - d : wanted + d;
            if (lane < 0 || lane >= g->unit_count) {
                continue;
            }
            if (fits(g, group, lane, used)) {
                return lane;
            }
            allowed = allowed < 0 && mer_go_allows(g, group, g->lane[lane]) ? lane : allowed;
        }
    }
    return allowed >= 0 ? allowed : wanted;
}

void mer_go_cut(const MerGoGraph *g, const int *cuts, int *unit)
{
    double *used = mer_heap_zeroed((size_t)g->unit_count + 1, sizeof *used);
    for (int i = 0; i < g->group_count; i++) {
        int lane = 0;
        for (int k = 0; k < g->unit_count - 1; k++) {
            lane += cuts[k] <= i;
        }
        int group = g->group_order[i];
        lane = nearest_lane(g, group, lane, used);
        used[lane] += g->group_size[group];
        unit[group] = g->lane[lane];
    }
    free(used);
}
