/* Ant colony optimisation (ant colony system, Dorigo and Gambardella, IEEE TEC 1, 1997) with one table of
 * pheromone per knob: knobs are chosen independently of each other (docs/optimizers.md, "Black boxes").
 * Knobs with very many choices share cells between neighbours. */
#include "base/option_rows.h"
#include "mercator/search.h"
#include "opt/points.h"

#include <math.h>

enum { MAX_CELLS = 256 };

typedef struct Options {
    int64_t ants, depositors;
    double  evaporation, greediness, start, decay, deposit, floor;
} Options;

static const MerOption options[] = {
    MER_INT(ants, "16", 1, 100000, "points per iteration"),
    MER_INT(depositors, "4", 1, 100000,
            "best ants of an iteration that leave pheromone, by rank; the best point known always "
            "does"),
    MER_REAL(evaporation, "0.1", 0, 1, "share of the pheromone that is replaced in an iteration"),
    MER_REAL(greediness, "0", 0, 1, "probability of the choice with the most pheromone"),
    MER_REAL(start, "0.1", 1e-9, 1e6, "pheromone at first"),
    MER_REAL(decay, "0.1", 0, 1, "how far a choice falls back to `start` when an ant has taken it"),
    MER_REAL(deposit, "1", 0, 1e6, "pheromone shared out by rank"),
    MER_REAL(floor, "0.05", 0, 1, "probability of a uniform choice, whatever the pheromone"),
    {0}};

/* Greedy ants soon repeat one point where knobs are chosen independently. */
static const MerPreset presets[] = {
    {"map", "evaporation=0.25,greediness=0.25,floor=0"},
    {"archgym", "ants=2,depositors=2,evaporation=0.25,greediness=0.25,start=0.1,decay=0.1,floor=0"},
    {NULL, NULL}};

typedef struct State {
    const MerSpace *space;
    MerRng         *rng;
    Options         options;
    int             ants, next;
    int            *cells;     /* per knob */
    double        **pheromone; /* [knob][cell] */
    MerIndex       *points;    /* ants x knobs, best first among those told */
    double         *scores;
    MerIndex       *best;
    double          best_score;
} State;

static MerStatus open_aco(void *state, const MerSearch *search, const void *given, MerError *error)
{
    (void)error;
    State *s = state;
    int    knobs = search->space->knob_count;
    *s = (State){.space = search->space, .rng = search->rng, .options = *(const Options *)given};
    s->ants = (int)s->options.ants;
    s->cells = MER_ARRAY(search->arena, int, knobs + 1);
    s->pheromone = MER_ARRAY(search->arena, double *, knobs + 1);
    s->points = MER_ARRAY(search->arena, MerIndex, (size_t)s->ants * (size_t)knobs + 1);
    s->scores = MER_ARRAY(search->arena, double, s->ants);
    s->best = MER_ARRAY(search->arena, MerIndex, knobs + 1);
    s->best_score = INFINITY;
    for (int k = 0; k < knobs; k++) {
        int choices = search->space->knobs[k].choices;
        s->cells[k] = choices < MAX_CELLS ? choices : MAX_CELLS;
        s->pheromone[k] = MER_ARRAY(search->arena, double, s->cells[k]);
        for (int c = 0; c < s->cells[k]; c++) {
            s->pheromone[k][c] = s->options.start;
        }
    }
    return MER_OK;
}

static int cell_of(const State *s, int knob, MerIndex index)
{
    return (int)((int64_t)index * s->cells[knob] / s->space->knobs[knob].choices);
}

/* Any of the choices that share the cell. */
static MerIndex index_in(State *s, int knob, int cell)
{
    int choices = s->space->knobs[knob].choices;
    if (s->cells[knob] == choices) {
        return cell;
    }
    int64_t low = ((int64_t)cell * choices + s->cells[knob] - 1) / s->cells[knob];
    int64_t high = ((int64_t)(cell + 1) * choices + s->cells[knob] - 1) / s->cells[knob];
    return (MerIndex)(low + mer_rng_below(s->rng, (int)(high - low)));
}

