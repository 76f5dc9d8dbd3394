/* Products of matrices, and the linear layer with its bias and activation in one pass. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>
#include <string.h>

static int columns(const MerTensor *tensor)
{
    return tensor->shape[tensor->rank - 1];
}

static int rows(const MerTensor *tensor)
{
    return tensor->shape[tensor->rank - 2];
}

static MerProduct product_of(const MerTensor *a, bool transpose_a, const MerTensor *b,
                             bool transpose_b)
{
    assert((a->rank == 2 || a->rank == 3) && (b->rank == 2 || b->rank == a->rank));
    MerProduct p = {.batch = a->rank == 3 ? a->shape[0] : 1};
    p.m = transpose_a ? columns(a) : rows(a);
    p.k = transpose_a ? rows(a) : columns(a);
    p.n = transpose_b ? rows(b) : columns(b);
    assert((transpose_b ? columns(b) : rows(b)) == p.k);
    assert(b->rank == 2 || b->shape[0] == p.batch);
    p.a = (MerMatrix){NULL, columns(a), transpose_a, (int64_t)p.m * p.k};
    p.b = (MerMatrix){NULL, columns(b), transpose_b, b->rank == 3 ? (int64_t)p.k * p.n : 0};
    p.c = (MerMatrix){NULL, p.n, false, (int64_t)p.m * p.n};
    return p;
}

static MerMatrix transposed(MerMatrix x)
{
    x.is_transposed = !x.is_transposed;
    return x;
}

/* What the gradient dy of the product adds to the gradient of A: dY B^T, as A lies in memory. */
static void back_to_a(MerTape *tape, const MerProduct *p, float *dy, MerTensor *a)
{
    bool       is_fresh;
    MerMatrix  dc = {dy, p->c.row, false, p->c.step};
    MerMatrix  da = {mer_grad_begin(tape, a, &is_fresh), p->a.row, false, p->a.step};
    MerProduct g = {p->batch, p->m, p->k, p->n, dc, transposed(p->b), da, is_fresh ? 0 : 1};
    if (p->a.is_transposed) {
        g = (MerProduct){p->batch, p->k, p->m, p->n, p->b, transposed(dc), da, g.beta};
    }
    tape->backend.product(tape, &g);
}

/* The same for B: A^T dY. */
static void back_to_b(MerTape *tape, const MerProduct *p, float *dy, MerTensor *b)
{
    bool       is_fresh;
    MerMatrix  dc = {dy, p->c.row, false, p->c.step};
    MerMatrix  db = {mer_grad_begin(tape, b, &is_fresh), p->b.row, false, p->b.step};
    MerProduct g = {p->batch, p->k, p->n, p->m, transposed(p->a), dc, db, is_fresh ? 0 : 1};
    if (p->b.is_transposed) {
        g = (MerProduct){p->batch, p->n, p->k, p->m, transposed(dc), p->a, db, g.beta};
    }
    tape->backend.product(tape, &g);
}

static void product_backward(MerTape *tape, const MerNode *node)
{
    float *dy = mer_tensor_grad(tape, node->output);
    if (node->inputs[0]->needs_grad) {
        back_to_a(tape, node->extra, dy, node->inputs[0]);
    }
    if (node->inputs[1]->needs_grad) {
        back_to_b(tape, node->extra, dy, node->inputs[1]);
    }
}

MerTensor *mer_tensor_matmul_with(MerTape *tape, MerTensor *a, bool transpose_a, MerTensor *b,
                                  bool transpose_b)
{
    MerProduct p = product_of(a, transpose_a, b, transpose_b);
    int        shape[3] = {p.batch, p.m, p.n};
    MerTensor *c = mer_tape_tensor(tape, a->rank, a->rank == 3 ? shape : shape + 1);
    p.a.data = mer_tensor_data(tape, a);
    p.b.data = mer_tensor_data(tape, b);
    p.c.data = c->data;
    tape->backend.product(tape, &p);
    mer_tape_add(tape, product_backward, c, a, b, NULL, &p, sizeof p);
    return c;
}

MerTensor *mer_tensor_matmul(MerTape *tape, MerTensor *a, MerTensor *b)
{
    return mer_tensor_matmul_with(tape, a, false, b, false);
}

typedef struct Linear {
    MerProduct product;
    MerRows    rows; /* bias and activation, in place */
} Linear;

static void linear_backward(MerTape *tape, const MerNode *node)
{
    const Linear *l = node->extra;
    MerTensor    *x = node->inputs[0], *w = node->inputs[1];
    MerRows       op = l->rows;
    bool          is_fresh;
    op.dx[0] = mer_grad_begin(tape, node->output, &is_fresh); /* its own, to be changed */
    op.dx[1] = mer_grad_wanted(tape, node->inputs[2]);
    if (op.activation != MER_LINEAR || op.dx[1] != NULL) {
        tape->backend.rows_backward(tape, &op);
    }
    if (w->needs_grad) {
        back_to_b(tape, &l->product, op.dx[0], w);
    }
    if (x->needs_grad) {
        back_to_a(tape, &l->product, op.dx[0], x);
    }
}

MerTensor *mer_tensor_linear(MerTape *tape, MerTensor *x, MerTensor *w, MerTensor *bias,
                             MerActivation activation)
{
    assert(w->rank == 2 && columns(x) == w->shape[0]);
    assert(bias == NULL || bias->size == w->shape[1]);
    int in = w->shape[0], out = w->shape[1], count = in > 0 ? (int)(x->size / in) : 0;
    int shape[MER_TENSOR_RANK];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 1] = out;
    MerTensor *y = mer_tape_tensor(tape, x->rank, shape);
    Linear     l = {.product = {.batch = 1, .m = count, .n = out, .k = in},
                    .rows = {.kind = MER_ROWS_BIAS,
                             .activation = activation,
                             .rows = count,
                             .width = out,
                             .y = {y->data}}};
    l.product.a = (MerMatrix){.data = mer_tensor_data(tape, x), .row = in};
    l.product.b = (MerMatrix){.data = w->data, .row = out};
    l.product.c = (MerMatrix){.data = y->data, .row = out};
    tape->backend.product(tape, &l.product);
    if (bias != NULL || activation != MER_LINEAR) {
        l.rows.x[1] = bias != NULL ? bias->data : mer_workspace_zeros(tape->workspace, out);
        tape->backend.rows(tape, &l.rows);
    }
    mer_tape_add(tape, linear_backward, y, x, w, bias, &l, sizeof l);
    return y;
}
