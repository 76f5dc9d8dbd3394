/* Solver `local_search`: from a random placement the best single move, again and again until none helps; ten times, the best of
 * them is asked for (a baseline of Tarnawski et al., NeurIPS 2020; here memory counts). */
#include "base/option_rows.h"
#include "place/solve/annealing_chains.h"
#include "place/solve/place_list.h"

#include "mercator/json.h"

#include <string.h>

typedef struct Options {
    int64_t restarts, moves, evaluations;
} Options;

static const MerOption options[] = {
    MER_INT(restarts, "10", 1, 1e6, "random placements to begin with"),
    MER_INT(moves, "10000000", 1, 1e15, "moves tried in all, where loads price them"),
    MER_INT(evaluations, "20000", 1, 1e12, "moves tried in all, where the evaluator prices them"),
    {0}};

typedef struct State {
    const MerSearch  *search;
    const MerProblem *problem;
    const MerPlace   *place;
    Options           options;
    MerPointPricer    pricer;
    MerUnitLoads      loads; /* of the placement at hand, where they price moves */
    bool              uses_loads, is_done;
    MerIndex         *point; /* the placement at hand */
    MerIndex         *best;
    MerPlaceValue     best_value;
    int64_t           left, tried; /* moves */
} State;

static MerStatus open_local_search(void *opened, const MerSearch *search, const MerProblem *problem,
                                   const MerEvaluator *evaluator, const void *given,
                                   MerError *error)
{
    State               *s = opened;
    const MerPlace      *place;
    const MerPlaceRules *rules =
        evaluator->type->rules ? evaluator->type->rules(evaluator->state) : NULL;
    MER_TRY(mer_place_solver_begin("local_search", search, problem, &place, error));
    *s = (State){.search = search,
                 .problem = problem,
                 .place = place,
                 .options = *(const Options *)given,
                 .pricer = {problem, evaluator, search, NULL},
                 .uses_loads = mer_place_can_use_loads(search, place, rules),
                 .point = MER_ARRAY(search->arena, MerIndex, problem->space.knob_count + 1),
                 .best = MER_ARRAY(search->arena, MerIndex, problem->space.knob_count + 1),
                 .best_value = {INFINITY, INFINITY}};
    s->left = s->uses_loads ? s->options.moves : s->options.evaluations;
    if (s->uses_loads) {
        mer_unit_loads_begin(&s->loads, mer_load_tables_new(place, rules, NULL, search->arena),
                             search->arena);
    }
    return MER_OK;
}

static int unit_at(const MerPlace *place, int group, MerIndex choice)
{
    return place->choices[place->choice_start[group] + choice];
}

/* Takes a group to another unit. */
static void go(State *s, int group, MerIndex choice)
{
    s->point[group] = choice;
    if (s->uses_loads) {
        mer_unit_loads_move(&s->loads, group, unit_at(s->place, group, choice));
    }
}

static MerPlaceValue price(State *s)
{
    s->left--;
    s->tried++;
    return s->uses_loads ? mer_unit_loads_value(&s->loads)
                         : mer_point_price(&s->pricer, s->point, INFINITY);
}

static void begin(State *s)
{
    MerArena *arena = mer_arena_new();
    int      *unit = MER_ARRAY(arena, int, s->place->group_count + 1);
    for (int g = 0; g < s->place->group_count; g++) {
        int first = s->place->choice_start[g];
        s->point[g] = mer_rng_below(s->search->rng, s->place->choice_start[g + 1] - first);
    }
    if (s->uses_loads) {
        mer_place_units(s->place, s->point, unit);
        mer_unit_loads_set(&s->loads, unit);
    }
    mer_arena_free(arena);
}

/* The best of all single moves; false: none is better than `value`, or the moves are used up. */
static bool improve(State *s, MerPlaceValue *value)
{
    int      best_group = -1;
    MerIndex best_choice = 0;
    for (int g = 0; g < s->place->group_count && s->left > 0; g++) {
        MerIndex old = s->point[g];
        int      count = s->place->choice_start[g + 1] - s->place->choice_start[g];
        for (MerIndex choice = 0; choice < count && s->left > 0; choice++) {
            if (choice == old) {
                continue;
            }
            go(s, g, choice);
            MerPlaceValue moved = price(s);
            if (mer_place_is_better(&moved, value)) {
                *value = moved;
                best_group = g;
                best_choice = choice;
            }
        }
        go(s, g, old);
    }
    if (best_group >= 0) {
        go(s, best_group, best_choice);
    }
    return best_group >= 0;
}

static void descend(State *s)
{
    begin(s);
    MerPlaceValue value = price(s);
    while (s->left > 0 && !mer_is_cancelled(s->search->notes) && improve(s, &value)) {
    }
    if (mer_place_is_better(&value, &s->best_value) || s->tried == 1) {
        s->best_value = value;
        memcpy(s->best, s->point, (size_t)s->problem->space.knob_count * sizeof *s->best);
    }
}

static int ask(void *opened, MerProposal *proposals, int capacity)
{
    State *s = opened;
    if (s->is_done || capacity < 1) {
        return 0;
    }
    s->is_done = true;
    s->pricer.arena = mer_arena_new();
    memcpy(s->best, s->point, (size_t)s->problem->space.knob_count * sizeof *s->best);
    for (int64_t r = 0; r < s->options.restarts && s->left > 0; r++) {
        descend(s);
    }
    mer_arena_free(s->pricer.arena);
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "priced_by", s->uses_loads ? "loads" : "evaluator");
    mer_json_int(&json, "moves", s->tried);
    mer_json_end_object(&json);
    mer_note(s->search->notes, "local_search", json.text);
    mer_json_free(&json);
    memcpy(proposals[0].point, s->best, (size_t)s->problem->space.knob_count * sizeof *s->best);
    return !mer_is_cancelled(s->search->notes);
}

static void tell(void *opened, const MerTrial *trials, int count)
{
    (void)opened, (void)trials, (void)count;
}

const MerOptimizerClass mer_optimizer_local_search = {
    .name = "local_search",
    .summary = "from random placements the best single move until none helps",
    .reference = "a baseline of Tarnawski et al., NeurIPS 2020",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .problem = "place",
    .makes_own_plan = true,
    .ends_itself = true,
    .open_problem = open_local_search,
    .ask = ask,
    .tell = tell,
};
