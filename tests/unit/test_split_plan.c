/* Layers, options, spaces and plans of splits: what is searchable, what shares channels, what reads back, and what is refused. */
#include "one_arena.h"
#include "split_support.h"

#include "import/network_weights.h"
#include "mercator/yaml.h"

static const MerSplitLayer *layer_named(const MerSplit *split, const char *name)
{
    for (int l = 0; l < split->layer_count; l++) {
        if (strcmp(split->layers[l].name, name) == 0) {
            return &split->layers[l];
        }
    }
    fail_msg("no layer %s", name);
    return NULL;
}

/* Depthwise layers have one option on DIANA; those whose channels meet are tied. */
static void test_layers_of_a_residual_network(void **state)
{
    const MerSplit *split = open_split("split", "soc", "resnet8", "diana", arena)->split;
    (void)state;
    assert_int_equal(split->layer_count, 10);
    assert_int_equal(layer_named(split, "conv1")->tie, layer_named(split, "s1b0c2")->tie);
    assert_int_not_equal(layer_named(split, "conv1")->tie, layer_named(split, "s1b0c1")->tie);
    assert_int_equal(layer_named(split, "s2b0c2")->tie, layer_named(split, "s2b0ds")->tie);
    assert_int_equal(layer_named(split, "fc")->type, MER_SPLIT_LINEAR);
    assert_int_equal(layer_named(split, "s2b0ds")->type, MER_SPLIT_POINTWISE);
    assert_int_equal(layer_named(split, "s2b0c1")->stride_h, 2);
    const MerSplit *small = open_split("split", "soc", "ds_cnn", "diana", arena)->split;
    assert_int_equal(layer_named(small, "b0dw")->option_count, 1);
    assert_false(layer_named(small, "b0dw")->is_searchable);
    assert_int_equal(layer_named(small, "b0dw")->tie, layer_named(small, "conv1")->tie);
}

static void test_depthwise_engines_stand_in_for_pairs(void **state)
{
    const MerSplit *split = open_split("split", "soc", "mobilenet_v1", "darkside", arena)->split;
    const MerSplit *kept =
        open_split("split:operators=keep", "soc", "mobilenet_v1", "darkside", arena)->split;
    int searchable = 0;
    (void)state;
    for (int l = 0; l < split->layer_count; l++) {
        searchable += split->layers[l].is_searchable;
    }
    assert_int_equal(searchable, 8);
    assert_int_equal(split->layer_count, 20);
    const MerSplitLayer *layer = layer_named(split, "L3dw");
    assert_true(layer->is_ordered && layer->pair_op >= 0 && layer->c_in == 128);
    assert_int_equal(layer->options[0].branch, 0);
    assert_int_equal(layer->options[1].branch, 1);
    assert_int_equal(kept->layer_count, 28);
    assert_false(layer_named(kept, "L3dw")->is_searchable);
    assert_int_equal(
        open_split("split", "soc", "resnet8", "gap8", arena)->split->layers[1].option_count, 1);
}

/* Both formats and operators differ, over three units. */
static void test_three_units_mix_formats_and_operators(void **state)
{
    const char *platform =
        "{format: mercator-platform/1, kind: soc, name: mixed, clock_hz: 100M, reference: cpu,"
        " units: [{name: cpu, options: [{operator: conv, weights: int8}, {operator: depthwise,"
        " weights: int8}], cost: {formula: mac-rate, rate: 4}}, {name: aimc, options: [{operator:"
        " conv, weights: ternary}], cost: {formula: mac-rate, rate: 40}}, {name: dwe, options:"
        " [{operator: depthwise, weights: int8}], cost: {formula: dw-engine}}],"
        " power_mw: {formula: additive, cpu: 10, aimc: 5, dwe: 2, idle: 0.1}}";
    OpenedSplit         *opened = open_split("split", "soc", "resnet8", platform, arena);
    const MerSplitLayer *layer = layer_named(opened->split, "s1b0c1");
    (void)state;
    assert_int_equal(layer->option_count, 3);
    assert_true(layer->is_ordered);
    MerPlan plan = plan_by(opened, "exact_split", MER_METRIC_LATENCY);
    MerCost cost = cost_of(opened, &plan);
    assert_true(cost.feasible && cost.value[MER_METRIC_ENERGY] > 0);
    for (int o = 0, next = 0; o < 3; o++) { /* contiguous, in the order of the options */
        int count = mer_split_plan(&plan)->counts[layer->option_start + o];
        for (int c = 0; c < count; c++, next++) {
            assert_int_equal(mer_split_plan(&plan)->assignment[layer->channel_start + next], o);
        }
    }
}

