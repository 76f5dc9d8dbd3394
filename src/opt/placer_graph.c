/* Tables of a space as a graph of groups. */
#include "opt/placer_graph.h"

#include "base/stats.h"
#include "opt/unit_tables.h"

#include <math.h>

static MerStatus read_tables(MerPlacerGraph *g, const char *who, const double **group,
                             const double **edge, MerError *error)
{
    const MerSpace *space = g->space;
    g->group_count = g->unit_count = g->op_count = g->edge_count = -1;
    MER_TRY(mer_unit_table(space, who, "limit", 1, &g->unit_count, &g->limit, error));
    MER_TRY(mer_unit_table(space, who, "host", 1, &g->unit_count, &g->host, error));
    MER_TRY(mer_unit_table(space, who, "link", g->unit_count, &g->unit_count, &g->link, error));
    MER_TRY(mer_unit_table(space, who, "time", g->unit_count, &g->group_count, &g->time, error));
    MER_TRY(mer_unit_table(space, who, "size", 1, &g->group_count, &g->size, error));
    MER_TRY(mer_unit_table(space, who, "group", 1, &g->op_count, group, error));
    MER_TRY(mer_unit_table(space, who, "op_bytes", 1, &g->op_count, &g->op_bytes, error));
    MER_TRY(mer_unit_table(space, who, "op_kind", 1, &g->op_count, &g->op_kind, error));
    MER_TRY(mer_unit_table(space, who, "op_backward", 1, &g->op_count, &g->op_back, error));
    MER_TRY(mer_unit_table(space, who, "op_transfer", 1, &g->op_count, &g->op_send, error));
    return mer_unit_table(space, who, "edge", 2, &g->edge_count, edge, error);
}

/* Knobs may be fewer than groups: those that a user fixed are not in the space. */
static MerStatus find_knobs(MerPlacerGraph *g, const char *who, MerArena *arena, MerError *error)
{
    const MerSpace *space = g->space;
    int            *knob = MER_ARRAY(arena, int, g->group_count + 1);
    for (int i = 0; i < g->group_count; i++) {
        knob[i] = -1;
    }
    for (int k = 0; k < space->knob_count; k++) {
        const MerKnob *one = &space->knobs[k];
        if (one->role == MER_ROLE_UNIT && one->op >= 0 && one->op < g->group_count &&
            one->values != NULL) {
            g->order_count += knob[one->op] < 0;
            knob[one->op] = k;
        }
    }
    g->knob = knob;
    return g->order_count > 0
               ? MER_OK
               : mer_error_set(
                     error, MER_UNSUPPORTED,
                     "%s: the space has no knob for the unit of a group, and nothing else "
                     "is decided by it",
                     who);
}

static void fill_choices(MerPlacerGraph *g, MerArena *arena)
{
    int  units = g->unit_count;
    int *choice = MER_ARRAY(arena, int, g->group_count *units + 1);
    int *fallback = MER_ARRAY(arena, int, g->group_count + 1);
    for (int i = 0; i < g->group_count * units; i++) {
        choice[i] = -1;
    }
    for (int i = 0; i < g->group_count; i++) {
        const MerKnob *knob = g->knob[i] >= 0 ? &g->space->knobs[g->knob[i]] : NULL;
        double         least = INFINITY;
        for (int c = 0; knob != NULL && c < knob->choices; c++) {
            int    unit = (int)knob->values[c];
            double time = g->time[i * units + unit];
            choice[i * units + unit] = c;
            fallback[i] = c == 0 || time < least ? unit : fallback[i];
            least = fmin(least, time);
        }
    }
    g->choice = choice;
    g->fallback = fallback;
}

static void fill_ops(MerPlacerGraph *g, const double *group, const double *edge, MerArena *arena)
{
    int *groups = MER_ARRAY(arena, int, g->op_count + 1);
    int *from = MER_ARRAY(arena, int, g->edge_count + 1);
    int *to = MER_ARRAY(arena, int, g->edge_count + 1);
    for (int o = 0; o < g->op_count; o++) {
        groups[o] = (int)group[o];
    }
    for (int e = 0; e < g->edge_count; e++) {
        from[e] = (int)edge[2 * e];
        to[e] = (int)edge[2 * e + 1];
        if (groups[from[e]] == groups[to[e]]) {
            from[e] = to[e] = -1; /* never moves */
        }
    }
    g->group = groups;
    mer_unit_lists(g->op_count, groups, NULL, g->group_count, arena, &g->op_start, &g->ops);
    mer_unit_lists(g->edge_count, to, from, g->op_count, arena, &g->before_start, &g->before);
    mer_unit_lists(g->edge_count, from, to, g->op_count, arena, &g->after_start, &g->after);
}

