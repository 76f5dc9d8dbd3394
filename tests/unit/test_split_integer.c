/* Deployed networks: how units bring sums back to bytes, every node against numbers by hand or by a second, plain computation, and
 * whole networks against the training where both are exact. */
#include "integer_support.h"
#include "one_arena.h"
#include "onnx_builder.h"

#include <math.h>

#define SOC "{format: mercator-platform/1, kind: soc, name: test, reference: a, units: [{name: a, "
#define COST "cost: {formula: mac-rate, rate: 1}"
#define BOTH(weights)                                                                              \
    "options: [{operator: conv, weights: " weights "}, {operator: depthwise, weights: " weights    \
    "}], "

/* Powers of two everywhere: nothing is lost between training and deployment. */
static const char exact_platform[] =
    SOC BOTH("int8-pow2-exact") "requantise: {formula: shift, shift_bits: 5}, " COST "}]}";

/* ---- scales */

static void search_all(double m, int scale_max, int shift_max, int32_t *scale, int32_t *shift)
{
    double best = INFINITY;
    for (int n = 0; n <= shift_max; n++) {
        for (int a = 1; a <= scale_max; a++) {
            double distance = fabs(ldexp(a, -n) - m);
            if (distance < best) {
                best = distance;
                *scale = a;
                *shift = n;
            }
        }
    }
}

static void test_scales_are_those_of_a_search_through_all(void **state)
{
    (void)state;
    static const int limits[][2] = {{127, 15}, {1, 31}, {3, 31}, {127, 31}, {7, 0}, {1000, 20}};
    MerRng           rng = mer_rng_make(3, 0);
    for (int i = 0; i < 6000; i++) {
        const int *limit = limits[i % 6];
        /* real numbers of all sizes, and some that lie right between two scales */
        double  m = i % 4 == 0 ? ldexp(mer_rng_below(&rng, 64) + 0.5, -mer_rng_below(&rng, 12))
                               : exp(20 * mer_rng_unit(&rng) - 14);
        int32_t scale, shift, all_scale = 0, all_shift = 0;
        mer_requantise_find(m, limit[0], limit[1], &scale, &shift);
        search_all(m, limit[0], limit[1], &all_scale, &all_shift);
        if (scale != all_scale || shift != all_shift) {
            fail_msg("%.17g: %d >> %d, expected %d >> %d", m, scale, shift, all_scale, all_shift);
        }
    }
}

static void expect_scale(double m, int scale_max, int shift_max, int scale, int shift)
{
    int32_t a, n;
    mer_requantise_find(m, scale_max, shift_max, &a, &n);
    assert_int_equal(a, scale);
    assert_int_equal(n, shift);
}

static void test_scales_by_hand(void **state)
{
    (void)state;
    expect_scale(0.25, 127, 15, 1, 2); /* not 2 / 2^3: the smallest shift */
    expect_scale(0.75, 1, 31, 1, 0);   /* between 1 and 1/2: the smallest shift */
    expect_scale(0.74, 1, 31, 1, 1);
    expect_scale(1 / 127.0, 1, 31, 1, 7);
    expect_scale(3.5, 127, 0, 3, 0);          /* between 3 and 4: the smallest scale */
    expect_scale(1 / 125.0, 127, 31, 33, 12); /* 33 / 4096, before 66 / 8192 */
    expect_scale(1000, 127, 15, 127, 0);
    expect_scale(1e-9, 127, 15, 1, 15);
}

static void expect_bias(int64_t target, int bits, int shift_max, int bias, int shift)
{
    int32_t b, n;
    mer_requantise_bias(target, bits, shift_max, &b, &n);
    assert_int_equal(b, bias);
    assert_int_equal(n, shift);
}

static void test_biases_by_hand(void **state)
{
    (void)state;
    expect_bias(100, 8, 15, 100, 0);
    expect_bias(-128, 8, 15, -128, 0);
    expect_bias(128, 8, 15, 64, 1);
    expect_bias(129, 8, 15, 64, 1); /* 128 and 130 are as near: the smaller one */
    expect_bias(1000, 8, 15, 125, 3);
    expect_bias(-1001, 8, 15, -125, 3);
    expect_bias(127 * 32767, 8, 15, 127, 15);
    expect_bias(-32768, 16, 0, -32768, 0);
    expect_bias(40000, 16, 0, 32767, 0);
    expect_bias(0, 8, 15, 0, 0);
}