static void check_points(const char *problem, const char *workload, const char *platform)
{
    OpenedSplit *opened = open_split(problem, "soc", workload, platform, arena);
    MerIndex    *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count + 1);
    MerIndex    *again = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count + 1);
    MerRng       rng = mer_rng_make(2, 0);
    for (int i = 0; i < 200; i++) {
        MerPlan plan;
        mer_space_sample(&opened->problem.space, &rng, point);
        opened->problem.type->decode(&opened->problem, point, &plan, arena);
        const MerSplitPlan *content = mer_split_plan(&plan);
        for (int l = 0; l < opened->split->layer_count; l++) {
            const MerSplitLayer *layer = &opened->split->layers[l];
            int                  sum = 0, seen[MER_SPLIT_MAX_OPTIONS] = {0};
            for (int c = 0; c < layer->c_out; c++) {
                seen[content->assignment[layer->channel_start + c]]++;
            }
            for (int o = 0; o < layer->option_count; o++) {
                assert_int_equal(seen[o], content->counts[layer->option_start + o]);
                sum += seen[o];
            }
            assert_int_equal(sum, layer->c_out);
        }
        assert_true(opened->problem.type->encode(&opened->problem, &plan, again));
    }
}

static void test_every_point_shares_all_channels_out(void **state)
{
    (void)state;
    check_points("split", "resnet8@input=1x8x8", "diana");
    check_points("split", "ds_cnn", "gap9-ne16");
    check_points("split:granularity=channel", "resnet8@input=1x8x8", "diana");
    check_points("split:granularity=channel,tie=true", "resnet8@input=1x8x8", "diana");
    check_points("split:tie=true", "resnet8@input=1x8x8", "mpic");
    check_points("split:granularity=channel", "mobilenet_v1@width=0.25", "darkside");
}

static void test_tied_layers_share_their_assignment(void **state)
{
    OpenedSplit *opened =
        open_split("split:granularity=channel,tie=true", "soc", "resnet8", "diana", arena);
    const MerSplitLayer *a = layer_named(opened->split, "conv1"),
                        *b = layer_named(opened->split, "s1b0c2");
    MerIndex *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count);
    MerRng    rng = mer_rng_make(2, 0);
    MerPlan   plan;
    (void)state;
    assert_int_equal(opened->problem.space.knob_count, 16 + 16 + 32 + 32 + 64 + 64 + 10);
    mer_space_sample(&opened->problem.space, &rng, point);
    opened->problem.type->decode(&opened->problem, point, &plan, arena);
    assert_memory_equal(mer_split_plan(&plan)->assignment + a->channel_start,
                        mer_split_plan(&plan)->assignment + b->channel_start, 16);
}

static MerStatus read_body(OpenedSplit *opened, const char *text, MerPlan *plan, MerError *error)
{
    MerYaml *root;
    MER_TRY(mer_yaml_parse("plan.yaml", text, strlen(text), arena, &root, error));
    return mer_plan_split.read(&opened->problem, root, plan, arena, error);
}

