/* Vectors of groups and of sets of groups. The tables know the bytes of a result and not its shape: where the papers
 * list dimensions, the logarithm of the bytes stands. */
#include "opt/placer_inputs.h"

#include <math.h>
#include <string.h>

enum {
    KINDS = MER_PLACER_KINDS,
    RESULTS = 5,     /* of a group, at most */
    NEIGHBOURS = 4,  /* of a group on each side, as offsets */
    ADJACENCY = 20,  /* numbers of the hierarchical model: pairs of a neighbour and its side */
    SET_NUMBERS = 12 /* of a set of groups */
};

static void count_kinds(const MerPlacerGraph *g, int group, float share, float *kinds)
{
    for (int k = g->op_start[group]; k < g->op_start[group + 1]; k++) {
        int kind = (int)g->op_kind[g->ops[k]];
        if (kind >= 0 && kind < KINDS) {
            kinds[kind] += share;
        }
    }
}

static void kind_shares(const MerPlacerGraph *g, int group, float *kinds)
{
    int ops = g->op_start[group + 1] - g->op_start[group];
    memset(kinds, 0, KINDS * sizeof *kinds);
    if (ops > 0) {
        count_kinds(g, group, 1 / (float)ops, kinds);
    }
}

/* Logarithms of the bytes of the first results that other groups read; `absent` for the rest. */
static void list_results(const MerPlacerGraph *g, int group, float absent, float *results)
{
    int count = 0;
    for (int k = g->op_start[group]; k < g->op_start[group + 1] && count < RESULTS; k++) {
        int op = g->ops[k];
        if (g->after_start[op + 1] > g->after_start[op]) {
            results[count++] = (float)log2(1 + g->op_bytes[op]);
        }
    }
    while (count < RESULTS) {
        results[count++] = absent;
    }
}

typedef struct Numbers { /* of a set, added up */
    double work, size, bytes, send, inputs, outputs, back;
} Numbers;

static void add_numbers(const MerPlacerGraph *g, int group, Numbers *n)
{
    n->work += g->work[group];
    n->size += g->size[group];
    n->send += mer_placer_group_send(g, group);
    for (int k = g->op_start[group]; k < g->op_start[group + 1]; k++) {
        int op = g->ops[k];
        n->bytes += g->op_bytes[op];
        n->inputs += g->before_start[op + 1] - g->before_start[op];
        n->outputs += g->after_start[op + 1] - g->after_start[op];
        n->back += g->op_back[op] != 0;
    }
}

typedef struct Scale { /* what is usual in a graph */
    double work, size, bytes, limit;
} Scale;

static Scale scale_of(const MerPlacerGraph *g)
{
    Scale scale = {.limit = INFINITY};
    for (int i = 0; i < g->order_count; i++) {
        Numbers n = {0};
        add_numbers(g, g->order[i], &n);
        scale.work += n.work / g->order_count;
        scale.size += n.size / g->order_count;
        scale.bytes += n.bytes / g->order_count;
    }
    for (int u = 0; u < g->unit_count; u++) {
        scale.limit = fmin(scale.limit, g->limit[u]);
    }
    return scale;
}

static float log_share(double value, double unit)
{
    return (float)log1p(unit > 0 ? value / unit : 0);
}

/* `at`, `done`: shares of the steps and of the work that come before. */
static void fill_numbers(const MerPlacerGraph *g, const Scale *scale, const Numbers *n, double at,
                         double done, float *x)
{
    x[0] = (float)at;
    x[1] = (float)done;
    x[2] = log_share(n->work, scale->work);
    x[3] = log_share(n->size, scale->size);
    x[4] = log_share(n->bytes, scale->bytes);
    x[5] = log_share(n->send, g->ideal);
    x[6] = log_share(n->inputs, 1);
    x[7] = log_share(n->outputs, 1);
    x[8] = n->back > 0;
    x[9] = (float)fmin(5, 5 * n->work / g->ideal);
    x[10] = (float)fmin(5, n->send / g->ideal);
    x[11] = (float)fmin(5, scale->limit > 0 ? n->size / scale->limit : 0);
}

/* Where the nearest producers and consumers stand in the list, relative to the group. */
static void list_offsets(const MerPlacerGraph *g, int at, float *offsets)
{
    int group = g->order[at], count[2] = {0};
    for (int n = g->near_start[group]; n < g->near_start[group + 1]; n++) {
        int position = g->position[g->near[n].group], which = g->near[n].side > 0;
        if (position >= 0 && count[which] < NEIGHBOURS) {
            offsets[which * NEIGHBOURS + count[which]++] =
                (float)(position - at) / (float)g->order_count;
        }
    }
}

enum { FULL_WIDTH = KINDS + SET_NUMBERS + 2 * NEIGHBOURS };

static void full_vectors(const MerPlacerGraph *g, float *vectors)
{
    Scale  scale = scale_of(g);
    double done = 0;
    for (int i = 0; i < g->order_count; i++) {
        float  *x = vectors + (int64_t)i * FULL_WIDTH;
        Numbers n = {0};
        memset(x, 0, FULL_WIDTH * sizeof *x);
        kind_shares(g, g->order[i], x);
        add_numbers(g, g->order[i], &n);
        fill_numbers(g, &scale, &n, (double)i / g->order_count, g->total > 0 ? done / g->total : 0,
                     x + KINDS);
        list_offsets(g, i, x + KINDS + SET_NUMBERS);
        done += g->work[g->order[i]];
    }
}

