/* Whatever `map` writes can be read back: random plans of several kinds of layers cost the same
 * after a trip through Timeloop's, MAESTRO's and our own text. */
#include "import/layer_list.h"
#include "import/maestro_text.h"
#include "import/timeloop.h"
#include "layer/directive_format.h"
#include "map/directives/directives.h"
#include "map/export/maestro_plan.h"
#include "map/export/timeloop_mapping.h"
#include "map/nest/nest.h"
#include "map/nest/nest_format.h"
#include "mercator/yaml.h"
#include "run_support.h"

#include <math.h>
#include <stdbool.h>

typedef struct Layer {
    MerOpKind kind;
    int       n, k, c, y, x, r, s, g, stride, dilation;
} Layer;

static const Layer layers[] = {
    {MER_OP_CONV, 1, 64, 16, 28, 14, 3, 3, 1, 1, 1},
    {MER_OP_CONV, 2, 12, 8, 15, 15, 5, 1, 1, 2, 1},
    {MER_OP_CONV, 1, 8, 4, 12, 12, 3, 3, 6, 1, 2},
    {MER_OP_DEPTHWISE, 1, 1, 96, 14, 14, 3, 3, 1, 2, 1},
    {MER_OP_GEMM, 1, 96, 48, 40, 1, 1, 1, 1, 1, 1},
    {MER_OP_BATCHED_GEMM, 1, 24, 32, 16, 1, 1, 1, 6, 1, 1},
};

enum { LAYER_COUNT = sizeof layers / sizeof layers[0] };

static MerOp op_of(const Layer *layer)
{
    MerOp     op = mer_op_make("layer", "test", layer->kind);
    const int sizes[MER_DIM_COUNT] = {layer->n, layer->k, layer->c, layer->y,
                                      layer->x, layer->r, layer->s, layer->g};
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        op.dims[d] = sizes[d];
    }
    op.stride[0] = op.stride[1] = layer->stride;
    op.dilation[0] = op.dilation[1] = layer->dilation;
    return op;
}

static MerGraph *graph_of(const MerOp *op, MerArena *arena)
{
    MerGraph *graph = mer_graph_new("one", arena);
    mer_layer_add(graph, op);
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    return graph;
}

/* No tensor is fixed, so that random plans bypass; one memory has a fan-out on both axes. */
static const MerPlatform *free_platform(MerArena *arena)
{
    static const char text[] =
        "format: mercator-platform/1\nkind: pe-array\nname: free\nunits: [{name: MAC, mac_pj: "
        "1.0}]\nmemories:\n"
        "  - {name: DRAM, access_pj: 200, words_per_cycle: 16}\n"
        "  - {name: GLB, words: 1M, access_pj: 6, words_per_cycle: 32, fanout: {x: 64, y: 64}}\n"
        "  - {name: RF, words: 100k, access_pj: 1, words_per_cycle: 4}\n";
    return platform_from(text, arena);
}

