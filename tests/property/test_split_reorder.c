/* The pass that puts channels of one option together: of random networks with sums, depthwise and grouped layers and random splits, and
 * of the built-in ones, it changes no logit, changes nothing when applied again, and leaves one part per option wherever
 * nothing stands against it. And the tensor engine gives the logits of the plain way. */
#include "integer_support.h"
#include "one_arena.h"
#include "onnx_builder.h"

#define CONV(weights) "{operator: conv, weights: " weights "}"
#define DEEP(weights) "{operator: depthwise, weights: " weights "}"
#define RATE "cost: {formula: mac-rate, rate: 2}"

/* Two precisions and a depthwise engine that may stand in for convolutions. */
static const char mixed_platform[] =
    "{format: mercator-platform/1, kind: soc, name: mixed, reference: cpu, units: ["
    "{name: cpu, options: [" CONV(
        "int8") "], " RATE "},"
                "{name: npu, options: [{operator: conv, weights: ternary, name: ternary}, "
                "{operator: conv, weights: int4, name: int4}],"
                " requantise: {formula: scale-shift, scale_max: 255, shift_max: 20, bias_bits: 12, "
                "bias_shift_max: 8}, " RATE "},"
                "{name: dwe, options: [" DEEP("int8") "], " RATE "}]}";
/* Precisions only, for depthwise layers too. */
static const char precise_platform[] =
    "{format: mercator-platform/1, kind: soc, name: precise, reference: a, units: ["
    "{name: a, options: [" CONV("int8-pow2") ", " DEEP(
        "int8-pow2") "], requantise: {formula: shift, shift_bits: 5}, " RATE "},"
                     "{name: b, options: [" CONV("int2") ", " DEEP(
                         "int2") "], " RATE "},"
                                 "{name: c, options: [" CONV("ternary") "], " RATE "}]}";

static void expect_same_layer(const MerIntegerNet *net, const MerIntegerNode *a,
                              const MerIntegerNode *b)
{
    int count = net->values[a->out].channels;
    assert_int_equal(a->part_count, b->part_count);
    assert_memory_equal(a->parts, b->parts, (size_t)a->part_count * sizeof *a->parts);
    for (int c = 0; c < count; c++) {
        const MerIntegerChannel *x = &a->channels[c], *y = &b->channels[c];
        size_t                   width =
            (size_t)mer_integer_inputs(net, a, x->option) * (size_t)(a->kernel[0] * a->kernel[1]);
        assert_int_equal(x->option, y->option);
        assert_int_equal(x->start, y->start);
        assert_int_equal(x->bias, y->bias);
        assert_int_equal(x->scale, y->scale);
        assert_int_equal(x->shift, y->shift);
        assert_int_equal(x->bias_shift, y->bias_shift);
        assert_memory_equal(x->weights, y->weights, width);
    }
}

static void expect_same_network(const MerIntegerNet *a, const MerIntegerNet *b)
{
    for (int v = 0; v < a->value_count; v++) {
        assert_memory_equal(a->order[v], b->order[v], (size_t)a->values[v].channels * sizeof(int));
    }
    assert_memory_equal(a->output_order, b->output_order, (size_t)a->classes * sizeof(int));
    for (int n = 0; n < a->node_count; n++) {
        if (a->nodes[n].kind == MER_TRAIN_CONV) {
            expect_same_layer(a, &a->nodes[n], &b->nodes[n]);
        }
    }
}

static int options_used(const MerIntegerNode *node)
{
    unsigned used = 0;
    int      count = 0;
    for (int i = 0; i < node->part_count; i++) {
        count += !(used >> node->parts[i].option & 1);
        used |= 1u << node->parts[i].option;
    }
    return count;
}

/* Parts cover the channels one after the other, neighbours of different options. */
static void expect_parts(const MerIntegerNet *net, const MerIntegerNode *node)
{
    int at = 0;
    for (int i = 0; i < node->part_count; i++) {
        const MerIntegerPart *part = &node->parts[i];
        assert_int_equal(part->first, at);
        assert_true(part->count > 0);
        assert_true(i == 0 || part->option != node->parts[i - 1].option);
        for (int c = 0; c < part->count; c++) {
            assert_int_equal(node->channels[at++].option, part->option);
        }
    }
    assert_int_equal(at, net->values[node->out].channels);
}

