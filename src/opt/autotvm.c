/* AutoTVM's tuner (Chen et al., NeurIPS 2018, "Learning to optimize tensor programs"): boosted trees
 * rank points, annealing on the trees finds the next plan, a few random points keep it honest. The
 * constants are those of TVM v0.9.0. Features are what the knobs' choices mean; what was learned on
 * earlier tasks with the same knobs is where the trees of a later one start. */
#include "base/memory.h"
#include "base/option_rows.h"
#include "learn/trees.h"
#include "mercator/text.h"
#include "opt/failure.h"
#include "opt/tuner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    int64_t plan_size, initial, chains, steps, patience, early_stopping;
    double  epsilon, diversity;
    int     loss;
    bool    transfer;
} Options;

static const MerOption options[] = {
    MER_INT(plan_size, "64", 1, 10000, "points between two fits of the trees"),
    MER_INT(initial, "64", 1, 10000, "random points before the first fit"),
    MER_CHOICE(loss, "rank", MER_TREE_LOSS_CHOICES,
               "what the trees learn: the order of points, or their values"),
    MER_REAL(epsilon, "0.05", 0, 1, "share of a plan, its end, that is random"),
    MER_INT(chains, "128", 1, 100000,
            "annealing: points that move side by side, kept from plan to plan"),
    MER_INT(steps, "500", 1, 1e6, "annealing: moves of each, the temperature falling from 1 to 0"),
    MER_INT(patience, "50", 1, 1e6,
            "annealing: stop after so many moves that found nothing for the plan"),
    MER_REAL(diversity, "1", 1, 100,
             "find this many times the plan, then pick those with new choices; 1: off"),
    MER_INT(early_stopping, "0", 0, 1e9,
            "end a task after so many points without a better one; 0: never"),
    MER_BOOL(transfer, "true", "start the trees of a task from those of the tasks before"),
    {0}};

/* Fewer records of earlier tasks make no base model; more of them are not kept. */
enum { LEAST_HISTORY = 500, MOST_HISTORY = 100000, BASE_ROUNDS = 400, BASE_PATIENCE = 100 };
static const double LEAST_WEIGHT = 0.05;

typedef struct History { /* of earlier tasks: features and labels, each task's best is 1 */
    int      columns, count, capacity;
    uint64_t names; /* hash of the knobs' names */
    float   *rows, *labels;
} History;

typedef struct State {
    MerTuner  tuner; /* first: told as a MerTuner */
    Options   options;
    MerTrees  trees, base;
    History   history;
    bool      has_base, has_chains, is_failed;
    double    weight; /* of the base model in the present fit */
    MerIndex *chains; /* (chains, knobs) */
    float    *predicted;
    int       iteration;
    int       predicted_count; /* for the plan under way, in its order */
} State;

/* Saved with a policy: it must come out the same in every version. */
static uint64_t names_hash(const MerSpace *space)
{
    uint64_t h = 1469598103934665603u;
    for (int k = 0; k < space->knob_count; k++) {
        const char *name = space->knobs[k].name ? space->knobs[k].name : "";
        h = mer_hash_bytes(mer_hash_bytes(h, name, strlen(name)), "\xff", 1);
    }
    return h;
}

/* Trees of all earlier tasks, where there are enough records of the same knobs. */
static MerStatus train_base(State *s, MerError *error)
{
    const MerSpace *space = s->tuner.search->space;
    const History  *history = &s->history;
    mer_trees_clear(&s->base);
    s->has_base = history->count >= LEAST_HISTORY && history->columns == space->knob_count &&
                  history->names == names_hash(space);
    if (!s->has_base) {
        return MER_OK;
    }
    MerTreeSpec spec = mer_tree_spec((MerTreeLoss)s->options.loss, 2 * (int)s->options.plan_size);
    spec.rounds = BASE_ROUNDS;
    spec.patience = BASE_PATIENCE;
    MerTreeData data = {history->count, history->columns, history->rows, history->labels, NULL};
    return mer_trees_train(&s->base, &spec, &data, error);
}