static void test_units_requantise_as_the_platform_says(void **state)
{
    (void)state;
    const MerPlatform *diana = platform_named("diana", arena);
    MerRequantise      digital = mer_requantise_of(&diana->units[0]);
    MerRequantise      analog = mer_requantise_of(&diana->units[1]);
    MerRequantise      any = mer_requantise_of(&platform_named("darkside", arena)->units[0]);
    assert_false(digital.has_scale);
    assert_int_equal(digital.scale_max, 1);
    assert_int_equal(digital.shift_max, 31);
    assert_int_equal(digital.bias_bits, 16);
    assert_true(analog.has_scale);
    assert_int_equal(analog.scale_max, 127);
    assert_int_equal(analog.shift_max, 15);
    assert_int_equal(analog.bias_bits, 8);
    assert_int_equal(analog.bias_shift_max, 15);
    assert_int_equal(any.scale_max, 32767);
    assert_int_equal(any.shift_max, 46);
    assert_int_equal(any.bias_bits, 0);
}

/* ---- nodes by hand: a network of one node and a product, made here without any training */

typedef struct Hand {
    MerIntegerNet   net;
    MerIntegerNode  nodes[2];
    MerIntegerValue values[3];
    MerSplit        split;
    MerSplitLayer   layer;
    MerSplitOption  options[2];
    int             order;
} Hand;

/* Value 1 is what node 0 makes; the product after it has one class and only weights of 0. */
static Hand *by_hand(MerIntegerNode node, MerIntegerValue in, MerIntegerValue out)
{
    Hand *h = MER_NEW(arena, Hand);
    h->options[0] = (MerSplitOption){.name = "dense", .type = MER_SPLIT_CONV};
    h->options[1] = (MerSplitOption){.name = "deep", .type = MER_SPLIT_DEPTHWISE};
    h->layer = (MerSplitLayer){.option_count = 2, .options = h->options};
    h->split = (MerSplit){.layers = &h->layer, .layer_count = 1};
    h->values[0] = in;
    h->values[1] = out;
    h->values[2] = (MerIntegerValue){1, 1, 1, 0, 1};
    node.out = 1;
    h->nodes[0] = node;
    MerIntegerChannel *last = MER_NEW(arena, MerIntegerChannel);
    last->weights = MER_ARRAY(arena, int8_t, mer_integer_value_size(&out));
    h->nodes[1] = (MerIntegerNode){.kind = MER_TRAIN_CONV,
                                   .in = {1, -1},
                                   .out = 2,
                                   .kernel = {out.height, out.width},
                                   .conv = {1, {1, 1}, {0, 0}, {1, 1}},
                                   .channels = last};
    h->net = (MerIntegerNet){.split = &h->split,
                             .node_count = 2,
                             .value_count = 3,
                             .classes = 1,
                             .values = h->values,
                             .nodes = h->nodes,
                             .output_order = &h->order};
    return h;
}

static void expect_bytes(const Hand *h, const uint8_t *image, const uint8_t *expected)
{
    int32_t  logit;
    uint8_t *values[3];
    mer_integer_net_run(&h->net, image, &logit, values, arena);
    for (int i = 0; i < mer_integer_value_size(&h->values[1]); i++) {
        assert_int_equal(values[1][i], expected[i]);
    }
}

