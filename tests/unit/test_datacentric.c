/* The data-centric model: its fast form against its plain one on random mappings, the rules of
 * strict mode, and the layer types that the reference data covers thinly. */
#include "layer/datacentric_model.h"
#include "mercator/rng.h"
#include "support.h"

#include <math.h>

enum {
    C = MER_DATACENTRIC_C,
    G = MER_DATACENTRIC_G,
    K = MER_DATACENTRIC_K,
    M = MER_DATACENTRIC_M,
    N = MER_DATACENTRIC_N,
    R = MER_DATACENTRIC_R,
    S = MER_DATACENTRIC_S,
    X = MER_DATACENTRIC_X,
    Y = MER_DATACENTRIC_Y
};

static int64_t draw(MerRng *rng, int64_t least, int64_t most)
{
    return least + mer_rng_below(rng, (int)(most - least + 1));
}

static void draw_layer(MerRng *rng, MerDatacentricLayer *layer)
{
    memset(layer, 0, sizeof *layer);
    layer->type = (MerDatacentricType)draw(rng, 0, MER_DATACENTRIC_TYPE_COUNT - 1);
    layer->stride_y = draw(rng, 0, 2) ? 1 : draw(rng, 2, 3);
    layer->stride_x = draw(rng, 0, 2) ? 1 : draw(rng, 2, 3);
    if (layer->type == MER_DATACENTRIC_GEMM) {
        layer->dims[M] = draw(rng, 1, 60);
        layer->dims[N] = draw(rng, 1, 60);
        layer->dims[K] = draw(rng, 1, 60);
        return;
    }
    layer->dims[N] = draw(rng, 0, 5) ? 1 : 2;
    layer->dims[G] = layer->type == MER_DATACENTRIC_NGCONV ? draw(rng, 1, 4) : 1;
    layer->dims[K] = layer->type == MER_DATACENTRIC_DSCONV ? 1 : draw(rng, 1, 24);
    layer->dims[C] = draw(rng, 1, 24);
    layer->dims[R] = draw(rng, 1, 4);
    layer->dims[S] = draw(rng, 1, 4);
    layer->dims[Y] = layer->dims[R] + draw(rng, 0, 20);
    layer->dims[X] = layer->dims[S] + draw(rng, 0, 20);
}

static int layer_dims(const MerDatacentricLayer *layer, int *dims)
{
    int count = 0;

    for (int dim = 0; dim < MER_DATACENTRIC_DIMS; dim++)
        if (layer->dims[dim] > 1 ||
            (layer->dims[dim] == 1 && strchr("CRSXY", MER_DATACENTRIC_LETTERS[dim])))
            dims[count++] = dim;
    return count;
}

/* Any dims in any order, with and without output-centric forms, one or two spatial maps. */
static void draw_level(MerRng *rng, const MerDatacentricLayer *layer, int level,
                       MerDatacentricMapping *mapping)
{
    int dims[MER_DATACENTRIC_DIMS], count = layer_dims(layer, dims), spatial;

    mer_rng_shuffle(rng, dims, count);
    if (level > 0 && count > 2)
        count -= (int)draw(rng, 0, 2);
    spatial = (int)draw(rng, 0, count - 1);
    mapping->count[level] = count;
    for (int i = 0; i < count; i++) {
        MerDatacentricDirective *directive = &mapping->directives[level][i];
        bool                     filter = layer->dims[R] && (dims[i] == R || dims[i] == S);
        bool                     sliding = layer->dims[R] && (dims[i] == Y || dims[i] == X);

        *directive =
            (MerDatacentricDirective){.dim = dims[i], .size = draw(rng, 1, layer->dims[dims[i]])};
        directive->spatial = i == spatial || (draw(rng, 0, 9) == 0 && i == spatial + 1);
        directive->output = sliding && draw(rng, 0, 1);
        directive->offset = draw(rng, 0, 3) ? directive->size : draw(rng, 1, directive->size);
        if (sliding && !directive->output && directive->size >= layer->dims[dims[i] == Y ? R : S])
            directive->offset = directive->size - layer->dims[dims[i] == Y ? R : S] + 1;
        if (filter && !directive->spatial)
            directive->size = directive->offset = layer->dims[dims[i]];
    }
}

