/* Solver `place_annealing`: multilevel annealing of a placement alone, from the exact contiguous split, from random placements, or from the
 * best of another run (docs/placement.md, "Chains and rounds"). */
#include "place/solve/annealing_chains.h"
#include "place/solve/ideals.h"
#include "place/solve/place_list.h"
#include "place/solve/placements.h"

#include "mercator/json.h"

#include <string.h>

typedef enum Start { START_DP, START_RANDOM, START_WARM } Start;

typedef struct Options {
    int             start;
    MerChainOptions chains;
} Options;

static const MerOption options[] = {
    MER_CHOICE(start, "dp", "dp|random|warm",
               "the best contiguous split, random placements, or the best of --warm"),
    MER_CHAIN_OPTIONS,
    {0}};

typedef struct State {
    const MerSearch  *search;
    const MerProblem *problem;
    const MerPlace   *place;
    MerPlaceRules     rules;
    Options           options;
    MerPlaceChains   *chains;
    MerIndex         *warm; /* the best told */
    double            warm_score;
    bool              is_started, is_told;
} State;

static MerStatus open_place_annealing(void *opened, const MerSearch *search,
                                      const MerProblem *problem, const MerEvaluator *evaluator,
                                      const void *given, MerError *error)
{
    State               *s = opened;
    const MerPlace      *place;
    const MerPlaceRules *rules =
        evaluator->type->rules ? evaluator->type->rules(evaluator->state) : NULL;
    MER_TRY(mer_place_solver_begin("place_annealing", search, problem, &place, error));
    *s = (State){.search = search,
                 .problem = problem,
                 .place = place,
                 .rules = mer_place_split_rules(rules),
                 .options = *(const Options *)given,
                 .warm = MER_ARRAY(search->arena, MerIndex, problem->space.knob_count + 1),
                 .warm_score = INFINITY};
    s->chains = mer_place_chains_new(search, problem, evaluator, &s->options.chains);
    return MER_OK;
}

/* The exact contiguous split, or the best cuts of a chain where that takes too long. */
static bool split(const State *s, MerIndex *point)
{
    const MerIdealLimits limits = {60000, 2000000};
    MerArena            *arena = mer_arena_new();
    int                 *unit = MER_ARRAY(arena, int, s->place->group_count + 1);
    double               value;
    bool                 is_proven;
    bool is_found = mer_place_ideal_split(s->place, &s->rules, &limits, s->search->notes,
                                          s->search->pool, unit, &value, &is_proven, arena) &&
                    !mer_is_cancelled(s->search->notes) && mer_place_point(s->place, unit, point);
    mer_arena_free(arena);
    return is_found;
}

/* The placement that chains begin with, to be asked for; false: they begin with random ones. */
static bool make_start(State *s, MerIndex *point)
{
    bool wants_warm = s->options.start == START_WARM;
    if (wants_warm && isfinite(s->warm_score)) { /* its price is known */
        mer_place_chains_scatter(s->chains, false);
        mer_place_chains_start(s->chains, s->warm, s->warm_score);
        return false;
    }
    if (wants_warm) {
        mer_note(s->search->notes, "place_annealing",
                 "\"no legal trial was told: starts from dp\"");
    }
    return s->options.start != START_RANDOM && split(s, point);
}

static void note_spent(const State *s)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "priced_by",
                  mer_place_chains_use_loads(s->chains) ? "loads" : "evaluator");
    mer_json_int(&json, "moves", mer_place_chains_spent(s->chains));
    mer_json_end_object(&json);
    mer_note(s->search->notes, "place_annealing", json.text);
    mer_json_free(&json);
}

static int ask(void *opened, MerProposal *proposals, int capacity)
{
    State *s = opened;
    bool   is_new = false;
    if (capacity < 1) {
        return 0;
    }
    if (!s->is_started) {
        s->is_started = true;
        if (make_start(s, proposals[0].point)) {
            return 1;
        }
    }
    while (!is_new && mer_place_chains_round(s->chains)) {
        mer_place_chains_best(s->chains, &is_new);
    }
    memcpy(proposals[0].point, mer_place_chains_best(s->chains, &(bool){false}),
           (size_t)s->search->space->knob_count * sizeof(MerIndex));
    if (!is_new) {
        note_spent(s);
        /* where nothing is legal the user learns why */
        is_new = !s->is_told && !isfinite(s->warm_score) && !mer_is_cancelled(s->search->notes);
        s->is_told |= is_new;
    }
    return is_new;
}

/* Warm trials come first; of the asked ones only the first is news. */
static void tell(void *opened, const MerTrial *trials, int count)
{
    State *s = opened;
    for (int i = 0; i < count; i++) {
        if (trials[i].warm && trials[i].score < s->warm_score) {
            s->warm_score = trials[i].score;
            memcpy(s->warm, trials[i].point,
                   (size_t)s->search->space->knob_count * sizeof *s->warm);
        } else if (!trials[i].warm && s->options.start != START_RANDOM && !s->is_told) {
            mer_place_chains_start(s->chains, trials[i].point, trials[i].score);
        }
        s->is_told |= !trials[i].warm;
    }
}

const MerOptimizerClass mer_optimizer_place_annealing = {
    .name = "place_annealing",
    .summary = "annealing of a placement, from coarse parts to single groups, in several chains",
    .reference = "Kirkpatrick, Gelatt and Vecchi, Science 220, 1983; multilevel after Karypis and "
                 "Kumar, SIAM J. Sci. Comput. 20, 1998",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .problem = "place",
    .open_problem = open_place_annealing,
    .ask = ask,
    .tell = tell,
};
