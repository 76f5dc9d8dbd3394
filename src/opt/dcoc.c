/* Co-optimisation by cooperating agents (DCOC, Fayyazi, Kamal and Pedram, ASP-DAC 2025, arXiv
 * 2407.08192): agents for hardware, scheduling and mapping knobs walk over a learned cost model with one
 * central critic (MAPPO), and confidence sampling picks what is measured. No code of it is public; the
 * paper says that a value network scores the candidates, that scores become a distribution to draw
 * from, that a threshold drops the draws of low confidence, and that configurations made of the most
 * frequent choices fill the gaps. How exactly is our reconstruction: docs/optimizers.md. */
#include "base/memory.h"
#include "base/stats.h"
#include "mercator/view.h"
#include "opt/explorer.h"
#include "opt/point_critic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIDENCE, UNIFORM };

typedef struct Options {
    MerExplorerOptions explorer;
    int64_t            draw, iterations, critic_steps;
    double             threshold, synthesis, temperature, trust;
    int                sampling;
} Options;

static const MerOption options[] = {
    MER_CHOICE_AT("agents", explorer.agents, "three", "three|one|clustered|all",
                  "who owns the knobs: as the space shares them out, one agent, one per "
                  "cluster of correlated knobs, one per knob"),
    MER_CHOICE_AT("heads", explorer.team.heads, "independent", "independent|joint",
                  "of an agent's knobs; joint: each given the moves of those before"),
    MER_CHOICE_AT("observation", explorer.observation, "global", "own|global",
                  "what an agent sees: its own knobs, or all"),
    MER_CHOICE_AT("critic", explorer.critic, "central", "central|own|none",
                  "one for all agents, one for each, or none: then the trees alone tell the "
                  "confidence"),
    MER_CHOICE(sampling, "confidence", "confidence|uniform",
               "how candidates become measurements; uniform: as many, by chance"),
    MER_INT(draw, "16", 1, 10000, "candidates drawn per iteration"),
    MER_REAL(threshold, "0.5", 0, 1,
             "quantile of the drawn confidences below which a draw is dropped"),
    MER_REAL(synthesis, "0.25", 0, 1, "points made of frequent choices, as a share of the draw"),
    MER_REAL(temperature, "0.1", 0, 1000,
             "of the draw, in deviations of the confidence; 0: the highest ones"),
    MER_REAL(trust, "1", 0, 1,
             "share of the critic in the confidence; the rest is what the trees say"),
    MER_INT(critic_steps, "500", 0, 1e6, "of the critic's training on measurements, per iteration"),
    MER_INT_AT("neighbours", explorer.neighbours, "4", 0, 16,
               "best points whose neighbours by one or two knobs are candidates too"),
    MER_INT(iterations, "0", 0, 1e9, "per task; 0: as many as the budget allows"),
    MER_EXPLORER_COMMON_OPTIONS("40", "0.5", "product", "8", "0"),
    {0}};

static const MerPreset presets[] = {
    {"paper", "draw=64,temperature=1,trust=1,steps=500,elite=0,neighbours=0,features=knob,"
              "minibatches=128,batch=32,"
              "iterations=16"},
    {"mappo_standard",
     "clip=0.2,lambda=0.95,discount=0.99,rate=5e-4,epochs=10,minibatches=1,batch=0,"
     "grad_norm=10"},
    {NULL, NULL}};

typedef struct State {
    MerExplorer     explorer; /* first: told as a MerTuner */
    Options         options;
    MerPointCritic *critic;    /* NULL: none */
    int             told;      /* records that the critic has seen */
    int64_t         iteration; /* of this task */
    int             improved;  /* iteration of the last better point */
    double          best;      /* then */
    bool            has_stalled, has_converged;
    int             drawn, kept, synthesised; /* of the plan under way, */
    int             planned;                  /* and what was thought of its points */
    float          *by_trees, *by_critic;     /* (planned) */
} State;

static bool has_critic(const State *s)
{
    return s->options.explorer.critic != MER_CRITIC_NONE && s->options.explorer.updates &&
           s->options.trust > 0;
}

static const MerSearch *search_of(const State *s)
{
    return s->explorer.tuner.search;
}

static void begin(State *s)
{
    s->told = s->planned = s->improved = 0;
    s->iteration = 0;
    s->best = INFINITY;
    s->has_stalled = s->has_converged = false;
}

static MerStatus open_dcoc(void *state, const MerSearch *search, const void *given, MerError *error)
{
    (void)error;
    State *s = state;
    *s = (State){.options = *(const Options *)given};
    begin(s);
    mer_explorer_open(&s->explorer, search, &s->options.explorer);
    return MER_OK;
}

