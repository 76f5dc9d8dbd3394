/* The fast forms of the loop-nest model against the plain one, bit for bit, on random plans of every
 * kind of layer. */
#include "one_arena.h"
#include "run_support.h"

#include "map/cost/loopnest.h"

#include <math.h>

enum { PLANS = 37, ROUNDS = 60 }; /* 37 is not a multiple of the lanes */

typedef struct Opened {
    MerProblem   problem;
    MerEvaluator evaluator;
    MerTask      task;
} Opened;

typedef struct Layer {
    MerOpKind kind;
    int       dims[MER_DIM_COUNT]; /* N K C Y X R S G */
    int       stride, dilation;
} Layer;

static const Layer layers[] = {
    {MER_OP_CONV, {1, 12, 8, 7, 6, 3, 3, 1}, 2, 1},
    {MER_OP_CONV, {2, 6, 4, 4, 4, 3, 1, 3}, 1, 2},
    {MER_OP_CONV, {1, 128, 128, 28, 28, 3, 3, 1}, 1, 1},
    {MER_OP_DEPTHWISE, {1, 1, 16, 8, 8, 3, 3, 1}, 1, 1},
    {MER_OP_GEMM, {1, 24, 16, 32, 1, 1, 1, 1}, 1, 1},
    {MER_OP_BATCHED_GEMM, {1, 8, 16, 8, 1, 1, 1, 4}, 1, 1},
    {MER_OP_TRANSPOSED, {1, 6, 4, 5, 5, 3, 3, 1}, 2, 1},
    {MER_OP_GEMM, {1, 1, 48, 1, 1, 1, 1, 1}, 1, 1},
};
enum { LAYERS = sizeof layers / sizeof layers[0] };

static const char keep_all[] = "{format: mercator-platform/1, kind: pe-array, name: four, "
                               "clock_hz: 1.0e+9, units: [{name: MAC, mac_pj: 1.5}],"
                               " memories: [{name: DRAM, access_pj: 200, words_per_cycle: 16},"
                               " {name: GLB, words: 8192, access_pj: 6.1, words_per_cycle: 32, "
                               "fanout: {x: 4, y: 4, pj_per_word: 0.3},"
                               " keep: [W, I, O]},"
                               " {name: SPAD, words: 512, access_pj: 2.3, words_per_cycle: 8, "
                               "fanout: {x: 2}, keep: [I, O], bypass: [W]},"
                               " {name: RF, words: 128, access_pj: 0.7, words_per_cycle: 4, keep: "
                               "[W, O], bypass: [I], fanout: {x: 2, y: 2}}]}";
static const char free_keep[] =
    "{format: mercator-platform/1, kind: pe-array, name: free, units: [{name: MAC, mac_pj: 1}],"
    " memories: [{name: DRAM, access_pj: 200, words_per_cycle: 16},"
    " {name: GLB, words: 4096, access_pj: 6, words_per_cycle: 32, fanout: {x: 4, y: 4}},"
    " {name: RF, words: 64, access_pj: 1, words_per_cycle: 4}]}";

static void open_layer(const Layer *layer, const MerPlatform *platform, const char *options,
                       Opened *opened)
{
    MerError                 error = {0};
    const MerProblemClass   *type = mer_problem_find("map", NULL);
    const MerEvaluatorClass *evaluator = mer_evaluator_find("loopnest", NULL);
    MerOp                    op = mer_op_make("layer", "test", layer->kind);
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        op.dims[d] = layer->dims[d];
    }
    op.stride[0] = op.stride[1] = layer->stride;
    op.dilation[0] = op.dilation[1] = layer->dilation;
    const MerGraph *graph = one_op_graph(&op, arena);
    const void     *problem_options = options_from("map", type->options, type->options_size, arena);
    const void     *evaluator_options =
        options_from(options, evaluator->options, evaluator->options_size, arena);
    opened->task = (MerTask){"layer", 1, (double)graph->macs, 0, 0, NULL};
    opened->problem = (MerProblem){.type = type,
                                   .options = problem_options,
                                   .graph = graph,
                                   .platform = platform,
                                   .task = &opened->task,
                                   .plan = &mer_plan_nest,
                                   .state = mer_arena_alloc(arena, type->state_size)};
    opened->evaluator =
        (MerEvaluator){evaluator, mer_arena_alloc(arena, evaluator->state_size), evaluator_options};
    if (type->open(&opened->problem, arena, &error) != MER_OK ||
        evaluator->open(opened->evaluator.state, &opened->problem, evaluator_options, arena,
                        &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
}

static void assert_same_bits(const MerCost *found, const MerCost *expected)
{
    assert_int_equal(found->feasible, expected->feasible);
    assert_string_equal(found->reason, expected->reason);
    assert_memory_equal(found->value, expected->value, sizeof found->value);
}

static void evaluate(const Opened *opened, const MerPlan *plan, MerCost *cost)
{
    MerCall call = {.scratch = arena, .limit = INFINITY, .limit_metric = MER_METRIC_COUNT};
    opened->evaluator.type->evaluate(opened->evaluator.state, plan, &call, cost);
}

/* Random plans, more of them small enough to fit than chance would give: points start from one prime
 * factor per slot outside and take random steps. */
static void sample_plan(const Opened *opened, MerRng *rng, MerPlan *plan)
{
    const MerSpace *space = &opened->problem.space;
    MerIndex       *point = MER_ARRAY(arena, MerIndex, space->knob_count + 1);
    MerCost         cost;
    for (int attempt = 0; attempt < 20; attempt++) {
        mer_space_sample(space, rng, point);
        opened->problem.type->decode(&opened->problem, point, plan, arena);
        evaluate(opened, plan, &cost);
        if (cost.feasible) {
            return;
        }
    }
}

static int compare_batches(const Opened *opened, uint64_t stream)
{
    MerRng  rng = mer_rng_make(5, stream);
    MerPlan plans[PLANS];
    MerCall calls[PLANS];
    MerCost batch[PLANS];
    int     feasible = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PLANS; i++) {
            calls[i] =
                (MerCall){.scratch = arena, .limit = INFINITY, .limit_metric = MER_METRIC_COUNT};
            sample_plan(opened, &rng, &plans[i]);
        }
        opened->evaluator.type->evaluate_batch(opened->evaluator.state, plans, PLANS, calls, batch);
        for (int i = 0; i < PLANS; i++) {
            MerCost plain;
            evaluate(opened, &plans[i], &plain);
            assert_same_bits(&batch[i], &plain);
            feasible += plain.feasible;
        }
    }
    return feasible;
}

