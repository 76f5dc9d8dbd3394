/* The best split of random layers on random platforms against all splits, for two to five options on up to four units. */
#include "one_arena.h"
#include "split_support.h"

#include "split/solve/layer_split.h"

/* A unit with one or two options and a formula. */
static const char *draw_unit(MerRng *rng, int u, int options)
{
    static const char *const formats[] = {"int8", "int4", "int2", "ternary"};
    const char              *list = "";
    for (int o = 0; o < options; o++) {
        list = mer_arena_format(arena, "%s%s{operator: conv, weights: %s, name: o%d%d}", list,
                                o ? ", " : "", formats[mer_rng_below(rng, 4)], u, o);
    }
    int         kind = mer_rng_below(rng, 5);
    const char *cost =
        kind == 0
            ? mer_arena_format(arena, "pe-array, channels: %d, columns: 16, elements_per_cycle: 8",
                               1 + mer_rng_below(rng, 6))
        : kind == 1 ? "simd-matmul"
        : kind == 2 ? mer_arena_format(arena, "table, cycles: [[3, %d], [7, %d], [9, %d]]",
                                       100 * mer_rng_below(rng, 90), 100 * mer_rng_below(rng, 90),
                                       100 * mer_rng_below(rng, 90))
        : kind == 3 ? "ne16"
                    : "aimc, rows: 64, columns: 4, input_block: 8, min_inputs: 2, unroll: [1, 2], "
                      "mvm_ns: 70, weight_cycles_per_row: 8";
    return mer_arena_format(arena,
                            "{name: u%d, memory_bytes: %d, options: [%s], cost: {formula: %s}}", u,
                            100 + mer_rng_below(rng, 800), list, cost);
}

static const MerPlatform *draw_platform(MerRng *rng, int units, int options)
{
    const char *list = "", *power = "";
    bool        is_additive = mer_rng_below(rng, 2);
    for (int u = 0; u < units; u++) {
        int count = u < options - units ? 2 : 1;
        list = mer_arena_format(arena, "%s%s%s", list, u ? ", " : "", draw_unit(rng, u, count));
        power = mer_arena_format(arena, "%s, u%d: %d", power, u, 5 + mer_rng_below(rng, 40));
    }
    if (!is_additive) { /* some sets draw less than their units together */
        power = mer_arena_format(arena, "%s, u0+u1: %d", power, 30 + mer_rng_below(rng, 40));
    }
    return platform_from(
        mer_arena_format(arena,
                         "{format: mercator-platform/1, kind: soc, name: drawn, clock_hz: 100M, "
                         "reference: u%d, units: [%s], power_mw: {formula: %s%s%s}}",
                         mer_rng_below(rng, units), list, is_additive ? "additive" : "by-set",
                         power, is_additive ? ", idle: 1" : ""),
        arena);
}

typedef struct Best {
    double value;
    int    counts[MER_SPLIT_MAX_OPTIONS];
} Best;

static void try_all(const OpenedSplit *opened, MerMetric metric, int option, int left, int *counts,
                    Best *best)
{
    const MerSplitLayer *layer = &opened->split->layers[0];
    if (option < layer->option_count - 1) {
        for (int k = 0; k <= left; k++) {
            counts[option] = k;
            try_all(opened, metric, option + 1, left - k, counts, best);
        }
        return;
    }
    counts[option] = left;
    if (!mer_split_layer_fits(opened->split, rules_of_split(opened), 0, counts, NULL)) {
        return;
    }
    MerSplitPrice price = mer_split_layer_cost(opened->split, 0, counts);
    double        value = mer_split_value(opened->split, &price, metric);
    bool          is_more = counts[layer->reference] > best->counts[layer->reference];
    if (value < best->value || (value == best->value && is_more)) {
        best->value = value;
        memcpy(best->counts, counts, sizeof best->counts);
    }
}

static void check_drawn(uint64_t number, int units, int options, const char *evaluator)
{
    MerRng       rng = mer_rng_make(number, (uint64_t)(10 * units + options));
    int          c_out = 3 + mer_rng_below(&rng, 14);
    MerGraph    *graph = layer_graph("conv", 1 + mer_rng_below(&rng, 20), c_out, 3,
                                     1 + mer_rng_below(&rng, 20), 1 + mer_rng_below(&rng, 20), arena);
    OpenedSplit *opened =
        open_split_graph("split", evaluator, graph, draw_platform(&rng, units, options), arena);
    assert_int_equal(opened->split->layers[0].option_count, options);
    for (int m = 0; m < 2; m++) {
        MerSplitAim aim = {.metric = m ? MER_METRIC_ENERGY : MER_METRIC_CYCLES};
        Best        best = {.value = INFINITY};
        int         counts[MER_SPLIT_MAX_OPTIONS] = {0}, tried[MER_SPLIT_MAX_OPTIONS] = {0};
        double      found =
            mer_split_best_layer(opened->split, rules_of_split(opened), 0, &aim, counts, arena);
        try_all(opened, aim.metric, 0, c_out, tried, &best);
        if (!(found == best.value || fabs(found / best.value - 1) < 1e-12)) {
            fail_msg("%d units, %d options, draw %d, metric %d: %.12g, all splits give %.12g",
                     units, options, (int)number, m, found, best.value);
        }
        if (found < INFINITY && options <= 3) {
            int reference = opened->split->layers[0].reference;
            assert_int_equal(counts[reference], best.counts[reference]);
        }
    }
}

static void test_best_split_is_that_of_all_splits(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 40; i++) {
        check_drawn(i, 2, 2, "soc");
        check_drawn(i, 2, 3, "soc");
        check_drawn(i, 3, 3, "soc");
        check_drawn(i, 2, 4, "soc");
        check_drawn(i, 3, 5, "soc");
        check_drawn(i, 4, 4, "soc");
    }
}

static void test_memory_limits_are_kept(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 40; i++) {
        check_drawn(i, 2, 2, "soc:memory=check");
        check_drawn(i, 3, 3, "soc:memory=check");
        check_drawn(i, 2, 4, "soc:memory=check");
    }
}

/* No random split is below the bound, and the exact solver meets it. */
static void test_bounds_hold_and_are_met(void **state)
{
    static const MerMetric metrics[] = {MER_METRIC_CYCLES, MER_METRIC_LATENCY, MER_METRIC_ENERGY,
                                        MER_METRIC_DISTORTION};
    (void)state;
    for (int m = 0; m < 4; m++) {
        OpenedSplit *opened = open_split("split", "soc", "resnet8@input=1x8x8", "diana", arena);
        MerIndex    *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count);
        MerRng       rng = mer_rng_make(4, 0);
        MerBound     bound;
        opened->problem.type->bound(&opened->problem, rules_of_split(opened), metrics[m], &bound);
        MerPlan plan = plan_by(opened, "exact_split", metrics[m]);
        assert_true(cost_of(opened, &plan).value[metrics[m]] == bound.value);
        assert_string_equal(bound.kind, "optimum");
        for (int i = 0; i < 500; i++) {
            mer_space_sample(&opened->problem.space, &rng, point);
            opened->problem.type->decode(&opened->problem, point, &plan, arena);
            assert_true(cost_of(opened, &plan).value[metrics[m]] >= bound.value);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_best_split_is_that_of_all_splits),
                                       cmocka_unit_test(test_memory_limits_are_kept),
                                       cmocka_unit_test(test_bounds_hold_and_are_met)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
