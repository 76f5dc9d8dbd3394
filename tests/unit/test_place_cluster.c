/* The rules of evaluator `cluster` on runs that can be worked out by hand. */
#include "place_tiny.h"

#include "base/note_list.h"
#include "one_arena.h"
#include "place/cost/cluster.h"

/* Three units in a row; 1 us per 1000 bytes on the first link, 2 us on the second. */
#define ROW                                                                                        \
    "units: [{name: u, count: 3, memory_bytes: 1M}], links: [{from: u0, to: u1, bytes_per_s: 1G, " \
    "latency_us: 3}, {from: u1, to: u2, bytes_per_s: 500M, latency_us: 4}]"
#define MESH "units: [{name: u, count: 3}], links: [{from: \"u*\", to: \"u*\", bytes_per_s: 1G}]"

static double makespan_us(const TinyOp *ops, int count, const char *machine, const char *evaluator,
                          const char *units, const char *priorities)
{
    OpenedPlace *opened = open_place(tiny_graph(ops, count, arena), tiny_platform(machine, arena),
                                     "place,order", evaluator, arena);
    MerPlan      plan = tiny_plan(opened, units, arena);
    mer_graph_plan(&plan)->priority = priorities ? tiny_numbers(priorities, arena) : NULL;
    MerCost cost = price_place(opened, &plan);
    if (!cost.feasible) {
        fail_msg("%s", cost.reason);
    }
    close_place(opened);
    return 1e6 * cost.value[MER_METRIC_MAKESPAN];
}

static const TinyOp pair[] = {{.us = 10, .bytes = 5000}, {.us = 20, .inputs = {1}}};

static void test_two_operators_on_two_units_take_both_and_the_transfer(void **state)
{
    (void)state;
    expect_near(makespan_us(pair, 2, ROW, "cluster", "01", NULL), 10 + (3 + 5) + 20);
    expect_near(makespan_us(pair, 2, ROW, "cluster", "00", NULL), 30);
}

static void test_routes_of_two_links_cut_through_or_store(void **state)
{
    (void)state;
    expect_near(makespan_us(pair, 2, ROW, "cluster", "02", NULL), 10 + (3 + 4 + 10) + 20);
    expect_near(makespan_us(pair, 2, ROW ", routes: store_and_forward", "cluster", "02", NULL),
                10 + (3 + 5) + (4 + 10) + 20);
}

static void test_path_goes_over_links_in_parts_that_overlap(void **state)
{
    static const char equal[] =
        "units: [{name: u, count: 3}], links: [{from: u0, to: u1, bytes_per_s: 1G}, {from: u1, "
        "to: u2, bytes_per_s: 1G}]";
    (void)state;
    /* five parts of 1 us: the first arrives after 2 us, and one more every 1 us */
    expect_near(
        makespan_us(pair, 2, equal, "cluster:link_model=path,segment_bytes=1000", "02", NULL),
        10 + 6 + 20);
    /* at most two parts of 2.5 us */
    expect_near(makespan_us(pair, 2, equal,
                            "cluster:link_model=path,segment_bytes=1000,max_segments=2", "02",
                            NULL),
                10 + 7.5 + 20);
}

/* a is read twice on unit 1 and once on unit 2. */
static const TinyOp fan[] = {{.us = 10, .bytes = 5000},
                             {.us = 20, .inputs = {1}},
                             {.us = 20, .inputs = {1}},
                             {.us = 20, .inputs = {1}}};

static void test_a_result_goes_once_to_each_unit(void **state)
{
    (void)state;
    expect_near(makespan_us(fan, 4, MESH, "cluster", "0111", NULL), 10 + 5 + 60);
    expect_near(makespan_us(fan, 4, MESH, "cluster", "0112", NULL), 10 + 5 + 40);
}

