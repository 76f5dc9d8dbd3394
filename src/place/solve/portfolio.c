/* Solver `portfolio`, the default of `place`: one unit alone, the classical rules, partitioners and contiguous splits, then annealing from the
 * best of them (docs/placement.md, "Portfolio"). Whoever found what stands in a table of the report. */
#include "place/solve/portfolio.h"

#include "place/place_parts.h"
#include "place/solve/annealing_chains.h"
#include "place/solve/enumeration.h"
#include "place/solve/place_list.h"
#include "place/solve/placements.h"

#include <string.h>

/* Placements that are tried with priorities and fusion, where these are decided. */
enum { VARIANTS = 8 };

typedef struct Options {
    int64_t         ideals, points;
    MerChainOptions chains;
} Options;

static const MerOption options[] = {
    MER_INT(ideals, "20000", 1, 2e9,
            "down-sets of the graph up to which the exact contiguous split is sought"),
    MER_INT(
        points, "2000000", 0, 2e9,
        "points of the space, times operators, up to which all are priced and the best is proven"),
    MER_CHAIN_OPTIONS,
    {0}};

typedef enum Stage {
    SINGLES,
    RULES,
    PARTITIONS,
    SPLITS,
    VARIANTS_OF_BEST,
    STARTS,
    CHAINS,
    DONE
} Stage;

typedef struct State {
    const MerSearch     *search;
    const MerProblem    *problem;
    const MerEvaluator  *evaluator;
    const MerPlace      *place;
    const MerPlaceRules *rules; /* NULL: the evaluator says none */
    Options              options;
    MerSources           sources;
    MerPlaceChains      *chains;
    MerBound             proof; /* of contiguous splits, or of all points; NaN: none */
    Stage                stage;
    int turn, turns; /* of decisions one after the other; 0: all are made together */
} State;

/* Roles in turn, as far as they are decided. */
static MerRole role_of_turn(const MerPlace *place, int turn)
{
    return turn == 0                           ? MER_ROLE_UNIT
           : turn == 1 && place->decides_order ? MER_ROLE_PRIORITY
                                               : MER_ROLE_FUSE;
}

static MerStatus open_portfolio(void *opened, const MerSearch *search, const MerProblem *problem,
                                const MerEvaluator *evaluator, const void *given, MerError *error)
{
    State          *s = opened;
    const MerPlace *place;
    MER_TRY(mer_place_solver_begin("portfolio", search, problem, &place, error));
    *s = (State){.search = search,
                 .problem = problem,
                 .evaluator = evaluator,
                 .place = place,
                 .rules = evaluator->type->rules ? evaluator->type->rules(evaluator->state) : NULL,
                 .options = *(const Options *)given,
                 .sources = {search, place, problem->space.knob_count, 0, 0, 0, NULL},
                 .proof = {NAN, "none", ""}};
    bool has_order = s->rules && s->rules->form == MER_PLACE_CLUSTER &&
                     ((const MerPlaceOptions *)problem->options)->in_turn;
    s->turns = has_order ? 1 + place->decides_order + place->decides_fusion : 0;
    return MER_OK;
}

static void add_splits(State *s)
{
    MerPlaceRules rules = mer_place_split_rules(s->rules);
    bool          is_own = s->rules && s->rules->form == MER_PLACE_MAXLOAD &&
                  s->search->objective == MER_METRIC_PERIOD && !s->place->has_replicas;
    mer_portfolio_add_splits(&s->sources, &rules, s->options.ideals, is_own ? &s->proof : NULL);
    if (s->place->has_replicas) {
        mer_portfolio_add_replicas(&s->sources, s->problem, s->evaluator);
    }
}

/* Where all points could be tried there is no need to search. */
static bool try_all(State *s)
{
    const MerGoal *goal = s->search->goal;
    MerArena      *arena = mer_arena_new();
    MerIndex      *best = MER_ARRAY(arena, MerIndex, s->sources.knob_count + 1);
    double         score;
    MerPointPricer pricer = {s->problem, s->evaluator, s->search, NULL};
    bool           is_done = s->evaluator->type->mode == MER_EVALUATE_PARALLEL &&
                   mer_place_enumerate(&pricer, s->options.points, best, &score);
    if (is_done) {
        int direction = goal ? goal->direction : mer_metric_info(s->search->objective)->direction;
        mer_sources_add(&s->sources, "enumeration", "all points", best);
        s->proof = (MerBound){direction > 0 ? -score : score, "optimum", ""};
    }
    mer_arena_free(arena);
    return is_done;
}