static void compare_all(const MerPlatform *platform, const char *options)
{
    for (int i = 0; i < LAYERS; i++) {
        Opened opened;
        open_layer(&layers[i], platform, options, &opened);
        if (compare_batches(&opened, (uint64_t)i) == 0) {
            fail_msg("layer %d on %s: no plan fits, the test says nothing", i, platform->name);
        }
    }
}

static void test_batches_cost_what_single_plans_cost_on_s256(void **state)
{
    (void)state;
    compare_all(platform_named("s256", arena), "loopnest");
    compare_all(platform_named("s256", arena), "loopnest:axes=exclusive");
}

static void test_batches_cost_what_single_plans_cost_with_fixed_bypass(void **state)
{
    (void)state;
    compare_all(platform_from(keep_all, arena), "loopnest");
}

static void test_batches_cost_what_single_plans_cost_where_kernels_do_not_apply(void **state)
{
    (void)state;
    compare_all(platform_from(free_keep, arena), "loopnest");
    compare_all(platform_named("s256", arena), "loopnest:halo=timeloop");
    compare_all(platform_named("s256", arena), "loopnest:ramp=true");
}

static void test_every_vector_width_gives_the_same_bits(void **state)
{
    (void)state;
    const MerPlatform *platform = platform_from(keep_all, arena);
    int                priced = 0;
    for (int i = 0; i < LAYERS; i++) {
        Opened opened;
        open_layer(&layers[i], platform, "loopnest", &opened);
        MerRng rng = mer_rng_make(6, (uint64_t)i);
        for (int round = 0; round < ROUNDS; round++) {
            MerPlan            plans[MER_NEST_LANES];
            const MerNestPlan *nests[MER_NEST_LANES];
            MerNestFigures     widest;
            for (int j = 0; j < MER_NEST_LANES; j++) {
                sample_plan(&opened, &rng, &plans[j]);
                nests[j] = mer_nest_plan(&plans[j]);
            }
            mer_nest_price_lanes(opened.evaluator.state, nests, 512, &widest);
            for (int bits = 128; bits <= 256; bits *= 2) {
                MerNestFigures figures;
                mer_nest_price_lanes(opened.evaluator.state, nests, bits, &figures);
                for (int j = 0; j < MER_NEST_LANES; j++) {
                    assert_int_equal(figures.is_priced[j], widest.is_priced[j]);
                    assert_true(!widest.is_priced[j] || (figures.cycles[j] == widest.cycles[j] &&
                                                         figures.energy[j] == widest.energy[j] &&
                                                         figures.words[j] == widest.words[j]));
                }
            }
            for (int j = 0; j < MER_NEST_LANES; j++) {
                priced += widest.is_priced[j];
            }
        }
    }
    assert_true(priced > 100);
}

/* Too many MACs for exact counts in any order: the kernels must stand back. */
static void test_plans_too_large_to_count_exactly_are_left_to_the_plain_version(void **state)
{
    (void)state;
    static const Layer huge = {MER_OP_CONV, {1, 1 << 15, 1 << 15, 1 << 15, 1 << 15, 1, 1, 1}, 1, 1};
    Opened             opened;
    MerPlan            plan;
    MerNestFigures     figures;
    const MerNestPlan *nests[MER_NEST_LANES];
    open_layer(&huge, platform_named("s256", arena), "loopnest", &opened);
    MerIndex *point = MER_ARRAY(arena, MerIndex, opened.problem.space.knob_count + 1);
    /* everything in the outermost memory */
    for (int k = 0; k < opened.problem.space.knob_count; k++) {
        point[k] = opened.problem.space.knobs[k].role == MER_ROLE_TILE
                       ? opened.problem.space.knobs[k].choices - 1
                       : 0;
    }
    opened.problem.type->decode(&opened.problem, point, &plan, arena);
    for (int i = 0; i < MER_NEST_LANES; i++) {
        nests[i] = mer_nest_plan(&plan);
    }
    MerCost plain;
    evaluate(&opened, &plan, &plain);
    assert_true(plain.feasible);
    mer_nest_price_lanes(opened.evaluator.state, nests, 512, &figures);
    assert_false(figures.is_priced[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_cost_what_single_plans_cost_on_s256),
        cmocka_unit_test(test_batches_cost_what_single_plans_cost_with_fixed_bypass),
        cmocka_unit_test(test_batches_cost_what_single_plans_cost_where_kernels_do_not_apply),
        cmocka_unit_test(test_every_vector_width_gives_the_same_bits),
        cmocka_unit_test(test_plans_too_large_to_count_exactly_are_left_to_the_plain_version),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
