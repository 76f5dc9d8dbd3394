/* The integer network as an annotated ONNX model (opset 10): a layer is one Conv or Gemm per part, each with Mul, Add, Div, Floor and Clip
 * behind it, and a Concat of the parts. */
#include "split/export/onnx_export.h"
#include "split/export/onnx_writer.h"

#include <math.h>
#include <string.h>

enum { OPSET = 10, SUM_BITS = 32, BYTE_BITS = 8 };

typedef struct Builder {
    MerOnnxWriter        writer;
    const MerIntegerNet *net;
    MerArena            *arena;
    const char         **values;  /* names of the tensors */
    bool                *is_flat; /* (1, channels) instead of an image */
} Builder;

/* Neighbouring channels of a part that one Conv computes: they read `inputs` channels from `input` on, in groups. */
typedef struct Piece {
    const MerIntegerNode *node;
    const MerSplitOption *option;
    const char           *name;
    int                   first, count, input, inputs, groups;
    bool                  is_flat;
} Piece;

static const char *node_result(Builder *b, const char *type, const char *name, int count,
                               const char *const *inputs)
{
    return mer_onnx_writer_result(mer_onnx_writer_node(&b->writer, type, name, count, inputs));
}

/* ---- requantisation */

/* Numbers of each channel, to be broadcast over images. */
static const char *by_channel(Builder *b, const char *name, const char *what, bool is_flat,
                              int count, const float *values)
{
    int64_t dims[3] = {count, 1, 1};
    return mer_onnx_writer_reals(&b->writer, mer_arena_format(b->arena, "%s.%s", name, what),
                                 is_flat ? 1 : 3, dims, values);
}

static const char *operate(Builder *b, const char *type, const char *name, const char *x,
                           const char *y)
{
    const char      *inputs[2] = {x, y};
    Onnx__NodeProto *node = mer_onnx_writer_node(&b->writer, type, name, 2, inputs);
    mer_onnx_writer_set_int(&b->writer, node, "out_bits", SUM_BITS);
    return mer_onnx_writer_result(node);
}

typedef struct Requantise { /* floor((mul * x + add) / div), of each channel */
    int          count;
    const float *mul, *add, *div;
    bool         is_flat, is_clipped;
} Requantise;

static const char *requantise(Builder *b, const char *name, const char *x, const Requantise *r)
{
    const char *mul = by_channel(b, name, "mul", r->is_flat, r->count, r->mul);
    const char *add = by_channel(b, name, "add", r->is_flat, r->count, r->add);
    const char *div = by_channel(b, name, "div", r->is_flat, r->count, r->div);
    x = operate(b, "Mul", name, x, mul);
    x = operate(b, "Add", name, x, add);
    const char *inputs[2] = {x, div};
    x = node_result(b, "Div", name, 2, inputs);
    x = node_result(b, "Floor", name, 1, &x);
    if (!r->is_clipped) {
        return x;
    }
    Onnx__NodeProto *clip = mer_onnx_writer_node(&b->writer, "Clip", name, 1, &x);
    mer_onnx_writer_set_real(&b->writer, clip, "min", 0);
    mer_onnx_writer_set_real(&b->writer, clip, "max", MER_TRAIN_LEVELS);
    mer_onnx_writer_set_int(&b->writer, clip, "out_bits", BYTE_BITS);
    return mer_onnx_writer_result(clip);
}

/* ---- layers */

static const char *requantise_piece(Builder *b, const Piece *piece, const char *x)
{
    const MerIntegerChannel *channels = piece->node->channels + piece->first;
    int                      zero = b->net->values[piece->node->out].zero;
    float                   *mul = MER_ARRAY(b->arena, float, piece->count),
          *add = MER_ARRAY(b->arena, float, piece->count),
          *div = MER_ARRAY(b->arena, float, piece->count);
    for (int k = 0; k < piece->count; k++) {
        const MerIntegerChannel *c = &channels[k];
        mul[k] = (float)c->scale;
        add[k] = (float)(ldexp(c->bias, c->bias_shift) + ldexp(zero, c->shift));
        div[k] = ldexpf(1, c->shift);
    }
    bool is_last = piece->node->out == b->net->value_count - 1;
    return requantise(b, piece->name, x,
                      &(Requantise){piece->count, mul, add, div, piece->is_flat, !is_last});
}

