/* Bayesian optimisation: a Gaussian process on knob positions predicts log(score), the next points are
 * those with the largest expected improvement (Jones, Schonlau and Welch, Journal of Global Optimization
 * 13, 1998) among random points and neighbours of the best ones. Infeasible points count as the worst
 * feasible one. Costs grow with the cube of the points in the model: meant for small budgets. */
#include "base/option_rows.h"
#include "base/stats.h"
#include "learn/gaussian_process.h"
#include "mercator/search.h"
#include "opt/points.h"
#include "space/positions.h"

#include <math.h>
#include <string.h>

typedef struct Options {
    int64_t initial, random, local, parents, refit, points, batch;
} Options;

static const MerOption options[] = {
    MER_INT(initial, "16", 1, 100000, "random points before the model"),
    MER_INT(random, "64", 0, 100000, "random candidates per model"),
    MER_INT(local, "256", 1, 100000, "candidates per model that are neighbours of the best points"),
    MER_INT(parents, "4", 1, 1000, "how many best points those are"),
    MER_INT(refit, "10", 1, 1e9, "points between two searches for length scales and noise"),
    MER_INT(points, "500", 4, 4000, "points in the model; later the best half and the newest stay"),
    MER_INT(batch, "0", 0, 10000,
            "points proposed per model; 0: one, and one more for every 50 points in the model"),
    {0}};

static const MerPreset presets[] = {{"map", "random=512,local=64,batch=1"}, {NULL, NULL}};

typedef struct State {
    const MerSpace    *space;
    MerRng            *rng;
    Options            options;
    MerPositions       positions;
    MerMoves           moves;
    MerGaussianProcess gp;
    MerIndex          *points; /* of the model, points x knobs */
    double            *scores; /* log scale, +inf if infeasible */
    int64_t           *ages;
    int64_t            told, tuned;
    int                feasible;
    int               *order; /* of the model's points, best first */
    MerIndex          *candidates;
    double            *vectors, *means, *deviations, *gains;
} State;

static void make_model(State *s, MerArena *arena)
{
    const MerSpace *space = s->space;
    bool           *is_category = MER_ARRAY(arena, bool, space->knob_count + 1);
    int            *group = MER_ARRAY(arena, int, space->knob_count + 1);
    int             group_of_role[MER_ROLE_COUNT];
    int             groups = 0;
    memset(group_of_role, -1, sizeof group_of_role);
    for (int k = 0; k < space->knob_count; k++) {
        int *of_role = &group_of_role[space->knobs[k].role];
        *of_role = *of_role < 0 ? groups++ : *of_role;
        group[k] = *of_role;
        is_category[k] = space->knobs[k].kind == MER_KNOB_CATEGORY;
    }
    mer_gp_make(&s->gp, (int)s->options.points, space->knob_count, is_category, group, groups,
                arena);
}

static MerStatus open_bayes(void *state, const MerSearch *search, const void *given,
                            MerError *error)
{
    (void)error;
    State    *s = state;
    MerArena *arena = search->arena;
    size_t    knobs = (size_t)search->space->knob_count;
    *s = (State){.space = search->space, .rng = search->rng, .options = *(const Options *)given};
    size_t points = (size_t)s->options.points;
    size_t candidates = (size_t)(s->options.random + s->options.local);
    s->points = MER_ARRAY(arena, MerIndex, points * knobs + 1);
    s->scores = MER_ARRAY(arena, double, points);
    s->ages = MER_ARRAY(arena, int64_t, points);
    s->order = MER_ARRAY(arena, int, points);
    s->candidates = MER_ARRAY(arena, MerIndex, candidates * knobs + 1);
    s->vectors = MER_ARRAY(arena, double, candidates *knobs + 1);
    s->means = MER_ARRAY(arena, double, candidates);
    s->deviations = MER_ARRAY(arena, double, candidates);
    s->gains = MER_ARRAY(arena, double, candidates);
    mer_positions_make(&s->positions, search->space, arena);
    mer_moves_make(&s->moves, search->space, arena);
    make_model(s, arena);
    return MER_OK;
}

/* Gives infeasible points the value of the worst feasible one, then learns. */
static bool fit(State *s)
{
    double worst = s->scores[s->order[s->feasible - 1]];
    for (int i = 0; i < s->gp.count; i++) {
        s->gp.y[i] = s->scores[i] < INFINITY ? s->scores[i] : worst;
    }
    int64_t period = s->gp.count < s->gp.capacity ? s->options.refit : 10 * s->options.refit;
    if (s->told - s->tuned >= period) {
        mer_gp_tune(&s->gp);
        s->tuned = s->told;
    }
    return mer_gp_fit(&s->gp);
}