static void test_convolution_by_hand(void **state)
{
    (void)state;
    static const int8_t weights[] = {1, -2, 3, 4};
    MerIntegerChannel   channel = {
          .weights = weights, .scale = 3, .bias = 5, .bias_shift = 2, .shift = 4};
    MerIntegerNode node = {.kind = MER_TRAIN_CONV,
                           .kernel = {2, 2},
                           .conv = {1, {1, 1}, {0, 0}, {1, 1}},
                           .channels = &channel};
    Hand *h = by_hand(node, (MerIntegerValue){1, 2, 3, 0, 1}, (MerIntegerValue){1, 1, 2, 0, 1});
    static const uint8_t image[] = {10, 20, 30, 40, 50, 60};
    /* 10 - 40 + 120 + 200 = 290: (870 + 20) >> 4 = 55; 20 - 60 + 150 + 240 = 350: 1070 >> 4 = 66 */
    expect_bytes(h, image, (const uint8_t[]){55, 66});
    channel.bias = -300; /* 870 - 1200 = -330 >> 4 = -21: cut at 0; 1050 - 1200 = -150 >> 4 = -10 */
    expect_bytes(h, image, (const uint8_t[]){0, 0});
    h->values[1].zero = 64; /* rounded down, not towards 0 */
    expect_bytes(h, image, (const uint8_t[]){64 - 21, 64 - 10});
    channel.bias = 300; /* 2070 >> 4 = 129, 2250 >> 4 = 140 */
    expect_bytes(h, image, (const uint8_t[]){127, 127});
}

/* Pixels beyond the image mean 0, whatever byte that is. */
static void test_padding_means_zero_with_a_zero_point(void **state)
{
    (void)state;
    static const int8_t weights[] = {0, 0, 0, 1, 2, 4, 0, 0, 0};
    MerIntegerChannel   channel = {.weights = weights, .scale = 1, .start = -64 * 7};
    MerIntegerNode      node = {.kind = MER_TRAIN_CONV,
                                .kernel = {3, 3},
                                .conv = {1, {1, 1}, {1, 1}, {1, 1}},
                                .channels = &channel};
    Hand *h = by_hand(node, (MerIntegerValue){1, 1, 3, 64, 1}, (MerIntegerValue){1, 1, 3, 64, 1});
    /* 1, 2, -3: 2*1 + 4*2 = 10; 1 + 4 - 12 = -7; 2 - 6 = -4 */
    expect_bytes(h, (const uint8_t[]){65, 66, 61}, (const uint8_t[]){74, 57, 60});
    expect_bytes(h, (const uint8_t[]){64, 64, 64}, (const uint8_t[]){64, 64, 64});
}

static void test_depthwise_groups_strides_and_dilation_by_hand(void **state)
{
    (void)state;
    static const int8_t one[] = {1}, pair[] = {1, 10}, apart[] = {1, 2};
    MerIntegerChannel   deep[] = {{.option = 1, .weights = one, .scale = 1},
                                  {.option = 0, .weights = pair, .scale = 1}};
    MerIntegerNode      node = {.kind = MER_TRAIN_CONV,
                                .kernel = {1, 1},
                                .conv = {1, {1, 1}, {0, 0}, {1, 1}},
                                .channels = deep};
    Hand *h = by_hand(node, (MerIntegerValue){2, 1, 1, 0, 1}, (MerIntegerValue){2, 1, 1, 0, 1});
    expect_bytes(h, (const uint8_t[]){3, 5}, (const uint8_t[]){3, 53});
    /* two groups of two channels */
    MerIntegerChannel grouped[] = {{.weights = pair, .scale = 1}, {.weights = pair, .scale = 1}};
    node.channels = grouped;
    node.conv.groups = 2;
    h = by_hand(node, (MerIntegerValue){4, 1, 1, 0, 1}, (MerIntegerValue){2, 1, 1, 0, 1});
    expect_bytes(h, (const uint8_t[]){1, 2, 3, 4}, (const uint8_t[]){21, 43});
    /* every second pixel, weights two pixels apart */
    MerIntegerChannel wide = {.weights = apart, .scale = 1};
    node = (MerIntegerNode){.kind = MER_TRAIN_CONV,
                            .kernel = {1, 2},
                            .conv = {1, {1, 2}, {0, 0}, {1, 2}},
                            .channels = &wide};
    h = by_hand(node, (MerIntegerValue){1, 1, 6, 0, 1}, (MerIntegerValue){1, 1, 2, 0, 1});
    expect_bytes(h, (const uint8_t[]){1, 2, 3, 4, 5, 6}, (const uint8_t[]){1 + 6, 3 + 10});
}

