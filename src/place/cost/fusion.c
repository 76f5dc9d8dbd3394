/* Clusters of operators that run as one kernel, from a level per operator (docs/placement.md, "Fusion"). Operators with high levels are
 * merged with their producers first; a merge may forbid a later one, so that the order matters (GO, Zhou et al., NeurIPS
 * 2020, leaves legality open; the rules are ours). */
#include "place/cost/fusion.h"

#include <string.h>

static bool is_view(const MerPlace *place, int op)
{
    return place->moved_bytes && place->moved_bytes[op] == 0 && place->flops[op] == 0 &&
           place->before_start[op + 1] - place->before_start[op] == 1;
}

/* Batch normalisation at inference scales and shifts; the other ones look at all elements first. */
static bool is_scaling(const MerPlace *place, int op)
{
    return strcmp(place->graph->ops[op].source, "BatchNormalization") == 0;
}

/* A recurrence is a call of a library with all its parts: products and gates. */
static bool is_recurrent(const MerOp *op)
{
    return op->repeat > 1 || strcmp(op->source, "LSTM") == 0 || strcmp(op->source, "GRU") == 0 ||
           strcmp(op->source, "RNN") == 0;
}

MerFuseRole mer_fuse_role(const MerPlace *place, int op)
{
    if (is_recurrent(&place->graph->ops[op])) {
        return MER_FUSE_NEVER;
    }
    switch (place->kinds[op]) {
    case MER_OP_CONV:
    case MER_OP_DEPTHWISE:
    case MER_OP_TRANSPOSED:
    case MER_OP_GEMM:
    case MER_OP_BATCHED_GEMM:
        return MER_FUSE_ROOT;
    case MER_OP_NORM:
        return is_scaling(place, op) ? MER_FUSE_POINTWISE : MER_FUSE_REDUCTION;
    case MER_OP_POOL:
    case MER_OP_SOFTMAX:
    case MER_OP_REDUCE:
        return MER_FUSE_REDUCTION;
    case MER_OP_ELEMENTWISE:
        return MER_FUSE_POINTWISE;
    case MER_OP_MOVE:
        return is_view(place, op) ? MER_FUSE_VIEW : MER_FUSE_NEVER;
    default:
        return MER_FUSE_NEVER;
    }
}

/* Clusters while they grow, named by their first operators. They stay in a topological order of their own: operators that lie
 * between two merged ones move before or behind them (as Pearce and Kelly, 2006, do for edges that are added). */
typedef struct Clusters {
    const MerPlace *place;
    const int      *unit;
    MerFuseRole    *role;          /* of each operator */
    int            *first;         /* of each operator: the first operator of its cluster */
    int            *next;          /* member of the same cluster, rising; -1: the last */
    int            *size, *root;   /* of a cluster; root -1: none */
    int            *position, *at; /* of a cluster in the order, and back; -1: nothing any more */
    int            *seen, stamp;   /* clusters that the last walk came to */
    int            *stack;
} Clusters;

/* Elements of a result, or its bytes where shapes are not known. */
static double elements_of(const MerPlace *place, int op)
{
    const MerOp *node = &place->graph->ops[op];
    double       known =
        node->output_count > 0 ? (double)place->graph->values[node->outputs[0]].elements : 0;
    return known > 0 ? known : place->output_bytes[op];
}

/* An element-wise operator reads each of its elements once, or the smaller operand again and again; a reduction reads anything. */
static bool shapes_fit(const MerPlace *place, MerFuseRole consumer_role, int producer, int consumer)
{
    double given = elements_of(place, producer), made = elements_of(place, consumer);
    return given > 0 && made > 0 && (consumer_role == MER_FUSE_REDUCTION || given <= made);
}

/* Nothing of a cluster comes before its product or convolution. */
static bool feeds_root(const Clusters *c, int producers, int root)
{
    const MerPlace *place = c->place;
    for (int i = place->before_start[root]; i < place->before_start[root + 1]; i++) {
        if (c->first[place->before[i]] == producers) {
            return true;
        }
    }
    return false;
}

static bool roots_fit(const Clusters *c, int producers, int consumers)
{
    int root = c->root[consumers];
    return root < 0 || (c->root[producers] < 0 &&
                        (c->role[root] == MER_FUSE_REDUCTION || !feeds_root(c, producers, root)));
}

/* Puts the clusters that read `cluster` and come before `target` on the stack; true: one reads `target` itself, and it is not
 * the start that does. */
static bool visit_readers(Clusters *c, int cluster, int start, int target, int *stacked)
{
    const MerPlace *place = c->place;
    for (int member = cluster; member >= 0; member = c->next[member]) {
        for (int i = place->after_start[member]; i < place->after_start[member + 1]; i++) {
            int reader = c->first[place->after[i]];
            if (reader == target && cluster != start) {
                return true;
            }
            if (c->position[reader] < c->position[target] && c->seen[reader] != c->stamp) {
                c->seen[reader] = c->stamp;
                c->stack[(*stacked)++] = reader;
            }
        }
    }
    return false;
}

