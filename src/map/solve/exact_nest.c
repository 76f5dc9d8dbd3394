/* Solver `exact_nest`: the proven optimum of the loop-nest model for one layer with exact factors
 * (docs/loopnest-model.md, "Exact optimum"). Every choice of what the levels keep is a mask with its own
 * lists of tiles; masks and their outermost tiles are worked off in the order of their bounds, so that
 * what is still open always says how far the best nest can be from the optimum. */
#include "map/solve/exact_nest.h"

#include "base/option_rows.h"
#include "map/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MASK_BITS = 12, START_PER_TILE = 50, START_ROUNDS = 3 };

extern const MerOptimizerClass mer_optimizer_exact_nest;

typedef struct Options {
    int64_t start;
} Options;

static const MerOption options[] = {
    MER_INT(start, "60000", 0, 1e9, "evaluations of the annealing that finds a nest to start from"),
    {0}};

typedef struct Mask {
    unsigned keep[MER_NEST_MAX_LEVELS];
    double   bound;
} Mask;

typedef enum Phase { START, SURVEY, OPEN_MASK, WALK, CLOSED, GIVEN_UP } Phase;

typedef struct State {
    ExactSearch       search;
    const MerSearch  *given;
    const MerProblem *problem;
    MerEvaluator      evaluator;
    Options           options;
    Phase             phase;
    bool              is_listable; /* the tiles can be listed; else only the start is searched */
    Mask             *masks;
    int               mask_count, mask; /* masks before `mask` are done */
    ExactItem        *items;
    int               item_count, item;
    int               told_finds; /* of the search, when it proposed last */
    double            least;      /* what the problem's bound says; NaN: nothing */
    int64_t           proposed;
} State;

static MerStatus check_request(const MerSearch *given, const MerProblem *problem,
                               const MerEvaluator *evaluator, MerError *error)
{
    MerMetric objective = given->objective;
    if (strcmp(evaluator->type->name, "loopnest") != 0 || !mer_map_nest_space(problem)) {
        return mer_error_set(
            error, MER_UNSUPPORTED,
            "exact_nest solves problem map with evaluator loopnest, found %s with %s",
            problem->type->name, evaluator->type->name);
    }
    if (objective != MER_METRIC_CYCLES && objective != MER_METRIC_LATENCY &&
        objective != MER_METRIC_ENERGY && objective != MER_METRIC_EDP) {
        return mer_error_set(
            error, MER_UNSUPPORTED, "exact_nest minimises cycles, latency, energy or edp, found %s",
            objective == MER_METRIC_COUNT ? "an expression" : mer_metric_info(objective)->name);
    }
    if (mer_map_nest_space(problem)->genome == MER_GENOME_PADDED) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "exact_nest solves factors=perfect, found factors=padded");
    }
    if (given->space->knob_count != problem->space.knob_count) {
        return mer_error_set(
            error, MER_UNSUPPORTED,
            "exact_nest searches the whole space: %d knobs are fixed, expected none",
            problem->space.knob_count - given->space->knob_count);
    }
    return MER_OK;
}

/* All ways to choose what the levels keep where the platform leaves it open. */
static void list_masks(State *s)
{
    const MerNestSpace *space = s->search.space;
    int                 level[MER_NEST_MAX_LEVELS * MER_TENSOR_COUNT];
    int                 tensor[MER_NEST_MAX_LEVELS * MER_TENSOR_COUNT];
    int                 bits = 0;
    for (int l = 0; l < space->level_count; l++) {
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            if (space->is_free[l] >> t & 1) {
                level[bits] = l;
                tensor[bits++] = t;
            }
        }
    }
    if (bits > MAX_MASK_BITS) {
        s->is_listable = false;
        return;
    }
    s->mask_count = 1 << bits;
    s->masks = MER_ARRAY(s->search.arena, Mask, s->mask_count);
    for (int m = 0; m < s->mask_count; m++) {
        s->masks[m].bound = -INFINITY;
        memcpy(s->masks[m].keep, space->keep, sizeof s->masks[m].keep);
        for (int b = 0; b < bits; b++) {
            s->masks[m].keep[level[b]] |= (unsigned)(m >> b & 1) << tensor[b];
        }
    }
}

