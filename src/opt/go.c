/* Placement, order and fusion by a policy that reads the graph (GO, Zhou et al., NeurIPS 2020): embedding, segment-recurrent attention,
 * modulation, rounds of decisions that are all made at once, PPO. What is ours beside the paper's form is the option `order` (cuts of
 * a topological order as the first decisions, positions along it), `pairs` (docs/placement.md, "go"). */
#include "base/memory.h"
#include "base/option_rows.h"
#include "opt/go_state.h"

#include <math.h>
#include <stdlib.h>

typedef MerGoOptions Options;

static const MerOption options[] = {
    MER_INT(hidden, "128", 4, 4096, "width of the network"),
    MER_INT(embedding, "2", 0, MER_GRAPH_NET_LAYERS,
            "layers of GraphSAGE; 0: an operator is what its own numbers say"),
    MER_INT(layers, "3", 0, MER_GRAPH_NET_LAYERS, "of the trunk"),
    MER_BOOL(attention, "true", "segment-recurrent attention in the trunk"),
    MER_BOOL(modulation, "true", "the trunk is scaled by what the whole graph is like"),
    MER_INT(heads, "8", 1, 64, "of an attention"),
    MER_INT(feed_forward, "512", 1, 16384, "width between two attentions"),
    MER_INT(segment, "256", 1, 65536, "operators that attend to each other"),
    MER_INT(kind_width, "32", 1, 256, "numbers that say an operator's kind"),
    MER_REAL(dropout, "0.1", 0, 0.9, "share of the trunk's numbers left out"),
    MER_INT(max_devices, "16", 2, 64, "units that a policy can tell apart"),
    MER_INT(max_levels, "20", 1, 1000, "levels of priority and of fusion"),
    MER_INT(rounds, "3", 0, 16,
            "times that all units are decided, each seeing the decisions before"),
    MER_CHOICE(start, "cuts", "none|cuts",
               "first decisions, before the rounds: none, or cuts of a topological order and rules "
               "for levels (ours)"),
    MER_BOOL(positions, "true",
             "share of the work before an operator along that order is seen (ours)"),
    MER_BOOL(pairs, "true", "scores of pairs of group and unit, from loads and transfers (ours)"),
    MER_REAL(warm_up, "0", 0, 1,
             "share of the updates in which first decisions are all that is made (start=cuts)"),
    MER_REAL(spread, "0.5", 1e-3, 100,
             "of first cuts about equal shares of the work, in shares (start=cuts)"),
    MER_REAL(moves, "1", 1e-6, 1e6,
             "groups that a first round moves away from the cuts' units (start=cuts)"),
    MER_REAL(improve, "0", 0, 1,
             "share of the placements whose rounds begin from the best one so far, not from cuts "
             "(start=cuts)"),
    MER_INT(rollouts, "16", 1, 4096, "placements per update"),
    MER_INT(epochs, "4", 1, 100, "passes over them"),
    MER_INT(updates, "1000", 0, 1e9,
            "at most; 0: one batch and the most likely placement of the policy as it is"),
    MER_REAL(rate, "1e-4", 0, 1, "step width (Adam)"),
    MER_REAL(rate_end, "1e-4", 0, 1, "and at the end"),
    MER_REAL(clip, "0.2", 0, 10, "of the probability ratio of every decision"),
    MER_REAL(entropy, "0.01", 0, 100, "weight of the decisions' entropy at the start"),
    MER_REAL(entropy_end, "0.01", 0, 100, "and at the end"),
    MER_REAL(first_entropy, "0.01", 0, 100, "the same for first decisions, at the start"),
    MER_REAL(first_entropy_end, "0.01", 0, 100, "and at the end"),
    MER_REAL(grad_norm, "0.5", 0, 1e9, "largest norm of a gradient; 0: any"),
    MER_CHOICE(reward, "sqrt", "sqrt|log|identity", "minus this of the score"),
    MER_REAL(invalid, "-10", -1e9, 0, "reward of an infeasible placement"),
    MER_CHOICE(baseline, "history", "history|batch",
               "mean reward of all earlier placements, or of the batch"),
    MER_CHOICE(advantage, "value", "value|standard|rank",
               "reward less baseline; divided by the batch's deviation; by ranks in the batch"),
    MER_INT(greedy_every, "10", 1, 1e9, "updates after which the most likely placement is tried"),
    {0}};

static const MerPreset presets[] = {{"small", MER_GO_SMALL}, {NULL, NULL}};

static MerGoShape shape_of(const Options *o)
{
    return (MerGoShape){.net = {.width = (int)o->hidden,
                                .embeddings = (int)o->embedding,
                                .layers = (int)o->layers,
                                .heads = (int)o->heads,
                                .feed_forward = (int)o->feed_forward,
                                .segment = (int)o->segment,
                                .has_attention = o->attention,
                                .is_modulated = o->modulation,
                                .dropout = (float)o->dropout},
                        .kind_width = (int)o->kind_width,
                        .max_units = (int)o->max_devices,
                        .max_levels = (int)o->max_levels,
                        .has_start = o->start == 1,
                        .has_positions = o->positions,
                        .has_pairs = o->pairs};
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
        s->kept = mer_heap_zeroed((size_t)mer_go_policy_size(&s->policy) + 1, sizeof *s->kept);
    }
    mer_go_meet(s);
    mer_go_view_make(&s->view, &s->policy, &s->graph, search->pool, search->arena);
    s->view.spread = (float)o->spread;
    s->view.moves = (float)o->moves;
    mer_go_batch_make(&s->batch, &s->graph, (int)o->rollouts, (int)o->rounds, search->arena);
    mer_go_batch_make(&s->greedy, &s->graph, 1, (int)o->rounds, search->arena);
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
