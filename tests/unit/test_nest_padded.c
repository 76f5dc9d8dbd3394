/* Loop nests that run past their layer: who may read them, and what they are charged. */
#include "one_arena.h"
#include "run_support.h"

#include "map/cost/loopnest.h"
#include "map/nest/nest_format.h"
#include "mercator/yaml.h"

#include <math.h>

/* K13 C8, spread as K7 x 2 over the array and padded to K14. */
static const char padded[] = "{nest: 'DRAM: K2 | GLB: X: K7 | RF: C8'}";

static MerOp matrix_product(int k, int c)
{
    MerOp op = mer_op_make("layer", "test", MER_OP_GEMM);
    op.dims[MER_DIM_K] = k;
    op.dims[MER_DIM_C] = c;
    return op;
}

static MerStatus read_nest(const char *text, const MerOp *op, bool may_pad, MerNestPlan *plan,
                           MerError *error)
{
    MerYaml *body;
    assert_int_equal(mer_yaml_parse("plan", text, strlen(text), arena, &body, error), MER_OK);
    return mer_nest_read(body, op, platform_named("s256", arena), may_pad, plan, arena, error);
}

static void test_padded_nests_are_read_only_where_factors_may_be_padded(void **state)
{
    (void)state;
    MerOp       op = matrix_product(13, 8);
    MerNestPlan plan;
    MerError    error = {0};
    assert_int_equal(read_nest(padded, &op, true, &plan, &error), MER_OK);
    assert_int_equal(read_nest(padded, &op, false, &plan, &error), MER_INVALID);
    assert_non_null(strstr(error.message, "the factors of K multiply to 14, expected 13"));
}

static void test_nests_that_miss_part_of_the_layer_are_never_read(void **state)
{
    (void)state;
    MerOp       op = matrix_product(15, 8);
    MerNestPlan plan;
    MerError    error = {0};
    assert_int_equal(read_nest(padded, &op, true, &plan, &error), MER_INVALID);
    assert_non_null(strstr(error.message, "the factors of K multiply to 14, expected at least 15"));
}

static void test_dims_of_size_one_are_never_padded(void **state)
{
    (void)state;
    MerOp       op = matrix_product(13, 1);
    MerNestPlan plan;
    MerError    error = {0};
    assert_int_equal(read_nest(padded, &op, true, &plan, &error), MER_INVALID);
    assert_non_null(strstr(error.message, "the factors of C multiply to 8, expected 1"));
}

static void price(const MerOp *op, bool may_pad, MerNestModel *model, MerNestAccess *access,
                  double *cycles, double *energy)
{
    MerNestPlan  plan;
    MerNestLoops loops;
    MerCost      cost;
    MerError     error = {0};
    assert_int_equal(read_nest(padded, op, may_pad, &plan, &error), MER_OK);
    assert_int_equal(mer_nest_model_make(op, platform_named("s256", arena), model, &error), MER_OK);
    mer_cost_clear(&cost);
    mer_nest_unfold_tiles(model, &plan, &loops);
    mer_nest_unfold_loops(model, &plan, &loops);
    assert_true(mer_nest_fits(model, &plan, &loops, &cost));
    mer_nest_count(model, &plan, &loops, access);
    mer_nest_price(model, &loops, access, cycles, energy, NULL);
}

static void test_a_padded_nest_costs_what_the_layer_it_covers_costs(void **state)
{
    (void)state;
    MerOp         layer = matrix_product(13, 8);
    MerOp         covered = matrix_product(14, 8);
    MerNestModel  models[2];
    MerNestAccess access[2];
    double        cycles[2];
    double        energy[2];
    price(&layer, true, &models[0], &access[0], &cycles[0], &energy[0]);
    price(&covered, false, &models[1], &access[1], &cycles[1], &energy[1]);
    assert_true(cycles[0] == cycles[1]);
    assert_true(energy[0] == energy[1]);
    assert_true(models[0].shape.macs == 13 * 8);
    for (int l = 0; l < 3; l++) {
        assert_memory_equal(access[0].reads[l], access[1].reads[l], sizeof access[0].reads[l]);
        assert_memory_equal(access[0].fills[l], access[1].fills[l], sizeof access[0].fills[l]);
        assert_memory_equal(access[0].updates[l], access[1].updates[l],
                            sizeof access[0].updates[l]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_padded_nests_are_read_only_where_factors_may_be_padded),
        cmocka_unit_test(test_nests_that_miss_part_of_the_layer_are_never_read),
        cmocka_unit_test(test_dims_of_size_one_are_never_padded),
        cmocka_unit_test(test_a_padded_nest_costs_what_the_layer_it_covers_costs),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
