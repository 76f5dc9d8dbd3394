/* The integer polish: a split that was found elsewhere (`--warm RUN`) moves to the places where hardware steps, never at a higher cost.
 * A layer may give channels to another option if cost or loss falls and the other does not rise; with a price of loss, also if
 * the sum of both falls and the cost does not rise. Learned splits are improved without training. */
#include "base/option_rows.h"
#include "split/solve/layer_split.h"
#include "split/solve/one_split.h"

#include <string.h>

typedef struct Options {
    double price;
    bool   all;
} Options;

enum { MOST_STARTS = 1000 };

static const MerOption options[] = {
    MER_REAL(price, "0", 0, 1e12,
             "of loss, in costs of all on the reference: 0 only takes what costs no precision"),
    MER_BOOL(all, "false", "every split that was told, one after the other, instead of the best"),
    {0}};

typedef struct State {
    MerOneSplit one;
    MerSplitAim aim;
    double      best; /* score of the split to start from */
    bool        takes_all, is_asked;
    MerIndex  **starts; /* all that were told */
    int         start_count, next;
    MerArena   *arena;
} State;

static MerStatus open_polish(void *opened, const MerSearch *search, const MerProblem *problem,
                             const MerEvaluator *evaluator, const void *given, MerError *error)
{
    State         *state = opened;
    const Options *chosen = given;
    MerPlan        plan;
    *state = (State){.best = INFINITY, .takes_all = chosen->all, .arena = search->arena};
    state->starts = MER_ARRAY(search->arena, MerIndex *, chosen->all ? MOST_STARTS : 1);
    state->aim.metric =
        search->objective == MER_METRIC_ENERGY ? MER_METRIC_ENERGY : MER_METRIC_CYCLES;
    MER_TRY(mer_one_split_open(&state->one, search, problem, evaluator, "polish", true, error));
    state->aim.price =
        chosen->price * mer_split_reference_cost(state->one.split, state->aim.metric);
    mer_split_new_plan(state->one.split, &plan, search->arena); /* unless one is told */
    return mer_one_split_take(&state->one, &plan, error);
}

/* Told trials come from an earlier run: the best is where it starts. */
static void tell(void *opened, const MerTrial *trials, int count)
{
    State *state = opened;
    size_t bytes = (size_t)state->one.knob_count * sizeof(MerIndex);
    for (int i = 0; i < count && !state->is_asked; i++) {
        if (state->takes_all && state->start_count < MOST_STARTS) {
            MerIndex *start = mer_arena_alloc(state->arena, bytes + 1);
            memcpy(start, trials[i].point, bytes);
            state->starts[state->start_count++] = start;
        }
        if (trials[i].score < state->best) {
            state->best = trials[i].score;
            memcpy(state->one.point, trials[i].point, bytes);
        }
    }
}

typedef struct Layer { /* on its way, with the layers that are tied to it */
    const State         *state;
    const MerSplitLayer *layer;
    int                  index;
    MerArena            *scratch;
    unsigned char       *assignment; /* of the best way so far */
    int                  counts[MER_SPLIT_MAX_OPTIONS];
    double               cost, loss;
} Layer;

/* The first layer from `l` on that has the counts of this one; the number of layers: there is none. */
static int next_tied(const Layer *w, int l)
{
    const MerSplit *split = w->state->one.split;
    while (l < split->layer_count &&
           !(split->layers[l].is_searchable && mer_split_owner(split, l) == w->index)) {
        l++;
    }
    return l;
}

static double cost_of(const Layer *w, const int *counts)
{
    const MerOneSplit *one = &w->state->one;
    double             sum = 0;
    for (int l = next_tied(w, w->index); l < one->split->layer_count; l = next_tied(w, l + 1)) {
        if (!mer_split_layer_fits(one->split, one->rules, l, counts, NULL)) {
            return INFINITY;
        }
        MerSplitPrice price = mer_split_layer_price(one->split, one->rules, l, counts);
        sum += mer_split_value(one->split, &price, w->state->aim.metric);
    }
    return sum;
}

/* What channel c loses on an option, in all layers that it is in. */
static double error_of(const Layer *w, int option, size_t c)
{
    const MerSplit *split = w->state->one.split;
    double          sum = 0;
    for (int l = next_tied(w, w->index); l < split->layer_count; l = next_tied(w, l + 1)) {
        sum += split->layers[l].errors[(size_t)option * (size_t)w->layer->c_out + c];
    }
    return sum;
}

static double loss_of(const Layer *w, const unsigned char *assignment)
{
    double sum = 0;
    for (int c = 0; c < w->layer->c_out; c++) {
        sum += error_of(w, assignment[c], (size_t)c);
    }
    return sum;
}

