#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#include "opt/placer.h"
#include "learn/returns.h"
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <stdlib.h>

typedef MerPlacerOptions Options;
#define ROW(name, type, initial, low, high, choices, help) {#name, type, offsetof(Options, name), initial, low, high, choices, help}
static const MerOption options[] = {
    ROW(features, MER_OPTION_CHOICE, "full", 0, 0, "paper|full", "what"),
    ROW(reward, MER_OPTION_CHOICE, "sqrt", 0, 0, "id|sqrt|log1p", "what"),
    ROW(samples, MER_OPTION_INT, "20", 1, 4096, NULL, "per update"),
    ROW(hidden, MER_OPTION_INT, "32", 2, 4096, NULL, "x"),
    ROW(embedding, MER_OPTION_INT, "8", 1, 4096, NULL, "x"),
    ROW(scorer, MER_OPTION_INT, "16", 1, 4096, NULL, "x"),
    ROW(valid_only_after, MER_OPTION_INT, "5000", 0, 1e12, NULL, "x"),
    ROW(greedy_every, MER_OPTION_INT, "10", 0, 1e12, NULL, "x"),
    ROW(epochs, MER_OPTION_INT, "1", 1, 100, NULL, "x"),
    ROW(rate, MER_OPTION_REAL, "0.01", 0, 10, NULL, "x"),
    ROW(rate_end, MER_OPTION_REAL, "0.001", 0, 10, NULL, "x"),
    ROW(clip, MER_OPTION_REAL, "0", 0, 10, NULL, "x"),
    ROW(baseline_decay, MER_OPTION_REAL, "0.9", 0, 1, NULL, "x"),
    ROW(failing_signal, MER_OPTION_REAL, "0", 0, 1e9, NULL, "x"),
    ROW(grad_norm, MER_OPTION_REAL, "1", 0, 1e9, NULL, "x"),
    ROW(temperature, MER_OPTION_REAL, "1", 1e-6, 1e9, NULL, "x"),
    ROW(tanh_constant, MER_OPTION_REAL, "0", 0, 1e9, NULL, "x"),
    ROW(entropy, MER_OPTION_REAL, "0", 0, 1e9, NULL, "x"),
    ROW(explore, MER_OPTION_REAL, "0", 0, 1e9, NULL, "x"),
    ROW(imitate, MER_OPTION_REAL, "0", 0, 1e9, NULL, "x"),
    ROW(elite, MER_OPTION_INT, "1", 1, 100, NULL, "x"),
    ROW(standardise, MER_OPTION_BOOL, "true", 0, 0, NULL, "x"),
    ROW(starts_failing, MER_OPTION_BOOL, "false", 0, 0, NULL, "x"),
    ROW(both_ways, MER_OPTION_BOOL, "false", 0, 0, NULL, "x"),
    {0}};

enum { INPUTS = 12 };
typedef struct State {
    const MerSearch *search;
    Options o;
    MerPlacerGraph g;
    MerPlacerNet net;
    MerParameters *parameters;
    MerTape *tape;
    MerUpdater *updater;
    int T, U, B;
    float *x;
    int *before, *choice; float *uf, *sf, *mask;
    MerPlacerLoads *loads; MerPlacerTry *attempt;
    MerIndex *points; double *scores;
    int lanes, asked, told; bool has_greedy;
    int64_t done, updates;
    double baseline; bool has_baseline; double worst;
    double greedy, share; int elites; int *elite_units; double *elite_scores; int M;
} State;

