/* Evaluator `cluster` against the plain form of its rules, and what must hold of every run. */
#include "place_cluster_random.h"
#include "place_reference.h"

#include "one_arena.h"

static const char *const models[] = {"pair", "bus", "path", "both_ends"};

/* Bytes that only running operators hold, which no profile has. */
static void add_workspace(OpenedPlace *opened, MerRng *rng)
{
    double *bytes = (double *)opened->place->workspace_bytes;
    for (int o = 0; o < opened->place->op_count; o++) {
        bytes[o] = mer_rng_below(rng, 3) == 0 ? mer_rng_below(rng, 200000) : 0;
    }
}

static OpenedPlace *open_random(int index, bool fuses, MerRng *rng)
{
    int   ops = 5 + mer_rng_below(rng, 40);
    char *evaluator = mer_arena_format(
        arena, "cluster:link_model=%s,overlap=%s,segment_bytes=20000,max_segments=3",
        models[index % 4], index / 4 % 2 ? "false" : "true");
    OpenedPlace *opened = open_place(random_graph(ops, index / 8 % 2, rng, arena),
                                     mixed_platform(index / 16 % 2, arena),
                                     fuses ? "place,order,fuse" : "place", evaluator, arena);
    add_workspace(opened, rng);
    return opened;
}

static void compare(const OpenedPlace *opened, const MerPlan *plan, int index)
{
    const MerCluster   *cluster = opened->evaluator.state;
    const MerGraphPlan *graph = mer_graph_plan(plan);
    MerArena           *scratch = mer_arena_new();
    double             *peak = MER_ARRAY(scratch, double, opened->place->unit_count);
    MerKernels          kernels;
    MerClusterOutcome   outcome;
    MerCost             cost;
    mer_cost_clear(&cost);
    if (!mer_cluster_kernels(cluster, graph, scratch, &kernels, &cost)) {
        fail_msg("%s", cost.reason);
    }
    mer_cluster_run(cluster, graph, &kernels, INFINITY, scratch, NULL, &outcome);
    assert_int_equal(outcome.end, MER_CLUSTER_DONE);
    double expected = reference_cluster(cluster, graph, &kernels, peak, scratch);
    if (outcome.makespan_us != expected) {
        fail_msg("case %d: makespan %.17g, expected %.17g", index, outcome.makespan_us, expected);
    }
    for (int u = 0; u < opened->place->unit_count; u++) {
        if (outcome.peak[u] != peak[u]) {
            fail_msg("case %d: peak of unit %d is %.0f, expected %.0f", index, u, outcome.peak[u],
                     peak[u]);
        }
    }
    mer_arena_free(scratch);
}

static void test_simulation_agrees_with_the_plain_rules(void **state)
{
    MerRng rng = mer_rng_make(1, 0);
    (void)state;
    for (int index = 0; index < 640; index++) {
        OpenedPlace *opened = open_random(index, false, &rng);
        for (int p = 0; p < 3; p++) {
            MerPlan plan = random_plan(opened, p > 0, &rng, arena);
            compare(opened, &plan, index);
        }
        close_place(opened);
    }
}

/* Units and priorities of a plan, and clusters from random levels. */
static MerPlan random_fused(const OpenedPlace *opened, MerRng *rng)
{
    MerIndex *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count);
    MerPlan   plan;
    mer_space_sample(&opened->problem.space, rng, point);
    if (mer_rng_below(rng, 2) == 0) { /* few units: more to fuse */
        for (int g = 0; g < opened->place->group_count; g++) {
            point[g] = point[g] > 0;
        }
    }
    opened->problem.type->decode(&opened->problem, point, &plan, arena);
    return plan;
}

static void test_simulation_of_fused_kernels_agrees_too(void **state)
{
    MerRng rng = mer_rng_make(2, 0);
    (void)state;
    for (int index = 0; index < 320; index++) {
        OpenedPlace *opened = open_random(index, true, &rng);
        for (int p = 0; p < 3; p++) {
            MerPlan plan = random_fused(opened, &rng);
            compare(opened, &plan, index);
        }
        close_place(opened);
    }
}

static OpenedPlace *open_equal(int ops, bool has_ties, const char *decide, const char *evaluator,
                               MerRng *rng)
{
    OpenedPlace *opened = open_place(random_graph(ops, has_ties, rng, arena),
                                     equal_platform(1e9, arena), decide, evaluator, arena);
    add_workspace(opened, rng);
    return opened;
}

