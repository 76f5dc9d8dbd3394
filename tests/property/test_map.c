/* `map` on layers of every kind: every random loop nest covers its layer, encode inverts decode, plans that
 * are written can be read back, and no random point beats a bound. tests/property/test_every_problem.c asks
 * less of every problem. */
#include "one_arena.h"
#include "run_support.h"

#include "map/nest/nest_plan.h"
#include "mercator/json.h"
#include "mercator/yaml.h"

#include <math.h>

enum { MAX_POINTS = 40000, FEASIBLE_POINTS = 40 };

typedef struct Case { /* inputs on which a problem can be opened */
    const char        *problem, *options;
    const MerGraph    *graph;
    const MerPlatform *platform;
} Case;

typedef struct Opened {
    MerProblem   problem;
    MerEvaluator evaluator;
    MerTask      task;
    bool         is_padded; /* loops may run past the layer */
} Opened;

static MerGraph *layer_of(MerOpKind kind, int n, int k, int c, int y, int x, int r, int s, int g,
                          int stride)
{
    MerOp op = mer_op_make("layer", "test", kind);
    int   dims[MER_DIM_COUNT] = {n, k, c, y, x, r, s, g};
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        op.dims[d] = dims[d];
    }
    op.stride[0] = op.stride[1] = stride;
    return one_op_graph(&op, arena);
}

static int list_cases(Case *cases)
{
    static const char bypass[] =
        "{format: mercator-platform/1, kind: pe-array, name: free, units: [{name: MAC, mac_pj: 1}],"
        " memories: [{name: DRAM, access_pj: 200, words_per_cycle: 16},"
        " {name: GLB, words: 4096, access_pj: 6, words_per_cycle: 32, fanout: {x: 4, y: 4}},"
        " {name: SPAD, words: 256, access_pj: 2, words_per_cycle: 8, fanout: {x: 2}},"
        " {name: RF, words: 64, access_pj: 1, words_per_cycle: 4}]}";
    const MerPlatform *s256 = platform_named("s256", arena);
    const MerPlatform *four = platform_from(bypass, arena);
    const MerPlatform *two = platform_from(
        "{format: mercator-platform/1, kind: pe-array, name: two, units: [{name: MAC, mac_pj: 1}],"
        " memories: [{name: DRAM, access_pj: 9, words_per_cycle: 4}, {name: RF, words: 24, "
        "access_pj: 4}]}",
        arena);
    int       count = 0;
    MerGraph *graphs[] = {
        layer_of(MER_OP_CONV, 1, 12, 8, 7, 6, 3, 3, 1, 2),
        layer_of(MER_OP_CONV, 2, 6, 4, 4, 4, 3, 1, 3, 1),
        layer_of(MER_OP_DEPTHWISE, 1, 1, 16, 8, 8, 3, 3, 1, 1),
        layer_of(MER_OP_GEMM, 1, 24, 16, 32, 1, 1, 1, 1, 1),
        layer_of(MER_OP_BATCHED_GEMM, 1, 8, 16, 8, 1, 1, 1, 4, 1),
        layer_of(MER_OP_TRANSPOSED, 1, 6, 4, 5, 5, 3, 3, 1, 2),
        layer_of(MER_OP_CONV, 1, 16, 8, 14, 14, 1, 1, 1, 2), /* a stride that skips inputs */
        /* primes: perfect factors waste the array */
        layer_of(MER_OP_CONV, 1, 13, 11, 7, 7, 3, 3, 1, 1),
    };
    cases[count++] = (Case){"map", "map:genome=primes",
                            layer_of(MER_OP_DEPTHWISE, 1, 1, 3, 4, 4, 2, 1, 1, 1), two};
    cases[count++] =
        (Case){"map", "map:genome=primes", layer_of(MER_OP_CONV, 1, 12, 3, 1, 1, 3, 3, 1, 1), two};
    for (size_t g = 0; g < sizeof graphs / sizeof graphs[0]; g++) {
        cases[count++] = (Case){"map", "map:genome=primes", graphs[g], s256};
        cases[count++] = (Case){"map", "map:genome=divisors", graphs[g], s256};
        cases[count++] = (Case){"map", "map:genome=primes", graphs[g], four};
        cases[count++] = (Case){"map", "map:genome=divisors", graphs[g], four};
        cases[count++] = (Case){"map", "map:factors=padded", graphs[g], s256};
        cases[count++] = (Case){"map", "map:factors=padded", graphs[g], four};
    }
    return count;
}

