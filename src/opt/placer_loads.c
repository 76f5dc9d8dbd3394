/* Loads of the units while a placement grows. */
#include "opt/placer_loads.h"

#include <math.h>
#include <string.h>

MerPlacerTry *mer_placer_try(const MerPlacerGraph *graph, MerArena *arena)
{
    int64_t       units = graph->unit_count, ops = graph->op_count;
    MerPlacerTry *attempt = MER_NEW(arena, MerPlacerTry);
    attempt->added = MER_ARRAY(arena, double, units);
    attempt->out = MER_ARRAY(arena, int64_t, ops + 1);
    attempt->to = MER_ARRAY(arena, int64_t, ops * units + 1);
    return attempt;
}

void mer_placer_loads_make(MerPlacerLoads *loads, const MerPlacerGraph *graph,
                           MerPlacerTry *attempt, MerArena *arena)
{
    int64_t units = graph->unit_count, ops = graph->op_count;
    *loads = (MerPlacerLoads){.graph = graph,
                              .unit = MER_ARRAY(arena, int, graph->group_count),
                              .load = MER_ARRAY(arena, double, units),
                              .bytes = MER_ARRAY(arena, double, units),
                              .is_sent = MER_ARRAY(arena, bool, ops *units + 1),
                              .is_out = MER_ARRAY(arena, bool, ops + 1),
                              .attempt = attempt};
    mer_placer_loads_clear(loads);
}

void mer_placer_loads_clear(MerPlacerLoads *loads)
{
    int64_t units = loads->graph->unit_count, ops = loads->graph->op_count;
    for (int g = 0; g < loads->graph->group_count; g++) {
        loads->unit[g] = -1;
    }
    memset(loads->load, 0, (size_t)units * sizeof *loads->load);
    memset(loads->bytes, 0, (size_t)units * sizeof *loads->bytes);
    memset(loads->is_sent, 0, (size_t)(ops * units) * sizeof *loads->is_sent);
    memset(loads->is_out, 0, (size_t)ops * sizeof *loads->is_out);
    loads->most = loads->placed = 0;
    loads->last = -1;
}

bool mer_placer_allows(const MerPlacerGraph *graph, MerPlacerSet set, int unit)
{
    for (int i = 0; i < set.count; i++) {
        if (!isfinite(graph->time[set.groups[i] * graph->unit_count + unit])) {
            return false;
        }
    }
    return true;
}

/* The result of `op` on `from` is needed on `to`: once per unit, and once where it leaves. */
static void add_transfer(MerPlacerLoads *loads, int op, int from, int to, bool is_kept)
{
    const MerPlacerGraph *g = loads->graph;
    MerPlacerTry         *attempt = loads->attempt;
    int64_t               at = (int64_t)op * g->unit_count + to;
    double                s = mer_placer_send(g, op, from, to);
    if (loads->is_sent[at] || attempt->to[at] == attempt->tries) {
        return;
    }
    attempt->to[at] = attempt->tries;
    attempt->added[to] += g->host[to] != 0 ? 0 : s;
    if (!loads->is_out[op] && attempt->out[op] != attempt->tries) {
        attempt->added[from] += g->host[from] != 0 ? 0 : s;
        attempt->out[op] = attempt->tries;
    }
    if (is_kept) {
        loads->is_sent[at] = loads->is_out[op] = true;
    }
}

/* What the transfers of a set on `unit` add to the units; producers and consumers that are placed later count then.
 * A result that several of the set read counts once, as it is marked. */
static void try_unit(MerPlacerLoads *loads, MerPlacerSet set, int unit, bool is_kept)
{
    const MerPlacerGraph *g = loads->graph;
    memset(loads->attempt->added, 0, (size_t)g->unit_count * sizeof *loads->attempt->added);
    loads->attempt->tries++;
    for (int i = 0; i < set.count; i++) {
        int group = set.groups[i];
        loads->attempt->added[unit] += g->time[group * g->unit_count + unit];
        for (int k = g->op_start[group]; k < g->op_start[group + 1]; k++) {
            int op = g->ops[k];
            for (int e = g->before_start[op]; e < g->before_start[op + 1]; e++) {
                int from = loads->unit[g->group[g->before[e]]];
                if (from >= 0 && from != unit) {
                    add_transfer(loads, g->before[e], from, unit, is_kept);
                }
            }
            for (int e = g->after_start[op]; e < g->after_start[op + 1]; e++) {
                int to = loads->unit[g->group[g->after[e]]];
                if (to >= 0 && to != unit) {
                    add_transfer(loads, op, unit, to, is_kept);
                }
            }
        }
    }
}