static void test_broken_plans_are_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{}", "has no key \"ops\""},
        {"{ops: []}", "ops has 0 of 1 layers, expected all of them; layer is missing"},
        {"{ops: [{name: other, channels: {}}]}", "expected a layer of the network"},
        {"{ops: [{name: layer, channels: {digital: 3}}]}", "has 3 channels, expected the 16"},
        {"{ops: [{name: layer, channels: {digital: 12, analogue: 4}}]}", "did you mean"},
        {"{ops: [{name: layer, channels: {digital: 12, analog: 4}, assignment: [digital*16]}]}",
         "does not agree with channels"},
        {"{ops: [{name: layer, channels: {digital: 12, analog: 4}, assignment: [digital*0]}]}",
         "expected OPTION*COUNT"},
        {"{ops: [{name: layer, channels: {digital: 12, analog: 4}, assignment: [npu*16]}]}",
         "expected an option of layer layer"},
        {"{ops: [{name: layer, channels: {digital: 12, analog: 4}, assignment: [digital*12,"
         " analog*4, analog]}]}",
         "expected 16 channels in all"},
    };
    OpenedSplit *opened =
        open_split_graph("split", "soc", layer_graph("conv", 4, 16, 3, 8, 8, arena),
                         platform_named("diana", arena), arena);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerError error = {0};
        MerPlan  plan;
        assert_int_not_equal(read_body(opened, cases[i].text, &plan, &error), MER_OK);
        mer_test_contains(error.message, cases[i].message);
    }
    MerPlan  plan;
    MerError error = {0};
    assert_int_equal(read_body(opened,
                               "{ops: [{name: layer, channels: {analog: 4, digital: 12}, "
                               "assignment: [analog*4, digital*12]}]}",
                               &plan, &error),
                     MER_OK);
    assert_int_equal(mer_split_plan(&plan)->assignment[0], 1);
    assert_int_equal(mer_split_plan(&plan)->counts[0], 12);
}

static MerStatus try_open(const char *options, const char *workload, const char *platform,
                          MerError *error)
{
    const MerProblemClass *type = mer_problem_find("split", NULL);
    MerTask                task = {.name = "graph", .count = 1, .op = -1};
    MerProblem             problem = {.type = type,
                                      .options =
                                          options_from(options, type->options, type->options_size, arena),
                                      .graph = graph_named(workload, arena),
                                      .platform = platform[0] == '{' ? platform_from(platform, arena)
                                                                     : platform_named(platform, arena),
                                      .task = &task,
                                      .plan = &mer_plan_split,
                                      .state = mer_arena_alloc(arena, type->state_size)};
    return type->open(&problem, arena, error);
}

