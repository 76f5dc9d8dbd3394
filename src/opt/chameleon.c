/* CHAMELEON (Ahn, Pilligundla, Yazdanbakhsh and Esmaeilzadeh, ICLR 2020, arXiv 2001.08743): one agent
 * walks over a regression model, adaptive sampling clusters what it found, and points made at the
 * clusters' centres are measured. Constants as in the authors' code: the sampler of the released
 * repository, the agent of its precursor ReLeASE. */
#include "base/memory.h"
#include "base/stats.h"
#include "opt/explorer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM, MODE };

typedef struct Options {
    MerExplorerOptions explorer;
    int64_t            plan_size, cluster_step, lloyd;
    double             knee;
    int                synthesis;
} Options;

static const MerOption options[] = {
    MER_INT(plan_size, "64", 8, 10000,
            "best points of a walk that are clustered, and the most clusters"),
    MER_INT(cluster_step, "8", 1, 1000, "clusters tried: so many, twice as many, and so on"),
    MER_REAL(knee, "2.5", 1, 1000,
             "more clusters are worth it while they divide the loss by more than this"),
    MER_INT(lloyd, "100", 1, 1e6, "iterations of k-means"),
    MER_CHOICE(
        synthesis, "random", "random|mode",
        "the knobs that are not clustered: any candidate's choice, or the most frequent one"),
    MER_EXPLORER_COMMON_OPTIONS("500", "0", "knob", "128", "32"),
    {0}};

typedef struct State {
    MerExplorer explorer; /* first: told as a MerTuner */
    Options     options;
    int64_t     iteration;
} State;

static MerStatus open_chameleon(void *state, const MerSearch *search, const void *given,
                                MerError *error)
{
    (void)error;
    State *s = state;
    *s = (State){.options = *(const Options *)given};
    s->options.explorer.agents = MER_SHARING_ONE;
    s->options.explorer.critic = MER_CRITIC_OWN;
    s->options.explorer.observation = 1; /* all there is */
    mer_explorer_open(&s->explorer, search, &s->options.explorer);
    return MER_OK;
}

static MerStatus next_task(void *state, const MerSearch *search, MerError *error)
{
    State *s = state;
    s->iteration = 0;
    return mer_explorer_next_task(&s->explorer, search, error);
}

typedef struct Clusters { /* of points in the plane of two knobs */
    int  count, members;
    int  knobs[2];
    int *x;       /* (members, 2) */
    int *centres; /* (count, 2), whole numbers */
    int *of;      /* (members) */
} Clusters;

static double distance(const int *a, const int *b)
{
    double x = a[0] - b[0], y = a[1] - b[1];
    return x * x + y * y;
}

/* The two knobs with the most choices; ties: the first. */
static void choose_knobs(const MerSpace *space, int *chosen, MerArena *scratch)
{
    double *fewness = MER_ARRAY(scratch, double, space->knob_count);
    int    *order = MER_ARRAY(scratch, int, space->knob_count);
    for (int k = 0; k < space->knob_count; k++) {
        fewness[k] = -space->knobs[k].choices;
    }
    mer_sort_order(fewness, space->knob_count, order);
    chosen[0] = order[0];
    chosen[1] = order[space->knob_count > 1];
}

static double assign(Clusters *c)
{
    double loss = 0;
    for (int i = 0; i < c->members; i++) {
        double least = INFINITY;
        for (int k = 0; k < c->count; k++) {
            double d = distance(c->x + 2 * i, c->centres + 2 * k);
            c->of[i] = d < least ? k : c->of[i];
            least = fmin(least, d);
        }
        loss += least;
    }
    return loss;
}

/* Lloyd's k-means from random members; an empty cluster goes to a random one. Gives the loss. */
static double cluster(Clusters *c, int count, int64_t iterations, MerRng *rng)
{
    c->count = count;
    for (int k = 0; k < count; k++) {
        memcpy(c->centres + 2 * k, c->x + 2 * mer_rng_below(rng, c->members), 2 * sizeof *c->x);
    }
    double loss = assign(c);
    for (int64_t i = 0; i < iterations; i++) {
        bool is_moved = false;
        for (int k = 0; k < count; k++) {
            int64_t sum[2] = {0, 0};
            int     members = 0, next[2];
            for (int m = 0; m < c->members; m++) {
                if (c->of[m] == k) {
                    sum[0] += c->x[2 * m];
                    sum[1] += c->x[2 * m + 1];
                    members++;
                }
            }
            if (members == 0) {
                memcpy(next, c->x + 2 * mer_rng_below(rng, c->members), sizeof next);
            } else {
                next[0] = (int)(sum[0] / members);
                next[1] = (int)(sum[1] / members);
            }
            is_moved = is_moved || memcmp(next, c->centres + 2 * k, sizeof next) != 0;
            memcpy(c->centres + 2 * k, next, sizeof next);
        }
        if (!is_moved) {
            break;
        }
        loss = assign(c);
    }
    return loss;
}

/* As many clusters as are worth it. */
static void adapt(const State *s, Clusters *c)
{
    double before = INFINITY;
    int    step = (int)s->options.cluster_step, most = (int)s->options.plan_size;
    most = most < c->members ? most : c->members;
    for (int count = step < most ? step : most; count <= most; count += step) {
        double loss = cluster(c, count, s->options.lloyd, s->explorer.tuner.search->rng);
        if (loss >= before / s->options.knee) {
            break;
        }
        before = loss;
    }
}