static void draw_input(MerRng *rng, MerDatacentricMapping *mapping, MerDatacentricInput *input)
{
    int64_t product = 1;

    memset(input, 0, sizeof *input);
    memset(mapping, 0, sizeof *mapping);
    input->mapping = mapping;
    draw_layer(rng, &input->layer);
    mapping->level_count = (int)draw(rng, 1, 3);
    for (int l = 0; l < mapping->level_count; l++) {
        draw_level(rng, &input->layer, l, mapping);
        mapping->cluster[l] = draw(rng, 1, 9);
        if (l + 1 < mapping->level_count)
            product *= mapping->cluster[l];
    }
    input->hardware =
        (MerDatacentricHardware){.num_pes = product * draw(rng, 1, 12),
                                 .noc_bw = draw(rng, 1, 3) == 1 ? draw(rng, 1, 40) : 1 << 30,
                                 .noc_latency = draw(rng, 0, 2),
                                 .offchip_bw = draw(rng, 0, 1) ? draw(rng, 1, 60) : 1 << 30,
                                 .simd_lanes = draw(rng, 1, 4),
                                 .l1_size = draw(rng, 0, 3) ? INT64_MAX : 2000,
                                 .l2_size = draw(rng, 0, 3) ? INT64_MAX : 9000,
                                 .l1_energy = MER_DATACENTRIC_L1_ENERGY,
                                 .l2_energy = MER_DATACENTRIC_L2_ENERGY,
                                 .mac_nj = MER_DATACENTRIC_MAC_NJ};
    input->strict = draw(rng, 0, 1);
    input->every_level = input->strict && draw(rng, 0, 1);
    input->exact_strides = draw(rng, 0, 1);
}

#define equal_INT(a, b) ((a) == (b))
#define equal_BOOL(a, b) ((a) == (b))
/* Sums of reals may round differently: the busy PEs of sub-levels are means. */
#define equal_REAL(a, b)                                                                           \
    ((a) == (b) || fabs((a) - (b)) <= 1e-12 * fabs(b) || (isnan(a) && isnan(b)))