static MerStatus begin(State *s, const MerSearch *search, MerError *error)
{
    mer_tuner_open(&s->tuner, search, (int)s->options.initial);
    s->chains =
        MER_ARRAY(search->arena, MerIndex, s->options.chains * search->space->knob_count + 1);
    s->predicted = MER_ARRAY(search->arena, float, s->options.plan_size + 1);
    s->predicted_count = s->iteration = 0;
    s->has_chains = false;
    mer_trees_clear(&s->trees);
    return train_base(s, error);
}

static MerStatus open_autotvm(void *state, const MerSearch *search, const void *given,
                              MerError *error)
{
    State *s = state;
    *s = (State){.options = *(const Options *)given};
    return begin(s, search, error);
}

/* What was told becomes history for the tasks after it. */
static void remember(State *s)
{
    const MerSpace *space = s->tuner.search->space;
    History        *history = &s->history;
    int             knobs = space->knob_count, count = s->tuner.count;
    if (history->count > 0 && (history->columns != knobs || history->names != names_hash(space))) {
        history->count = 0;
    }
    if (knobs == 0 || history->count + count > MOST_HISTORY) {
        return;
    }
    history->columns = knobs;
    history->names = names_hash(space);
    size_t total = (size_t)(history->count + count) + 1;
    history->rows = mer_heap_resize(history->rows, total * (size_t)knobs, sizeof(float));
    history->labels = mer_heap_resize(history->labels, total, sizeof(float));
    mer_tuner_features(&s->tuner, count, s->tuner.points,
                       history->rows + (int64_t)history->count * knobs);
    mer_tuner_labels(&s->tuner, history->labels + history->count);
    history->count += count;
}

static MerStatus next_task(void *state, const MerSearch *search, MerError *error)
{
    State *s = state;
    if (s->options.transfer) {
        remember(s);
    }
    mer_tuner_close(&s->tuner);
    return begin(s, search, error);
}

/* What the trees say of points. */
static void predict(const State *s, int count, const MerIndex *points, float *values)
{
    MerArena *scratch = mer_arena_new();
    float    *rows = MER_ARRAY(scratch, float, count * s->tuner.search->space->knob_count + 1);
    float    *margins = MER_ARRAY(scratch, float, count + 1);
    mer_tuner_features(&s->tuner, count, points, rows);
    mer_trees_predict(&s->trees, count, rows, values);
    if (s->weight > 0) { /* its margin takes the place of the trees' own base */
        mer_trees_predict(&s->base, count, rows, margins);
        for (int i = 0; i < count; i++) {
            values[i] += (float)s->weight * margins[i] - s->trees.base;
        }
    }
    mer_arena_free(scratch);
}

static MerStatus fit(State *s, MerArena *scratch, MerError *error)
{
    int    count = s->tuner.count, knobs = s->tuner.search->space->knob_count;
    float *rows = MER_ARRAY(scratch, float, (int64_t)count *knobs + 1);
    float *labels = MER_ARRAY(scratch, float, count + 1);
    float *margins = MER_ARRAY(scratch, float, count + 1);
    mer_tuner_features(&s->tuner, count, s->tuner.points, rows);
    mer_tuner_labels(&s->tuner, labels);
    s->weight = s->has_base ? pow(0.5, count / 64.0) : 0;
    s->weight = s->weight < LEAST_WEIGHT ? 0 : s->weight;
    if (s->weight > 0) {
        mer_trees_predict(&s->base, count, rows, margins);
        for (int i = 0; i < count; i++) {
            margins[i] *= (float)s->weight;
        }
    }
    MerTreeSpec spec = mer_tree_spec((MerTreeLoss)s->options.loss, (int)s->options.plan_size);
    MerTreeData data = {count, knobs, rows, labels, s->weight > 0 ? margins : NULL};
    return mer_trees_train(&s->trees, &spec, &data, error);
}

