/* The published contiguous optima of Tarnawski et al. and the pipelines of PipeDream, and the numbers of down-sets behind them
 * (tests/shared.h). The optima were computed with the authors' solvers; digits as far as they are known. */
#include "one_arena.h"
#include "place_support.h"
#include "shared.h"

#include "place/solve/stages.h"

static const MerIdealLimits usual_limits = {60000, 2000000};

typedef struct Row {
    const char *file;
    double      optimum_ms;
    int64_t     ideals;
} Row;

/* clang-format off */
static const Row rows[] = {
    {"msr-throughput-layer/bert24_training.json",       41.7458125,      30},
    {"msr-throughput-layer/gnmt_inference.json",        32.910658203,    17914},
    {"msr-throughput-layer/resnet50_inference.json",    33.774666015625, 242},
    {"msr-throughput-operator/bert_l-3_inference.json", 27.9185676799126, 1428},
    {"msr-throughput-operator/resnet50_training.json",  255.194416452174, 258},
};
/* clang-format on */

static OpenedPlace *open_shared(const char *problem, const char *evaluator, const char *file,
                                const MerPlatform *platform)
{
    char path[SHARED_PATH_SIZE];
    shared_path(path, mer_arena_format(arena, "golden/placement/%s", file));
    const MerGraph *graph = graph_named(path, arena);
    return open_place_graph(problem, evaluator, graph,
                            platform ? platform : mer_graph_attachment(graph, "platform"), arena);
}

static const MerPlaceRules *rules_of(const OpenedPlace *opened)
{
    return opened->evaluator.type->rules(opened->evaluator.state);
}

static void assert_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * expected)) {
        fail_msg("%.15g, expected %.15g", value, expected);
    }
}

static void assert_price(const OpenedPlace *opened, const int *unit, double value_us)
{
    MerIndex *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count);
    assert_true(mer_place_point(opened->place, unit, point));
    MerCost cost = price_point(opened, point);
    assert_true(cost.feasible);
    assert_close(cost.value[MER_METRIC_PERIOD], 1e-6 * value_us);
}

static void test_contiguous_optima_are_the_published_ones(void **state)
{
    MerPool *pool = mer_pool_new(2);
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        OpenedPlace *opened =
            open_shared("place", "maxload:require_contiguous=true", rows[r].file, NULL);
        int    groups = opened->place->group_count;
        int   *unit = MER_ARRAY(arena, int, groups), *again = MER_ARRAY(arena, int, groups);
        double value, value_again;
        bool   is_proven;
        assert_true(mer_place_ideal_split(opened->place, rules_of(opened), &usual_limits, NULL,
                                          NULL, unit, &value, &is_proven, arena));
        assert_true(is_proven);
        assert_close(value / 1000, rows[r].optimum_ms);
        assert_price(opened, unit, value);
        assert_true(mer_place_ideal_split(opened->place, rules_of(opened), &usual_limits, NULL,
                                          pool, again, &value_again, &is_proven, arena));
        assert_memory_equal(unit, again, (size_t)groups * sizeof *unit);
    }
    mer_pool_free(pool);
}

static void test_down_sets_are_as_many_as_published(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        OpenedPlace   *opened = open_shared("place", "maxload", rows[r].file, NULL);
        MerIdealLimits one_less = {rows[r].ideals - 1, usual_limits.explored};
        assert_int_equal(
            mer_place_count_ideals(opened->place, rules_of(opened), &usual_limits, arena),
            rows[r].ideals);
        assert_int_equal(mer_place_count_ideals(opened->place, rules_of(opened), &one_less, arena),
                         -1);
    }
}

/* Nothing is below the optimum with overlap, which is below the one without. */
static void test_overlap_never_costs(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        OpenedPlace *opened = open_shared("place", "maxload:transfer=max", rows[r].file, NULL);
        int         *unit = MER_ARRAY(arena, int, opened->place->group_count);
        double       value;
        bool         is_proven;
        assert_true(mer_place_ideal_split(opened->place, rules_of(opened), &usual_limits, NULL,
                                          NULL, unit, &value, &is_proven, arena));
        assert_true(is_proven && value / 1000 <= rows[r].optimum_ms * (1 + 1e-12));
        assert_price(opened, unit, value);
    }
}