static MerCost price(const MerPlatform *platform, const MerGraph *graph, const char *evaluator,
                     const MerPlan *plan, MerArena *arena)
{
    const MerEvaluatorClass *type = mer_evaluator_find(evaluator, NULL);
    MerTask                  task = {"layer", 1, (double)graph->ops[0].macs, 0, 0, NULL};
    MerProblem               problem = {
                      .type = mer_problem_find("map", NULL), .graph = graph, .platform = platform, .task = &task};
    MerCall  call = {.scratch = arena, .limit_metric = MER_METRIC_COUNT, .limit = INFINITY};
    void    *options = mer_arena_alloc(arena, type->options_size);
    void    *state = mer_arena_alloc(arena, type->state_size);
    MerCost  cost;
    MerError error = {0};
    mer_options_defaults(type->options, options, arena);
    if (type->open(state, &problem, options, arena, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    type->evaluate(state, plan, &call, &cost);
    return cost;
}

static void check_equal(const MerCost *a, const MerCost *b, const char *text)
{
    if (a->feasible != b->feasible ||
        (a->feasible && (a->value[MER_METRIC_ENERGY] != b->value[MER_METRIC_ENERGY] ||
                         a->value[MER_METRIC_CYCLES] != b->value[MER_METRIC_CYCLES]))) {
        fail_msg("%g pJ and %g cycles became %g and %g (%s, %s):\n%s", a->value[MER_METRIC_ENERGY],
                 a->value[MER_METRIC_CYCLES], b->value[MER_METRIC_ENERGY],
                 b->value[MER_METRIC_CYCLES], a->reason, b->reason, text);
    }
}

/* Through Timeloop's problem and mapping; false if it cannot say the plan. */
static bool check_timeloop(const MerPlatform *platform, const MerGraph *graph,
                           const MerNestPlan *plan, const MerCost *cost, MerArena *arena)
{
    const char *reason = NULL;
    MerError    error = {0};
    MerYaml    *root;
    MerOp       op = mer_op_make("layer", "problem", MER_OP_CONV);
    MerPlan     again = {&mer_plan_nest, MER_NEW(arena, MerNestPlan)};
    bool        is_shared = false;
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        is_shared = is_shared || (plan->levels[1].x[d] > 1 && plan->levels[1].y[d] > 1);
    }
    const char *text = mer_timeloop_mapping_write(plan, platform, &reason, arena);
    assert_int_equal(text == NULL, is_shared);
    if (!text) {
        mer_test_contains(reason, "--axes exclusive");
        return false;
    }
    assert_int_equal(mer_yaml_parse("map.yaml", text, strlen(text), arena, &root, &error), MER_OK);
    if (mer_timeloop_problem(root, &op, &error) != MER_OK) {
        fail_msg("%s\n%s", error.message, text);
    }
    MerGraph *copy = graph_of(&op, arena);
    if (mer_timeloop_mapping_read(mer_yaml_get(root, "mapping"), &copy->ops[0], platform,
                                  mer_nest_plan(&again), arena, &error) != MER_OK) {
        fail_msg("%s\n%s", error.message, text);
    }
    assert_int_equal(copy->macs, graph->macs);
    MerCost found = price(platform, copy, "loopnest", &again, arena);
    check_equal(cost, &found, text);
    return true;
}

static void check_line(const MerPlatform *platform, const MerGraph *graph, const MerNestPlan *plan,
                       const MerCost *cost, MerArena *arena)
{
    const char *line = mer_nest_line(plan, platform, arena);
    MerError    error = {0};
    MerPlan     again = {&mer_plan_nest, MER_NEW(arena, MerNestPlan)};
    if (mer_nest_parse(line, &graph->ops[0], platform, false, again.content, arena, &error) !=
        MER_OK) {
        fail_msg("%s\n%s", error.message, line);
    }
    MerCost found = price(platform, graph, "loopnest", &again, arena);
    check_equal(cost, &found, line);
}

static void test_nests_cost_the_same_after_a_trip_through_text(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(3, 1);
    int    said = 0;
    for (int i = 0; i < LAYER_COUNT; i++) {
        for (int n = 0; n < 60; n++) {
            MerArena          *arena = mer_arena_new();
            const MerPlatform *platform = free_platform(arena);
            MerOp              op = op_of(&layers[i]);
            MerGraph          *graph = graph_of(&op, arena);
            MerNestSpace       nest;
            MerSpace           space;
            MerPlan            plan = {&mer_plan_nest, MER_NEW(arena, MerNestPlan)};
            assert_int_equal(mer_nest_space_open(&nest, &graph->ops[0], platform, MER_GENOME_PRIMES,
                                                 NULL, &space, arena, NULL),
                             MER_OK);
            MerIndex *point = MER_ARRAY(arena, MerIndex, space.knob_count + 1);
            mer_space_sample(&space, &rng, point);
            mer_nest_decode(&nest, point, mer_nest_plan(&plan), arena);
            MerCost cost = price(platform, graph, "loopnest", &plan, arena);
            check_line(platform, graph, mer_nest_plan(&plan), &cost, arena);
            said += check_timeloop(platform, graph, mer_nest_plan(&plan), &cost, arena);
            mer_arena_free(arena);
        }
    }
    assert_true(said > 40);
}

static void test_directives_cost_the_same_after_a_trip_through_maestro(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(5, 1);
    for (int i = 0; i < LAYER_COUNT; i++) {
        if (layers[i].dilation != 1 || layers[i].kind == MER_OP_BATCHED_GEMM) {
            continue;
        }
        for (int n = 0; n < 40; n++) {
            MerArena           *arena = mer_arena_new();
            const MerPlatform  *platform = NULL;
            MerError            error = {0};
            MerOp               op = op_of(&layers[i]);
            MerGraph           *graph = graph_of(&op, arena);
            MerGraph           *copy = NULL;
            MerDirectiveSpace   directives;
            MerDirectiveOptions options = {.genome = MER_GENOME_GAMMA};
            MerPlan             plan = {&mer_plan_directives, MER_NEW(arena, MerDirectivePlan)};
            MerPlan             again = {&mer_plan_directives, MER_NEW(arena, MerDirectivePlan)};
            MerMaestroFile      file;
            assert_int_equal(mer_platform_read("edge", arena, &platform, NULL), MER_OK);
            assert_int_equal(
                mer_directives_open(&directives, &graph->ops[0], platform, &options, arena, &error),
                MER_OK);
            MerIndex *point = MER_ARRAY(arena, MerIndex, directives.space.knob_count + 1);
            mer_space_sample(&directives.space, &rng, point);
            mer_directives_decode(&directives, point, mer_directive_plan(&plan), arena);
            MerCost     cost = price(platform, graph, "datacentric", &plan, arena);
            const char *text =
                mer_arena_format(arena, "Network one {\n%s}\n",
                                 mer_directives_maestro(mer_directive_plan(&plan), false, arena));
            MerImportFile input = {
                .path = "one.m", .name = "one", .data = text, .size = strlen(text)};
            if (mer_importer_maestro.read(&input, NULL, arena, &copy, &error) != MER_OK ||
                mer_maestro_parse("one.m", text, strlen(text), arena, &file, &error) != MER_OK ||
                mer_maestro_plan("one.m", &file.networks[0].layers[0], NULL, &copy->ops[0],
                                 mer_directive_plan(&again), arena, &error) != MER_OK) {
                fail_msg("%s\n%s", error.message, text);
            }
            MerCost found = price(platform, copy, "datacentric", &again, arena);
            check_equal(&cost, &found, text);
            mer_arena_free(arena);
        }
    }
}

static void test_what_timeloop_cannot_say_is_named(void **state)
{
    (void)state;
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform = free_platform(arena);
    MerOp              op = op_of(&layers[0]);
    MerNestPlan        plan;
    const char        *reason = NULL;
    mer_nest_plan_make(&plan, &op, 3, arena);
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        plan.levels[2].temporal[d] = (int)op.dims[d];
    }
    assert_non_null(mer_timeloop_mapping_write(&plan, platform, &reason, arena));
    plan.levels[2].temporal[MER_DIM_K] += 1;
    assert_null(mer_timeloop_mapping_write(&plan, platform, &reason, arena));
    mer_test_contains(reason, "run past the layer");
    op.kind = MER_OP_TRANSPOSED;
    assert_null(mer_timeloop_mapping_write(&plan, platform, &reason, arena));
    mer_test_contains(reason, "transposed");
    mer_arena_free(arena);
}