static MerStatus next_task(void *state, const MerSearch *search, MerError *error)
{
    State *s = state;
    begin(s);
    MER_TRY(mer_explorer_next_task(&s->explorer, search, error));
    if (s->critic != NULL) {
        mer_point_critic_begin(s->critic, search->space, search->rng);
    }
    return MER_OK;
}

/* The critic learns from everything measured. It is made after the first points were drawn, which
 * must not depend on who asks for them. */
static void train_critic(State *s)
{
    const MerTuner *tuner = &s->explorer.tuner;
    if (!has_critic(s)) {
        return;
    }
    if (s->critic == NULL) {
        s->critic = mer_point_critic_new(MER_POINT_CRITIC_WIDTH, 3e-3);
        mer_point_critic_begin(s->critic, tuner->search->space, tuner->search->rng);
    }
    for (; s->told < tuner->count; s->told++) {
        mer_point_critic_see(s->critic,
                             &(MerTrial){.point = mer_tuner_point(tuner, tuner->points, s->told),
                                         .score = tuner->scores[s->told]});
    }
    mer_point_critic_train(s->critic, (int)s->options.critic_steps, tuner->search->rng);
}

static void standardise(int count, double *values)
{
    double mean = 0, square = 0;
    for (int i = 0; i < count; i++) {
        mean += values[i] / count;
    }
    for (int i = 0; i < count; i++) {
        square += (values[i] - mean) * (values[i] - mean) / count;
    }
    for (int i = 0; i < count; i++) {
        values[i] = square > 0 ? (values[i] - mean) / sqrt(square) : 0;
    }
}

typedef struct Candidate {
    const MerIndex *point;
    double          confidence, key;
    float           by_trees, by_critic;
    int             index;
} Candidate;

static int by_key(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key) - (x->key > y->key)
                            : (x->index > y->index) - (x->index < y->index);
}

/* How much a point promises, mean 0 and deviation 1 over all: what the trees predict and what the
 * critic says. */
static void rate(State *s, int count, Candidate *list, MerArena *scratch)
{
    const MerSpace *space = search_of(s)->space;
    double         *by_trees = MER_ARRAY(scratch, double, count + 1);
    double         *by_critic = MER_ARRAY(scratch, double, count + 1);
    MerIndex       *points = MER_ARRAY(scratch, MerIndex, (int64_t)count * space->knob_count + 1);
    bool            is_ready = s->critic != NULL && mer_point_critic_is_ready(s->critic);
    double          trust = is_ready ? s->options.trust : 0;
    for (int i = 0; i < count; i++) {
        by_trees[i] = list[i].by_trees;
        mer_point_copy(space, mer_point_at(space, points, i), list[i].point);
    }
    if (is_ready) {
        mer_point_critic_values(s->critic, count, points, by_critic);
        for (int i = 0; i < count; i++) {
            by_critic[i] = -by_critic[i];
            list[i].by_critic = (float)by_critic[i];
        }
    }
    standardise(count, by_critic);
    standardise(count, by_trees);
    for (int i = 0; i < count; i++) {
        list[i].confidence = (1 - trust) * by_trees[i] + trust * by_critic[i];
    }
}

/* Draws without replacement with probabilities exp(confidence / T): the largest keys with Gumbel noise
 * on them (Kool et al., ICML 2019). The drawn come first. */
static void draw(State *s, int count, Candidate *list)
{
    double deviation = 0, heat = s->options.temperature;
    for (int i = 0; i < count; i++) {
        deviation += list[i].confidence * list[i].confidence / count;
    }
    heat *= deviation > 0 ? sqrt(deviation) : 1;
    for (int i = 0; i < count; i++) {
        double noise = -log(-log(mer_rng_unit(search_of(s)->rng) + 1e-300) + 1e-300);
        list[i].key = s->options.sampling == UNIFORM ? noise : list[i].confidence + heat * noise;
        list[i].index = i;
    }
    qsort(list, (size_t)count, sizeof *list, by_key);
}

/* Draws of low confidence go; the kept come first, the surest one in front. */
static int drop(const State *s, int count, Candidate *list, MerArena *scratch)
{
    double *confidences = MER_ARRAY(scratch, double, count + 1);
    int     kept = 0;
    for (int i = 0; i < count; i++) {
        confidences[i] = list[i].key = list[i].confidence;
        list[i].index = i;
    }
    double limit = mer_quantile(confidences, count, s->options.threshold);
    qsort(list, (size_t)count, sizeof *list, by_key);
    while (kept < count && list[kept].confidence >= limit) {
        kept++;
    }
    return kept;
}

