/* Classical rules on graphs small enough to know the answer, and the refusals of their solvers. */
#include "one_arena.h"
#include "place_random.h"

#include "place/solve/ideals.h"
#include "place/solve/partition_graph.h"
#include "place/solve/placements.h"

/* `count` nodes of 10 us and 10 bytes without edges; on a host ten times slower. */
static RandomNodes plain_nodes(int count)
{
    RandomNodes nodes = new_nodes(count, false, arena);
    for (int n = 0; n < count; n++) {
        nodes.unit_us[n] = 10;
        nodes.host_us[n] = 100;
        nodes.size[n] = 10;
        nodes.transfer_us[n] = 1;
        nodes.class_of[n] = -1;
    }
    return nodes;
}

static RandomNodes chain_nodes(int count)
{
    RandomNodes nodes = plain_nodes(count);
    for (int n = 1; n < count; n++) {
        nodes.reads[n * count + n - 1] = true;
    }
    return nodes;
}

/* Accelerators with `memory` bytes each and one host. */
static const MerPlace *open_nodes(const RandomNodes *nodes, int accelerators, double memory)
{
    MerRng rng = mer_rng_make(1, 0);
    return open_place_graph("place", "maxload", graph_of_nodes(nodes, arena),
                            random_platform(accelerators, 1, false, memory, &rng, arena), arena)
        ->place;
}

static void assert_units(const int *unit, const int *expected, int count)
{
    for (int i = 0; i < count; i++) {
        if (unit[i] != expected[i]) {
            fail_msg("group %d is on unit %d, expected %d", i, unit[i], expected[i]);
        }
    }
}

static void test_single_leaves_what_has_no_kernel_to_the_host(void **state)
{
    RandomNodes nodes = chain_nodes(3);
    int         unit[3];
    (void)state;
    nodes.unit_us[1] = INFINITY;
    const MerPlace *place = open_nodes(&nodes, 2, 100);
    mer_place_single(place, 1, unit);
    assert_units(unit, (int[]){1, 2, 1}, 3);
}

static void test_round_robin_counts_classes_and_accelerators(void **state)
{
    RandomNodes nodes = chain_nodes(6);
    int         unit[5];
    (void)state;
    nodes.class_of[1] = nodes.class_of[4] = 7; /* one group, at its first place */
    mer_place_round_robin(open_nodes(&nodes, 2, 100), unit);
    assert_units(unit, (int[]){0, 1, 0, 1, 0}, 5);
}

static void test_expert_cuts_by_time_not_by_number(void **state)
{
    RandomNodes nodes = chain_nodes(5);
    int         unit[5];
    (void)state;
    nodes.unit_us[4] = 40;
    mer_place_equal_parts(open_nodes(&nodes, 2, 100), unit);
    assert_units(unit, (int[]){0, 0, 0, 0, 1}, 5);
}

static void test_greedy_fill_fills_up_to_memory(void **state)
{
    RandomNodes nodes = chain_nodes(6);
    int         unit[6];
    (void)state;
    mer_place_greedy_fill(open_nodes(&nodes, 2, 25), unit);
    assert_units(unit, (int[]){0, 0, 1, 1, 2, 2}, 6);
}

/* 60 bytes over three units and the largest group: 30 each. */
static void test_m_topo_fills_up_to_a_share_of_all_bytes(void **state)
{
    RandomNodes nodes = chain_nodes(6);
    int         unit[6];
    (void)state;
    mer_place_m_topo(open_nodes(&nodes, 3, 1000), unit);
    assert_units(unit, (int[]){0, 0, 0, 1, 1, 1}, 6);
}

/* One node, two that read it, one that reads both. */
static RandomNodes diamond(double transfer_us)
{
    RandomNodes nodes = plain_nodes(4);
    nodes.reads[1 * 4 + 0] = nodes.reads[2 * 4 + 0] = true;
    nodes.reads[3 * 4 + 1] = nodes.reads[3 * 4 + 2] = true;
    for (int n = 0; n < 4; n++) {
        nodes.transfer_us[n] = transfer_us;
    }
    return nodes;
}

static void test_list_schedulers_spread_only_what_pays(void **state)
{
    RandomNodes near = diamond(1), far = diamond(100);
    int         unit[4];
    (void)state;
    const MerPlace *place = open_nodes(&near, 2, 1000);
    mer_place_heft(place, unit);
    assert_int_not_equal(unit[1], unit[2]);
    mer_place_earliest_start(place, NULL, unit);
    assert_int_not_equal(unit[1], unit[2]);
    place = open_nodes(&far, 2, 1000);
    mer_place_heft(place, unit);
    assert_units(unit, (int[]){0, 0, 0, 0}, 4);
    mer_place_earliest_start(place, NULL, unit);
    assert_units(unit, (int[]){0, 0, 0, 0}, 4);
    mer_place_cpop(place, unit);
    assert_units(unit, (int[]){0, 0, 0, 0}, 4);
}

