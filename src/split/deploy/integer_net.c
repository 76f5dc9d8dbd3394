/* From a trained network to whole numbers: the steps and zeros of values, and nodes that are no layers. Weights and scales of layers:
 * integer_layer.c. */
#include "split/deploy/integer_build.h"

#include <string.h>

MerStatus mer_integer_refuse(MerIntegerBuild *b, const char *name, const char *format, ...)
{
    char    text[200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return mer_error_set(b->error, MER_UNSUPPORTED,
                         "%s: %s cannot be computed in whole numbers: %s", b->from->graph->name,
                         name, text);
}

bool mer_integer_is_depthwise(const MerIntegerNet *net, const MerIntegerNode *node, int option)
{
    return net->split->layers[node->layer].options[option].type == MER_SPLIT_DEPTHWISE;
}

int mer_integer_inputs(const MerIntegerNet *net, const MerIntegerNode *node, int option)
{
    return mer_integer_is_depthwise(net, node, option)
               ? 1
               : net->values[node->in[0]].channels / node->conv.groups;
}

int mer_integer_first_input(const MerIntegerNet *net, const MerIntegerNode *node, int channel)
{
    int option = node->channels[channel].option;
    int in_a_group = net->values[node->out].channels / node->conv.groups;
    return mer_integer_is_depthwise(net, node, option)
               ? channel
               : channel / in_a_group * mer_integer_inputs(net, node, option);
}

void mer_integer_find_parts(MerIntegerNode *node, int count, MerArena *arena)
{
    node->part_count = 0;
    node->parts = MER_ARRAY(arena, MerIntegerPart, count);
    for (int c = 0; c < count; c++) {
        int option = node->channels[c].option;
        if (c == 0 || option != node->channels[c - 1].option) {
            node->parts[node->part_count++] = (MerIntegerPart){option, c, 0};
        }
        node->parts[node->part_count - 1].count++;
    }
}

static int window_count(int size, int window, int stride, int padding, int dilation)
{
    return (size + 2 * padding - (window - 1) * dilation - 1) / stride + 1;
}

/* The quantiser of a value as the training has it. */
static void take_quantiser(const MerTrainNet *net, const MerTrainNode *node, MerIntegerValue *value)
{
    int high = node->is_signed ? MER_TRAIN_LEVELS / 2 : MER_TRAIN_LEVELS;
    value->zero = node->is_signed ? (MER_TRAIN_LEVELS + 1) / 2 : 0;
    value->step = 1 / mer_staircase_scale(net->clips[node->quantiser]->data[0], high);
}

static MerStatus make_sum(MerIntegerBuild *b, MerIntegerNode *node)
{
    /* steps are powers of two, so that 1 and 2 do nearly always; 4 is there for inputs with a sign and an output without */
    enum { MOST_SCALE = 127, MOST_SHIFT = 31, MOST_FACTOR = 1 << 15 };
    const MerIntegerValue *x = &b->net->values[node->in[0]], *y = &b->net->values[node->in[1]];
    MerIntegerValue       *out = &b->net->values[node->out];
    float                  common = x->step < y->step ? x->step : y->step;
    if (x->step / common > MOST_FACTOR || y->step / common > MOST_FACTOR) {
        return mer_integer_refuse(b, node->name, "its inputs have steps of %g and %g", x->step,
                                  y->step);
    }
    if (x->channels != y->channels || x->height != y->height || x->width != y->width) {
        return mer_integer_refuse(b, node->name, "it adds images of %dx%dx%d and %dx%dx%d",
                                  x->channels, x->height, x->width, y->channels, y->height,
                                  y->width);
    }
    *out = (MerIntegerValue){x->channels, x->height, x->width, out->zero, out->step};
    node->factors[0] = (int32_t)(x->step / common);
    node->factors[1] = (int32_t)(y->step / common);
    double m = (double)common / out->step;
    mer_requantise_find(m, MOST_SCALE, MOST_SHIFT, &node->scale, &node->shift);
    return ldexp(node->scale, -node->shift) == m
               ? MER_OK
               : mer_integer_refuse(b, node->name, "its step is %g times that of its inputs",
                                    1 / m);
}

static MerStatus make_average(MerIntegerBuild *b, MerIntegerNode *node)
{
    enum { MOST_SCALE = 127, MOST_SHIFT = 31 };
    const MerIntegerValue *in = &b->net->values[node->in[0]];
    double                 area = (double)node->pooling.window[0] * node->pooling.window[1];
    double                 m = in->step / (b->net->values[node->out].step * area);
    if (node->pooling.padding[0] > 0 || node->pooling.padding[1] > 0) {
        return mer_integer_refuse(b, node->name,
                                  "averages at the edge have fewer pixels, expected "
                                  "a pool without padding");
    }
    mer_requantise_find(m, MOST_SCALE, MOST_SHIFT, &node->scale, &node->shift);
    return fabs(ldexp(node->scale, -node->shift) - m) < m / 2
               ? MER_OK
               : mer_integer_refuse(b, node->name,
                                    "its factor %g is no scale of 1 .. %d by a shift", m,
                                    MOST_SCALE);
}

static MerStatus make_pool(MerIntegerBuild *b, const MerTrainNode *from, MerIntegerNode *node)
{
    const MerIntegerValue *in = &b->net->values[node->in[0]];
    MerIntegerValue       *out = &b->net->values[node->out];
    node->pooling =
        from->kind == MER_TRAIN_POOL
            ? from->pooling
            : (MerPooling){MER_POOLING_AVERAGE, {in->height, in->width}, {1, 1}, {0, 0}};
    const MerPooling *p = &node->pooling;
    out->channels = in->channels;
    out->height = window_count(in->height, p->window[0], p->stride[0], p->padding[0], 1);
    out->width = window_count(in->width, p->window[1], p->stride[1], p->padding[1], 1);
    if (p->kind == MER_POOLING_MAX) { /* one of the bytes that it reads */
        out->step = in->step;
        out->zero = in->zero;
        return MER_OK;
    }
    return make_average(b, node);
}

static MerStatus make_conv(MerIntegerBuild *b, const MerTrainNode *from, MerIntegerNode *node)
{
    const MerIntegerValue *in = &b->net->values[node->in[0]];
    MerIntegerValue       *out = &b->net->values[node->out];
    const MerTrainBranch  *branch = &from->branches[0];
    for (int k = 1; k < from->branch_count; k++) { /* the one that is not depthwise */
        bool is_denser = from->branches[k].conv.groups < branch->conv.groups;
        branch = is_denser ? &from->branches[k] : branch;
    }
    node->conv = branch->conv;
    int *size[2] = {&out->height, &out->width};
    for (int i = 0; i < 2; i++) {
        node->kernel[i] = branch->weight->shape[2 + i];
        *size[i] =
            window_count(i == 0 ? in->height : in->width, node->kernel[i], node->conv.stride[i],
                         node->conv.padding[i], node->conv.dilation[i]);
    }
    out->channels = branch->weight->shape[0];
    return from->layer < 0
               ? mer_integer_refuse(b, node->name, "no unit of the platform computes it")
               : mer_integer_make_layer(b, from, node);
}

static MerStatus make_node(MerIntegerBuild *b, int n)
{
    const MerTrainNode *from = &b->from->nodes[n];
    MerIntegerNode     *node = &b->net->nodes[n];
    *node = (MerIntegerNode){.kind = from->kind,
                             .name = from->name,
                             .layer = from->layer,
                             .in = {from->in[0], from->in[1]},
                             .out = from->out};
    if (from->quantiser >= 0) {
        take_quantiser(b->from, from, &b->net->values[from->out]);
    }
    return from->kind == MER_TRAIN_CONV  ? make_conv(b, from, node)
           : from->kind == MER_TRAIN_ADD ? make_sum(b, node)
                                         : make_pool(b, from, node);
}

/* Orders as they are. */
static void start_orders(MerIntegerNet *net, MerArena *arena)
{
    int **order = MER_ARRAY(arena, int *, net->value_count);
    for (int v = 0; v < net->value_count; v++) {
        order[v] = MER_ARRAY(arena, int, net->values[v].channels);
        for (int c = 0; c < net->values[v].channels; c++) {
            order[v][c] = c;
        }
    }
    net->order = order;
    net->output_order = MER_ARRAY(arena, int, net->classes);
    memcpy(net->output_order, order[net->value_count - 1],
           (size_t)net->classes * sizeof *net->output_order);
}

MerStatus mer_integer_net_new(const MerTrainNet *from, const MerSplitPlan *plan, MerArena *arena,
                              MerIntegerNet **made, MerError *error)
{
    /* what comes after the output is of no use */
    MerIntegerNet  *net = MER_NEW(arena, MerIntegerNet);
    MerIntegerBuild b = {from, plan, net, arena, error};
    bool            is_signed = from->form.is_input_signed;
    *net = (MerIntegerNet){.split = from->split,
                           .node_count = from->output,
                           .value_count = from->output + 1,
                           .classes = from->classes,
                           .values = MER_ARRAY(arena, MerIntegerValue, from->output + 1),
                           .nodes = MER_ARRAY(arena, MerIntegerNode, from->output + 1)};
    assert(from->is_folded && from->split != NULL);
    net->values[0] = (MerIntegerValue){from->shape[0], from->shape[1], from->shape[2],
                                       is_signed ? 64 : 0, is_signed ? 1 / 64.0f : 1 / 128.0f};
    for (int n = 0; n < net->node_count; n++) {
        MER_TRY(make_node(&b, n));
    }
    start_orders(net, arena);
    *made = net;
    return MER_OK;
}
