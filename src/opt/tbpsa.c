/* Test-based population size adaptation (Hellwig and Beyer, PPSN 2016), in the form and with the defaults
 * of nevergrad (docs/optimizers.md, "Black boxes"): an evolution strategy whose population grows while
 * scores do not visibly fall. */
#include "base/option_rows.h"
#include "base/stats.h"
#include "mercator/search.h"
#include "space/positions.h"

#include <math.h>
#include <string.h>

enum { MAX_LAMBDA = 4096, WINDOW = 5 /* generations between two tests */ };

typedef struct Options {
    int64_t mu;
    double  sigma, least_sigma;
} Options;

static const MerOption options[] = {
    MER_INT(mu, "8", 1, MAX_LAMBDA / 4, "parents at first; four times as many children"),
    MER_REAL(sigma, "0.2", 1e-6, 10, "first step size, in ranges of a knob"),
    MER_REAL(least_sigma, "0.05", 0, 1,
             "step size below which the search starts again elsewhere; 0: never"),
    {0}};

static const MerPreset presets[] = {{"m3e", "mu=50,sigma=1,least_sigma=0"}, {NULL, NULL}};

typedef struct Child {
    double *at;
    double  sigma;
} Child;

typedef struct State {
    MerRng      *rng;
    MerArena    *arena;
    Options      options;
    MerPositions positions;
    int          knobs, mu, lambda, told;
    double      *centre;
    double       sigma, centre_score;
    bool         is_new; /* the centre is still to be drawn */
    Child       *children;
    double      *scores; /* of the children */
    int         *order;
    double      *losses; /* of up to WINDOW * lambda children, in order */
    int          loss_count;
} State;

static void set_population(State *s, int mu)
{
    int most = MAX_LAMBDA / 4;
    s->mu = mu < 1 ? 1 : mu > most ? most : mu;
    s->lambda = 4 * s->mu;
    s->loss_count = 0;
    for (int i = 0; i < s->lambda; i++) {
        if (!s->children[i].at) {
            s->children[i].at = MER_ARRAY(s->arena, double, s->knobs + 1);
        }
    }
}

static MerStatus open_tbpsa(void *state, const MerSearch *search, const void *given,
                            MerError *error)
{
    (void)error;
    State *s = state;
    *s = (State){.rng = search->rng, .arena = search->arena, .options = *(const Options *)given};
    s->knobs = search->space->knob_count;
    s->centre = MER_ARRAY(search->arena, double, s->knobs + 1);
    s->children = MER_ARRAY(search->arena, Child, MAX_LAMBDA);
    s->scores = MER_ARRAY(search->arena, double, MAX_LAMBDA);
    s->order = MER_ARRAY(search->arena, int, MAX_LAMBDA);
    s->losses = MER_ARRAY(search->arena, double, WINDOW *MAX_LAMBDA);
    s->sigma = s->options.sigma;
    s->centre_score = INFINITY;
    s->is_new = true;
    mer_positions_make(&s->positions, search->space, search->arena);
    set_population(s, (int)s->options.mu);
    return MER_OK;
}

static void make_child(State *s, Child *child)
{
    child->sigma = s->sigma * exp(mer_rng_normal(s->rng) / sqrt(fmax(1, s->knobs)));
    for (int k = 0; k < s->knobs; k++) {
        child->at[k] = mer_position_mirror(s->centre[k] + child->sigma * mer_rng_normal(s->rng));
    }
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    int    left = s->lambda - s->told;
    int    count = left < capacity ? left : capacity;
    for (int i = 0; i < count; i++) {
        Child *child = &s->children[s->told + i];
        if (s->is_new) {
            mer_positions_sample(&s->positions, s->rng, child->at);
            child->sigma = s->sigma;
        } else {
            make_child(s, child);
        }
        mer_positions_to_point(&s->positions, child->at, proposals[i].point);
    }
    return count;
}

/* The centre moves to the mean of the best, their step sizes are averaged geometrically. */
static void recombine(State *s, int count)
{
    double log_sigma = 0;
    memset(s->centre, 0, (size_t)s->knobs * sizeof *s->centre);
    for (int i = 0; i < count; i++) {
        const Child *child = &s->children[s->order[i]];
        for (int k = 0; k < s->knobs; k++) {
            s->centre[k] += child->at[k] / count;
        }
        log_sigma += log(child->sigma) / count;
    }
    s->sigma = fmin(exp(log_sigma), s->options.sigma);
}

/* Are the last losses lower than the first by more than chance? Then the population may shrink. */
static void adapt_population(State *s)
{
    const double *first = s->losses;
    const double *last = s->losses + s->loss_count - s->lambda;
    double        spread =
        (mer_variance(first, s->lambda) + mer_variance(last, s->lambda)) / (s->lambda - 1);
    double z = (mer_mean(first, s->lambda) - mer_mean(last, s->lambda)) / sqrt(spread);
    int    least = s->options.mu < s->knobs ? (int)s->options.mu : s->knobs;
    int    shrunk = (int)(0.84 * s->mu);
    set_population(s, z < 2 || isnan(z) ? 2 * s->mu : shrunk > least ? shrunk : least);
}

/* Infeasible children lose as much as the worst feasible one of their generation. */
static void note_losses(State *s, int feasible)
{
    double worst = mer_log_score(s->scores[s->order[feasible - 1]]);
    for (int i = 0; i < s->lambda && s->loss_count < WINDOW * MAX_LAMBDA; i++) {
        double loss = mer_log_score(s->scores[i]);
        s->losses[s->loss_count++] = loss < worst ? loss : worst;
    }
}

static void end_generation(State *s)
{
    int feasible = mer_sort_order(s->scores, s->lambda, s->order);
    s->told = 0;
    if (feasible == 0) {
        return; /* nothing learned: the same centre, or another uniform draw */
    }
    if (s->is_new) {
        memcpy(s->centre, s->children[s->order[0]].at, (size_t)s->knobs * sizeof *s->centre);
        s->is_new = false;
        return;
    }
    recombine(s, feasible < s->mu ? feasible : s->mu);
    note_losses(s, feasible);
    if (s->loss_count >= WINDOW * s->lambda) {
        adapt_population(s);
    }
    if (s->sigma < s->options.least_sigma) {
        s->sigma = s->options.sigma;
        s->is_new = true;
        set_population(s, (int)s->options.mu);
    }
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        if (!trials[i].warm) {
            s->scores[s->told++] = trials[i].score;
        } else if (trials[i].score < s->centre_score) {
            s->centre_score = trials[i].score;
            mer_positions_from_point(&s->positions, trials[i].point, s->centre);
            s->is_new = false;
        }
        if (s->told == s->lambda) {
            end_generation(s);
        }
    }
}

const MerOptimizerClass mer_optimizer_tbpsa = {
    .name = "tbpsa",
    .summary = "evolution strategy that tests whether its population should grow",
    .reference = "Hellwig and Beyer, PPSN 2016",
    .options = options,
    .presets = presets,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_tbpsa,
    .ask = ask,
    .tell = tell,
};
