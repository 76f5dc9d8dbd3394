/* The search of `go`: batches of placements are asked for, and learned from when they are told. */
#include "opt/go_state.h"

#include "base/stats.h"
#include "learn/returns.h"
#include "opt/failure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int64_t left(const MerGoState *s)
{
    return s->search->budget == INT64_MAX ? INT64_MAX : s->search->budget - s->now.done;
}

static double progress(const MerGoState *s)
{
    double of_budget =
        s->search->budget == INT64_MAX ? 0 : (double)s->now.done / (double)s->search->budget;
    double of_updates = (double)s->now.updates / (double)s->options.updates;
    return fmin(1, fmax(of_budget, of_updates));
}

/* The next placements to ask for: a batch, with or without the most likely one before it; in the end that one alone. */
static void prepare(MerGoState *s)
{
    const MerGoOptions *o = &s->options;
    int64_t             rest = left(s);
    bool                is_over = s->now.updates >= o->updates && s->now.updates > 0;
    s->now.is_last = is_over || rest <= 1;
    bool ends = rest - 2 <= o->rollouts || s->now.updates + 1 >= o->updates;
    bool is_due = ends || s->now.updates % o->greedy_every == 0;
    s->now.has_greedy = s->now.is_last || (is_due && rest > 2);
    int64_t most = rest - 1 - s->now.has_greedy; /* the last one is the most likely */
    s->now.samples = s->now.is_last ? 0 : (int)(o->rollouts < most ? o->rollouts : most);
    bool is_warming = o->start == 1 && o->updates > 0 && progress(s) < o->warm_up;
    bool is_plain = is_warming || o->rounds == 0;
    if (s->now.is_last) {
        mer_go_restore(s);
    }
    mer_go_encode(&s->view, false);
    bool improves =
        o->start == 1 && o->improve > 0 && o->updates > 0 && isfinite(s->now.best) && !is_plain;
    s->batch.improved = improves ? (int)ceil(o->improve * s->now.samples) : 0;
    s->batch.plain = improves || is_plain ? s->now.samples - s->batch.improved : 0;
    s->greedy.plain =
        s->now.is_last && isfinite(s->now.best_greedy) ? s->now.is_best_plain : is_plain;
    if (s->now.has_greedy) {
        mer_go_draw(&s->view, &s->greedy, 1, NULL);
    }
    if (s->now.samples > 0) {
        mer_go_draw(&s->view, &s->batch, s->now.samples, s->search->rng);
    }
    s->now.asked = s->now.told = 0;
    s->now.is_ready = true;
}

int mer_go_ask(void *state, MerProposal *proposals, int capacity)
{
    MerGoState *s = state;
    if (s->now.is_done) {
        return 0;
    }
    if (!s->now.is_ready) {
        prepare(s);
    }
    int count = 0, all = s->now.has_greedy + s->now.samples;
    while (count < capacity && s->now.asked < all) {
        int  index = s->now.asked++ - s->now.has_greedy;
        bool is_greedy = index < 0;
        mer_go_point(&s->graph, s->search->space, is_greedy ? &s->greedy : &s->batch,
                     is_greedy ? 0 : index, proposals[count++].point);
    }
    return count;
}

static double reward_of(MerGoState *s, double score)
{
    if (!isfinite(score)) {
        return s->options.invalid;
    }
    double size = fabs(score) / (s->now.reference > 0 ? s->now.reference : 1);
    double cost = s->options.reward == 0   ? sqrt(size)
                  : s->options.reward == 1 ? log(fmax(size, 1e-300))
                                           : size;
    return score >= 0 ? -cost : cost;
}

/* Ranks from -1 to 1, equal rewards share theirs. */
static void rank(double *values, int count, double *ranks)
{
    for (int i = 0; i < count; i++) {
        int below = 0, equal = 0;
        for (int j = 0; j < count; j++) {
            below += values[j] < values[i];
            equal += values[j] == values[i];
        }
        ranks[i] = count > 1 ? (2 * below + equal - 1) / (count - 1.0) - 1 : 0;
    }
    memcpy(values, ranks, sizeof *values * (size_t)count);
}

static double mean_of(const double *values, int count)
{
    return count > 0 ? mer_mean(values, count) : 0;
}

/* Rewards become advantages. Placements that begin alike are compared with each other. */
static void compare(MerGoState *s, int count, double *rewards, bool has_history, double *scratch)
{
    double base = has_history && s->now.history_count > 0 ? s->now.history / s->now.history_count
                                                          : mean_of(rewards, count);
    if (has_history) {
        s->now.history += mean_of(rewards, count) * count;
        s->now.history_count += count;
    }
    if (s->options.advantage == 2) {
        rank(rewards, count, scratch);
        base = 0;
    }
    for (int i = 0; i < count; i++) {
        rewards[i] -= base;
    }
    if (s->options.advantage > 0) {
        mer_standardise(rewards, count);
    }
}

