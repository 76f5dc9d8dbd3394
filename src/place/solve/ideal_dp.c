/* Solver `ideal_dp`: the best contiguous split for max load, with its proof (docs/placement.md, "Exact splits"; Tarnawski et al.,
 * Efficient Algorithms for Device Placement of DNN Graph Operators, NeurIPS 2020). */
#include "place/solve/ideals.h"

#include "base/option_rows.h"
#include "mercator/evaluator.h"

#include <string.h>

typedef struct Options {
    int64_t ideals, explored;
} Options;

static const MerOption options[] = {
    MER_INT(ideals, "60000", 1, 2e9,
            "down-sets of the graph at most; with more it cuts one chain, and proves nothing"),
    MER_INT(explored, "2000000", 1, 1e15,
            "down-sets that may be met, again and again, while they are listed"),
    {0}};

typedef struct State {
    const MerSearch *search;
    const MerPlace  *place;
    MerPlaceRules    rules;
    MerIdealLimits   limits;
    double           value_us;
    bool             is_done, is_found, is_proven;
} State;

static const char *what_is_found(const MerPlace *place, const MerPlaceRules *rules,
                                 const MerSearch *search)
{
    return !place                                            ? "another problem"
           : !rules || rules->form != MER_PLACE_MAXLOAD      ? "another evaluator"
           : search->objective != MER_METRIC_PERIOD          ? "another objective"
           : place->has_replicas                             ? "replicas (pipedream splits those)"
           : search->space->knob_count != place->group_count ? "other knobs, or fixed ones"
                                                             : NULL;
}

static MerStatus open_ideal_dp(void *opened, const MerSearch *search, const MerProblem *problem,
                               const MerEvaluator *evaluator, const void *given, MerError *error)
{
    const Options       *chosen = given;
    State               *state = opened;
    const MerPlace      *place = mer_place_of(problem);
    const MerPlaceRules *rules =
        evaluator->type->rules ? evaluator->type->rules(evaluator->state) : NULL;
    const char *found = what_is_found(place, rules, search);
    if (found) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "ideal_dp minimises the period of evaluator maxload over units alone, "
                             "found %s",
                             found);
    }
    *state = (State){.search = search,
                     .place = place,
                     .rules = *rules,
                     .limits = {chosen->ideals, chosen->explored}};
    return MER_OK;
}

/* Without any split within memory, one that shows by how much. */
static bool find_units(State *state, int *unit, MerArena *arena)
{
    MerNotes     *notes = state->search->notes;
    MerPlaceRules unlimited = state->rules;
    double        value;
    state->is_found = mer_place_ideal_split(state->place, &state->rules, &state->limits, notes,
                                            state->search->pool, unit, &state->value_us,
                                            &state->is_proven, arena);
    if (state->is_found && !state->is_proven) {
        mer_note(notes, "contiguous", "\"not proven: the best cuts of a chain\"");
    }
    unlimited.ignores_limits = true;
    return state->is_found ||
           mer_place_chain_split(state->place, &unlimited, NULL, notes, unit, &value, arena);
}

static int ask(void *opened, MerProposal *proposals, int capacity)
{
    State *state = opened;
    if (state->is_done || capacity < 1) {
        return 0;
    }
    MerArena *arena = mer_arena_new();
    int      *unit = MER_ARRAY(arena, int, state->place->group_count);
    bool is_point = find_units(state, unit, arena) && !mer_is_cancelled(state->search->notes) &&
                    mer_place_point(state->place, unit, proposals[0].point);
    state->is_done = true;
    mer_arena_free(arena);
    return is_point;
}

static void tell(void *opened, const MerTrial *trials, int count)
{
    (void)opened, (void)trials, (void)count; /* it knows the price already */
}

/* Where nothing but contiguous splits is allowed this is what no plan can beat. */
static bool proof(const void *opened, MerBound *bound)
{
    const State *state = opened;
    *bound = (MerBound){1e-6 * state->value_us, "search",
                        state->rules.needs_contiguous ? "" : "contiguous"};
    return state->is_found && state->is_proven;
}

const MerOptimizerClass mer_optimizer_ideal_dp = {
    .name = "ideal_dp",
    .summary = "the best contiguous split for max load, by dynamic programming over down-sets; of "
               "graphs with too many of them the best cuts of a chain",
    .reference = "Tarnawski et al., Efficient Algorithms for Device Placement of DNN Graph "
                 "Operators, NeurIPS 2020",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .problem = "place",
    .makes_own_plan = true,
    .ends_itself = true,
    .open_problem = open_ideal_dp,
    .ask = ask,
    .tell = tell,
    .proof = proof,
};
