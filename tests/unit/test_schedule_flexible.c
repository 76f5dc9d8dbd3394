/* Flexible cores (docs/bandwidth-model.md, "Core styles"): both rules against shapes priced one by one,
 * the buffer limit, the fallback. */
#include "support.h"

#include "mercator/rng.h"
#include "schedule/table/layer_pricer.h"

#include <math.h>

static const char *const styles[] = {"nvdla", "shi", "eye"};

static MerUnit core(const char *style, int rows, int columns, bool flexible)
{
    return (MerUnit){.name = "core",
                     .rows = rows,
                     .columns = columns,
                     .dataflow = style,
                     .flexible = flexible,
                     .flexible_limit_bytes = 2097152,
                     .memory_bytes = INFINITY};
}

static MerOp conv(int64_t k, int64_t c, int64_t size, int64_t filter)
{
    MerOp op = mer_op_make("layer", "test", MER_OP_CONV);
    op.dims[MER_DIM_K] = k;
    op.dims[MER_DIM_C] = c;
    op.dims[MER_DIM_Y] = op.dims[MER_DIM_X] = size;
    op.dims[MER_DIM_R] = op.dims[MER_DIM_S] = filter;
    op.input_rows = op.input_columns = size + filter - 1;
    op.macs = k * c * size * size * filter * filter;
    return op;
}