/* Channel c of a value is channel order[c] of the network before. */
static void expect_moved_values(const MerIntegerNet *before, const MerIntegerNet *after,
                                uint8_t *const *old, uint8_t *const *moved)
{
    for (int v = 0; v < before->value_count - 1; v++) {
        const MerIntegerValue *value = &before->values[v];
        size_t                 plane = (size_t)(value->height * value->width);
        for (int c = 0; c < value->channels; c++) {
            assert_memory_equal(moved[v] + (size_t)c * plane,
                                old[v] + (size_t)after->order[v][c] * plane, plane);
        }
    }
}

static int parts_of(const MerIntegerNet *net, int *least)
{
    int parts = 0;
    *least = 0;
    for (int n = 0; n < net->node_count; n++) {
        parts += net->nodes[n].part_count;
        *least += net->nodes[n].kind == MER_TRAIN_CONV ? options_used(&net->nodes[n]) : 0;
    }
    return parts;
}

/* Gives the parts of the network after the pass; `least`: what there would be if nothing stood against it. */
static int check(const OpenedSplit *opened, MerTrainForm form, int images, MerRng *rng, int *least)
{
    MerTrainNet   *trained = random_train_net(opened, &form, rng);
    MerIntegerNet *before = integer_net(trained, random_split(opened, rng), opened->arena);
    MerIntegerNet *after = mer_integer_net_reorder(before, opened->arena);
    int            size = mer_integer_value_size(&before->values[0]);
    float         *all = MER_ARRAY(opened->arena, float, images *size);
    int           *labels = MER_ARRAY(opened->arena, int, images);
    int32_t       *fast = MER_ARRAY(opened->arena, int32_t, images * before->classes);
    double         accuracy;
    uint8_t       *bytes = MER_ARRAY(opened->arena, uint8_t, size);
    uint8_t      **old = MER_ARRAY(opened->arena, uint8_t *, before->value_count);
    uint8_t      **moved = MER_ARRAY(opened->arena, uint8_t *, before->value_count);
    int32_t       *logits = MER_ARRAY(opened->arena, int32_t, 2 * before->classes);
    for (int i = 0; i < images; i++) {
        random_image(trained, rng, all + (size_t)i * (size_t)size);
    }
    MerDataset set = {images,
                      before->values[0].channels,
                      before->values[0].height,
                      before->values[0].width,
                      before->classes,
                      all,
                      labels};
    assert_int_equal(mer_integer_net_accuracy(after, &set, NULL, fast, &accuracy, NULL), MER_OK);
    for (int i = 0; i < images; i++) {
        const float *image = all + (size_t)i * (size_t)size;
        mer_integer_net_input(before, image, bytes);
        mer_integer_net_run(before, bytes, logits, old, opened->arena);
        mer_integer_net_run(after, bytes, logits + before->classes, moved, opened->arena);
        assert_memory_equal(logits, logits + before->classes,
                            (size_t)before->classes * sizeof *logits);
        assert_memory_equal(logits, fast + i * before->classes,
                            (size_t)before->classes * sizeof *logits);
        expect_moved_values(before, after, old, moved);
        for (int c = 0; c < before->classes; c++) {
            assert_true(logits[c] >= -32768 && logits[c] <= 32767);
        }
    }
    for (int n = 0; n < after->node_count; n++) {
        if (after->nodes[n].kind == MER_TRAIN_CONV) {
            expect_parts(after, &after->nodes[n]);
        }
    }
    expect_same_network(mer_integer_net_reorder(after, opened->arena), after);
    mer_train_net_free(trained);
    return parts_of(after, least);
}

/* ---- random networks */

typedef struct Drawing {
    OnnxBuilder *b;
    MerRng      *rng;
    int          next;           /* number of the next name */
    char         value[16];      /* last made */
    int          channels, size; /* of it: images are square */
    char         kept[16];       /* an earlier value of the same shape; "" : none */
} Drawing;

static const char *new_name(Drawing *d, const char *letter)
{
    return mer_arena_format(d->b->arena, "%s%d", letter, d->next++);
}

static void add_node(Drawing *d, const char *op, const char *inputs, const char *attributes)
{
    const char      *name = new_name(d, "v");
    Onnx__NodeProto *node = onnx_node(d->b, op, inputs, name, attributes);
    node->name = mer_arena_text(d->b->arena, name);
    snprintf(d->value, sizeof d->value, "%s", name);
}

