/* Chains on the threads of the search, one round after the other. */
#include "place/solve/annealing_chains.h"

#include <string.h>

enum { STREAM = 0x706c }; /* of the random numbers: chains have streams of their own */

typedef struct Chain {
    MerIndex     *point; /* the best of the chain */
    MerPlaceValue value;
    int64_t       spent;
    bool          is_given; /* `point` is a placement; else the chain begins with a random one */
} Chain;

struct MerPlaceChains {
    const MerSearch     *search;
    const MerProblem    *problem;
    const MerEvaluator  *evaluator;
    const MerPlace      *place;
    MerChainOptions      options;
    MerPlaceRules        rules; /* by which loads are counted */
    bool                 uses_loads, scatters;
    const MerLoadTables *tables;
    MerLoadLevels        levels; /* where the evaluator prices: parts that move together */
    int                  count, start_count, round;
    Chain               *chains;
    Chain                best; /* of all, also of the starts */
    bool                 is_new;
    unsigned             kept; /* roles that are not annealed */
    double               all;  /* moves or evaluations of a chain in all rounds */
};

bool mer_place_can_use_loads(const MerSearch *search, const MerPlace *place,
                             const MerPlaceRules *rules)
{
    return rules && rules->form == MER_PLACE_MAXLOAD && !rules->needs_contiguous &&
           !place->has_replicas && search->objective == MER_METRIC_PERIOD;
}

static int64_t moves_by_size(const MerPlace *place)
{
    return (int64_t)fmin(24e6, 1e5 * place->group_count);
}

static int64_t evaluations_by_size(const MerPlace *place)
{
    double most = fmin(1e5, 1e3 * place->group_count);
    return (int64_t)fmax(200, fmin(most, 2e7 / place->op_count));
}

MerPlaceChains *mer_place_chains_new(const MerSearch *search, const MerProblem *problem,
                                     const MerEvaluator *evaluator, const MerChainOptions *options)
{
    MerPlaceChains      *c = MER_NEW(search->arena, MerPlaceChains);
    const MerPlaceRules *rules =
        evaluator->type->rules ? evaluator->type->rules(evaluator->state) : NULL;
    MerRng rng = mer_rng_make(search->seed, STREAM);
    *c = (MerPlaceChains){.search = search,
                          .problem = problem,
                          .evaluator = evaluator,
                          .place = mer_place_of(problem),
                          .options = *options,
                          .scatters = true,
                          .count = (int)options->chains,
                          .best = {.value = {INFINITY, INFINITY}}};
    c->uses_loads = mer_place_can_use_loads(search, c->place, rules);
    c->rules = c->uses_loads ? *rules : (MerPlaceRules){.form = MER_PLACE_MAXLOAD};
    c->tables = mer_load_tables_new(c->place, &c->rules, NULL, search->arena);
    if (!c->uses_loads) {
        mer_load_levels_build(&c->levels, c->tables, &c->rules, NULL, &rng, search->arena);
    }
    int64_t wanted = c->uses_loads ? options->moves : options->evaluations;
    int64_t all = wanted >= 0     ? wanted
                  : c->uses_loads ? moves_by_size(c->place)
                                  : evaluations_by_size(c->place);
    c->all = (double)all / (double)options->chains;
    c->best.point = MER_ARRAY(search->arena, MerIndex, problem->space.knob_count + 1);
    c->chains = MER_ARRAY(search->arena, Chain, c->count);
    for (int i = 0; i < c->count; i++) {
        c->chains[i].point = MER_ARRAY(search->arena, MerIndex, problem->space.knob_count + 1);
        c->chains[i].value = (MerPlaceValue){INFINITY, INFINITY};
    }
    return c;
}

bool mer_place_chains_use_loads(const MerPlaceChains *c)
{
    return c->uses_loads;
}

void mer_place_chains_scatter(MerPlaceChains *c, bool scatters)
{
    c->scatters = scatters;
}

void mer_place_chains_keep(MerPlaceChains *c, unsigned kept, double share)
{
    c->kept = kept;
    c->all *= share;
}

static void copy_point(const MerPlaceChains *c, MerIndex *to, const MerIndex *from)
{
    memcpy(to, from, (size_t)c->problem->space.knob_count * sizeof *to);
}

/* By loads where they price the moves, else as the run told it: no evaluation is spent twice. */
static MerPlaceValue value_of(const MerPlaceChains *c, const MerIndex *point, double score)
{
    if (!c->uses_loads) {
        return (MerPlaceValue){isfinite(score) ? 0 : INFINITY, score};
    }
    MerArena    *arena = mer_arena_new();
    MerUnitLoads loads;
    int         *unit = MER_ARRAY(arena, int, c->place->group_count + 1);
    mer_place_units(c->place, point, unit);
    mer_unit_loads_begin(&loads, c->tables, arena);
    mer_unit_loads_set(&loads, unit);
    MerPlaceValue value = mer_unit_loads_value(&loads);
    mer_arena_free(arena);
    return value;
}

/* Starts are kept sorted in the first chains. */
void mer_place_chains_start(MerPlaceChains *c, const MerIndex *point, double score)
{
    MerPlaceValue value = value_of(c, point, score);
    int           at = 0;
    while (at < c->start_count && !mer_place_is_better(&value, &c->chains[at].value)) {
        at++;
    }
    if (at == 0) {
        c->best.value = value;
        copy_point(c, c->best.point, point);
    }
    if (at == c->count) {
        return;
    }
    c->start_count += c->start_count < c->count;
    Chain last = c->chains[c->start_count - 1];
    memmove(&c->chains[at + 1], &c->chains[at], (size_t)(c->start_count - 1 - at) * sizeof last);
    c->chains[at] = (Chain){.point = last.point, .value = value, .is_given = true};
    copy_point(c, c->chains[at].point, point);
}