static void open_case(const Case *from, Opened *opened)
{
    MerError               error = {0};
    const MerProblemClass *type = mer_problem_find(from->problem, NULL);
    const void *options = options_from(from->options, type->options, type->options_size, arena);
    opened->is_padded = strstr(from->options, "padded") != NULL;
    opened->task = (MerTask){"layer", 1, (double)from->graph->macs, 0, 0, NULL};
    opened->problem = (MerProblem){.type = type,
                                   .options = options,
                                   .graph = from->graph,
                                   .platform = from->platform,
                                   .task = &opened->task,
                                   .plan = type->plans[0],
                                   .state = mer_arena_alloc(arena, type->state_size)};
    const MerEvaluatorClass *evaluator = mer_evaluator_find(type->evaluator, NULL);
    if (type->open(&opened->problem, arena, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    const void *evaluator_options =
        options_from(evaluator->name, evaluator->options, evaluator->options_size, arena);
    opened->evaluator =
        (MerEvaluator){evaluator, mer_arena_alloc(arena, evaluator->state_size), evaluator_options};
    if (evaluator->open(opened->evaluator.state, &opened->problem, evaluator_options, arena,
                        &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
}

static MerCost price(const Opened *opened, const MerPlan *plan)
{
    MerCost cost;
    MerCall call = {.scratch = arena, .limit = INFINITY, .limit_metric = MER_METRIC_COUNT};
    opened->evaluator.type->evaluate(opened->evaluator.state, plan, &call, &cost);
    return cost;
}

static void assert_same_cost(const MerCost *a, const MerCost *b)
{
    assert_int_equal(a->feasible, b->feasible);
    assert_string_equal(a->reason, b->reason);
    for (int m = 0; a->feasible && m < MER_METRIC_COUNT; m++) {
        assert_true(a->value[m] == b->value[m] || (isnan(a->value[m]) && isnan(b->value[m])));
    }
}

static void for_every_point(void (*check)(const Opened *, const MerIndex *, const MerPlan *,
                                          const MerCost *))
{
    Case cases[64];
    int  count = list_cases(cases);
    for (int c = 0; c < count; c++) {
        Opened opened;
        open_case(&cases[c], &opened);
        MerRng    rng = mer_rng_make(11, (uint64_t)c);
        MerIndex *point = MER_ARRAY(arena, MerIndex, opened.problem.space.knob_count + 1);
        int       feasible = 0;
        for (int i = 0; i < MAX_POINTS && feasible < FEASIBLE_POINTS; i++) {
            MerPlan plan;
            mer_space_sample(&opened.problem.space, &rng, point);
            opened.problem.type->decode(&opened.problem, point, &plan, arena);
            MerCost cost = price(&opened, &plan);
            feasible += cost.feasible;
            if (cost.feasible || i < FEASIBLE_POINTS) {
                check(&opened, point, &plan, &cost);
            }
        }
        if (feasible == 0) {
            fail_msg("case %d: none of %d random points is feasible, the test says nothing", c,
                     MAX_POINTS);
        }
    }
}

static void check_cover(const Opened *opened, const MerIndex *point, const MerPlan *plan,
                        const MerCost *cost)
{
    (void)point;
    const MerNestPlan *nest = mer_nest_plan(plan);
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        int64_t product = 1;
        for (int l = 0; l < nest->level_count; l++) {
            product *=
                (int64_t)nest->levels[l].temporal[d] * nest->levels[l].x[d] * nest->levels[l].y[d];
        }
        int64_t size = opened->problem.graph->ops[0].dims[d];
        assert_true(opened->is_padded && size > 1 ? product >= size : product == size);
    }
    assert_true(cost->feasible || strchr(cost->reason, ':') != NULL);
}

static void test_every_random_point_decodes_to_a_whole_layer(void **state)
{
    (void)state;
    for_every_point(check_cover);
}

static void check_encode(const Opened *opened, const MerIndex *point, const MerPlan *plan,
                         const MerCost *cost)
{
    (void)point;
    MerIndex *back = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count + 1);
    MerPlan   again;
    assert_true(opened->problem.type->encode(&opened->problem, plan, back));
    assert_true(mer_space_contains(&opened->problem.space, back));
    opened->problem.type->decode(&opened->problem, back, &again, arena);
    MerCost other = price(opened, &again);
    assert_same_cost(cost, &other);
}

static void test_encode_gives_a_point_of_the_same_plan(void **state)
{
    (void)state;
    for_every_point(check_encode);
}

static void check_round_trip(const Opened *opened, const MerIndex *point, const MerPlan *plan,
                             const MerCost *cost)
{
    (void)point;
    MerJson  json = {0};
    MerYaml *body;
    MerPlan  again;
    MerError error = {0};
    mer_json_object(&json, NULL);
    opened->problem.plan->write(&opened->problem, plan, &json);
    mer_json_end_object(&json);
    assert_int_equal(mer_yaml_parse("plan", json.text, json.size, arena, &body, &error), MER_OK);
    if (opened->problem.plan->read(&opened->problem, body, &again, arena, &error) != MER_OK) {
        fail_msg("%s in %s", error.message, json.text);
    }
    MerCost other = price(opened, &again);
    assert_same_cost(cost, &other);
    mer_json_free(&json);
}

static void test_written_plans_read_back_with_the_same_cost(void **state)
{
    (void)state;
    for_every_point(check_round_trip);
}

static void check_bounds(const Opened *opened, const MerIndex *point, const MerPlan *plan,
                         const MerCost *cost)
{
    (void)point;
    (void)plan;
    static const MerMetric metrics[] = {MER_METRIC_CYCLES, MER_METRIC_ENERGY, MER_METRIC_EDP};
    for (int m = 0; cost->feasible && m < 3; m++) {
        MerBound            bound;
        const MerEvaluator *evaluator = &opened->evaluator;
        opened->problem.type->bound(&opened->problem, evaluator->type->rules(evaluator->state),
                                    metrics[m], &bound);
        if (!(cost->value[metrics[m]] >= bound.value * (1 - 1e-12))) {
            fail_msg("%s %.17g is below the bound %.17g on %s", mer_metric_info(metrics[m])->name,
                     cost->value[metrics[m]], bound.value, opened->problem.platform->name);
        }
    }
}

static void test_no_random_point_beats_a_bound(void **state)
{
    (void)state;
    for_every_point(check_bounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_random_point_decodes_to_a_whole_layer),
        cmocka_unit_test(test_encode_gives_a_point_of_the_same_plan),
        cmocka_unit_test(test_written_plans_read_back_with_the_same_cost),
        cmocka_unit_test(test_no_random_point_beats_a_bound),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
