/* The network of `go` and the logits that it gives. */
#include "opt/go_policy.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_WIDTH = 16, PAIR_WIDTH = 16, STREAM_ROWS = MER_GO_ROWS };
static const float BLOCKED = -1e9f; /* the logit of what is not allowed */
static const float GAIN = 4; /* numbers that stand alone move this much faster than weights */

/* A last layer starts near 0: decisions begin even, or as the order suggests. */
static MerLinearLayer last_layer(MerParameters *parameters, const char *name, int in, int out,
                                 MerRng *rng)
{
    MerLinearLayer layer = mer_linear_layer(parameters, name, in, out, rng);
    for (int64_t i = 0; i < layer.w->size; i++) {
        layer.w->data[i] *= 0.1f;
    }
    return layer;
}

static void make_heads(MerGoPolicy *p, MerRng *rng)
{
    MerParameters    *all = p->parameters;
    const MerGoShape *s = &p->shape;
    p->previous =
        mer_linear_layer(all, "previous", MER_GO_PREVIOUS + s->max_units, s->net.width, rng);
    p->units = last_layer(all, "units", s->net.width, s->max_units, rng);
    p->stay = mer_parameters_add(all, "stay", 1, (int[]){1 + MER_GO_TASKS});
    if (s->has_pairs) {
        p->node_part = mer_linear_layer(all, "node_part", s->net.width, PAIR_WIDTH, rng);
        p->pair_part = mer_linear_layer(all, "pair_part", MER_GO_PAIR, PAIR_WIDTH, rng);
        p->pair_score = last_layer(all, "pair_score", PAIR_WIDTH, 1, rng);
    }
    if (s->has_start) {
        p->rules = last_layer(all, "rules", s->net.width, MER_GO_TASKS * MER_GO_RULES, rng);
        p->gap_key =
            mer_linear_layer(all, "gap_key", 2 * s->net.width + MER_GO_GAP, KEY_WIDTH, rng);
        p->boundary_query = last_layer(all, "boundary_query", MER_GO_BOUNDARY, KEY_WIDTH, rng);
        p->whole_query = last_layer(all, "whole_query", s->net.width, KEY_WIDTH, rng);
        p->boundary_shift = last_layer(all, "boundary_shift", MER_GO_BOUNDARY, 1, rng);
        p->shift = mer_parameters_add(all, "shift", 1, &s->max_units);
        p->sharpness = mer_parameters_add(all, "sharpness", 1, (int[]){1});
        p->cut_cost = mer_parameters_add(all, "cut_cost", 1, (int[]){1});
    }
    p->task = mer_attention(all, "task", s->net.width, s->net.heads, rng);
    p->task_norm = mer_norm(all, "task_norm", s->net.width);
    p->levels[MER_GO_PRIORITY] = last_layer(all, "priority", s->net.width, s->max_levels, rng);
    p->levels[MER_GO_FUSE] = last_layer(all, "fuse", s->net.width, s->max_levels, rng);
}

void mer_go_policy_make(MerGoPolicy *policy, const MerGoShape *shape, MerRng *rng)
{
    *policy = (MerGoPolicy){.shape = *shape, .parameters = mer_parameters_new()};
    policy->kinds = mer_parameters_add(policy->parameters, "kinds", 2,
                                       (int[]){MER_GO_KINDS, shape->kind_width});
    mer_tensor_fill_normal(policy->kinds, 0.5f, rng);
    policy->shape.net.inputs = MER_GO_NODE + shape->kind_width;
    policy->net = mer_graph_net(policy->parameters, "net", &policy->shape.net, rng);
    make_heads(policy, rng);
}

void mer_go_policy_free(MerGoPolicy *policy)
{
    mer_parameters_free(policy->parameters);
    policy->parameters = NULL;
}

int64_t mer_go_policy_size(const MerGoPolicy *policy)
{
    int64_t size = 0;
    for (int i = 0; i < mer_parameters_count(policy->parameters); i++) {
        size += mer_parameters_get(policy->parameters, i)->size;
    }
    return size;
}

void mer_go_policy_forget(MerGoPolicy *policy)
{
    if (policy->shape.has_start) {
        mer_tensor_fill(policy->shift, 0);
    }
}

