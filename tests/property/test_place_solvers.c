/* Solvers of `place` on random graphs: loads kept move by move equal the evaluator's, every solver stays within the rules, and the
 * portfolio is never worse than one unit alone, never below the bound, and the best of all where all can be tried. */
#include "one_arena.h"
#include "place_random.h"

#include "place/solve/annealing_chains.h"
#include "place/solve/partition_graph.h"
#include "place/solve/placements.h"

typedef struct Case {
    const MerGraph    *graph;
    const MerPlatform *platform;
} Case;

/* `largest`: forward operators at most. */
static Case random_case(MerRng *rng, int largest)
{
    bool        is_training = mer_rng_below(rng, 2) == 0;
    int         accelerators = 1 + mer_rng_below(rng, 3), hosts = mer_rng_below(rng, 2);
    RandomNodes nodes = new_nodes(2 + mer_rng_below(rng, largest - 1), is_training, arena);
    link_nodes(&nodes, rng);
    describe_nodes(&nodes, hosts > 0, rng);
    double memory = random_memory(&nodes, accelerators, rng);
    return (Case){
        graph_of_nodes(&nodes, arena),
        random_platform(accelerators, hosts, mer_rng_below(rng, 3) == 0, memory, rng, arena)};
}

static OpenedPlace *open_case(const Case *which, const char *evaluator)
{
    return open_place_graph("place", evaluator, which->graph, which->platform, arena);
}

static const MerPlaceRules *rules_of(const OpenedPlace *opened)
{
    return opened->evaluator.type->rules(opened->evaluator.state);
}

static void assert_loads(const OpenedPlace *opened, const MerUnitLoads *loads, const int *unit)
{
    const MerPlace *place = opened->place;
    int            *of_op = MER_ARRAY(opened->arena, int, place->op_count + 1);
    double          bytes = 0;
    for (int o = 0; o < place->op_count; o++) {
        of_op[o] = unit[place->group[o]];
    }
    MerCost       cost = price_units(opened, of_op);
    MerPlaceValue value = mer_unit_loads_value(loads);
    for (int u = 0; u < place->unit_count; u++) {
        bytes = fmax(bytes, loads->bytes[u]);
    }
    assert_int_equal(cost.feasible, value.excess == 0);
    if (fabs(1e-6 * value.score - cost.value[MER_METRIC_PERIOD]) >
            1e-9 * cost.value[MER_METRIC_PERIOD] ||
        bytes != cost.value[MER_METRIC_PEAK_BYTES]) {
        fail_msg("loads say %.17g us and %.17g bytes, the evaluator %.17g s and %.17g", value.score,
                 bytes, cost.value[MER_METRIC_PERIOD], cost.value[MER_METRIC_PEAK_BYTES]);
    }
}

/* Random moves of parts, each compared with the evaluator. */
static void walk(const OpenedPlace *opened, const MerLoadTables *tables, int moves, MerRng *rng)
{
    const MerPlace *place = opened->place;
    MerUnitLoads    loads;
    MerArena       *scratch = mer_arena_new();
    OpenedPlace     own = *opened;
    int            *start = MER_ARRAY(arena, int, tables->part_count + 1);
    int            *unit = MER_ARRAY(arena, int, place->group_count + 1);
    own.arena = scratch;
    for (int p = 0; p < tables->part_count; p++) {
        start[p] = tables->choices[tables->choice_start[p]];
    }
    mer_unit_loads_begin(&loads, tables, arena);
    mer_unit_loads_set(&loads, start);
    for (int i = 0; i < moves; i++) {
        int part = mer_rng_below(rng, tables->part_count), first = tables->choice_start[part];
        int count = tables->choice_start[part + 1] - first;
        mer_unit_loads_move(&loads, part, tables->choices[first + mer_rng_below(rng, count)]);
        for (int g = 0; g < place->group_count; g++) {
            unit[g] = loads.unit[tables->part_of[g]];
        }
        assert_loads(&own, &loads, unit);
        mer_arena_reset(scratch);
    }
    mer_arena_free(scratch);
}