static MerJobTableEntry price(const MerOp *op, const MerUnit *unit, MerPriceMode mode,
                              MerFlexible flexible)
{
    MerJobTableEntry result;
    MerError         error = {0};
    if (mer_core_pricer.price(op, unit, 8, mode, flexible, &result, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return result;
}

/* The latency of a fixed array with rows of `columns` units. */
static double fixed_cycles(const MerOp *op, const char *style, int units, int columns)
{
    MerUnit unit = core(style, units / columns, columns, false);
    unit.rows = units / columns;
    return price(op, &unit, MER_PRICE_COMPAT, MER_FLEXIBLE_SEARCH).latency;
}

/* K 64, C 32, 1 x 1: rows of 64 leave half of the units idle and need two passes over K; rows of 32 make 64
 * of them, so that one pass suffices. */
static void test_a_flexible_core_folds_narrow_layers(void **state)
{
    (void)state;
    MerOp            op = conv(64, 32, 14, 1);
    MerUnit          stiff = core("nvdla", 32, 64, false);
    MerUnit          supple = core("nvdla", 32, 64, true);
    MerJobTableEntry before = price(&op, &stiff, MER_PRICE_OWN, MER_FLEXIBLE_SEARCH);
    MerJobTableEntry after = price(&op, &supple, MER_PRICE_OWN, MER_FLEXIBLE_SEARCH);
    assert_true(after.latency < 0.6 * before.latency);
    assert_false(after.is_fallback);
    /* the same work in less time: the core now needs more bandwidth */
    assert_true(after.traffic == before.traffic);
    assert_true(after.traffic / after.latency > before.traffic / before.latency);
}

/* Powers of two, so that every divisor is a shape of a fixed array with all units. */
static void test_search_is_the_best_of_all_divisors(void **state)
{
    (void)state;
    static const int64_t channels[] = {8, 32, 64, 128, 256};
    for (int i = 0; i < 25; i++) {
        MerOp   op = conv(channels[i / 5], channels[i % 5], 14, 3);
        MerUnit supple = core("nvdla", 32, 64, true);
        double  best = INFINITY;
        for (int d = 1; d <= channels[i % 5] && d < 2048; d *= 2) {
            best = fmin(best, fixed_cycles(&op, "nvdla", 2048, d));
        }
        MerJobTableEntry found = price(&op, &supple, MER_PRICE_COMPAT, MER_FLEXIBLE_SEARCH);
        assert_true(found.latency == best);
    }
}

/* K 96, C 48 on 2048 units: rows of 48 (32 of them divide K) and of 16 (96) use 1536 units in whole multiples,
 * every other divisor fewer; of the two the faster one is taken. */
static void test_align_takes_sides_that_divide_both_dimensions(void **state)
{
    (void)state;
    MerOp            op = conv(96, 48, 14, 1);
    MerUnit          supple = core("nvdla", 32, 64, true);
    MerJobTableEntry found = price(&op, &supple, MER_PRICE_COMPAT, MER_FLEXIBLE_ALIGN);
    MerUnit          wide = core("nvdla", 1, 48, false), tall = core("nvdla", 1, 16, false);
    wide.rows = 2048 / 48;
    tall.rows = 2048 / 16;
    double a = price(&op, &wide, MER_PRICE_COMPAT, MER_FLEXIBLE_SEARCH).latency;
    double b = price(&op, &tall, MER_PRICE_COMPAT, MER_FLEXIBLE_SEARCH).latency;
    assert_true(found.latency == fmin(a, b));
    MerUnit other = core("nvdla", 2048 / 24, 24, false);
    assert_true(found.latency < price(&op, &other, MER_PRICE_COMPAT, MER_FLEXIBLE_SEARCH).latency);
}

static void test_search_is_never_slower_than_the_own_shape_or_align(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(5, 0);
    int    faster = 0;
    for (int i = 0; i < 300; i++) {
        int64_t          filter = mer_rng_below(&rng, 2) ? 3 : 1;
        MerOp            op = conv(1 + mer_rng_below(&rng, 300), 1 + mer_rng_below(&rng, 300),
                                   1 + mer_rng_below(&rng, 60), filter);
        const char      *style = styles[i % 3];
        MerUnit          stiff = core(style, 32, 64, false), supple = core(style, 32, 64, true);
        double           fixed = price(&op, &stiff, MER_PRICE_OWN, MER_FLEXIBLE_SEARCH).latency;
        double           best = price(&op, &supple, MER_PRICE_OWN, MER_FLEXIBLE_SEARCH).latency;
        MerJobTableEntry aligned = price(&op, &supple, MER_PRICE_OWN, MER_FLEXIBLE_ALIGN);
        assert_true(best <= fixed);
        assert_true(aligned.is_fallback || best <= aligned.latency);
        faster += best < 0.9 * fixed;
    }
    assert_true(faster > 60);
}

static void test_buffers_stay_within_the_limit(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(6, 0);
    int    fallbacks = 0, slower = 0;
    for (int i = 0; i < 200; i++) {
        MerOp   op = conv(1 + mer_rng_below(&rng, 300), 1 + mer_rng_below(&rng, 300),
                          1 + mer_rng_below(&rng, 40), 3);
        MerUnit supple = core(styles[i % 3], 32, 64, true);
        double  loose = price(&op, &supple, MER_PRICE_OWN, MER_FLEXIBLE_SEARCH).latency;
        supple.flexible_limit_bytes = pow(10, 1 + 4 * mer_rng_unit(&rng));
        MerJobTableEntry tight = price(&op, &supple, MER_PRICE_OWN, (MerFlexible)(i % 2));
        assert_true(tight.is_fallback || tight.l2_bytes <= supple.flexible_limit_bytes);
        assert_true(tight.latency >= loose);
        fallbacks += tight.is_fallback;
        slower += !tight.is_fallback && tight.latency > loose;
    }
    assert_true(fallbacks > 10 && slower > 10);
}

static void test_without_a_shape_the_core_keeps_its_own_and_says_so(void **state)
{
    (void)state;
    for (int s = 0; s < 3; s++) {
        MerOp   op = conv(64, 64, 14, 3);
        MerUnit stiff = core(styles[s], 32, 64, false), supple = core(styles[s], 32, 64, true);
        supple.flexible_limit_bytes = 1;
        for (int rule = 0; rule < 2; rule++) {
            MerJobTableEntry kept = price(&op, &supple, MER_PRICE_OWN, (MerFlexible)rule);
            MerJobTableEntry own = price(&op, &stiff, MER_PRICE_OWN, (MerFlexible)rule);
            assert_true(kept.is_fallback && !own.is_fallback);
            assert_true(kept.latency == own.latency);
        }
    }
}

/* The dimension within a row of a product is the one that is summed over (C). */
static void test_products_spread_their_sum(void **state)
{
    (void)state;
    MerOp op = mer_op_make("layer", "test", MER_OP_GEMM);
    op.dims[MER_DIM_K] = 64;
    op.dims[MER_DIM_C] = 32;
    op.dims[MER_DIM_Y] = 20;
    op.macs = 64 * 32 * 20;
    MerUnit supple = core("nvdla", 32, 64, true);
    double  best = INFINITY;
    for (int d = 1; d <= 32; d *= 2) {
        best = fmin(best, fixed_cycles(&op, "nvdla", 2048, d));
    }
    assert_true(price(&op, &supple, MER_PRICE_COMPAT, MER_FLEXIBLE_SEARCH).latency == best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_flexible_core_folds_narrow_layers),
        cmocka_unit_test(test_search_is_the_best_of_all_divisors),
        cmocka_unit_test(test_align_takes_sides_that_divide_both_dimensions),
        cmocka_unit_test(test_search_is_never_slower_than_the_own_shape_or_align),
        cmocka_unit_test(test_buffers_stay_within_the_limit),
        cmocka_unit_test(test_without_a_shape_the_core_keeps_its_own_and_says_so),
        cmocka_unit_test(test_products_spread_their_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