/* Half of the chains begin with the best starts, the others with random placements, or with the starts again. */
static void deal_starts(MerPlaceChains *c)
{
    int given = c->uses_loads && c->scatters ? (c->count + 1) / 2 : c->count;
    for (int i = 0; i < c->count; i++) {
        Chain *chain = &c->chains[i];
        if (i >= given && i < c->start_count) {
            chain->is_given = false;
        } else if (i >= c->start_count && c->start_count > 0 && i < given) {
            const Chain *from = &c->chains[i % c->start_count];
            copy_point(c, chain->point, from->point);
            chain->value = from->value;
            chain->is_given = true;
        }
        if (!chain->is_given) {
            chain->value = (MerPlaceValue){INFINITY, INFINITY};
        }
    }
}

/* Moves or evaluations of a chain in this round. The rounds grow, 1 : 2 : 3 ..., so that there is a good answer soon and most of the work is
 * done on good ones. */
static int64_t share(const MerPlaceChains *c)
{
    double rounds = (double)c->options.rounds;
    return (int64_t)(c->all * 2 * (c->round + 1) / (rounds * (rounds + 1)));
}

/* Random placements have nothing to lose. An evaluator sees fewer moves, and those only near what is there. */
static double first_temperature(const MerPlaceChains *c, int index)
{
    static const double parts[] = {0.1, 0.03, 0.3};
    double              part = parts[(index + c->round) % 3] * (c->uses_loads ? 1 : 0.3);
    return c->options.hot * (c->chains[index].is_given ? part : 1);
}

static void anneal_loads(const MerPlaceChains *c, Chain *chain, double hot, MerRng *rng,
                         MerIndex *point, MerPlaceValue *value)
{
    MerArena        *arena = mer_arena_new();
    int             *unit = MER_ARRAY(arena, int, c->place->group_count + 1);
    MerLoadAnnealing annealing = {.tables = c->tables,
                                  .rules = &c->rules,
                                  .moves = share(c),
                                  .hot = hot,
                                  .cold = c->options.cold,
                                  .has_start = chain->is_given,
                                  .notes = c->search->notes};
    mer_place_units(c->place, point, unit);
    chain->spent += mer_load_anneal(&annealing, rng, unit, value);
    for (int g = 0; g < c->place->group_count; g++) { /* other knobs stay as they are */
        int first = c->place->choice_start[g];
        for (int i = first; i < c->place->choice_start[g + 1]; i++) {
            point[g] = c->place->choices[i] == unit[g] ? i - first : point[g];
        }
    }
    mer_arena_free(arena);
}

static void anneal_points(const MerPlaceChains *c, Chain *chain, double hot, MerRng *rng,
                          MerIndex *point, MerPlaceValue *value)
{
    MerArena         *arena = mer_arena_new();
    MerPointAnnealing annealing = {.pricer = {c->problem, c->evaluator, c->search, arena},
                                   .levels = &c->levels,
                                   .evaluations = share(c),
                                   .hot = hot,
                                   .cold = c->options.cold,
                                   .kept = c->kept};
    chain->spent += mer_point_anneal(&annealing, rng, point, value);
    mer_arena_free(arena);
}

static void run_chain(void *context, int index, int worker)
{
    MerPlaceChains *c = context;
    Chain          *chain = &c->chains[index];
    MerArena       *arena = mer_arena_new();
    MerIndex       *point = MER_ARRAY(arena, MerIndex, c->problem->space.knob_count + 1);
    double          hot = first_temperature(c, index);
    MerRng          rng = mer_rng_make(
                 c->search->seed, STREAM + 1 + (uint64_t)c->round * (uint64_t)c->count + (uint64_t)index);
    MerPlaceValue value;
    (void)worker;
    bool takes_best = c->round > 0 && index % 2 == 0;
    copy_point(c, point, takes_best ? c->best.point : chain->point);
    for (int g = 0; g < c->place->group_count && !chain->is_given; g++) {
        point[g] = mer_rng_below(&rng, c->place->choice_start[g + 1] - c->place->choice_start[g]);
    }
    if (c->uses_loads) {
        anneal_loads(c, chain, hot, &rng, point, &value);
    } else {
        anneal_points(c, chain, hot, &rng, point, &value);
    }
    if (mer_place_is_better(&value, &chain->value)) {
        chain->value = value;
        copy_point(c, chain->point, point);
    }
    mer_arena_free(arena);
}

bool mer_place_chains_round(MerPlaceChains *c)
{
    if (c->round >= c->options.rounds || share(c) < 1 || mer_is_cancelled(c->search->notes)) {
        return false;
    }
    if (c->round == 0) {
        deal_starts(c);
    }
    for (int i = 0; i < c->count && !c->search->pool; i++) {
        run_chain(c, i, 0);
    }
    if (c->search->pool) {
        mer_pool_run(c->search->pool, c->count, run_chain, c);
    }
    c->round++;
    c->is_new = false;
    for (int i = 0; i < c->count; i++) {
        c->chains[i].is_given = true;
        if (mer_place_is_better(&c->chains[i].value, &c->best.value)) {
            c->best.value = c->chains[i].value;
            copy_point(c, c->best.point, c->chains[i].point);
            c->is_new = true;
        }
    }
    return true;
}

const MerIndex *mer_place_chains_best(const MerPlaceChains *c, bool *is_new)
{
    *is_new = c->is_new;
    return c->best.point;
}

int64_t mer_place_chains_spent(const MerPlaceChains *c)
{
    int64_t sum = 0;
    for (int i = 0; i < c->count; i++) {
        sum += c->chains[i].spent;
    }
    return sum;
}
