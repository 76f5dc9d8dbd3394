/* The single-consumer rule (Mirhoseini et al., ICML 2017; Baechi): an operator whose result one other operator reads
 * joins it. Both readings of it (docs/placement.md, "Co-location"). */
#include "place/inputs/groups.h"

#include "base/key_table.h"

static bool is_allowed(const MerGroupForest *forest, int a, int b, double limit)
{
    return isinf(limit) || forest->work[a] + forest->work[b] <= limit * forest->total;
}

void mer_groups_by_output(MerGroupForest *forest, const MerPlace *place, double limit)
{
    for (int o = 0; o < place->op_count; o++) {
        if (place->after_start[o + 1] - place->after_start[o] != 1) {
            continue;
        }
        int a = mer_group_root(forest, o);
        int b = mer_group_root(forest, place->after[place->after_start[o]]);
        if (a != b && is_allowed(forest, a, b, limit)) {
            mer_group_merge(forest, a, b);
        }
    }
}

typedef struct List {
    int  count, capacity;
    int *items;
} List;

/* The graph between groups. Lists keep ends that have been merged since: their roots count, and an edge counts if it
 * is alive. */
typedef struct Quotient {
    MerGroupForest *forest;
    MerArena       *scratch;
    List           *after, *before; /* of each root */
    int            *width;          /* of each root: different groups that read from it */
    MerKeyTable     edges;          /* from pairs of roots to places in `alive` */
    bool           *alive;
    int             edge_count;
    int             waiting_count, waiting_at; /* groups to look at, first come, first served */
    int            *waiting;
} Quotient;

static void append(List *list, int item, MerArena *scratch)
{
    if (list->count == list->capacity) {
        int *items = MER_ARRAY(scratch, int, list->capacity = 2 * list->capacity + 2);
        for (int i = 0; i < list->count; i++) {
            items[i] = list->items[i];
        }
        list->items = items;
    }
    list->items[list->count++] = item;
}

static uint64_t pair(int from, int to)
{
    return ((uint64_t)(unsigned)from << 32 | (unsigned)to) * UINT64_C(0x9e3779b97f4a7c15);
}

static void look_at(Quotient *quotient, int group)
{
    MER_GROW(quotient->scratch, quotient->waiting, quotient->waiting_count);
    quotient->waiting[quotient->waiting_count++] = group;
}

static bool take_edge(Quotient *quotient, int from, int to)
{
    int  edge = mer_key_table_find(&quotient->edges, pair(from, to));
    bool was_alive = edge >= 0 && quotient->alive[edge];
    if (was_alive) {
        quotient->alive[edge] = false;
        quotient->width[from]--;
    }
    return was_alive;
}

/* Both ends are roots and differ; an edge that is there already is not put in twice. */
static void put_edge(Quotient *quotient, int from, int to)
{
    int edge = mer_key_table_add(&quotient->edges, pair(from, to), quotient->edge_count);
    if (edge == quotient->edge_count) {
        MER_GROW(quotient->scratch, quotient->alive, quotient->edge_count);
        quotient->alive[quotient->edge_count++] = false;
    }
    if (!quotient->alive[edge]) {
        quotient->alive[edge] = true;
        quotient->width[from]++;
        append(&quotient->after[from], to, quotient->scratch);
        append(&quotient->before[to], from, quotient->scratch);
    }
}

/* The group that reads from `group`, which has exactly one such; what the list has kept in vain is dropped. */
static int only_reader(Quotient *quotient, int group)
{
    List *list = &quotient->after[group];
    int   reader = -1, kept = 0;
    for (int i = 0; i < list->count; i++) {
        int other = mer_group_root(quotient->forest, list->items[i]);
        int edge = mer_key_table_find(&quotient->edges, pair(group, other));
        if (other != reader && edge >= 0 && quotient->alive[edge]) {
            reader = list->items[kept++] = other;
        }
    }
    list->count = kept;
    return reader;
}

/* The edges of one group become those of the other, which has more: so each edge moves a few times only. */
static void move_edges(Quotient *quotient, int into, int from)
{
    MerGroupForest *forest = quotient->forest;
    List            after = quotient->after[from], before = quotient->before[from];
    for (int i = 0; i < after.count; i++) {
        int to = mer_group_root(forest, after.items[i]);
        if (take_edge(quotient, from, to) && to != into) {
            put_edge(quotient, into, to);
        }
    }
    for (int i = 0; i < before.count; i++) {
        int source = mer_group_root(forest, before.items[i]);
        if (take_edge(quotient, source, from) && source != into) {
            put_edge(quotient, source, into);
            if (quotient->width[source] == 1) {
                look_at(quotient, source);
            }
        }
    }
}

static void merge(Quotient *quotient, int a, int b)
{
    int  edges_a = quotient->after[a].count + quotient->before[a].count;
    int  edges_b = quotient->after[b].count + quotient->before[b].count;
    bool is_first = edges_a >= edges_b;
    int  into = is_first ? a : b, from = is_first ? b : a;
    move_edges(quotient, into, from);
    mer_group_join(quotient->forest, into, from);
    if (quotient->width[into] == 1) {
        look_at(quotient, into);
    }
}

void mer_groups_by_group(MerGroupForest *forest, const MerPlace *place, double limit,
                         MerArena *scratch)
{
    int      count = place->op_count;
    Quotient quotient = {.forest = forest,
                         .scratch = scratch,
                         .after = MER_ARRAY(scratch, List, count),
                         .before = MER_ARRAY(scratch, List, count),
                         .width = MER_ARRAY(scratch, int, count),
                         .edges = {.arena = scratch}};
    for (int o = 0; o < count; o++) {
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int from = mer_group_root(forest, o), to = mer_group_root(forest, place->after[i]);
            if (from != to) {
                put_edge(&quotient, from, to);
            }
        }
    }
    for (int o = 0; o < count; o++) {
        if (mer_group_root(forest, o) == o && quotient.width[o] == 1) {
            look_at(&quotient, o);
        }
    }
    while (quotient.waiting_at < quotient.waiting_count) {
        int group = quotient.waiting[quotient.waiting_at++];
        if (mer_group_root(forest, group) != group || quotient.width[group] != 1) {
            continue; /* it has changed since */
        }
        int reader = only_reader(&quotient, group);
        if (is_allowed(forest, group, reader, limit)) {
            merge(&quotient, group, reader);
        }
    }
}