/* Weights and what sums start with. */
static void add_parameters(Builder *b, const Piece *piece, const char *inputs[3])
{
    const MerIntegerNode *node = piece->node;
    int                   area = node->kernel[0] * node->kernel[1];
    int                   width = piece->inputs / piece->groups * area;
    float                *weights = MER_ARRAY(b->arena, float, (int64_t)piece->count *width);
    float                *start = MER_ARRAY(b->arena, float, piece->count);
    for (int k = 0; k < piece->count; k++) {
        const MerIntegerChannel *channel = &node->channels[piece->first + k];
        start[k] = (float)channel->start;
        for (int i = 0; i < width; i++) {
            weights[(int64_t)k * width + i] = channel->weights[i];
        }
    }
    int64_t dims[4] = {piece->count, piece->inputs / piece->groups, node->kernel[0],
                       node->kernel[1]};
    int64_t flat[2] = {piece->count, width};
    inputs[1] =
        mer_onnx_writer_reals(&b->writer, mer_arena_format(b->arena, "%s.weight", piece->name),
                              piece->is_flat ? 2 : 4, piece->is_flat ? flat : dims, weights);
    inputs[2] =
        mer_onnx_writer_reals(&b->writer, mer_arena_format(b->arena, "%s.bias", piece->name), 1,
                              &(int64_t){piece->count}, start);
}

static void set_geometry(Builder *b, Onnx__NodeProto *node, const Piece *piece, bool is_padded)
{
    const MerConvolution *v = &piece->node->conv;
    int64_t               pads[4] = {0, 0, 0, 0};
    for (int i = 0; !is_padded && i < 4; i++) {
        pads[i] = v->padding[i % 2];
    }
    mer_onnx_writer_set_ints(&b->writer, node, "kernel_shape", 2,
                             (int64_t[]){piece->node->kernel[0], piece->node->kernel[1]});
    mer_onnx_writer_set_ints(&b->writer, node, "strides", 2,
                             (int64_t[]){v->stride[0], v->stride[1]});
    mer_onnx_writer_set_ints(&b->writer, node, "dilations", 2,
                             (int64_t[]){v->dilation[0], v->dilation[1]});
    mer_onnx_writer_set_ints(&b->writer, node, "pads", 4, pads);
    mer_onnx_writer_set_int(&b->writer, node, "group", piece->groups);
}

/* Channels [first, first + count) of a tensor. */
static const char *slice(Builder *b, const char *name, const char *x, int first, int count)
{
    const char *inputs[4] = {x};
    inputs[1] = mer_onnx_writer_ints(&b->writer, mer_arena_format(b->arena, "%s.first", name), 1,
                                     &(int64_t){first});
    inputs[2] = mer_onnx_writer_ints(&b->writer, mer_arena_format(b->arena, "%s.end", name), 1,
                                     &(int64_t){first + count});
    inputs[3] = mer_onnx_writer_ints(&b->writer, mer_arena_format(b->arena, "%s.axis", name), 1,
                                     &(int64_t){1});
    return node_result(b, "Slice", name, 4, inputs);
}

static const char *add_piece(Builder *b, const Piece *piece, const char *x, bool is_padded)
{
    const char *inputs[3] = {x};
    if (piece->inputs < b->net->values[piece->node->in[0]].channels && !piece->is_flat) {
        inputs[0] = slice(b, piece->name, x, piece->input, piece->inputs);
    }
    add_parameters(b, piece, inputs);
    Onnx__NodeProto *node =
        mer_onnx_writer_node(&b->writer, piece->is_flat ? "Gemm" : "Conv", piece->name, 3, inputs);
    if (piece->is_flat) {
        mer_onnx_writer_set_int(&b->writer, node, "transB", 1);
    } else {
        set_geometry(b, node, piece, is_padded);
    }
    mer_onnx_writer_set_int(&b->writer, node, "weight_bits", piece->option->bits);
    mer_onnx_writer_set_int(&b->writer, node, "bias_bits", SUM_BITS);
    mer_onnx_writer_set_text(&b->writer, node, "unit", mer_deployment_unit(b->net, piece->option));
    return requantise_piece(b, piece, mer_onnx_writer_result(node));
}