static float lg(double v, double unit) { return (float)(log1p(v / unit)); }
static void fill_inputs(State *s) {
    MerPlacerGraph *g = &s->g; double sent = 0; 
    double mean_size = 0, mean_bytes = 0, done = 0;
    for (int i = 0; i < g->group_count; i++) mean_size += g->size[i] / g->group_count;
    for (int o = 0; o < g->op_count; o++) mean_bytes += g->op_bytes[o] / g->op_count;
    (void)sent;
    for (int t = 0; t < s->T; t++) {
        int group = g->order[t]; float *x = s->x + t * INPUTS;
        double bytes = 0, send = 0, fan_in = 0, fan_out = 0, back = 0;
        for (int k = g->op_start[group]; k < g->op_start[group + 1]; k++) { int op = g->ops[k]; bytes += g->op_bytes[op]; back += g->op_back[op];
            if (g->after_start[op+1] > g->after_start[op]) send += mer_placer_send(g, op, 0, s->U - 1); fan_in += g->before_start[op+1] - g->before_start[op]; fan_out += g->after_start[op+1] - g->after_start[op]; }
        x[0] = (float)t / (float)s->T; x[1] = (float)(done / g->total); done += g->work[group];
        x[2] = lg(g->work[group], g->total / s->T); x[3] = lg(g->size[group], mean_size + 1e-30); x[4] = lg(bytes, mean_bytes + 1e-30);
        x[5] = lg(send, g->ideal); x[6] = lg(fan_in, 1); x[7] = lg(fan_out, 1); x[8] = back > 0; x[9] = (float)fmin(5, g->work[group] / g->ideal * 5); x[10] = (float)fmin(5, send / g->ideal); x[11] = 1;
    }
}

static MerStatus open_it(void *state, const MerSearch *search, const void *given, MerError *error) {
    State *s = state; *s = (State){.search = search, .o = *(const Options *)given};
    MER_TRY(mer_placer_graph(search->space, "reinforce_lstm", search->arena, &s->g, error));
    s->T = s->g.group_count; s->U = s->g.unit_count; s->B = (int)s->o.samples;
    bool full = s->o.features == 1;
    MerPlacerShape shape = {.inputs = INPUTS, .units = s->U, .embedding = (int)s->o.embedding, .hidden = (int)s->o.hidden, .unit_features = full ? MER_PLACER_UNIT_FEATURES : 0, .step_features = full ? MER_PLACER_STEP_FEATURES : 0, .scorer = (int)s->o.scorer, .is_both_ways = s->o.both_ways, .temperature = (float)s->o.temperature, .tanh_constant = (float)s->o.tanh_constant};
    s->parameters = mer_parameters_new(); s->net = mer_placer_net(s->parameters, &shape, search->rng);
    s->tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerRule rule = mer_rule_adam(1e-8); s->updater = mer_updater_new(s->tape, s->parameters, &rule);
    MerArena *a = search->arena; s->M = s->o.imitate > 0 ? (int)s->o.elite : 0; int64_t rows = (int64_t)s->T * (s->B + s->M); s->elite_units = MER_ARRAY(a, int, (int64_t)s->T * (s->M + 1)); s->elite_scores = MER_ARRAY(a, double, s->M + 1);
    s->x = MER_ARRAY(a, float, (int64_t)s->T * INPUTS); fill_inputs(s);
    s->before = MER_ARRAY(a, int, rows); s->choice = MER_ARRAY(a, int, rows); s->uf = MER_ARRAY(a, float, rows * s->U * MER_PLACER_UNIT_FEATURES); s->sf = MER_ARRAY(a, float, rows * MER_PLACER_STEP_FEATURES); s->mask = MER_ARRAY(a, float, rows * s->U);
    s->attempt = mer_placer_try(&s->g, a); s->loads = MER_ARRAY(a, MerPlacerLoads, s->B + s->M); for (int b = 0; b < s->B + s->M; b++) mer_placer_loads_make(&s->loads[b], &s->g, s->attempt, a);
    s->points = MER_ARRAY(a, MerIndex, (int64_t)(s->B + 1) * search->space->knob_count); s->scores = MER_ARRAY(a, double, s->B + 1);
    s->worst = -INFINITY;
    return MER_OK;
}

static int draw(const float *lp, int n, MerRng *rng) { double left = mer_rng_unit(rng); int last = 0; for (int u = 0; u < n; u++) { double p = exp(lp[u]); if (p > 0) last = u; left -= p; if (left < 0) return u; } return last; }
static int best_of(const float *lp, int n) { int b = 0; for (int u = 1; u < n; u++) if (lp[u] > lp[b]) b = u; return b; }

