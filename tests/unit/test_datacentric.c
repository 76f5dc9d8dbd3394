/* The data-centric model: its fast form against its plain one on random mappings, the rules of
 * strict mode, and the layer types that the reference data covers thinly. */
#include "cost/datacentric_model.h"
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
        if (layer->dims[dim] > 1 || (layer->dims[dim] == 1 && strchr("CRSXY", MER_DATACENTRIC_LETTERS[dim])))
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

        *directive = (MerDatacentricDirective){.dim = dims[i], .size = draw(rng, 1, layer->dims[dims[i]])};
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
    input->hardware = (MerDatacentricHardware){
        .num_pes = product * draw(rng, 1, 12), .noc_bw = draw(rng, 1, 3) == 1 ? draw(rng, 1, 40) : 1 << 30,
        .noc_latency = draw(rng, 0, 2), .offchip_bw = draw(rng, 0, 1) ? draw(rng, 1, 60) : 1 << 30,
        .simd_lanes = draw(rng, 1, 4), .l1_size = draw(rng, 0, 3) ? INT64_MAX : 2000,
        .l2_size = draw(rng, 0, 3) ? INT64_MAX : 9000, .l1_energy = MER_DATACENTRIC_L1_ENERGY,
        .l2_energy = MER_DATACENTRIC_L2_ENERGY, .mac_nj = MER_DATACENTRIC_MAC_NJ};
    input->strict = draw(rng, 0, 1);
    input->every_level = input->strict && draw(rng, 0, 1);
    input->exact_strides = draw(rng, 0, 1);
}

#define equal_INT(a, b)  ((a) == (b))
#define equal_BOOL(a, b) ((a) == (b))
/* Sums of reals may round differently: the busy PEs of sub-levels are means. */
#define equal_REAL(a, b) ((a) == (b) || fabs((a) - (b)) <= 1e-12 * fabs(b) || (isnan(a) && isnan(b)))

static void assert_equal_counts(const MerDatacentricResult *fast, const MerDatacentricResult *plain, int number)
{
    assert_string_equal(fast->reason, plain->reason);
    assert_int_equal(fast->status, plain->status);
#define X(kind, name)                                                                              \
    if (!equal_##kind(fast->name, plain->name))                                                    \
        fail_msg("mapping %d: " #name " %.17g, plain %.17g", number, (double)fast->name, (double)plain->name);
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
    }
    assert_true(taken > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_form_equals_plain_form_on_random_mappings),
        cmocka_unit_test(strict_never_beats_all_pes_busy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