static int most_marked(State *s, int knob)
{
    int first = mer_rng_below(s->rng, s->cells[knob]); /* ties go to a random one */
    int best = first;
    for (int i = 1; i < s->cells[knob]; i++) {
        int c = (first + i) % s->cells[knob];
        best = s->pheromone[knob][c] > s->pheromone[knob][best] ? c : best;
    }
    return best;
}

static int drawn_cell(State *s, int knob)
{
    double total = 0;
    for (int c = 0; c < s->cells[knob]; c++) {
        total += s->pheromone[knob][c];
    }
    double left = mer_rng_unit(s->rng) * total;
    int    c = 0;
    while (c < s->cells[knob] - 1 && left >= s->pheromone[knob][c]) {
        left -= s->pheromone[knob][c++];
    }
    return c;
}

static void walk(State *s, MerIndex *point)
{
    for (int k = 0; k < s->space->knob_count; k++) {
        double luck = mer_rng_unit(s->rng);
        int    cell;
        if (luck < s->options.floor) {
            cell = mer_rng_below(s->rng, s->cells[k]);
        } else {
            cell = luck < s->options.floor + s->options.greediness ? most_marked(s, k)
                                                                   : drawn_cell(s, k);
        }
        point[k] = index_in(s, k, cell);
        double *mark = &s->pheromone[k][cell];
        *mark += s->options.decay * (s->options.start - *mark) / s->ants;
    }
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    int    left = s->ants - s->next;
    int    count = left < capacity ? left : capacity;
    for (int i = 0; i < count; i++) {
        walk(s, proposals[i].point);
    }
    return count;
}

static void mark(State *s, const MerIndex *point, double amount)
{
    for (int k = 0; k < s->space->knob_count; k++) {
        s->pheromone[k][cell_of(s, k, point[k])] += amount;
    }
}

static MerIndex *point_of(const State *s, int rank)
{
    return mer_point_at(s->space, s->points, rank);
}

/* Inserts a point into the ranking of the iteration. */
static void rank(State *s, const MerIndex *point, double score)
{
    int place = s->next++;
    for (; place > 0 && s->scores[place - 1] > score; place--) {
        s->scores[place] = s->scores[place - 1];
        mer_point_copy(s->space, point_of(s, place), point_of(s, place - 1));
    }
    s->scores[place] = score;
    mer_point_copy(s->space, point_of(s, place), point);
}

/* Weights fall linearly with rank and sum to the deposit; the best point known weighs as much as the
 * first of the iteration. Infeasible ants leave nothing. */
static void end_iteration(State *s)
{
    int    depositors = s->options.depositors < s->next ? (int)s->options.depositors : s->next;
    double unit = s->options.deposit * s->options.evaporation /
                  (depositors * (depositors + 1) / 2.0 + depositors);
    if (s->best_score < INFINITY) {
        for (int k = 0; k < s->space->knob_count; k++) {
            for (int c = 0; c < s->cells[k]; c++) {
                s->pheromone[k][c] *= 1 - s->options.evaporation;
            }
        }
        mark(s, s->best, unit * depositors);
    }
    for (int i = 0; i < depositors && s->scores[i] < INFINITY; i++) {
        mark(s, point_of(s, i), unit * (depositors - i));
    }
    s->next = 0;
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        if (trials[i].score < s->best_score) {
            s->best_score = trials[i].score;
            mer_point_copy(s->space, s->best, trials[i].point);
        }
        if (!trials[i].warm) {
            rank(s, trials[i].point, trials[i].score);
        } else if (trials[i].score < INFINITY) {
            mark(s, trials[i].point, s->options.start);
        }
        if (s->next == s->ants) {
            end_iteration(s);
        }
    }
}

const MerOptimizerClass mer_optimizer_aco = {
    .name = "aco",
    .summary = "ant colony with one pheromone table per knob",
    .reference = "Dorigo and Gambardella, IEEE TEC 1, 1997",
    .options = options,
    .presets = presets,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_aco,
    .ask = ask,
    .tell = tell,
};