static void test_link_models_share_what_they_say(void **state)
{
    static const char slow[] = "units: [{name: u, count: 3}], links: [{from: \"u*\", to: \"u*\", "
                               "bytes_per_s: 1G, bus: all, gap_us: 2}]";
    (void)state;
    /* one bus for all links: the second transfer waits for the first and the gap */
    expect_near(makespan_us(fan, 4, slow, "cluster", "0122", NULL), 10 + 5 + 2 + 5 + 40);
    /* one broadcast */
    expect_near(makespan_us(fan, 4, slow, "cluster:link_model=bus", "0122", NULL), 10 + 5 + 40);
    /* the line of the sender is one */
    expect_near(makespan_us(fan, 4, MESH, "cluster:link_model=both_ends", "0122", NULL),
                10 + 5 + 5 + 40);
    expect_near(makespan_us(fan, 4, MESH, "cluster", "0122", NULL), 10 + 5 + 40);
}

static void test_both_ends_also_keep_the_receiver(void **state)
{
    static const TinyOp join[] = {
        {.us = 10, .bytes = 5000}, {.us = 10, .bytes = 5000}, {.us = 20, .inputs = {1, 2}}};
    (void)state;
    expect_near(makespan_us(join, 3, MESH, "cluster", "012", NULL), 10 + 5 + 20);
    expect_near(makespan_us(join, 3, MESH, "cluster:link_model=both_ends", "012", NULL),
                10 + 5 + 5 + 20);
}

static void test_half_duplex_is_one_queue(void **state)
{
    static const TinyOp cross[] = {{.us = 10, .bytes = 5000},
                                   {.us = 10, .bytes = 5000},
                                   {.us = 20, .inputs = {2}},
                                   {.us = 20, .inputs = {1}}};
    static const char   half[] = "units: [{name: u, count: 2}], links: [{from: u0, to: u1, "
                                 "bytes_per_s: 1G, duplex: half}]";
    static const char   full[] =
        "units: [{name: u, count: 2}], links: [{from: u0, to: u1, bytes_per_s: 1G}]";
    (void)state;
    expect_near(makespan_us(cross, 4, full, "cluster", "0101", NULL), 10 + 5 + 20);
    expect_near(makespan_us(cross, 4, half, "cluster", "0101", NULL), 10 + 5 + 5 + 20);
}

/* a goes to unit 1 while its own unit has b to do. */
static void test_without_overlap_a_unit_sends_before_it_goes_on(void **state)
{
    static const TinyOp ops[] = {
        {.us = 10, .bytes = 5000}, {.us = 30, .inputs = {1}}, {.us = 20, .inputs = {1}}};
    (void)state;
    expect_near(makespan_us(ops, 3, MESH, "cluster", "001", NULL), 10 + 30);
    expect_near(makespan_us(ops, 3, MESH, "cluster:overlap=false", "001", NULL), 10 + 5 + 30);
}

static void test_streams_run_side_by_side_and_gaps_between(void **state)
{
    static const TinyOp three[] = {{.us = 10}, {.us = 10}, {.us = 10}};
    (void)state;
    expect_near(makespan_us(three, 3, "classes: {c: {gap_us: 4}}, units: [{name: u, class: c}]",
                            "cluster", "000", NULL),
                38);
    expect_near(makespan_us(three, 3,
                            "classes: {c: {streams: 2, gap_us: 4}}, units: [{name: u, class: c}]",
                            "cluster", "000", NULL),
                24);
}

/* b and c become ready together; d waits for c. */
static void test_priorities_come_before_first_come(void **state)
{
    static const TinyOp ops[] = {{.us = 10},
                                 {.us = 30, .inputs = {1}},
                                 {.us = 10, .bytes = 1000, .inputs = {1}},
                                 {.us = 40, .inputs = {3}}};
    (void)state;
    expect_near(makespan_us(ops, 4, MESH, "cluster", "0001", NULL), 10 + 30 + 10 + 1 + 40);
    expect_near(makespan_us(ops, 4, MESH, "cluster", "0001", "0010"), 10 + 10 + 1 + 40);
}