static double explore_share(const State *s) { double progress = fmin(1, (double)s->done / (double)s->search->budget); return fmin(0.5, s->o.explore * (1 - progress) / s->T); }
/* mixes with the uniform distribution over what is allowed */
static MerTensor *mixed(State *s, MerTensor *lp, const float *mask, int rows, double share) {
    if (share <= 0) return lp; float *uni = mer_workspace_floats(mer_tape_workspace(s->tape), (int64_t)rows * s->U);
    for (int r = 0; r < rows; r++) { int n = 0; for (int u = 0; u < s->U; u++) n += mask[(int64_t)r * s->U + u] == 0; for (int u = 0; u < s->U; u++) uni[(int64_t)r * s->U + u] = mask[(int64_t)r * s->U + u] == 0 ? (float)(share / n) : 1e-30f; }
    MerTensor *p = mer_tensor_affine(s->tape, mer_tensor_exp(s->tape, lp), (float)(1 - share), 0);
    return mer_tensor_log(s->tape, mer_tensor_add(s->tape, p, mer_tape_input(s->tape, 2, (int[]){rows, s->U}, uni)));
}
static void roll(State *s, int B, bool greedy, MerIndex *points) {
    int U = s->U; mer_tape_reset(s->tape); mer_tape_record(s->tape, false);
    MerTensor *x = mer_tape_input(s->tape, 3, (int[]){s->T, 1, INPUTS}, s->x);
    MerPlacerRead read = mer_placer_read(s->tape, &s->net, x, B);
    for (int b = 0; b < B; b++) mer_placer_loads_clear(&s->loads[b]);
    for (int t = 0; t < s->T; t++) {
        MerPlacerSet set = {1, &s->g.order[t]}; int64_t r0 = (int64_t)t * B;
        for (int b = 0; b < B; b++) { int64_t r = r0 + b; s->before[r] = s->loads[b].last < 0 ? U : s->loads[b].last;
            if (s->net.shape.unit_features) { mer_placer_unit_features(&s->loads[b], set, s->uf + r * U * MER_PLACER_UNIT_FEATURES); mer_placer_step_features(&s->loads[b], set, (double)t / s->T, s->sf + r * MER_PLACER_STEP_FEATURES); }
            for (int u = 0; u < U; u++) s->mask[r * U + u] = mer_placer_allows(&s->g, set, u) ? 0 : -1e9f; }
        MerPlacerRows rows = {s->before + r0, s->uf + r0 * U * MER_PLACER_UNIT_FEATURES, s->sf + r0 * MER_PLACER_STEP_FEATURES, s->mask + r0 * U};
        MerTensor *lp = mer_placer_write(s->tape, &s->net, &read, t, 1, &rows);
        if (!greedy) lp = mixed(s, lp, s->mask + r0 * U, B, explore_share(s));
        for (int b = 0; b < B; b++) { int u = greedy ? best_of(lp->data + b * U, U) : draw(lp->data + b * U, U, s->search->rng); s->choice[r0 + b] = u; mer_placer_put(&s->loads[b], set, u);
            points[(int64_t)b * s->search->space->knob_count + s->g.order[t]] = mer_placer_choice(&s->g, s->g.order[t], u); }
    }
    mer_tape_record(s->tape, true);
}

static void plan(State *s) {
    int64_t left = s->search->budget - s->done; int K = s->search->space->knob_count;
    s->lanes = left <= 0 || left - 1 > s->B ? s->B : (int)(left - 1);
    s->has_greedy = s->lanes == 0 || (s->o.greedy_every > 0 && s->updates % s->o.greedy_every == 0 && left > s->B + 1);
    s->share = explore_share(s);
    if (s->has_greedy) roll(s, 1, true, s->points + (int64_t)s->lanes * K);
    if (s->lanes > 0) roll(s, s->lanes, false, s->points);
    s->asked = s->told = 0;
}
static int ask(void *state, MerProposal *p, int capacity) {
    State *s = state; if (s->told == s->lanes + s->has_greedy) plan(s);
    int left = s->lanes + s->has_greedy - s->asked, n = left < capacity ? left : capacity, K = s->search->space->knob_count;
    for (int i = 0; i < n; i++) memcpy(p[i].point, s->points + (int64_t)(s->asked + i) * K, (size_t)K * sizeof(MerIndex));
    s->asked += n; return n;
}
static double shape_reward(const State *s, double v) { return s->o.reward == 0 ? v : s->o.reward == 1 ? sqrt(v) : log1p(v); }