/* One knob of every chain to any choice. */
static void propose(const State *s, MerIndex *moved)
{
    const MerSpace *space = s->tuner.search->space;
    memcpy(moved, s->chains, (size_t)(s->options.chains * space->knob_count) * sizeof(MerIndex));
    for (int64_t c = 0; c < s->options.chains; c++) {
        int k = mer_rng_below(s->tuner.search->rng, space->knob_count);
        moved[c * space->knob_count + k] =
            mer_rng_below(s->tuner.search->rng, space->knobs[k].choices);
    }
}

/* Chains stay where points are legal, as far as that is known: they start there, and a move out of
 * it is refused. */
static void start_chains(State *s)
{
    const MerSpace *space = s->tuner.search->space;
    for (int64_t c = 0; c < s->options.chains && !s->has_chains; c++) {
        MerIndex *point = s->chains + c * space->knob_count;
        for (int i = 0; i < 256; i++) {
            mer_space_sample(space, s->tuner.search->rng, point);
            if (mer_tuner_is_legal(&s->tuner, point)) {
                break;
            }
        }
    }
    s->has_chains = true;
}

/* True: the point is among the best new ones now. */
static bool offer(const State *s, MerTop *top, const MerIndex *point, float value)
{
    bool is_better = top->count < top->capacity || value > top->values[top->worst];
    return is_better && mer_tuner_is_new(&s->tuner, point) && mer_top_offer(top, point, value);
}

/* Fills `top` with the points that promise most; the acceptance is TVM's, its exponent is clamped. */
static void anneal(State *s, MerTop *top, MerArena *scratch)
{
    const MerSpace *space = s->tuner.search->space;
    int             chains = (int)s->options.chains;
    MerIndex       *moved = MER_ARRAY(scratch, MerIndex, (int64_t)chains * space->knob_count + 1);
    float          *now = MER_ARRAY(scratch, float, chains);
    float          *next = MER_ARRAY(scratch, float, chains);
    int64_t         last_change = 0;
    double          step = 1.0 / (double)(s->options.steps + 1);
    start_chains(s);
    predict(s, chains, s->chains, now);
    for (int c = 0; c < chains; c++) {
        offer(s, top, mer_point_at(space, s->chains, c), now[c]);
    }
    for (int64_t i = 1; i <= s->options.steps && i - last_change < s->options.patience &&
                        !mer_is_cancelled(s->tuner.search->notes);
         i++) {
        double heat = 1 - step * (double)(i - 1);
        propose(s, moved);
        predict(s, chains, moved, next);
        for (int c = 0; c < chains; c++) {
            MerIndex *point = mer_point_at(space, moved, c);
            double    chance = exp(fmin((next[c] - now[c]) / (heat + 1e-5), 1));
            last_change = offer(s, top, point, next[c]) ? i : last_change;
            if (mer_rng_unit(s->tuner.search->rng) < chance &&
                mer_tuner_is_legal(&s->tuner, point)) {
                mer_point_copy(space, mer_point_at(space, s->chains, c), point);
                now[c] = next[c];
            }
        }
    }
}

/* Greedy, each with the most choices that none before it has (TVM's submodular pick): a new choice
 * counts 1 beside the predicted value. */
static void diversify(const State *s, MerTop *top, int count, MerArena *scratch)
{
    const MerSpace *space = s->tuner.search->space;
    int             knobs = space->knob_count, *first = MER_ARRAY(scratch, int, knobs + 1);
    for (int k = 0; k < knobs; k++) {
        first[k + 1] = first[k] + space->knobs[k].choices;
    }
    bool *is_seen = MER_ARRAY(scratch, bool, first[knobs] + 1);
    for (int i = 0; i < count && i < top->count; i++) {
        int   best = i;
        float most = -INFINITY;
        for (int j = i; j < top->count; j++) {
            const MerIndex *point = mer_point_at(space, top->points, j);
            float           gain = top->values[j];
            for (int k = 0; k < knobs; k++) {
                gain += is_seen[first[k] + point[k]] ? 0 : 1;
            }
            best = gain > most ? j : best;
            most = gain > most ? gain : most;
        }
        float value = top->values[i];
        top->values[i] = top->values[best];
        top->values[best] = value;
        for (int k = 0; k < knobs; k++) {
            MerIndex *a = mer_point_at(space, top->points, i) + k;
            MerIndex *b = mer_point_at(space, top->points, best) + k, swapped = *a;
            *a = *b;
            *b = swapped;
            is_seen[first[k] + *a] = true;
        }
    }
}