/* Transfers have the priority of what they carry: on the link the result of c overtakes that of b. */
static void test_transfers_carry_the_priority_of_their_operator(void **state)
{
    static const TinyOp ops[] = {{.us = 1, .bytes = 20000}, {.us = 1, .bytes = 20000},
                                 {.us = 1, .bytes = 5000},  {.us = 1, .inputs = {1}},
                                 {.us = 1, .inputs = {2}},  {.us = 50, .inputs = {3}}};
    static const char   two[] =
        "units: [{name: u, count: 2}], links: [{from: u0, to: u1, bytes_per_s: 1G}]";
    (void)state;
    expect_near(makespan_us(ops, 6, two, "cluster", "000111", NULL), 1 + 20 + 20 + 5 + 50);
    expect_near(makespan_us(ops, 6, two, "cluster", "000111", "210000"), 1 + 20 + 20 + 5 + 50);
    /* a runs, then c, then b; while a's result is on the link, the others queue up; e comes last */
    expect_near(makespan_us(ops, 6, two, "cluster", "000111", "302000"), 1 + 20 + 5 + 50 + 1);
}

static void test_memory_counts_weights_results_copies_and_workspace(void **state)
{
    static const TinyOp ops[] = {{.us = 10, .bytes = 500, .size = 100},
                                 {.us = 10, .bytes = 300, .inputs = {1}, .size = 20},
                                 {.us = 10, .bytes = 200, .inputs = {2}, .size = 3},
                                 {.us = 10, .bytes = 50, .inputs = {2}, .size = 4}};
    (void)state;
    OpenedPlace *opened = open_place(tiny_graph(ops, 4, arena), tiny_platform(MESH, arena), "place",
                                     "cluster", arena);
    ((double *)opened->place->workspace_bytes)[2] = 1000;
    mer_cluster_prepare_plain(opened->evaluator.state, arena);
    MerPlan one = tiny_plan(opened, "0000", arena), two = tiny_plan(opened, "0011", arena);
    /* c runs: weights, b's result, its own result and workspace; a's result went with b */
    expect_near(price_place(opened, &one).value[MER_METRIC_PEAK_BYTES], 127 + 300 + 200 + 1000);
    MerClusterRecord  record = {.arena = arena};
    MerClusterOutcome outcome;
    assert_true(mer_cluster_play(opened->evaluator.state, &two, &record, &outcome));
    expect_near(outcome.peak[0], 120 + 500 + 300);      /* b runs */
    expect_near(outcome.peak[1], 7 + 300 + 200 + 1000); /* the copy of b's result, c runs */
    expect_near(outcome.peak[2], 0);
    assert_int_equal(outcome.peak_op[0], 1);
    assert_int_equal(outcome.peak_op[1], 2);
    close_place(opened);
}

static void test_too_much_memory_is_refused_with_unit_bytes_and_operator(void **state)
{
    static const TinyOp ops[] = {{.us = 10, .bytes = 3e9, .size = 4e9},
                                 {.us = 10, .bytes = 2e9, .inputs = {1}, .size = 1e9}};
    static const char   box[] = "units: [{name: gpu, count: 2, memory_bytes: 8G}], links: [{from: "
                                "gpu0, to: gpu1, bytes_per_s: 1G}]";
    (void)state;
    OpenedPlace *opened =
        open_place(tiny_graph(ops, 2, arena), tiny_platform(box, arena), "place", "cluster", arena);
    MerPlan plan = tiny_plan(opened, "00", arena);
    MerCost cost = price_place(opened, &plan);
    assert_false(cost.feasible);
    assert_true(isnan(cost.value[MER_METRIC_MAKESPAN]));
    assert_string_equal(cost.reason, "memory: gpu0 needs 9.3 GiB, has 7.5 GiB (op b)");
    expect_near(mer_reason_excess(cost.reason), 9.3 / 7.5);
    close_place(opened);
    opened = open_place(tiny_graph(ops, 2, arena), tiny_platform(box, arena), "place",
                        "cluster:price_infeasible=true", arena);
    cost = price_place(opened, &plan);
    assert_false(cost.feasible);
    expect_near(cost.value[MER_METRIC_MAKESPAN], 20e-6);
    close_place(opened);
    opened = open_place(tiny_graph(ops, 2, arena), tiny_platform(box, arena), "place",
                        "cluster:limits=false", arena);
    assert_true(price_place(opened, &plan).feasible);
    close_place(opened);
}

