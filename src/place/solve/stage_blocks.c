/* Blocks: what every contiguous split keeps together, or may as well (docs/placement.md, "Exact splits"). Groups that depend on each
 * other both ways are one block; a block without time joins its only neighbour, which spares its border and
 * makes no stage longer. */
#include "place/solve/stages.h"

#include <string.h>

#define NEW(type, count) MER_ARRAY(arena, type, (count) + 1)

typedef struct Pairs {
    int  count;
    int *from, *to;
} Pairs;

typedef struct
    Lists { /* of each node: list[start[n]] .. list[start[n + 1] - 1], rising, each once */
    int *start, *list;
} Lists;

static Pairs new_pairs(int most, MerArena *arena)
{
    return (Pairs){0, NEW(int, most), NEW(int, most)};
}

static void add_pair(Pairs *pairs, int from, int to)
{
    pairs->from[pairs->count] = from;
    pairs->to[pairs->count++] = to;
}

/* Numbers of `pairs` by rising key, those with equal keys as `order` has them. */
static int *sort_by(const int *key, const int *order, int count, int nodes, MerArena *arena)
{
    int *next = NEW(int, nodes), *sorted = NEW(int, count);
    for (int i = 0; i < count; i++) {
        next[key[i] + 1]++;
    }
    for (int n = 0; n < nodes; n++) {
        next[n + 1] += next[n];
    }
    for (int i = 0; i < count; i++) {
        int pair = order ? order[i] : i;
        sorted[next[key[pair]]++] = pair;
    }
    return sorted;
}

static Lists make_lists(const Pairs *pairs, int nodes, MerArena *arena)
{
    int  *by_to = sort_by(pairs->to, NULL, pairs->count, nodes, arena);
    int  *sorted = sort_by(pairs->from, by_to, pairs->count, nodes, arena);
    Lists lists = {NEW(int, nodes), NEW(int, pairs->count)};
    int   kept = 0, from = -1, to = -1;
    for (int i = 0; i < pairs->count; i++) {
        int pair = sorted[i];
        if (pairs->from[pair] != from || pairs->to[pair] != to) {
            from = pairs->from[pair];
            to = pairs->to[pair];
            lists.list[kept++] = to;
            lists.start[from + 1]++;
        }
    }
    for (int n = 0; n < nodes; n++) {
        lists.start[n + 1] += lists.start[n];
    }
    return lists;
}

/* Edges between groups (`of_group`: the number that stands for each) in the direction of forward operators; the edges of a
 * group of backward operators alone count the other way round, as if its forward ones were there. */
static Pairs find_edges(const MerPlace *place, const int *of_group, MerArena *arena)
{
    Pairs       pairs = new_pairs(place->edge_count, arena);
    const bool *is_backward = place->is_backward;
    bool       *is_orphan = NEW(bool, place->group_count);
    for (int g = 0; g < place->group_count; g++) {
        is_orphan[g] = mer_place_is_orphan(place, g);
    }
    for (int o = 0; o < place->op_count; o++) {
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int reader = place->after[i];
            int from = place->group[o], to = place->group[reader];
            if (of_group[from] == of_group[to]) {
                continue;
            }
            if (!is_backward[o] && !is_backward[reader]) {
                add_pair(&pairs, of_group[from], of_group[to]);
            } else if (is_backward[o] && is_backward[reader] &&
                       (is_orphan[from] || is_orphan[to])) {
                add_pair(&pairs, of_group[to], of_group[from]);
            }
        }
    }
    return pairs;
}

/* Both directions of everything that is read. */
static Pairs find_neighbours(const MerPlace *place, const int *of_group, MerArena *arena)
{
    Pairs pairs = new_pairs(2 * place->edge_count, arena);
    for (int o = 0; o < place->op_count; o++) {
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int from = of_group[place->group[o]], to = of_group[place->group[place->after[i]]];
            if (from != to) {
                add_pair(&pairs, from, to);
                add_pair(&pairs, to, from);
            }
        }
    }
    return pairs;
}

/* Tarjan, Depth-First Search and Linear Graph Algorithms, 1972, without recursion. */
typedef struct Components {
    const Lists *after;
    int         *number, *low, *component; /* of nodes; number 0: not seen, component -1: open */
    int         *stack, *path, *next;      /* open nodes; nodes being visited and their next edge */
    int          seen, open, depth, count;
} Components;

static void enter(Components *c, int node)
{
    c->number[node] = c->low[node] = ++c->seen;
    c->stack[c->open++] = node;
    c->next[c->depth] = c->after->start[node];
    c->path[c->depth++] = node;
}

static void leave(Components *c)
{
    int node = c->path[--c->depth];
    if (c->low[node] == c->number[node]) {
        int member;
        do {
            member = c->stack[--c->open];
            c->component[member] = c->count;
        } while (member != node);
        c->count++;
    }
    if (c->depth > 0) {
        int parent = c->path[c->depth - 1];
        c->low[parent] = c->low[node] < c->low[parent] ? c->low[node] : c->low[parent];
    }
}