static void test_loads_after_moves_are_those_of_the_evaluator(void **state)
{
    static const char *const evaluators[] = {"maxload:price_infeasible=true",
                                             "maxload:price_infeasible=true,transfer=max"};
    MerRng                   rng = mer_rng_make(11, 0);
    (void)state;
    for (int i = 0; i < 100; i++) {
        Case         which = random_case(&rng, 12);
        OpenedPlace *opened = open_case(&which, evaluators[i % 2]);
        walk(opened, mer_load_tables_new(opened->place, rules_of(opened), NULL, arena), 1000, &rng);
        mer_arena_reset(arena);
    }
}

static void test_loads_of_joined_parts_are_those_of_the_evaluator(void **state)
{
    MerRng rng = mer_rng_make(12, 0);
    int    joined = 0;
    (void)state;
    for (int i = 0; i < 60; i++) {
        Case                 which = random_case(&rng, 40);
        OpenedPlace         *opened = open_case(&which, "maxload:price_infeasible=true");
        const MerPlaceRules *rules = rules_of(opened);
        MerLoadLevels        levels;
        mer_load_levels_build(&levels, mer_load_tables_new(opened->place, rules, NULL, arena),
                              rules, NULL, &rng, arena);
        walk(opened, levels.tables[levels.count - 1], 50, &rng);
        joined += levels.count > 1;
        mer_arena_reset(arena);
    }
    assert_true(joined > 10);
}

/* Joining what shares a unit keeps a placement a placement of every level. */
static void test_levels_keep_a_placement(void **state)
{
    MerRng rng = mer_rng_make(13, 0);
    (void)state;
    for (int i = 0; i < 60; i++) {
        Case                 which = random_case(&rng, 40);
        OpenedPlace         *opened = open_case(&which, "maxload");
        const MerPlace      *place = opened->place;
        const MerLoadTables *finest = mer_load_tables_new(place, rules_of(opened), NULL, arena);
        MerLoadLevels        levels;
        int                 *unit = MER_ARRAY(arena, int, place->group_count);
        for (int g = 0; g < place->group_count; g++) {
            int first = place->choice_start[g];
            unit[g] =
                place->choices[first + mer_rng_below(&rng, place->choice_start[g + 1] - first)];
        }
        mer_load_levels_build(&levels, finest, rules_of(opened), unit, &rng, arena);
        for (int k = 0; k < levels.count; k++) {
            int *of_part = MER_ARRAY(arena, int, place->group_count);
            for (int g = place->group_count; g-- > 0;) {
                of_part[levels.tables[k]->part_of[g]] = unit[g];
            }
            for (int g = 0; g < place->group_count; g++) {
                assert_int_equal(of_part[levels.tables[k]->part_of[g]], unit[g]);
            }
        }
        mer_arena_reset(arena);
    }
}

static MerTaskResult run_case(const Case *which, const char *evaluator, const char *optimizer,
                              int threads)
{
    MerRunSpec spec = spec_from("place", evaluator, optimizer, which->graph, "two-gpu-box", arena);
    spec.platform = which->platform;
    spec.threads = threads;
    spec.budget = 5000;
    spec.objective = strncmp(evaluator, "maxload", 7) == 0 ? "period"
                     : strncmp(evaluator, "calls", 5) == 0 ? "latency"
                                                           : "makespan";
    return *run_or_fail(&spec, NULL, arena).tasks;
}

#define QUICK "moves=20000,evaluations=600,chains=3,rounds=2"

static const char *const solvers[] = {"single",
                                      "round_robin",
                                      "expert",
                                      "greedy_fill",
                                      "heft",
                                      "heft:cpop=true",
                                      "m_topo",
                                      "m_etf",
                                      "m_sct",
                                      "m_sct:lp_limit=3",
                                      "least_cuts",
                                      "metis",
                                      "metis:memory_aware=true",
                                      "scotch",
                                      "scotch:mode=map",
                                      "local_search:moves=3000,evaluations=300",
                                      "place_annealing:" QUICK,
                                      "place_annealing:start=random," QUICK,
                                      "portfolio:" QUICK};