static void test_small_excess_is_told_in_bytes(void **state)
{
    static const TinyOp ops[] = {{.us = 10, .size = 1000001}};
    (void)state;
    OpenedPlace *opened =
        open_place(tiny_graph(ops, 1, arena), tiny_platform(ROW, arena), "place", "cluster", arena);
    MerPlan plan = tiny_plan(opened, "1", arena);
    assert_string_equal(price_place(opened, &plan).reason,
                        "memory: u1 needs 1000001 bytes, has 1000000 (weights)");
    close_place(opened);
}

static void test_what_cannot_run_has_a_reason(void **state)
{
    static const char apart[] = "units: [{name: u, count: 3}], links: [{from: u0, to: u1}]";
    (void)state;
    OpenedPlace *opened = open_place(tiny_graph(pair, 2, arena), tiny_platform(apart, arena),
                                     "place", "cluster", arena);
    MerPlan      plan = tiny_plan(opened, "02", arena);
    assert_string_equal(price_place(opened, &plan).reason,
                        "unsupported: no links lead the result of a to u2");
    ((double *)opened->place->time_us)[1] = INFINITY;
    plan = tiny_plan(opened, "11", arena);
    mer_test_contains(price_place(opened, &plan).reason, "unsupported: operator a");
    ((int *)opened->place->group)[1] = 0;
    ((int *)((MerCluster *)opened->evaluator.state)->leader)[1] = 0;
    plan = tiny_plan(opened, "01", arena);
    mer_test_contains(price_place(opened, &plan).reason, "colocation: ");
    close_place(opened);
}

static void expect_open_error(const char *machine, const char *decide, const char *evaluator,
                              const char *part)
{
    OpenedPlace opened;
    MerError    error = {0};
    assert_int_not_equal(try_open_place(tiny_graph(pair, 2, arena), tiny_platform(machine, arena),
                                        decide, evaluator, arena, &opened, &error),
                         MER_OK);
    mer_test_contains(error.message, part);
}

static void test_a_platform_without_links_is_refused_with_a_hint(void **state)
{
    (void)state;
    expect_open_error("units: [{name: u, count: 2}]", "place", "cluster",
                      "expected links: [{from:");
    expect_open_error(MESH, "place,order", "cluster:preset=placeto", "expected decide=place");
}

/* A file of our own: a on acc0 goes to two operators on acc1, which n3 on acc0 waits for (see the comments of the numbers). */
static void test_placeto_by_hand(void **state)
{
    static const struct {
        const char *evaluator;
        double      makespan_us, peak[2];
    } cases[] = {
        /* n1 0..10, sent until 11; n10 11..41 before n2 46.7..66.7; n10 sent until 43, and n2 from 68, when the bus has rested,
         * until 68.5; n3 until 73.5; the bus rests until 93.5 */
        {"cluster:preset=placeto,limits=false", 93.5, {7600, 19000}},
        /* n2 11..31 before n10 36.7..66.7; n10 sent until 68.7 */
        {"cluster:preset=placeto,limits=false,tie_order=numeric", 93.7, {7600, 19000}}};
    (void)state;
    for (int c = 0; c < 2; c++) {
        OpenedPlace *opened = open_place(graph_named(TEST_DATA("place/own-ties.json"), arena), NULL,
                                         "place", cases[c].evaluator, arena);
        MerPlan      plan = plan_on(opened, 0, arena);
        MerClusterRecord  record = {.arena = arena};
        MerClusterOutcome outcome;
        for (int o = 0; o < 4; o++) {
            int64_t id = opened->place->ids[o];
            mer_graph_plan(&plan)->unit[o] = id == 2 || id == 10;
        }
        expect_near(1e6 * price_place(opened, &plan).value[MER_METRIC_MAKESPAN],
                    cases[c].makespan_us);
        assert_true(mer_cluster_play(opened->evaluator.state, &plan, &record, &outcome));
        expect_near(outcome.peak[0], cases[c].peak[0]);
        expect_near(outcome.peak[1], cases[c].peak[1]);
        close_place(opened);
    }
}

