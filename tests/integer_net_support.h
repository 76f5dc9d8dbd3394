/* Random networks in whole numbers, with every kind of node and options that lie anywhere, for tests of what is made of them. */
#ifndef MERCATOR_TESTS_INTEGER_NET_SUPPORT_H
#define MERCATOR_TESTS_INTEGER_NET_SUPPORT_H

#include "mercator/rng.h"
#include "split/deploy/integer_net.h"

#include "support.h"

enum { INTEGER_NET_NODES = 24 };

typedef struct IntegerBuilder {
    MerArena      *arena;
    MerRng        *rng;
    MerIntegerNet *net;
    MerSplit      *split;
    MerSplitLayer *layers;
} IntegerBuilder;

static inline int integer_draw(IntegerBuilder *b, int low, int high)
{
    return low + mer_rng_below(b->rng, high - low + 1);
}

static const double integer_cycles[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

/* Options of every layer: 0, 1 of all inputs, 2, 3 depthwise; 1 and 3 have weights of two bits. */
#define OPTION(label, number, kind, format, size)                                                  \
    {                                                                                              \
        .name = label, .unit = number, .type = MER_SPLIT_##kind, .weights = format, .bits = size,  \
        .cycles = integer_cycles                                                                   \
    }
static const MerSplitOption integer_options[] = {
    OPTION("digital", 0, CONV, "int8-pow2", 8), OPTION("analog", 1, CONV, "ternary", 2),
    OPTION("engine", 2, DEPTHWISE, "int8", 8), OPTION("small/2", 1, DEPTHWISE, "int2", 2)};
#undef OPTION

static inline IntegerBuilder integer_builder(MerRng *rng, MerArena *arena)
{
    IntegerBuilder b = {.arena = arena, .rng = rng};
    MerUnit       *units = MER_ARRAY(arena, MerUnit, 3);
    MerPlatform   *platform = MER_NEW(arena, MerPlatform);
    units[0].name = "digital";
    units[1].name = "analog";
    units[2].name = "dwe";
    *platform = (MerPlatform){.name = "soc", .units = units, .unit_count = 3};
    b.layers = MER_ARRAY(arena, MerSplitLayer, INTEGER_NET_NODES);
    b.split = MER_NEW(arena, MerSplit);
    *b.split = (MerSplit){.platform = platform, .layers = b.layers, .unit_count = 3};
    b.net = MER_NEW(arena, MerIntegerNet);
    *b.net = (MerIntegerNet){.split = b.split,
                             .values = MER_ARRAY(arena, MerIntegerValue, INTEGER_NET_NODES + 1),
                             .nodes = MER_ARRAY(arena, MerIntegerNode, INTEGER_NET_NODES)};
    b.net->values[b.net->value_count++] =
        (MerIntegerValue){integer_draw(&b, 1, 3), integer_draw(&b, 5, 9), integer_draw(&b, 5, 9),
                          64 * integer_draw(&b, 0, 1), 1.0f / 64};
    return b;
}

static inline MerIntegerNode *integer_node(IntegerBuilder *b, MerTrainNodeKind kind, int in,
                                           const char *name)
{
    MerIntegerNet  *net = b->net;
    MerIntegerNode *node = &net->nodes[net->node_count];
    MerIntegerValue from = net->values[in];
    assert_true(net->node_count < INTEGER_NET_NODES);
    net->values[net->value_count] = (MerIntegerValue){from.channels, from.height, from.width,
                                                      64 * integer_draw(b, 0, 1), 1.0f / 64};
    *node = (MerIntegerNode){.kind = kind,
                             .name = mer_arena_format(b->arena, "%s.%d", name, net->node_count),
                             .layer = -1,
                             .in = {in, 0},
                             .out = net->value_count++,
                             .factors = {1, 1},
                             .scale = 1};
    net->node_count++;
    return node;
}

static inline int integer_size(int size, int window, int stride, int padding, int dilation)
{
    return (size + 2 * padding - (window - 1) * dilation - 1) / stride + 1;
}

/* Most results are bytes around 64, so that inputs can be told apart at the end. */
static inline void integer_channel(IntegerBuilder *b, MerIntegerNode *node, int c)
{
    MerIntegerChannel *channel = &node->channels[c];
    int                inputs = mer_integer_inputs(b->net, node, channel->option), sum = 0;
    int                count = inputs * node->kernel[0] * node->kernel[1];
    int                most = integer_options[channel->option].bits == 2 ? 1 : 127;
    int                middle = 64 - b->net->values[node->out].zero;
    double             squares = 0;
    int8_t            *weights = MER_ARRAY(b->arena, int8_t, count);
    for (int i = 0; i < count; i++) {
        weights[i] = (int8_t)integer_draw(b, -most, most);
        sum += weights[i];
        squares += weights[i] * weights[i];
    }
    channel->weights = weights;
    channel->scale = most == 1 ? integer_draw(b, 1, 127) : 1;
    channel->bias = integer_draw(b, -128, 127);
    channel->bias_shift = most == 1 ? integer_draw(b, 0, 9) : 0;
    while (ldexp(channel->scale * sqrt(squares), -channel->shift) > 2) {
        channel->shift++;
    }
    channel->start = -64 * sum + (middle << channel->shift) / channel->scale;
}

/* Options at random, in runs or all over; `is_depthwise`: of these alone. */
static inline MerIntegerNode *integer_conv(IntegerBuilder *b, int in, int channels,
                                           const int kernel[2], MerConvolution conv,
                                           bool is_depthwise)
{
    MerIntegerNode  *node = integer_node(b, MER_TRAIN_CONV, in, is_depthwise ? "dw*/" : "conv");
    MerIntegerValue  from = b->net->values[in], *out = &b->net->values[node->out];
    bool             may_stand_in = !is_depthwise && from.channels == channels && conv.groups == 1;
    MerSplitOperator type = is_depthwise ? MER_SPLIT_DEPTHWISE : MER_SPLIT_CONV;
    node->layer = b->split->layer_count++;
    b->layers[node->layer] = (MerSplitLayer){.name = node->name,
                                             .type = type,
                                             .c_in = from.channels,
                                             .c_out = channels,
                                             .options = integer_options,
                                             .option_count = 4};
    node->conv = conv;
    node->kernel[0] = kernel[0];
    node->kernel[1] = kernel[1];
    out->channels = channels;
    out->height =
        integer_size(from.height, kernel[0], conv.stride[0], conv.padding[0], conv.dilation[0]);
    out->width =
        integer_size(from.width, kernel[1], conv.stride[1], conv.padding[1], conv.dilation[1]);
    node->channels = MER_ARRAY(b->arena, MerIntegerChannel, channels);
    bool is_in_order = integer_draw(b, 0, 1);
    int  border = integer_draw(b, 0, channels);
    for (int c = 0; c < channels; c++) {
        int second = is_in_order ? c >= border : integer_draw(b, 0, 1);
        int low = is_depthwise ? 2 : may_stand_in && second ? integer_draw(b, 0, 1) : 0;
        node->channels[c].option = low + second;
        integer_channel(b, node, c);
    }
    mer_integer_find_parts(node, channels, b->arena);
    return node;
}

static inline void integer_some_conv(IntegerBuilder *b, int in)
{
    MerIntegerValue from = b->net->values[in];
    bool            is_depthwise = integer_draw(b, 0, 3) == 0;
    bool            is_small = from.height < 4 || from.width < 4;
    int             kernel[2] = {1, 1};
    int             groups = !is_depthwise && from.channels % 2 == 0 ? integer_draw(b, 1, 2) : 1;
    MerConvolution  conv = {groups, {1, 1}, {0, 0}, {1, 1}};
    for (int i = 0; !is_small && i < 2; i++) {
        kernel[i] = integer_draw(b, 1, 3);
        conv.stride[i] = integer_draw(b, 1, 2);
        conv.padding[i] = integer_draw(b, 0, kernel[i] - 1);
        conv.dilation[i] = integer_draw(b, 1, kernel[i] > 2 ? 1 : 2);
    }
    int channels =
        is_depthwise || integer_draw(b, 0, 1) ? from.channels : 2 * integer_draw(b, 2, 5);
    conv.groups = is_depthwise ? from.channels : channels % groups == 0 ? groups : 1;
    integer_conv(b, in, channels, kernel, conv, is_depthwise);
}

static inline void integer_sum(IntegerBuilder *b, int left, int right)
{
    MerIntegerNode *node = integer_node(b, MER_TRAIN_ADD, left, "add");
    node->in[1] = right;
    node->factors[integer_draw(b, 0, 1)] = integer_draw(b, 1, 4);
    node->scale = integer_draw(b, 1, 3);
    while ((node->scale * (node->factors[0] + node->factors[1]) >> node->shift) > 1) {
        node->shift++;
    }
    b->net->values[node->out].zero = b->net->values[left].zero < b->net->values[right].zero
                                         ? b->net->values[left].zero
                                         : b->net->values[right].zero;
}

static inline void integer_pool(IntegerBuilder *b, int in, MerTrainNodeKind kind)
{
    MerIntegerNode *node = integer_node(b, kind, in, "pool");
    MerIntegerValue from = b->net->values[in], *out = &b->net->values[node->out];
    bool            is_max = kind == MER_TRAIN_POOL && integer_draw(b, 0, 1);
    MerPooling     *p = &node->pooling;
    *p = (MerPooling){
        is_max ? MER_POOLING_MAX : MER_POOLING_AVERAGE, {from.height, from.width}, {1, 1}, {0, 0}};
    for (int i = 0; kind == MER_TRAIN_POOL && i < 2; i++) {
        p->window[i] = integer_draw(b, 1, p->window[i] < 3 ? p->window[i] : 3);
        p->stride[i] = integer_draw(b, 1, 2);
        p->padding[i] = is_max ? integer_draw(b, 0, p->window[i] / 2) : 0;
    }
    out->height = integer_size(from.height, p->window[0], p->stride[0], p->padding[0], 1);
    out->width = integer_size(from.width, p->window[1], p->stride[1], p->padding[1], 1);
    out->zero = from.zero;
    if (!is_max) {
        node->scale = integer_draw(b, 1, 127);
        while ((node->scale * p->window[0] * p->window[1] >> node->shift) > 1) {
            node->shift++;
        }
    }
}

/* The last value whose shape is that of `value`; -1: none. */
static inline int integer_twin(const MerIntegerNet *net, int value)
{
    const MerIntegerValue *wanted = &net->values[value];
    for (int v = value - 1; v > 0; v--) {
        const MerIntegerValue *found = &net->values[v];
        if (found->channels == wanted->channels && found->height == wanted->height &&
            found->width == wanted->width) {
            return v;
        }
    }
    return -1;
}

/* Logits of many sizes, and no depthwise channel. */
static inline void integer_last(IntegerBuilder *b, MerIntegerNode *node)
{
    int count = b->net->values[node->out].channels;
    b->layers[node->layer].type = MER_SPLIT_LINEAR;
    for (int c = 0; c < count; c++) {
        MerIntegerChannel *channel = &node->channels[c];
        *channel = (MerIntegerChannel){.option = channel->option & 1};
        integer_channel(b, node, c);
        channel->shift = channel->shift > 5 ? channel->shift - 5 : 0;
    }
    mer_integer_find_parts(node, count, b->arena);
}

static inline void integer_finish(IntegerBuilder *b)
{
    MerIntegerNet *net = b->net;
    int          **order = MER_ARRAY(b->arena, int *, net->value_count);
    net->classes = net->values[net->value_count - 1].channels;
    net->values[net->value_count - 1].zero = 0;
    net->output_order = MER_ARRAY(b->arena, int, net->classes);
    for (int v = 0; v < net->value_count; v++) {
        order[v] = MER_ARRAY(b->arena, int, net->values[v].channels);
        for (int c = 0; c < net->values[v].channels; c++) {
            order[v][c] = c;
        }
    }
    memcpy(net->output_order, order[net->value_count - 1], (size_t)net->classes * sizeof(int));
    mer_rng_shuffle(b->rng, net->output_order, net->classes);
    net->order = order;
}

static inline MerIntegerNet *random_integer_net(MerRng *rng, MerArena *arena)
{
    IntegerBuilder b = integer_builder(rng, arena);
    MerConvolution plain = {1, {1, 1}, {0, 0}, {1, 1}};
    int            steps = integer_draw(&b, 0, 12);
    for (int i = 0; i < steps; i++) {
        int at = b.net->value_count - 1, twin = integer_twin(b.net, at);
        int kind = integer_draw(&b, 0, 7);
        if (twin > 0 && kind < 3) {
            integer_sum(&b, at, twin);
        } else if (kind == 7) {
            integer_pool(&b, at, MER_TRAIN_POOL);
        } else {
            integer_some_conv(&b, at);
        }
    }
    if (integer_draw(&b, 0, 1)) {
        integer_pool(&b, b.net->value_count - 1, MER_TRAIN_AVERAGE);
    }
    int       at = b.net->value_count - 1;
    const int all[2] = {b.net->values[at].height, b.net->values[at].width};
    integer_last(&b, integer_conv(&b, at, integer_draw(&b, 2, 11), all, plain, false));
    integer_finish(&b);
    return b.net;
}

#endif