static void list_rows(MerGoView *v, MerArena *arena)
{
    const MerGoGraph *g = v->graph;
    v->features = MER_ARRAY(arena, float, (int64_t)g->op_count *MER_GO_NODE + 1);
    v->kind = MER_ARRAY(arena, int, g->op_count + 1);
    v->row_group = MER_ARRAY(arena, int, g->op_count + 1);
    v->source = MER_ARRAY(arena, int, 2 * g->edge_count + 1);
    v->target = MER_ARRAY(arena, int, 2 * g->edge_count + 1);
    mer_go_node_features(g, v->policy->shape.has_positions, v->features);
    for (int i = 0; i < g->op_count; i++) {
        int o = g->op_order[i];
        v->kind[i] = g->kind[o] < MER_GO_KINDS ? g->kind[o] : MER_GO_KINDS - 1;
        v->row_group[i] = g->group[o];
    }
    for (int e = 0; e < g->edge_count; e++) {
        int a = g->op_rank[g->from[e]], b = g->op_rank[g->to[e]];
        v->source[2 * e] = v->target[2 * e + 1] = a;
        v->target[2 * e] = v->source[2 * e + 1] = b;
    }
}

void mer_go_view_make(MerGoView *view, const MerGoPolicy *policy, const MerGoGraph *graph,
                      MerPool *pool, MerArena *arena)
{
    int width = policy->shape.net.width;
    *view = (MerGoView){.policy = policy, .graph = graph, .spread = 0.5f, .moves = 1};
    view->encoder = mer_tape_new(&mer_backend_dnnl, pool);
    view->tape = mer_tape_new(&mer_backend_dnnl, pool);
    view->bridge = mer_parameters_new();
    view->nodes = mer_parameters_add(view->bridge, "nodes", 2, (int[]){graph->op_count, width});
    view->whole = mer_parameters_add(view->bridge, "whole", 2, (int[]){1, width});
    list_rows(view, arena);
}

void mer_go_view_free(MerGoView *view)
{
    mer_tape_free(view->encoder);
    mer_tape_free(view->tape);
    mer_parameters_free(view->bridge);
    free(view->stream);
    *view = (MerGoView){0};
}

void mer_go_encode(MerGoView *v, bool is_learning)
{
    const MerGoPolicy *p = v->policy;
    int                count = v->graph->op_count;
    mer_tape_reset(v->encoder);
    mer_tape_record(v->encoder, is_learning);
    v->is_learning = is_learning;
    MerTensor *parts[2] = {mer_tape_input(v->encoder, 2, (int[]){count, MER_GO_NODE}, v->features),
                           mer_tensor_gather(v->encoder, p->kinds, count, v->kind)};
    MerTensor *x = mer_tensor_concat(v->encoder, 2, parts, 1);
    v->made_nodes =
        mer_graph_net_embed(v->encoder, &p->net, x, 2 * v->graph->edge_count, v->source, v->target);
    v->made_whole = mer_graph_net_whole(v->encoder, v->made_nodes);
    memcpy(v->nodes->data, v->made_nodes->data, sizeof(float) * (size_t)v->nodes->size);
    memcpy(v->whole->data, v->made_whole->data, sizeof(float) * (size_t)v->whole->size);
    mer_parameters_clear(v->bridge);
}

/* A sum whose gradient is the one that has come over the bridge. */
static MerTensor *carry(MerGoView *v, MerTensor *made, MerTensor *bridge)
{
    MerTensor *grad =
        mer_tape_input(v->encoder, 2, bridge->shape, mer_tensor_grad(v->encoder, bridge));
    return mer_tensor_sum(v->encoder, mer_tensor_mul(v->encoder, made, grad));
}

MerStatus mer_go_encode_backward(MerGoView *v, MerError *error)
{
    MerTensor *loss = mer_tensor_add(v->encoder, carry(v, v->made_nodes, v->nodes),
                                     carry(v, v->made_whole, v->whole));
    return mer_tape_backward(v->encoder, loss, error);
}

