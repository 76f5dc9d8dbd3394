/* Placement, order and fusion by a policy that reads the graph (GO, Zhou et al., NeurIPS 2020): embedding, segment-recurrent attention,
 * modulation, rounds of decisions that are all made at once, PPO. What is ours beside the paper's form is the option `order` (cuts of
 * a topological order as the first decisions, positions along it), `pairs` and `siblings` (docs/placement.md, "go"). */
#include "opt/go_state.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

typedef MerGoOptions Options;

#define ROW(name, type, initial, low, high, choices, help)                                         \
    {                                                                                              \
#name, type, offsetof(Options, name), initial, low, high, choices, help                    \
    }

static const MerOption options[] = {
    ROW(hidden, MER_OPTION_INT, "128", 4, 4096, NULL, "width of the network"),
    ROW(embedding, MER_OPTION_INT, "2", 0, MER_GRAPH_NET_LAYERS, NULL,
        "layers of GraphSAGE; 0: an operator is what its own numbers say"),
    ROW(layers, MER_OPTION_INT, "3", 0, MER_GRAPH_NET_LAYERS, NULL, "of the trunk"),
    ROW(attention, MER_OPTION_BOOL, "true", 0, 0, NULL, "segment-recurrent attention in the trunk"),
    ROW(modulation, MER_OPTION_BOOL, "true", 0, 0, NULL,
        "the trunk is scaled by what the whole graph is like"),
    ROW(heads, MER_OPTION_INT, "8", 1, 64, NULL, "of an attention"),
    ROW(feed_forward, MER_OPTION_INT, "512", 1, 16384, NULL, "width between two attentions"),
    ROW(segment, MER_OPTION_INT, "256", 1, 65536, NULL, "operators that attend to each other"),
    ROW(kind_width, MER_OPTION_INT, "32", 1, 256, NULL, "numbers that say an operator's kind"),
    ROW(dropout, MER_OPTION_REAL, "0.1", 0, 0.9, NULL, "share of the trunk's numbers left out"),
    ROW(max_devices, MER_OPTION_INT, "16", 2, 64, NULL, "units that a policy can tell apart"),
    ROW(max_levels, MER_OPTION_INT, "20", 1, 1000, NULL, "levels of priority and of fusion"),
    ROW(rounds, MER_OPTION_INT, "3", 0, 16, NULL,
        "times that all units are decided, each seeing the decisions before"),
    ROW(start, MER_OPTION_CHOICE, "cuts", 0, 0, "none|cuts",
        "first decisions, before the rounds: none, or cuts of a topological order and rules for "
        "levels (ours)"),
    ROW(positions, MER_OPTION_BOOL, "true", 0, 0, NULL,
        "share of the work before an operator along that order is seen (ours)"),
    ROW(pairs, MER_OPTION_BOOL, "true", 0, 0, NULL,
        "scores of pairs of group and unit, from loads and transfers (ours)"),
    ROW(warm_up, MER_OPTION_REAL, "0", 0, 1, NULL,
        "share of the updates in which first decisions are all that is made (start=cuts)"),
    ROW(spread, MER_OPTION_REAL, "0.5", 1e-3, 100, NULL,
        "of first cuts about equal shares of the work, in shares (start=cuts)"),
    ROW(moves, MER_OPTION_REAL, "1", 1e-6, 1e6, NULL,
        "groups that a first round moves away from the cuts' units (start=cuts)"),
    ROW(siblings, MER_OPTION_INT, "1", 1, 1024, NULL,
        "placements that share their cuts, whose rounds are compared with each other (start=cuts)"),
    ROW(improve, MER_OPTION_REAL, "0", 0, 1, NULL,
        "share of the placements whose rounds begin from the best one so far, not from cuts "
        "(start=cuts)"),
    ROW(rollouts, MER_OPTION_INT, "16", 1, 4096, NULL, "placements per update"),
    ROW(epochs, MER_OPTION_INT, "4", 1, 100, NULL, "passes over them"),
    ROW(updates, MER_OPTION_INT, "1000", 0, 1e9, NULL,
        "at most; 0: one batch and the most likely placement of the policy as it is"),
    ROW(rate, MER_OPTION_REAL, "1e-4", 0, 1, NULL, "step width (Adam)"),
    ROW(rate_end, MER_OPTION_REAL, "1e-4", 0, 1, NULL, "and at the end"),
    ROW(clip, MER_OPTION_REAL, "0.2", 0, 10, NULL, "of the probability ratio"),
    ROW(ratio, MER_OPTION_CHOICE, "node", 0, 0, "joint|node",
        "that is clipped: of a whole placement or of every decision"),
    ROW(entropy, MER_OPTION_REAL, "0.01", 0, 100, NULL,
        "weight of the decisions' entropy at the start"),
    ROW(entropy_end, MER_OPTION_REAL, "0.01", 0, 100, NULL, "and at the end"),
    ROW(first_entropy, MER_OPTION_REAL, "0.01", 0, 100, NULL,
        "the same for first decisions, at the start"),
    ROW(first_entropy_end, MER_OPTION_REAL, "0.01", 0, 100, NULL, "and at the end"),
    ROW(grad_norm, MER_OPTION_REAL, "0.5", 0, 1e9, NULL, "largest norm of a gradient; 0: any"),
    ROW(reward, MER_OPTION_CHOICE, "sqrt", 0, 0, "sqrt|log|identity", "minus this of the score"),
    ROW(invalid, MER_OPTION_REAL, "-10", -1e9, 0, NULL, "reward of an infeasible placement"),
    ROW(baseline, MER_OPTION_CHOICE, "history", 0, 0, "history|batch",
        "mean reward of all earlier placements, or of the batch"),
    ROW(advantage, MER_OPTION_CHOICE, "value", 0, 0, "value|standard|rank",
        "reward less baseline; divided by the batch's deviation; by ranks in the batch"),
    ROW(greedy_every, MER_OPTION_INT, "10", 1, 1e9, NULL,
        "updates after which the most likely placement is tried"),
    {0}};

