/* The proven optima of the nine reference layers on s256 (EDP): never worse than the annealing results
 * of docs/loopnest-model.md, "Reference figures", and equal to what was proven before. */
#include "run_support.h"

#include "exact_support.h"
#include "s256.h"

/* Proven by exact_nest itself; the free annealing of that page is the independent check. */
static const double free_axes[] = {3.70027238e14, 2.99349586e14, 8.38426606e13,
                                   3.14274950e14, 3.35361856e14, 4.91385125e14,
                                   9.64531145e13, 2.61661434e15, 5.72540255e13};
static const double exclusive_axes[] = {3.70027238e14, 3.05717830e14, 9.17412396e13,
                                        3.14274950e14, 3.42925693e14, 5.08488960e14,
                                        1.04796544e14, 2.61661434e15, 5.72866131e13};

static void check_layers(const char *evaluator, const double *optimum, bool is_free)
{
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform = platform_named("s256", arena);
    for (int i = 0; i < S256_LAYER_COUNT; i++) {
        const S256Layer *layer = &s256_layers[i];
        MerOp            op = s256_op(layer);
        ExactCase        c = {.op = &op,
                              .platform = platform,
                              .objective = MER_METRIC_EDP,
                              .evaluator_options = evaluator,
                              .seed = (uint64_t)i};
        ExactResult      result;
        solve_exactly(&c, &result, arena);
        double annealed = is_free ? layer->free_edp : layer->restricted_edp;
        assert_int_equal(result.status, MER_OK);
        assert_true(result.has_proof);
        assert_true(result.bound.value == result.score);
        assert_string_equal(result.bound.kind, "optimum");
        if (!(result.score <= annealed * (1 + (is_free ? 3e-6 : 5e-5)))) {
            fail_msg("%s: optimum %.9g is worse than the annealed %.9g", layer->name, result.score,
                     annealed);
        }
        if (!(fabs(result.score / optimum[i] - 1) < 1e-8)) {
            fail_msg("%s: optimum %.12g, expected %.9g", layer->name, result.score, optimum[i]);
        }
        assert_true(result.score >= layer->edp * (1 - 1e-5));
    }
    mer_arena_free(arena);
}

static void test_reference_layers_are_proven_at_or_below_the_annealed_values(void **state)
{
    (void)state;
    check_layers(NULL, free_axes, true);
}

static void test_reference_layers_with_exclusive_axes_are_proven(void **state)
{
    (void)state;
    check_layers("axes=exclusive", exclusive_axes, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_layers_are_proven_at_or_below_the_annealed_values),
        cmocka_unit_test(test_reference_layers_with_exclusive_axes_are_proven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