static void fill_neighbours(MerPlacerGraph *g, MerArena *arena)
{
    int                *start = MER_ARRAY(arena, int, g->group_count + 1), count = 0;
    MerPlacerNeighbour *near = MER_ARRAY(arena, MerPlacerNeighbour, 2 * g->edge_count + 1);
    for (int i = 0; i < g->group_count; i++) {
        for (int side = -1; side <= 1; side += 2) {
            const int *first = side < 0 ? g->before_start : g->after_start;
            const int *others = side < 0 ? g->before : g->after;
            for (int k = g->op_start[i]; k < g->op_start[i + 1]; k++) {
                for (int e = first[g->ops[k]]; e < first[g->ops[k] + 1]; e++) {
                    near[count++] = (MerPlacerNeighbour){g->group[others[e]], side};
                }
            }
        }
        start[i + 1] = count;
    }
    g->near_start = start;
    g->near = near;
}

/* The last operator of a group, of its forward pass where it has one; -1: it is empty. */
static int last_op(const MerPlacerGraph *g, int group)
{
    int last = -1;
    for (int k = g->op_start[group]; k < g->op_start[group + 1]; k++) {
        int op = g->ops[k];
        if (last < 0 || g->op_back[op] == 0 || g->op_back[last] != 0) {
            last = op;
        }
    }
    return last;
}

/* The latest of the groups around `group` that have a forward operator, by `key`; -1: none. */
static int latest_around(const MerPlacerGraph *g, int group, const int *key)
{
    int latest = -1;
    for (int n = g->near_start[group]; n < g->near_start[group + 1]; n++) {
        int at = key[g->near[n].group];
        latest = at >= 0 && g->op_back[at] == 0 && at > latest ? at : latest;
    }
    return latest;
}

/* A group is placed when its last forward operator is reached: what that one reads has been placed by then. By its
 * first operator a weight that is read late would come first of all. Groups of the backward pass alone stand beside
 * the forward groups that they work with. */
static void fill_order(MerPlacerGraph *g, MerArena *arena)
{
    int    *last = MER_ARRAY(arena, int, g->group_count + 1);
    int    *order = MER_ARRAY(arena, int, g->group_count + 1);
    int    *position = MER_ARRAY(arena, int, g->group_count + 1);
    double *key = MER_ARRAY(arena, double, g->group_count + 1);
    for (int i = 0; i < g->group_count; i++) {
        last[i] = last_op(g, i);
        position[i] = -1;
    }
    for (int i = 0; i < g->group_count; i++) {
        bool is_back = last[i] >= 0 && g->op_back[last[i]] != 0;
        int  around = is_back ? latest_around(g, i, last) : -1;
        key[i] = g->knob[i] < 0 ? INFINITY : around >= 0 ? around : last[i];
    }
    mer_sort_order(key, g->group_count, order);
    for (int i = 0; i < g->order_count; i++) {
        position[order[i]] = i;
    }
    g->order = order;
    g->position = position;
}

static void fill_work(MerPlacerGraph *g, MerArena *arena)
{
    double speed = 0;
    g->work = mer_unit_least(g->group_count, g->unit_count, g->time, arena);
    for (int i = 0; i < g->group_count; i++) {
        g->total += g->work[i];
    }
    for (int u = 0; u < g->unit_count; u++) {
        double alone = 0;
        for (int i = 0; i < g->group_count; i++) {
            double time = g->time[i * g->unit_count + u];
            alone += isfinite(time) ? time : g->work[i];
        }
        speed += alone > 0 ? 1 / alone : 0;
        g->worst = fmax(g->worst, alone);
    }
    g->ideal = speed > 0 ? 1 / speed : 1;
}

MerStatus mer_placer_graph(const MerSpace *space, const char *who, MerArena *arena,
                           MerPlacerGraph *graph, MerError *error)
{
    const double *group, *edge;
    *graph = (MerPlacerGraph){.space = space};
    MER_TRY(read_tables(graph, who, &group, &edge, error));
    MER_TRY(find_knobs(graph, who, arena, error));
    fill_choices(graph, arena);
    fill_ops(graph, group, edge, arena);
    fill_neighbours(graph, arena);
    fill_order(graph, arena);
    fill_work(graph, arena);
    return MER_OK;
}

double mer_placer_send(const MerPlacerGraph *graph, int op, int from, int to)
{
    double by_link = graph->op_bytes[op] * graph->link[from * graph->unit_count + to];
    return graph->op_send[op] > 0 ? graph->op_send[op] : isfinite(by_link) ? by_link : 0;
}

double mer_placer_group_send(const MerPlacerGraph *graph, int group)
{
    double sum = 0;
    for (int k = graph->op_start[group]; k < graph->op_start[group + 1]; k++) {
        int op = graph->ops[k];
        if (graph->after_start[op + 1] > graph->after_start[op]) {
            sum += mer_placer_send(graph, op, 0, graph->unit_count - 1);
        }
    }
    return sum;
}

int mer_placer_unit(const MerPlacerGraph *graph, int group, int unit)
{
    return graph->choice[group * graph->unit_count + unit] >= 0 ? unit : graph->fallback[group];
}
