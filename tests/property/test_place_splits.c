/* The exact splits against all placements of small random graphs: nothing contiguous is better, the evaluator prices them as the
 * solver does, any number of threads gives the same, and what is not proven says so. */
#include "one_arena.h"
#include "place_random.h"

#include "place/solve/stages.h"

static const MerIdealLimits no_limits = {60000, 2000000};

static const MerPlaceRules *rules_of(const OpenedPlace *opened)
{
    return opened->evaluator.type->rules(opened->evaluator.state);
}

/* At most about 20,000 placements. */
static OpenedPlace *random_case(MerRng *rng, const char *evaluator)
{
    int         accelerators = 1 + mer_rng_below(rng, 3), hosts = mer_rng_below(rng, 2);
    int         most = accelerators + hosts == 4 ? 6 : accelerators + hosts == 3 ? 8 : 9;
    bool        is_training = mer_rng_below(rng, 2) == 0;
    RandomNodes nodes = new_nodes(2 + mer_rng_below(rng, most - 1), is_training, arena);
    link_nodes(&nodes, rng);
    describe_nodes(&nodes, hosts > 0, rng);
    double             memory = random_memory(&nodes, accelerators, rng);
    const MerPlatform *platform =
        random_platform(accelerators, hosts, mer_rng_below(rng, 3) == 0, memory, rng, arena);
    const char *problem = "place";
    if (mer_rng_below(rng, 4) == 0) {
        problem = mer_arena_format(arena, "place:pin=[n0=acc%d]", mer_rng_below(rng, accelerators));
    }
    const MerGraph *graph = graph_of_nodes(&nodes, arena);
    for (int n = 0; n < nodes.count; n++) { /* what is pinned with n0 must run there */
        if (nodes.unit_us[n] == INFINITY) {
            problem = "place";
        }
    }
    return open_place_graph(problem, evaluator, graph, platform, arena);
}

static bool is_too_large(const OpenedPlace *opened)
{
    return mer_space_log10_size(&opened->problem.space) > 4.5;
}

/* The least period of all placements that `is_wanted`; INFINITY: none is feasible. */
static double best_of_all(const OpenedPlace *opened,
                          bool (*is_wanted)(const void *context, const int *unit),
                          const void *context)
{
    const MerPlace *place = opened->place;
    MerIndex       *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count);
    int            *unit = MER_ARRAY(arena, int, place->group_count);
    MerArena       *scratch = mer_arena_new();
    double          best = INFINITY;
    do {
        MerPlan plan;
        MerCost cost;
        MerCall call = {.scratch = scratch, .limit = INFINITY, .exact = true};
        mer_place_units(place, point, unit);
        if (!is_wanted || is_wanted(context, unit)) {
            mer_place_decode(place, point, &plan, scratch);
            opened->evaluator.type->evaluate(opened->evaluator.state, &plan, &call, &cost);
            best = cost.feasible ? fmin(best, cost.value[MER_METRIC_PERIOD]) : best;
        }
        mer_arena_reset(scratch);
    } while (mer_space_next(&opened->problem.space, point));
    mer_arena_free(scratch);
    return best;
}

static void assert_price(const OpenedPlace *opened, const int *unit, double value_us)
{
    MerIndex *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count);
    assert_true(mer_place_point(opened->place, unit, point));
    MerCost cost = price_point(opened, point);
    if (!cost.feasible) {
        fail_msg("%s", cost.reason);
    }
    if (fabs(1e-6 * value_us - cost.value[MER_METRIC_PERIOD]) > 1e-9 * 1e-6 * value_us) {
        fail_msg("%.12g, the evaluator says %.12g", 1e-6 * value_us, cost.value[MER_METRIC_PERIOD]);
    }
}

static void assert_same(double value_us, double best_s)
{
    if (fabs(1e-6 * value_us - best_s) > 1e-9 * best_s) {
        fail_msg("%.12g, the best is %.12g", 1e-6 * value_us, best_s);
    }
}

/* The search over ideals alone, without the limit that chains give it. */
static double search_from_nothing(const OpenedPlace *opened)
{
    const MerPlace       *place = opened->place;
    const MerStageKinds  *kinds = mer_stage_unit_kinds(place, arena);
    const MerStageBlocks *blocks =
        mer_stage_blocks(place, rules_of(opened), kinds, (MerStageMerges){0}, arena);
    const MerIdeals      *ideals = mer_stage_list_ideals(blocks, &no_limits, NULL, arena);
    bool                  is_row;
    const MerStageStates *states = mer_stage_unit_states(place, rules_of(opened), blocks, kinds,
                                                         ideals->count, &is_row, arena);
    MerStages            *split = mer_stages_new(blocks, states, arena);
    assert_false(is_row);
    assert_true(mer_stage_search(blocks, states, ideals, NULL, NULL, split, arena));
    return split->value_us;
}

