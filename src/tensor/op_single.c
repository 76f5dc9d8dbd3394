/* Ops on one tensor, number by number. The backward pass needs x or y, whichever is cheaper. */
#include "tensor/ops.h"
#include "tensor/tape.h"
#include "tensor/vector_math.h"

#include <math.h>
#include <string.h>

/* name, y of x, dy/dx of x and y; p and q are the op's constants */
#define SINGLE_MAP(X)                                                                              \
    X(RELU, x > 0 ? x : 0, y > 0 ? 1.0f : 0)                                                       \
    X(TANH, mer_fast_tanh(x), 1 - y * y)                                                           \
    X(SIGMOID, mer_fast_sigmoid(x), y *(1 - y))                                                    \
    X(EXP, mer_fast_exp(x), y)                                                                     \
    X(LOG, logf(x), 1 / x)                                                                         \
    X(SQRT, sqrtf(x), 0.5f / y)                                                                    \
    X(SQUARE, x *x, 2 * x)                                                                         \
    X(GELU, gelu(x), gelu_slope(x))                                                                \
    X(AFFINE, p *x + q, p)                                                                         \
    X(CLAMP, x < p ? p : (x > q ? q : x), x >= p && x <= q ? 1.0f : 0)

typedef enum Kind {
#define X(id, forward, slope) id,
    SINGLE_MAP(X)
#undef X
} Kind;

typedef struct Extra {
    Kind  kind;
    float p, q;
} Extra;

#define GELU_SCALE 0.7978845608f /* sqrt(2 / pi) */
#define GELU_CUBE 0.044715f

static inline __attribute__((always_inline)) float gelu(float x)
{
    return 0.5f * x * (1 + mer_fast_tanh(GELU_SCALE * (x + GELU_CUBE * x * x * x)));
}

static inline __attribute__((always_inline)) float gelu_slope(float x)
{
    float t = mer_fast_tanh(GELU_SCALE * (x + GELU_CUBE * x * x * x));
    return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * GELU_SCALE * (1 + 3 * GELU_CUBE * x * x);
}

MER_BODY forward_body(Extra op, int64_t n, const float *restrict in, float *restrict out)
{
    float p = op.p, q = op.q;
    (void)q;
    switch (op.kind) {
#define X(id, value, slope)                                                                        \
    case id:                                                                                       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float x = in[i];                                                                       \
            out[i] = (value);                                                                      \
        }                                                                                          \
        break;
        SINGLE_MAP(X)
#undef X
    }
}

MER_WIDE(forward, (Extra op, int64_t n, const float *in, float *out), (op, n, in, out))

/* grad = (fresh ? 0 : grad) + dy * slope */
MER_BODY backward_body(Extra op, int64_t n, const float *restrict in, const float *restrict out,
                       const float *restrict dy, float *restrict grad, bool is_fresh)
{
    float p = op.p, q = op.q;
    (void)q;
    switch (op.kind) {
#define X(id, value, slope)                                                                        \
    case id:                                                                                       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float x = in[i], y = out[i], g = dy[i];                                                \
            float old = is_fresh ? 0 : grad[i];                                                    \
            (void)x;                                                                               \
            (void)y;                                                                               \
            grad[i] = old + g * (slope);                                                           \
        }                                                                                          \
        break;
        SINGLE_MAP(X)
#undef X
    }
}

MER_WIDE(backward,
         (Extra op, int64_t n, const float *in, const float *out, const float *dy, float *grad,
          bool is_fresh),
         (op, n, in, out, dy, grad, is_fresh))

static void single_backward(MerTape *tape, const MerNode *node)
{
    const Extra *extra = node->extra;
    MerTensor   *x = node->inputs[0], *y = node->output;
    bool         is_fresh;
    const float *dy = mer_tensor_grad(tape, y);
    float       *grad = mer_grad_begin(tape, x, &is_fresh);
    backward(*extra, x->size, x->data, y->data, dy, grad, is_fresh);
}

static MerTensor *single(MerTape *tape, Kind kind, MerTensor *x, float p, float q)
{
    Extra      op = {kind, p, q};
    MerTensor *y = mer_tape_tensor(tape, x->rank, x->shape);
    forward(op, x->size, mer_tensor_data(tape, x), y->data);
    MerNode *node = mer_tape_add(tape, single_backward, y, x, NULL, NULL);
    if (node != NULL) {
        node->extra = mer_workspace_alloc(tape->workspace, sizeof op);
        memcpy(node->extra, &op, sizeof op);
    }
    return y;
}

