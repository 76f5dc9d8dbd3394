/* The cross-entropy method on any space (Rubinstein, Methodology and Computing in Applied Probability 1, 1999): one
 * table of probabilities per knob, drawn from independently, that moves towards how often the best points of a
 * generation chose what. Knobs with very many choices share cells between neighbours. */
#include "base/option_rows.h"
#include "mercator/search.h"

#include "base/stats.h"
#include "opt/points.h"

#include <math.h>
#include <string.h>

enum { MAX_CELLS = 256 };

typedef struct Options {
    int64_t population;
    double  elite, smoothing;
} Options;

static const MerOption options[] = {
    MER_INT(population, "100", 2, 100000, "points per generation"),
    MER_REAL(elite, "0.1", 0.001, 1, "best share of a generation that the tables move towards"),
    MER_REAL(smoothing, "0.7", 0, 1, "how far they move: 1 forgets what was before"),
    {0}};

typedef struct State {
    const MerSpace *space;
    MerRng         *rng;
    Options         options;
    int             population, told, asked;
    int            *first; /* cell of each knob in `shares`; first[knob_count]: all of them */
    double         *shares, *seen; /* probabilities; counts of the elites */
    MerIndex       *points;        /* population x knobs */
    double         *scores;
    int            *order;
} State;

static int cells_of(const State *s, int knob)
{
    return s->first[knob + 1] - s->first[knob];
}

static void clear_tables(State *s)
{
    for (int k = 0; k < s->space->knob_count; k++) {
        for (int c = s->first[k]; c < s->first[k + 1]; c++) {
            s->shares[c] = 1.0 / cells_of(s, k);
        }
    }
}

static void begin(State *s, const MerSearch *search, Options options)
{
    int       knobs = search->space->knob_count;
    MerArena *arena = search->arena;
    *s = (State){.space = search->space, .rng = search->rng, .options = options};
    s->population = (int)options.population;
    s->first = MER_ARRAY(arena, int, knobs + 1);
    for (int k = 0; k < knobs; k++) {
        int choices = search->space->knobs[k].choices;
        s->first[k + 1] = s->first[k] + (choices < MAX_CELLS ? choices : MAX_CELLS);
    }
    s->shares = MER_ARRAY(arena, double, s->first[knobs] + 1);
    s->seen = MER_ARRAY(arena, double, s->first[knobs] + 1);
    s->points = MER_ARRAY(arena, MerIndex, (int64_t)s->population * knobs + 1);
    s->scores = MER_ARRAY(arena, double, s->population);
    s->order = MER_ARRAY(arena, int, s->population);
    clear_tables(s);
}

static MerStatus open_cross_entropy(void *state, const MerSearch *search, const void *given,
                                    MerError *error)
{
    (void)error;
    begin(state, search, *(const Options *)given);
    return MER_OK;
}

static MerStatus next_task(void *state, const MerSearch *search, MerError *error)
{
    (void)error;
    begin(state, search, ((State *)state)->options);
    return MER_OK;
}

static int cell_of(const State *s, int knob, MerIndex index)
{
    int choices = s->space->knobs[knob].choices, cells = cells_of(s, knob);
    return cells == choices ? index : (int)((int64_t)index * cells / choices);
}

static MerIndex draw(const State *s, int knob)
{
    double left = mer_rng_unit(s->rng);
    int    cell = 0, cells = cells_of(s, knob);
    while (cell + 1 < cells) {
        left -= s->shares[s->first[knob] + cell];
        if (left < 0) {
            break;
        }
        cell++;
    }
    return cells == s->space->knobs[knob].choices
               ? cell
               : mer_knob_index(&s->space->knobs[knob], (cell + mer_rng_unit(s->rng)) / cells);
}

static MerIndex *point_of(const State *s, int which)
{
    return mer_point_at(s->space, s->points, which);
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    int    left = s->population - s->asked, count = left < capacity ? left : capacity;
    for (int i = 0; i < count; i++) {
        MerIndex *point = point_of(s, s->asked + i);
        for (int k = 0; k < s->space->knob_count; k++) {
            point[k] = draw(s, k);
        }
        mer_point_copy(s->space, proposals[i].point, point);
    }
    s->asked += count;
    return count;
}

static bool is_one_point(const State *s)
{
    bool is_one = true;
    for (int i = 1; i < s->population && is_one; i++) {
        is_one = mer_point_equal(s->space, point_of(s, i), s->points);
    }
    return is_one;
}

/* Infeasible points are never among the elites; without a feasible one nothing is learned. */
static void end_generation(State *s)
{
    int knobs = s->space->knob_count, feasible = mer_sort_order(s->scores, s->population, s->order);
    int elites = (int)ceil(s->options.elite * s->population);
    elites = elites < feasible ? elites : feasible;
    s->asked = s->told = 0;
    if (elites == 0) {
        return;
    }
    memset(s->seen, 0, (size_t)s->first[knobs] * sizeof *s->seen);
    for (int e = 0; e < elites; e++) {
        const MerIndex *point = point_of(s, s->order[e]);
        for (int k = 0; k < knobs; k++) {
            s->seen[s->first[k] + cell_of(s, k, point[k])] += 1.0 / elites;
        }
    }
    for (int c = 0; c < s->first[knobs]; c++) {
        s->shares[c] += s->options.smoothing * (s->seen[c] - s->shares[c]);
    }
    if (is_one_point(s)) {
        clear_tables(s); /* nothing new would come: begin again elsewhere */
    }
}

/* Points of an earlier run take part in the generation in which they are told. */
static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        if (trials[i].warm && s->asked > s->told) {
            continue; /* every place of this generation is taken by what was asked for */
        }
        mer_point_copy(s->space, point_of(s, s->told), trials[i].point);
        s->scores[s->told++] = trials[i].score;
        s->asked = s->asked > s->told ? s->asked : s->told;
        if (s->told == s->population) {
            end_generation(s);
        }
    }
}

static int64_t population(const void *given)
{
    return ((const Options *)given)->population;
}

const MerOptimizerClass mer_optimizer_cross_entropy = {
    .name = "cross_entropy",
    .summary = "one table of probabilities per knob, moved towards the best points",
    .reference = "Rubinstein, Methodology and Computing in Applied Probability 1, 1999",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_cross_entropy,
    .ask = ask,
    .tell = tell,
    .next_task = next_task,
    .population = population,
};
