/* Products of matrices, and the linear layer with its bias and activation in one pass. */
#include "tensor/ops.h"
#include "tensor/tape.h"
#include "tensor/vector_math.h"

#include <assert.h>
#include <string.h>

typedef struct Product {
    bool    transpose_a, transpose_b;
    int     batch, m, n, k;
    int64_t step_a, step_b; /* to the next matrix of the batch; 0: the same for all */
} Product;

static int columns(const MerTensor *tensor)
{
    return tensor->shape[tensor->rank - 1];
}

static int rows(const MerTensor *tensor)
{
    return tensor->shape[tensor->rank - 2];
}

static Product product_of(const MerTensor *a, bool transpose_a, const MerTensor *b,
                          bool transpose_b)
{
    assert((a->rank == 2 || a->rank == 3) && (b->rank == 2 || b->rank == a->rank));
    Product p = {.transpose_a = transpose_a, .transpose_b = transpose_b};
    p.batch = a->rank == 3 ? a->shape[0] : 1;
    p.m = transpose_a ? columns(a) : rows(a);
    p.k = transpose_a ? rows(a) : columns(a);
    p.n = transpose_b ? rows(b) : columns(b);
    assert((transpose_b ? columns(b) : rows(b)) == p.k);
    assert(b->rank == 2 || b->shape[0] == p.batch);
    p.step_a = (int64_t)p.m * p.k;
    p.step_b = b->rank == 3 ? (int64_t)p.k * p.n : 0;
    return p;
}

static void product_backward(MerTape *tape, const MerNode *node)
{
    const Product    *p = node->extra;
    const MerBackend *backend = tape->backend;
    MerTensor        *a = node->inputs[0], *b = node->inputs[1];
    const float      *dy = mer_tensor_grad(tape, node->output);
    bool              is_fresh;
    if (a->needs_grad) {
        float *da = mer_grad_begin(tape, a, &is_fresh);
        for (int i = 0; i < p->batch; i++) {
            const float *g = dy + (int64_t)i * p->m * p->n, *y = b->data + i * p->step_b;
            if (p->transpose_a) { /* dA (k,m) = op(B) dY^T */
                backend->matmul(tape->backend_state, p->transpose_b, true, p->k, p->m, p->n, y,
                                columns(b), g, p->n, is_fresh ? 0 : 1, da + i * p->step_a, p->m);
            } else { /* dA (m,k) = dY op(B)^T */
                backend->matmul(tape->backend_state, false, !p->transpose_b, p->m, p->k, p->n, g,
                                p->n, y, columns(b), is_fresh ? 0 : 1, da + i * p->step_a, p->k);
            }
        }
    }
    if (b->needs_grad) {
        float *db = mer_grad_begin(tape, b, &is_fresh);
        for (int i = 0; i < p->batch; i++) {
            const float *g = dy + (int64_t)i * p->m * p->n, *x = a->data + i * p->step_a;
            float        beta = is_fresh && (i == 0 || p->step_b > 0) ? 0 : 1;
            if (p->transpose_b) { /* dB (n,k) = dY^T op(A) */
                backend->matmul(tape->backend_state, true, p->transpose_a, p->n, p->k, p->m, g,
                                p->n, x, columns(a), beta, db + i * p->step_b, p->k);
            } else { /* dB (k,n) = op(A)^T dY */
                backend->matmul(tape->backend_state, !p->transpose_a, false, p->k, p->n, p->m, x,
                                columns(a), g, p->n, beta, db + i * p->step_b, p->n);
            }
        }
    }
}

MerTensor *mer_tensor_matmul_with(MerTape *tape, MerTensor *a, bool transpose_a, MerTensor *b,
                                  bool transpose_b)
{
    Product      p = product_of(a, transpose_a, b, transpose_b);
    const float *x = mer_tensor_data(tape, a), *y = mer_tensor_data(tape, b);
    int          shape[3] = {p.batch, p.m, p.n};
    MerTensor   *c = mer_tape_tensor(tape, a->rank, a->rank == 3 ? shape : shape + 1);
    for (int i = 0; i < p.batch; i++) {
        tape->backend->matmul(tape->backend_state, transpose_a, transpose_b, p.m, p.n, p.k,
                              x + i * p.step_a, columns(a), y + i * p.step_b, columns(b), 0,
                              c->data + (int64_t)i * p.m * p.n, p.n);
    }
    MerNode *node = mer_tape_add(tape, product_backward, c, a, b, NULL);
    if (node != NULL) {
        node->extra = mer_workspace_alloc(tape->workspace, sizeof p);
        memcpy(node->extra, &p, sizeof p);
    }
    return c;
}

MerTensor *mer_tensor_matmul(MerTape *tape, MerTensor *a, MerTensor *b)
{
    return mer_tensor_matmul_with(tape, a, false, b, false);
}

typedef struct Linear {
    MerActivation activation;
    int           rows, in, out;
} Linear;

