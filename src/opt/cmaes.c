/* CMA-ES (Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv 1604.00772) on the positions of knobs
 * in [0,1), with restarts of doubled population (IPOP, Auger and Hansen, CEC 2005) and a least deviation
 * per knob, so that choices do not freeze (after the margin of Hamano et al., GECCO 2022). Above
 * `diagonal` knobs only variances are learned (sep-CMA-ES, Ros and Hansen, PPSN 2008). */
#include "base/option_rows.h"
#include "mercator/search.h"

#include "base/linalg.h"
#include "base/stats.h"
#include "learn/lapack.h"
#include "space/positions.h"

#include <math.h>
#include <string.h>

enum { MAX_LAMBDA = 1024 };

typedef struct Options {
    int64_t lambda, start, diagonal;
    double  sigma, margin, growth;
} Options;

static const MerOption options[] = {
    MER_INT(lambda, "0", 0, MAX_LAMBDA, "points per generation; 0: 4 + floor(3 ln knobs)"),
    MER_REAL(sigma, "0.15", 1e-6, 10, "first step size, in ranges of a knob"),
    MER_INT(start, "100", 0, 1e6,
            "uniform points the best of which becomes the first mean; 0: the middle of the space"),
    MER_REAL(margin, "0.25", 0, 10, "least deviation of a knob, in widths of one choice"),
    MER_REAL(growth, "2", 1, 10, "what lambda is multiplied with at a restart"),
    MER_INT(diagonal, "200", 0, 1e9, "number of knobs above which only variances are learned"),
    {0}};

static const MerPreset presets[] = {{"map", "sigma=0.3,start=0,margin=0"},
                                    {"m3e", "lambda=100,sigma=0.3,start=0,margin=0,growth=1"},
                                    {NULL, NULL}};

typedef struct State {
    MerRng      *rng;
    MerArena    *arena;
    Options      options;
    MerPositions positions;
    int          n, lambda, mu;
    bool         is_diagonal;
    double      *weights; /* mu, sum 1 */
    double       mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, expected_norm;
    double      *mean, *path_sigma, *path_c;
    /* C = vectors diag(axes^2) vectors^T; diagonal: n numbers */
    double *covariance, *vectors, *axes;
    size_t  cells; /* of covariance and vectors */
    double *work, *capacity;
    double  sigma;
    int64_t generation, eigen_age, last_gain;
    double  run_best, start_best;
    int     started;           /* uniform points told in this run */
    double *steps[MAX_LAMBDA]; /* of the samples: (x - mean) / sigma */
    double *scores;
    int    *order;
    int     told;
} State;

/* Tutorial, table 1. */
static void set_rates(State *s)
{
    double n = s->n, sum = 0, squares = 0;
    s->mu = s->lambda / 2 > 0 ? s->lambda / 2 : 1;
    for (int i = 0; i < s->mu; i++) {
        s->weights[i] = log((s->lambda + 1) / 2.0) - log(i + 1.0);
        s->weights[i] = s->weights[i] > 0 ? s->weights[i] : 1e-9;
        sum += s->weights[i];
    }
    for (int i = 0; i < s->mu; i++) {
        s->weights[i] /= sum;
        squares += s->weights[i] * s->weights[i];
    }
    s->mu_eff = 1 / squares;
    s->c_sigma = (s->mu_eff + 2) / (n + s->mu_eff + 5);
    s->d_sigma = 1 + 2 * fmax(0, sqrt((s->mu_eff - 1) / (n + 1)) - 1) + s->c_sigma;
    s->c_c = (4 + s->mu_eff / n) / (n + 4 + 2 * s->mu_eff / n);
    s->c_1 = 2 / ((n + 1.3) * (n + 1.3) + s->mu_eff);
    s->c_mu =
        fmin(1 - s->c_1, 2 * (s->mu_eff - 2 + 1 / s->mu_eff) / ((n + 2) * (n + 2) + s->mu_eff));
    s->c_mu = fmax(s->c_mu, 0);
    if (s->is_diagonal) { /* fewer numbers are learned faster: sep-CMA-ES, eq. 4 */
        s->c_1 *= (n + 2) / 3;
        s->c_mu = fmin(1 - s->c_1, s->c_mu * (n + 2) / 3);
    }
    s->expected_norm = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
}