static void set_objective(ExactSearch *search, MerMetric objective)
{
    double repeat = search->model->repeat;
    search->objective = objective;
    search->goal = objective == MER_METRIC_ENERGY ? EXACT_ENERGY
                   : objective == MER_METRIC_EDP  ? EXACT_EDP
                                                  : EXACT_CYCLES;
    search->scale = objective == MER_METRIC_EDP       ? repeat * repeat
                    : objective == MER_METRIC_LATENCY ? repeat / search->model->clock_hz
                                                      : repeat;
}

static MerStatus open_exact(void *state, const MerSearch *given, const MerProblem *problem,
                            const MerEvaluator *evaluator, const void *chosen, MerError *error)
{
    State       *s = state;
    ExactSearch *search = &s->search;
    MerBound     bound;
    *s = (State){.given = given,
                 .problem = problem,
                 .evaluator = *evaluator,
                 .options = *(const Options *)chosen};
    MER_TRY(check_request(given, problem, evaluator, error));
    *search = (ExactSearch){
        .model = evaluator->state,
        .space = mer_map_nest_space(problem),
        .evaluator = &s->evaluator,
        .notes = given->notes,
        .arena = mer_arena_new(),
        .masked = mer_arena_new(),
        .scratch = mer_arena_new(),
        .best_score = INFINITY,
        .cut = INFINITY,
    };
    set_objective(search, given->objective);
    problem->type->bound(problem, evaluator->type->rules(evaluator->state), given->objective,
                         &bound);
    s->least = bound.value;
    search->is_free = !search->space->is_constrained;
    search->has_signed_reads = search->model->shape.tensors[MER_TENSOR_O].slide_count > 0;
    mer_nest_plan_make(&search->best, search->space->op, search->space->level_count, search->arena);
    s->is_listable = mer_exact_tiles_make(&search->tiles, &search->model->shape, search->arena);
    mer_exact_orders_open(search);
    if (s->is_listable) {
        mer_exact_spreads_open(search);
        list_masks(s);
    }
    return MER_OK;
}

static int compare_masks(const void *a, const void *b)
{
    const Mask *left = a, *right = b;
    int         by_bound = EXACT_ORDER(left->bound, right->bound);
    return by_bound ? by_bound : memcmp(left->keep, right->keep, sizeof left->keep);
}

/* With one mask there is nothing to survey; with several each is bounded before any is searched. */
static void survey(State *s)
{
    if (s->mask_count > 1 && s->mask < s->mask_count) {
        Mask *mask = &s->masks[s->mask];
        mer_exact_mask_open(&s->search, mask->keep);
        if (!s->search.is_stopped) {
            mask->bound = mer_exact_mask_bound(&s->search);
            s->mask++;
            mer_exact_start(&s->search, s->given->rng, s->search.tiles.count, 1);
        }
        return;
    }
    qsort(s->masks, (size_t)s->mask_count, sizeof *s->masks, compare_masks);
    s->mask = 0;
    s->phase = OPEN_MASK;
}

static void open_mask(State *s)
{
    if (s->mask == s->mask_count || !(s->masks[s->mask].bound < s->search.cut)) {
        s->phase = CLOSED;
        return;
    }
    mer_exact_mask_open(&s->search, s->masks[s->mask].keep);
    free(s->items);
    s->items = NULL;
    s->item = 0;
    s->item_count = mer_exact_items(&s->search, &s->items);
    if (!s->search.is_stopped) {
        s->phase = WALK;
    }
}

/* Few tiles are searched sooner than annealed. */
static int64_t start_length(const State *s)
{
    int64_t enough = s->is_listable ? START_PER_TILE * (int64_t)s->search.tiles.count : INT64_MAX;
    return s->options.start < enough ? s->options.start : enough;
}

static void step(State *s)
{
    switch (s->phase) {
    case START:
        mer_exact_start(&s->search, s->given->rng, start_length(s), START_ROUNDS);
        s->phase = s->is_listable ? SURVEY : GIVEN_UP;
        return;
    case SURVEY:
        survey(s);
        return;
    case OPEN_MASK:
        open_mask(s);
        return;
    case WALK:
        if (s->item == s->item_count || !(s->items[s->item].bound < s->search.cut)) {
            s->mask++;
            s->phase = OPEN_MASK;
            return;
        }
        mer_exact_item_walk(&s->search, &s->items[s->item]);
        s->item += !s->search.is_stopped;
        return;
    case CLOSED:
    case GIVEN_UP:
        return;
    }
}

/* Among nests as good as the optimum one with less energy (or fewer cycles, where energy is minimised), found by
 * annealing: what is proven is the first goal alone. False: there is nothing to be broken. */