/* The piece of a part that starts at channel `first`: all of it, or up to the end of a group that the part shares with another one. */
static Piece piece_of(Builder *b, const MerIntegerNode *node, const MerIntegerPart *part, int first)
{
    int   end = part->first + part->count;
    int   groups = node->conv.groups, in = b->net->values[node->in[0]].channels;
    Piece piece = {.node = node,
                   .option = mer_deployment_option(b->net, node, part->option),
                   .first = first,
                   .count = end - first,
                   .inputs = in,
                   .groups = 1,
                   .is_flat = b->is_flat[node->out]};
    if (mer_integer_is_depthwise(b->net, node, part->option)) {
        piece.input = first;
        piece.inputs = piece.groups = piece.count;
    } else if (groups > 1) {
        int  wide = b->net->values[node->out].channels / groups, group = first / wide;
        bool is_whole = first % wide == 0 && end % wide == 0;
        int  last = is_whole ? end : (group + 1) * wide < end ? (group + 1) * wide : end;
        piece.count = last - first;
        piece.groups = is_whole ? piece.count / wide : 1;
        piece.input = group * (in / groups);
        piece.inputs = piece.groups * (in / groups);
    }
    return piece;
}

/* ONNX pads with 0; where another byte means 0, a Pad of its own comes first. */
static const char *pad(Builder *b, const MerIntegerNode *node, const char *name, const char *x)
{
    const int       *p = node->conv.padding;
    Onnx__NodeProto *made = mer_onnx_writer_node(&b->writer, "Pad", name, 1, &x);
    mer_onnx_writer_set_text(&b->writer, made, "mode", "constant");
    mer_onnx_writer_set_ints(&b->writer, made, "pads", 8,
                             (int64_t[]){0, 0, p[0], p[1], 0, 0, p[0], p[1]});
    mer_onnx_writer_set_real(&b->writer, made, "value", b->net->values[node->in[0]].zero);
    return mer_onnx_writer_result(made);
}

/* A product reads the whole image. */
static bool is_product(const MerIntegerNet *net, const MerIntegerNode *node)
{
    const MerIntegerValue *in = &net->values[node->in[0]];
    return net->split->layers[node->layer].type == MER_SPLIT_LINEAR && node->conv.groups == 1 &&
           node->kernel[0] == in->height && node->kernel[1] == in->width &&
           node->conv.padding[0] == 0 && node->conv.padding[1] == 0;
}

static const char *add_layer(Builder *b, const MerIntegerNode *node, const char *name)
{
    const char  *x = b->values[node->in[0]];
    const char **pieces = MER_ARRAY(b->arena, const char *, b->net->values[node->out].channels);
    bool         has_padding = node->conv.padding[0] > 0 || node->conv.padding[1] > 0;
    bool         is_padded = has_padding && b->net->values[node->in[0]].zero != 0;
    int          count = 0;
    b->is_flat[node->out] = is_product(b->net, node);
    if (b->is_flat[node->out] && !b->is_flat[node->in[0]]) {
        x = node_result(b, "Flatten", name, 1, &x);
    } else if (is_padded) {
        x = pad(b, node, name, x);
    }
    for (int p = 0; p < node->part_count; p++) {
        const MerIntegerPart *part = &node->parts[p];
        for (int c = part->first; c < part->first + part->count;) {
            Piece piece = piece_of(b, node, part, c);
            piece.name = mer_arena_format(b->arena, "%s.%d.%s", name, count, piece.option->name);
            pieces[count++] = add_piece(b, &piece, x, is_padded);
            c += piece.count;
        }
    }
    if (count == 1) {
        return pieces[0];
    }
    Onnx__NodeProto *concat = mer_onnx_writer_node(&b->writer, "Concat", name, count, pieces);
    mer_onnx_writer_set_int(&b->writer, concat, "axis", 1);
    return mer_onnx_writer_result(concat);
}

/* ---- sums and pools */

static const char *requantise_all(Builder *b, const char *name, const char *x, double mul,
                                  double add, int shift, bool is_flat)
{
    float values[3] = {(float)mul, (float)add, ldexpf(1, shift)};
    return requantise(b, name, x,
                      &(Requantise){1, &values[0], &values[1], &values[2], is_flat, true});
}

static const char *add_sum(Builder *b, const MerIntegerNode *node, const char *name)
{
    const char *inputs[2];
    double      zeros = 0;
    bool        is_flat = b->is_flat[node->in[0]];
    for (int i = 0; i < 2; i++) {
        inputs[i] = b->values[node->in[i]];
        zeros += (double)node->factors[i] * b->net->values[node->in[i]].zero;
        if (node->factors[i] != 1) {
            const char *factor = by_channel(b, name, i == 0 ? "left" : "right", is_flat, 1,
                                            &(float){(float)node->factors[i]});
            inputs[i] = operate(b, "Mul", name, inputs[i], factor);
        }
    }
    b->is_flat[node->out] = is_flat;
    const char *x = operate(b, "Add", name, inputs[0], inputs[1]);
    double      add = ldexp(b->net->values[node->out].zero, node->shift) - node->scale * zeros;
    return requantise_all(b, name, x, node->scale, add, node->shift, is_flat);
}