/* The most frequent choice of a knob among the kept, and the second, -1: none. Ties: the smaller. */
static void frequent(const Candidate *list, int kept, int knob, int choices, MerArena *scratch,
                     int *first, int *second)
{
    int *counts = MER_ARRAY(scratch, int, choices);
    *first = *second = -1;
    for (int i = 0; i < kept; i++) {
        counts[list[i].point[knob]]++;
    }
    for (int c = 0; c < choices; c++) {
        if (counts[c] > 0 && (*first < 0 || counts[c] > counts[*first])) {
            *second = *first;
            *first = c;
        } else if (counts[c] > 0 && (*second < 0 || counts[c] > counts[*second])) {
            *second = c;
        }
    }
}

/* Points of the most frequent choices, one knob of each to its second most frequent one. Fills
 * `points` with those that are new and gives their number. */
static int synthesise(State *s, const Candidate *list, int kept, int most, MerIndex *points,
                      MerArena *scratch)
{
    const MerSpace *space = search_of(s)->space;
    int             knobs = space->knob_count, count = 0;
    int            *second = MER_ARRAY(scratch, int, knobs + 1);
    MerIndex       *mode = MER_ARRAY(scratch, MerIndex, knobs + 1);
    MerVisited      made = {0};
    for (int i = 0; i < kept; i++) {
        mer_visited_add(&made, list[i].point, knobs);
    }
    for (int k = 0; k < knobs; k++) {
        frequent(list, kept, k, space->knobs[k].choices, scratch, &mode[k], &second[k]);
    }
    for (int k = -1; k < knobs && count < most; k++) {
        MerIndex *point = mer_point_at(space, points, count);
        mer_point_copy(space, point, mode);
        if (k >= 0 && second[k] >= 0) {
            point[k] = second[k];
        }
        count +=
            mer_tuner_is_new(&s->explorer.tuner, point) && !mer_visited_add(&made, point, knobs);
    }
    mer_visited_clear(&made);
    return count;
}

static void reserve_plan(State *s, int capacity)
{
    s->by_trees = mer_heap_resize(s->by_trees, (size_t)capacity + 1, sizeof *s->by_trees);
    s->by_critic = mer_heap_resize(s->by_critic, (size_t)capacity + 1, sizeof *s->by_critic);
}

/* Confidence sampling. */
static void sample(State *s)
{
    const MerExplorer *e = &s->explorer;
    const MerSpace    *space = search_of(s)->space;
    MerArena          *scratch = mer_arena_new();
    int                count = e->count, wanted = (int)s->options.draw;
    int                most = (int)(s->options.synthesis * wanted);
    Candidate         *list = MER_ARRAY(scratch, Candidate, count + most + 1);
    MerIndex          *made = MER_ARRAY(scratch, MerIndex, (int64_t)most * space->knob_count + 1);
    float             *values = MER_ARRAY(scratch, float, most + 1);
    for (int i = 0; i < count; i++) {
        list[i] = (Candidate){.point = mer_point_at(space, e->points, i), .by_trees = e->values[i]};
    }
    rate(s, count, list, scratch);
    draw(s, count, list);
    s->kept = s->drawn = count < wanted ? count : wanted;
    if (s->options.sampling == UNIFORM) {
        int all = wanted - (int)(s->options.threshold * wanted) + most;
        s->kept = all < count ? all : count;
    } else if (s->drawn > 0) {
        s->kept = drop(s, s->drawn, list, scratch);
        s->synthesised = synthesise(s, list, s->kept, most, made, scratch);
        mer_explorer_predict(e, s->synthesised, made, values);
        for (int i = 0; i < s->synthesised; i++) {
            list[s->kept + i] =
                (Candidate){.point = mer_point_at(space, made, i), .by_trees = values[i]};
        }
        rate(s, s->kept + s->synthesised, list, scratch);
        drop(s, s->kept + s->synthesised, list, scratch); /* for its order: the surest first */
    }
    reserve_plan(s, s->kept + s->synthesised);
    for (int i = 0; i < s->kept + s->synthesised; i++) {
        if (mer_tuner_add(&s->explorer.tuner, list[i].point)) {
            s->by_trees[s->planned] = list[i].by_trees;
            s->by_critic[s->planned++] = list[i].by_critic;
        }
    }
    mer_arena_free(scratch);
}

