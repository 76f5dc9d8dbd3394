/* Evaluations per second of the data-centric model on one core, the plain form beside the fast one:
 * the kcp_ws mapping of VGG16 conv2, and random points of the ten-knob space of nine layers (median
 * over points of the time of one evaluation). Lines are `name value unit`. */
#include "base/log.h"
#include "base/stats.h"
#include "layer/datacentric_plan.h"
#include "layer/directive_format.h"
#include "map/directives/directives.h"

#include <math.h>
#include <stdio.h>

enum { POINTS = 1000, ROUNDS = 20 };

typedef void Evaluate(const MerDatacentricInput *input, MerDatacentricResult *result);

static void fast(const MerDatacentricInput *input, MerDatacentricResult *result)
{
    mer_datacentric_evaluate(input, MER_DATACENTRIC_COSTS, result);
}

static void fast_report(const MerDatacentricInput *input, MerDatacentricResult *result)
{
    mer_datacentric_evaluate(input, MER_DATACENTRIC_EVERYTHING, result);
}

/* Seconds of one evaluation. */
static double time_of(Evaluate *evaluate, const MerDatacentricInput *input, int rounds)
{
    MerDatacentricResult result;
    double               begin = mer_cpu_clock();

    for (int i = 0; i < rounds; i++)
        evaluate(input, &result);
    return (mer_cpu_clock() - begin) / rounds;
}

static void set_hardware(MerDatacentricInput *input, int64_t num_pes)
{
    input->strict = true;
    input->hardware = (MerDatacentricHardware){.num_pes = num_pes,
                                               .noc_bw = 64,
                                               .noc_latency = 2,
                                               .offchip_bw = 32,
                                               .simd_lanes = 1,
                                               .l1_size = INT64_MAX,
                                               .l2_size = INT64_MAX,
                                               .l1_energy = MER_DATACENTRIC_L1_ENERGY,
                                               .l2_energy = MER_DATACENTRIC_L2_ENERGY,
                                               .mac_nj = MER_DATACENTRIC_MAC_NJ};
}

static MerOp convolution(int k, int c, int size, int filter)
{
    MerOp op = mer_op_make("layer", "bench", MER_OP_CONV);

    op.dims[MER_DIM_K] = k;
    op.dims[MER_DIM_C] = c;
    op.dims[MER_DIM_Y] = op.dims[MER_DIM_X] = size;
    op.dims[MER_DIM_R] = op.dims[MER_DIM_S] = filter;
    return op;
}

static void bench_kcp_ws(MerArena *arena)
{
    static const char text[] =
        "S(1,1) K | T(64,64) C | T(3,3) R | T(3,3) S | T(3,1) Y | T(3,1) X | Cluster 64 | "
        "S(1,1) C | T(3,1) Y | T(3,1) X | T(3,3) R | T(3,3) S";
    MerOp                 op = convolution(64, 64, 222, 3);
    MerDirectivePlan      plan;
    MerDatacentricMapping mapping;
    MerDatacentricInput   input = {.mapping = &mapping};
    MerDatacentricResult  result;

    set_hardware(&input, 256);
    mer_directives_parse(text, &op, &plan, arena, NULL);
    mer_datacentric_layer(&op, true, &input.layer, NULL);
    mer_datacentric_mapping(&plan, input.layer.type, &mapping, &result);
    printf("datacentric_kcp_ws_vgg_conv2_plain %.0f evaluations/s\n",
           1 / time_of(mer_datacentric_evaluate_plain, &input, 50000));
    printf("datacentric_kcp_ws_vgg_conv2_fast %.0f evaluations/s\n",
           1 / time_of(fast, &input, 500000));
    printf("datacentric_kcp_ws_vgg_conv2_report %.0f evaluations/s\n",
           1 / time_of(fast_report, &input, 500000));
}

static const struct {
    const char *name;
    int         k, c, size, filter;
} layers[] = {{"r50_c2_3x3", 64, 64, 56, 3},     {"r50_c3_3x3", 128, 128, 28, 3},
              {"r50_c4_3x3", 256, 256, 14, 3},   {"r50_c5_3x3", 512, 512, 7, 3},
              {"r50_c2_1x1", 256, 64, 56, 1},    {"r50_c5_1x1", 2048, 512, 7, 1},
              {"mobilenet_exp", 96, 16, 112, 1}, {"vgg_conv9", 512, 512, 28, 3},
              {"vgg_conv13", 512, 512, 14, 3}};
enum { LAYERS = sizeof layers / sizeof *layers };

static void bench_genome(MerDirectiveGenome genome, const char *name, const MerPlatform *platform)
{
    static double times[2][POINTS];
    MerRng        rng = mer_rng_make(1, 0);

    for (int i = 0; i < POINTS; i++) {
        int       layer = i % LAYERS;
        MerArena *arena = mer_arena_new();
        MerOp     op =
            convolution(layers[layer].k, layers[layer].c, layers[layer].size, layers[layer].filter);
        MerDirectiveOptions   options = {.genome = genome};
        MerDirectiveSpace     space;
        MerDirectivePlan      plan;
        MerIndex              point[64];
        MerDatacentricMapping mapping;
        MerDatacentricInput   input = {.mapping = &mapping};
        MerDatacentricResult  result;

        mer_directives_open(&space, &op, platform, &options, arena, NULL);
        mer_space_sample(&space.space, &rng, point);
        mer_directives_decode(&space, point, &plan, arena);
        set_hardware(&input, space.num_pes);
        mer_datacentric_layer(&op, true, &input.layer, NULL);
        mer_datacentric_mapping(&plan, input.layer.type, &mapping, &result);
        times[0][i] = time_of(mer_datacentric_evaluate_plain, &input, 2);
        times[1][i] = time_of(fast, &input, ROUNDS);
        mer_arena_free(arena);
    }
    printf("datacentric_%s_median_plain %.0f evaluations/s\n", name,
           1 / mer_median(times[0], POINTS));
    printf("datacentric_%s_median_fast %.0f evaluations/s\n", name,
           1 / mer_median(times[1], POINTS));
    printf("datacentric_%s_slowest_percent_fast %.0f evaluations/s\n", name,
           1 / mer_quantile(times[1], POINTS, 0.99));
}

int main(void)
{
    static const MerMemory memories[] = {{.name = "DRAM", .fanout = {.x = 1, .y = 1}},
                                         {.name = "L2", .fanout = {.x = 32, .y = 32}},
                                         {.name = "L1", .fanout = {.x = 1, .y = 1}}};
    static const MerUnit   unit = {.name = "PE", .lanes = 1};
    MerPlatform            platform = {.kind = MER_PLATFORM_PE_ARRAY,
                                       .name = "bench",
                                       .clock_hz = NAN,
                                       .memory_count = 3,
                                       .unit_count = 1,
                                       .memories = memories,
                                       .units = &unit};
    MerArena              *arena = mer_arena_new();

    bench_kcp_ws(arena);
    bench_genome(MER_GENOME_TEN, "ten", &platform);
    bench_genome(MER_GENOME_GAMMA, "gamma", &platform);
    mer_arena_free(arena);
    return 0;
}
