/* Number by number: functions of one and of two tensors. The backward pass of a function of one needs
 * x or y, whichever is cheaper. */
#include "tensor/plain_inside.h"
#include "tensor/vector_math.h"

#include <math.h>

/* name, y of x, dy/dx of x and y; p and q are the op's constants */
#define POINTWISE_MAP(X)                                                                           \
    X(RELU, x > 0 ? x : 0, y > 0 ? 1.0f : 0)                                                       \
    X(TANH, mer_fast_tanh(x), 1 - y * y)                                                           \
    X(SIGMOID, mer_fast_sigmoid(x), y *(1 - y))                                                    \
    X(EXP, mer_fast_exp(x), y)                                                                     \
    X(LOG, logf(x), 1 / x)                                                                         \
    X(SQUARE, x *x, 2 * x)                                                                         \
    X(AFFINE, p *x + q, p)                                                                         \
    X(CLAMP, x < p ? p : (x > q ? q : x), x >= p && x <= q ? 1.0f : 0)

MER_BODY forward_body(void *context, int64_t first, int64_t end)
{
    const MerPointwise *op = context;
    float               p = op->p, q = op->q;
    const float *restrict in = op->x;
    float *restrict out = op->y;
    (void)q;
    switch (op->kind) {
#define X(id, value, slope)                                                                        \
    case MER_POINTWISE_##id:                                                                       \
        for (int64_t i = first; i < end; i++) {                                                    \
            float x = in[i];                                                                       \
            out[i] = (value);                                                                      \
        }                                                                                          \
        break;
        POINTWISE_MAP(X)
#undef X
    }
}

MER_WIDE(forward, (void *context, int64_t first, int64_t end), (context, first, end))

MER_BODY backward_body(void *context, int64_t first, int64_t end)
{
    const MerPointwise *op = context;
    float               p = op->p, q = op->q;
    bool                is_fresh = op->is_fresh;
    const float *restrict in = op->x, *restrict out = op->y, *restrict dy = op->dy;
    float *restrict grad = op->dx;
    (void)q;
    switch (op->kind) {
#define X(id, value, slope)                                                                        \
    case MER_POINTWISE_##id:                                                                       \
        for (int64_t i = first; i < end; i++) {                                                    \
            float x = in[i], y = out[i], g = dy[i];                                                \
            float old = is_fresh ? 0 : grad[i];                                                    \
            (void)x;                                                                               \
            (void)y;                                                                               \
            grad[i] = old + g * (slope);                                                           \
        }                                                                                          \
        break;
        POINTWISE_MAP(X)
#undef X
    }
}

MER_WIDE(backward, (void *context, int64_t first, int64_t end), (context, first, end))

void mer_plain_pointwise(MerTape *tape, const MerPointwise *op)
{
    mer_tape_split(tape, op->count, MER_GRAIN, forward, (void *)op);
}

void mer_plain_pointwise_backward(MerTape *tape, const MerPointwise *op)
{
    mer_tape_split(tape, op->count, MER_GRAIN, backward, (void *)op);
}

/* name, y of p and q, dy/dp, dy/dq; where both are equal a gradient goes to the first */
#define PAIR_MAP(X)                                                                                \
    X(ADD, p + q, 1, 1)                                                                            \
    X(SUB, p - q, 1, -1)                                                                           \
    X(MUL, p *q, q, p)                                                                             \
    X(DIV, p / q, 1 / q, -p / (q * q))                                                             \
    X(MINIMUM, p <= q ? p : q, p <= q ? 1.0f : 0, p <= q ? 0 : 1.0f)

/* One run of n numbers; steps are 0 or 1. */
static inline __attribute__((always_inline)) void pair_run(MerPairKind kind, int64_t        n,
                                                           const float *restrict a, int64_t sa,
                                                           const float *restrict b, int64_t sb,
                                                           float *restrict y)
{
    switch (kind) {
#define X(id, value, slope_p, slope_q)                                                             \
    case MER_PAIR_##id:                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float p = a[i * sa], q = b[i * sb];                                                    \
            y[i] = (value);                                                                        \
        }                                                                                          \
        break;
        PAIR_MAP(X)
#undef X
    }
}

/* Adds to the gradient of operand `which`, which moves as that operand does. */
MER_BODY pair_back_run(MerPairKind kind, int which, int64_t n, const float *restrict a, int64_t sa,
                       const float *restrict b, int64_t sb, const float *restrict dy,
                       float *restrict grad)
{
    int64_t step = which == 0 ? sa : sb;
    switch (kind) {
#define X(id, value, slope_p, slope_q)                                                             \
    case MER_PAIR_##id:                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float p = a[i * sa], q = b[i * sb];                                                    \
            (void)p;                                                                               \
            (void)q;                                                                               \
            grad[i * step] += dy[i] * (which == 0 ? (slope_p) : (slope_q));                        \
        }                                                                                          \
        break;
        PAIR_MAP(X)
#undef X
    }
}

/* Known steps become vector code. */
MER_BODY same_run_body(void *context, int64_t first, int64_t end)
{
    const MerPair *op = context;
    pair_run(op->kind, end - first, op->x[0] + first, 1, op->x[1] + first, 1, op->y + first);
}
MER_WIDE(same_run, (void *context, int64_t first, int64_t end), (context, first, end))

MER_BODY same_back_run_body(void *context, int64_t first, int64_t end)
{
    const MerPair *op = context;
    const float   *a = op->x[0] + first, *b = op->x[1] + first, *dy = op->dy + first;
    if (op->dx[0] != NULL) {
        pair_back_run(op->kind, 0, end - first, a, 1, b, 1, dy, op->dx[0] + first);
    }
    if (op->dx[1] != NULL) {
        pair_back_run(op->kind, 1, end - first, a, 1, b, 1, dy, op->dx[1] + first);
    }
}
MER_WIDE(same_back_run, (void *context, int64_t first, int64_t end), (context, first, end))

void mer_plain_pair(MerTape *tape, const MerPair *op)
{
    if (op->is_same || op->count == 0) {
        mer_tape_split(tape, op->count, MER_GRAIN, same_run, (void *)op);
        return;
    }
    int     last = MER_TENSOR_RANK - 1;
    int64_t sa = op->step[0][last], sb = op->step[1][last];
    MerWalk walk = {0};
    float  *y = op->y;
    do {
        pair_run(op->kind, op->size[last], op->x[0] + walk.offset[0], sa, op->x[1] + walk.offset[1],
                 sb, y);
        y += op->size[last];
    } while (mer_walk_next(&walk, op->size, op->step));
}

void mer_plain_pair_backward(MerTape *tape, const MerPair *op)
{
    if (op->is_same || op->count == 0) {
        mer_tape_split(tape, op->count, MER_GRAIN, same_back_run, (void *)op);
        return;
    }
    int     last = MER_TENSOR_RANK - 1;
    int64_t sa = op->step[0][last], sb = op->step[1][last];
    for (int w = 0; w < 2; w++) {
        MerWalk      walk = {0};
        const float *dy = op->dy;
        if (op->dx[w] == NULL) {
            continue;
        }
        do {
            const float *a = op->x[0] + walk.offset[0], *b = op->x[1] + walk.offset[1];
            float       *grad = op->dx[w] + walk.offset[w];
            if (w == 0) {
                pair_back_run(op->kind, 0, op->size[last], a, sa, b, sb, dy, grad);
            } else {
                pair_back_run(op->kind, 1, op->size[last], a, sa, b, sb, dy, grad);
            }
            dy += op->size[last];
        } while (mer_walk_next(&walk, op->size, op->step));
    }
}
