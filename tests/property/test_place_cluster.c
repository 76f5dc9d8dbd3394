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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulation_agrees_with_the_plain_rules),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
