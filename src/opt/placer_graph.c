/* Tables of a space as a graph of groups. */
#include "opt/placer_graph.h"

#include <math.h>
#include <string.h>

static MerStatus need(const MerSpace *space, const char *who, const char *name, int columns,
                      int *rows, const double **values, MerError *error)
{
    const MerTable *table = mer_space_table(space, name);
    if (table == NULL) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%s: the space has no table \"%s\"; it needs groups of operators that "
                             "go to units",
                             who, name);
    }
    if (table->columns != columns || (*rows >= 0 && table->rows != *rows)) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%s: table \"%s\" of the space is %d x %d, expected %d x %d", who, name,
                             table->rows, table->columns, *rows, columns);
    }
    *rows = table->rows;
    *values = table->values;
    return MER_OK;
}

/* UNIT knobs come first, one per group. */
static MerStatus count_groups(const MerSpace *space, const char *who, int *count, MerError *error)
{
    *count = 0;
    while (*count < space->knob_count && space->knobs[*count].role == MER_ROLE_UNIT &&
           space->knobs[*count].op == *count && space->knobs[*count].values != NULL) {
        ++*count;
    }
    return *count > 0 ? MER_OK
                      : mer_error_set(error, MER_UNSUPPORTED,
                                      "%s: the space has no knobs for the units of groups", who);
}

static MerStatus read_tables(MerPlacerGraph *g, const char *who, const double **group,
                             const double **edge, MerError *error)
{
    const MerSpace *space = g->space;
    const MerTable *limit = mer_space_table(space, "limit");
    g->op_count = g->edge_count = -1;
    g->unit_count = limit != NULL ? limit->rows : 0;
    MER_TRY(need(space, who, "limit", 1, &g->unit_count, &g->limit, error));
    MER_TRY(need(space, who, "host", 1, &g->unit_count, &g->host, error));
    MER_TRY(need(space, who, "link", g->unit_count, &g->unit_count, &g->link, error));
    MER_TRY(need(space, who, "time", g->unit_count, &g->group_count, &g->time, error));
    MER_TRY(need(space, who, "size", 1, &g->group_count, &g->size, error));
    MER_TRY(need(space, who, "group", 1, &g->op_count, group, error));
    MER_TRY(need(space, who, "op_bytes", 1, &g->op_count, &g->op_bytes, error));
    MER_TRY(need(space, who, "op_kind", 1, &g->op_count, &g->op_kind, error));
    MER_TRY(need(space, who, "op_backward", 1, &g->op_count, &g->op_back, error));
    MER_TRY(need(space, who, "op_transfer", 1, &g->op_count, &g->op_send, error));
    return need(space, who, "edge", 2, &g->edge_count, edge, error);
}

/* Lists by counting: item i goes to list key[i]; keys below 0 are left out. */
static void fill_lists(int count, const int *key, const int *item, int lists, MerArena *arena,
                       const int **start, const int **items)
{
    int *first = MER_ARRAY(arena, int, lists + 2), *list = MER_ARRAY(arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        if (key[i] >= 0) {
            first[key[i] + 2]++;
        }
    }
    for (int l = 2; l <= lists + 1; l++) {
        first[l] += first[l - 1];
    }
    for (int i = 0; i < count; i++) {
        if (key[i] >= 0) {
            list[first[key[i] + 1]++] = item != NULL ? item[i] : i;
        }
    }
    *start = first;
    *items = list;
}

static void fill_edges(MerPlacerGraph *g, const double *edge, MerArena *arena)
{
    int *from = MER_ARRAY(arena, int, g->edge_count + 1),
        *to = MER_ARRAY(arena, int, g->edge_count + 1);
    for (int e = 0; e < g->edge_count; e++) {
        from[e] = (int)edge[2 * e];
        to[e] = (int)edge[2 * e + 1];
        if (g->group[from[e]] == g->group[to[e]]) {
            from[e] = to[e] = -1; /* never moves */
        }
    }
    fill_lists(g->edge_count, to, from, g->op_count, arena, &g->before_start, &g->before);
    fill_lists(g->edge_count, from, to, g->op_count, arena, &g->after_start, &g->after);
}

/* A group is placed when its last operator of the forward pass is reached: what that one reads has been placed by
 * then. A weight that many operators wait for would else come long before any of them. */
static void fill_order(MerPlacerGraph *g, MerArena *arena)
{
    int *key = MER_ARRAY(arena, int, g->group_count), *order = MER_ARRAY(arena, int, g->group_count),
        *at = MER_ARRAY(arena, int, g->group_count), count = 0;
    for (int i = 0; i < g->group_count; i++) {
        int last = -1;
        for (int k = g->op_start[i]; k < g->op_start[i + 1]; k++) {
            if (last < 0 || g->op_back[g->ops[k]] <= g->op_back[last]) {
                last = g->ops[k];
            }
        }
        key[i] = last;
    }
    for (int o = 0; o < g->op_count; o++) {
        if (key[g->group[o]] == o) {
            at[g->group[o]] = count;
            order[count++] = g->group[o];
        }
    }
    g->order = order;
    g->at = at;
}

static void fill_work(MerPlacerGraph *g, MerArena *arena)
{
    double *work = MER_ARRAY(arena, double, g->group_count), speed = 0;
    for (int i = 0; i < g->group_count; i++) {
        work[i] = INFINITY;
        for (int u = 0; u < g->unit_count; u++) {
            work[i] = fmin(work[i], g->time[i * g->unit_count + u]);
        }
        g->total += work[i];
    }
    for (int u = 0; u < g->unit_count; u++) {
        double alone = 0;
        for (int i = 0; i < g->group_count; i++) {
            double time = g->time[i * g->unit_count + u];
            alone += isfinite(time) ? time : work[i];
        }
        speed += alone > 0 ? 1 / alone : 0;
    }
    g->work = work;
    g->ideal = speed > 0 ? 1 / speed : 1;
}

MerStatus mer_placer_graph(const MerSpace *space, const char *who, MerArena *arena,
                           MerPlacerGraph *graph, MerError *error)
{
    const double *group, *edge;
    *graph = (MerPlacerGraph){.space = space};
    MER_TRY(count_groups(space, who, &graph->group_count, error));
    MER_TRY(read_tables(graph, who, &group, &edge, error));
    int *groups = MER_ARRAY(arena, int, graph->op_count + 1);
    for (int o = 0; o < graph->op_count; o++) {
        groups[o] = (int)group[o];
    }
    graph->group = groups;
    fill_lists(graph->op_count, groups, NULL, graph->group_count, arena, &graph->op_start,
               &graph->ops);
    fill_edges(graph, edge, arena);
    fill_order(graph, arena);
    fill_work(graph, arena);
    return MER_OK;
}

double mer_placer_send(const MerPlacerGraph *graph, int op, int from, int to)
{
    double by_link = graph->op_bytes[op] * graph->link[from * graph->unit_count + to];
    return graph->op_send[op] > 0 ? graph->op_send[op] : isfinite(by_link) ? by_link : 0;
}

int mer_placer_choice(const MerPlacerGraph *graph, int group, int unit)
{
    const MerKnob *knob = &graph->space->knobs[group];
    for (int c = 0; c < knob->choices; c++) {
        if ((int)knob->values[c] == unit) {
            return c;
        }
    }
    return -1;
}
