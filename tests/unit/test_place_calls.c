/* Evaluator `calls`, routes over links and noise, on inputs that can be worked out by hand. */
#include "place_tiny.h"

#include "base/note_list.h"
#include "one_arena.h"

/* Accelerators acc0, acc1 and a host; results move at 1000 bytes per us, hosts take ten times as long. */
#define BOX                                                                                        \
    "classes: {acc: {}, cpu: {}}, units: [{name: acc, count: 2, class: acc, memory_bytes: 1000}, " \
    "{name: cpu, class: cpu}], links: [{from: \"acc*\", to: cpu, bytes_per_s: 1G}]"

static OpenedPlace *open_box(const TinyOp *ops, int count, const char *evaluator)
{
    return open_place(tiny_graph(ops, count, arena), tiny_platform(BOX, arena), "place", evaluator,
                      arena);
}

static MerCost price_units(const OpenedPlace *opened, const char *units)
{
    MerPlan plan = tiny_plan(opened, units, arena);
    return price_place(opened, &plan);
}

static const TinyOp chain[] = {{.us = 10, .bytes = 1000, .size = 600},
                               {.us = 20, .bytes = 2000, .inputs = {1}, .size = 500},
                               {.us = 30, .bytes = 3000, .inputs = {2}}};

static void test_a_call_takes_in_computes_and_gives_out(void **state)
{
    (void)state;
    OpenedPlace *opened = open_box(chain, 3, "calls");
    MerCost      cost = price_units(opened, "011");
    /* a and its result out of acc0; into acc1, b and c */
    expect_near(1e6 * cost.value[MER_METRIC_LATENCY], (10 + 1) + (1 + 20 + 30));
    expect_near(cost.value[MER_METRIC_PEAK_BYTES], 600);
    expect_near(cost.value[MER_METRIC_UTILISATION], 60.0 / 62 / 3);
    /* hosts hold the results: only the accelerator moves them */
    expect_near(1e6 * price_units(opened, "202").value[MER_METRIC_LATENCY],
                100 + (1 + 20 + 2) + 300);
    close_place(opened);
}

static void test_hosts_run_any_number_of_operators_at_once(void **state)
{
    static const TinyOp three[] = {
        {.us = 1, .bytes = 1000}, {.us = 2, .bytes = 1000}, {.us = 3, .inputs = {1, 2}}};
    (void)state;
    OpenedPlace *opened = open_box(three, 3, "calls");
    expect_near(1e6 * price_units(opened, "222").value[MER_METRIC_LATENCY], 20 + 30);
    /* an accelerator waits for all its inputs before it takes the first */
    expect_near(1e6 * price_units(opened, "220").value[MER_METRIC_LATENCY], 20 + 2 + 3);
    close_place(opened);
}

static void test_a_second_call_is_refused_unless_it_is_allowed(void **state)
{
    (void)state;
    OpenedPlace *opened = open_box(chain, 3, "calls");
    MerCost      cost = price_units(opened, "010");
    assert_false(cost.feasible);
    assert_string_equal(cost.reason, "calls: acc0 needs 2 calls, has 1");
    assert_true(isnan(cost.value[MER_METRIC_LATENCY]));
    close_place(opened);
    opened = open_box(chain, 3, "calls:max_calls=2");
    cost = price_units(opened, "010");
    assert_true(cost.feasible);
    expect_near(1e6 * cost.value[MER_METRIC_LATENCY], (10 + 1) + (1 + 20 + 2) + (2 + 30));
    close_place(opened);
}

/* a and d on one accelerator, b and c on the other, a before b and c before d: each set is convex, but they wait for each other. */
static void test_units_that_wait_for_each_other_are_called_twice(void **state)
{
    static const TinyOp ops[] = {{.us = 10, .bytes = 1000},
                                 {.us = 20, .inputs = {1}},
                                 {.us = 30, .bytes = 2000},
                                 {.us = 40, .inputs = {3}}};
    (void)state;
    OpenedPlace *opened = open_box(ops, 4, "calls");
    MerCost      cost = price_units(opened, "0110");
    mer_test_contains(cost.reason, "calls: acc0 needs 2 calls");
    close_place(opened);
    opened = open_box(ops, 4, "calls:max_calls=2");
    /* acc0: a; acc1: c and b, once a is there; acc0: d */
    expect_near(1e6 * price_units(opened, "0110").value[MER_METRIC_LATENCY],
                (10 + 1) + (1 + 20 + 30 + 2) + (2 + 40));
    close_place(opened);
}

static void test_memory_is_the_sum_of_sizes(void **state)
{
    (void)state;
    OpenedPlace *opened = open_box(chain, 3, "calls");
    MerCost      cost = price_units(opened, "000");
    assert_string_equal(cost.reason, "memory: acc0 needs 1100 bytes, has 1000");
    close_place(opened);
    opened = open_box(chain, 3, "calls:price_infeasible=true");
    cost = price_units(opened, "000");
    assert_false(cost.feasible);
    expect_near(1e6 * cost.value[MER_METRIC_LATENCY], 60);
    close_place(opened);
}

static void test_views_show_the_calls(void **state)
{
    (void)state;
    OpenedPlace *opened = open_box(chain, 3, "calls");
    MerPlan      plan = tiny_plan(opened, "200", arena);
    MerNoteList  list = {0};
    MerNotes     notes = mer_note_list_begin(&list);
    opened->evaluator.type->detail(opened->evaluator.state, &plan, &notes);
    const char *text = mer_note_list_end(&list, arena);
    mer_test_contains(text, "\"timeline\"");
    mer_test_contains(text, "\"name\":\"b and 1 more\"");
    mer_test_contains(text, "\"kind\":\"operator\"");
    close_place(opened);
}