static void test_fast_loop_gives_the_bits_of_the_full_one(void **state)
{
    MerRng rng = mer_rng_make(3, 0);
    (void)state;
    for (int index = 0; index < 300; index++) {
        OpenedPlace *opened = open_equal(5 + index % 60, index % 2, "place", "cluster", &rng);
        MerCluster  *cluster = opened->evaluator.state;
        mer_cluster_prepare_plain(cluster, arena);
        assert_non_null(cluster->plain_ops);
        MerPlan             plan = random_plan(opened, false, &rng, arena);
        const MerGraphPlan *graph = mer_graph_plan(&plan);
        MerKernels          kernels = {.count = graph->op_count};
        MerClusterOutcome   full, fast;
        compare(opened, &plan, index);
        mer_cluster_run(cluster, graph, &kernels, INFINITY, arena, NULL, &full);
        mer_cluster_run_plain(cluster, graph, INFINITY, arena, &fast);
        assert_int_equal(fast.end, MER_CLUSTER_DONE);
        assert_true(fast.makespan_us == full.makespan_us && fast.busy_us == full.busy_us);
        assert_memory_equal(fast.peak, full.peak, 4 * sizeof(double));
        close_place(opened);
    }
}

/* The longest path with every operator as fast as it can be. */
static double critical_path(const MerPlace *place)
{
    double *end = MER_ARRAY(arena, double, place->op_count), most = 0;
    for (int o = 0; o < place->op_count; o++) {
        double start = 0, least = INFINITY;
        for (int u = 0; u < place->unit_count; u++) {
            least = fmin(least, place->time_us[o * place->unit_count + u]);
        }
        for (int i = place->before_start[o]; i < place->before_start[o + 1]; i++) {
            start = fmax(start, end[place->before[i]]);
        }
        end[o] = start + least;
        most = fmax(most, end[o]);
    }
    return most;
}

static void test_makespan_is_never_below_the_longest_path_or_the_work_per_unit(void **state)
{
    MerRng rng = mer_rng_make(4, 0);
    (void)state;
    for (int index = 0; index < 200; index++) {
        OpenedPlace *opened = open_equal(20 + index, false, "place", "cluster", &rng);
        double       work = 0, path = critical_path(opened->place);
        for (int o = 0; o < opened->place->op_count; o++) {
            work += opened->place->time_us[4 * o];
        }
        MerPlan plan = random_plan(opened, index % 2, &rng, arena);
        double  found = 1e6 * price_place(opened, &plan).value[MER_METRIC_MAKESPAN];
        assert_true(found >= path * (1 - 1e-12) && found >= work / 4 * (1 - 1e-12));
        close_place(opened);
    }
}

static void test_one_unit_takes_the_sum_of_times_and_gaps(void **state)
{
    MerRng rng = mer_rng_make(5, 0);
    (void)state;
    for (int index = 0; index < 50; index++) {
        OpenedPlace *opened = open_equal(30, false, "place", "cluster", &rng);
        double       sum = 0, *times = (double *)opened->place->time_us;
        for (int i = 0; i < 4 * 30; i++) {
            times[i] += 1; /* nothing is free */
        }
        for (int o = 0; o < 30; o++) {
            sum += times[4 * o];
        }
        MerPlan plan = plan_on(opened, 2, arena);
        MerCost cost = price_place(opened, &plan);
        double  found = 1e6 * cost.value[MER_METRIC_MAKESPAN];
        assert_true(fabs(found - (sum + 29 * 5)) < 1e-9 * sum);
        assert_true(fabs(cost.value[MER_METRIC_UTILISATION] - sum / found / 4) < 1e-9);
        close_place(opened);
    }
}

static bool costs_are_equal(const MerCost *a, const MerCost *b)
{
    return a->value[MER_METRIC_MAKESPAN] == b->value[MER_METRIC_MAKESPAN] &&
           a->value[MER_METRIC_LATENCY] == a->value[MER_METRIC_MAKESPAN] &&
           a->value[MER_METRIC_PEAK_BYTES] == b->value[MER_METRIC_PEAK_BYTES] &&
           a->value[MER_METRIC_UTILISATION] == b->value[MER_METRIC_UTILISATION] &&
           a->feasible == b->feasible;
}

static void test_equal_priorities_are_first_come_first_served(void **state)
{
    MerRng rng = mer_rng_make(6, 0);
    (void)state;
    for (int index = 0; index < 100; index++) {
        OpenedPlace *opened = open_random(index, true, &rng);
        MerPlan      plan = random_plan(opened, false, &rng, arena);
        MerCost      without = price_place(opened, &plan);
        int         *priority = MER_ARRAY(arena, int, opened->place->op_count);
        for (int o = 0; o < opened->place->op_count; o++) {
            priority[o] = 7;
        }
        mer_graph_plan(&plan)->priority = priority;
        MerCost with = price_place(opened, &plan);
        assert_true(costs_are_equal(&with, &without));
        close_place(opened);
    }
}