static bool is_stopped(const State *s)
{
    int64_t patience = s->options.early_stopping;
    return patience > 0 && s->tuner.best >= 0 && s->tuner.count - 1 - s->tuner.best >= patience;
}

/* How well the trees ranked what has been measured since: a line of the log per plan. */
static void note_quality(State *s)
{
    char   json[120];
    double found = mer_tuner_agreement(&s->tuner, s->predicted_count, s->predicted);
    if (isfinite(found)) {
        snprintf(json, sizeof json, "{\"measured\": %d, \"surrogate_rank\": %.6g}", s->tuner.count,
                 found);
        mer_epoch(s->tuner.search->notes, "tuning", ++s->iteration, 0, json);
    }
}

/* Plans what the trees think most of. */
static void search_trees(State *s, int count, MerArena *scratch)
{
    const MerSpace *space = s->tuner.search->space;
    int             wanted = (int)((int)s->options.plan_size * s->options.diversity);
    MerTop          top = mer_top_make(wanted, space->knob_count, scratch);
    anneal(s, &top, scratch);
    mer_top_sort(&top);
    if (s->options.diversity > 1) {
        diversify(s, &top, count, scratch);
    }
    for (int i = 0; i < top.count && s->tuner.plan_count < count; i++) {
        s->predicted[s->tuner.plan_count] = top.values[i];
        mer_tuner_add(&s->tuner, mer_point_at(space, top.points, i));
    }
    s->predicted_count = s->tuner.plan_count;
}

static void plan(State *s)
{
    MerError  error = {0};
    MerTuner *tuner = &s->tuner;
    int       size = (int)s->options.plan_size, random = (int)(s->options.epsilon * size);
    if (tuner->best < 0 || tuner->search->space->knob_count == 0) {
        mer_tuner_add_random(tuner, size); /* nothing to learn from */
        return;
    }
    MerArena *scratch = mer_arena_new();
    s->is_failed = fit(s, scratch, &error) != MER_OK;
    if (s->is_failed) {
        mer_note_failure(tuner->search->notes, &error);
    } else {
        search_trees(s, size - random, scratch);
        mer_tuner_add_random(tuner, size - tuner->plan_count);
    }
    mer_arena_free(scratch);
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    if (is_stopped(s) || s->is_failed) {
        return 0;
    }
    if (s->predicted_count > 0 && s->tuner.plan_next == s->tuner.plan_count) {
        note_quality(s);
        s->predicted_count = 0;
    }
    if (mer_tuner_needs_plan(&s->tuner)) {
        plan(s);
    }
    return mer_tuner_ask(&s->tuner, proposals, capacity);
}

static bool opinions(const void *state, int count, const MerIndex *points, MerOpinion *list)
{
    float *values = mer_heap_zeroed((size_t)count + 1, sizeof *values);
    predict(state, count, points, values);
    for (int i = 0; i < count; i++) {
        list[i] = (MerOpinion){.surrogate = values[i], .critic = NAN};
    }
    free(values);
    return true;
}

static void keep_history(History *history, MerStream *stream)
{
    history->count = (int)mer_stream_int(stream, history->count, 0, MOST_HISTORY);
    history->columns = (int)mer_stream_int(stream, history->columns, 0, 1 << 20);
    mer_stream_bytes(stream, &history->names, sizeof history->names, 1);
    mer_stream_expect(stream, sizeof(float) * ((size_t)history->columns + 1), history->count);
    if (stream->is_broken) {
        history->count = 0;
        return;
    }
    if (!stream->is_saving) {
        size_t count = (size_t)history->count + 1;
        history->rows = mer_heap_resize(history->rows, count * ((size_t)history->columns + 1),
                                        sizeof *history->rows);
        history->labels = mer_heap_resize(history->labels, count, sizeof *history->labels);
    }
    mer_stream_bytes(stream, history->rows, sizeof *history->rows,
                     (int64_t)history->count * history->columns);
    mer_stream_bytes(stream, history->labels, sizeof *history->labels, history->count);
}

