/* The soft cost: slopes against central differences, values against brute force and against the hard cost. */
#include "one_arena.h"
#include "split_support.h"

static const char *const three_units =
    "{format: mercator-platform/1, kind: soc, name: three, clock_hz: 100M, reference: a,"
    " units: [{name: a, options: [{operator: conv, weights: int8}],"
    " cost: {formula: pe-array, channels: 4, columns: 16, elements_per_cycle: 8}},"
    " {name: b, options: [{operator: conv, weights: int4, name: four}, {operator: conv, weights:"
    " int2, name: two}], cost: {formula: mac-rate, rate_8_2: 9, rate_8_4: 5, rate_8_8: 1}},"
    " {name: c, options: [{operator: conv, weights: ternary}], cost: {formula: table, cycles:"
    " [[2, 800], [6, 900], [12, 4000]]}}],"
    " power_mw: {formula: additive, a: 20, b: 7, c: 4, idle: 1}}";

static OpenedSplit *open_layer(const char *platform, int c_in, int c_out, int size)
{
    return open_split_graph("split", "soc", layer_graph("conv", c_in, c_out, 3, size, size, arena),
                            platform[0] == '{' ? platform_from(platform, arena)
                                               : platform_named(platform, arena),
                            arena);
}

/* Shares of every channel, drawn and normalised. */
static double *draw_theta(const MerSplitLayer *layer, MerRng *rng)
{
    double *theta = MER_ARRAY(arena, double, layer->option_count * layer->c_out);
    for (int c = 0; c < layer->c_out; c++) {
        double sum = 0;
        for (int o = 0; o < layer->option_count; o++) {
            theta[o * layer->c_out + c] = 0.02 + mer_rng_unit(rng);
            sum += theta[o * layer->c_out + c];
        }
        for (int o = 0; o < layer->option_count; o++) {
            theta[o * layer->c_out + c] /= sum;
        }
    }
    return theta;
}

static double value_at(const MerSplit *split, const MerSplitSoft *soft, const double *theta)
{
    MerArena *scratch = mer_arena_new();
    double    value = mer_split_soft_layer_cost(split, soft, 0, theta, NULL, scratch);
    mer_arena_free(scratch);
    return value;
}

static void check_slopes(const MerSplit *split, const MerSplitSoft *soft, double *theta)
{
    const MerSplitLayer *layer = &split->layers[0];
    int                  count = layer->option_count * layer->c_out;
    double              *slopes = MER_ARRAY(arena, double, count);
    double value = mer_split_soft_layer_cost(split, soft, 0, theta, slopes, arena), h = 1e-5;
    assert_true(value == value_at(split, soft, theta));
    for (int i = 0; i < count; i++) {
        double before = theta[i];
        theta[i] = before + h;
        double above = value_at(split, soft, theta);
        theta[i] = before - h;
        double below = value_at(split, soft, theta);
        theta[i] = before;
        double expected = (above - below) / (2 * h);
        if (fabs(slopes[i] - expected) > 1e-5 * (fabs(expected) + value / layer->c_out)) {
            fail_msg("gradient %d metric %d: slope %d is %.10g, expected %.10g", soft->gradient,
                     soft->metric, i, slopes[i], expected);
        }
    }
}

static void check_platform(const char *platform, int c_in, int c_out, int size)
{
    static const MerSplitGradient gradients[] = {MER_SPLIT_EXACT, MER_SPLIT_CHORD,
                                                 MER_SPLIT_EXPECTED};
    static const MerMetric metrics[] = {MER_METRIC_CYCLES, MER_METRIC_LATENCY, MER_METRIC_ENERGY};
    OpenedSplit           *opened = open_layer(platform, c_in, c_out, size);
    MerRng                 rng = mer_rng_make(7, 0);
    for (int i = 0; i < 27; i++) {
        MerSplitSoft soft = {
            .gradient = gradients[i % 3], .metric = metrics[i / 3 % 3], .smooth = 0.05};
        check_slopes(opened->split, &soft, draw_theta(&opened->split->layers[0], &rng));
    }
}

static void test_slopes_are_those_of_differences(void **state)
{
    (void)state;
    check_platform("diana", 16, 16, 32);
    check_platform("diana", 64, 40, 8);
    check_platform("darkside", 8, 8, 6);
    check_platform(three_units, 8, 12, 9);
}

/* All ways to draw the channels, weighed. */
static double mean_by_enumeration(const MerSplit *split, const double *theta, MerMetric metric)
{
    int    count = split->layers[0].c_out;
    double mean = 0;
    for (unsigned mask = 0; mask < 1u << count; mask++) {
        double weight = 1;
        int    first = 0;
        for (int c = 0; c < count; c++) {
            weight *= theta[(mask >> c & 1 ? 0 : count) + c];
            first += mask >> c & 1;
        }
        MerSplitPrice price = mer_split_layer_cost(split, 0, (int[]){first, count - first});
        mean += weight * mer_split_value(split, &price, metric);
    }
    return mean;
}

static void test_expected_is_the_mean_over_all_draws(void **state)
{
    OpenedSplit *opened = open_layer("diana", 16, 10, 16);
    MerRng       rng = mer_rng_make(3, 0);
    (void)state;
    for (int i = 0; i < 6; i++) {
        MerMetric    metric = i % 2 ? MER_METRIC_ENERGY : MER_METRIC_CYCLES;
        MerSplitSoft soft = {.gradient = MER_SPLIT_EXPECTED, .metric = metric, .smooth = 0.01};
        double      *theta = draw_theta(&opened->split->layers[0], &rng);
        double       expected = mean_by_enumeration(opened->split, theta, metric);
        assert_true(fabs(value_at(opened->split, &soft, theta) / expected - 1) < 1e-12);
    }
}