static void start_run(State *s)
{
    set_rates(s);
    memset(s->covariance, 0, s->cells * sizeof *s->covariance);
    memset(s->vectors, 0, s->cells * sizeof *s->vectors);
    for (int k = 0; k < s->n; k++) {
        size_t diagonal = s->is_diagonal ? (size_t)k : (size_t)k * (size_t)(s->n + 1);
        s->covariance[diagonal] = s->vectors[diagonal] = s->axes[k] = 1;
        s->path_sigma[k] = s->path_c[k] = 0;
        s->mean[k] = 0.5;
    }
    for (int i = 0; i < s->lambda; i++) {
        if (!s->steps[i]) {
            s->steps[i] = MER_ARRAY(s->arena, double, s->n + 1);
        }
    }
    s->sigma = s->options.sigma;
    s->generation = s->eigen_age = s->last_gain = 0;
    s->run_best = s->start_best = INFINITY;
    s->started = 0;
    s->told = 0;
}

static MerStatus open_cmaes(void *state, const MerSearch *search, const void *given,
                            MerError *error)
{
    (void)error;
    State    *s = state;
    MerArena *arena = search->arena;
    *s = (State){.rng = search->rng, .arena = arena, .options = *(const Options *)given};
    s->n = search->space->knob_count;
    s->is_diagonal = s->n > s->options.diagonal;
    s->lambda = s->options.lambda > 0 ? (int)s->options.lambda : 4 + (int)(3 * log(fmax(1, s->n)));
    s->lambda = s->lambda < 2 ? 2 : s->lambda;
    s->cells = s->is_diagonal ? (size_t)s->n : (size_t)s->n * (size_t)s->n;
    s->covariance = MER_ARRAY(arena, double, s->cells + 1);
    s->vectors = MER_ARRAY(arena, double, s->cells + 1);
    s->axes = MER_ARRAY(arena, double, s->n + 1);
    s->mean = MER_ARRAY(arena, double, s->n + 1);
    s->path_sigma = MER_ARRAY(arena, double, s->n + 1);
    s->path_c = MER_ARRAY(arena, double, s->n + 1);
    s->capacity = MER_ARRAY(arena, double, s->n + 1);
    s->work = MER_ARRAY(arena, double, mer_lapack_eigen_work(s->n));
    s->weights = MER_ARRAY(arena, double, MAX_LAMBDA);
    s->order = MER_ARRAY(arena, int, MAX_LAMBDA);
    s->scores = MER_ARRAY(arena, double, MAX_LAMBDA);
    mer_positions_make(&s->positions, search->space, arena);
    mer_lapack_open();
    start_run(s);
    return MER_OK;
}

/* step = vectors * (axes o normal) */
static void draw_step(State *s, double *step)
{
    for (int k = 0; k < s->n; k++) {
        s->capacity[k] = s->axes[k] * mer_rng_normal(s->rng);
        step[k] = s->is_diagonal ? s->capacity[k] : 0;
    }
    for (int j = 0; j < s->n && !s->is_diagonal; j++) {
        mer_axpy(s->capacity[j], s->vectors + (size_t)j * (size_t)s->n, step, s->n);
    }
}

/* What was priced is the middle of the chosen cells, so that is what the distribution learns from. */
static void learn_from(const State *s, const MerIndex *point, double *step)
{
    mer_positions_from_point(&s->positions, point, step);
    for (int k = 0; k < s->n; k++) {
        step[k] = (step[k] - s->mean[k]) / s->sigma;
    }
}