static void visit(Components *c, int root)
{
    enter(c, root);
    while (c->depth > 0) {
        int node = c->path[c->depth - 1];
        if (c->next[c->depth - 1] == c->after->start[node + 1]) {
            leave(c);
            continue;
        }
        int to = c->after->list[c->next[c->depth - 1]++];
        if (c->number[to] == 0) {
            enter(c, to);
        } else if (c->component[to] < 0 && c->number[to] < c->low[node]) {
            c->low[node] = c->number[to];
        }
    }
}

/* Components of mutual dependence, numbered so that edges rise; returns their number. */
static int find_components(const Lists *after, int nodes, int *component, MerArena *arena)
{
    Components c = {.after = after,
                    .number = NEW(int, nodes),
                    .low = NEW(int, nodes),
                    .component = component,
                    .stack = NEW(int, nodes),
                    .path = NEW(int, nodes),
                    .next = NEW(int, nodes)};
    memset(component, -1, (size_t)nodes * sizeof *component);
    for (int n = nodes - 1; n >= 0; n--) { /* so that unrelated ones keep their order */
        if (c.number[n] == 0) {
            visit(&c, n);
        }
    }
    for (int n = 0; n < nodes; n++) {
        component[n] = c.count - 1 - component[n];
    }
    return c.count;
}

static void add_group(const MerPlace *place, const MerPlaceRules *rules, const MerStageKinds *kinds,
                      int group, double *time, bool *is_barred)
{
    double weights = 0;
    for (int i = place->member_start[group]; i < place->member_start[group + 1]; i++) {
        int op = place->members[i];
        weights += place->weight_bytes ? place->weight_bytes[op] : place->size[op];
    }
    for (int k = 0; k < kinds->count; k++) {
        double m = kinds->replicas[k];
        bool   may_run = false;
        for (int i = place->choice_start[group]; i < place->choice_start[group + 1]; i++) {
            may_run = may_run || place->choices[i] == kinds->unit[k];
        }
        size_t at = (size_t)group * (size_t)place->unit_count + (size_t)kinds->unit[k];
        if (!may_run || place->group_us[at] == INFINITY) {
            is_barred[k] = true;
        } else { /* PipeDream, section 3.1: m units share the samples and exchange the weights */
            time[k] +=
                (place->group_us[at] + 4 * (m - 1) * weights / (rules->bytes_per_us * m)) / m;
        }
    }
}

typedef struct Sums { /* of blocks, as in MerStageBlocks */
    double *time, *size;
    bool   *is_barred;
} Sums;

static Sums add_up(const MerPlace *place, const MerPlaceRules *rules, const MerStageKinds *kinds,
                   const int *of_group, int count, MerArena *arena)
{
    size_t cells = (size_t)count * (size_t)kinds->count;
    Sums   sums = {NEW(double, cells), NEW(double, count), NEW(bool, cells)};
    for (int g = 0; g < place->group_count; g++) {
        size_t row = (size_t)of_group[g] * (size_t)kinds->count;
        sums.size[of_group[g]] += place->group_size[g];
        add_group(place, rules, kinds, g, sums.time + row, sums.is_barred + row);
    }
    for (size_t i = 0; i < cells; i++) {
        sums.time[i] = sums.is_barred[i] ? 0 : sums.time[i];
    }
    return sums;
}

static bool has_time(const Sums *sums, int kinds, int node)
{
    for (int k = 0; k < kinds; k++) {
        if (sums->time[(size_t)node * (size_t)kinds + (size_t)k] > 0) {
            return true;
        }
    }
    return false;
}

/* May `node` be wherever `other` may? */
static bool fits_with(const Sums *sums, int kinds, int node, int other)
{
    for (int k = 0; k < kinds; k++) {
        if (sums->is_barred[(size_t)node * (size_t)kinds + (size_t)k] &&
            !sums->is_barred[(size_t)other * (size_t)kinds + (size_t)k]) {
            return false;
        }
    }
    return true;
}

/* Can the sizes of stages pass a limit at all? */
static bool memory_matters(const MerPlace *place, const MerPlaceRules *rules)
{
    double total = 0, least = INFINITY;
    for (int g = 0; g < place->group_count; g++) {
        total += place->group_size[g];
    }
    for (int u = 0; u < place->unit_count; u++) {
        least = fmin(least, place->limit[u]);
    }
    return !rules->ignores_limits && total > least;
}

static int find_target(const Lists *neighbours, const int *target, int node)
{
    for (int i = neighbours->start[node]; i < neighbours->start[node + 1]; i++) {
        if (target[neighbours->list[i]] == neighbours->list[i]) {
            return neighbours->list[i];
        }
    }
    return -1;
}