static int draw_candidates(State *s)
{
    int parents = s->feasible < s->options.parents ? s->feasible : (int)s->options.parents;
    int count = (int)(s->options.random + s->options.local);
    for (int i = 0; i < count; i++) {
        MerIndex *candidate = mer_point_at(s->space, s->candidates, i);
        if (i < s->options.random) {
            mer_space_sample(s->space, s->rng, candidate);
        } else {
            mer_point_copy(
                s->space, candidate,
                mer_point_at(s->space, s->points, s->order[mer_rng_below(s->rng, parents)]));
            mer_moves_step(&s->moves, s->rng, candidate);
        }
        mer_positions_from_point(&s->positions, candidate,
                                 s->vectors + (size_t)i * (size_t)s->space->knob_count);
    }
    return count;
}

/* Jones et al., eq. 15, for minimisation. */
static double expected_improvement(double best, double mean, double deviation)
{
    if (deviation <= 0) {
        return 0;
    }
    double z = (best - mean) / deviation;
    double density = exp(-0.5 * z * z) * 0.3989422804014327;
    double below = 0.5 * erfc(-z * 0.7071067811865476);
    return deviation * (z * below + density);
}

static bool is_known(const State *s, const MerIndex *point)
{
    bool is_found = false;
    for (int i = 0; i < s->gp.count && !is_found; i++) {
        is_found = mer_point_equal(s->space, mer_point_at(s->space, s->points, i), point);
    }
    return is_found;
}

/* The candidate with the largest gain; it and its equals are not taken again. */
static bool take_candidate(State *s, int count, MerIndex *point)
{
    for (;;) {
        int best = 0;
        for (int i = 1; i < count; i++) {
            best = s->gains[i] > s->gains[best] ? i : best;
        }
        if (!(s->gains[best] > 0)) {
            return false;
        }
        mer_point_copy(s->space, point, mer_point_at(s->space, s->candidates, best));
        for (int i = 0; i < count; i++) {
            bool is_equal =
                mer_point_equal(s->space, mer_point_at(s->space, s->candidates, i), point);
            s->gains[i] = is_equal ? -1 : s->gains[i];
        }
        if (!is_known(s, point)) {
            return true;
        }
    }
}

static int batch_size(const State *s)
{
    if (s->options.batch > 0) {
        return (int)s->options.batch;
    }
    return s->gp.count < s->gp.capacity ? 1 + s->gp.count / 50 : 32;
}

static int ask_initial(State *s, MerProposal *proposals, int capacity)
{
    int64_t left = s->told < s->options.initial ? s->options.initial - s->told : s->options.initial;
    int     count = left < capacity ? (int)left : capacity;
    for (int i = 0; i < count; i++) {
        mer_space_sample(s->space, s->rng, proposals[i].point);
    }
    return count;
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    mer_sort_order(s->scores, s->gp.count, s->order);
    if (s->told < s->options.initial || s->feasible == 0 || s->space->knob_count == 0 || !fit(s)) {
        return ask_initial(s, proposals, capacity);
    }
    int    candidates = draw_candidates(s);
    int    count = batch_size(s) < capacity ? batch_size(s) : capacity;
    double best = s->scores[s->order[0]];
    mer_gp_predict(&s->gp, s->vectors, candidates, s->means, s->deviations);
    for (int i = 0; i < candidates; i++) {
        s->gains[i] = expected_improvement(best, s->means[i], s->deviations[i]);
    }
    for (int i = 0; i < count; i++) {
        if (!take_candidate(s, candidates, proposals[i].point)) {
            mer_space_sample(s->space, s->rng, proposals[i].point);
        }
    }
    return count;
}

/* A free place, or that of the oldest point outside the best half. */
static int find_place(State *s)
{
    if (s->gp.count < s->gp.capacity) {
        return mer_gp_add(&s->gp);
    }
    int oldest = -1;
    mer_sort_order(s->scores, s->gp.count, s->order);
    for (int i = s->gp.count / 2; i < s->gp.count; i++) {
        int at = s->order[i];
        oldest = oldest < 0 || s->ages[at] < s->ages[oldest] ? at : oldest;
    }
    s->feasible -= s->scores[oldest] < INFINITY;
    return oldest;
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State  *s = state;
    double *vector = s->vectors; /* free between asks */
    for (int i = 0; i < count; i++) {
        int    place = find_place(s);
        double score = mer_log_score(trials[i].score);
        s->scores[place] = score < -700 ? -700 : score; /* a score of 0 must not spoil the mean */
        s->ages[place] = trials[i].index;
        s->feasible += score < INFINITY;
        s->told++;
        mer_point_copy(s->space, mer_point_at(s->space, s->points, place), trials[i].point);
        mer_positions_from_point(&s->positions, trials[i].point, vector);
        mer_gp_put(&s->gp, place, vector, 0);
    }
}

const MerOptimizerClass mer_optimizer_bayes = {
    .name = "bayes",
    .summary = "Gaussian process and expected improvement, for small budgets",
    .reference = "Jones, Schonlau and Welch, Journal of Global Optimization 13, 1998",
    .options = options,
    .presets = presets,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_bayes,
    .ask = ask,
    .tell = tell,
};