static const MerPreset presets[] = {{"small", MER_GO_SMALL}, {NULL, NULL}};

static MerGoShape shape_of(const Options *o)
{
    return (MerGoShape){.width = (int)o->hidden,
                        .embeddings = (int)o->embedding,
                        .layers = (int)o->layers,
                        .heads = (int)o->heads,
                        .feed_forward = (int)o->feed_forward,
                        .segment = (int)o->segment,
                        .kind_width = (int)o->kind_width,
                        .max_units = (int)o->max_devices,
                        .max_levels = (int)o->max_levels,
                        .has_attention = o->attention,
                        .is_modulated = o->modulation,
                        .has_start = o->start == 1,
                        .has_positions = o->positions,
                        .has_pairs = o->pairs,
                        .dropout = (float)o->dropout};
}

static MerStatus check(const MerGoState *s, MerError *error)
{
    const Options    *o = &s->options;
    const MerGoGraph *g = &s->graph;
    if (o->hidden % o->heads != 0) {
        return mer_error_set(error, MER_INVALID,
                             "go: hidden is %lld, expected a multiple of heads, %lld",
                             (long long)o->hidden, (long long)o->heads);
    }
    if (g->unit_count > o->max_devices) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "go: there are %d units, expected at most max_devices, %lld",
                             g->unit_count, (long long)o->max_devices);
    }
    int levels = g->levels[0] > g->levels[1] ? g->levels[0] : g->levels[1];
    if (levels > o->max_levels) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "go: there are %d levels, expected at most max_levels, %lld", levels,
                             (long long)o->max_levels);
    }
    if (o->rounds == 0 && (levels > 0 || o->start == 0)) {
        return mer_error_set(error, MER_INVALID, "go: rounds is 0, expected at least 1 %s",
                             levels > 0 ? "where order or fusion is decided" : "with start=none");
    }
    return MER_OK;
}

/* What depends on the graph. */
static MerStatus begin(MerGoState *s, const MerSearch *search, MerError *error)
{
    const Options *o = &s->options;
    s->search = search;
    MER_TRY(mer_go_graph_read(&s->graph, search->space, search->arena, error));
    MER_TRY(check(s, error));
    if (s->policy.parameters == NULL) {
        MerGoShape shape = shape_of(o);
        MerRule    rule = mer_rule_adam(1e-8);
        mer_go_policy_make(&s->policy, &shape, search->rng);
        s->update_tape = mer_tape_new(&mer_backend_dnnl, search->pool);
        s->updater = mer_updater_new(s->update_tape, s->policy.parameters, &rule);
        s->kept = MER_ARRAY_HEAP(float, mer_go_policy_size(&s->policy));
    }
    mer_go_meet(s);
    mer_go_view_make(&s->view, &s->policy, &s->graph, search->pool, search->arena);
    s->view.spread = (float)o->spread;
    s->view.moves = (float)o->moves;
    int siblings = o->start == 1 ? (int)o->siblings : 1;
    mer_go_batch_make(&s->batch, &s->graph, (int)o->rollouts, (int)o->rounds, siblings,
                      search->arena);
    mer_go_batch_make(&s->greedy, &s->graph, 1, (int)o->rounds, 1, search->arena);
    s->now = (MerGoProgress){.best = INFINITY, .best_greedy = INFINITY};
    return MER_OK;
}

static MerStatus open_go(void *state, const MerSearch *search, const void *given, MerError *error)
{
    MerGoState *s = state;
    *s = (MerGoState){.options = *(const Options *)given};
    return begin(s, search, error);
}

static MerStatus next_task(void *state, const MerSearch *search, MerError *error)
{
    MerGoState *s = state;
    mer_go_restore(s);
    mer_go_view_free(&s->view);
    return begin(s, search, error);
}

static void close_go(void *state)
{
    MerGoState *s = state;
    mer_go_view_free(&s->view);
    mer_updater_free(s->updater);
    mer_tape_free(s->update_tape);
    mer_go_policy_free(&s->policy);
    free(s->kept);
}

const MerOptimizerClass mer_optimizer_go = {
    .name = "go",
    .summary = "a policy that reads the graph: embedding, attention, rounds of decisions, PPO",
    .reference = "Zhou et al., NeurIPS 2020",
    .options = options,
    .presets = presets,
    .options_size = sizeof(Options),
    .tables = MER_GO_TABLES,
    .state_size = sizeof(MerGoState),
    .open = open_go,
    .ask = mer_go_ask,
    .tell = mer_go_tell,
    .next_task = next_task,
    .save = mer_go_save,
    .load = mer_go_load,
    .close = close_go,
};
