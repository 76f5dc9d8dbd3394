/* What `go` sees: numbers without a scale of their own, so that a policy reads any graph. Times are in mean loads, the time that each
 * unit would take if all shared the work by their speeds. */
#include "opt/go_policy.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 0 stays 0, 1 is 1, large numbers grow slowly. */
static float squash(double x)
{
    return (float)(x > 0 ? log2(1 + fmin(x, 1e12)) : -log2(1 + fmin(-x, 1e12)));
}

typedef struct Scale { /* of a graph */
    double size, time; /* of all operators */
    double longest;    /* way through it */
    double limit;      /* least of a unit */
    int    depth;
} Scale;

static Scale scale_of(const MerGoGraph *g)
{
    Scale scale = {.limit = INFINITY};
    for (int o = 0; o < g->op_count; o++) {
        scale.size += g->size[o];
        scale.time += g->op_work[o];
        scale.longest = fmax(scale.longest, g->until[o]);
        scale.depth = g->depth[o] > scale.depth ? g->depth[o] : scale.depth;
    }
    for (int u = 0; u < g->unit_count; u++) {
        scale.limit = fmin(scale.limit, g->limit[u]);
    }
    return scale;
}

/* 0 where there is nothing to divide by. */
static double part(double value, double whole)
{
    return isfinite(whole) && whole > 0 ? value / whole : 0;
}

/* How much longer it takes on hosts than on other units, as a logarithm; 0 where one of the two is missing. */
static double host_factor(const MerGoGraph *g, int op)
{
    double host = INFINITY, other = INFINITY;
    for (int u = 0; u < g->unit_count; u++) {
        double *least = g->is_host[u] ? &host : &other;
        *least = fmin(*least, g->op_time[(int64_t)op * g->unit_count + u]);
    }
    return isfinite(host) && isfinite(other) && host > 0 && other > 0 ? log2(host / other) : 0;
}

void mer_go_node_features(const MerGoGraph *g, bool has_positions, float *features)
{
    Scale  all = scale_of(g);
    double per_op = all.time / (g->op_count > 0 ? g->op_count : 1);
    for (int i = 0; i < g->op_count; i++) {
        int    o = g->op_order[i], group = g->group[o], gap = g->group_rank[group];
        double time = g->op_work[o];
        double members = g->member_start[group + 1] - g->member_start[group];
        float  f[MER_GO_NODE] = {
             squash(part(time, per_op)),
             (float)fmin(3, time / g->mean_load),
             (float)fmin(3, g->work[group] / g->mean_load),
             (float)(host_factor(g, o) / 4),
             squash(8 * g->transfer[o] / g->mean_load) / 4,
             squash(g->bytes[o]) / 32,
             (float)sqrt(part(g->size[o], all.size)),
             (float)fmin(3, part(g->size[o], all.limit)),
             squash(g->before_start[o + 1] - g->before_start[o]) / 2,
             squash(g->after_start[o + 1] - g->after_start[o]) / 2,
             (float)g->is_backward[o],
             squash(members) / 4,
             (float)part(g->until[o], all.longest),
             (float)part(g->onward[o], all.longest),
             (float)part(g->depth[o], all.depth),
        };
        if (has_positions) {
            f[15] = (float)g->position[group];
            f[16] = (float)((double)gap / (g->group_count > 1 ? g->group_count - 1 : 1));
            f[17] = squash(8 * g->gap_cost[gap] / g->mean_load) / 4;
            f[18] = squash(8 * g->gap_cost[gap + 1] / g->mean_load) / 4;
            f[19] = (float)((double)i / g->op_count);
        }
        memcpy(features + (int64_t)i * MER_GO_NODE, f, sizeof f);
    }
}