static bool break_ties(State *s)
{
    ExactSearch *search = &s->search;
    bool         is_proven = s->phase == CLOSED && !search->is_stopped && search->finds > 0;
    if (!is_proven || search->is_tied || search->goal == EXACT_EDP) {
        return false;
    }
    search->is_tied = true;
    search->first_objective = search->objective;
    search->first_score = search->best_score;
    set_objective(search, search->goal == EXACT_ENERGY ? MER_METRIC_CYCLES : MER_METRIC_ENERGY);
    search->best_score = search->cut = INFINITY;
    mer_exact_try(search, &search->best); /* its other value is what has to be beaten */
    mer_exact_start(search, s->given->rng, start_length(s), START_ROUNDS);
    return true;
}

/* A nest that reaches the problem's bound is the optimum: only ties are left to be broken, and it is held back until
 * they are, since it ends the run. */
static bool is_held_back(const State *s)
{
    const ExactSearch *search = &s->search;
    return search->goal != EXACT_EDP && !search->is_tied && s->phase != GIVEN_UP &&
           search->best_score <= s->least * (1 + 1e-12);
}

/* Runs until there is something better to propose. The last proposal that the budget allows is kept
 * for the optimum. */
static int ask(void *state, MerProposal *proposals, int capacity)
{
    State       *s = state;
    ExactSearch *search = &s->search;
    if (capacity == 0) {
        return 0;
    }
    bool is_last = s->given->budget - s->proposed <= 1;
    while ((s->phase < CLOSED || break_ties(s)) && !search->is_stopped) {
        step(s);
        s->phase = is_held_back(s) ? CLOSED : s->phase;
        bool is_due = search->finds > s->told_finds && !is_last && !is_held_back(s);
        if (is_due) {
            break;
        }
    }
    bool is_better = search->finds > s->told_finds;
    if (!is_better ||
        !mer_nest_encode(search->space, &search->best, &s->problem->space, proposals[0].point)) {
        return 0;
    }
    s->told_finds = search->finds;
    s->proposed++;
    return 1;
}

/* Warm trials may be better than anything found so far. */
static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        if (trials[i].warm && !s->search.is_tied && trials[i].score < s->search.best_score) {
            MerPlan plan;
            s->problem->type->decode(s->problem, trials[i].point, &plan, s->search.scratch);
            mer_exact_try(&s->search, mer_nest_plan(&plan));
            mer_arena_reset(s->search.scratch);
            s->told_finds = s->search.finds;
        }
    }
}

/* Least value of what has not been searched yet. */
static double open_value(const State *s)
{
    double mask = s->mask < s->mask_count ? s->masks[s->mask].bound : INFINITY;
    if (s->phase != WALK) {
        return s->phase == CLOSED ? INFINITY : mask;
    }
    double next = s->mask + 1 < s->mask_count ? s->masks[s->mask + 1].bound : INFINITY;
    return s->item < s->item_count ? fmin(next, s->items[s->item].bound) : next;
}

/* What no nest can beat: the best one once nothing that could is open, else the least bound open. */
static bool proof(const void *state, MerBound *bound)
{
    const State       *s = state;
    const ExactSearch *search = &s->search;
    if (search->is_tied) {
        *bound = (MerBound){search->first_score, "optimum", ""};
        return true;
    }
    if (s->phase == START || s->phase == SURVEY || s->phase == GIVEN_UP) {
        return false;
    }
    double open = open_value(s);
    if (!(open < search->cut)) {
        *bound = (MerBound){search->best_score, "optimum", ""};
        return search->best_score < INFINITY;
    }
    *bound = (MerBound){open * search->scale, "search", ""};
    return open > 0;
}

static void close_exact(void *state)
{
    State *s = state;
    if (s->search.masked) {
        mer_exact_mask_close(&s->search);
        mer_arena_free(s->search.masked);
        mer_arena_free(s->search.scratch);
        mer_arena_free(s->search.arena);
    }
    free(s->items);
}

const MerOptimizerClass mer_optimizer_exact_nest = {
    .name = "exact_nest",
    .summary = "proven optimum of the loop-nest model by branch and bound over tiles",
    .reference = "Parashar et al., Timeloop, ISPASS 2019 (model); branch and bound of our own",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .problem = "map",
    .ends_itself = true,
    .open_problem = open_exact,
    .ask = ask,
    .tell = tell,
    .proof = proof,
    .close = close_exact,
};
