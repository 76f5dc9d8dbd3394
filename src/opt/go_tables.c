/* The tables of a placement space, read and checked. */
#include "opt/go_graph.h"

#include "opt/unit_tables.h"

#include <math.h>
#include <string.h>

typedef struct Reader {
    const MerSpace *space;
    MerGoGraph     *graph;
    MerArena       *arena;
} Reader;

static MerStatus read(const Reader *r, const char *name, int columns, int *rows,
                      const double **values, MerError *error)
{
    return mer_unit_table(r->space, "go", name, columns, rows, values, error);
}

/* Whole numbers below `below`. */
static MerStatus read_ints(const Reader *r, const char *name, int columns, int *rows, int below,
                           const int **values, MerError *error)
{
    const double *numbers;
    MER_TRY(read(r, name, columns, rows, &numbers, error));
    int64_t count = (int64_t)*rows * columns;
    int    *copy = MER_ARRAY(r->arena, int, count + 1);
    for (int64_t i = 0; i < count; i++) {
        if (!(numbers[i] >= 0 && numbers[i] < below)) {
            return mer_error_set(error, MER_INVALID,
                                 "go: table \"%s\", row %lld: found %g, expected 0 .. %d", name,
                                 (long long)(i / columns), numbers[i], below - 1);
        }
        copy[i] = (int)numbers[i];
    }
    *values = copy;
    return MER_OK;
}

static MerStatus read_flags(const Reader *r, const char *name, int *rows, const bool **values,
                            MerError *error)
{
    const double *numbers;
    MER_TRY(read(r, name, 1, rows, &numbers, error));
    bool *copy = MER_ARRAY(r->arena, bool, *rows + 1);
    for (int i = 0; i < *rows; i++) {
        copy[i] = numbers[i] != 0;
    }
    *values = copy;
    return MER_OK;
}

static MerStatus read_edges(const Reader *r, MerError *error)
{
    MerGoGraph *g = r->graph;
    const int  *pairs;
    g->edge_count = -1;
    MER_TRY(read_ints(r, "edge", 2, &g->edge_count, g->op_count, &pairs, error));
    int *from = MER_ARRAY(r->arena, int, g->edge_count + 1);
    int *to = MER_ARRAY(r->arena, int, g->edge_count + 1);
    for (int e = 0; e < g->edge_count; e++) {
        from[e] = pairs[2 * e];
        to[e] = pairs[2 * e + 1];
        if (from[e] >= to[e]) {
            return mer_error_set(
                error, MER_INVALID,
                "go: table \"edge\", row %d: found %d to %d, expected operators in "
                "topological order",
                e, from[e], to[e]);
        }
    }
    g->from = from;
    g->to = to;
    return MER_OK;
}

static MerStatus read_ops(const Reader *r, MerError *error)
{
    MerGoGraph *g = r->graph;
    g->op_count = -1;
    MER_TRY(read_ints(r, "group", 1, &g->op_count, g->group_count, &g->group, error));
    MER_TRY(read_ints(r, "op_kind", 1, &g->op_count, 1 << 20, &g->kind, error));
    MER_TRY(read(r, "op_time", g->unit_count, &g->op_count, &g->op_time, error));
    MER_TRY(read(r, "op_size", 1, &g->op_count, &g->size, error));
    MER_TRY(read(r, "op_bytes", 1, &g->op_count, &g->bytes, error));
    MER_TRY(read(r, "op_transfer", 1, &g->op_count, &g->transfer, error));
    MER_TRY(read_flags(r, "op_backward", &g->op_count, &g->is_backward, error));
    MER_TRY(read_edges(r, error));
    mer_unit_lists(g->edge_count, g->to, g->from, g->op_count, r->arena, &g->before_start,
                   &g->before);
    mer_unit_lists(g->edge_count, g->from, g->to, g->op_count, r->arena, &g->after_start,
                   &g->after);
    mer_unit_lists(g->op_count, g->group, NULL, g->group_count, r->arena, &g->member_start,
                   &g->members);
    return MER_OK;
}

static MerStatus read_groups(const Reader *r, MerError *error)
{
    MerGoGraph *g = r->graph;
    g->group_count = g->unit_count = -1;
    MER_TRY(read(r, "limit", 1, &g->unit_count, &g->limit, error));
    MER_TRY(read_flags(r, "host", &g->unit_count, &g->is_host, error));
    MER_TRY(read(r, "time", g->unit_count, &g->group_count, &g->time, error));
    return read(r, "size", 1, &g->group_count, &g->group_size, error);
}