/* 100 us of transfers are too much for 10 us of work, but both units together hold no more than two nodes each. */
static void test_list_schedulers_mind_memory(void **state)
{
    RandomNodes nodes = diamond(100);
    int         unit[4], counts[3] = {0};
    (void)state;
    const MerPlace *place = open_nodes(&nodes, 2, 25);
    for (int which = 0; which < 3; which++) {
        memset(counts, 0, sizeof counts);
        if (which == 0) {
            mer_place_heft(place, unit);
        } else if (which == 1) {
            mer_place_cpop(place, unit);
        } else {
            mer_place_earliest_start(place, NULL, unit);
        }
        for (int n = 0; n < 4; n++) {
            counts[unit[n]]++;
        }
        assert_true(counts[0] <= 2 && counts[1] <= 2);
    }
}

/* Unit 1 waits 30 us for the second reader of node 0: node 3 fits into that time, and would end later anywhere else. */
static void test_heft_uses_idle_times(void **state)
{
    RandomNodes nodes = plain_nodes(4);
    int         unit[4];
    (void)state;
    nodes.reads[1 * 4 + 0] = nodes.reads[2 * 4 + 0] = true;
    nodes.unit_us[1] = nodes.unit_us[2] = 100;
    nodes.unit_us[3] = 25;
    nodes.transfer_us[0] = 10; /* out of one unit and into the other */
    for (int n = 0; n < 4; n++) {
        nodes.host_us[n] = 10 * nodes.unit_us[n];
    }
    mer_place_heft(open_nodes(&nodes, 2, 1000), unit);
    assert_units(unit, (int[]){0, 0, 1, 1}, 4);
}

static void test_upward_ranks_are_the_longest_ways(void **state)
{
    RandomNodes nodes = diamond(0);
    double      rank[4];
    (void)state;
    nodes.unit_us[2] = 30;
    for (int n = 0; n < 4; n++) {
        nodes.host_us[n] = nodes.unit_us[n];
    }
    mer_place_upward_ranks(open_nodes(&nodes, 2, 1000), rank);
    assert_true(rank[3] == 10 && rank[1] == 20 && rank[2] == 40 && rank[0] == 50);
}

/* The child that the end waits for is the favourite; nobody has two favourites or two who favour it. */
static void test_favourite_children_lie_on_the_long_way(void **state)
{
    RandomNodes nodes = diamond(5);
    int         favourite[4];
    (void)state;
    nodes.unit_us[2] = 40;
    nodes.host_us[2] = 400;
    assert_true(mer_place_favourites(open_nodes(&nodes, 2, 1000), NULL, favourite));
    assert_int_equal(favourite[0], 2);
    assert_int_equal(favourite[2], 3);
    assert_int_equal(favourite[1], -1);
    assert_int_equal(favourite[3], -1);
}

/* The branches of a diamond stay with the fork; what both join comes after it and may be cut off. */
static void test_branches_are_one_component(void **state)
{
    RandomNodes   nodes = diamond(0);
    int           unit[4];
    MerPlaceRules rules = mer_place_split_rules(NULL);
    (void)state;
    assert_true(mer_place_bcc_split(open_nodes(&nodes, 2, 1000), &rules, NULL, unit));
    assert_int_equal(unit[1], unit[0]);
    assert_int_equal(unit[2], unit[0]);
    assert_int_not_equal(unit[3], unit[0]);
    assert_true(mer_place_bcc_split(open_nodes(&nodes, 2, 25), &rules, NULL, unit));
    assert_int_equal(unit[0], 2); /* too large for an accelerator: all of it on the host */
}

/* Three nodes do not fit; the cheaper of the two cuts is taken, and the host is too slow. */
static void test_least_cuts_cut_where_it_is_cheap(void **state)
{
    RandomNodes nodes = chain_nodes(4);
    int         unit[4], order[4] = {0, 1, 2, 3};
    (void)state;
    nodes.transfer_us[0] = 20;
    nodes.transfer_us[1] = 20;
    nodes.transfer_us[2] = 2;
    assert_true(mer_place_least_cuts(open_nodes(&nodes, 2, 35), order, NULL, unit));
    assert_units(unit, (int[]){0, 0, 0, 1}, 4);
}

/* Two stages on three units: the slow one in the middle stays idle. */
static void test_least_cuts_leave_slow_units_out(void **state)
{
    RandomNodes        nodes = chain_nodes(4);
    int                unit[4], order[4] = {0, 1, 2, 3};
    const MerPlatform *platform =
        platform_from("{format: mercator-platform/1, kind: cluster, name: uneven, "
                      "classes: {acc: {memory_bytes: 25}}, units: [{name: a, class: acc}, "
                      "{name: b, class: acc, speed: 0.1}, {name: c, class: acc}]}",
                      arena);
    (void)state;
    const MerPlace *place =
        open_place_graph("place", "maxload", graph_of_nodes(&nodes, arena), platform, arena)->place;
    assert_true(mer_place_least_cuts(place, order, NULL, unit));
    assert_units(unit, (int[]){0, 0, 2, 2}, 4);
}