static bool is_starting(const State *s)
{
    return s->started < s->options.start;
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State  *s = state;
    int64_t left = is_starting(s) ? s->options.start - s->started : s->lambda - s->told;
    int     count = left < capacity ? (int)left : capacity;
    for (int i = 0; i < count; i++) {
        if (is_starting(s)) {
            mer_space_sample(s->positions.space, s->rng, proposals[i].point);
            continue;
        }
        double *step = s->steps[s->told + i];
        draw_step(s, step);
        for (int k = 0; k < s->n; k++) {
            s->capacity[k] = s->mean[k] + s->sigma * step[k];
        }
        mer_positions_to_point(&s->positions, s->capacity, proposals[i].point);
        learn_from(s, proposals[i].point, step);
    }
    return count;
}

/* C^(-1/2) step, for the path of the step size. */
static void whiten(const State *s, const double *step, double *result)
{
    for (int k = 0; k < s->n; k++) {
        result[k] = s->is_diagonal ? step[k] / s->axes[k] : 0;
    }
    for (int j = 0; j < s->n && !s->is_diagonal; j++) {
        const double *vector = s->vectors + (size_t)j * (size_t)s->n;
        mer_axpy(mer_dot(vector, step, s->n) / s->axes[j], vector, result, s->n);
    }
}

/* Tutorial, eq. 43 to 45: both paths and the step size. Returns whether the path of C is taken. */
static bool update_paths(State *s, const double *move)
{
    double norm = 0;
    double keep = 1 - s->c_sigma;
    double gain = sqrt(s->c_sigma * (2 - s->c_sigma) * s->mu_eff);
    whiten(s, move, s->capacity);
    for (int k = 0; k < s->n; k++) {
        s->path_sigma[k] = keep * s->path_sigma[k] + gain * s->capacity[k];
        norm += s->path_sigma[k] * s->path_sigma[k];
    }
    norm = sqrt(norm);
    double steady = sqrt(1 - pow(keep, 2 * (double)(s->generation + 1)));
    bool   is_taken = norm / steady < (1.4 + 2 / (s->n + 1.0)) * s->expected_norm;
    double gain_c = is_taken ? sqrt(s->c_c * (2 - s->c_c) * s->mu_eff) : 0;
    for (int k = 0; k < s->n; k++) {
        s->path_c[k] = (1 - s->c_c) * s->path_c[k] + gain_c * move[k];
    }
    s->sigma *= exp(fmin(1, s->c_sigma / s->d_sigma * (norm / s->expected_norm - 1)));
    s->sigma = fmin(s->sigma, 2 * s->options.sigma);
    return is_taken;
}

static void add_outer(State *s, double factor, const double *x)
{
    for (int k = 0; k < s->n; k++) {
        if (s->is_diagonal) {
            s->covariance[k] += factor * x[k] * x[k];
        } else {
            mer_axpy(factor * x[k], x, s->covariance + (size_t)k * (size_t)s->n, s->n);
        }
    }
}

/* Tutorial, eq. 47. `weights` of the `count` samples used sum to 1. */
static void update_covariance(State *s, int count, double total, bool is_path_taken)
{
    double lost = is_path_taken ? 0 : s->c_c * (2 - s->c_c);
    double keep = 1 - s->c_1 - s->c_mu + s->c_1 * lost;
    for (size_t i = 0; i < s->cells; i++) {
        s->covariance[i] *= keep;
    }
    add_outer(s, s->c_1, s->path_c);
    for (int i = 0; i < count; i++) {
        add_outer(s, s->c_mu * s->weights[i] / total, s->steps[s->order[i]]);
    }
}