static bool is_built_in(const char *solver)
{
    return (strncmp(solver, "metis", 5) != 0 || mer_partition_metis) &&
           (strncmp(solver, "scotch", 6) != 0 || mer_partition_scotch);
}

/* What was refused, if anything, is of a kind that a placement within the space can be refused for. */
static void assert_reasons(const MerTaskResult *result, const char *solver, const char *allowed)
{
    for (int r = 0; r < result->reason_count; r++) {
        if (!strstr(allowed, result->reasons[r].class_name)) {
            fail_msg("%s: %s", solver, result->reasons[r].nearest);
        }
    }
}

static void check_solvers(const char *evaluator, const char *allowed, int cases, uint64_t seed)
{
    MerRng rng = mer_rng_make(seed, 0);
    for (int i = 0; i < cases; i++) {
        Case which = random_case(&rng, 14);
        for (size_t s = 0; s < sizeof solvers / sizeof *solvers; s++) {
            if (is_built_in(solvers[s])) {
                MerTaskResult result = run_case(&which, evaluator, solvers[s], 1);
                assert_reasons(&result, solvers[s], allowed);
                assert_true(result.trials > 0 || strcmp(solvers[s], "least_cuts") == 0);
            }
        }
        mer_arena_reset(arena);
    }
}

static void test_solvers_stay_within_the_rules(void **state)
{
    (void)state;
    check_solvers("maxload", "memory", 40, 21);
}

static void test_solvers_stay_within_the_rules_of_calls(void **state)
{
    (void)state;
    check_solvers("calls", "memory calls", 15, 22);
}

/* Units with links, as the event simulator needs them. */
static Case cluster_case(MerRng *rng, int largest)
{
    Case which = random_case(rng, largest);
    which.platform = platform_named("two-gpu-box", arena);
    return which;
}

static void check_portfolio(const Case *which, const char *evaluator, bool needs_bound)
{
    MerTaskResult single = run_case(which, evaluator, "single", 1);
    MerTaskResult best = run_case(which, evaluator, "portfolio:" QUICK, 1);
    MerTaskResult again = run_case(which, evaluator, "portfolio:" QUICK, 3);
    assert_int_equal(best.trials, again.trials);
    assert_true(best.score == again.score || (isnan(best.score) && isnan(again.score)));
    if (single.point) {
        assert_non_null(best.point);
        assert_true(best.value <= single.value);
    }
    assert_true(!needs_bound || !isnan(best.bound.value) || !best.point);
    assert_true(!best.point || !(best.value < best.bound.value * (1 - 1e-9)));
}

static void test_portfolio_lies_between_bound_and_single(void **state)
{
    MerRng rng = mer_rng_make(31, 0);
    (void)state;
    for (int i = 0; i < 60; i++) {
        Case which = random_case(&rng, 14);
        check_portfolio(&which, i % 3 == 0 ? "maxload:transfer=max" : "maxload", true);
        check_portfolio(&which, "calls", true);
        mer_arena_reset(arena);
    }
}

static void test_portfolio_lies_between_bound_and_single_of_events(void **state)
{
    MerRng rng = mer_rng_make(32, 0);
    (void)state;
    for (int i = 0; i < 15; i++) {
        Case which = cluster_case(&rng, 14);
        check_portfolio(&which, "cluster", true);
        mer_arena_reset(arena);
    }
}

static double best_of_all(const OpenedPlace *opened, MerMetric metric)
{
    double      best = INFINITY;
    MerIndex   *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count + 1);
    MerArena   *scratch = mer_arena_new();
    OpenedPlace own = *opened;
    own.arena = scratch;
    do {
        MerCost cost = price_point(&own, point);
        best = cost.feasible ? fmin(best, cost.value[metric]) : best;
        mer_arena_reset(scratch);
    } while (mer_space_next(&opened->problem.space, point));
    mer_arena_free(scratch);
    return best;
}

