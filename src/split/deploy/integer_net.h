/* A trained network with a frozen split, in whole numbers: what a machine computes, bit for bit (docs/channel-split-deployment.md).
 *
 * Activations are bytes 0 .. 127; a byte b of a value means (b - zero) * step, zero 0 or 64. A channel of a layer is
 *
 *     clamp(((scale * acc + (bias << bias_shift)) >> shift) + zero, 0, 127),  acc = start + sum of weight * byte
 *
 * with bytes beyond the image equal to the input's zero, >> rounding down, and everything after `acc` (32 bits) in 64 bits. Units
 * that only shift have scale 1 and bias_shift 0. The last layer is not clamped. */
#ifndef MERCATOR_SPLIT_DEPLOY_INTEGER_NET_H
#define MERCATOR_SPLIT_DEPLOY_INTEGER_NET_H

#include "mercator/threads.h"
#include "split/train/train_net.h"
#include "tensor/dataset.h"

typedef struct MerIntegerValue {
    int   channels, height, width;
    int   zero; /* the byte that means 0 */
    float step; /* a power of two */
} MerIntegerValue;

typedef struct MerIntegerChannel { /* an output channel of a layer */
    int           option;          /* of the layer */
    const int8_t *weights;         /* (inputs of the channel, k_h, k_w) */
    int32_t       start;
    int32_t       bias, scale, bias_shift, shift;
} MerIntegerChannel;

typedef struct
    MerIntegerPart { /* neighbouring output channels of a layer that one option computes */
    int option, first, count;
} MerIntegerPart;

typedef struct MerIntegerNode {
    MerTrainNodeKind kind;
    const char      *name;
    int              layer;      /* of the split; -1: none */
    int              in[2], out; /* values */

    /* a convolution; a product is one whose kernel is the image (1x1 of a vector) */
    int                kernel[2];
    MerConvolution     conv; /* its groups are those of options that are not depthwise */
    MerIntegerChannel *channels;
    /* runs of equal options: one for each option that has channels, or more where neighbours want another order */
    int             part_count;
    MerIntegerPart *parts;

    /* a sum: clamp(((scale * (factors[0] * (x - zero_x) + factors[1] * (y - zero_y))) >> shift) + zero, 0, 127), with factors other than
     * 1 where the inputs have different steps (one with a sign, one without); an average: the same of all bytes of a window (that
     * of MER_TRAIN_AVERAGE is the image), without factors; a maximum needs neither, and looks at no padding */
    MerPooling pooling;
    int32_t    factors[2], scale, shift;
} MerIntegerNode;

typedef struct MerIntegerNet {
    const MerSplit  *split;
    int              node_count, value_count, classes;
    MerIntegerValue *values; /* 0 is the input, n + 1 what node n makes */
    MerIntegerNode  *nodes;  /* in the order in which they run; the last one gives the logits */
    /* class of each channel of the last node: logits[output_order[c]] is channel c */
    int *output_order;
    /* of each value: where its channel c was before the order was changed, order[value][c] */
    int *const *order;
} MerIntegerNet;

/* From a folded and trained network and a plan. Says which layer the platform cannot compute in whole numbers. */
MerStatus mer_integer_net_new(const MerTrainNet *from, const MerSplitPlan *plan, MerArena *arena,
                              MerIntegerNet **net, MerError *error);

/* The same network with the channels of each option next to each other wherever the network allows it. Applied twice it changes
 * nothing. */
MerIntegerNet *mer_integer_net_reorder(const MerIntegerNet *net, MerArena *arena);

/* Images as bytes: (channels, height, width) of numbers as the data set gives them. */
void mer_integer_net_input(const MerIntegerNet *net, const float *image, uint8_t *bytes);
/* Logits of one image; `values` (NULL: not wanted) gets the bytes of every value but the last, in `scratch`. */
void mer_integer_net_run(const MerIntegerNet *net, const uint8_t *image, int32_t *logits,
                         uint8_t **values, MerArena *scratch);

/* One node of it: `in` are the bytes of its inputs; `bytes` is NULL for the last node, which gives logits. */
void mer_integer_node_run(const MerIntegerNet *net, const MerIntegerNode *node,
                          const uint8_t *const in[2], uint8_t *bytes, int32_t *logits,
                          MerArena *scratch);
/* From the sums of a channel of a convolution to its bytes or its logit. */
void mer_integer_channel_end(const MerIntegerNet *net, const MerIntegerNode *node, int channel,
                             const int32_t *acc, uint8_t *bytes, int32_t *logits);

/* Share of the images whose largest logit, the first of equals, is that of the label: the same logits, by the tensor engine's
 * convolutions. `logits` (NULL: not wanted) gets those of every image; `pool` NULL: on one thread. */
MerStatus mer_integer_net_accuracy(const MerIntegerNet *net, const MerDataset *images,
                                   MerPool *pool, int32_t *logits, double *accuracy,
                                   MerError *error);

/* Bytes of a value, and how many inputs a channel of a layer reads. */
static inline int mer_integer_value_size(const MerIntegerValue *value)
{
    return value->channels * value->height * value->width;
}
bool mer_integer_is_depthwise(const MerIntegerNet *net, const MerIntegerNode *node, int option);
int  mer_integer_inputs(const MerIntegerNet *net, const MerIntegerNode *node, int option);
/* The first input channel that an output channel reads; the others follow it. */
int mer_integer_first_input(const MerIntegerNet *net, const MerIntegerNode *node, int channel);

/* Fills in the parts of a layer from the options of its `count` channels. */
void mer_integer_find_parts(MerIntegerNode *node, int count, MerArena *arena);

/* How a unit brings sums back to bytes; without such rules scale up to 2^15 - 1, shift up to 46, and biases in the accumulator. */
typedef struct MerRequantise {
    bool has_scale;
    int  scale_max, shift_max, bias_bits, bias_shift_max; /* bias_bits 0: in the accumulator */
} MerRequantise;
MerRequantise mer_requantise_of(const MerUnit *unit);
/* scale / 2^shift nearest to m; ties to the smaller shift, then to the smaller scale. */
void mer_requantise_find(double m, int scale_max, int shift_max, int32_t *scale, int32_t *shift);
/* bias << shift nearest to `target` with a bias of so many bits; ties the same way. */
void mer_requantise_bias(int64_t target, int bits, int shift_max, int32_t *bias, int32_t *shift);

#endif
