/* Reference kernels of a network whose channels are shared out over compute units: what every unit must compute, bit for bit.
 * Replace them one by one by those of the machine.
 *
 * Images are bytes 0 .. 127, channel by channel, row by row. A byte b means (b - zero) * step. A channel of a layer is
 *
 *     clamp(((scale * sum + bias * 2^bias_shift) >> shift) + zero, 0, 127),  sum = start + all weight * byte
 *
 * where bytes beyond the image are the input's zero, sums have 32 bits, everything behind them 64, and >> rounds down. */
#ifndef KERNELS_H
#define KERNELS_H

#include <stdint.h>

typedef struct Convolution { /* a layer; a product has one pixel */
    int32_t in_channels, in_rows, in_columns;
    int32_t out_channels, out_rows, out_columns;
    int32_t groups;                                        /* of kernels that are not depthwise */
    int32_t kernel[2], stride[2], padding[2], dilation[2]; /* rows, columns */
    int32_t in_zero, out_zero;
} Convolution;

typedef struct Channel {
    int32_t start, bias, scale, bias_shift, shift;
} Channel;

/* Neighbouring output channels that one unit computes. */
typedef struct Part {
    const Convolution *layer;
    int32_t            first, count;
    /* one of both: a byte per weight, or four weights -1, 0, 1 in a byte as 0, 1, 2, the first one in the lowest bits; the weights of a
     * channel are (input channels, rows, columns), and packed ones start with a new byte */
    const int8_t  *bytes;
    const uint8_t *packed;
    const Channel *channels; /* count */
} Part;

/* `in` and `out` are whole images of the layer; a part writes its own channels alone, so that parts may run side by side. */
void conv_int8(const Part *part, const uint8_t *in, uint8_t *out);
void conv_ternary(const Part *part, const uint8_t *in, uint8_t *out);
/* Output channel c reads input channel c. */
void depthwise_int8(const Part *part, const uint8_t *in, uint8_t *out);
void depthwise_ternary(const Part *part, const uint8_t *in, uint8_t *out);
/* The last layer is not clamped: channel c becomes logits[classes[c]]. */
void logits_int8(const Part *part, const uint8_t *in, const int32_t *classes, int32_t *logits);
void logits_ternary(const Part *part, const uint8_t *in, const int32_t *classes, int32_t *logits);

/* clamp(((scale * (left_factor * left + right_factor * right)) >> shift) + zero, 0, 127), left and right without their zeros */
typedef struct Sum {
    int32_t bytes;
    int32_t left_zero, right_zero, out_zero;
    int32_t left_factor, right_factor, scale, shift;
} Sum;
void add(const Sum *sum, const uint8_t *left, const uint8_t *right, uint8_t *out);

typedef struct Pool {
    int32_t channels, in_rows, in_columns, out_rows, out_columns;
    int32_t window[2], stride[2], padding[2];
    /* of an average: clamp(((scale * all bytes of the window) >> shift) + zero, 0, 127), the bytes without their zero */
    int32_t in_zero, out_zero, scale, shift;
} Pool;
void average(const Pool *pool, const uint8_t *in, uint8_t *out);
void maximum(const Pool *pool, const uint8_t *in, uint8_t *out);

#endif
