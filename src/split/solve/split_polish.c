/* The integer polish: a split that was found elsewhere (`--warm RUN`) moves to the places where hardware steps, never at a higher cost.
 * A layer may give channels to another option if cost or loss falls and the other does not rise; with a price of loss, also if
 * the sum of both falls and the cost does not rise. Learned splits are improved without training. */
#include "split/solve/layer_split.h"
#include "split/solve/one_split.h"

#include <stddef.h>
#include <string.h>

typedef struct Options {
    double price;
    bool   all;
} Options;

enum { MOST_STARTS = 1000 };

static const MerOption options[] = {
    {"price", MER_OPTION_REAL, offsetof(Options, price), "0", 0, 1e12, NULL,
     "of loss, in costs of all on the reference: 0 only takes what costs no precision"},
    {"all", MER_OPTION_BOOL, offsetof(Options, all), "false", 0, 0, NULL,
     "every split that was told, one after the other, instead of the best"},
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
    MER_TRY(mer_one_split_open(&state->one, search, problem, evaluator, "polish", error));
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

typedef struct Layer { /* on its way */
    const State         *state;
    const MerSplitLayer *layer;
    int                  index;
    MerArena            *scratch;
    unsigned char       *assignment; /* of the best way so far */
    int                  counts[MER_SPLIT_MAX_OPTIONS];
    double               cost, loss;
} Layer;

static double cost_of(const Layer *w, const int *counts)
{
    const MerOneSplit *one = &w->state->one;
    if (!mer_split_layer_fits(one->split, one->rules, w->index, counts, NULL)) {
        return INFINITY;
    }
    MerSplitPrice price = mer_split_layer_price(one->split, one->rules, w->index, counts);
    return mer_split_value(one->split, &price, w->state->aim.metric);
}

static double loss_of(const Layer *w, const unsigned char *assignment)
{
    double sum = 0;
    for (int c = 0; c < w->layer->c_out; c++) {
        sum += w->layer->errors[(size_t)assignment[c] * (size_t)w->layer->c_out + (size_t)c];
    }
    return sum;
}

/* The channel of `from` that gains most on `to`; -1: there is none. */
static int next_channel(const Layer *w, const unsigned char *assignment, int from, int to)
{
    const double *errors = w->layer->errors;
    size_t        width = (size_t)w->layer->c_out;
    int           best = -1;
    double        most = -INFINITY;
    for (size_t c = 0; c < width; c++) {
        double gain = errors[(size_t)from * width + c] - errors[(size_t)to * width + c];
        if (assignment[c] == from && gain > most) {
            most = gain;
            best = (int)c;
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
    for (bool moved = layer->is_searchable; moved;) {
        moved = false;
        for (int pair = 0; pair < n * n; pair++) {
            moved |= pair / n != pair % n && move(&w, pair / n, pair % n);
        }
    }
    memcpy(plan->counts + layer->option_start, w.counts, (size_t)n * sizeof(int));
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
        for (int l = 0; l < state->one.split->layer_count && !state->one.split->is_tied; l++) {
            polish_layer(state, l, mer_split_plan(&plan), scratch);
            mer_arena_reset(scratch);
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