static void plan(State *s)
{
    MerTuner *tuner = &s->explorer.tuner;
    s->planned = s->drawn = s->kept = s->synthesised = 0;
    s->iteration++;
    if (mer_explorer_walk(&s->explorer)) {
        train_critic(s);
        sample(s);
    }
    /* nothing to learn from, or the walk found nothing new */
    if (tuner->plan_count == 0 && !s->explorer.is_failed) {
        mer_tuner_add_random(tuner, (int)s->options.draw);
    }
}

static void add_number(char *text, size_t size, const char *name, double value)
{
    size_t length = strlen(text);
    if (isfinite(value)) {
        snprintf(text + length, size - length, "%s\"%s\": %.6g", length > 1 ? ", " : "", name,
                 value);
    }
}

static void warn(State *s, const char *id, const char *title, const char *text, const char *remedy)
{
    mer_view_warning(search_of(s)->notes, &(MerView){.id = id, .title = title}, text, remedy);
}

/* Signs that the search has ended before its budget: nothing better for long, or agents that have
 * made up their minds and walk in circles. Each is said once per task. */
static void look_for_failure(State *s, double repeated, double entropy)
{
    MerArena *arena = search_of(s)->arena;
    enum { LONG = 12 };
    if (!s->has_stalled && s->iteration - s->improved >= LONG) {
        s->has_stalled = true;
        warn(s, "stall", "stall",
             mer_arena_format(arena, "nothing better in %d iterations, since %d measurements", LONG,
                              s->explorer.tuner.best + 1),
             "a higher temperature, elite=0, more steps");
    }
    if (!s->has_converged && entropy >= 0 && entropy < 0.1 && repeated > 0.9) {
        s->has_converged = true;
        warn(s, "premature_convergence", "premature convergence",
             mer_arena_format(arena,
                              "after %d measurements %.0f %% of the steps lead to points of the "
                              "same walk, and the agents' entropy is %.2g nats per knob",
                              s->explorer.tuner.count, 100 * repeated, entropy),
             "a higher entropy, more walkers");
    }
}

/* What a plan was worth: one line of the log per iteration. */
static void report(State *s)
{
    const MerExplorer *e = &s->explorer;
    const MerTuner    *tuner = &e->tuner;
    char               json[500] = "{";
    double             steps = e->steps > 0 ? (double)e->steps : NAN;
    double             entropy = e->team != NULL ? mer_team_entropy(e->team) : -1;
    bool               has_valued = s->critic != NULL && mer_point_critic_is_ready(s->critic);
    if (tuner->best >= 0 && tuner->scores[tuner->best] < s->best) {
        s->best = tuner->scores[tuner->best];
        s->improved = (int)s->iteration;
    }
    add_number(json, sizeof json, "measured", tuner->count);
    add_number(json, sizeof json, "best", tuner->best >= 0 ? s->best : NAN);
    add_number(json, sizeof json, "candidates", e->count);
    add_number(json, sizeof json, "repeated", (double)e->repeated / steps);
    add_number(json, sizeof json, "illegal", (double)e->forbidden / steps);
    add_number(json, sizeof json, "drawn", s->drawn);
    add_number(json, sizeof json, "kept", s->kept);
    add_number(json, sizeof json, "synthesised", s->synthesised);
    add_number(json, sizeof json, "surrogate_rank",
               mer_tuner_agreement(tuner, s->planned, s->by_trees));
    add_number(json, sizeof json, "critic_rank",
               has_valued ? mer_tuner_agreement(tuner, s->planned, s->by_critic) : NAN);
    add_number(json, sizeof json, "entropy", entropy >= 0 ? entropy : NAN);
    add_number(json, sizeof json, "agents", e->agent_count);
    strcat(json, "}");
    mer_epoch(search_of(s)->notes, "tuning", (int)s->iteration, (int)s->options.iterations, json);
    look_for_failure(s, (double)e->repeated / steps, entropy);
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State    *s = state;
    MerTuner *tuner = &s->explorer.tuner;
    if (s->explorer.is_failed) {
        return 0;
    }
    bool is_measured = tuner->plan_next == tuner->plan_count && tuner->plan_count > 0;
    if (is_measured && s->iteration > 0) {
        report(s);
    }
    if (mer_tuner_needs_plan(tuner)) {
        if (s->options.iterations > 0 && s->iteration >= s->options.iterations) {
            return 0;
        }
        plan(s);
    }
    return mer_tuner_ask(tuner, proposals, capacity);
}