static void add_conv(Drawing *d, int out, int kernel, int stride, int groups, bool has_relu)
{
    MerArena   *memory = d->b->arena;
    const char *weight = new_name(d, "w");
    int         pad = kernel / 2;
    onnx_weight(d->b, weight,
                mer_arena_format(memory, "%d %d %d %d", out, d->channels / groups, kernel, kernel));
    add_node(d, "Conv", mer_arena_format(memory, "%s %s", d->value, weight),
             mer_arena_format(memory, "pads=[%d,%d,%d,%d] strides=[%d,%d] group=%d", pad, pad, pad,
                              pad, stride, stride, groups));
    if (has_relu) {
        add_node(d, "Relu", d->value, "");
    }
    d->size = (d->size + 2 * pad - kernel) / stride + 1;
    d->kept[0] = stride > 1 || out != d->channels ? '\0' : d->kept[0];
    d->channels = out;
}

static void add_block(Drawing *d)
{
    int  kind = mer_rng_below(d->rng, 8);
    bool has_relu = mer_rng_below(d->rng, 3) > 0;
    if (kind == 0 && d->size > 3) {
        add_node(d, "MaxPool", d->value, "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]");
        d->size = (d->size - 1) / 2 + 1;
        d->kept[0] = '\0';
    } else if (kind == 1) {
        add_conv(d, d->channels, 3, 1, d->channels, has_relu);
    } else if (kind == 2 && d->channels > 2) {
        add_conv(d, d->channels, 3, 1, 2, has_relu);
    } else if (kind == 3) {
        add_conv(d, 4 + 2 * mer_rng_below(d->rng, 6), 1, 1, 1, has_relu);
    } else if (kind < 6 && d->kept[0] && strcmp(d->kept, d->value) != 0) {
        add_node(d, "Add", mer_arena_format(d->b->arena, "%s %s", d->value, d->kept), "");
        if (has_relu) {
            add_node(d, "Relu", d->value, "");
        }
        d->kept[0] = '\0';
    } else if (!d->kept[0]) {
        snprintf(d->kept, sizeof d->kept, "%s", d->value);
        add_conv(d, d->channels, 3, 1, 1, has_relu);
    } else {
        add_conv(d, d->channels, 3, 1, 1, has_relu);
    }
}

static MerGraph *random_network(MerRng *rng, MerArena *memory)
{
    MerError error;
    Drawing  d = {.b = onnx_builder(17, memory),
                  .rng = rng,
                  .value = "x",
                  .channels = 2 + 2 * mer_rng_below(rng, 2),
                  .size = 5 + mer_rng_below(rng, 4)};
    onnx_input(d.b, "x", mer_arena_format(memory, "1 %d %d %d", d.channels, d.size, d.size));
    if (mer_rng_below(rng, 4) > 0) {
        add_conv(&d, 6 + 2 * mer_rng_below(rng, 6), 3, 1, 1, true);
    }
    for (int blocks = 4 + mer_rng_below(rng, 8); blocks > 0; blocks--) {
        add_block(&d);
    }
    bool is_averaged = mer_rng_below(rng, 2);
    if (is_averaged) {
        add_node(&d, "GlobalAveragePool", d.value, "");
    }
    add_node(&d, "Flatten", d.value, "");
    onnx_weight(d.b, "last",
                mer_arena_format(memory, "7 %d", d.channels * (is_averaged ? 1 : d.size * d.size)));
    add_node(&d, "Gemm", mer_arena_format(memory, "%s last", d.value), "transB=1");
    onnx_output(d.b, d.value, NULL);
    MerGraph *graph = onnx_import(d.b, NULL, &error);
    if (graph == NULL) {
        fail_msg("%s", error.message);
    }
    return graph;
}

static void test_random_networks_keep_their_logits(void **state)
{
    (void)state;
    const char *const platforms[] = {"diana", "darkside", mixed_platform, precise_platform, "mpic"};
    int               parts = 0, least = 0;
    for (int i = 0; i < 100; i++) {
        MerArena    *memory = mer_arena_new();
        MerRng       rng = mer_rng_make(77, (uint64_t)i);
        const char  *name = platforms[i % 5];
        MerGraph    *graph = random_network(&rng, memory);
        MerTrainForm form = {.signed_add = mer_rng_below(&rng, 2),
                             .is_input_signed = mer_rng_below(&rng, 2)};
        OpenedSplit *opened = open_split_graph(
            "split", "soc", graph,
            name[0] == '{' ? platform_from(name, memory) : platform_named(name, memory), memory);
        int wanted;
        parts += check(opened, form, 2, &rng, &wanted);
        least += wanted;
        mer_arena_free(memory);
    }
    print_message("%d parts, %d would be the least\n", parts, least);
}