/* Of all decisions, and of the first ones: those that begin from the best placement have none. */
static void advantages_of(MerGoState *s, double *all, double *first)
{
    int count = s->now.samples, drawn = count - s->batch.improved;
    for (int i = 0; i < count; i++) {
        all[i] = reward_of(s, s->batch.scores[i]);
    }
    compare(s, drawn, all, s->options.baseline == 0, first);
    compare(s, count - drawn, all + drawn, false, first);
    memset(first, 0, sizeof *first * (size_t)count);
    memcpy(first, all, sizeof *first * (size_t)drawn);
}

static void learn(MerGoState *s)
{
    const MerGoOptions *o = &s->options;
    MerArena           *scratch = mer_arena_new();
    double             *all = MER_ARRAY(scratch, double, s->now.samples + 1);
    double             *first_ones = MER_ARRAY(scratch, double, s->now.samples + 1);
    double              done = progress(s);
    double              first = o->warm_up > 0 ? fmin(1, done / o->warm_up) : done;
    MerError            error = {0};
    MerGoTeacher        teacher = {.updater = s->updater,
                                   .epochs = (int)o->epochs,
                                   .rate = o->rate + first * (o->rate_end - o->rate),
                                   .clip = o->clip,
                                   .grad_norm = o->grad_norm,
                                   .entropy = o->entropy + done * (o->entropy_end - o->entropy),
                                   .first_entropy = o->first_entropy +
                                                    first * (o->first_entropy_end - o->first_entropy)};
    advantages_of(s, all, first_ones);
    if (mer_go_learn(&s->view, &teacher, &s->batch, first_ones, all, s->search->rng, &error) !=
        MER_OK) {
        mer_note_failure(s->search->notes, &error);
        s->now.is_done = true;
    }
    s->now.updates++;
    mer_arena_free(scratch);
}

static void end_batch(MerGoState *s)
{
    s->now.is_ready = false;
    if (s->now.is_last) {
        s->now.is_done = true;
    } else if (s->now.updates < s->options.updates) {
        learn(s);
    } else {
        s->now.is_done = true; /* as it is: one batch */
    }
}

/* The policy as it is, or as it was when its most likely placement was best. */
static void copy_policy(MerGoState *s, bool is_kept)
{
    const MerParameters *all = s->policy.parameters;
    float               *kept = s->kept;
    for (int i = 0; i < mer_parameters_count(all); i++) {
        MerTensor *tensor = mer_parameters_get(all, i);
        float     *from = is_kept ? kept : tensor->data, *to = is_kept ? tensor->data : kept;
        memcpy(to, from, sizeof *to * (size_t)tensor->size);
        kept += tensor->size;
    }
}

void mer_go_restore(MerGoState *s)
{
    if (isfinite(s->now.best_greedy) && s->options.updates > 0) {
        copy_policy(s, true);
    }
}

void mer_go_meet(MerGoState *s)
{
    if (s->learned_on != s->graph.fingerprint) {
        mer_go_policy_forget(&s->policy);
    }
    s->learned_on = s->graph.fingerprint;
}

static void take_greedy(MerGoState *s, const MerTrial *trial)
{
    char json[100];
    snprintf(json, sizeof json, "{\"trial\": %lld, \"update\": %lld}", (long long)trial->index,
             (long long)s->now.updates);
    mer_note(s->search->notes, "greedy", json);
    if (trial->score < s->now.best_greedy) {
        s->now.best_greedy = trial->score;
        s->now.is_best_plain = s->greedy.plain > 0;
        copy_policy(s, false);
    }
}

/* Trials of others too: what they found may be improved. */
static void keep_best(MerGoState *s, const MerTrial *trial)
{
    if (trial->score < s->now.best) {
        s->now.best = trial->score;
        mer_go_read_point(&s->graph, s->search->space, trial->point, s->batch.best,
                          s->batch.best_levels);
    }
}

static void take(MerGoState *s, const MerTrial *trial)
{
    int index = s->now.told++ - s->now.has_greedy;
    s->now.done++;
    if (isfinite(trial->score) && s->now.reference <= 0) {
        s->now.reference = fabs(trial->score);
    }
    if (index >= 0) {
        s->batch.scores[index] = trial->score;
    } else {
        take_greedy(s, trial);
    }
}

void mer_go_tell(void *state, const MerTrial *trials, int count)
{
    MerGoState *s = state;
    for (int i = 0; i < count; i++) {
        keep_best(s, &trials[i]);
        if (!trials[i].warm) {
            take(s, &trials[i]);
        }
    }
    if (s->now.is_ready && s->now.told == s->now.has_greedy + s->now.samples) {
        end_batch(s);
    }
}