static bool opinions(const void *state, int count, const MerIndex *points, MerOpinion *list)
{
    const State *s = state;
    if (s->explorer.steps == 0) { /* nothing was planned with models yet */
        return false;
    }
    mer_explorer_opinions(&s->explorer, count, points, list);
    if (s->critic != NULL && mer_point_critic_is_ready(s->critic)) {
        double *values = mer_heap_zeroed((size_t)count + 1, sizeof *values);
        mer_point_critic_values(s->critic, count, points, values);
        for (int i = 0; i < count; i++) {
            list[i].critic = (float)-values[i];
        }
        free(values);
    }
    return true;
}

static void keep_progress(State *s, MerStream *stream)
{
    MerExplorer *e = &s->explorer;
    s->iteration = mer_stream_int(stream, s->iteration, 0, INT64_MAX / 2);
    s->improved = (int)mer_stream_int(stream, s->improved, 0, INT32_MAX);
    s->best = mer_stream_real(stream, s->best);
    s->told = (int)mer_stream_int(stream, s->told, 0, e->tuner.count);
    s->has_stalled = mer_stream_int(stream, s->has_stalled, 0, 1);
    s->has_converged = mer_stream_int(stream, s->has_converged, 0, 1);
    s->drawn = (int)mer_stream_int(stream, s->drawn, 0, INT32_MAX);
    s->kept = (int)mer_stream_int(stream, s->kept, 0, INT32_MAX);
    s->synthesised = (int)mer_stream_int(stream, s->synthesised, 0, INT32_MAX);
    e->count = (int)mer_stream_int(stream, e->count, 0, INT32_MAX); /* for the report alone */
    e->steps = mer_stream_int(stream, e->steps, 0, INT64_MAX);
    e->repeated = mer_stream_int(stream, e->repeated, 0, INT64_MAX);
    e->forbidden = mer_stream_int(stream, e->forbidden, 0, INT64_MAX);
    s->planned = (int)mer_stream_int(stream, s->planned, 0, e->tuner.plan_count);
    mer_stream_expect(stream, 2 * sizeof(float), s->planned);
    s->planned = stream->is_broken ? 0 : s->planned;
    if (!stream->is_saving) {
        reserve_plan(s, s->planned);
    }
    mer_stream_bytes(stream, s->by_trees, sizeof *s->by_trees, s->planned);
    mer_stream_bytes(stream, s->by_critic, sizeof *s->by_critic, s->planned);
}

static MerStatus save(const void *state, MerKeep what, FILE *file, MerError *error)
{
    State    *s = (State *)state; /* saving changes nothing */
    MerStream stream = {.file = file, .is_saving = true};
    MER_TRY(mer_explorer_save(&s->explorer, what, file, error));
    if (what == MER_KEEP_POLICY) {
        return MER_OK;
    }
    keep_progress(s, &stream);
    mer_stream_int(&stream, s->critic != NULL, 0, 1);
    MER_TRY(mer_stream_status(&stream, "dcoc: the state", error));
    return s->critic != NULL ? mer_point_critic_keep(s->critic, &stream, error) : MER_OK;
}

static MerStatus load(void *state, MerKeep what, FILE *file, MerError *error)
{
    State    *s = state;
    MerStream stream = {.file = file};
    MER_TRY(mer_explorer_load(&s->explorer, what, file, error));
    if (what == MER_KEEP_POLICY) {
        return MER_OK;
    }
    keep_progress(s, &stream);
    bool has_critic = mer_stream_int(&stream, 0, 0, 1);
    MER_TRY(mer_stream_status(&stream, "dcoc: the saved state", error));
    if (has_critic) {
        mer_point_critic_free(s->critic);
        s->critic = mer_point_critic_new(MER_POINT_CRITIC_WIDTH, 3e-3);
        MER_TRY(mer_point_critic_keep(s->critic, &stream, error));
        MER_TRY(mer_point_critic_resume(s->critic, search_of(s)->space, error));
    }
    return MER_OK;
}

static void close_dcoc(void *state)
{
    State *s = state;
    mer_explorer_close(&s->explorer);
    mer_point_critic_free(s->critic);
    free(s->by_trees);
    free(s->by_critic);
}

const MerOptimizerClass mer_optimizer_dcoc = {
    .name = "dcoc",
    .summary = "agents that share the knobs, a central critic and confidence sampling",
    .reference = "Fayyazi, Kamal and Pedram, ASP-DAC 2025 (arXiv 2407.08192)",
    .options = options,
    .presets = presets,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_dcoc,
    .ask = ask,
    .tell = mer_tuner_tell,
    .save = save,
    .load = load,
    .next_task = next_task,
    .opinions = opinions,
    .close = close_dcoc,
};