/* Means over the rows of every group, for `count` sequences: (count x N, w) -> (count x groups, w). */
static MerTensor *pool_groups(MerGoView *v, MerTensor *rows, int count)
{
    const MerGoGraph *g = v->graph;
    int               length = g->op_count;
    int              *index = mer_workspace_alloc(mer_tape_workspace(v->tape),
                                                  sizeof *index * (size_t)count * (size_t)length);
    for (int i = 0; i < count; i++) {
        for (int r = 0; r < length; r++) {
            index[i * length + r] = i * g->group_count + v->row_group[r];
        }
    }
    return mer_tensor_scatter_mean(v->tape, rows, count * g->group_count, index);
}

/* A long sequence goes through the trunk in segments, if nothing is to be learned from it: the tape is reset. */
static bool is_streamed(const MerGoView *v)
{
    return !v->is_learning && v->graph->op_count > STREAM_ROWS;
}

/* The trunk over `count` sequences x (count x N, w). */
static MerTensor *run_trunk(MerGoView *v, MerTensor *x, int count, MerRng *dropout)
{
    int        length = v->graph->op_count, width = v->policy->shape.net.width;
    MerTensor *z = NULL;
    if (is_streamed(v)) {
        assert(count == 1);
        v->stream = v->stream != NULL
                        ? v->stream
                        : mer_heap_zeroed((size_t)length * (size_t)width, sizeof(float));
        memcpy(v->stream, x->data, sizeof(float) * (size_t)x->size);
        mer_graph_net_stream(v->tape, &v->policy->net, length, v->stream, v->whole->data);
        mer_tape_reset(v->tape);
        mer_tape_record(v->tape, false);
        return mer_tape_input(v->tape, 2, (int[]){length, width}, v->stream);
    }
    z = mer_tensor_reshape(v->tape, x, 3, (int[]){count, length, width});
    z = mer_graph_net_run(v->tape, &v->policy->net, z, v->whole, dropout);
    return mer_tensor_reshape(v->tape, z, 2, (int[]){count * length, width});
}

/* Two groups meet at a gap: what the network says of them, and the gap's own numbers. */
static MerTensor *gap_keys(MerGoView *v, MerTensor *groups)
{
    const MerGoGraph *g = v->graph;
    MerTape          *tape = v->tape;
    int               gaps = g->group_count + 1;
    MerWorkspace     *workspace = mer_tape_workspace(tape);
    int              *left = mer_workspace_alloc(workspace, sizeof *left * (size_t)gaps);
    int              *right = mer_workspace_alloc(workspace, sizeof *right * (size_t)gaps);
    float            *numbers = mer_workspace_floats(workspace, (int64_t)gaps * MER_GO_GAP);
    for (int i = 0; i < gaps; i++) {
        left[i] = g->group_order[i > 0 ? i - 1 : 0];
        right[i] = g->group_order[i < g->group_count ? i : g->group_count - 1];
    }
    mer_go_gap_features(g, numbers);
    MerTensor *parts[3] = {mer_tensor_gather(tape, groups, gaps, left),
                           mer_tensor_gather(tape, groups, gaps, right),
                           mer_tape_input(tape, 2, (int[]){gaps, MER_GO_GAP}, numbers)};
    return mer_linear_run(tape, &v->policy->gap_key, mer_tensor_concat(tape, 3, parts, 1),
                          MER_TANH);
}

static MerTensor *column(MerGoView *v, int count, const double *values, double factor, bool is_row)
{
    float *copy = mer_workspace_floats(mer_tape_workspace(v->tape), count);
    for (int i = 0; i < count; i++) {
        copy[i] = (float)(values[i] * factor);
    }
    return mer_tape_input(v->tape, 2, is_row ? (int[]){1, count} : (int[]){count, 1}, copy);
}