/* Is there a path from one cluster to another through a third? Merged they would wait for each other. */
static bool has_detour(Clusters *c, int from, int to)
{
    int stacked = 0;
    c->stamp++;
    c->seen[from] = c->stamp;
    if (visit_readers(c, from, from, to, &stacked)) {
        return true;
    }
    while (stacked > 0) {
        if (visit_readers(c, c->stack[--stacked], from, to, &stacked)) {
            return true;
        }
    }
    return false;
}

static bool may_merge(Clusters *c, int producer, int consumer)
{
    int from = c->first[producer], to = c->first[consumer];
    return from != to && c->role[producer] != MER_FUSE_NEVER &&
           c->role[consumer] != MER_FUSE_ROOT && c->unit[producer] == c->unit[consumer] &&
           c->size[from] + c->size[to] <= MER_FUSE_MOST &&
           shapes_fit(c->place, c->role[consumer], producer, consumer) && roots_fit(c, from, to) &&
           !has_detour(c, from, to);
}

/* Members of both, rising. */
static void join_members(Clusters *c, int first, int other)
{
    int at = first, rest = c->next[first];
    while (other >= 0) {
        int *taken = rest >= 0 && rest < other ? &rest : &other;
        c->next[at] = *taken;
        at = *taken;
        c->first[at] = first;
        *taken = c->next[at];
    }
    c->next[at] = rest;
}

/* What lies between the two in the order: what the walk from the first came to goes behind the merged cluster, the rest
 * before it. */
static void reorder(Clusters *c, int from, int to, int merged)
{
    int begin = c->position[from], end = c->position[to], write = begin, behind = 0;
    for (int p = begin; p <= end; p++) {
        int cluster = c->at[p];
        if (cluster < 0 || cluster == from || cluster == to) {
            continue;
        }
        if (c->seen[cluster] == c->stamp) {
            c->stack[behind++] = cluster;
        } else {
            c->position[cluster] = write;
            c->at[write++] = cluster;
        }
    }
    c->position[merged] = write;
    c->at[write++] = merged;
    for (int i = 0; i < behind; i++) {
        c->position[c->stack[i]] = write;
        c->at[write++] = c->stack[i];
    }
    while (write <= end) {
        c->at[write++] = -1;
    }
}

/* Right after has_detour found none. */
static void merge(Clusters *c, int from, int to)
{
    int merged = from < to ? from : to, size = c->size[from] + c->size[to];
    int root = c->root[from] >= 0 ? c->root[from] : c->root[to];
    reorder(c, from, to, merged);
    join_members(c, merged, from < to ? to : from);
    c->size[merged] = size;
    c->root[merged] = root;
}

static Clusters start_clusters(const MerPlace *place, const int *unit, int *first, MerArena *arena)
{
    size_t   count = (size_t)place->op_count;
    int     *numbers = MER_ARRAY(arena, int, 7 * count + 1);
    Clusters c = {.place = place,
                  .unit = unit,
                  .role = MER_ARRAY(arena, MerFuseRole, count + 1),
                  .first = first,
                  .next = numbers,
                  .size = numbers + count,
                  .root = numbers + 2 * count,
                  .position = numbers + 3 * count,
                  .at = numbers + 4 * count,
                  .seen = numbers + 5 * count,
                  .stack = numbers + 6 * count};
    for (int o = 0; o < place->op_count; o++) {
        c.role[o] = mer_fuse_role(place, o);
        c.first[o] = c.position[o] = c.at[o] = o;
        c.next[o] = -1;
        c.size[o] = 1;
        c.root[o] = mer_fuse_is_root(c.role[o]) ? o : -1;
    }
    return c;
}

/* Operators by falling level, of equal levels in topological order; those of level 0 are left out. */
static int sort_by_level(const MerPlace *place, const int *level, int *order, MerArena *arena)
{
    int *start = MER_ARRAY(arena, int, place->levels + 1), count = 0;
    for (int o = 0; o < place->op_count; o++) {
        start[level[o]]++;
    }
    for (int l = place->levels - 1; l > 0; l--) {
        int here = start[l];
        start[l] = count;
        count += here;
    }
    for (int o = 0; o < place->op_count; o++) {
        if (level[o] > 0) {
            order[start[level[o]]++] = o;
        }
    }
    return count;
}

void mer_place_fuse(const MerPlace *place, const int *unit, const int *level, int *cluster,
                    MerArena *arena)
{
    Clusters c = start_clusters(place, unit, cluster, arena);
    int     *order = MER_ARRAY(arena, int, place->op_count + 1);
    int      count = sort_by_level(place, level, order, arena);
    for (int i = 0; i < count; i++) {
        int op = order[i];
        for (int k = place->before_start[op];
             c.role[op] != MER_FUSE_NEVER && k < place->before_start[op + 1]; k++) {
            if (may_merge(&c, place->before[k], op)) {
                merge(&c, c.first[place->before[k]], c.first[op]);
            }
        }
    }
}
