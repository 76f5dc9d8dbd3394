/* A small graph whose groups go to units, as a space with the tables that placing policies read, and its largest load
 * counted plainly. */
#ifndef MERCATOR_TESTS_UNIT_GRAPH_H
#define MERCATOR_TESTS_UNIT_GRAPH_H

#include "mercator/graph.h"
#include "mercator/registry.h"
#include "support.h"

#include <math.h>

enum { UNIT_GRAPH_MOST = 80 };

typedef struct UnitGraph {
    int      ops, groups, accelerators, units, edges; /* the last unit is the host */
    double   limit;
    int      group[UNIT_GRAPH_MOST], from[4 * UNIT_GRAPH_MOST], to[4 * UNIT_GRAPH_MOST];
    double   time[UNIT_GRAPH_MOST], size[UNIT_GRAPH_MOST], send[UNIT_GRAPH_MOST]; /* of operators */
    bool     is_back[UNIT_GRAPH_MOST];
    MerSpace space;
} UnitGraph;

static inline double *unit_graph_table(MerTable *tables, int *count, const char *name, int rows,
                                       int columns, MerArena *arena)
{
    double *values = MER_ARRAY(arena, double, rows *columns + 1);
    tables[(*count)++] = (MerTable){name, rows, columns, values};
    return values;
}

static inline void unit_graph_tables(UnitGraph *g, MerArena *arena)
{
    MerTable *tables = MER_ARRAY(arena, MerTable, 16);
    int       count = 0, units = g->units;
    double   *time = unit_graph_table(tables, &count, "time", g->groups, units, arena);
    double   *size = unit_graph_table(tables, &count, "size", g->groups, 1, arena);
    double   *limit = unit_graph_table(tables, &count, "limit", units, 1, arena);
    double   *host = unit_graph_table(tables, &count, "host", units, 1, arena);
    unit_graph_table(tables, &count, "link", units, units, arena);
    double *group = unit_graph_table(tables, &count, "group", g->ops, 1, arena);
    double *bytes = unit_graph_table(tables, &count, "op_bytes", g->ops, 1, arena);
    double *kind = unit_graph_table(tables, &count, "op_kind", g->ops, 1, arena);
    double *back = unit_graph_table(tables, &count, "op_backward", g->ops, 1, arena);
    double *send = unit_graph_table(tables, &count, "op_transfer", g->ops, 1, arena);
    double *edge = unit_graph_table(tables, &count, "edge", g->edges, 2, arena);
    double *op_size = unit_graph_table(tables, &count, "op_size", g->ops, 1, arena);
    double *op_time = unit_graph_table(tables, &count, "op_time", g->ops, units, arena);
    for (int o = 0; o < g->ops; o++) {
        group[o] = g->group[o];
        bytes[o] = 1000 * g->send[o];
        kind[o] = o % MER_OP_KIND_COUNT;
        back[o] = g->is_back[o];
        send[o] = g->send[o];
        op_size[o] = g->size[o];
        size[g->group[o]] += g->size[o];
        for (int u = 0; u < units; u++) {
            op_time[o * units + u] = u < g->accelerators ? g->time[o] : 8 * g->time[o];
            time[g->group[o] * units + u] += op_time[o * units + u];
        }
    }
    for (int u = 0; u < units; u++) {
        host[u] = u >= g->accelerators;
        limit[u] = u < g->accelerators ? g->limit : INFINITY;
    }
    for (int e = 0; e < g->edges; e++) {
        edge[2 * e] = g->from[e];
        edge[2 * e + 1] = g->to[e];
    }
    g->space.tables = tables;
    g->space.table_count = count;
}

