/* Cycles, energies and splits of whole networks and single layers (tests/data/split), with the platform files as the only source of
 * constants. Numbers hold to their last printed digit. */
#include "one_arena.h"
#include "split_support.h"

enum { MAX_FIELDS = 12 };

typedef struct Lines { /* of a CSV file, after its header */
    char *next;
    char *fields[MAX_FIELDS];
} Lines;

static Lines open_lines(const char *name)
{
    Lines lines = {.next = file_text(TEST_DATA("split"), name, arena)};
    lines.next = strchr(lines.next, '\n') + 1;
    return lines;
}

static bool next_line(Lines *lines)
{
    char *line = lines->next;
    if (*line == '\0') {
        return false;
    }
    lines->next = strchr(line, '\n') + 1;
    lines->next[-1] = '\0';
    for (int f = 0; f < MAX_FIELDS; f++) {
        lines->fields[f] = line;
        line = strchr(line, ',');
        if (!line) {
            break;
        }
        *line++ = '\0';
    }
    return true;
}

static const char *where = ""; /* opens messages */

/* Equal to the last digit of `text`; "-" is equal to everything. */
static void check(const char *what, double found, const char *text)
{
    if (strcmp(text, "-") == 0) {
        return;
    }
    const char *point = strchr(text, '.');
    double      digit = pow(10, point ? -(double)strlen(point + 1) : 0), expected = atof(text);
    /* whole thousands of uJ were printed with four or five digits */
    digit = !point && expected >= 10000 && strncmp(what, "energy", 6) == 0 ? 10 : digit;
    if (!(fabs(found - expected) <= 0.501 * digit + 1e-9 * fabs(expected))) {
        fail_msg("%s%s is %.10g, expected %s", where, what, found, text);
    }
}

static int number(const Lines *lines, int field)
{
    return atoi(lines->fields[field]);
}

static void test_single_layers(void **state)
{
    Lines lines = open_lines("layers.csv");
    int   count = 0;
    (void)state;
    for (; next_line(&lines); count++) {
        char    **f = lines.fields;
        MerGraph *graph = layer_graph(f[2], number(&lines, 3), number(&lines, 4), number(&lines, 5),
                                      number(&lines, 6), number(&lines, 7), arena);
        OpenedSplit *opened =
            open_split_graph("split", "soc", graph, platform_named(f[0], arena), arena);
        const MerSplitLayer *layer = &opened->split->layers[0];
        int                  o = 0;
        while (o < layer->option_count && strcmp(layer->options[o].name, f[1]) != 0) {
            o++;
        }
        assert_true(o < layer->option_count);
        check(mer_arena_format(arena, "%s %s %sx%s", f[0], f[1], f[3], f[4]),
              layer->options[o].cycles[number(&lines, 8)], f[9]);
    }
    assert_int_equal(count, 56);
}

static void test_splits_of_one_layer(void **state)
{
    Lines lines = open_lines("pairs.csv");
    (void)state;
    while (next_line(&lines)) {
        char       **f = lines.fields;
        int          c_out = number(&lines, 1), digital = number(&lines, 5);
        MerGraph    *graph = layer_graph("conv", number(&lines, 0), c_out, number(&lines, 2),
                                         number(&lines, 3), number(&lines, 4), arena);
        OpenedSplit *opened =
            open_split_graph("split", "soc", graph, platform_named("diana", arena), arena);
        MerSplitPrice price =
            mer_split_layer_cost(opened->split, 0, (int[]){digital, c_out - digital});
        check("digital", price.busy[0], f[6]);
        check("analog", price.busy[1], f[7]);
        check("energy", 1e-3 * price.energy_pj, f[8]);
        assert_true(price.cycles == fmax(price.busy[0], price.busy[1]));
    }
}

/* The layers of a part of a network. */
static bool is_part(const MerSplit *split, int l, const char *part)
{
    return strcmp(part, "convs") == 0   ? l < split->layer_count - 1
           : strcmp(part, "fixed") == 0 ? !split->layers[l].is_searchable
           : strcmp(part, "searchable") == 0 || strcmp(part, "ungated") == 0
               ? split->layers[l].is_searchable
               : true;
}

static MerSplitPrice price_of(const MerSplit *split, const MerSplitPlan *plan, const char *part)
{
    MerSplitPrice sum = {0};
    for (int l = 0; l < split->layer_count; l++) {
        if (is_part(split, l, part)) {
            MerSplitPrice price =
                mer_split_layer_cost(split, l, plan->counts + split->layers[l].option_start);
            sum.cycles += price.cycles;
            sum.energy_pj += price.energy_pj;
            sum.busy[0] += price.busy[0];
            sum.busy[1] += price.busy[1];
        }
    }
    return sum;
}

/* The network as it is, less the part that Darkside's search never decides. */
static MerSplitPrice price_of_separable(const char *network, const MerSplitPrice *whole)
{
    OpenedSplit  *opened = open_split("split", "soc", network, "darkside", arena);
    MerPlan       plan = plan_by(opened, "all_conv", MER_METRIC_CYCLES);
    MerSplitPrice fixed = price_of(opened->split, mer_split_plan(&plan), "fixed");
    return (MerSplitPrice){.cycles = whole->cycles - fixed.cycles,
                           .energy_pj = whole->energy_pj - fixed.energy_pj};
}