/* -(gap - (equal share + learned shift))^2 / (2 spread^2), in mean shares of the work; a learned sharpness scales it. */
static MerTensor *cut_distance(MerGoView *v, MerTensor *boundaries)
{
    const MerGoPolicy *p = v->policy;
    MerTape           *tape = v->tape;
    int                units = v->graph->unit_count, gaps = v->graph->group_count + 1;
    MerTensor         *own = mer_tensor_slice(tape, p->shift, 0, 0, units - 1);
    own = mer_tensor_affine(tape, mer_tensor_reshape(tape, own, 2, (int[]){units - 1, 1}), GAIN, 0);
    own =
        mer_tensor_add(tape, own, mer_linear_run(tape, &p->boundary_shift, boundaries, MER_LINEAR));
    MerTensor *centre =
        mer_tensor_add(tape, own, column(v, units - 1, v->graph->share, units, false));
    MerTensor *gap = column(v, gaps, v->graph->gap_position, units, true);
    MerTensor *square = mer_tensor_square(tape, mer_tensor_sub(tape, gap, centre));
    MerTensor *sharp = mer_tensor_exp(
        tape, mer_tensor_clamp(tape, mer_tensor_affine(tape, p->sharpness, GAIN, 0), -3, 6));
    square = mer_tensor_mul(tape, square, sharp);
    return mer_tensor_affine(tape, square, -0.5f / (v->spread * v->spread), 0);
}

static MerTensor *cut_logits(MerGoView *v, MerTensor *groups)
{
    const MerGoPolicy *p = v->policy;
    const MerGoGraph  *g = v->graph;
    MerTape           *tape = v->tape;
    int                boundaries = g->unit_count - 1;
    MerTensor         *keys = gap_keys(v, groups);
    float             *numbers =
        mer_workspace_floats(mer_tape_workspace(tape), (int64_t)boundaries * MER_GO_BOUNDARY);
    mer_go_boundary_features(g, numbers);
    MerTensor *seen = mer_tape_input(tape, 2, (int[]){boundaries, MER_GO_BOUNDARY}, numbers);
    MerTensor *query = mer_linear_run(tape, &p->boundary_query, seen, MER_LINEAR);
    query =
        mer_tensor_add(tape, query, mer_linear_run(tape, &p->whole_query, v->whole, MER_LINEAR));
    MerTensor *logits = mer_tensor_matmul_with(tape, query, false, keys, true);
    logits = mer_tensor_add(tape, logits, cut_distance(v, seen));
    MerTensor *cost = column(v, g->group_count + 1, g->gap_cost, 1 / g->mean_load, true);
    MerTensor *weight = mer_tensor_affine(tape, p->cut_cost, GAIN, 0);
    return mer_tensor_sub(tape, logits, mer_tensor_mul(tape, cost, weight));
}

MerGoFirst mer_go_first_logits(MerGoView *v, MerRng *dropout)
{
    MerTensor *rows = run_trunk(v, v->nodes, 1, dropout);
    MerTensor *rules = mer_linear_run(v->tape, &v->policy->rules, v->whole, MER_LINEAR);
    return (MerGoFirst){
        .cuts = v->graph->unit_count > 1 ? cut_logits(v, pool_groups(v, rows, 1)) : NULL,
        .rules = mer_tensor_reshape(v->tape, rules, 2, (int[]){MER_GO_TASKS, MER_GO_RULES})};
}

typedef struct Seen { /* of the last decisions, as inputs of the tape */
    MerTensor *previous, *pair, *mask;
} Seen;

static MerTensor *mask_of(MerGoView *v)
{
    const MerGoGraph *g = v->graph;
    int64_t           pairs = (int64_t)g->group_count * g->unit_count;
    float            *mask = mer_workspace_floats(mer_tape_workspace(v->tape), pairs);
    for (int64_t j = 0; j < pairs; j++) {
        mask[j] =
            mer_go_allows(g, (int)(j / g->unit_count), (int)(j % g->unit_count)) ? 0 : BLOCKED;
    }
    return mer_tape_input(v->tape, 3, (int[]){1, g->group_count, g->unit_count}, mask);
}