static void set_window(Builder *b, Onnx__NodeProto *node, const MerPooling *p)
{
    mer_onnx_writer_set_ints(&b->writer, node, "kernel_shape", 2,
                             (int64_t[]){p->window[0], p->window[1]});
    mer_onnx_writer_set_ints(&b->writer, node, "strides", 2,
                             (int64_t[]){p->stride[0], p->stride[1]});
    mer_onnx_writer_set_ints(
        &b->writer, node, "pads", 4,
        (int64_t[]){p->padding[0], p->padding[1], p->padding[0], p->padding[1]});
}

/* A mean times its area may be off by a rounding; half a unit more keeps the floor where it belongs. */
static const char *add_pool(Builder *b, const MerIntegerNode *node, const char *name)
{
    const char       *x = b->values[node->in[0]];
    const MerPooling *p = &node->pooling;
    bool is_max = p->kind == MER_POOLING_MAX, is_whole = node->kind == MER_TRAIN_AVERAGE;
    Onnx__NodeProto *pool = mer_onnx_writer_node(&b->writer,
                                                 is_max     ? "MaxPool"
                                                 : is_whole ? "GlobalAveragePool"
                                                            : "AveragePool",
                                                 name, 1, &x);
    if (!is_whole) {
        set_window(b, pool, p);
    }
    if (is_max) {
        return mer_onnx_writer_result(pool);
    }
    double scale = (double)node->scale * p->window[0] * p->window[1];
    double add = ldexp(b->net->values[node->out].zero, node->shift) -
                 scale * b->net->values[node->in[0]].zero + 0.5;
    return requantise_all(b, name, mer_onnx_writer_result(pool), scale, add, node->shift, false);
}

/* ---- the model */

/* Logits in the order of the classes. */
static const char *put_in_order(Builder *b, const char *x)
{
    const MerIntegerNet *net = b->net;
    int64_t             *channel = MER_ARRAY(b->arena, int64_t, net->classes);
    bool                 is_moved = false;
    for (int c = 0; c < net->classes; c++) {
        channel[net->output_order[c]] = c;
        is_moved |= net->output_order[c] != c;
    }
    if (!is_moved) {
        return x;
    }
    const char *inputs[2] = {x, mer_onnx_writer_ints(&b->writer, "classes", net->classes, channel)};
    Onnx__NodeProto *gather = mer_onnx_writer_node(&b->writer, "Gather", "classes", 2, inputs);
    mer_onnx_writer_set_int(&b->writer, gather, "axis", 1);
    return mer_onnx_writer_result(gather);
}

const void *mer_onnx_network(const MerDeployment *deployment, size_t *size, MerArena *arena)
{
    const MerIntegerNet *net = deployment->net;
    Builder             *b = MER_NEW(arena, Builder);
    int64_t in[4] = {1, net->values[0].channels, net->values[0].height, net->values[0].width};
    int64_t out[4] = {1, net->classes, 1, 1};
    *b = (Builder){.net = net,
                   .arena = arena,
                   .values = MER_ARRAY(arena, const char *, net->value_count),
                   .is_flat = MER_ARRAY(arena, bool, net->value_count)};
    mer_onnx_writer_init(&b->writer, deployment->network, OPSET, arena);
    mer_onnx_writer_input(&b->writer, "0", 4, in);
    b->values[0] = "0";
    for (int n = 0; n < net->node_count; n++) {
        const MerIntegerNode *node = &net->nodes[n];
        const char           *name = node->name;
        b->values[node->out] = node->kind == MER_TRAIN_CONV  ? add_layer(b, node, name)
                               : node->kind == MER_TRAIN_ADD ? add_sum(b, node, name)
                                                             : add_pool(b, node, name);
    }
    int last = net->nodes[net->node_count - 1].out;
    mer_onnx_writer_output(&b->writer, put_in_order(b, b->values[last]), b->is_flat[last] ? 2 : 4,
                           out);
    return mer_onnx_writer_pack(&b->writer, size);
}