static void check_optimum(const Case *which, const char *evaluator, MerMetric metric)
{
    static const char *const portfolios[] = {
        "portfolio:moves=200000,evaluations=8000,chains=4,rounds=3,points=0", "portfolio"};
    OpenedPlace *opened = open_case(which, evaluator);
    if (mer_space_log10_size(&opened->problem.space) > 3.7) {
        return;
    }
    double best = best_of_all(opened, metric);
    for (int all = 0; all < 2; all++) {
        MerTaskResult result = run_case(which, evaluator, portfolios[all], 1);
        assert_int_equal(result.point != NULL, best < INFINITY);
        if (result.point && fabs(result.value - best) > 1e-9 * best) {
            fail_msg("%s: found %.12g, the best of all is %.12g", evaluator, result.value, best);
        }
        assert_true(!result.point || all == 0 || result.is_proven);
    }
}

static void test_portfolio_finds_the_best_of_all_small_placements(void **state)
{
    MerRng rng = mer_rng_make(41, 0);
    (void)state;
    for (int i = 0; i < 60; i++) {
        Case which = random_case(&rng, 6);
        check_optimum(&which, "maxload", MER_METRIC_PERIOD);
        check_optimum(&which, "maxload:require_contiguous=true", MER_METRIC_PERIOD);
        check_optimum(&which, "calls", MER_METRIC_LATENCY);
        mer_arena_reset(arena);
    }
}

/* Of a chain on equal units one sample goes through one unit after the other, so that the least cuts are the best of all. */
static void test_least_cuts_of_chains_are_the_best_of_all(void **state)
{
    MerRng rng = mer_rng_make(42, 0);
    int    found = 0;
    (void)state;
    for (int i = 0; i < 200; i++) {
        RandomNodes nodes = new_nodes(2 + mer_rng_below(&rng, 5), false, arena);
        int         hosts = mer_rng_below(&rng, 2), accelerators = 1 + mer_rng_below(&rng, 3);
        describe_nodes(&nodes, hosts > 0, &rng);
        for (int n = 0; n < nodes.count; n++) {
            nodes.class_of[n] = -1;
            nodes.reads[n * nodes.count + (n > 0 ? n - 1 : 0)] = n > 0;
        }
        Case          which = {graph_of_nodes(&nodes, arena),
                               random_platform(accelerators, hosts, false,
                                               random_memory(&nodes, accelerators, &rng), &rng, arena)};
        double        best = best_of_all(open_case(&which, "calls"), MER_METRIC_LATENCY);
        MerTaskResult result = run_case(&which, "calls", "least_cuts", 1);
        assert_int_equal(result.point != NULL, best < INFINITY);
        if (result.point && fabs(result.value - best) > 1e-9 * best) {
            fail_msg("found %.12g, the best of all is %.12g", result.value, best);
        }
        found += result.point != NULL;
        mer_arena_reset(arena);
    }
    assert_true(found > 100);
}

/* A solver opened by hand, to be told what a run would tell it. */
typedef struct Opened {
    MerSearch    search;
    MerRng       rng;
    void        *state;
    MerIndex    *point;
    MerProposal  proposal;
    OpenedPlace *place;
} Opened;