void mer_placer_put(MerPlacerLoads *loads, MerPlacerSet set, int unit)
{
    const MerPlacerGraph *g = loads->graph;
    try_unit(loads, set, unit, true);
    for (int u = 0; u < g->unit_count; u++) {
        loads->load[u] += loads->attempt->added[u];
        loads->most = fmax(loads->most, loads->load[u]);
    }
    for (int i = 0; i < set.count; i++) {
        loads->unit[set.groups[i]] = unit;
        loads->bytes[unit] += g->size[set.groups[i]];
        loads->placed += g->work[set.groups[i]];
    }
    loads->last = unit;
}

/* Share of the results that the set reads which are on each unit: [unit], added up. */
static double count_producers(const MerPlacerLoads *loads, MerPlacerSet set, double *share)
{
    const MerPlacerGraph *g = loads->graph;
    double                all = 0;
    memset(share, 0, (size_t)g->unit_count * sizeof *share);
    for (int i = 0; i < set.count; i++) {
        for (int k = g->op_start[set.groups[i]]; k < g->op_start[set.groups[i] + 1]; k++) {
            int op = g->ops[k];
            for (int e = g->before_start[op]; e < g->before_start[op + 1]; e++) {
                int from = loads->unit[g->group[g->before[e]]];
                all += 1;
                if (from >= 0) {
                    share[from] += 1;
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

void mer_placer_unit_features(MerPlacerLoads *loads, MerPlacerSet set, float *features)
{
    const MerPlacerGraph *g = loads->graph;
    double                share[256], all = count_producers(loads, set, share), bytes = 0;
    double                least = INFINITY;
    for (int i = 0; i < set.count; i++) {
        bytes += g->size[set.groups[i]];
    }
    for (int u = 0; u < g->unit_count; u++) {
        least = g->host[u] == 0 ? fmin(least, loads->load[u]) : least;
    }
    for (int u = 0; u < g->unit_count; u++) {
        float *f = features + (int64_t)u * MER_PLACER_UNIT_FEATURES;
        if (!mer_placer_allows(g, set, u)) {
            memset(f, 0, MER_PLACER_UNIT_FEATURES * sizeof *f);
            continue;
        }
        try_unit(loads, set, u, false);
        double most = loads->most, sum = 0, time = 0;
        for (int v = 0; v < g->unit_count; v++) {
            most = fmax(most, loads->load[v] + loads->attempt->added[v]);
            sum += loads->attempt->added[v];
        }
        for (int i = 0; i < set.count; i++) {
            time += g->time[set.groups[i] * g->unit_count + u];
        }
        double filled = (loads->bytes[u] + bytes) / g->limit[u];
        f[0] = loads->last == u;
        f[1] = within((loads->load[u] + loads->attempt->added[u]) / g->ideal);
        f[2] = within(time / g->ideal);
        f[3] = within((sum - time) / g->ideal);
        f[4] = within((most - loads->most) / g->ideal);
        f[5] = within(filled);
        f[6] = filled > 1;
        f[7] = loads->load[u] == 0;
        f[8] = g->host[u] != 0;
        f[9] = all > 0 ? (float)(share[u] / all) : 0;
        f[10] = within((loads->load[u] - least) / g->ideal);
        f[11] = within(loads->load[u] + loads->attempt->added[u] > g->ideal);
    }
}

void mer_placer_step_features(const MerPlacerLoads *loads, MerPlacerSet set, double progress,
                              float *features)
{
    const MerPlacerGraph *g = loads->graph;
    double                work = 0, send = 0;
    for (int i = 0; i < set.count; i++) {
        work += g->work[set.groups[i]];
        for (int k = g->op_start[set.groups[i]]; k < g->op_start[set.groups[i] + 1]; k++) {
            int op = g->ops[k];
            send += g->after_start[op + 1] > g->after_start[op] ? mer_placer_send(g, op, 0, g->unit_count - 1) : 0;
        }
    }
    features[0] = (float)progress;
    features[1] = within(g->total > 0 ? loads->placed / g->total : 0);
    features[2] = within(loads->most / g->ideal);
    features[3] = within(work / g->ideal);
    features[4] = within(send / g->ideal);
    features[5] = loads->last < 0 ? 0 : within(loads->load[loads->last] / g->ideal);
}