static void assert_equal_counts(const MerDatacentricResult *fast, const MerDatacentricResult *plain,
                                int number)
{
    assert_string_equal(fast->reason, plain->reason);
    assert_int_equal(fast->status, plain->status);
#define X(kind, name)                                                                              \
    if (!equal_##kind(fast->name, plain->name))                                                    \
        fail_msg("mapping %d: " #name " %.17g, plain %.17g", number, (double)fast->name,           \
                 (double)plain->name);
    MER_DATACENTRIC_COUNT_MAP(X)
#undef X
    for (int t = 0; t < MER_DATACENTRIC_TENSORS; t++) {
#define X(kind, name)                                                                              \
    if (!equal_##kind(fast->tensor[t].name, plain->tensor[t].name))                                \
        fail_msg("mapping %d: tensor %d " #name, number, t);
        MER_DATACENTRIC_TENSOR_COUNT_MAP(X)
#undef X
    }
}

static void fast_form_equals_plain_form_on_random_mappings(void **state)
{
    MerRng rng = mer_rng_make(7, 0);
    int    seen[3] = {0};

    (void)state;
    for (int number = 0; number < 20000; number++) {
        MerDatacentricMapping mapping;
        MerDatacentricInput   input;
        MerDatacentricResult  fast, plain;

        draw_input(&rng, &mapping, &input);
        mer_datacentric_evaluate(&input, MER_DATACENTRIC_EVERYTHING, &fast);
        mer_datacentric_evaluate_plain(&input, &plain);
        assert_equal_counts(&fast, &plain, number);
        seen[fast.status]++;
    }
    print_message("ok %d, degenerate %d, infeasible %d\n", seen[0], seen[1], seen[2]);
    for (int s = 0; s < 3; s++)
        assert_true(seen[s] > 20);
}

/* Cycles below this would mean work that is not done. */
static void strict_never_beats_all_pes_busy(void **state)
{
    MerRng rng = mer_rng_make(11, 0);
    int    taken = 0;

    (void)state;
    for (int number = 0; number < 60000; number++) {
        MerDatacentricMapping mapping;
        MerDatacentricInput   input;
        MerDatacentricResult  result;
        int64_t               most;

        draw_input(&rng, &mapping, &input);
        input.strict = true;
        mer_datacentric_evaluate(&input, MER_DATACENTRIC_COSTS, &result);
        if (result.status != MER_DATACENTRIC_OK)
            continue;
        taken++;
        most = result.runtime_cycles * input.hardware.num_pes * input.hardware.simd_lanes;
        if (most < result.true_macs)
            fail_msg("mapping %d: %lld MACs in %lld cycles on %lld PEs x %lld", number,
                     (long long)result.true_macs, (long long)result.runtime_cycles,
                     (long long)input.hardware.num_pes, (long long)input.hardware.simd_lanes);
        /* The energy bound counts on these. */
        for (int t = 0; t < MER_DATACENTRIC_TENSORS; t++)
            if (result.tensor[t].l1_read < result.true_macs || result.tensor[t].l2_read < 0 ||
                result.tensor[t].l2_write < 0)
                fail_msg("mapping %d: tensor %d is read %lld times for %lld MACs", number, t,
                         (long long)result.tensor[t].l1_read, (long long)result.true_macs);
    }
    assert_true(taken > 3000);
}

static MerDatacentricHardware array_of(int64_t num_pes)
{
    return (MerDatacentricHardware){.num_pes = num_pes,
                                    .noc_bw = 16,
                                    .noc_latency = 1,
                                    .offchip_bw = 8,
                                    .simd_lanes = 1,
                                    .l1_size = INT64_MAX,
                                    .l2_size = INT64_MAX,
                                    .l1_energy = MER_DATACENTRIC_L1_ENERGY,
                                    .l2_energy = MER_DATACENTRIC_L2_ENERGY,
                                    .mac_nj = MER_DATACENTRIC_MAC_NJ};
}

static void gemm_multicasts_its_filter_and_keeps_its_input(void **state)
{
    MerDatacentricMapping mapping = {
        .level_count = 1,
        .count = {3},
        .directives = {{{true, false, M, 1, 1}, {false, false, N, 1, 1}, {false, false, K, 5, 5}}}};
    MerDatacentricInput  input = {.mapping = &mapping, .strict = true, .hardware = array_of(4)};
    MerDatacentricResult result;

    (void)state;
    input.layer =
        (MerDatacentricLayer){.type = MER_DATACENTRIC_GEMM, .dims = {[M] = 4, [N] = 3, [K] = 5}};
    mer_datacentric_evaluate(&input, MER_DATACENTRIC_COSTS, &result);
    assert_int_equal(result.status, MER_DATACENTRIC_OK);
    assert_int_equal(result.num_macs, 60);
    assert_int_equal(result.tensor[MER_DATACENTRIC_INPUT].l2_read, 4 * 5);
    assert_int_equal(result.tensor[MER_DATACENTRIC_FILTER].l2_read, 3 * 5);
    assert_int_equal(result.tensor[MER_DATACENTRIC_OUTPUT].l2_write, 4 * 3);
    /* 25 words arrive on 16 lanes in 2 cycles, 5 MACs; then 5 MACs hide the rest, twice. */
    assert_int_equal(result.runtime_cycles, 2 + 5 + 2 * 5);
}

static void depthwise_on_channels_computes_one_filter_per_pe(void **state)
{
    MerDatacentricMapping mapping = {
        .level_count = 1,
        .count = {3},
        .directives = {{{true, false, C, 1, 1}, {false, true, Y, 1, 1}, {false, true, X, 1, 1}}}};
    MerDatacentricInput  input = {.mapping = &mapping, .strict = true, .hardware = array_of(8)};
    MerDatacentricResult result;

    (void)state;
    input.layer =
        (MerDatacentricLayer){.type = MER_DATACENTRIC_DSCONV,
                              .stride_y = 1,
                              .stride_x = 1,
                              .dims = {[C] = 8, [K] = 1, [R] = 3, [S] = 3, [Y] = 6, [X] = 6}};
    mer_datacentric_evaluate(&input, MER_DATACENTRIC_COSTS, &result);
    assert_int_equal(result.status, MER_DATACENTRIC_OK);
    assert_int_equal(result.num_macs, 8 * 9 * 16);
    assert_int_equal(result.tensor[MER_DATACENTRIC_FILTER].l2_read, 8 * 9);
    assert_int_equal(result.tensor[MER_DATACENTRIC_OUTPUT].l2_write, 8 * 16);
}

static MerDatacentricStatus price_strided(int64_t filter, int64_t tile, bool exact)
{
    MerDatacentricMapping mapping = {
        .level_count = 1,
        .count = {3},
        .directives = {{{true, false, K, 1, 1}, {false, true, Y, 1, 1}, {false, true, X, 1, 1}}}};
    MerDatacentricInput input = {
        .mapping = &mapping, .strict = true, .exact_strides = exact, .hardware = array_of(8)};
    MerDatacentricResult result;

    mapping.directives[0][1].size = mapping.directives[0][2].size = (tile - 1) * 2 + 1;
    input.layer = (MerDatacentricLayer){.type = MER_DATACENTRIC_CONV,
                                        .stride_y = 2,
                                        .stride_x = 2,
                                        .dims = {[C] = 8,
                                                 [K] = 8,
                                                 [R] = filter,
                                                 [S] = filter,
                                                 [Y] = 11 * 2 + filter,
                                                 [X] = 11 * 2 + filter}};
    mer_datacentric_evaluate(&input, MER_DATACENTRIC_COSTS, &result);
    return result.status;
}

static void strided_tiles_of_many_outputs_need_exact_strides(void **state)
{
    (void)state;
    for (int filter = 1; filter <= 5; filter += 2) {
        assert_int_equal(price_strided(filter, 1, false), MER_DATACENTRIC_OK);
        for (int tile = 1; tile <= 12; tile++)
            assert_int_equal(price_strided(filter, tile, true), MER_DATACENTRIC_OK);
    }
    assert_int_equal(price_strided(3, 4, false), MER_DATACENTRIC_INFEASIBLE);
    assert_int_equal(price_strided(1, 4, false), MER_DATACENTRIC_INFEASIBLE);
}

/* Inner tiles of 4 rows leave a rest of 1 in a tile of 9 rows, and MAESTRO takes that rest for the
 * 3 rows of the last outer tile too. */
static void every_level_refuses_work_left_out_inside(void **state)
{
    MerDatacentricMapping mapping = {
        .level_count = 2,
        .count = {2, 2},
        .cluster = {4},
        .directives = {{{true, false, K, 1, 1}, {false, true, Y, 9, 9}},
                       {{true, false, C, 2, 2}, {false, true, Y, 4, 4}}}};
    MerDatacentricInput  input = {.mapping = &mapping, .strict = true, .hardware = array_of(64)};
    MerDatacentricResult result;

    (void)state;
    input.layer =
        (MerDatacentricLayer){.type = MER_DATACENTRIC_CONV,
                              .stride_y = 1,
                              .stride_x = 1,
                              .dims = {[C] = 8, [K] = 8, [R] = 3, [S] = 3, [Y] = 14, [X] = 14}};
    mer_datacentric_evaluate(&input, MER_DATACENTRIC_COSTS, &result);
    assert_string_equal(result.reason, "");
    input.every_level = true;
    mer_datacentric_evaluate(&input, MER_DATACENTRIC_COSTS, &result);
    assert_int_equal(result.status, MER_DATACENTRIC_INFEASIBLE);
    assert_string_equal(result.reason, "coverage: level 1 leaves out MACs of its tile");
}

static void counts_beyond_64_bits_are_refused(void **state)
{
    MerDatacentricMapping mapping = {
        .level_count = 1, .count = {1}, .directives = {{{true, false, K, 1, 1}}}};
    MerDatacentricInput  input = {.mapping = &mapping, .hardware = array_of(8)};
    MerDatacentricResult result;

    (void)state;
    input.layer = (MerDatacentricLayer){
        .type = MER_DATACENTRIC_CONV,
        .stride_y = 1,
        .stride_x = 1,
        .dims = {[C] = 1 << 20, [K] = 1 << 20, [R] = 3, [S] = 3, [Y] = 1 << 16, [X] = 1 << 16}};
    mer_datacentric_evaluate(&input, MER_DATACENTRIC_COSTS, &result);
    assert_int_equal(result.status, MER_DATACENTRIC_INFEASIBLE);
    assert_string_equal(result.reason, "overflow: counts could pass 2^62");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_form_equals_plain_form_on_random_mappings),
        cmocka_unit_test(strict_never_beats_all_pes_busy),
        cmocka_unit_test(gemm_multicasts_its_filter_and_keeps_its_input),
        cmocka_unit_test(depthwise_on_channels_computes_one_filter_per_pe),
        cmocka_unit_test(strided_tiles_of_many_outputs_need_exact_strides),
        cmocka_unit_test(every_level_refuses_work_left_out_inside),
        cmocka_unit_test(counts_beyond_64_bits_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