static void test_what_cannot_be_computed_is_refused(void **state)
{
    static const char *const no_clock =
        "{format: mercator-platform/1, kind: soc, name: x, units: [{name: a, options: [{operator:"
        " conv, weights: ternary}], cost: {formula: aimc, rows: 9, columns: 9, input_block: 9,"
        " min_inputs: 1, unroll: 1, mvm_ns: 70, weight_cycles_per_row: 8}}]}";
    static const char *const only_analog =
        "{format: mercator-platform/1, kind: soc, name: x, clock_hz: 1M, units: [{name: a, options:"
        " [{operator: conv, weights: ternary}], cost: {formula: aimc, rows: 9, columns: 9,"
        " input_block: 9, min_inputs: 1, unroll: 1, mvm_ns: 70, weight_cycles_per_row: 8}}]}";
    static const char *const bare_array =
        "{format: mercator-platform/1, kind: soc, name: x, units: [{name: a, options: [{operator:"
        " conv, weights: int8}], cost: {formula: pe-array, columns: 4}}]}";
    static const struct {
        const char *options, *workload, *platform, *message;
    } cases[] = {
        {"split", "resnet8", no_clock, "expected clock_hz to make cycles of it"},
        {"split", "ds_cnn", only_analog, "no unit of platform x computes it"},
        {"split", "resnet8", bare_array, "units.a.cost lacks channels"},
        {"split:pin=[conv9=digital]", "resnet8", "diana", "matches no layer"},
        {"split:pin=[conv1=npu]", "resnet8", "diana", "has no unit or option npu"},
        {"split:pin=[conv1]", "resnet8", "diana", "expected REGEX=UNIT"},
        {"split:pin=[(=digital]", "resnet8", "diana", "no extended regular expression"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerError error = {0};
        assert_int_not_equal(
            try_open(cases[i].options, cases[i].workload, cases[i].platform, &error), MER_OK);
        mer_test_contains(error.message, cases[i].message);
    }
}

/* Weights tell which channels are sensitive: those go to the finer format. */
static void test_weights_rank_channels(void **state)
{
    MerGraph *graph = mer_graph_new("weighted", arena);
    MerOp     op = mer_op_make("layer", "Conv", MER_OP_CONV);
    float    *data = MER_ARRAY(arena, float, 4 * 9);
    int       values[3];
    MerError  error = {0};
    (void)state;
    values[0] = mer_graph_add_value(
        graph, &(MerValue){.name = "x", .role = MER_VALUE_INPUT, .rank = 4, .dims = {1, 1, 8, 8}});
    values[1] = mer_graph_add_value(
        graph, &(MerValue){.name = "w", .role = MER_VALUE_WEIGHT, .rank = 4, .dims = {4, 1, 3, 3}});
    values[2] =
        mer_graph_add_value(graph, &(MerValue){.name = "y", .rank = 4, .dims = {1, 4, 6, 6}});
    op.dims[MER_DIM_K] = 4;
    op.dims[MER_DIM_Y] = op.dims[MER_DIM_X] = 6;
    op.dims[MER_DIM_R] = op.dims[MER_DIM_S] = 3;
    op.inputs = values;
    op.input_count = 2;
    op.outputs = values + 2;
    op.output_count = 1;
    mer_graph_add_op(graph, &op);
    assert_int_equal(mer_graph_finish(graph, &error), MER_OK);
    for (int i = 0; i < 36; i++) { /* channel 2 is ternary already, channel 3 is spread and large */
        int c = i / 9;
        data[i] = c == 2 ? (float)(i % 3 - 1) * 0.1F
                         : (float)((i * 7 % 11) - 5) * (c == 3 ? 0.2F : 0.02F * (float)(c + 1));
    }
    const float **list = MER_ARRAY(arena, const float *, 3);
    list[values[1]] = data;
    MerNetworkWeights weights = {3, list};
    mer_graph_attach(graph, MER_NETWORK_WEIGHTS, &weights);
    OpenedSplit *opened =
        open_split_graph("split", "soc", graph, platform_named("diana", arena), arena);
    const MerSplitLayer *layer = &opened->split->layers[0];
    assert_true(opened->split->has_weights);
    assert_ptr_equal(mer_split_layer_weights(opened->split, 0), data);
    assert_int_equal(layer->ranking[0], 3);
    for (int c = 0; c < 4; c++) {
        assert_true(layer->errors[c] < layer->errors[4 + c] || c == 2);
    }
    unsigned char assignment[4];
    mer_split_assign_layer(layer, (int[]){1, 3}, assignment);
    assert_int_equal(assignment[3], 0);
    assert_int_equal(assignment[0], 1);
}

static void test_memory_is_refused_or_priced(void **state)
{
    OpenedSplit *plain =
        open_split("split", "soc", "resnet18@stem=3x3@input=3x32x32", "diana", arena);
    OpenedSplit *checked =
        open_split("split", "soc:memory=check", "resnet18@stem=3x3@input=3x32x32", "diana", arena);
    OpenedSplit *priced =
        open_split("split", "soc:memory=price", "resnet18@stem=3x3@input=3x32x32", "diana", arena);
    OpenedSplit *resident =
        open_split("split", "soc:memory=check,residency=network", "resnet20", "diana", arena);
    MerPlan all = plan_by(plain, "all_8bit", MER_METRIC_CYCLES);
    (void)state;
    MerCost refused = cost_of(checked, &all), more = cost_of(priced, &all),
            less = cost_of(plain, &all);
    assert_false(refused.feasible);
    mer_test_contains(refused.reason, "memory: ");
    assert_true(more.feasible && more.value[MER_METRIC_CYCLES] > less.value[MER_METRIC_CYCLES]);
    MerPlan digital = plan_by(resident, "all_8bit", MER_METRIC_CYCLES);
    MerCost too_much = cost_of(resident, &digital);
    mer_test_contains(too_much.reason, "digital of the network needs 270896 bytes, has 65536");
    MerPlan analog = plan_by(resident, "all_ternary", MER_METRIC_CYCLES);
    assert_true(cost_of(resident, &analog).feasible);
}

/* A network whose weights must all stay: the best split of each layer would not fit, the solver finds one that does. */
static void test_weights_of_all_layers_fit_at_once(void **state)
{
    OpenedSplit *resident = open_split("split", "soc:memory=check,residency=network",
                                       "resnet8@width=2", "diana", arena);
    MerPlan      plan = plan_by(resident, "exact_split", MER_METRIC_CYCLES);
    MerCost      cost = cost_of(resident, &plan);
    (void)state;
    assert_true(cost.feasible);
    OpenedSplit *tight = open_split(
        "split", "soc:memory=check,residency=network", "resnet8@input=1x8x8",
        "{format: mercator-platform/1, kind: soc, extends: diana, units: [{name: digital, "
        "memory_bytes: 20000}]}",
        arena);
    OpenedSplit *loose = open_split("split", "soc", "resnet8@input=1x8x8", "diana", arena);
    MerPlan      best = plan_by(loose, "exact_split", MER_METRIC_CYCLES);
    assert_false(cost_of(tight, &best).feasible);
    MerPlan found = plan_by(tight, "exact_split", MER_METRIC_CYCLES);
    assert_true(cost_of(tight, &found).feasible);
    assert_true(cost_of(tight, &found).value[MER_METRIC_CYCLES] >=
                cost_of(loose, &best).value[MER_METRIC_CYCLES]);
}

static void test_polish_never_raises_the_cost(void **state)
{
    static const char *const kinds[] = {"split", "split:granularity=channel"};
    (void)state;
    for (int i = 0; i < 24; i++) {
        OpenedSplit *opened =
            open_split(kinds[i % 2], "soc", "resnet8@input=1x28x28", "diana", arena);
        MerMetric                metric = i % 3 ? MER_METRIC_ENERGY : MER_METRIC_CYCLES;
        const MerOptimizerClass *type;
        void                    *solver =
            open_split_solver(opened, i % 4 ? "polish" : "polish:price=0.1", metric, &type);
        MerIndex *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count);
        MerRng    rng = mer_rng_make((uint64_t)i, 0);
        MerPlan   before, after;
        mer_space_sample(&opened->problem.space, &rng, point);
        opened->problem.type->decode(&opened->problem, point, &before, arena);
        MerCost cost = cost_of(opened, &before);
        type->tell(
            solver,
            &(MerTrial){.point = point, .cost = &cost, .score = cost.value[metric], .warm = true},
            1);
        MerProposal proposal = {.point =
                                    MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count)};
        assert_int_equal(type->ask(solver, &proposal, 1), 1);
        opened->problem.type->decode(&opened->problem, proposal.point, &after, arena);
        MerCost polished = cost_of(opened, &after);
        assert_true(polished.value[metric] <= cost.value[metric] * (1 + 1e-12));
        if (i % 4) {
            assert_true(polished.value[MER_METRIC_DISTORTION] <=
                        cost.value[MER_METRIC_DISTORTION] * (1 + 1e-12));
        }
    }
}