/* Numbers of units decide nothing: a run may look equal placements up, whatever their units are called. */
static void test_like_units_may_change_places(void **state)
{
    MerRng rng = mer_rng_make(7, 0);
    (void)state;
    for (int index = 0; index < 200; index++) {
        char *evaluator =
            mer_arena_format(arena, "cluster:link_model=%s,overlap=%s,segment_bytes=10000",
                             models[index % 4], index / 4 % 2 ? "false" : "true");
        OpenedPlace  *opened = open_equal(40, true, "place,order", evaluator, &rng);
        MerPlan       plan = random_plan(opened, index % 3 == 0, &rng, arena);
        MerGraphPlan *graph = mer_graph_plan(&plan);
        MerCost       before = price_place(opened, &plan);
        int           order[4] = {0, 1, 2, 3};
        mer_rng_shuffle(&rng, order, 4);
        for (int o = 0; o < graph->op_count; o++) {
            graph->unit[o] = order[graph->unit[o]];
        }
        MerCost after = price_place(opened, &plan);
        assert_true(costs_are_equal(&before, &after));
        close_place(opened);
    }
}

/* With a fixed order of starts: in a chain there is only one. (Under greedy queues a faster link may end later.) */
static void test_chains_are_never_slower_with_more_bandwidth(void **state)
{
    MerRng rng = mer_rng_make(8, 0);
    (void)state;
    for (int index = 0; index < 50; index++) {
        MerGraph *graph = chain_graph(30, &rng, arena);
        double    before = INFINITY;
        MerIndex  units[30];
        for (int o = 0; o < 30; o++) {
            units[o] = mer_rng_below(&rng, 4);
        }
        for (double rate = 1e8; rate < 1e11; rate *= 3) {
            OpenedPlace *opened =
                open_place(graph, equal_platform(rate, arena), "place", "cluster", arena);
            MerPlan plan;
            opened->problem.type->decode(&opened->problem, units, &plan, arena);
            double found = price_place(opened, &plan).value[MER_METRIC_MAKESPAN];
            assert_true(found <= before * (1 + 1e-12));
            before = found;
            close_place(opened);
        }
    }
}

static void test_a_limit_cuts_what_passes_it_and_nothing_else(void **state)
{
    MerRng rng = mer_rng_make(9, 0);
    int    cuts = 0;
    (void)state;
    for (int index = 0; index < 300; index++) {
        const char  *decide = index % 3 == 2 ? "place,order,fuse" : "place,order";
        OpenedPlace *opened = open_equal(40, false, decide, "cluster", &rng);
        MerPlan      plan = index % 3 == 2 ? random_fused(opened, &rng)
                                           : random_plan(opened, index % 3 == 1, &rng, arena);
        MerCost      full = price_place(opened, &plan), cost;
        double       makespan = full.value[MER_METRIC_MAKESPAN];
        MerCall      call = {.scratch = opened->scratch,
                             .limit_metric = MER_METRIC_MAKESPAN,
                             .limit = makespan * (0.5 + 0.1 * (index % 11))};
        if (index % 11 == 5) {
            call.limit = makespan;
        }
        opened->evaluator.type->evaluate(opened->evaluator.state, &plan, &call, &cost);
        if (cost.cut) {
            assert_true(makespan > call.limit && cost.value[MER_METRIC_MAKESPAN] > call.limit &&
                        cost.value[MER_METRIC_MAKESPAN] <= makespan);
            cuts++;
        } else {
            assert_true(costs_are_equal(&cost, &full));
        }
        mer_arena_reset(opened->scratch);
        close_place(opened);
    }
    assert_true(cuts > 100);
}

/* Ends of clusters as a graph: taking away those that wait for nobody empties it. */
static bool is_acyclic(const MerPlace *place, const int *cluster)
{
    int *waiting = MER_ARRAY(arena, int, place->op_count), left = place->op_count;
    for (int o = 0; o < place->op_count; o++) {
        for (int i = place->before_start[o]; i < place->before_start[o + 1]; i++) {
            waiting[cluster[o]] += cluster[place->before[i]] != cluster[o];
        }
    }
    bool *is_gone = MER_ARRAY(arena, bool, place->op_count), moves = true;
    while (moves) {
        moves = false;
        for (int k = 0; k < place->op_count; k++) {
            if (is_gone[k] || cluster[k] != k || waiting[k] > 0) {
                continue;
            }
            is_gone[k] = moves = true;
            for (int o = 0; o < place->op_count; o++) {
                left -= cluster[o] == k;
                for (int i = place->after_start[o];
                     i < place->after_start[o + 1] && cluster[o] == k; i++) {
                    waiting[cluster[place->after[i]]] -= cluster[place->after[i]] != k;
                }
            }
        }
    }
    return left == 0;
}