static Seen see(MerGoView *v, int count, const MerGoDecided *before, double progress)
{
    const MerGoGraph *g = v->graph;
    const MerGoShape *s = &v->policy->shape;
    MerWorkspace     *workspace = mer_tape_workspace(v->tape);
    int               width = MER_GO_PREVIOUS + s->max_units, groups = count * g->group_count;
    int64_t           nodes = g->op_count, pairs = (int64_t)g->group_count * g->unit_count;
    float            *previous = mer_workspace_floats(workspace, count * nodes * width);
    float            *pair =
        s->has_pairs ? mer_workspace_floats(workspace, count * pairs * MER_GO_PAIR) : NULL;
    for (int i = 0; i < count; i++) {
        mer_go_decision_features(g, before != NULL ? &before[i] : NULL, progress, s->has_positions,
                                 s->max_units, previous + i * nodes * width,
                                 pair != NULL ? pair + i * pairs * MER_GO_PAIR : NULL);
    }
    return (Seen){
        mer_tape_input(v->tape, 2, (int[]){count * g->op_count, width}, previous),
        pair != NULL ? mer_tape_input(v->tape, 3, (int[]){groups, g->unit_count, MER_GO_PAIR}, pair)
                     : NULL,
        mask_of(v)};
}

/* score(group, unit) = w . relu(A z(group) + B pair(group, unit)) */
static MerTensor *pair_scores(MerGoView *v, MerTensor *groups, MerTensor *pair)
{
    const MerGoPolicy *p = v->policy;
    int                rows = groups->shape[0], units = v->graph->unit_count;
    MerTensor         *node = mer_linear_run(v->tape, &p->node_part, groups, MER_LINEAR);
    node = mer_tensor_reshape(v->tape, node, 3, (int[]){rows, 1, PAIR_WIDTH});
    MerTensor *both = mer_linear_run(v->tape, &p->pair_part, pair, MER_LINEAR);
    both = mer_tensor_relu(v->tape, mer_tensor_add(v->tape, both, node));
    MerTensor *score = mer_linear_run(v->tape, &p->pair_score, both, MER_LINEAR);
    return mer_tensor_reshape(v->tape, score, 2, (int[]){rows, units});
}