/* 15 of 16 channels digital pay for 16: the polish takes the last one there too. */
static void test_polish_moves_to_a_hardware_step(void **state)
{
    OpenedSplit *opened =
        open_split_graph("split", "soc", layer_graph("conv", 16, 16, 3, 32, 32, arena),
                         platform_named("diana", arena), arena);
    const MerOptimizerClass *type;
    void                    *solver = open_split_solver(opened, "polish", MER_METRIC_ENERGY, &type);
    MerIndex                 start[] = {15};
    MerIndex                 found[1];
    (void)state;
    type->tell(solver, &(MerTrial){.point = start, .score = 1, .warm = true}, 1);
    assert_int_equal(type->ask(solver, &(MerProposal){.point = found}, 1), 1);
    assert_int_equal(found[0], 16);
    assert_int_equal(type->ask(solver, &(MerProposal){.point = found}, 1), 0);
}

/* A whole sweep of splits, in the order they were told. */
static void test_polish_takes_every_split_that_was_told(void **state)
{
    OpenedSplit *opened =
        open_split_graph("split", "soc", layer_graph("conv", 16, 16, 3, 32, 32, arena),
                         platform_named("diana", arena), arena);
    const MerOptimizerClass *type;
    void    *solver = open_split_solver(opened, "polish:all=true", MER_METRIC_ENERGY, &type);
    MerIndex starts[2][1] = {{0}, {15}}, found[1];
    (void)state;
    type->tell(solver, &(MerTrial){.point = starts[0], .score = 2, .warm = true}, 1);
    type->tell(solver, &(MerTrial){.point = starts[1], .score = 1, .warm = true}, 1);
    assert_int_equal(type->ask(solver, &(MerProposal){.point = found}, 1), 1);
    assert_int_equal(found[0], 0);
    type->tell(solver, &(MerTrial){.point = found, .score = 1}, 1);
    assert_int_equal(type->ask(solver, &(MerProposal){.point = found}, 1), 1);
    assert_int_equal(found[0], 16);
    assert_int_equal(type->ask(solver, &(MerProposal){.point = found}, 1), 0);
}