static void test_depth_first_orders_go_forward(void **state)
{
    MerRng rng = mer_rng_make(3, 0);
    (void)state;
    for (int i = 0; i < 50; i++) {
        RandomNodes nodes = plain_nodes(12);
        int         order[12], at[12];
        link_nodes(&nodes, &rng);
        const MerPlace *place = open_nodes(&nodes, 2, 1000);
        mer_place_depth_first(place, i == 0 ? NULL : &rng, order);
        for (int g = 0; g < 12; g++) {
            at[order[g]] = g;
        }
        for (int o = 0; o < place->op_count; o++) {
            for (int e = place->after_start[o]; e < place->after_start[o + 1]; e++) {
                assert_true(at[place->group[o]] < at[place->group[place->after[e]]]);
            }
        }
    }
}

/* Two halves of equal time with one cheap edge between them. */
static void test_partitioners_cut_the_cheap_edge(void **state)
{
    RandomNodes nodes = chain_nodes(8);
    int         unit[8];
    (void)state;
    for (int n = 0; n < 8; n++) {
        nodes.transfer_us[n] = n == 3 ? 1 : 50;
    }
    const MerPlace *place = open_nodes(&nodes, 2, 1000);
    if (mer_partition_metis) {
        assert_true(mer_place_partition(place, mer_partition_metis, false, 1, unit));
        assert_true(unit[0] == unit[3] && unit[4] == unit[7] && unit[3] != unit[4]);
    }
    if (mer_partition_scotch) {
        assert_true(mer_place_partition(place, mer_partition_scotch, false, 1, unit));
        assert_true(unit[0] == unit[3] && unit[4] == unit[7] && unit[3] != unit[4]);
    }
}

static void test_solvers_refuse_fixed_knobs(void **state)
{
    RandomNodes        nodes = chain_nodes(3);
    MerRng             rng = mer_rng_make(1, 0);
    const MerFixedKnob fixed = {"unit.n1", 0, NULL};
    MerRunResult       result;
    (void)state;
    static const char *const names[] = {"single", "heft", "place_annealing", "local_search",
                                        "portfolio"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        MerError   error = {0};
        MerRunSpec spec = spec_from("place", "maxload", names[i], graph_of_nodes(&nodes, arena),
                                    "two-gpu-box", arena);
        spec.platform = random_platform(2, 1, false, 100, &rng, arena);
        spec.objective = "period";
        spec.budget = 10;
        spec.fixed = &fixed;
        spec.fixed_count = 1;
        assert_int_not_equal(mer_run(&spec, NULL, arena, &result, &error), MER_OK);
        mer_test_contains(error.message, "cannot work with fixed knobs");
    }
}

/* Loads and calls know no order and no kernels; the cluster does, which needs no links for one unit. */
static void test_decisions_without_effect_are_warned_of(void **state)
{
    static const struct {
        const char *problem, *evaluator;
        bool        is_warned;
    } cases[] = {{"place:decide=[place,order]", "maxload", true},
                 {"place:decide=[place,fuse]", "calls", true},
                 {"place:decide=[place,order,fuse]", "maxload", true},
                 {"place", "maxload", false},
                 {"place:decide=[place,order]", "cluster", false}};
    RandomNodes nodes = chain_nodes(3);
    MerRng      rng = mer_rng_make(1, 0);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const OpenedPlace *opened =
            open_place_graph(cases[i].problem, cases[i].evaluator, graph_of_nodes(&nodes, arena),
                             random_platform(1, 0, false, 100, &rng, arena), arena);
        const MerEvaluator *evaluator = &opened->evaluator;
        const char         *text = opened->problem.type->warnings(
                    &opened->problem, evaluator->type->rules(evaluator->state), MER_METRIC_PERIOD, arena);
        assert_int_equal(text != NULL, cases[i].is_warned);
        assert_true(text == NULL || strstr(text, "order and fusion matter to") != NULL);
        assert_true(text == NULL || strchr(text, '\n') == text + strlen(text) - 1); /* one line */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_leaves_what_has_no_kernel_to_the_host),
        cmocka_unit_test(test_round_robin_counts_classes_and_accelerators),
        cmocka_unit_test(test_expert_cuts_by_time_not_by_number),
        cmocka_unit_test(test_greedy_fill_fills_up_to_memory),
        cmocka_unit_test(test_m_topo_fills_up_to_a_share_of_all_bytes),
        cmocka_unit_test(test_list_schedulers_spread_only_what_pays),
        cmocka_unit_test(test_list_schedulers_mind_memory),
        cmocka_unit_test(test_heft_uses_idle_times),
        cmocka_unit_test(test_upward_ranks_are_the_longest_ways),
        cmocka_unit_test(test_favourite_children_lie_on_the_long_way),
        cmocka_unit_test(test_branches_are_one_component),
        cmocka_unit_test(test_least_cuts_cut_where_it_is_cheap),
        cmocka_unit_test(test_least_cuts_leave_slow_units_out),
        cmocka_unit_test(test_depth_first_orders_go_forward),
        cmocka_unit_test(test_partitioners_cut_the_cheap_edge),
        cmocka_unit_test(test_solvers_refuse_fixed_knobs),
        cmocka_unit_test(test_decisions_without_effect_are_warned_of),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