static MerIndex most_frequent(const MerTop *top, int knob, int choices)
{
    int *counts = mer_heap_zeroed((size_t)choices, sizeof *counts), best = 0;
    for (int i = 0; i < top->count; i++) {
        counts[top->points[(int64_t)i * top->knobs + knob]]++;
    }
    for (int c = 1; c < choices; c++) {
        best = counts[c] > counts[best] ? c : best;
    }
    free(counts);
    return best;
}

/* The clustered knobs stand at the centre, the others at what candidates have. What is known or not
 * legal is drawn again; centres are whole numbers, but need not be members. */
static bool make_point(const State *s, const MerTop *top, const Clusters *c, int k, MerIndex *point)
{
    enum { TRIES = 100 };
    const MerSpace *space = s->explorer.tuner.search->space;
    MerRng         *rng = s->explorer.tuner.search->rng;
    for (int i = 0; i < TRIES; i++) {
        for (int j = 0; j < space->knob_count; j++) {
            bool is_mode = s->options.synthesis == MODE && i == 0;
            point[j] = is_mode
                           ? most_frequent(top, j, space->knobs[j].choices)
                           : top->points[(int64_t)mer_rng_below(rng, top->count) * top->knobs + j];
        }
        point[c->knobs[0]] = c->centres[2 * k];
        point[c->knobs[1]] = c->centres[2 * k + 1];
        if (mer_tuner_is_new(&s->explorer.tuner, point)) {
            return true;
        }
    }
    return false;
}

static void sample(State *s)
{
    MerExplorer    *e = &s->explorer;
    const MerSpace *space = e->tuner.search->space;
    MerArena       *scratch = mer_arena_new();
    MerTop          top = mer_top_make((int)s->options.plan_size, space->knob_count, scratch);
    for (int i = 0; i < e->count; i++) {
        mer_top_offer(&top, mer_tuner_point(&e->tuner, e->points, i), e->values[i]);
    }
    Clusters  c = {.members = top.count,
                   .x = MER_ARRAY(scratch, int, 2 * top.count + 2),
                   .centres = MER_ARRAY(scratch, int, 2 * top.capacity + 2),
                   .of = MER_ARRAY(scratch, int, top.count + 1)};
    MerIndex *point = MER_ARRAY(scratch, MerIndex, space->knob_count + 1);
    mer_top_sort(&top);
    choose_knobs(space, c.knobs, scratch);
    for (int i = 0; i < 2 * top.count; i++) {
        c.x[i] = top.points[(int64_t)(i / 2) * top.knobs + c.knobs[i % 2]];
    }
    if (top.count > 0) {
        adapt(s, &c);
    }
    for (int k = 0; k < c.count; k++) {
        if (make_point(s, &top, &c, k, point)) {
            mer_tuner_add(&e->tuner, point);
        }
    }
    mer_arena_free(scratch);
}

static void plan(State *s)
{
    MerTuner *tuner = &s->explorer.tuner;
    s->iteration++;
    if (mer_explorer_walk(&s->explorer)) {
        sample(s);
        char json[200];
        snprintf(json, sizeof json,
                 "{\"measured\": %d, \"candidates\": %d, \"clusters\": %d, \"entropy\": %.6g}",
                 tuner->count, s->explorer.count, tuner->plan_count,
                 fmax(0, mer_team_entropy(s->explorer.team)));
        mer_epoch(tuner->search->notes, "tuning", (int)s->iteration, 0, json);
    }
    if (tuner->plan_count == 0 && !s->explorer.is_failed) {
        mer_tuner_add_random(tuner, (int)s->options.cluster_step);
    }
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    if (!s->explorer.is_failed && mer_tuner_needs_plan(&s->explorer.tuner)) {
        plan(s);
    }
    return s->explorer.is_failed ? 0 : mer_tuner_ask(&s->explorer.tuner, proposals, capacity);
}

static bool opinions(const void *state, int count, const MerIndex *points, MerOpinion *list)
{
    const State *s = state;
    mer_explorer_opinions(&s->explorer, count, points, list);
    return s->explorer.steps > 0;
}

static MerStatus save(const void *state, MerKeep what, FILE *file, MerError *error)
{
    State    *s = (State *)state; /* saving changes nothing */
    MerStream stream = {.file = file, .is_saving = true};
    mer_stream_int(&stream, s->iteration, 0, INT32_MAX);
    MER_TRY(mer_stream_status(&stream, "chameleon: the state", error));
    return mer_explorer_save(&s->explorer, what, file, error);
}

static MerStatus load(void *state, MerKeep what, FILE *file, MerError *error)
{
    State    *s = state;
    MerStream stream = {.file = file};
    int64_t   iteration = mer_stream_int(&stream, 0, 0, INT32_MAX);
    MER_TRY(mer_stream_status(&stream, "chameleon: the saved state", error));
    s->iteration = what == MER_KEEP_ALL ? iteration : 0;
    return mer_explorer_load(&s->explorer, what, file, error);
}

static void close_chameleon(void *state)
{
    mer_explorer_close(&((State *)state)->explorer);
}

const MerOptimizerClass mer_optimizer_chameleon = {
    .name = "chameleon",
    .summary = "one agent explores boosted trees, clusters of what it finds are measured",
    .reference = "Ahn et al., ICLR 2020 (arXiv 2001.08743)",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_chameleon,
    .ask = ask,
    .tell = mer_tuner_tell,
    .save = save,
    .load = load,
    .next_task = next_task,
    .opinions = opinions,
    .close = close_chameleon,
};