static void test_sensitivity_trades_loss_for_cost(void **state)
{
    double last_cost = 0, last_loss = INFINITY;
    (void)state;
    for (int i = 0; i <= 5; i++) {
        OpenedSplit *opened = open_split("split", "soc", "resnet8", "diana", arena);
        MerPlan plan = plan_by(opened, mer_arena_format(arena, "sensitivity:target=%g", i / 5.0),
                               MER_METRIC_LATENCY);
        MerCost cost = cost_of(opened, &plan);
        assert_true(cost.value[MER_METRIC_CYCLES] >= last_cost);
        assert_true(cost.value[MER_METRIC_DISTORTION] <= last_loss);
        assert_true(cost.value[MER_METRIC_CYCLES] <=
                    (30247.65 + i / 5.0 * (81545.25 - 30247.65)) * (1 + 1e-9));
        last_cost = cost.value[MER_METRIC_CYCLES];
        last_loss = cost.value[MER_METRIC_DISTORTION];
    }
    assert_true(last_loss < 0.01);
}

static void test_fixed_rules_that_mean_nothing_are_refused(void **state)
{
    const MerOptimizerClass *type = mer_optimizer_find("all_ternary", NULL);
    OpenedSplit             *opened = open_split("split", "soc", "resnet8", "darkside", arena);
    MerSearch                search = {
                       .space = &opened->problem.space, .objective = MER_METRIC_LATENCY, .arena = arena};
    MerError error = {0};
    (void)state;
    assert_int_equal(type->open_problem(mer_arena_alloc(arena, type->state_size), &search,
                                        &opened->problem, &opened->evaluator, NULL, &error),
                     MER_UNSUPPORTED);
    mer_test_contains(error.message, "its units do not differ in formats");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_of_a_residual_network),
        cmocka_unit_test(test_depthwise_engines_stand_in_for_pairs),
        cmocka_unit_test(test_three_units_mix_formats_and_operators),
        cmocka_unit_test(test_every_point_shares_all_channels_out),
        cmocka_unit_test(test_tied_layers_share_their_assignment),
        cmocka_unit_test(test_broken_plans_are_refused),
        cmocka_unit_test(test_what_cannot_be_computed_is_refused),
        cmocka_unit_test(test_weights_rank_channels),
        cmocka_unit_test(test_memory_is_refused_or_priced),
        cmocka_unit_test(test_weights_of_all_layers_fit_at_once),
        cmocka_unit_test(test_polish_never_raises_the_cost),
        cmocka_unit_test(test_polish_moves_to_a_hardware_step),
        cmocka_unit_test(test_polish_takes_every_split_that_was_told),
        cmocka_unit_test(test_sensitivity_trades_loss_for_cost),
        cmocka_unit_test(test_fixed_rules_that_mean_nothing_are_refused)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