static void test_sums_and_pools_by_hand(void **state)
{
    (void)state;
    MerIntegerNode sum = {.kind = MER_TRAIN_ADD, .factors = {1, 1}, .scale = 1, .shift = 1};
    Hand *h = by_hand(sum, (MerIntegerValue){1, 1, 3, 0, 1}, (MerIntegerValue){1, 1, 3, 0, 1});
    expect_bytes(h, (const uint8_t[]){1, 100, 127}, (const uint8_t[]){1, 100, 127});
    h->nodes[0].factors[1] = 2; /* x + 2 x */
    h->values[0].zero = h->values[1].zero = 64;
    expect_bytes(h, (const uint8_t[]){63, 64, 67},
                 (const uint8_t[]){62, 64, 68}); /* -3 >> 1 = -2 */
    MerIntegerNode pool = {.kind = MER_TRAIN_POOL,
                           .pooling = {MER_POOLING_AVERAGE, {2, 2}, {2, 2}, {0, 0}},
                           .scale = 3,
                           .shift = 3};
    h = by_hand(pool, (MerIntegerValue){1, 2, 4, 0, 1}, (MerIntegerValue){1, 1, 2, 0, 1});
    static const uint8_t image[] = {1, 2, 30, 4, 5, 6, 7, 8};
    expect_bytes(h, image, (const uint8_t[]){5, 18}); /* 3 x 14 >> 3, 3 x 49 >> 3 */
    h->values[0].zero = 64;                           /* all below 0 */
    expect_bytes(h, image, (const uint8_t[]){0, 0});
    pool.pooling = (MerPooling){MER_POOLING_MAX, {3, 3}, {2, 2}, {1, 1}};
    h = by_hand(pool, (MerIntegerValue){1, 2, 4, 0, 1}, (MerIntegerValue){1, 1, 2, 0, 1});
    expect_bytes(h, image, (const uint8_t[]){6, 30});
}

static void test_images_become_bytes(void **state)
{
    (void)state;
    MerIntegerValue value = {1, 1, 5, 0, 1 / 128.0f};
    MerIntegerNet   net = {.values = &value};
    uint8_t         bytes[5];
    mer_integer_net_input(&net, (const float[]){0, 0.5f, 0.499f, 1, -0.1f}, bytes);
    assert_memory_equal(bytes, ((const uint8_t[]){0, 64, 63, 127, 0}), 5);
    value.zero = 64;
    value.step = 1 / 64.0f;
    mer_integer_net_input(&net, (const float[]){0, 0.5f, -0.001f, 1, -1}, bytes);
    assert_memory_equal(bytes, ((const uint8_t[]){64, 96, 63, 127, 0}), 5);
}

/* ---- whole networks */

/* Where every scale is a power of two, nothing is lost: logits of the training, rounded down to the step of the deployed ones. */
static void expect_the_same(const char *workload, const MerGraph *graph, MerTrainForm form,
                            uint64_t seed)
{
    MerRng       rng = mer_rng_make(seed, 0);
    OpenedSplit *opened =
        open_split_graph("split", "soc", graph ? graph : graph_named(workload, arena),
                         platform_from(exact_platform, arena), arena);
    MerTrainNet   *trained = random_train_net(opened, &form, &rng);
    MerSplitPlan  *plan = random_split(opened, &rng);
    MerIntegerNet *net = integer_net(trained, plan, arena);
    int            size = mer_integer_value_size(&net->values[0]);
    float         *image = MER_ARRAY(arena, float, size), logits[64];
    uint8_t       *bytes = MER_ARRAY(arena, uint8_t, size);
    int32_t        deployed[64];
    for (int i = 0; i < 4; i++) {
        random_image(trained, &rng, image);
        trained_logits(trained, plan, image, logits);
        mer_integer_net_input(net, image, bytes);
        mer_integer_net_run(net, bytes, deployed, NULL, arena);
        for (int c = 0; c < net->classes; c++) {
            int expected = (int)floorf(logits[c] / net->values[net->value_count - 1].step);
            if (deployed[c] != expected) {
                fail_msg("%s: logit %d is %d, expected %d", workload, c, deployed[c], expected);
            }
        }
    }
    mer_train_net_free(trained);
}

