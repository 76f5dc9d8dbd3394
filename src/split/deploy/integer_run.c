/* The integer network at work, plainly: what every other implementation must give, bit for bit. */
#include "split/deploy/integer_net.h"

#include <string.h>

static int32_t clamp_byte(int64_t x)
{
    return (int32_t)(x < 0 ? 0 : x > MER_TRAIN_LEVELS ? MER_TRAIN_LEVELS : x);
}

/* Rounds down, also below 0, without leaning on how a compiler shifts what is negative. */
static int64_t shift_down(int64_t x, int shift)
{
    return x >= 0 ? x >> shift : ~(~x >> shift);
}

void mer_integer_net_input(const MerIntegerNet *net, const float *image, uint8_t *bytes)
{
    const MerIntegerValue *in = &net->values[0];
    for (int i = 0; i < mer_integer_value_size(in); i++) {
        float level = floorf(image[i] / in->step) + (float)in->zero;
        bytes[i] = (uint8_t)(level < 0 ? 0 : level > MER_TRAIN_LEVELS ? MER_TRAIN_LEVELS : level);
    }
}

typedef struct Padded { /* an input with its zero all around */
    const uint8_t *bytes;
    int            height, width;
} Padded;

static Padded pad(const MerIntegerValue *in, const uint8_t *bytes, const int padding[2],
                  MerArena *scratch)
{
    Padded   p = {.height = in->height + 2 * padding[0], .width = in->width + 2 * padding[1]};
    size_t   plane = (size_t)p.height * (size_t)p.width;
    uint8_t *copy = MER_ARRAY(scratch, uint8_t, (size_t)in->channels * plane);
    memset(copy, in->zero, (size_t)in->channels * plane);
    for (int c = 0; c < in->channels; c++) {
        for (int y = 0; y < in->height; y++) {
            memcpy(copy + (size_t)c * plane + (size_t)(y + padding[0]) * (size_t)p.width +
                       padding[1],
                   bytes + (size_t)(c * in->height + y) * (size_t)in->width, (size_t)in->width);
        }
    }
    p.bytes = copy;
    return p;
}

/* acc[y][x] += weight * byte for one weight of the kernel. Most strides are 1: rows of neighbours are worth vector code. */
static void add_weight(const MerConvolution *conv, const uint8_t *from, int width, int32_t weight,
                       const MerIntegerValue *out, int32_t *restrict acc)
{
    for (int y = 0; y < out->height; y++, acc += out->width) {
        const uint8_t *row = from + (size_t)y * (size_t)conv->stride[0] * (size_t)width;
        if (conv->stride[1] == 1) {
            for (int x = 0; x < out->width; x++) {
                acc[x] += weight * row[x];
            }
        } else {
            for (int x = 0; x < out->width; x++) {
                acc[x] += weight * row[x * conv->stride[1]];
            }
        }
    }
}

static void accumulate(const MerIntegerNet *net, const MerIntegerNode *node, const Padded *input,
                       int channel, int32_t *acc)
{
    const MerIntegerValue   *out = &net->values[node->out];
    const MerIntegerChannel *from = &node->channels[channel];
    const int8_t            *weight = from->weights;
    int                      inputs = mer_integer_inputs(net, node, from->option);
    int                      first = mer_integer_first_input(net, node, channel);
    for (int i = 0; i < out->height * out->width; i++) {
        acc[i] = from->start;
    }
    for (int i = 0; i < inputs; i++) {
        for (int r = 0; r < node->kernel[0]; r++) {
            for (int s = 0; s < node->kernel[1]; s++, weight++) {
                size_t at = ((size_t)(first + i) * (size_t)input->height +
                             (size_t)(r * node->conv.dilation[0])) *
                                (size_t)input->width +
                            (size_t)(s * node->conv.dilation[1]);
                if (*weight != 0) {
                    add_weight(&node->conv, input->bytes + at, input->width, *weight, out, acc);
                }
            }
        }
    }
}

static int64_t requantise(const MerIntegerChannel *channel, int32_t acc)
{
    int64_t bias = channel->bias * ((int64_t)1 << channel->bias_shift);
    return shift_down((int64_t)channel->scale * acc + bias, channel->shift);
}

void mer_integer_channel_end(const MerIntegerNet *net, const MerIntegerNode *node, int channel,
                             const int32_t *acc, uint8_t *bytes, int32_t *logits)
{
    const MerIntegerValue *out = &net->values[node->out];
    int                    size = out->height * out->width;
    for (int i = 0; i < size; i++) {
        int64_t y = requantise(&node->channels[channel], acc[i]);
        if (bytes != NULL) {
            bytes[channel * size + i] = (uint8_t)clamp_byte(y + out->zero);
        } else {
            logits[net->output_order[channel]] = (int32_t)y;
        }
    }
}