static void offer(State *s, int lane, int lanes, double score) {
    if (!isfinite(score)) return; int *u = s->elite_units + (int64_t)s->elites * s->T;
    for (int e = 0; e < s->elites; e++) { bool same = s->elite_scores[e] == score; if (same) return; }
    int at = s->elites; if (s->elites == s->M) { at = 0; for (int e = 1; e < s->M; e++) if (s->elite_scores[e] > s->elite_scores[at]) at = e; if (s->elite_scores[at] <= score) return; } else s->elites++;
    u = s->elite_units + (int64_t)at * s->T; s->elite_scores[at] = score; for (int t = 0; t < s->T; t++) u[t] = s->choice[t * lanes + lane];
}
/* moves rows to make place for elite lanes */
static void add_elites(State *s, int B) {
    int U = s->U, N = B + s->elites;
    for (int t = s->T - 1; t >= 0; t--) { int64_t to = (int64_t)t * N, from = (int64_t)t * B; size_t n = (size_t)B;
        memmove(s->before + to, s->before + from, n * sizeof(int)); memmove(s->choice + to, s->choice + from, n * sizeof(int));
        memmove(s->uf + to * U * MER_PLACER_UNIT_FEATURES, s->uf + from * U * MER_PLACER_UNIT_FEATURES, n * (size_t)U * MER_PLACER_UNIT_FEATURES * sizeof(float));
        memmove(s->sf + to * MER_PLACER_STEP_FEATURES, s->sf + from * MER_PLACER_STEP_FEATURES, n * MER_PLACER_STEP_FEATURES * sizeof(float));
        memmove(s->mask + to * U, s->mask + from * U, n * (size_t)U * sizeof(float)); }
    for (int e = 0; e < s->elites; e++) { MerPlacerLoads *l = &s->loads[B + e]; mer_placer_loads_clear(l);
        for (int t = 0; t < s->T; t++) { MerPlacerSet set = {1, &s->g.order[t]}; int64_t r = (int64_t)t * N + B + e; int u = s->elite_units[(int64_t)e * s->T + t];
            s->before[r] = l->last < 0 ? U : l->last; s->choice[r] = u;
            mer_placer_unit_features(l, set, s->uf + r * U * MER_PLACER_UNIT_FEATURES); mer_placer_step_features(l, set, (double)t / s->T, s->sf + r * MER_PLACER_STEP_FEATURES);
            for (int v = 0; v < U; v++) s->mask[r * U + v] = mer_placer_allows(&s->g, set, v) ? 0 : -1e9f;
            mer_placer_put(l, set, u); } }
}
static void learn(State *s) {
    double share = s->share; int B = s->lanes, U = s->U; double reward[4096], adv[4096], mean = 0;
    for (int b = 0; b < B; b++) if (isfinite(s->scores[b])) { reward[b] = shape_reward(s, s->scores[b]); s->worst = fmax(s->worst, reward[b]); }
    for (int b = 0; b < B; b++) { if (!isfinite(s->scores[b])) reward[b] = s->o.failing_signal > 0 ? shape_reward(s, s->o.failing_signal) : 2 * s->worst; mean += reward[b] / B; }
    if (!s->has_baseline) { s->baseline = s->o.starts_failing ? shape_reward(s, s->o.failing_signal) : mean; s->has_baseline = true; }
    for (int b = 0; b < B; b++) adv[b] = s->baseline - reward[b];
    if (s->o.standardise) mer_standardise(adv, B);
    s->baseline = s->o.baseline_decay * s->baseline + (1 - s->o.baseline_decay) * mean;
    s->updates++;
    if (s->M > 0) { for (int b = 0; b < B; b++) offer(s, b, B, s->scores[b]); add_elites(s, B); for (int e = 0; e < s->elites; e++) adv[B + e] = s->o.imitate * B / s->elites; }
    double mean_adv_b = B; B += s->elites;
    double progress = fmin(1, (double)s->done / (double)s->search->budget), rate = s->o.rate + (s->o.rate_end - s->o.rate) * progress;
    float *old = NULL;
    for (int e = 0; e < s->o.epochs; e++) {
    mer_tape_reset(s->tape);
    MerTensor *x = mer_tape_input(s->tape, 3, (int[]){s->T, 1, INPUTS}, s->x);
    MerPlacerRead read = mer_placer_read(s->tape, &s->net, x, B);
    MerPlacerRows rows = {s->before, s->uf, s->sf, s->mask};
    MerTensor *lp = mer_placer_write(s->tape, &s->net, &read, 0, s->T, &rows);
    int R = s->T * B; lp = mixed(s, lp, s->mask, R, share); MerTensor *now = mer_tensor_pick(s->tape, lp, 1, s->choice);
    float *w = mer_workspace_floats(mer_tape_workspace(s->tape), R); for (int r = 0; r < R; r++) w[r] = (float)(-adv[r % B] / mean_adv_b);
    MerTensor *aw = mer_tape_input(s->tape, 2, (int[]){R, 1}, w), *loss;
    if (s->o.epochs > 1 && e == 0) { old = malloc(sizeof(float) * (size_t)R); memcpy(old, now->data, sizeof(float) * (size_t)R); }
    if (s->o.epochs > 1) { float c = (float)s->o.clip; MerTensor *ratio = mer_tensor_exp(s->tape, mer_tensor_sub(s->tape, now, mer_tape_input(s->tape, 2, (int[]){R, 1}, old)));
        MerTensor *p1 = mer_tensor_mul(s->tape, ratio, aw), *p2 = mer_tensor_mul(s->tape, mer_tensor_clamp(s->tape, ratio, 1 - c, 1 + c), aw);
        loss = mer_tensor_sum(s->tape, mer_tensor_maximum(s->tape, p1, p2));
    } else loss = mer_tensor_sum(s->tape, mer_tensor_mul(s->tape, now, aw));
    if (s->o.entropy > 0) { MerTensor *p = mer_tensor_mul(s->tape, mer_tensor_exp(s->tape, lp), mer_tensor_clamp(s->tape, lp, -50, 0)); loss = mer_tensor_add(s->tape, loss, mer_tensor_affine(s->tape, mer_tensor_sum(s->tape, p), (float)(s->o.entropy * (1 - progress) / B), 0)); }
    mer_parameters_clear(s->parameters);
    if (mer_tape_backward(s->tape, loss, NULL) != MER_OK) return;
    double norm = mer_parameters_clip(s->tape, s->parameters, s->o.grad_norm > 0 ? s->o.grad_norm : 1e30);
    mer_updater_step(s->updater, rate);
    if (getenv("DEBUG") && e == 0 && s->updates % 10 == 0) { double ent = 0; for (int64_t i = 0; i < (int64_t)R * U; i++) ent -= exp(lp->data[i]) * fmax(-50, lp->data[i]); 
        fprintf(stderr, "%ld mean %.3f base %.3f norm %.3f entropy/step %.4f greedy %.3f direct", (long)s->updates, mean, s->baseline, norm, ent / R, s->greedy * 1e3);
        if (s->net.direct) for (int i = 0; i < s->net.direct->size; i++) fprintf(stderr, " %.2f", s->net.direct->data[i]);
        fprintf(stderr, "\n"); }
    }
    free(old);
}
static void tell(void *state, const MerTrial *t, int n) {
    State *s = state;
    for (int i = 0; i < n; i++) { if (t[i].warm) continue; s->scores[s->told++] = t[i].score; s->done++; }
    if (s->told == s->lanes + s->has_greedy) { if (s->has_greedy) s->greedy = s->scores[s->lanes]; if (s->lanes > 0) learn(s); }
}
static void close_it(void *state) { State *s = state; mer_updater_free(s->updater); mer_tape_free(s->tape); mer_parameters_free(s->parameters); }
const MerOptimizerClass mer_optimizer_reinforce_lstm = {.name = "reinforce_lstm", .summary = "x", .reference = "y", .options = options, .options_size = sizeof(Options), .state_size = sizeof(State), .open = open_it, .ask = ask, .tell = tell, .close = close_it};