/* ---- built-in networks */

static void test_built_in_networks_keep_their_logits(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"resnet8@input=3x16x16", "diana"},
        {"resnet20@input=3x8x8", "diana"},
        {"resnet18@input=3x64x64@width=0.25@classes=10", "diana"},
        {"ds_cnn", "diana"},
        {"mobilenet_v1@input=3x32x32@width=0.25", "darkside"},
        {"resnet8@input=3x16x16", "darkside"},
        {"mobilenet_v1@input=1x16x16@width=0.25", mixed_platform},
        {"resnet8@input=3x16x16", mixed_platform},
        {"ds_cnn", "gap9-ne16"},
        {"ds_cnn", "gap8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerArena    *memory = mer_arena_new();
        MerRng       rng = mer_rng_make(5, i);
        OpenedSplit *opened = open_split("split", "soc", cases[i][0], cases[i][1], memory);
        int least, parts = check(opened, (MerTrainForm){.is_input_signed = i % 2}, 1, &rng, &least);
        print_message("%s: %d parts, %d would be the least\n", cases[i][0], parts, least);
        mer_arena_free(memory);
    }
}

/* In a chain nothing stands against one part per option; in a residual network only sums do. */
static void test_a_chain_has_one_part_for_each_option(void **state)
{
    (void)state;
    MerRng       rng = mer_rng_make(9, 0);
    MerError     error;
    OnnxBuilder *b = onnx_builder(17, arena);
    onnx_input(b, "x", "1 3 6 6");
    onnx_weight(b, "w1", "24 3 3 3");
    onnx_weight(b, "w2", "16 24 3 3");
    onnx_weight(b, "w3", "10 64");
    onnx_node(b, "Conv", "x w1", "a", "pads=[1,1,1,1]");
    onnx_node(b, "Relu", "a", "r", "");
    onnx_node(b, "MaxPool", "r", "m", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]");
    onnx_node(b, "Conv", "m w2", "c", "");
    onnx_node(b, "AveragePool", "c", "p", "kernel_shape=[1,1]");
    onnx_node(b, "Conv", "p w4", "d", "");
    onnx_weight(b, "w4", "64 16 1 1");
    onnx_node(b, "Flatten", "d", "f", "");
    onnx_node(b, "Gemm", "f w3", "y", "transB=1");
    onnx_output(b, "y", NULL);
    MerGraph *graph = onnx_import(b, NULL, &error);
    assert_non_null(graph);
    for (int i = 0; i < 20; i++) {
        OpenedSplit *opened =
            open_split_graph("split", "soc", graph, platform_from(precise_platform, arena), arena);
        int least, parts = check(opened, (MerTrainForm){0}, 1, &rng, &least);
        assert_int_equal(parts, least);
    }
}

/* Two layers that meet want different orders: the dearer one gets its own, the other one as few parts as are left. */
static void test_the_dearer_layer_of_a_sum_has_its_order(void **state)
{
    (void)state;
    MerRng       rng = mer_rng_make(2, 0);
    OpenedSplit *opened = open_split("split", "soc", "resnet8@input=1x8x8", "diana", arena);
    MerTrainNet *trained = random_train_net(opened, &(MerTrainForm){0}, &rng);
    for (int i = 0; i < 10; i++) {
        MerIntegerNet *net =
            mer_integer_net_reorder(integer_net(trained, random_split(opened, &rng), arena), arena);
        const MerIntegerNode *heavy = NULL, *light = NULL;
        for (int n = 0; n < net->node_count; n++) {
            heavy = strcmp(net->nodes[n].name, "s3b0c2") == 0 ? &net->nodes[n] : heavy;
            light = strcmp(net->nodes[n].name, "s3b0ds") == 0 ? &net->nodes[n] : light;
        }
        assert_int_equal(heavy->part_count, options_used(heavy));
        assert_true(light->part_count <=
                    2 * heavy->part_count); /* sorted inside of each of its parts */
    }
    mer_train_net_free(trained);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_networks_keep_their_logits),
        cmocka_unit_test(test_built_in_networks_keep_their_logits),
        cmocka_unit_test(test_a_chain_has_one_part_for_each_option),
        cmocka_unit_test(test_the_dearer_layer_of_a_sum_has_its_order),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