static void open_solver(Opened *o, const Case *which, const char *optimizer)
{
    const MerOptimizerClass *type = mer_optimizer_find(name_in(optimizer, arena), NULL);
    const void *options = options_from(optimizer, type->options, type->options_size, arena);
    MerError    error = {0};
    o->place = open_case(which, "maxload");
    o->rng = mer_rng_make(1, 0);
    o->search = (MerSearch){.space = &o->place->problem.space,
                            .task_count = 1,
                            .objective = MER_METRIC_PERIOD,
                            .budget = 5000,
                            .rng = &o->rng,
                            .seed = 1,
                            .arena = arena};
    o->state = mer_arena_alloc(arena, type->state_size);
    o->proposal =
        (MerProposal){MER_ARRAY(arena, MerIndex, o->search.space->knob_count + 1), INFINITY, -1};
    if (type->open_problem(o->state, &o->search, &o->place->problem, &o->place->evaluator, options,
                           &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
}

static double told_period(const Opened *o)
{
    MerCost cost = price_point(o->place, o->proposal.point);
    return cost.feasible ? cost.value[MER_METRIC_PERIOD] : INFINITY;
}

/* Annealing goes on from what another run found: it never ends with something worse, and it does not ask for the split. */
static void test_annealing_starts_from_the_best_warm_trial(void **state)
{
    const MerOptimizerClass *type = mer_optimizer_find("place_annealing", NULL);
    MerRng                   rng = mer_rng_make(51, 0);
    (void)state;
    for (int i = 0; i < 20; i++) {
        Case   which = random_case(&rng, 14);
        Opened o, none;
        open_solver(&o, &which, "place_annealing:start=warm,moves=0");
        MerCost cost = price_point(o.place, o.proposal.point);
        if (!cost.feasible) {
            continue;
        }
        MerTrial trial = {0, o.proposal.point, &cost, cost.value[MER_METRIC_PERIOD], true};
        type->tell(o.state, &trial, 1);
        assert_int_equal(type->ask(o.state, &o.proposal, 1), 0); /* no moves: nothing better */
        open_solver(&o, &which, "place_annealing:start=warm," QUICK);
        type->tell(o.state, &trial, 1);
        while (type->ask(o.state, &o.proposal, 1) == 1) {
            assert_true(told_period(&o) < trial.score);
        }
        open_solver(&none, &which, "place_annealing:start=warm," QUICK); /* then from the split */
        assert_int_equal(type->ask(none.state, &none.proposal, 1), 1);
        mer_arena_reset(arena);
    }
}

/* Whenever it is stopped there is an answer, or nothing was asked for yet. */
static void test_portfolio_may_be_stopped_at_any_time(void **state)
{
    MerRng rng = mer_rng_make(61, 0);
    Case   which = random_case(&rng, 14);
    (void)state;
    for (int after = 0; after < 200; after += 7) {
        Countdown   countdown = {after};
        MerRunHooks hooks = {.state = &countdown, .is_cancelled = count_down};
        MerRunSpec  spec =
            spec_from("place", "maxload", "portfolio:" QUICK, which.graph, "two-gpu-box", arena);
        spec.platform = which.platform;
        spec.budget = 5000;
        spec.objective = "period";
        MerRunResult result;
        MerError     error = {0};
        if (mer_run(&spec, &hooks, arena, &result, &error) != MER_OK) {
            mer_test_contains(error.message, "interrupted before the search could begin");
            continue;
        }
        assert_true(result.tasks[0].trials == 0 || result.tasks[0].point ||
                    result.tasks[0].infeasible == result.tasks[0].trials);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads_after_moves_are_those_of_the_evaluator),
        cmocka_unit_test(test_loads_of_joined_parts_are_those_of_the_evaluator),
        cmocka_unit_test(test_levels_keep_a_placement),
        cmocka_unit_test(test_solvers_stay_within_the_rules),
        cmocka_unit_test(test_solvers_stay_within_the_rules_of_calls),
        cmocka_unit_test(test_portfolio_lies_between_bound_and_single),
        cmocka_unit_test(test_portfolio_lies_between_bound_and_single_of_events),
        cmocka_unit_test(test_portfolio_finds_the_best_of_all_small_placements),
        cmocka_unit_test(test_least_cuts_of_chains_are_the_best_of_all),
        cmocka_unit_test(test_annealing_starts_from_the_best_warm_trial),
        cmocka_unit_test(test_portfolio_may_be_stopped_at_any_time),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