/* Stretches C where a knob could hardly leave its choice any more. */
static void keep_margin(State *s)
{
    size_t n = (size_t)s->n;
    for (size_t k = 0; k < n; k++) {
        double *variance = &s->covariance[s->is_diagonal ? k : k * (n + 1)];
        double  least = s->options.margin / s->positions.space->knobs[k].choices;
        double  now = s->sigma * sqrt(*variance);
        double  stretch = now < least && now > 0 ? least / now : 1;
        if (s->is_diagonal) {
            *variance *= stretch * stretch;
            continue;
        }
        for (size_t j = 0; j < n && stretch > 1; j++) {
            s->covariance[k * n + j] *= stretch;
            s->covariance[j * n + k] *= stretch;
        }
    }
}

/* Axes of C anew; false: C is no longer positive definite or far too long. */
static bool find_axes(State *s)
{
    size_t n = (size_t)s->n;
    if (s->is_diagonal) {
        memcpy(s->axes, s->covariance, n * sizeof *s->axes);
    } else {
        memcpy(s->vectors, s->covariance, n * n * sizeof *s->vectors);
        if (!mer_lapack_eigen(s->vectors, s->n, s->axes, s->work)) {
            return false;
        }
    }
    double least = INFINITY;
    double most = 0;
    for (size_t k = 0; k < n; k++) {
        least = fmin(least, s->axes[k]);
        most = fmax(most, s->axes[k]);
        s->axes[k] = sqrt(s->axes[k]);
    }
    return least > 0 && most / least < 1e14 && isfinite(most);
}

static void restart(State *s)
{
    double grown = s->lambda * s->options.growth;
    s->lambda = grown < MAX_LAMBDA ? (int)grown : MAX_LAMBDA;
    start_run(s);
}

/* Infeasible samples say nothing about the direction, so only feasible ones are recombined. */
static bool update(State *s)
{
    int feasible = mer_sort_order(s->scores, s->lambda, s->order);
    int count = feasible < s->mu ? feasible : s->mu;
    if (count == 0) {
        return true;
    }
    double total = 0;
    for (int i = 0; i < count; i++) {
        total += s->weights[i];
    }
    double *move = s->work; /* at least n numbers, and free between decompositions */
    memset(move, 0, (size_t)s->n * sizeof *move);
    for (int i = 0; i < count; i++) {
        mer_axpy(s->weights[i] / total, s->steps[s->order[i]], move, s->n);
    }
    mer_axpy(s->sigma, move, s->mean, s->n);
    bool is_path_taken = update_paths(s, move);
    update_covariance(s, count, total, is_path_taken);
    keep_margin(s);
    double period = 1 / (10 * s->n * (s->c_1 + s->c_mu));
    if ((double)++s->eigen_age >= period) {
        s->eigen_age = 0;
        return find_axes(s);
    }
    return true;
}

static void end_generation(State *s)
{
    bool   is_sound = update(s);
    double best = s->scores[s->order[0]];
    s->told = 0;
    s->generation++;
    if (best < s->run_best) {
        s->run_best = best;
        s->last_gain = s->generation;
    }
    int64_t patience = 10 + 30 * (int64_t)s->n / s->lambda;
    if (!is_sound || s->generation - s->last_gain > patience) {
        restart(s);
    }
}

static void take_start(State *s, const MerTrial *trial)
{
    if (trial->score < s->start_best) {
        s->start_best = trial->score;
        mer_positions_from_point(&s->positions, trial->point, s->mean);
    }
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count && s->n > 0; i++) {
        if (trials[i].warm) {
            take_start(s, &trials[i]);
        } else if (is_starting(s)) {
            s->started++;
            take_start(s, &trials[i]);
        } else {
            s->scores[s->told++] = trials[i].score;
            if (s->told == s->lambda) {
                end_generation(s);
            }
        }
    }
}

const MerOptimizerClass mer_optimizer_cmaes = {
    .name = "cmaes",
    .summary = "covariance matrix adaptation on knob positions, with growing restarts",
    .reference = "Hansen, arXiv 1604.00772; Auger and Hansen, CEC 2005",
    .options = options,
    .presets = presets,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_cmaes,
    .ask = ask,
    .tell = tell,
};