/* Tables and knobs; `extra` knobs that are not units follow. */
static inline void unit_graph_finish(UnitGraph *g, int extra, MerArena *arena)
{
    MerKnob *knobs = MER_ARRAY(arena, MerKnob, g->groups + extra);
    double  *values = MER_ARRAY(arena, double, g->units);
    unit_graph_tables(g, arena);
    for (int u = 0; u < g->units; u++) {
        values[u] = u;
    }
    for (int k = 0; k < g->groups + extra; k++) {
        bool is_unit = k < g->groups;
        knobs[k] = (MerKnob){.name = mer_arena_format(arena, "%s.%d", is_unit ? "unit" : "fuse", k),
                             .kind = is_unit ? MER_KNOB_CATEGORY : MER_KNOB_ORDERED,
                             .role = is_unit ? MER_ROLE_UNIT : MER_ROLE_FUSE,
                             .level = -1,
                             .dim = -1,
                             .op = is_unit ? k : k - g->groups,
                             .choices = g->units,
                             .values = is_unit ? values : NULL};
    }
    g->space.knobs = knobs;
    g->space.knob_count = g->groups + extra;
}

/* A chain of operators with short cuts; results of every third are cheap to move. */
static inline UnitGraph *unit_graph_chain(int ops, int accelerators, MerArena *arena)
{
    UnitGraph *g = MER_NEW(arena, UnitGraph);
    *g = (UnitGraph){.ops = ops,
                     .groups = ops,
                     .accelerators = accelerators,
                     .units = accelerators + 1,
                     .limit = INFINITY};
    for (int o = 0; o < ops; o++) {
        g->group[o] = o;
        g->time[o] = 0.001 * (1 + o % 4);
        g->size[o] = 10;
        g->send[o] = o % 3 == 2 ? 0.0002 : 0.004;
        if (o > 0) {
            g->from[g->edges] = o - 1;
            g->to[g->edges++] = o;
        }
        if (o % 6 == 5) {
            g->from[g->edges] = o - 3;
            g->to[g->edges++] = o;
        }
    }
    return g;
}

/* Groups of several operators, edges of any length, in topological order. */
static inline UnitGraph *unit_graph_random(int ops, int groups, uint64_t seed, MerArena *arena)
{
    UnitGraph *g = MER_NEW(arena, UnitGraph);
    MerRng     rng = mer_rng_make(seed, 0);
    *g = (UnitGraph){.ops = ops, .groups = groups, .accelerators = 3, .units = 4, .limit = 200};
    for (int o = 0; o < ops; o++) {
        g->group[o] = o < groups ? o : mer_rng_below(&rng, groups);
        g->time[o] = 0.001 * mer_rng_unit(&rng);
        g->size[o] = mer_rng_below(&rng, 20);
        g->send[o] = 0.001 * mer_rng_unit(&rng);
        for (int e = 0; e < 3 && o > 0; e++) {
            g->from[g->edges] = mer_rng_below(&rng, o);
            g->to[g->edges++] = o;
        }
    }
    return g;
}

static inline bool unit_graph_reaches(const UnitGraph *g, const int *unit, int op, int there)
{
    for (int e = 0; e < g->edges; e++) {
        if (g->from[e] == op && unit[g->group[g->to[e]]] == there) {
            return true;
        }
    }
    return false;
}

/* The load of one unit: its operators, results that leave it, results that come in, each once. */
static inline double unit_graph_load(const UnitGraph *g, const int *unit, int u)
{
    double load = 0;
    for (int o = 0; o < g->ops; o++) {
        bool is_out = false;
        int  own = unit[g->group[o]];
        for (int v = 0; v < g->units; v++) {
            is_out = is_out || (v != own && unit_graph_reaches(g, unit, o, v));
        }
        load += own != u ? 0 : u < g->accelerators ? g->time[o] : 8 * g->time[o];
        load += u < g->accelerators && own == u && is_out ? g->send[o] : 0;
        load +=
            u < g->accelerators && own != u && unit_graph_reaches(g, unit, o, u) ? g->send[o] : 0;
    }
    return load;
}

static inline double unit_graph_score(const UnitGraph *g, const MerIndex *point)
{
    int    unit[UNIT_GRAPH_MOST];
    double most = 0;
    for (int i = 0; i < g->groups; i++) {
        unit[i] = point[i];
    }
    for (int u = 0; u < g->units; u++) {
        double bytes = 0;
        for (int o = 0; o < g->ops; o++) {
            bytes += unit[g->group[o]] == u ? g->size[o] : 0;
        }
        if (u < g->accelerators && bytes > g->limit) {
            return INFINITY;
        }
        most = fmax(most, unit_graph_load(g, unit, u));
    }
    return most;
}

#endif