MER_BODY finish_rows_body(const Linear *l, float *restrict y, const float *restrict bias)
{
    for (int i = 0; i < l->rows; i++, y += l->out) {
        if (l->activation == MER_RELU) {
            for (int j = 0; j < l->out; j++) {
                float z = y[j] + bias[j];
                y[j] = z > 0 ? z : 0;
            }
        } else if (l->activation == MER_TANH) {
            for (int j = 0; j < l->out; j++) {
                y[j] = mer_fast_tanh(y[j] + bias[j]);
            }
        } else {
            for (int j = 0; j < l->out; j++) {
                y[j] += bias[j];
            }
        }
    }
}
MER_WIDE(finish_rows, (const Linear *l, float *y, const float *bias), (l, y, bias))

/* One row of zeros stands for a bias that is not there. */
static const float *bias_of(MerTape *tape, const MerTensor *bias, int n)
{
    if (bias != NULL) {
        return bias->data;
    }
    float *zeros = mer_workspace_floats(tape->workspace, n);
    memset(zeros, 0, (size_t)n * sizeof *zeros);
    return zeros;
}

/* Turns the gradient after the activation into the one before it, in place, and adds its rows up
 * for the bias in the same pass. Products instead of choices become vector code. */
MER_BODY pass_activation_body(const Linear *l, const float *restrict y, float *restrict dz,
                              float *restrict db)
{
    for (int i = 0; i < l->rows; i++, y += l->out, dz += l->out) {
        if (l->activation == MER_RELU) {
            for (int j = 0; j < l->out; j++) {
                dz[j] *= y[j] > 0 ? 1.0f : 0.0f;
            }
        } else {
            for (int j = 0; j < l->out; j++) {
                dz[j] *= 1 - y[j] * y[j];
            }
        }
        for (int j = 0; db != NULL && j < l->out; j++) {
            db[j] += dz[j];
        }
    }
}
MER_WIDE(pass_activation, (const Linear *l, const float *y, float *dz, float *db), (l, y, dz, db))

MER_BODY sum_rows_body(const Linear *l, const float *restrict dy, float *restrict db)
{
    for (int i = 0; i < l->rows; i++) {
        for (int j = 0; j < l->out; j++) {
            db[j] += dy[(int64_t)i * l->out + j];
        }
    }
}
MER_WIDE(sum_rows, (const Linear *l, const float *dy, float *db), (l, dy, db))

static void linear_backward(MerTape *tape, const MerNode *node)
{
    const Linear     *l = node->extra;
    const MerBackend *backend = tape->backend;
    MerTensor        *x = node->inputs[0], *w = node->inputs[1], *bias = node->inputs[2];
    bool              is_fresh;
    float *dz = mer_grad_begin(tape, node->output, &is_fresh); /* its own, to be changed */
    bool   has_bias = bias != NULL && bias->needs_grad;
    float *db = has_bias ? mer_grad_zeroed(tape, bias) : NULL;
    if (l->activation != MER_LINEAR) {
        pass_activation(l, node->output->data, dz, db);
    } else if (db != NULL) {
        sum_rows(l, dz, db);
    }
    if (w->needs_grad) {
        float *dw = mer_grad_begin(tape, w, &is_fresh);
        backend->matmul(tape->backend_state, true, false, l->in, l->out, l->rows, x->data, l->in,
                        dz, l->out, is_fresh ? 0 : 1, dw, l->out);
    }
    if (x->needs_grad) {
        float *dx = mer_grad_begin(tape, x, &is_fresh);
        backend->matmul(tape->backend_state, false, true, l->rows, l->in, l->out, dz, l->out,
                        w->data, l->out, is_fresh ? 0 : 1, dx, l->in);
    }
}

MerTensor *mer_tensor_linear(MerTape *tape, MerTensor *x, MerTensor *w, MerTensor *bias,
                             MerActivation activation)
{
    assert(w->rank == 2 && columns(x) == w->shape[0]);
    assert(bias == NULL || bias->size == w->shape[1]);
    Linear l = {activation, 0, w->shape[0], w->shape[1]};
    int    shape[MER_MAX_RANK];
    l.rows = l.in > 0 ? (int)(x->size / l.in) : 0;
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 1] = l.out;
    MerTensor *y = mer_tape_tensor(tape, x->rank, shape);
    tape->backend->matmul(tape->backend_state, false, false, l.rows, l.out, l.in,
                          mer_tensor_data(tape, x), l.in, w->data, l.out, 0, y->data, l.out);
    if (bias != NULL || activation != MER_LINEAR) {
        finish_rows(&l, y->data, bias_of(tape, bias, l.out));
    }
    MerNode *node = mer_tape_add(tape, linear_backward, y, x, w, bias);
    if (node != NULL) {
        node->extra = mer_workspace_alloc(tape->workspace, sizeof l);
        memcpy(node->extra, &l, sizeof l);
    }
    return y;
}