/* Zero stays zero under relu, so that the padding of a blocked layout needs no care. */
static void relu_image_backward(MerTape *tape, const MerNode *node)
{
    MerTensor   *x = node->inputs[0], *y = node->output;
    MerBlocked   form = y->blocked;
    const float *dy = mer_form_convert(tape, y, mer_grad_form(y), form.layout);
    int64_t      size = mer_form_size(tape, y, form);
    float       *grad = mer_workspace_floats(tape->workspace, size);
    backward((Extra){.kind = RELU}, size, form.data, form.data, dy, grad, true);
    mer_grad_give(tape, x, (MerBlocked){grad, form.layout}, false);
}

MerTensor *mer_tensor_relu(MerTape *tape, MerTensor *x)
{
    if (x->rank != 4 || x->blocked.data == NULL) {
        return single(tape, RELU, x, 0, 0);
    }
    int64_t    size = mer_form_size(tape, x, x->blocked);
    MerTensor *y = mer_tape_image(tape, x->shape);
    y->blocked = (MerBlocked){mer_workspace_floats(tape->workspace, size), x->blocked.layout};
    forward((Extra){.kind = RELU}, size, x->blocked.data, y->blocked.data);
    mer_tape_add(tape, relu_image_backward, y, x, NULL, NULL);
    return y;
}

MerTensor *mer_tensor_tanh(MerTape *tape, MerTensor *x)
{
    return single(tape, TANH, x, 0, 0);
}

MerTensor *mer_tensor_sigmoid(MerTape *tape, MerTensor *x)
{
    return single(tape, SIGMOID, x, 0, 0);
}

MerTensor *mer_tensor_exp(MerTape *tape, MerTensor *x)
{
    return single(tape, EXP, x, 0, 0);
}

MerTensor *mer_tensor_log(MerTape *tape, MerTensor *x)
{
    return single(tape, LOG, x, 0, 0);
}

MerTensor *mer_tensor_gelu(MerTape *tape, MerTensor *x)
{
    return single(tape, GELU, x, 0, 0);
}

MerTensor *mer_tensor_sqrt(MerTape *tape, MerTensor *x)
{
    return single(tape, SQRT, x, 0, 0);
}

MerTensor *mer_tensor_square(MerTape *tape, MerTensor *x)
{
    return single(tape, SQUARE, x, 0, 0);
}

MerTensor *mer_tensor_affine(MerTape *tape, MerTensor *x, float factor, float offset)
{
    return single(tape, AFFINE, x, factor, offset);
}

MerTensor *mer_tensor_clamp(MerTape *tape, MerTensor *x, float low, float high)
{
    return single(tape, CLAMP, x, low, high);
}

MerTensor *mer_tensor_stop(MerTape *tape, MerTensor *x)
{
    MerTensor *y = mer_tape_input(tape, x->rank, x->shape, x->data);
    y->blocked = x->blocked;
    return y;
}

static void dropout_backward(MerTape *tape, const MerNode *node)
{
    const float *mask = node->extra, *dy = mer_tensor_grad(tape, node->output);
    float       *grad = mer_grad_zeroed(tape, node->inputs[0]);
    for (int64_t i = 0; i < node->output->size; i++) {
        grad[i] += dy[i] * mask[i];
    }
}

/* Srivastava et al., JMLR 2014, scaled in training so that evaluation needs nothing. */
MerTensor *mer_tensor_dropout(MerTape *tape, MerTensor *x, float share, MerRng *rng)
{
    MerTensor   *y = mer_tape_tensor(tape, x->rank, x->shape);
    const float *in = mer_tensor_data(tape, x);
    float       *mask = mer_workspace_floats(tape->workspace, x->size);
    float        scale = share < 1 ? 1 / (1 - share) : 0;
    for (int64_t i = 0; i < x->size; i++) {
        mask[i] = (float)mer_rng_unit(rng) < share ? 0 : scale;
        y->data[i] = in[i] * mask[i];
    }
    MerNode *node = mer_tape_add(tape, dropout_backward, y, x, NULL, NULL);
    if (node != NULL) {
        node->extra = mask;
    }
    return y;
}