static const char *const ungated =
    "{format: mercator-platform/1, kind: soc, extends: darkside, units: [{name: cluster, cost: "
    "{formula: simd-matmul, gated: 0}}]}";

static void test_networks(void **state)
{
    Lines lines = open_lines("networks.csv");
    int   count = 0;
    (void)state;
    for (; next_line(&lines); count++) {
        char       **f = lines.fields;
        bool         is_separable = strcmp(f[2], "separable") == 0;
        bool         is_ungated = strcmp(f[2], "ungated") == 0;
        OpenedSplit *opened = open_split(is_separable ? "split:operators=keep" : "split", "soc",
                                         f[0], is_ungated ? ungated : f[1], arena);
        MerMetric    objective =
            strcmp(f[3], "min_energy") == 0 ? MER_METRIC_ENERGY : MER_METRIC_CYCLES;
        MerPlan       plan = plan_by(opened, f[3], objective);
        MerSplitPrice price = price_of(opened->split, mer_split_plan(&plan), f[2]);
        if (is_separable) {
            price = price_of_separable(f[0], &price);
        }
        where = mer_arena_format(arena, "%s %s %s %s: ", f[0], f[1], f[2], f[3]);
        check("cycles", price.cycles, f[4]);
        check("energy", 1e-6 * price.energy_pj, f[5]);
        check("busy", 100 * price.busy[0] / price.cycles, f[6]);
        check("busy", 100 * price.busy[1] / price.cycles, f[7]);
        if (strcmp(f[2], "all") == 0) { /* and the evaluator says the same */
            MerCost cost = cost_of(opened, &plan);
            assert_true(cost.value[MER_METRIC_CYCLES] == price.cycles);
            assert_true(cost.value[MER_METRIC_ENERGY] == price.energy_pj);
            assert_true(cost.value[MER_METRIC_LATENCY] == price.cycles / 260e6);
        }
    }
    assert_int_equal(count, 68);
}

/* The published min-latency split of ResNet20 is one of these lines. */
static void test_channels_by_layer(void **state)
{
    Lines lines = open_lines("counts.csv");
    (void)state;
    while (next_line(&lines)) {
        char       **f = lines.fields;
        OpenedSplit *opened = open_split("split", "soc", f[0], "diana", arena);
        bool         is_given = strcmp(f[2], "-") == 0;
        MerMetric    objective =
            strcmp(f[2], "min_energy") == 0 ? MER_METRIC_ENERGY : MER_METRIC_CYCLES;
        MerPlan       plan = plan_by(opened, is_given ? "all_8bit" : f[2], objective);
        MerSplitPlan *content = mer_split_plan(&plan);
        char         *at = f[3];
        for (int l = 0; l < opened->split->layer_count && *at; l++) {
            const MerSplitLayer *layer = &opened->split->layers[l];
            int                  digital = (int)strtol(at, &at, 10);
            if (is_given) {
                content->counts[layer->option_start] = digital;
                content->counts[layer->option_start + 1] = layer->c_out - digital;
            } else if (content->counts[layer->option_start] != digital) {
                fail_msg("%s %s: layer %s has %d digital channels, expected %d", f[0], f[2],
                         layer->name, content->counts[layer->option_start], digital);
            }
        }
        MerSplitPrice price = price_of(opened->split, content, f[1]);
        check("cycles", price.cycles, f[4]);
        check("energy", 1e-6 * price.energy_pj, f[5]);
    }
}

/* MACs, parameters and layers of the built-in networks. */
static void test_networks_are_the_published_ones(void **state)
{
    static const struct {
        const char *name;
        double      macs, parameters;
        int         layers;
    } networks[] = {{"resnet8", 12.50e6, 77850, 10},
                    {"resnet20", 40.81e6, 272.5e3, 22},
                    {"resnet18@stem=3x3@input=3x32x32@classes=100", 555.5e6, 11.22e6, 21},
                    {"resnet18@stem=7x7", 1814e6, 11.69e6, 21},
                    {"mobilenet_v1@width=0.25@input=3x96x96@classes=2", 7.49e6, 213.6e3, 28},
                    {"mobilenet_v1@stem_stride=1", 46.35e6, 3.217e6, 28},
                    {"ds_cnn", 2.66e6, 23050, 10},
                    {"ds_cnn@classes=12", 2.66e6, 23180, 10}};
    (void)state;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        const MerGraph *graph = graph_named(networks[i].name, arena);
        int             layers = 0;
        for (int o = 0; o < graph->op_count; o++) {
            layers += graph->ops[o].macs > 0;
        }
        assert_int_equal(layers, networks[i].layers);
        assert_true(fabs((double)graph->macs / networks[i].macs - 1) < 2e-3);
        assert_true(fabs((double)graph->parameters / networks[i].parameters - 1) < 5e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_layers), cmocka_unit_test(test_splits_of_one_layer),
        cmocka_unit_test(test_networks), cmocka_unit_test(test_channels_by_layer),
        cmocka_unit_test(test_networks_are_the_published_ones)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