static void check_clusters(const OpenedPlace *opened, const MerGraphPlan *plan)
{
    const MerPlace *place = opened->place;
    int            *roots = MER_ARRAY(arena, int, place->op_count);
    int            *sizes = MER_ARRAY(arena, int, place->op_count);
    for (int o = 0; o < place->op_count; o++) {
        int first = plan->cluster[o];
        assert_true(first <= o && plan->cluster[first] == first);
        assert_int_equal(plan->unit[o], plan->unit[first]);
        roots[first] += mer_fuse_is_root(mer_fuse_role(place, o));
        sizes[first]++;
        assert_true(roots[first] <= 1 && sizes[first] <= MER_FUSE_MOST);
        assert_true(sizes[first] == 1 || mer_fuse_role(place, o) != MER_FUSE_NEVER);
    }
    assert_true(is_acyclic(place, plan->cluster));
}

static void test_fusion_never_breaks_acyclicity_and_never_costs_more(void **state)
{
    MerRng rng = mer_rng_make(10, 0);
    int    fused = 0;
    (void)state;
    for (int index = 0; index < 100; index++) {
        MerArena    *kept = arena;
        OpenedPlace *opened = open_random(index, true, &rng);
        for (int p = 0; p < 100; p++) { /* 10,000 points in all */
            arena = mer_arena_new();
            MerPlan             plan = random_fused(opened, &rng);
            const MerGraphPlan *graph = mer_graph_plan(&plan);
            MerKernels          kernels;
            MerCost             cost;
            check_clusters(opened, graph);
            assert_true(
                mer_cluster_kernels(opened->evaluator.state, graph, arena, &kernels, &cost));
            double *sum = MER_ARRAY(arena, double, graph->op_count);
            for (int o = 0; o < graph->op_count; o++) {
                sum[graph->cluster[o]] +=
                    opened->place->time_us[o * opened->place->unit_count + graph->unit[o]];
            }
            for (int k = 0; k < graph->op_count; k++) {
                assert_true(kernels.time_us[k] <= sum[k] * (1 + 1e-12));
                fused += kernels.start[k + 1] - kernels.start[k] > 1;
            }
            mer_arena_free(arena);
            arena = kept;
        }
        close_place(opened);
    }
    assert_true(fused > 10000);
}

/* A fused plan is never below the bound of its rules. */
static void test_bounds_hold_for_random_plans(void **state)
{
    MerRng rng = mer_rng_make(11, 0);
    (void)state;
    for (int index = 0; index < 200; index++) {
        const char  *decide = index % 2 ? "place,order,fuse" : "place,order";
        OpenedPlace *opened = open_equal(30, index % 4 > 1, decide, "cluster", &rng);
        MerBound     bound;
        opened->problem.type->bound(&opened->problem,
                                    opened->evaluator.type->rules(opened->evaluator.state),
                                    MER_METRIC_MAKESPAN, &bound);
        assert_true(bound.value >= 0);
        for (int p = 0; p < 10; p++) {
            MerPlan plan =
                index % 2 ? random_fused(opened, &rng) : random_plan(opened, true, &rng, arena);
            assert_true(price_place(opened, &plan).value[MER_METRIC_MAKESPAN] >= bound.value);
        }
        close_place(opened);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulation_agrees_with_the_plain_rules),
        cmocka_unit_test(test_simulation_of_fused_kernels_agrees_too),
        cmocka_unit_test(test_fast_loop_gives_the_bits_of_the_full_one),
        cmocka_unit_test(test_makespan_is_never_below_the_longest_path_or_the_work_per_unit),
        cmocka_unit_test(test_one_unit_takes_the_sum_of_times_and_gaps),
        cmocka_unit_test(test_equal_priorities_are_first_come_first_served),
        cmocka_unit_test(test_like_units_may_change_places),
        cmocka_unit_test(test_chains_are_never_slower_with_more_bandwidth),
        cmocka_unit_test(test_a_limit_cuts_what_passes_it_and_nothing_else),
        cmocka_unit_test(test_fusion_never_breaks_acyclicity_and_never_costs_more),
        cmocka_unit_test(test_bounds_hold_for_random_plans),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