void mer_go_gap_features(const MerGoGraph *g, float *features)
{
    for (int i = 0; i <= g->group_count; i++) {
        float f[MER_GO_GAP] = {
            (float)g->gap_position[i], squash(8 * g->gap_cost[i] / g->mean_load) / 4,
            (float)fmin(4, g->gap_cost[i] / g->mean_load), (float)((double)i / g->group_count),
            (float)(i == 0 || i == g->group_count)};
        memcpy(features + (int64_t)i * MER_GO_GAP, f, sizeof f);
    }
}

void mer_go_boundary_features(const MerGoGraph *g, float *features)
{
    for (int k = 0; k < g->unit_count - 1; k++) {
        int   left = g->lane[k], right = g->lane[k + 1];
        float f[MER_GO_BOUNDARY] = {(float)g->share[k],
                                    (float)g->speed[left],
                                    (float)g->speed[right],
                                    (float)g->is_host[right],
                                    (float)((k + 1.0) / g->unit_count),
                                    (float)(1.0 / g->unit_count)};
        memcpy(features + (int64_t)k * MER_GO_BOUNDARY, f, sizeof f);
    }
}

typedef struct Loads {   /* of the units by a placement, in mean loads */
    double *load, *used; /* with transfers as of units that wait for them; bytes */
    double  most;
    /* (group, unit): transfers between a group and what lies on a unit */
    float *pull;
} Loads;

/* The result of an operator, between its group and the unit of every consumer. */
static void add_transfers(const MerGoGraph *g, const int *unit, int op, Loads *loads)
{
    int      a = g->group[op], home = unit[a];
    uint64_t seen = 0;
    double   cost = g->transfer[op] / g->mean_load;
    for (int i = g->after_start[op]; i < g->after_start[op + 1]; i++) {
        int b = g->group[g->after[i]], there = unit[b];
        if (b == a) {
            continue;
        }
        loads->pull[(int64_t)b * g->unit_count + home] += (float)cost;
        if (seen >> there & 1) {
            continue;
        }
        loads->pull[(int64_t)a * g->unit_count + there] += (float)cost;
        if (there != home) {
            loads->load[there] += g->is_host[there] ? 0 : cost;
        }
        seen |= (uint64_t)1 << there;
    }
    bool leaves = (seen & ~((uint64_t)1 << home)) != 0;
    loads->load[home] += leaves && !g->is_host[home] ? cost : 0;
}

static Loads loads_of(const MerGoGraph *g, const int *unit)
{
    Loads loads = {
        mer_heap_zeroed((size_t)g->unit_count + 1, sizeof *loads.load),
        mer_heap_zeroed((size_t)g->unit_count + 1, sizeof *loads.used), 1e-9,
        mer_heap_zeroed((size_t)g->group_count * (size_t)g->unit_count + 1, sizeof *loads.pull)};
    for (int i = 0; i < g->group_count && unit != NULL; i++) {
        loads.load[unit[i]] += g->time[(int64_t)i * g->unit_count + unit[i]] / g->mean_load;
        loads.used[unit[i]] += g->group_size[i];
    }
    for (int o = 0; o < g->op_count && unit != NULL; o++) {
        add_transfers(g, unit, o, &loads);
    }
    for (int u = 0; u < g->unit_count; u++) {
        loads.most = fmax(loads.most, loads.load[u]);
    }
    return loads;
}

static double used_share(const MerGoGraph *g, const Loads *loads, int unit, double more)
{
    return isfinite(g->limit[unit]) && g->limit[unit] > 0
               ? fmin(2, (loads->used[unit] + more) / g->limit[unit])
               : 0;
}

static float near(double load)
{
    return (float)fmin(3, load);
}

/* How far a group stands from the part of the order that equal shares would give a unit's lane, in lanes. */
static float distance(const MerGoGraph *g, int group, int lane)
{
    double low = lane > 0 ? g->share[lane - 1] : 0, high = g->share[lane], p = g->position[group];
    return (float)(fmax(0, fmax(low - p, p - high)) * g->unit_count);
}

