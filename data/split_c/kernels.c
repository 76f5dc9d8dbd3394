#include "kernels.h"

/* Towards minus infinity, also where the compiler's >> of negative numbers is something else. */
static int64_t shift_down(int64_t value, int32_t shift)
{
    return value < 0 ? ~(~value >> shift) : value >> shift;
}

static uint8_t clamp(int64_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 127 ? 127 : value);
}

static int64_t requantise(const Channel *channel, int32_t sum)
{
    int64_t bias = channel->bias * ((int64_t)1 << channel->bias_shift);
    return shift_down((int64_t)channel->scale * sum + bias, channel->shift);
}

/* A byte of a row of an input channel, NULL: a row beyond the image; what is beyond it is the zero. */
static int32_t pixel(const Convolution *c, const uint8_t *row, int32_t column)
{
    return row && column >= 0 && column < c->in_columns ? row[column] : c->in_zero;
}

static const uint8_t *row_of(const Convolution *c, const uint8_t *channel, int32_t row)
{
    return row >= 0 && row < c->in_rows ? channel + row * c->in_columns : 0;
}

static int32_t ternary(const uint8_t *packed, int32_t i)
{
    return ((packed[i / 4] >> (i % 4 * 2)) & 3) - 1;
}

/* Where the unit stands: an output pixel, the first input channel that it reads, and how many. */
typedef struct Place {
    int32_t y, x, input, inputs;
} Place;

/* What channel k of a part adds up. */
typedef int32_t Summing(const Part *part, int32_t k, const uint8_t *in, Place at);

static int32_t sum_int8(const Part *part, int32_t k, const uint8_t *in, Place at)
{
    const Convolution *c = part->layer;
    const int8_t      *weights = part->bytes + k * at.inputs * c->kernel[0] * c->kernel[1];
    int32_t            sum = part->channels[k].start;
    for (int32_t i = 0; i < at.inputs; i++) {
        const uint8_t *channel = in + (at.input + i) * c->in_rows * c->in_columns;
        for (int32_t r = 0; r < c->kernel[0]; r++) {
            int32_t        y = at.y * c->stride[0] + r * c->dilation[0] - c->padding[0];
            int32_t        x = at.x * c->stride[1] - c->padding[1];
            const uint8_t *row = row_of(c, channel, y);
            for (int32_t s = 0; s < c->kernel[1]; s++, weights++, x += c->dilation[1]) {
                sum += *weights * pixel(c, row, x);
            }
        }
    }
    return sum;
}

static int32_t sum_ternary(const Part *part, int32_t k, const uint8_t *in, Place at)
{
    const Convolution *c = part->layer;
    int32_t            weights = at.inputs * c->kernel[0] * c->kernel[1], w = 0;
    const uint8_t     *packed = part->packed + k * ((weights + 3) / 4);
    int32_t            sum = part->channels[k].start;
    for (int32_t i = 0; i < at.inputs; i++) {
        const uint8_t *channel = in + (at.input + i) * c->in_rows * c->in_columns;
        for (int32_t r = 0; r < c->kernel[0]; r++) {
            int32_t        y = at.y * c->stride[0] + r * c->dilation[0] - c->padding[0];
            int32_t        x = at.x * c->stride[1] - c->padding[1];
            const uint8_t *row = row_of(c, channel, y);
            for (int32_t s = 0; s < c->kernel[1]; s++, w++, x += c->dilation[1]) {
                sum += ternary(packed, w) * pixel(c, row, x);
            }
        }
    }
    return sum;
}

static Place inputs_of(const Part *part, int32_t k, int is_depthwise)
{
    const Convolution *c = part->layer;
    Place              at = {0, 0, part->first + k, 1};
    if (!is_depthwise) {
        at.inputs = c->in_channels / c->groups;
        at.input = (part->first + k) / (c->out_channels / c->groups) * at.inputs;
    }
    return at;
}