/* Nodes without time that have one neighbour left join it, again and again. `target` of a node: what it joined, or itself.
 * What has one neighbour adds none to that, so neighbours only get fewer. */
static void merge_timeless(const Lists *neighbours, const Sums *sums, int kinds, int count,
                           bool sizes_matter, int *target, MerArena *arena)
{
    int *left = NEW(int, count), *ready = NEW(int, count), ready_count = 0;
    for (int n = count - 1; n >= 0; n--) {
        target[n] = n;
        left[n] = neighbours->start[n + 1] - neighbours->start[n];
        if (left[n] == 1 && !has_time(sums, kinds, n)) {
            ready[ready_count++] = n;
        }
    }
    while (ready_count > 0) {
        int node = ready[--ready_count];
        int to = find_target(neighbours, target, node);
        if (to < 0 || !fits_with(sums, kinds, node, to) || (sizes_matter && sums->size[node] > 0)) {
            continue;
        }
        target[node] = to;
        sums->size[to] += sums->size[node];
        if (--left[to] == 1 && !has_time(sums, kinds, to)) {
            ready[ready_count++] = to;
        }
    }
}

static int end_of(int *target, int node)
{
    while (target[node] != node) {
        target[node] = target[target[node]]; /* a shorter way for the next who asks */
        node = target[node];
    }
    return node;
}

/* Numbers of the nodes that are left, in their order, for all groups; returns how many. */
static int number_blocks(int *target, int nodes, const int *of_group, int groups,
                         int *block_of_group, MerArena *arena)
{
    int *number = NEW(int, nodes), count = 0;
    for (int n = 0; n < nodes; n++) {
        number[n] = target[n] == n ? count++ : -1;
    }
    for (int g = 0; g < groups; g++) {
        block_of_group[g] = number[end_of(target, of_group[g])];
    }
    return count;
}

static void set_edges(const MerPlace *place, MerStageBlocks *blocks, MerArena *arena)
{
    Pairs pairs = find_edges(place, blocks->block_of_group, arena);
    Lists after = make_lists(&pairs, blocks->count, arena);
    Lists before = make_lists(&(Pairs){pairs.count, pairs.to, pairs.from}, blocks->count, arena);
    blocks->after_start = after.start;
    blocks->after = after.list;
    blocks->before_start = before.start;
    blocks->before = before.list;
}

/* Work is the time where it is shortest, with all its replicas; power what a kind does of it at best. */
static void set_power(MerStageBlocks *blocks, const MerStageKinds *kinds, MerArena *arena)
{
    double *work = NEW(double, blocks->count), *power = NEW(double, kinds->count);
    for (int b = 0; b < blocks->count; b++) {
        const double *time = blocks->time_us + (size_t)b * (size_t)kinds->count;
        const bool   *is_barred = blocks->is_barred + (size_t)b * (size_t)kinds->count;
        double        least = INFINITY;
        for (int k = 0; k < kinds->count; k++) {
            least = is_barred[k] ? least : fmin(least, time[k] * kinds->replicas[k]);
        }
        work[b] = least < INFINITY ? least : 0;
        for (int k = 0; k < kinds->count; k++) {
            power[k] = time[k] > 0 ? fmax(power[k], work[b] / time[k]) : power[k];
        }
    }
    blocks->work_us = work;
    blocks->power = power;
}

MerStageBlocks *mer_stage_blocks(const MerPlace *place, const MerPlaceRules *rules,
                                 const MerStageKinds *kinds, MerStageMerges merge, MerArena *arena)
{
    MerStageBlocks *blocks = MER_NEW(arena, MerStageBlocks);
    int             groups = place->group_count;
    int *own = NEW(int, groups), *component = NEW(int, groups), *target = NEW(int, groups);
    for (int g = 0; g < groups; g++) {
        own[g] = target[g] = g;
    }
    Pairs pairs = find_edges(place, own, arena);
    Lists after = make_lists(&pairs, groups, arena);
    int   nodes = find_components(&after, groups, component, arena);
    if (merge.merges) {
        Sums  sums = add_up(place, rules, kinds, component, nodes, arena);
        Pairs both = find_neighbours(place, component, arena);
        Lists neighbours = make_lists(&both, nodes, arena);
        merge_timeless(&neighbours, &sums, kinds->count, nodes,
                       !merge.merges_sizes && memory_matters(place, rules), target, arena);
    }
    blocks->kind_count = kinds->count;
    blocks->block_of_group = own;
    blocks->count = number_blocks(target, nodes, component, groups, own, arena);
    Sums sums = add_up(place, rules, kinds, own, blocks->count, arena);
    blocks->time_us = sums.time;
    blocks->size = sums.size;
    blocks->is_barred = sums.is_barred;
    blocks->overlaps = rules->overlaps || place->is_pipeline;
    set_edges(place, blocks, arena);
    set_power(blocks, kinds, arena);
    mer_stage_find_nets(place, rules, kinds, blocks, arena);
    return blocks;
}