int mer_placer_group_width(const MerPlacerGraph *graph, MerPlacerFeatures features)
{
    return features == MER_PLACER_FULL ? FULL_WIDTH : KINDS + RESULTS + 2 * graph->order_count;
}

/* One-hot: producers, then consumers. */
static void mark_neighbours(const MerPlacerGraph *g, int group, float *marks)
{
    for (int n = g->near_start[group]; n < g->near_start[group + 1]; n++) {
        int position = g->position[g->near[n].group];
        if (position >= 0) {
            marks[g->near[n].side > 0 ? g->order_count + position : position] = 1;
        }
    }
}

void mer_placer_group_vectors(const MerPlacerGraph *graph, MerPlacerFeatures features,
                              float *vectors)
{
    int width = mer_placer_group_width(graph, features);
    if (features == MER_PLACER_FULL) {
        full_vectors(graph, vectors);
        return;
    }
    for (int i = 0; i < graph->order_count; i++) {
        float *x = vectors + (int64_t)i * width;
        memset(x, 0, (size_t)width * sizeof *x);
        kind_shares(graph, graph->order[i], x);
        list_results(graph, graph->order[i], 0, x + KINDS);
        mark_neighbours(graph, graph->order[i], x + KINDS + RESULTS);
    }
}

static void list_pairs(const MerPlacerGraph *g, int group, float *pairs)
{
    int count = 0;
    for (int n = g->near_start[group]; n < g->near_start[group + 1]; n++) {
        int position = g->position[g->near[n].group];
        if (position >= 0 && count + 2 <= ADJACENCY) {
            pairs[count++] = (float)position;
            pairs[count++] = (float)g->near[n].side;
        }
    }
}

int mer_placer_member_width(MerPlacerFeatures features)
{
    return features == MER_PLACER_FULL ? FULL_WIDTH : 1 + RESULTS + ADJACENCY;
}

/* The hierarchical model's: the number of the kind, of the first operator here, as it is. */
void mer_placer_member_vectors(const MerPlacerGraph *graph, MerPlacerFeatures features,
                               float *vectors)
{
    if (features == MER_PLACER_FULL) {
        full_vectors(graph, vectors);
        return;
    }
    for (int i = 0; i < graph->order_count; i++) {
        int    group = graph->order[i], first = graph->op_start[group];
        float *x = vectors + (int64_t)i * (1 + RESULTS + ADJACENCY);
        memset(x, 0, (1 + RESULTS + ADJACENCY) * sizeof *x);
        x[0] = first < graph->op_start[group + 1] ? (float)graph->op_kind[graph->ops[first]] : 0;
        list_results(graph, group, -1, x + 1);
        list_pairs(graph, group, x + 1 + RESULTS);
    }
}

int mer_placer_set_width(int steps, MerPlacerFeatures features)
{
    return 2 * steps + KINDS + 1 + (features == MER_PLACER_FULL ? SET_NUMBERS : 0);
}

/* Edges to each step, then from each. */
static void count_edges(const MerPlacerLanes *lanes, int lane, int group, float *counts)
{
    const MerPlacerGraph *g = lanes->graph;
    const int            *step_of = lanes->step_of + (int64_t)lane * g->group_count;
    for (int n = g->near_start[group]; n < g->near_start[group + 1]; n++) {
        if (g->position[g->near[n].group] >= 0) {
            int step = step_of[g->near[n].group];
            counts[g->near[n].side > 0 ? step : lanes->steps + step] += 1;
        }
    }
}

/* [edges to each set | edges from each set | kinds | results] / (the largest of them + 1). */
static void paper_set_vector(const MerPlacerLanes *lanes, int lane, MerPlacerSet set, float *x)
{
    const MerPlacerGraph *g = lanes->graph;
    int                   steps = lanes->steps, width = 2 * steps + KINDS + 1;
    float                 most = 0;
    for (int i = 0; i < set.count; i++) {
        float results[RESULTS];
        count_edges(lanes, lane, set.groups[i], x);
        count_kinds(g, set.groups[i], 1, x + 2 * steps);
        list_results(g, set.groups[i], 0, results);
        for (int r = 0; r < RESULTS; r++) {
            x[2 * steps + KINDS] += results[r];
        }
    }
    for (int i = 0; i < width; i++) {
        most = x[i] > most ? x[i] : most;
    }
    for (int i = 0; i < width; i++) {
        x[i] /= most + 1;
    }
}

void mer_placer_set_vectors(const MerPlacerLanes *lanes, int lane, MerPlacerFeatures features,
                            float *vectors, int64_t stride)
{
    const MerPlacerGraph *g = lanes->graph;
    Scale                 scale = scale_of(g);
    double                done = 0;
    int                   width = mer_placer_set_width(lanes->steps, features);
    scale.work = g->total / lanes->steps;
    for (int s = 0; s < lanes->steps; s++) {
        MerPlacerSet set = mer_placer_lanes_set(lanes, lane, s);
        float       *x = vectors + s * stride;
        Numbers      n = {0};
        memset(x, 0, (size_t)width * sizeof *x);
        paper_set_vector(lanes, lane, set, x);
        for (int i = 0; i < set.count; i++) {
            add_numbers(g, set.groups[i], &n);
        }
        if (features == MER_PLACER_FULL) {
            fill_numbers(g, &scale, &n, (double)s / lanes->steps,
                         g->total > 0 ? done / g->total : 0, x + width - SET_NUMBERS);
        }
        done += n.work;
    }
}