/* Annealing from what is there. Plans that are measured, or that need all threads, are never priced inside. */
static void begin_chains(State *s)
{
    MerArena *arena = mer_arena_new();
    int      *order = MER_ARRAY(arena, int, s->sources.told + 1), legal;
    int       count = mer_sources_rank(&s->sources, order, &legal);
    if (s->evaluator->type->mode == MER_EVALUATE_PARALLEL) {
        s->chains = mer_place_chains_new(s->search, s->problem, s->evaluator, &s->options.chains);
    }
    if (s->chains && s->turns > 0) {
        unsigned others = ~(1u << role_of_turn(s->place, s->turn));
        mer_place_chains_keep(s->chains, others, 1.0 / s->turns);
        count = s->turn > 0 && count > 1 ? 1 : count; /* only the best goes on */
    }
    for (int i = 0; i < count && s->chains; i++) {
        const MerSource *source = &s->sources.list[order[i]];
        mer_place_chains_start(s->chains, source->point, source->score);
    }
    mer_arena_free(arena);
}

/* Rounds until one finds something better, or all are done. */
static void run_chains(State *s)
{
    bool is_new = false;
    while (s->chains && !is_new && mer_place_chains_round(s->chains)) {
        const MerIndex *best = mer_place_chains_best(s->chains, &is_new);
        if (is_new) {
            mer_sources_add(&s->sources, "annealing", NULL, best);
        }
    }
    s->stage = is_new ? CHAINS : DONE;
    if (s->stage == DONE && s->turn + 1 < s->turns && !mer_is_cancelled(s->search->notes)) {
        mer_portfolio_add_turn(&s->sources, role_of_turn(s->place, ++s->turn));
        s->stage = STARTS;
    }
}

/* Points of the next stage, if it has any. */
static void go_on(State *s)
{
    Stage stage = s->stage++;
    switch (stage) {
    case SINGLES:
        mer_portfolio_add_singles(&s->sources);
        break;
    case RULES:
        mer_portfolio_add_rules(&s->sources);
        break;
    case PARTITIONS:
        mer_portfolio_add_partitions(&s->sources);
        break;
    case SPLITS:
        add_splits(s);
        break;
    case VARIANTS_OF_BEST:
        if (s->rules && s->rules->form == MER_PLACE_CLUSTER && s->turns == 0 &&
            (s->place->decides_order || s->place->decides_fusion)) {
            mer_portfolio_add_variants(&s->sources, VARIANTS);
        }
        break;
    case STARTS:
        if (s->turns > 0 || !try_all(s)) {
            begin_chains(s);
        }
        break;
    case CHAINS:
        run_chains(s);
        break;
    case DONE:
        s->stage = DONE;
        break;
    }
}

static void show(const State *s)
{
    mer_sources_show(&s->sources, s->chains ? mer_place_chains_spent(s->chains) : -1,
                     s->chains && mer_place_chains_use_loads(s->chains));
}

static int ask(void *opened, MerProposal *proposals, int capacity)
{
    State      *s = opened;
    MerSources *sources = &s->sources;
    int         count = 0;
    bool        is_first = sources->asked == 0; /* however short the time, there is an answer */
    while (sources->asked == sources->count && s->stage != DONE &&
           (is_first || !mer_is_cancelled(s->search->notes))) {
        go_on(s);
    }
    int most = mer_is_cancelled(s->search->notes) ? is_first : capacity;
    for (; count < most && sources->asked < sources->count; count++, sources->asked++) {
        memcpy(proposals[count].point, sources->list[sources->asked].point,
               (size_t)sources->knob_count * sizeof(MerIndex));
    }
    if (count == 0) {
        show(s);
    }
    return count;
}

/* Trials of earlier runs are sources, too. */
static void tell_warm(State *s, const MerTrial *trial)
{
    MerSources *sources = &s->sources;
    if (sources->asked == 0 && isfinite(trial->score)) {
        mer_sources_add(sources, "warm", NULL, trial->point);
        sources->asked++;
    }
}

static void tell(void *opened, const MerTrial *trials, int count)
{
    State         *s = opened;
    const MerGoal *goal = s->search->goal;
    for (int i = 0; i < count; i++) {
        if (trials[i].warm) {
            tell_warm(s, &trials[i]);
        }
        if (s->sources.told == s->sources.asked) {
            continue;
        }
        MerSource *source = &s->sources.list[s->sources.told++];
        source->score = trials[i].score;
        source->value = goal ? goal->value(goal->state, trials[i].cost->value) : trials[i].score;
        source->reason = trials[i].cost->feasible
                             ? NULL
                             : mer_arena_text(s->search->arena, trials[i].cost->reason);
    }
}

static bool proof(const void *opened, MerBound *bound)
{
    const State *s = opened;
    *bound = s->proof;
    return !isnan(s->proof.value);
}

const MerOptimizerClass mer_optimizer_portfolio = {
    .name = "portfolio",
    .summary = "the best of all classical solvers, exact contiguous splits and annealing from them",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .problem = "place",
    .open_problem = open_portfolio,
    .ask = ask,
    .tell = tell,
    .proof = proof,
    .ends_itself = true,
};