static void run_conv(const MerIntegerNet *net, const MerIntegerNode *node, const uint8_t *in,
                     uint8_t *bytes, int32_t *logits, MerArena *scratch)
{
    const MerIntegerValue *out = &net->values[node->out];
    Padded                 input = pad(&net->values[node->in[0]], in, node->conv.padding, scratch);
    int32_t               *acc = MER_ARRAY(scratch, int32_t, out->height * out->width);
    for (int c = 0; c < out->channels; c++) {
        accumulate(net, node, &input, c, acc);
        mer_integer_channel_end(net, node, c, acc, bytes, logits);
    }
}

static void run_sum(const MerIntegerNet *net, const MerIntegerNode *node, const uint8_t *x,
                    const uint8_t *y, uint8_t *bytes)
{
    const MerIntegerValue *out = &net->values[node->out];
    int32_t zero_x = net->values[node->in[0]].zero, zero_y = net->values[node->in[1]].zero;
    for (int i = 0; i < mer_integer_value_size(out); i++) {
        int64_t sum = (int64_t)node->factors[0] * (x[i] - zero_x) +
                      (int64_t)node->factors[1] * (y[i] - zero_y);
        bytes[i] = (uint8_t)clamp_byte(shift_down(node->scale * sum, node->shift) + out->zero);
    }
}

/* The largest byte, or the sum, of a window; what lies beyond the image does not count. */
static int64_t window_of(const MerIntegerValue *in, const uint8_t *plane, const MerPooling *pooling,
                         int top, int left)
{
    bool    is_maximum = pooling->kind == MER_POOLING_MAX;
    int64_t result = 0;
    for (int y = top < 0 ? 0 : top; y < top + pooling->window[0] && y < in->height; y++) {
        for (int x = left < 0 ? 0 : left; x < left + pooling->window[1] && x < in->width; x++) {
            int byte = plane[y * in->width + x];
            result = !is_maximum ? result + byte - in->zero : byte > result ? byte : result;
        }
    }
    return result;
}

static void run_pool(const MerIntegerNet *net, const MerIntegerNode *node, const uint8_t *from,
                     uint8_t *bytes)
{
    const MerIntegerValue *in = &net->values[node->in[0]], *out = &net->values[node->out];
    const MerPooling      *p = &node->pooling;
    for (int c = 0; c < out->channels; c++) {
        for (int y = 0; y < out->height; y++) {
            for (int x = 0; x < out->width; x++) {
                int64_t value =
                    window_of(in, from + (size_t)(c * in->height * in->width), p,
                              y * p->stride[0] - p->padding[0], x * p->stride[1] - p->padding[1]);
                if (p->kind == MER_POOLING_AVERAGE) {
                    value = shift_down(node->scale * value, node->shift) + out->zero;
                }
                *bytes++ = (uint8_t)clamp_byte(value);
            }
        }
    }
}

void mer_integer_node_run(const MerIntegerNet *net, const MerIntegerNode *node,
                          const uint8_t *const in[2], uint8_t *bytes, int32_t *logits,
                          MerArena *scratch)
{
    if (node->kind == MER_TRAIN_CONV) {
        run_conv(net, node, in[0], bytes, logits, scratch);
    } else if (node->kind == MER_TRAIN_ADD) {
        run_sum(net, node, in[0], in[1], bytes);
    } else {
        run_pool(net, node, in[0], bytes);
    }
}

void mer_integer_net_run(const MerIntegerNet *net, const uint8_t *image, int32_t *logits,
                         uint8_t **values, MerArena *scratch)
{
    uint8_t **all = MER_ARRAY(scratch, uint8_t *, net->value_count);
    all[0] = (uint8_t *)image;
    for (int n = 0; n < net->node_count; n++) {
        const MerIntegerNode *node = &net->nodes[n];
        bool                  is_sum = node->kind == MER_TRAIN_ADD;
        const uint8_t *const  in[2] = {all[node->in[0]], is_sum ? all[node->in[1]] : NULL};
        uint8_t              *out = NULL;
        if (n < net->node_count - 1) {
            out = MER_ARRAY(scratch, uint8_t, mer_integer_value_size(&net->values[node->out]));
        }
        all[node->out] = out;
        mer_integer_node_run(net, node, in, out, logits, scratch);
    }
    if (values != NULL) {
        memcpy(values, all, (size_t)net->value_count * sizeof *values);
    }
}
