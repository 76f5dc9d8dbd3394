/* Numbers of few values: mixtures of formats for weights, staircases for activations. Sums over a row
 * are done in LANES lanes and sums over parts in their order, so that no number depends on vectors or threads. */
#include "tensor/plain_inside.h"
#include "tensor/vector_math.h"

#include <math.h>

enum { LANES = 8, PART = 4 * MER_GRAIN };

static inline __attribute__((always_inline)) float clamp(float x, float low, float high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

static inline __attribute__((always_inline)) float written(MerFormat f, float e, float x)
{
    return e * mer_format_level(f, e, x) / f.unit;
}

static inline __attribute__((always_inline)) float total(const float *sum)
{
    float all = 0;
    for (int l = 0; l < LANES; l++) {
        all += sum[l];
    }
    return all;
}

static inline __attribute__((always_inline)) float share_of(const MerMixture *op, int o, int64_t r)
{
    return op->share != NULL ? op->share[o * (int64_t)op->rows + r] : 1;
}

/* A format without a share in a row costs nothing: most rows have one format in the end. */
MER_BODY forward_body(void *context, int64_t first, int64_t end)
{
    const MerMixture *op = context;
    for (int64_t r = first; r < end; r++) {
        const float *restrict x = op->x + r * op->width;
        float *restrict y = op->y + r * op->width;
        for (int64_t i = 0; i < op->width; i++) {
            y[i] = 0;
        }
        for (int o = 0; o < op->count; o++) {
            float share = share_of(op, o, r), e = op->e[o][r];
            if (share == 0) {
                continue;
            }
            for (int64_t i = 0; i < op->width; i++) {
                y[i] += share * written(op->formats[o], e, x[i]);
            }
        }
    }
}
MER_WIDE(forward, (void *context, int64_t first, int64_t end), (context, first, end))

static inline __attribute__((always_inline)) float
dot_written(const MerMixture *op, int o, float e, const float *restrict x, const float *restrict dy)
{
    MerFormat f = op->formats[o];
    float     sum[LANES] = {0};
    int64_t   whole = op->width / LANES * LANES;
    for (int64_t i = 0; i < whole; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            sum[l] += dy[i + l] * written(f, e, x[i + l]);
        }
    }
    for (int64_t i = whole; i < op->width; i++) {
        sum[i - whole] += dy[i] * written(f, e, x[i]);
    }
    return total(sum);
}

/* d Q / d e: inside of the range with rounding as the identity, outside the number moves with e. */
static float scale_gradient(const MerMixture *op, int o, float e, const float *x, const float *dy)
{
    MerFormat f = op->formats[o];
    double    sum = 0;
    for (int64_t i = 0; i < op->width; i++) {
        float k = f.unit * (x[i] / e);
        float slope = k <= f.low    ? f.low / f.unit
                      : k >= f.high ? f.high / f.unit
                                    : (rintf(k) - k) / f.unit;
        sum += (double)dy[i] * slope;
    }
    return (float)sum;
}

MER_BODY backward_body(void *context, int64_t first, int64_t end)
{
    const MerMixture *op = context;
    for (int64_t r = first; r < end; r++) {
        const float *restrict x = op->x + r * op->width;
        const float *restrict dy = op->dy + r * op->width;
        float shares = 0;
        for (int o = 0; o < op->count; o++) {
            float share = share_of(op, o, r), e = op->e[o][r];
            shares += share;
            if (op->dshare != NULL) {
                op->dshare[o * (int64_t)op->rows + r] += dot_written(op, o, e, x, dy);
            }
            if (op->de[o] != NULL) {
                op->de[o][r] += share * scale_gradient(op, o, e, x, dy);
            }
        }
        for (int64_t i = 0; op->dx != NULL && i < op->width; i++) {
            op->dx[r * op->width + i] += shares * dy[i];
        }
    }
}
MER_WIDE(backward, (void *context, int64_t first, int64_t end), (context, first, end))

static int64_t rows_of_a_part(const MerMixture *op)
{
    return 1 + MER_GRAIN / 4 / (op->width + 1);
}

void mer_plain_mixture(MerTape *tape, const MerMixture *op)
{
    mer_tape_split(tape, op->rows, rows_of_a_part(op), forward, (void *)op);
}

void mer_plain_mixture_backward(MerTape *tape, const MerMixture *op)
{
    mer_tape_split(tape, op->rows, rows_of_a_part(op), backward, (void *)op);
}

MER_BODY steps_body(void *context, int64_t first, int64_t end)
{
    const MerStaircase *op = context;
    const float *restrict x = op->x;
    float *restrict y = op->y;
    float step = 1 / op->scale; /* a power of two: exact */
    for (int64_t i = first; i < end; i++) {
        y[i] = floorf(op->scale * clamp(x[i], op->low, op->high)) * step;
    }
}
MER_WIDE(steps, (void *context, int64_t first, int64_t end), (context, first, end))

void mer_plain_staircase(MerTape *tape, const MerStaircase *op)
{
    mer_tape_split(tape, op->count, MER_GRAIN, steps, (void *)op);
}

MER_BODY back_steps_body(const MerStaircase *op, int64_t first, int64_t end, double *result)
{
    const float *restrict x = op->x, *restrict dy = op->dy;
    float sum[LANES] = {0}, low = op->low, high = op->high, below = low < 0 ? 1 : 0;
    if (op->dx != NULL) {
        float *restrict dx = op->dx;
        for (int64_t i = first; i < end; i++) {
            dx[i] = x[i] > low && x[i] < high ? dy[i] : 0;
        }
    }
    int64_t whole = first + (end - first) / LANES * LANES;
    for (int64_t i = first; i < whole; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            float g = dy[i + l], v = x[i + l];
            sum[l] += (v >= high ? g : 0) - (v <= low ? below * g : 0);
        }
    }
    for (int64_t i = whole; i < end; i++) {
        sum[i - whole] += (x[i] >= high ? dy[i] : 0) - (x[i] <= low ? below * dy[i] : 0);
    }
    *result = total(sum);
}
MER_WIDE(back_steps, (const MerStaircase *op, int64_t first, int64_t end, double *result),
         (op, first, end, result))

typedef struct Parts {
    const MerStaircase *op;
    double             *sums;
} Parts;

static void back_part(void *context, int part, int worker)
{
    (void)worker;
    Parts  *parts = context;
    int64_t first = (int64_t)part * PART, end = first + PART;
    back_steps(parts->op, first, end < parts->op->count ? end : parts->op->count,
               &parts->sums[part]);
}

double mer_plain_staircase_backward(MerTape *tape, const MerStaircase *op)
{
    int    count = (int)((op->count + PART - 1) / PART);
    Parts  parts = {op, mer_workspace_alloc(tape->workspace, (size_t)(count + 1) * sizeof(double))};
    double sum = 0;
    mer_tape_parts(tape, count, back_part, &parts);
    for (int p = 0; p < count; p++) {
        sum += parts.sums[p];
    }
    return sum;
}