/* The weight of keeping decisions with which `moves` of them change on average: odds[r] are those of a change at weight 0. */
static double calibrate(const double *odds, int rows, double moves)
{
    double low = -40, high = 80;
    for (int step = 0; step < 50; step++) {
        double middle = (low + high) / 2, factor = exp(-middle), sum = 0;
        for (int r = 0; r < rows; r++) {
            double odd = odds[r] * factor;
            sum += isinf(odd) ? 1 : odd / (1 + odd);
        }
        if (sum > moves) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (low + high) / 2;
}

/* Odds of a change in each of `rows` rows of logits. */
static void list_odds(const float *logits, int rows, int choices, const int *kept, double *odds)
{
    for (int r = 0; r < rows; r++) {
        const float *row = logits + (int64_t)r * choices;
        odds[r] = 0;
        for (int c = 0; c < choices; c++) {
            odds[r] += c != kept[r] ? exp((double)row[c] - row[kept[r]]) : 0;
        }
    }
}

/* What was decided is kept, mostly. After first decisions (`has_start`) so much that `moves` of those of a placement change: what
 * is learned is which. Else by a weight that is learned. `which`: 0 of units, 1 + task of its levels. */
static MerTensor *add_stay(MerGoView *v, MerTensor *logits, int which, int count,
                           const MerGoDecided *before)
{
    int     rows = logits->shape[0] / count, choices = logits->shape[1];
    bool    is_fixed = v->policy->shape.has_start;
    float  *kept = mer_workspace_floats(mer_tape_workspace(v->tape), logits->size);
    double *odds = mer_heap_zeroed((size_t)rows + 1, sizeof *odds);
    memset(kept, 0, sizeof *kept * (size_t)logits->size);
    for (int i = 0; i < count; i++) {
        const int *decided = which == 0 ? before[i].units : before[i].levels[which - 1];
        int64_t    first = (int64_t)i * rows * choices;
        double     weight = 1;
        if (is_fixed) {
            list_odds(mer_tensor_data(v->tape, logits) + first, rows, choices, decided, odds);
            weight = calibrate(odds, rows, v->moves);
        }
        for (int r = 0; r < rows; r++) {
            kept[first + (int64_t)r * choices + decided[r]] = (float)weight;
        }
    }
    free(odds);
    MerTensor *added = mer_tape_input(v->tape, 2, logits->shape, kept);
    if (!is_fixed) {
        added =
            mer_tensor_mul(v->tape, added, mer_tensor_slice(v->tape, v->policy->stay, 0, which, 1));
    }
    return mer_tensor_add(v->tape, logits, added);
}

static MerTensor *unit_logits(MerGoView *v, MerTensor *rows, const Seen *seen, int count,
                              const MerGoDecided *before)
{
    int        groups = v->graph->group_count, units = v->graph->unit_count;
    MerTensor *pooled = pool_groups(v, rows, count);
    MerTensor *logits = mer_linear_run(v->tape, &v->policy->units, pooled, MER_LINEAR);
    logits = mer_tensor_slice(v->tape, logits, 1, 0, units);
    if (seen->pair != NULL) {
        logits = mer_tensor_add(v->tape, logits, pair_scores(v, pooled, seen->pair));
    }
    logits = mer_tensor_reshape(v->tape, logits, 3, (int[]){count, groups, units});
    logits = mer_tensor_add(v->tape, logits, seen->mask);
    logits = mer_tensor_reshape(v->tape, logits, 2, (int[]){count * groups, units});
    return before != NULL ? add_stay(v, logits, 0, count, before) : logits;
}

/* z_k = LayerNorm(A(z_(k-1)) + z_0) */
static MerTensor *next_task(MerGoView *v, MerTensor *z, MerTensor *first, int count)
{
    const MerGoShape *s = &v->policy->shape;
    int               length = v->graph->op_count;
    MerTensor        *x = mer_tensor_reshape(v->tape, z, 3, (int[]){count, length, s->net.width});
    x = mer_segment_attention(v->tape, &v->policy->task, x, s->net.segment);
    x = mer_tensor_reshape(v->tape, x, 2, (int[]){count * length, s->net.width});
    return mer_norm_run(v->tape, &v->policy->task_norm, mer_tensor_add(v->tape, x, first));
}

static MerTensor *level_logits(MerGoView *v, MerGoTask task, MerTensor *z, int count,
                               const MerGoDecided *before)
{
    MerTensor *logits = mer_linear_run(v->tape, &v->policy->levels[task], z, MER_LINEAR);
    logits = mer_tensor_slice(v->tape, logits, 1, 0, v->graph->levels[task]);
    bool has_before = before != NULL && before[0].levels[task] != NULL;
    return has_before ? add_stay(v, logits, 1 + task, count, before) : logits;
}

/* The embedding and the last decisions of every placement. */
static MerTensor *join_decisions(MerGoView *v, MerTensor *previous, int count)
{
    int        length = v->graph->op_count, width = v->policy->shape.net.width;
    MerTensor *rows = mer_linear_run(v->tape, &v->policy->previous, previous, MER_LINEAR);
    rows = mer_tensor_reshape(v->tape, rows, 3, (int[]){count, length, width});
    rows = mer_tensor_add(v->tape, rows, v->nodes);
    return mer_tensor_reshape(v->tape, rows, 2, (int[]){count * length, width});
}

MerGoLogits mer_go_round_logits(MerGoView *v, int count, const MerGoDecided *before, int round,
                                int rounds, MerRng *dropout)
{
    const MerGoGraph *g = v->graph;
    bool              has_tasks = g->levels[MER_GO_PRIORITY] > 0 || g->levels[MER_GO_FUSE] > 0;
    double            progress = (round + 1.0) / rounds;
    Seen              seen = see(v, count, before, progress);
    MerTensor        *first = run_trunk(v, join_decisions(v, seen.previous, count), count, dropout);
    seen = is_streamed(v) ? see(v, count, before, progress) : seen; /* the tape was reset */
    MerTensor  *rows = has_tasks ? next_task(v, first, first, count) : first;
    MerGoLogits logits = {.units = unit_logits(v, rows, &seen, count, before)};
    for (int t = 0; t < MER_GO_TASKS && round == rounds - 1; t++) {
        if (g->levels[t] > 0) {
            rows = next_task(v, rows, first, count);
            logits.levels[t] = level_logits(v, (MerGoTask)t, rows, count, before);
        }
    }
    return logits;
}