static void compute(const Part *part, Summing *sum, int is_depthwise, const uint8_t *in,
                    uint8_t *out)
{
    const Convolution *c = part->layer;
    for (int32_t k = 0; k < part->count; k++) {
        Place    at = inputs_of(part, k, is_depthwise);
        uint8_t *to = out + (part->first + k) * c->out_rows * c->out_columns;
        for (at.y = 0; at.y < c->out_rows; at.y++) {
            for (at.x = 0; at.x < c->out_columns; at.x++) {
                *to++ = clamp(requantise(&part->channels[k], sum(part, k, in, at)) + c->out_zero);
            }
        }
    }
}

static void compute_logits(const Part *part, Summing *sum, const uint8_t *in,
                           const int32_t *classes, int32_t *logits)
{
    for (int32_t k = 0; k < part->count; k++) {
        Place at = inputs_of(part, k, 0);
        logits[classes[part->first + k]] =
            (int32_t)requantise(&part->channels[k], sum(part, k, in, at));
    }
}

void conv_int8(const Part *part, const uint8_t *in, uint8_t *out)
{
    compute(part, sum_int8, 0, in, out);
}

void conv_ternary(const Part *part, const uint8_t *in, uint8_t *out)
{
    compute(part, sum_ternary, 0, in, out);
}

void depthwise_int8(const Part *part, const uint8_t *in, uint8_t *out)
{
    compute(part, sum_int8, 1, in, out);
}

void depthwise_ternary(const Part *part, const uint8_t *in, uint8_t *out)
{
    compute(part, sum_ternary, 1, in, out);
}

void logits_int8(const Part *part, const uint8_t *in, const int32_t *classes, int32_t *logits)
{
    compute_logits(part, sum_int8, in, classes, logits);
}

void logits_ternary(const Part *part, const uint8_t *in, const int32_t *classes, int32_t *logits)
{
    compute_logits(part, sum_ternary, in, classes, logits);
}

void add(const Sum *sum, const uint8_t *left, const uint8_t *right, uint8_t *out)
{
    for (int32_t i = 0; i < sum->bytes; i++) {
        int32_t x = left[i] - sum->left_zero, y = right[i] - sum->right_zero;
        int64_t both = (int64_t)sum->left_factor * x + (int64_t)sum->right_factor * y;
        out[i] = clamp(shift_down(sum->scale * both, sum->shift) + sum->out_zero);
    }
}

/* First and end of a window in an image: rows (axis 0) or columns (axis 1). */
static void window(const Pool *pool, int axis, int32_t at, int32_t range[2])
{
    int32_t size = axis == 0 ? pool->in_rows : pool->in_columns;
    int32_t first = at * pool->stride[axis] - pool->padding[axis];
    int32_t end = first + pool->window[axis];
    range[0] = first < 0 ? 0 : first;
    range[1] = end > size ? size : end;
}

void average(const Pool *pool, const uint8_t *in, uint8_t *out)
{
    for (int32_t c = 0; c < pool->channels; c++, in += pool->in_rows * pool->in_columns) {
        for (int32_t y = 0; y < pool->out_rows; y++) {
            for (int32_t x = 0; x < pool->out_columns; x++) {
                int32_t rows[2], columns[2];
                int64_t sum = 0;
                window(pool, 0, y, rows);
                window(pool, 1, x, columns);
                for (int32_t row = rows[0]; row < rows[1]; row++) {
                    for (int32_t column = columns[0]; column < columns[1]; column++) {
                        sum += in[row * pool->in_columns + column] - pool->in_zero;
                    }
                }
                *out++ = clamp(shift_down(pool->scale * sum, pool->shift) + pool->out_zero);
            }
        }
    }
}

void maximum(const Pool *pool, const uint8_t *in, uint8_t *out)
{
    for (int32_t c = 0; c < pool->channels; c++, in += pool->in_rows * pool->in_columns) {
        for (int32_t y = 0; y < pool->out_rows; y++) {
            for (int32_t x = 0; x < pool->out_columns; x++) {
                int32_t rows[2], columns[2];
                uint8_t most = 0;
                window(pool, 0, y, rows);
                window(pool, 1, x, columns);
                for (int32_t row = rows[0]; row < rows[1]; row++) {
                    for (int32_t column = columns[0]; column < columns[1]; column++) {
                        uint8_t byte = in[row * pool->in_columns + column];
                        most = byte > most ? byte : most;
                    }
                }
                *out++ = most;
            }
        }
    }
}