static void test_cuts_of_chains_are_no_better_than_the_optimum(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        OpenedPlace *opened = open_shared("place", "maxload", rows[r].file, NULL);
        int         *unit = MER_ARRAY(arena, int, opened->place->group_count);
        double       value;
        assert_true(mer_place_chain_split(opened->place, rules_of(opened), NULL, NULL, unit, &value,
                                          arena));
        assert_true(value / 1000 >= rows[r].optimum_ms * (1 - 1e-9));
        assert_price(opened, unit, value);
    }
}

typedef struct Pipeline {
    const char *file;
    int         states; /* down-sets that are not empty */
    double      single, straight, replicated;
} Pipeline;

/* clang-format off */
static const Pipeline pipelines[] = { /* 4 units, 1e9 bytes/s, seconds; single: one unit */
    {"pipedream/vgg16.txt",      40,    0.672535, 0.216450, 0.175732624},
    {"pipedream/resnet50.txt",   240,   0.443419, 0.111497, 0.111497},
    {"pipedream/gnmt_large.txt", 16885, 0.520453, 0.137129, 0.137129},
};
/* clang-format on */

static const MerPlatform *equal_units(int count)
{
    return platform_from(mer_arena_format(arena,
                                          "{format: mercator-platform/1, kind: cluster, name: "
                                          "equal, classes: {gpu: {}}, units: [{name: gpu, class: "
                                          "gpu, count: %d}]}",
                                          count),
                         arena);
}

static double solve(const OpenedPlace *opened, const char *solver)
{
    MerError                 error = {0};
    const MerOptimizerClass *type = mer_optimizer_find(name_in(solver, arena), &error);
    const void *options = options_from(solver, type->options, type->options_size, arena);
    void       *state = mer_arena_alloc(arena, type->state_size);
    MerSearch   search = {.space = &opened->problem.space,
                          .objective = MER_METRIC_PERIOD,
                          .budget = 10,
                          .arena = arena};
    MerProposal proposal = {.point =
                                MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count + 1)};
    if (type->open_problem(state, &search, &opened->problem, &opened->evaluator, options, &error) !=
        MER_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(type->ask(state, &proposal, 1), 1);
    MerCost cost = price_point(opened, proposal.point);
    assert_true(cost.feasible);
    return cost.value[MER_METRIC_PERIOD];
}

static void test_pipelines_take_the_published_times(void **state)
{
    (void)state;
    for (size_t p = 0; p < sizeof pipelines / sizeof pipelines[0]; p++) {
        const Pipeline *row = &pipelines[p];
        const char     *evaluator = "maxload:bandwidth=1e9";
        OpenedPlace    *four =
            open_shared("place:replication=true", evaluator, row->file, equal_units(4));
        OpenedPlace *one =
            open_shared("place:replication=true", evaluator, row->file, equal_units(1));
        assert_close(solve(one, "pipedream"), row->single);
        assert_close(solve(four, "pipedream:straight=true"), row->straight);
        assert_close(solve(four, "pipedream"), row->replicated);
        assert_close(solve(four, "pipedream:use_fewer_machines=true"), row->replicated);
    }
}

static void test_pipelines_have_the_published_states(void **state)
{
    (void)state;
    for (size_t p = 0; p < sizeof pipelines / sizeof pipelines[0]; p++) {
        OpenedPlace *opened = open_shared("place", "maxload", pipelines[p].file, equal_units(4));
        const MerStageKinds  *kinds = mer_stage_unit_kinds(opened->place, arena);
        const MerStageBlocks *blocks =
            mer_stage_blocks(opened->place, rules_of(opened), kinds, (MerStageMerges){0}, arena);
        const MerIdeals *ideals = mer_stage_list_ideals(blocks, &usual_limits, NULL, arena);
        assert_non_null(ideals);
        assert_int_equal(ideals->count - 1, pipelines[p].states);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contiguous_optima_are_the_published_ones),
        cmocka_unit_test(test_down_sets_are_as_many_as_published),
        cmocka_unit_test(test_overlap_never_costs),
        cmocka_unit_test(test_cuts_of_chains_are_no_better_than_the_optimum),
        cmocka_unit_test(test_pipelines_take_the_published_times),
        cmocka_unit_test(test_pipelines_have_the_published_states),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