/* The channel of `from` that gains most on `to`; -1: there is none. */
static int next_channel(const Layer *w, const unsigned char *assignment, int from, int to)
{
    int    best = -1;
    double most = -INFINITY;
    for (int c = 0; c < w->layer->c_out; c++) {
        if (assignment[c] != from) {
            continue;
        }
        double gain = error_of(w, from, (size_t)c) - error_of(w, to, (size_t)c);
        if (gain > most) {
            most = gain;
            best = c;
        }
    }
    return best;
}

static bool is_better(const Layer *w, double cost, double loss)
{
    double price = w->state->aim.price;
    bool   falls = price > 0 && cost + price * loss < w->cost + price * w->loss;
    return cost <= w->cost && (loss <= w->loss || falls) && (cost < w->cost || loss < w->loss);
}

/* Channels go from one option to another, one by one; the best place on the way is kept. */
static bool move(Layer *w, int from, int to)
{
    bool           by_count = !w->state->one.split->is_by_channel || w->layer->is_ordered;
    size_t         size = (size_t)w->layer->c_out;
    unsigned char *trial = mer_arena_alloc(w->scratch, size + 1);
    int            counts[MER_SPLIT_MAX_OPTIONS], total = w->counts[from];
    bool           moved = false;
    memcpy(trial, w->assignment, size);
    memcpy(counts, w->counts, sizeof counts);
    for (int k = 1; k <= total; k++) {
        counts[from]--;
        counts[to]++;
        if (by_count) {
            mer_split_assign_layer(w->layer, counts, trial);
        } else {
            trial[next_channel(w, trial, from, to)] = (unsigned char)to;
        }
        double cost = cost_of(w, counts), loss = loss_of(w, trial);
        if (is_better(w, cost, loss)) {
            memcpy(w->assignment, trial, size);
            memcpy(w->counts, counts, sizeof counts);
            w->cost = cost;
            w->loss = loss;
            moved = true;
        }
    }
    return moved;
}

static void polish_layer(const State *state, int l, MerSplitPlan *plan, MerArena *scratch)
{
    const MerSplitLayer *layer = &state->one.split->layers[l];
    Layer                w = {.state = state,
                              .layer = layer,
                              .index = l,
                              .scratch = scratch,
                              .assignment = plan->assignment + layer->channel_start};
    int                  n = layer->option_count;
    memcpy(w.counts, plan->counts + layer->option_start, (size_t)n * sizeof(int));
    w.cost = cost_of(&w, w.counts);
    w.loss = loss_of(&w, w.assignment);
    for (bool moved = true; moved;) {
        moved = false;
        for (int pair = 0; pair < n * n; pair++) {
            moved |= pair / n != pair % n && move(&w, pair / n, pair % n);
        }
    }
    for (int k = next_tied(&w, l); k < state->one.split->layer_count; k = next_tied(&w, k + 1)) {
        const MerSplitLayer *tied = &state->one.split->layers[k];
        memcpy(plan->counts + tied->option_start, w.counts, (size_t)n * sizeof(int));
        memmove(plan->assignment + tied->channel_start, w.assignment, (size_t)layer->c_out);
    }
}

static int ask(void *opened, MerProposal *proposals, int capacity)
{
    State *state = opened;
    size_t bytes = (size_t)state->one.knob_count * sizeof(MerIndex);
    state->is_asked = true;
    if (state->next < state->start_count) {
        memcpy(state->one.point, state->starts[state->next++], bytes);
        state->one.is_done = false;
    }
    if (!state->one.is_done) {
        MerPlan   plan;
        MerArena *scratch = mer_arena_new();
        mer_split_decode(state->one.split, state->one.point, &plan, state->arena);
        for (int l = 0; l < state->one.split->layer_count; l++) {
            if (state->one.split->layers[l].is_searchable &&
                mer_split_owner(state->one.split, l) == l) {
                polish_layer(state, l, mer_split_plan(&plan), scratch);
                mer_arena_reset(scratch);
            }
        }
        mer_arena_free(scratch);
        mer_one_split_take(&state->one, &plan, NULL); /* a split by counts or channels is a point */
    }
    return mer_one_split_ask(&state->one, proposals, capacity);
}

const MerOptimizerClass mer_optimizer_polish = {
    .name = "polish",
    .summary = "moves a split of an earlier run (--warm) to hardware steps, never at a higher cost",
    .reference = "docs/channel-split.md",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .problem = "split",
    .open_problem = open_polish,
    .ask = ask,
    .tell = tell,
};