/* Which knob decides what; other knobs keep their first choice. */
static MerStatus read_knobs(const Reader *r, MerError *error)
{
    MerGoGraph *g = r->graph;
    int        *unit = MER_ARRAY(r->arena, int, g->group_count + 1);
    int        *level[MER_GO_TASKS];
    int         found = 0;
    memset(unit, -1, sizeof *unit * (size_t)g->group_count);
    for (int t = 0; t < MER_GO_TASKS; t++) {
        level[t] = MER_ARRAY(r->arena, int, g->op_count + 1);
        memset(level[t], -1, sizeof *level[t] * (size_t)g->op_count);
        g->level_knob[t] = level[t];
    }
    for (int k = 0; k < r->space->knob_count; k++) {
        const MerKnob *knob = &r->space->knobs[k];
        bool           is_group = knob->op >= 0 && knob->op < g->group_count;
        bool           is_op = knob->op >= 0 && knob->op < g->op_count;
        if (knob->role == MER_ROLE_UNIT && is_group) {
            unit[knob->op] = k;
            found++;
        } else if ((knob->role == MER_ROLE_PRIORITY || knob->role == MER_ROLE_FUSE) && is_op) {
            MerGoTask task = knob->role == MER_ROLE_FUSE ? MER_GO_FUSE : MER_GO_PRIORITY;
            level[task][knob->op] = k;
            g->levels[task] = knob->choices;
            found++;
        }
    }
    g->unit_knob = unit;
    return found > 0 ? MER_OK
                     : mer_error_set(error, MER_UNSUPPORTED,
                                     "go: the space has no knob for the unit of a group, "
                                     "nor for the order or the fusion of operators");
}

/* Only what a knob offers is allowed. A group without a knob lies somewhere, and nobody says where: on the first of its units. */
static void restrict_to_knobs(const Reader *r)
{
    MerGoGraph *g = r->graph;
    double     *time = MER_ARRAY(r->arena, double, (int64_t)g->group_count * g->unit_count + 1);
    for (int i = 0; i < g->group_count; i++) {
        const double  *known = g->time + (int64_t)i * g->unit_count;
        double        *kept = time + (int64_t)i * g->unit_count;
        const MerKnob *knob = g->unit_knob[i] >= 0 ? &r->space->knobs[g->unit_knob[i]] : NULL;
        bool           is_found = false;
        for (int u = 0; u < g->unit_count; u++) {
            bool is_first = knob == NULL && !is_found && isfinite(known[u]);
            kept[u] = is_first ? known[u] : INFINITY;
            is_found = is_found || is_first;
        }
        for (int c = 0; knob != NULL && c < knob->choices; c++) {
            int u = mer_knob_unit(knob, c);
            if (u >= 0 && u < g->unit_count) {
                kept[u] = isfinite(known[u]) ? known[u] : 0;
            }
        }
    }
    g->time = time;
}

static void measure_units(const Reader *r)
{
    MerGoGraph   *g = r->graph;
    const double *work = mer_unit_least(g->group_count, g->unit_count, g->time, r->arena);
    double       *speed = MER_ARRAY(r->arena, double, g->unit_count + 1);
    double        all = 0, speeds = 0;
    for (int i = 0; i < g->group_count; i++) {
        all += work[i];
    }
    for (int u = 0; u < g->unit_count; u++) {
        double done = 0, taken = 0;
        for (int i = 0; i < g->group_count; i++) {
            if (mer_go_allows(g, i, u)) {
                done += work[i];
                taken += g->time[(int64_t)i * g->unit_count + u];
            }
        }
        speed[u] = taken > 0 ? done / taken : 0;
        speeds += speed[u];
    }
    g->work = work;
    g->op_work = mer_unit_least(g->op_count, g->unit_count, g->op_time, r->arena);
    g->speed = speed;
    g->mean_load = all > 0 && speeds > 0 ? all / speeds : 1;
}

MerStatus mer_go_graph_read(MerGoGraph *graph, const MerSpace *space, MerArena *arena,
                            MerError *error)
{
    Reader reader = {space, graph, arena};
    *graph = (MerGoGraph){0};
    MER_TRY(read_groups(&reader, error));
    MER_TRY(read_ops(&reader, error));
    MER_TRY(read_knobs(&reader, error));
    restrict_to_knobs(&reader);
    measure_units(&reader);
    mer_go_graph_order(graph, arena);
    return MER_OK;
}