static void pair_features(const MerGoGraph *g, const int *unit, const Loads *loads, int group,
                          int u, float *f)
{
    double time = g->time[(int64_t)group * g->unit_count + u];
    time = isfinite(time) ? time / g->mean_load : 3;
    f[0] = near(time);
    f[1] = (float)g->is_host[u];
    f[2] = (float)g->speed[u];
    if (unit == NULL) {
        return;
    }
    int          home = unit[group], rank = g->group_rank[group];
    double       kept = g->time[(int64_t)group * g->unit_count + home] / g->mean_load;
    const float *pull = loads->pull + (int64_t)group * g->unit_count;
    bool         moves = u != home;
    f[3] = (float)!moves;
    f[4] = near(loads->load[u]) - 1;
    f[5] = near(loads->load[home]) - 1;
    f[6] = (float)(loads->load[u] / loads->most);
    f[7] = (float)(loads->load[home] / loads->most);
    f[8] = near(kept);
    f[9] = squash(8 * pull[u]) / 4;
    f[10] = squash(8 * pull[home]) / 4;
    f[11] = (float)(rank > 0 && unit[g->group_order[rank - 1]] == u);
    f[12] = (float)(rank + 1 < g->group_count && unit[g->group_order[rank + 1]] == u);
    f[13] = (float)used_share(g, loads, u, moves ? g->group_size[group] : 0);
    f[14] = near((loads->load[u] + (moves ? time : 0)) / loads->most);
}

/* Of all edges of an operator, the share whose other end lies on the same unit. */
static float together(const MerGoGraph *g, const int *unit, int op, const int *start,
                      const int *list)
{
    int same = 0, all = start[op + 1] - start[op];
    for (int i = start[op]; i < start[op + 1]; i++) {
        same += unit[g->group[list[i]]] == unit[g->group[op]];
    }
    return all > 0 ? (float)same / (float)all : 1;
}

static void previous_features(const MerGoGraph *g, const MerGoDecided *before, const Loads *loads,
                              int row, float *f)
{
    const int *unit = before->units;
    int        op = g->op_order[row], home = unit[g->group[op]];
    f[1] = near(loads->load[home]) - 1;
    f[2] = (float)(loads->load[home] / loads->most);
    f[3] = together(g, unit, op, g->before_start, g->before);
    f[4] = together(g, unit, op, g->after_start, g->after);
    f[5] = f[4] < 1 ? squash(8 * g->transfer[op] / g->mean_load) / 4 : 0;
    f[6] = (float)used_share(g, loads, home, 0);
    f[7] = (float)g->is_host[home];
    for (int t = 0; t < MER_GO_TASKS; t++) {
        f[8 + t] =
            before->levels[t] != NULL ? (float)before->levels[t][row] / (float)g->levels[t] : 0;
    }
    f[MER_GO_PREVIOUS + home] = 1;
}

void mer_go_decision_features(const MerGoGraph *g, const MerGoDecided *before, double progress,
                              bool has_positions, int max_units, float *previous, float *pair)
{
    const int *unit = before != NULL ? before->units : NULL;
    Loads      loads = loads_of(g, unit);
    int        width = MER_GO_PREVIOUS + max_units;
    memset(previous, 0, sizeof *previous * (size_t)g->op_count * (size_t)width);
    for (int i = 0; i < g->op_count; i++) {
        previous[(int64_t)i * width] = (float)progress;
        if (unit != NULL) {
            previous_features(g, before, &loads, i, previous + (int64_t)i * width);
        }
    }
    if (pair != NULL) {
        memset(pair, 0,
               sizeof *pair * (size_t)g->group_count * (size_t)g->unit_count * MER_GO_PAIR);
        for (int i = 0; i < g->group_count; i++) {
            for (int lane = 0; lane < g->unit_count; lane++) {
                int    u = g->lane[lane];
                float *f = pair + ((int64_t)i * g->unit_count + u) * MER_GO_PAIR;
                pair_features(g, unit, &loads, i, u, f);
                f[15] = has_positions ? distance(g, i, lane) : 0;
            }
        }
    }
    free(loads.load);
    free(loads.used);
    free(loads.pull);
}