static void read_wrong(const char *text, const char *part)
{
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform = free_platform(arena);
    MerOp              op = op_of(&layers[0]);
    MerError           error = {0};
    MerYaml           *root;
    MerNestPlan        plan;
    assert_int_equal(mer_yaml_parse("map.yaml", text, strlen(text), arena, &root, &error), MER_OK);
    if (mer_timeloop_mapping_read(mer_yaml_get(root, "mapping"), &op, platform, &plan, arena,
                                  &error) == MER_OK) {
        fail_msg("accepted, expected \"%s\"", part);
    }
    mer_test_contains(error.message, part);
    mer_arena_free(arena);
}

static void test_wrong_mappings_are_refused_with_their_place(void **state)
{
    (void)state;
    read_wrong("mapping: []\n", "the factors of K multiply to 1, expected 64");
    read_wrong("mapping:\n- {target: GLBB, type: temporal}\n",
               "map.yaml:2:12: mapping[0].target is \"GLBB\"");
    read_wrong("mapping:\n- {target: GLB, type: temporal}\n- {target: GLB, type: temporal}\n",
               "second temporal entry");
    read_wrong("mapping:\n- {target: GLB, type: temporal, factors: \"M=x\"}\n", "factors such as");
    read_wrong("mapping:\n- {target: GLB, type: temporal, permutation: CMC}\n", "each once");
    read_wrong("mapping:\n- {target: DRAM, type: datatype, bypass: [Weights]}\n",
               "outermost memory cannot bypass");
    read_wrong("mapping:\n- {target: GLB, type: temporal, factors: M<=4}\n",
               "a mapping has no limits");
    read_wrong("mapping:\n- {target: GLB, type: temporal, factor: M=4}\n", "factor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nests_cost_the_same_after_a_trip_through_text),
        cmocka_unit_test(test_directives_cost_the_same_after_a_trip_through_maestro),
        cmocka_unit_test(test_what_timeloop_cannot_say_is_named),
        cmocka_unit_test(test_wrong_mappings_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