static void test_exact_networks_compute_what_was_trained(void **state)
{
    (void)state;
    const MerTrainForm forms[] = {{0}, {.signed_add = true}, {.is_input_signed = true}};
    for (int f = 0; f < 3; f++) {
        expect_the_same("resnet8@input=1x8x8", NULL, forms[f], 1 + (uint64_t)f);
        expect_the_same("resnet8@input=2x16x8@blocks=2", NULL, forms[f], 5);
        /* 8x4 pixels are averaged */
        expect_the_same("ds_cnn@input=1x14x8@width=0.25", NULL, forms[f], 7);
        expect_the_same("mobilenet_v1@input=1x8x8@width=0.25@stem_stride=1", NULL, forms[f], 9);
        expect_the_same("resnet18@input=1x32x32@width=0.125@classes=10", NULL, forms[f], 11);
    }
}

/* Pools with windows, grouped and dilated convolutions, a product with a whole image, a sum with the input. */
static void test_exact_odd_nodes_compute_what_was_trained(void **state)
{
    (void)state;
    MerError     error;
    OnnxBuilder *b = onnx_builder(17, arena);
    onnx_input(b, "x", "1 4 8 8");
    onnx_weight(b, "w1", "4 2 3 3");
    onnx_weight(b, "w2", "8 4 3 3");
    onnx_weight(b, "w3", "8 1 3 3");
    onnx_weight(b, "w4", "10 32");
    onnx_node(b, "Conv", "x w1", "a", "pads=[1,1,1,1] group=2");
    onnx_node(b, "Add", "a x", "s", "");
    onnx_node(b, "Conv", "s w2", "c", "pads=[2,2,2,2] dilations=[2,2]");
    onnx_node(b, "Relu", "c", "r", "");
    onnx_node(b, "MaxPool", "r", "m", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]");
    onnx_node(b, "Conv", "m w3", "d", "pads=[1,1,1,1] group=8");
    onnx_node(b, "AveragePool", "d", "v", "kernel_shape=[2,2] strides=[2,2]");
    onnx_node(b, "Flatten", "v", "f", "");
    onnx_node(b, "Gemm", "f w4", "y", "transB=1");
    onnx_output(b, "y", NULL);
    MerGraph *graph = onnx_import(b, NULL, &error);
    if (graph == NULL) {
        fail_msg("%s", error.message);
    }
    const MerTrainForm forms[] = {{0},
                                  {.signed_add = true},
                                  {.is_input_signed = true},
                                  {.is_input_signed = true, .signed_add = true}};
    for (int f = 0; f < 4; f++) {
        expect_the_same("odd", graph, forms[f], 20 + (uint64_t)f);
    }
}

/* ---- units that are not exact: one layer at a time, from the bytes that the deployed network has before it */

/* The real number that a convolution makes of an input, with weights as the training writes them. */
static double computed(const MerTrainNet *from, const MerIntegerNet *net, int n, int option, int c,
                       int y, int x, const uint8_t *bytes)
{
    const MerTrainNode    *node = &from->nodes[n];
    const MerSplitLayer   *layer = &from->split->layers[node->layer];
    const MerIntegerValue *in = &net->values[node->in[0]];
    const MerTrainBranch  *branch =
        &node->branches[node->branch_count > 1 ? layer->options[option].branch : 0];
    const MerQuantiser *format = &from->formats[layer->option_start + option];
    const int          *shape = branch->weight->shape;
    double              step = mer_quantiser_e(format, c) / format->format.unit;
    double              unit = step * in->step, sum = 0;
    int                 first = c / (shape[0] / branch->conv.groups) * shape[1];
    for (int i = 0; i < shape[1]; i++) {
        for (int r = 0; r < shape[2]; r++) {
            for (int s = 0; s < shape[3]; s++) {
                int row = y * branch->conv.stride[0] - branch->conv.padding[0] + r;
                int column = x * branch->conv.stride[1] - branch->conv.padding[1] + s;
                if (row < 0 || row >= in->height || column < 0 || column >= in->width) {
                    continue;
                }
                float w = branch->weight->data[((c * shape[1] + i) * shape[2] + r) * shape[3] + s];
                int   byte = bytes[((first + i) * in->height + row) * in->width + column];
                sum += mer_format_level(format->format, mer_quantiser_e(format, c), w) * step *
                       (byte - in->zero) * in->step;
            }
        }
    }
    return sum + fmax(-32768, fmin(32767, rint(branch->bias->data[c] / unit))) * unit;
}

