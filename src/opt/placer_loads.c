/* Loads of the units while a placement grows. They are counted as the tables say it, transfers at both ends but not
 * on hosts: a guess at what the evaluator will find, for the policy to look at, never its reward. */
#include "opt/placer_loads.h"

#include <math.h>
#include <string.h>

MerPlacerTry *mer_placer_try(const MerPlacerGraph *graph, MerArena *arena)
{
    int64_t       units = graph->unit_count, ops = graph->op_count;
    MerPlacerTry *look = MER_NEW(arena, MerPlacerTry);
    look->added = MER_ARRAY(arena, double, units);
    look->inputs = MER_ARRAY(arena, double, units);
    look->out = MER_ARRAY(arena, int64_t, ops + 1);
    look->to = MER_ARRAY(arena, int64_t, ops * units + 1);
    return look;
}

void mer_placer_loads_make(MerPlacerLoads *loads, const MerPlacerGraph *graph, MerPlacerTry *look,
                           MerArena *arena)
{
    int64_t units = graph->unit_count, ops = graph->op_count;
    *loads = (MerPlacerLoads){.graph = graph,
                              .look = look,
                              .unit = MER_ARRAY(arena, int, graph->group_count + 1),
                              .load = MER_ARRAY(arena, double, units),
                              .bytes = MER_ARRAY(arena, double, units),
                              .is_sent = MER_ARRAY(arena, bool, ops *units + 1),
                              .is_out = MER_ARRAY(arena, bool, ops + 1)};
    mer_placer_loads_clear(loads);
}

void mer_placer_loads_clear(MerPlacerLoads *loads)
{
    size_t units = (size_t)loads->graph->unit_count, ops = (size_t)loads->graph->op_count;
    for (int g = 0; g < loads->graph->group_count; g++) {
        loads->unit[g] = -1;
    }
    memset(loads->load, 0, units * sizeof *loads->load);
    memset(loads->bytes, 0, units * sizeof *loads->bytes);
    memset(loads->is_sent, 0, ops * units * sizeof *loads->is_sent);
    memset(loads->is_out, 0, ops * sizeof *loads->is_out);
    loads->most = loads->placed = 0;
    loads->last = -1;
}

bool mer_placer_allows(const MerPlacerGraph *graph, MerPlacerSet set, int unit)
{
    for (int i = 0; i < set.count; i++) {
        if (graph->choice[set.groups[i] * graph->unit_count + unit] >= 0) {
            return true;
        }
    }
    return set.count == 0;
}

/* The result of `op` on `from` is needed on `to`: paid once per unit that reads it, and once where it leaves. */
static void add_transfer(MerPlacerLoads *loads, int op, int from, int to)
{
    const MerPlacerGraph *g = loads->graph;
    MerPlacerTry         *look = loads->look;
    int64_t               at = (int64_t)op * g->unit_count + to;
    double                s = mer_placer_send(g, op, from, to);
    if (loads->is_sent[at] || look->to[at] == look->count) {
        return;
    }
    look->to[at] = look->count;
    look->added[to] += g->host[to] != 0 ? 0 : s;
    if (!loads->is_out[op] && look->out[op] != look->count) {
        look->out[op] = look->count;
        look->added[from] += g->host[from] != 0 ? 0 : s;
    }
}

static void add_transfers(MerPlacerLoads *loads, int op, int unit)
{
    const MerPlacerGraph *g = loads->graph;
    for (int e = g->before_start[op]; e < g->before_start[op + 1]; e++) {
        int from = loads->unit[g->group[g->before[e]]];
        if (from >= 0 && from != unit) {
            add_transfer(loads, g->before[e], from, unit);
        }
    }
    for (int e = g->after_start[op]; e < g->after_start[op + 1]; e++) {
        int to = loads->unit[g->group[g->after[e]]];
        if (to >= 0 && to != unit) {
            add_transfer(loads, op, unit, to);
        }
    }
}

/* What a set on `unit` adds to every unit, into look->added; producers and consumers that are placed later count
 * then. Gives its time alone. */
static double look_ahead(MerPlacerLoads *loads, MerPlacerSet set, int unit)
{
    const MerPlacerGraph *g = loads->graph;
    double                time = 0;
    memset(loads->look->added, 0, (size_t)g->unit_count * sizeof *loads->look->added);
    loads->look->count++;
    for (int i = 0; i < set.count; i++) {
        int    group = set.groups[i], at = mer_placer_unit(g, group, unit);
        double own = g->time[group * g->unit_count + at];
        time += own;
        loads->look->added[at] += own;
        for (int k = g->op_start[group]; k < g->op_start[group + 1]; k++) {
            add_transfers(loads, g->ops[k], at);
        }
    }
    return time;
}

/* Results that the last look moved stay where they are. */
static void keep_transfers(MerPlacerLoads *loads, int op)
{
    const MerPlacerGraph *g = loads->graph;
    for (int u = 0; u < g->unit_count; u++) {
        int64_t at = (int64_t)op * g->unit_count + u;
        if (loads->look->to[at] == loads->look->count) {
            loads->is_sent[at] = loads->is_out[op] = true;
        }
    }
}