static void check_optimum(OpenedPlace *opened, MerPool *pool)
{
    int    groups = opened->place->group_count;
    int   *unit = MER_ARRAY(arena, int, groups), *again = MER_ARRAY(arena, int, groups);
    double value, value_again, best = best_of_all(opened, NULL, NULL);
    bool   is_proven;
    bool   is_found = mer_place_ideal_split(opened->place, rules_of(opened), &no_limits, NULL, NULL,
                                            unit, &value, &is_proven, arena);
    assert_true(is_proven);
    assert_int_equal(is_found, best < INFINITY);
    if (is_found) {
        assert_same(value, best);
        assert_same(search_from_nothing(opened), best);
        assert_price(opened, unit, value);
        assert_true(mer_place_ideal_split(opened->place, rules_of(opened), &no_limits, NULL, pool,
                                          again, &value_again, &is_proven, arena));
        assert_memory_equal(unit, again, (size_t)groups * sizeof *unit);
        assert_true(value == value_again);
    }
}

static void check_many(const char *evaluator, int count, uint64_t seed)
{
    MerRng   rng = mer_rng_make(seed, 0);
    MerPool *pool = mer_pool_new(3);
    for (int i = 0; i < count; i++) {
        OpenedPlace *opened = random_case(&rng, evaluator);
        if (!is_too_large(opened)) {
            check_optimum(opened, pool);
        }
        mer_arena_reset(arena);
    }
    mer_pool_free(pool);
}

static void test_no_contiguous_placement_is_better(void **state)
{
    (void)state;
    check_many("maxload:require_contiguous=true", 1500, 1);
}

static void test_no_contiguous_placement_is_better_with_overlap(void **state)
{
    (void)state;
    check_many("maxload:require_contiguous=true,transfer=max", 1000, 2);
}

typedef struct ChainOrder {
    const MerStageBlocks *blocks;
    const int            *order, *first_group; /* blocks, and a group of each */
    int                   groups;
} ChainOrder;

/* Does no unit come back along the order? */
static bool are_cuts(const void *context, const int *unit)
{
    const ChainOrder *chain = context;
    for (int g = 0; g < chain->groups; g++) {
        if (unit[g] != unit[chain->first_group[chain->blocks->block_of_group[g]]]) {
            return false;
        }
    }
    for (int i = 1; i < chain->blocks->count; i++) {
        int own = unit[chain->first_group[chain->order[i]]];
        for (int j = 0; own != unit[chain->first_group[chain->order[i - 1]]] && j < i; j++) {
            if (unit[chain->first_group[chain->order[j]]] == own) {
                return false;
            }
        }
    }
    return true;
}

static ChainOrder chain_of(const OpenedPlace *opened, const int *order)
{
    const MerPlace      *place = opened->place;
    const MerStageKinds *kinds = mer_stage_unit_kinds(place, arena);
    ChainOrder           chain = {
                  .groups = place->group_count,
                  .blocks = mer_stage_blocks(place, rules_of(opened), kinds, (MerStageMerges){0}, arena)};
    int *rank = MER_ARRAY(arena, int, chain.blocks->count + 1);
    int *first = MER_ARRAY(arena, int, chain.blocks->count + 1);
    for (int i = place->group_count - 1; i >= 0; i--) {
        rank[chain.blocks->block_of_group[order ? order[i] : i]] = i;
        first[chain.blocks->block_of_group[i]] = i;
    }
    chain.order = mer_stage_order(chain.blocks, order ? rank : NULL, arena);
    chain.first_group = first;
    return chain;
}

static void check_chain(const OpenedPlace *opened, const int *order)
{
    ChainOrder chain = chain_of(opened, order);
    int       *unit = MER_ARRAY(arena, int, opened->place->group_count);
    double     value, best = best_of_all(opened, are_cuts, &chain);
    bool       is_found =
        mer_place_chain_split(opened->place, rules_of(opened), order, NULL, unit, &value, arena);
    assert_int_equal(is_found, best < INFINITY);
    if (is_found) {
        assert_same(value, best);
        assert_price(opened, unit, value);
    }
}

static void test_no_cuts_of_a_chain_are_better(void **state)
{
    MerRng rng = mer_rng_make(3, 0);
    (void)state;
    for (int i = 0; i < 600; i++) {
        OpenedPlace *opened = random_case(&rng, i % 2 == 0 ? "maxload" : "maxload:transfer=max");
        int         *order = MER_ARRAY(arena, int, opened->place->group_count);
        for (int g = 0; g < opened->place->group_count; g++) {
            order[g] = g;
        }
        mer_rng_shuffle(&rng, order, opened->place->group_count);
        if (!is_too_large(opened)) {
            check_chain(opened, order);
            check_chain(opened, NULL);
        }
        mer_arena_reset(arena);
    }
}