/* `off`: what a unit's scales are off at most, as a share. */
static void expect_within_a_step(const MerTrainNet *from, const MerIntegerNet *net, int n,
                                 uint8_t *const *values, double off)
{
    const MerIntegerNode  *node = &net->nodes[n];
    const MerIntegerValue *out = &net->values[node->out];
    for (int c = 0; c < out->channels; c++) {
        for (int i = 0; i < out->height * out->width; i++) {
            double real = computed(from, net, n, node->channels[c].option, c, i / out->width,
                                   i % out->width, values[node->in[0]]) /
                          out->step;
            double wanted = fmax(0, fmin(127, floor(real) + out->zero));
            double found = values[node->out][c * out->height * out->width + i];
            if (fabs(found - wanted) > 1 + off * fabs(real)) {
                fail_msg("%s channel %d: %g, expected %g (%g)", node->name, c, found, wanted, real);
            }
        }
    }
}

static void expect_close_layers(const char *workload, const char *platform, MerTrainForm form,
                                double off)
{
    MerRng         rng = mer_rng_make(31, 0);
    OpenedSplit   *opened = open_split("split", "soc", workload, platform, arena);
    MerTrainNet   *trained = random_train_net(opened, &form, &rng);
    MerSplitPlan  *plan = random_split(opened, &rng);
    MerIntegerNet *net = integer_net(trained, plan, arena);
    int            size = mer_integer_value_size(&net->values[0]);
    float         *image = MER_ARRAY(arena, float, size), logits[16];
    uint8_t       *bytes = MER_ARRAY(arena, uint8_t, size);
    uint8_t      **values = MER_ARRAY(arena, uint8_t *, net->value_count);
    int32_t        deployed[16];
    double         wrong = 0, right = 0;
    for (int i = 0; i < 2; i++) {
        random_image(trained, &rng, image);
        mer_integer_net_input(net, image, bytes);
        mer_integer_net_run(net, bytes, deployed, values, arena);
        for (int n = 0; n < net->node_count - 1; n++) {
            if (net->nodes[n].kind == MER_TRAIN_CONV) {
                expect_within_a_step(trained, net, n, values, off);
            }
        }
        trained_logits(trained, plan, image, logits);
        for (int c = 0; c < net->classes; c++) {
            double logit = deployed[c] * (double)net->values[net->value_count - 1].step;
            wrong += (logit - logits[c]) * (logit - logits[c]);
            right += logits[c] * logits[c];
        }
    }
    print_message("%s on %.8s: logits are off by %.3f\n", workload, platform, sqrt(wrong / right));
    assert_true(wrong < 0.15 * 0.15 * right);
    mer_train_net_free(trained);
}

static void test_layers_are_within_a_step_of_the_training(void **state)
{
    (void)state;
    const MerTrainForm plain = {0}, both = {.is_input_signed = true, .signed_add = true};
    /* int8-pow2 is 1/127 of a power of two, of which a shift makes 1/128; biases have 8 bits on the analog unit */
    expect_close_layers("resnet8@input=1x8x8", "diana", plain, 0.03);
    expect_close_layers("resnet8@input=1x8x8", "diana", both, 0.03);
    expect_close_layers("ds_cnn@input=1x20x10@width=0.25", "diana", both, 0.03);
    /* scales of 15 bits */
    expect_close_layers("resnet8@input=1x8x8", "darkside", plain, 1e-4);
    expect_close_layers("mobilenet_v1@input=1x16x16@width=0.25", "darkside", both, 1e-4);
    expect_close_layers("ds_cnn@input=1x20x10@width=0.25", "mpic", both, 1e-4);
}

/* ---- what cannot be deployed, and what is odd */

static MerIntegerNet *try_net(const MerTrainNet *trained, const MerSplitPlan *plan, MerError *error)
{
    MerIntegerNet *net = NULL;
    *error = (MerError){0};
    return mer_integer_net_new(trained, plan, arena, &net, error) == MER_OK ? net : NULL;
}