/* A policy is what was learned of other tasks: this one's records too. */
static MerStatus save_policy(State *s, MerStream *stream, MerError *error)
{
    History before = s->history, *history = &s->history;
    size_t  rows = (size_t)before.count * (size_t)before.columns;
    history->rows = mer_heap_zeroed(rows + 1, sizeof *history->rows);
    history->labels = mer_heap_zeroed((size_t)before.count + 1, sizeof *history->labels);
    if (before.count > 0) {
        memcpy(history->rows, before.rows, rows * sizeof *history->rows);
        memcpy(history->labels, before.labels, (size_t)before.count * sizeof *history->labels);
    }
    remember(s);
    keep_history(history, stream);
    free(history->rows);
    free(history->labels);
    *history = before;
    return mer_stream_status(stream, "autotvm: the records", error);
}

static MerStatus keep_all(State *s, MerStream *stream, MerError *error)
{
    const MerSpace *space = s->tuner.search->space;
    mer_stream_int(stream, s->options.chains, s->options.chains, s->options.chains);
    keep_history(&s->history, stream);
    mer_tuner_keep(&s->tuner, stream);
    s->has_chains = mer_stream_int(stream, s->has_chains, 0, 1);
    s->iteration = (int)mer_stream_int(stream, s->iteration, 0, INT32_MAX);
    mer_stream_bytes(stream, s->chains, sizeof *s->chains, s->options.chains * space->knob_count);
    for (int64_t c = 0; c < s->options.chains && !stream->is_broken && s->has_chains; c++) {
        stream->is_broken = !mer_space_contains(space, mer_point_at(space, s->chains, c));
    }
    s->predicted_count = (int)mer_stream_int(stream, s->predicted_count, 0, s->options.plan_size);
    mer_stream_bytes(stream, s->predicted, sizeof *s->predicted, s->predicted_count);
    stream->is_broken = stream->is_broken || s->predicted_count > s->tuner.plan_count;
    return mer_stream_status(stream, "autotvm: the state", error);
}

static MerStatus save(const void *state, MerKeep what, FILE *file, MerError *error)
{
    State    *s = (State *)state; /* saving changes nothing */
    MerStream stream = {.file = file, .is_saving = true};
    return what == MER_KEEP_ALL ? keep_all(s, &stream, error) : save_policy(s, &stream, error);
}

static MerStatus load(void *state, MerKeep what, FILE *file, MerError *error)
{
    State           *s = state;
    MerStream        stream = {.file = file};
    const MerSearch *search = s->tuner.search;
    if (what == MER_KEEP_ALL) {
        MER_TRY(keep_all(s, &stream, error));
        return train_base(s, error); /* which follows from the history */
    }
    keep_history(&s->history, &stream);
    MER_TRY(mer_stream_status(&stream, "autotvm: the saved records", error));
    mer_tuner_close(&s->tuner);
    return begin(s, search, error);
}

static void close_autotvm(void *state)
{
    State *s = state;
    mer_tuner_close(&s->tuner);
    mer_trees_clear(&s->trees);
    mer_trees_clear(&s->base);
    free(s->history.rows);
    free(s->history.labels);
}

const MerOptimizerClass mer_optimizer_autotvm = {
    .name = "autotvm",
    .summary = "boosted trees rank points, annealing on them plans 64 at a time",
    .reference = "Chen et al., NeurIPS 2018 (arXiv 1805.08166); constants of TVM v0.9.0",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_autotvm,
    .ask = ask,
    .tell = mer_tuner_tell,
    .save = save,
    .load = load,
    .next_task = next_task,
    .opinions = opinions,
    .close = close_autotvm,
};