/* Channels that belong to one option alone cost what they cost. */
static void test_soft_cost_of_whole_channels_is_the_hard_one(void **state)
{
    static const char *const platforms[] = {"diana", "darkside", NULL};
    (void)state;
    for (int p = 0; p < 3; p++) {
        OpenedSplit *opened = open_layer(platforms[p] ? platforms[p] : three_units, 12, 12, 8);
        const MerSplitLayer *layer = &opened->split->layers[0];
        MerRng               rng = mer_rng_make(5, (uint64_t)p);
        for (int i = 0; i < 40; i++) {
            double *theta = MER_ARRAY(arena, double, layer->option_count * layer->c_out);
            int     counts[MER_SPLIT_MAX_OPTIONS] = {0};
            for (int c = 0; c < layer->c_out; c++) {
                int o = mer_rng_below(&rng, layer->option_count);
                theta[o * layer->c_out + c] = 1;
                counts[o]++;
            }
            MerSplitPrice price = mer_split_layer_cost(opened->split, 0, counts);
            MerMetric     metric = i % 2 ? MER_METRIC_ENERGY : MER_METRIC_CYCLES;
            double        hard = mer_split_value(opened->split, &price, metric);
            for (int g = MER_SPLIT_EXACT; g <= MER_SPLIT_STE; g++) {
                MerSplitSoft soft = {(MerSplitGradient)g, metric, 1e-7};
                double       value = value_at(opened->split, &soft, theta);
                bool is_on_steps = g != MER_SPLIT_CHORD; /* chords cut corners between steps */
                if (is_on_steps && fabs(value / hard - 1) > 1e-9) {
                    fail_msg("platform %d gradient %d is %.12g, expected %.12g", p, g, value, hard);
                }
            }
        }
    }
}

static void test_chord_meets_the_cost_at_hardware_steps(void **state)
{
    OpenedSplit         *opened = open_layer("diana", 64, 64, 8);
    const MerSplitLayer *layer = &opened->split->layers[0];
    MerSplitSoft         soft = {MER_SPLIT_CHORD, MER_METRIC_CYCLES, 1e-7};
    (void)state;
    assert_int_equal(layer->options[0].step, 16);
    assert_int_equal(layer->options[1].step, 512);
    for (int digital = 16; digital <= 64; digital += 16) {
        double *theta = MER_ARRAY(arena, double, 128);
        for (int c = 0; c < 64; c++) {
            theta[c] = digital / 64.0;
            theta[64 + c] = 1e-9;
        }
        double value = value_at(opened->split, &soft, theta);
        assert_true(fabs(value / layer->options[0].cycles[digital] - 1) < 1e-6);
    }
}

/* Published rule: slope 1 of every floor; 1 / (g + 1) of a closed gate. */
static void test_ste_follows_its_rule(void **state)
{
    OpenedSplit *opened = open_layer("diana", 16, 16, 32);
    MerSplitSoft soft = {MER_SPLIT_STE, MER_METRIC_CYCLES, 1e6};
    double       theta[32], slopes[32] = {0};
    (void)state;
    for (int c = 0; c < 16; c++) {
        theta[c] = 6.5 / 16;
        theta[16 + c] = 9.5 / 16;
    }
    mer_split_soft_layer_cost(opened->split, &soft, 0, theta, slopes, arena);
    /* a very soft maximum weighs both units by one half */
    double digital = 16 * 2 * 32 * 9 + 32 * 32 / 8.0, analog = 32 * 32 / 4.0 * 18.2;
    assert_true(fabs(slopes[0] / (digital / 2) - 1) < 1e-4);
    assert_true(fabs(slopes[16] / (analog / 2) - 1) < 1e-4);
    memset(slopes, 0, sizeof slopes);
    for (int c = 0; c < 16; c++) {
        theta[c] = 0.5 / 16; /* half a channel: the gate is closed */
    }
    mer_split_soft_layer_cost(opened->split, &soft, 0, theta, slopes, arena);
    double switched = 32 * 32 / 8.0 * 16.5;
    double gate = 1 / (switched / 2 + 1);
    assert_true(fabs(slopes[0] / (16 * 2 * 32 * 9 / 2.0 + gate) - 1) < 1e-4);
}

static void test_network_sums_layers_and_fixed_ones(void **state)
{
    OpenedSplit *opened = open_split("split:pin=[conv1=digital]", "soc", "resnet8", "diana", arena);
    const MerSplit *split = opened->split;
    MerSplitSoft    soft = {MER_SPLIT_EXPECTED, MER_METRIC_ENERGY, 0.01};
    const double  **theta = MER_ARRAY(arena, const double *, split->layer_count);
    double          sum = 0;
    (void)state;
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        if (layer->is_searchable) {
            double *own = MER_ARRAY(arena, double, 2 * layer->c_out);
            for (int c = 0; c < layer->c_out; c++) {
                own[c] = 1; /* all digital */
            }
            theta[l] = own;
        }
    }
    assert_null(theta[0]);
    sum = mer_split_soft_cost(split, &soft, theta, NULL, arena);
    assert_true(fabs(sum / mer_split_reference_cost(split, MER_METRIC_ENERGY) - 1) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slopes_are_those_of_differences),
        cmocka_unit_test(test_expected_is_the_mean_over_all_draws),
        cmocka_unit_test(test_soft_cost_of_whole_channels_is_the_hard_one),
        cmocka_unit_test(test_chord_meets_the_cost_at_hardware_steps),
        cmocka_unit_test(test_ste_follows_its_rule),
        cmocka_unit_test(test_network_sums_layers_and_fixed_ones)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