/* With few down-sets allowed the answer is that of a chain, feasible and not proven. */
static void test_too_many_ideals_give_a_chain_without_proof(void **state)
{
    MerRng rng = mer_rng_make(4, 0);
    (void)state;
    for (int i = 0; i < 100; i++) {
        OpenedPlace         *opened = random_case(&rng, "maxload");
        int                  groups = opened->place->group_count;
        int                 *unit = MER_ARRAY(arena, int, groups);
        double               value, chain = INFINITY;
        bool                 is_proven = true;
        const MerIdealLimits limits[] = {{2, 1000}, {60000, 1}};
        bool                 has_chain =
            mer_place_chain_split(opened->place, rules_of(opened), NULL, NULL, unit, &chain, arena);
        int64_t ideals = mer_place_count_ideals(opened->place, rules_of(opened), &no_limits, arena);
        bool is_found = mer_place_ideal_split(opened->place, rules_of(opened), &limits[i % 2], NULL,
                                              NULL, unit, &value, &is_proven, arena);
        assert_true(!is_proven || ideals == 2); /* one block is left */
        assert_true(is_found || !has_chain);
        if (is_found) {
            assert_price(opened, unit, value);
        }
        mer_arena_reset(arena);
    }
}

static MerIndex *ask_solver(const OpenedPlace *opened, const char *solver, MerBound *bound,
                            bool *is_proven)
{
    MerError                 error = {0};
    const MerOptimizerClass *type = mer_optimizer_find(name_in(solver, arena), &error);
    const void *options = options_from(solver, type->options, type->options_size, arena);
    void       *state = mer_arena_alloc(arena, type->state_size);
    MerRng      rng = mer_rng_make(1, 0);
    MerSearch   search = {.space = &opened->problem.space,
                          .graph = opened->problem.graph,
                          .objective = MER_METRIC_PERIOD,
                          .budget = 10,
                          .rng = &rng,
                          .arena = arena};
    MerProposal proposal = {.point =
                                MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count + 1)};
    if (type->open_problem(state, &search, &opened->problem, &opened->evaluator, options, &error) !=
        MER_OK) {
        fail_msg("%s", error.message);
    }
    int count = type->ask(state, &proposal, 1);
    *is_proven = type->proof(state, bound);
    return count > 0 ? proposal.point : NULL;
}

/* Equal accelerators, weights and replicas. */
static OpenedPlace *random_pipeline(MerRng *rng, const char *evaluator)
{
    int         units = 2 + mer_rng_below(rng, 2);
    RandomNodes nodes = new_nodes(2 + mer_rng_below(rng, units == 3 ? 4 : 7), false, arena);
    link_nodes(&nodes, rng);
    describe_nodes(&nodes, false, rng);
    return open_place_graph(
        "place:replication=true", evaluator, graph_of_nodes(&nodes, arena),
        random_platform(units, 0, false, random_memory(&nodes, units, rng), rng, arena), arena);
}

static void test_no_contiguous_pipeline_with_replicas_is_better(void **state)
{
    MerRng rng = mer_rng_make(5, 0);
    (void)state;
    for (int i = 0; i < 1000; i++) {
        const char  *transfer = mer_rng_below(&rng, 2) == 0 ? "sum" : "max";
        double       bandwidth = pow(10, 6 + 3 * mer_rng_unit(&rng));
        OpenedPlace *opened = random_pipeline(
            &rng,
            mer_arena_format(arena, "maxload:require_contiguous=true,bandwidth=%.3g,transfer=%s",
                             bandwidth, transfer));
        if (!is_too_large(opened)) {
            MerBound  bound;
            bool      is_proven;
            double    best = best_of_all(opened, NULL, NULL);
            MerIndex *point =
                ask_solver(opened, "pipedream:use_fewer_machines=true", &bound, &is_proven);
            assert_non_null(point);
            MerCost cost = price_point(opened, point);
            assert_int_equal(cost.feasible, best < INFINITY);
            assert_int_equal(is_proven, best < INFINITY);
            if (best < INFINITY) {
                assert_same(1e6 * cost.value[MER_METRIC_PERIOD], best);
                assert_same(1e6 * bound.value, best);
            }
        }
        mer_arena_reset(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_contiguous_placement_is_better),
        cmocka_unit_test(test_no_contiguous_placement_is_better_with_overlap),
        cmocka_unit_test(test_no_cuts_of_a_chain_are_better),
        cmocka_unit_test(test_too_many_ideals_give_a_chain_without_proof),
        cmocka_unit_test(test_no_contiguous_pipeline_with_replicas_is_better),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