static void test_noise_is_told_but_not_reported(void **state)
{
    static const TinyOp small[] = {
        {.us = 10, .bytes = 10}, {.us = 20, .bytes = 20, .inputs = {1}}, {.us = 30, .inputs = {2}}};
    static const char *const evaluators[] = {"calls", "cluster", "maxload"};
    static const MerMetric metrics[] = {MER_METRIC_LATENCY, MER_METRIC_MAKESPAN, MER_METRIC_PERIOD};
    (void)state;
    for (int e = 0; e < 3; e++) {
        OpenedPlace *plain = open_box(small, 3, evaluators[e]);
        OpenedPlace *noisy =
            open_box(small, 3, mer_arena_format(arena, "%s:noise=0.2,noise_seed=3", evaluators[e]));
        MerPlan plan = tiny_plan(plain, "011", arena), other = tiny_plan(plain, "211", arena);
        MerCall call = {.scratch = noisy->scratch, .limit = INFINITY};
        MerCost told, again, told_other;
        double  exact = price_place(plain, &plan).value[metrics[e]];
        noisy->evaluator.type->evaluate(noisy->evaluator.state, &plan, &call, &told);
        noisy->evaluator.type->evaluate(noisy->evaluator.state, &plan, &call, &again);
        noisy->evaluator.type->evaluate(noisy->evaluator.state, &other, &call, &told_other);
        double factor = told.value[metrics[e]] / exact;
        assert_true(factor != 1 && told.value[metrics[e]] == again.value[metrics[e]]);
        assert_true(fabs(log(factor)) < 6 * 0.2);
        double other_exact = price_place(plain, &other).value[metrics[e]];
        assert_true(fabs(told_other.value[metrics[e]] / other_exact - factor) > 1e-9);
        assert_true(price_place(noisy, &plan).value[metrics[e]] == exact);
        assert_true(noisy->evaluator.type->approximates(noisy->evaluator.state));
        assert_false(plain->evaluator.type->approximates(plain->evaluator.state));
        close_place(plain);
        close_place(noisy);
    }
}

static void test_noise_is_log_normal(void **state)
{
    enum { COUNT = 20000 };
    double sum = 0, squares = 0;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        double x = log(mer_place_noise((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15), 1, 0.3));
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / COUNT) < 0.01);
    assert_true(fabs(sqrt(squares / COUNT) - 0.3) < 0.01);
    assert_true(mer_place_noise(5, 1, 0.3) != mer_place_noise(5, 2, 0.3));
    assert_true(mer_place_noise(5, 1, 0) == 1);
}

static const MerRoute *route(const OpenedPlace *opened, int from, int to)
{
    return &opened->place->routes[from * opened->place->unit_count + to];
}

static void test_routes_take_the_link_or_the_shortest_path(void **state)
{
    /* u0 - u1 slow and direct, u0 - u2 - u1 fast, u3 behind u1, u4 alone */
    static const char net[] =
        "units: [{name: u, count: 5}], links: [{from: u0, to: u1, bytes_per_s: 1M, latency_us: "
        "9}, {from: u0, to: u2, bytes_per_s: 1G, latency_us: 1}, {from: u1, to: u2, bytes_per_s: "
        "500M, latency_us: 2}, {from: u3, to: u1, bytes_per_s: 2G, latency_us: 4}]";
    (void)state;
    OpenedPlace *opened = open_place(tiny_graph(chain, 3, arena), tiny_platform(net, arena),
                                     "place", "maxload", arena);
    assert_int_equal(route(opened, 0, 1)->count, 1);
    expect_near(route(opened, 0, 1)->us_per_byte, 1);
    assert_int_equal(route(opened, 1, 0)->links[0], 0);
    assert_int_equal(route(opened, 0, 3)->count, 3);
    static const int expected[] = {1, 2, 3};
    assert_memory_equal(route(opened, 0, 3)->links, expected, sizeof expected);
    expect_near(route(opened, 0, 3)->latency_us, 1 + 2 + 4);
    expect_near(route(opened, 0, 3)->us_per_byte, 0.002);
    assert_int_equal(route(opened, 3, 0)->links[0], 3);
    assert_int_equal(route(opened, 0, 4)->count, 0);
    assert_int_equal(route(opened, 0, 0)->count, 0);
    close_place(opened);
    opened = open_place(
        tiny_graph(chain, 3, arena),
        tiny_platform(mer_arena_format(arena, "%s, routes: store_and_forward", net), arena),
        "place", "maxload", arena);
    expect_near(route(opened, 0, 3)->us_per_byte, 0.001 + 0.002 + 0.0005);
    close_place(opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call_takes_in_computes_and_gives_out),
        cmocka_unit_test(test_hosts_run_any_number_of_operators_at_once),
        cmocka_unit_test(test_a_second_call_is_refused_unless_it_is_allowed),
        cmocka_unit_test(test_units_that_wait_for_each_other_are_called_twice),
        cmocka_unit_test(test_memory_is_the_sum_of_sizes),
        cmocka_unit_test(test_views_show_the_calls),
        cmocka_unit_test(test_noise_is_told_but_not_reported),
        cmocka_unit_test(test_noise_is_log_normal),
        cmocka_unit_test(test_routes_take_the_link_or_the_shortest_path),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