static void test_what_has_no_whole_numbers_is_refused_by_name(void **state)
{
    (void)state;
    MerError     error;
    MerRng       rng = mer_rng_make(1, 0);
    OnnxBuilder *b = onnx_builder(17, arena);
    onnx_input(b, "x", "1 2 6 6");
    onnx_weight(b, "w1", "4 2 3 3");
    onnx_weight(b, "w2", "10 36");
    onnx_node(b, "Conv", "x w1", "a", "pads=[1,1,1,1]")->name = mer_arena_text(arena, "first");
    onnx_node(b, "AveragePool", "a", "p", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]")->name =
        mer_arena_text(arena, "mean");
    onnx_node(b, "Flatten", "p", "f", "");
    onnx_node(b, "Gemm", "f w2", "y", "transB=1");
    onnx_output(b, "y", NULL);
    MerGraph    *graph = onnx_import(b, NULL, &error);
    OpenedSplit *opened =
        open_split_graph("split", "soc", graph, platform_from(exact_platform, arena), arena);
    MerTrainNet  *trained = random_train_net(opened, &(MerTrainForm){0}, &rng);
    MerSplitPlan *plan = random_split(opened, &rng);
    assert_null(try_net(trained, plan, &error));
    mer_test_contains(error.message, "net: mean cannot be computed in whole numbers: averages at");
    trained->nodes[0].layer = -1;
    assert_null(try_net(trained, plan, &error));
    mer_test_contains(error.message, "first cannot be computed in whole numbers: no unit");
    trained->nodes[0].layer = 0;
    trained->formats[0].scale->data[0] = 1e6f; /* one step of a weight is many of the output */
    assert_null(try_net(trained, plan, &error));
    mer_test_contains(error.message, "channel 0 needs a factor of");
    mer_test_contains(error.message, "unit a has scales up to 1");
    mer_train_net_free(trained);
}

/* A channel that training has let die has weights below all shifts: it gives its bias and no noise. */
static void test_channels_that_died_are_constants(void **state)
{
    (void)state;
    MerRng               rng = mer_rng_make(1, 0);
    OpenedSplit         *opened = open_split("split", "soc", "resnet8@input=1x8x8", "diana", arena);
    MerTrainNet         *trained = random_train_net(opened, &(MerTrainForm){0}, &rng);
    MerPlan              empty;
    MerSplitPlan        *plan = mer_split_new_plan(opened->split, &empty, arena);
    const MerSplitLayer *layer = &opened->split->layers[1];
    for (int c = 0; c < layer->c_out; c++) { /* ternary: each channel has its scale */
        plan->assignment[layer->channel_start + c] = 1;
    }
    mer_split_count(opened->split, plan);
    trained->formats[layer->option_start + 1].scale->data[3] = -30;
    MerIntegerNet           *net = integer_net(trained, plan, arena);
    const MerIntegerChannel *channel = &net->nodes[1].channels[3];
    assert_int_equal(net->nodes[1].layer, 1);
    assert_int_equal(channel->scale, 1);
    assert_int_equal(channel->start, 0);
    for (int i = 0; i < 16 * 9; i++) {
        assert_int_equal(channel->weights[i], 0);
    }
    /* 32768 units of e^-30 / 128 are no step, but below 0 they are below 0 */
    assert_true(channel->bias == 0 || channel->bias == -1);
    mer_train_net_free(trained);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scales_are_those_of_a_search_through_all),
        cmocka_unit_test(test_scales_by_hand),
        cmocka_unit_test(test_biases_by_hand),
        cmocka_unit_test(test_units_requantise_as_the_platform_says),
        cmocka_unit_test(test_convolution_by_hand),
        cmocka_unit_test(test_padding_means_zero_with_a_zero_point),
        cmocka_unit_test(test_depthwise_groups_strides_and_dilation_by_hand),
        cmocka_unit_test(test_sums_and_pools_by_hand),
        cmocka_unit_test(test_images_become_bytes),
        cmocka_unit_test(test_exact_networks_compute_what_was_trained),
        cmocka_unit_test(test_exact_odd_nodes_compute_what_was_trained),
        cmocka_unit_test(test_layers_are_within_a_step_of_the_training),
        cmocka_unit_test(test_what_has_no_whole_numbers_is_refused_by_name),
        cmocka_unit_test(test_channels_that_died_are_constants),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