static void put_group(MerPlacerLoads *loads, int group, int unit)
{
    const MerPlacerGraph *g = loads->graph;
    loads->unit[group] = unit;
    loads->bytes[unit] += g->size[group];
    loads->placed += g->work[group];
    for (int k = g->op_start[group]; k < g->op_start[group + 1]; k++) {
        int op = g->ops[k];
        keep_transfers(loads, op);
        for (int e = g->before_start[op]; e < g->before_start[op + 1]; e++) {
            keep_transfers(loads, g->before[e]);
        }
    }
}

void mer_placer_put(MerPlacerLoads *loads, MerPlacerSet set, int unit)
{
    const MerPlacerGraph *g = loads->graph;
    look_ahead(loads, set, unit);
    for (int u = 0; u < g->unit_count; u++) {
        loads->load[u] += loads->look->added[u];
        loads->most = fmax(loads->most, loads->load[u]);
    }
    for (int i = 0; i < set.count; i++) {
        put_group(loads, set.groups[i], mer_placer_unit(g, set.groups[i], unit));
    }
    loads->last = set.count > 0 ? unit : loads->last;
}

double mer_placer_excess(const MerPlacerLoads *loads)
{
    double excess = 0;
    for (int u = 0; u < loads->graph->unit_count; u++) {
        excess += fmax(0, loads->bytes[u] / loads->graph->limit[u] - 1);
    }
    return isfinite(excess) ? excess : 0;
}

/* Results that the set reads, counted on the units where they are; gives how many there are in all. */
static double count_inputs(const MerPlacerLoads *loads, MerPlacerSet set)
{
    const MerPlacerGraph *g = loads->graph;
    double                all = 0;
    memset(loads->look->inputs, 0, (size_t)g->unit_count * sizeof *loads->look->inputs);
    for (int i = 0; i < set.count; i++) {
        for (int k = g->op_start[set.groups[i]]; k < g->op_start[set.groups[i] + 1]; k++) {
            int op = g->ops[k];
            for (int e = g->before_start[op]; e < g->before_start[op + 1]; e++) {
                int from = loads->unit[g->group[g->before[e]]];
                all += 1;
                if (from >= 0) {
                    loads->look->inputs[from] += 1;
                }
            }
        }
    }
    return all;
}

static float within(double value)
{
    return (float)fmin(5, fmax(-5, value));
}

typedef struct Outlook {         /* of a set, whatever its unit */
    double bytes, inputs, least; /* least load of a unit that is no host */
} Outlook;

/* Times are in shares of the ideal load, so that graphs of any size look alike. */
static void fill_unit(MerPlacerLoads *loads, MerPlacerSet set, int u, const Outlook *all, float *f)
{
    const MerPlacerGraph *g = loads->graph;
    double                time = look_ahead(loads, set, u), most = loads->most, sum = 0;
    for (int v = 0; v < g->unit_count; v++) {
        most = fmax(most, loads->load[v] + loads->look->added[v]);
        sum += loads->look->added[v];
    }
    double after = loads->load[u] + loads->look->added[u];
    double filled = g->limit[u] > 0 ? (loads->bytes[u] + all->bytes) / g->limit[u] : 0;
    f[0] = loads->last == u;
    f[1] = within(after / g->ideal);
    f[2] = within(time / g->ideal);
    f[3] = within((sum - time) / g->ideal); /* transfers */
    f[4] = within((most - loads->most) / g->ideal);
    f[5] = within(filled);
    f[6] = filled > 1;
    f[7] = loads->load[u] == 0;
    f[8] = g->host[u] != 0;
    f[9] = all->inputs > 0 ? (float)(loads->look->inputs[u] / all->inputs) : 0;
    f[10] = within((loads->load[u] - all->least) / g->ideal);
    f[11] = after > g->ideal;
}

void mer_placer_unit_features(MerPlacerLoads *loads, MerPlacerSet set, float *features)
{
    const MerPlacerGraph *g = loads->graph;
    Outlook               all = {.inputs = count_inputs(loads, set), .least = INFINITY};
    for (int i = 0; i < set.count; i++) {
        all.bytes += g->size[set.groups[i]];
    }
    for (int u = 0; u < g->unit_count; u++) {
        all.least = g->host[u] == 0 ? fmin(all.least, loads->load[u]) : all.least;
    }
    all.least = isfinite(all.least) ? all.least : 0;
    for (int u = 0; u < g->unit_count; u++) {
        float *f = features + (int64_t)u * MER_PLACER_UNIT_FEATURES;
        if (mer_placer_allows(g, set, u)) {
            fill_unit(loads, set, u, &all, f);
        } else {
            memset(f, 0, MER_PLACER_UNIT_FEATURES * sizeof *f);
        }
    }
}

void mer_placer_step_features(const MerPlacerLoads *loads, MerPlacerSet set, double progress,
                              float *features)
{
    const MerPlacerGraph *g = loads->graph;
    double                work = 0, send = 0;
    for (int i = 0; i < set.count; i++) {
        work += g->work[set.groups[i]];
        send += mer_placer_group_send(g, set.groups[i]);
    }
    features[0] = (float)progress;
    features[1] = within(g->total > 0 ? loads->placed / g->total : 0);
    features[2] = within(loads->most / g->ideal);
    features[3] = within(work / g->ideal);
    features[4] = within(send / g->ideal);
    features[5] = loads->last < 0 ? 0 : within(loads->load[loads->last] / g->ideal);
}