static void test_critical_path_goes_back_over_transfers_and_queues(void **state)
{
    /* b and c queue on u0; c's result goes to u1, where d waits */
    static const TinyOp ops[] = {{.us = 10},
                                 {.us = 30, .inputs = {1}},
                                 {.us = 10, .bytes = 1000, .inputs = {1}},
                                 {.us = 40, .inputs = {3}}};
    (void)state;
    OpenedPlace *opened = open_place(tiny_graph(ops, 4, arena), tiny_platform(MESH, arena), "place",
                                     "cluster", arena);
    MerPlan      plan = tiny_plan(opened, "0001", arena);
    MerClusterRecord  record = {.arena = arena};
    MerClusterOutcome outcome;
    MerPathStep      *steps;
    assert_true(mer_cluster_play(opened->evaluator.state, &plan, &record, &outcome));
    assert_int_equal(mer_cluster_path(opened->place, mer_graph_plan(&plan), &record, &steps, arena),
                     5);
    static const struct {
        bool is_transfer;
        int  index;
    } expected[] = {{false, 0}, {false, 1}, {false, 2}, {true, 0}, {false, 3}};
    for (int s = 0; s < 5; s++) {
        assert_int_equal(steps[s].is_transfer, expected[s].is_transfer);
        assert_int_equal(steps[s].index, expected[s].index);
        expect_near(steps[s].wait_us, 0);
    }
    close_place(opened);
}

static void test_views_show_lanes_memory_links_and_the_path(void **state)
{
    (void)state;
    OpenedPlace *opened = open_place(tiny_graph(fan, 4, arena), tiny_platform(MESH, arena), "place",
                                     "cluster", arena);
    MerPlan      plan = tiny_plan(opened, "0112", arena);
    MerNoteList  list = {0};
    MerNotes     notes = mer_note_list_begin(&list);
    opened->evaluator.type->detail(opened->evaluator.state, &plan, &notes);
    const char *text = mer_note_list_end(&list, arena);
    mer_test_contains(text, "\"timeline\"");
    mer_test_contains(text, "\"name\":\"u0 to u1\"");
    mer_test_contains(text, "\"name\":\"a to u2\"");
    mer_test_contains(text, "\"name\":\"memory\"");
    mer_test_contains(text, "\"links\"");
    mer_test_contains(text, "\"critical-path\"");
    mer_test_contains(text, "longest path");
    const char *lines = opened->evaluator.type->print(opened->evaluator.state, &plan, arena);
    /* a, its way to u1, and two operators there: 10 + 5 + 20 + 20 us */
    mer_test_contains(lines,
                      "critical path of 4 steps: operators 90.9 %, transfers 9.1 %, gaps 0.0 %");
    close_place(opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_operators_on_two_units_take_both_and_the_transfer),
        cmocka_unit_test(test_routes_of_two_links_cut_through_or_store),
        cmocka_unit_test(test_path_goes_over_links_in_parts_that_overlap),
        cmocka_unit_test(test_a_result_goes_once_to_each_unit),
        cmocka_unit_test(test_link_models_share_what_they_say),
        cmocka_unit_test(test_both_ends_also_keep_the_receiver),
        cmocka_unit_test(test_half_duplex_is_one_queue),
        cmocka_unit_test(test_without_overlap_a_unit_sends_before_it_goes_on),
        cmocka_unit_test(test_streams_run_side_by_side_and_gaps_between),
        cmocka_unit_test(test_priorities_come_before_first_come),
        cmocka_unit_test(test_transfers_carry_the_priority_of_their_operator),
        cmocka_unit_test(test_memory_counts_weights_results_copies_and_workspace),
        cmocka_unit_test(test_too_much_memory_is_refused_with_unit_bytes_and_operator),
        cmocka_unit_test(test_small_excess_is_told_in_bytes),
        cmocka_unit_test(test_what_cannot_run_has_a_reason),
        cmocka_unit_test(test_a_platform_without_links_is_refused_with_a_hint),
        cmocka_unit_test(test_placeto_by_hand),
        cmocka_unit_test(test_critical_path_goes_back_over_transfers_and_queues),
        cmocka_unit_test(test_views_show_lanes_memory_links_and_the_path),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
