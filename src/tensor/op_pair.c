/* Ops on pairs of tensors with broadcasting: both operands are walked with strides, 0 where a
 * size of 1 is repeated, and the innermost run is a plain loop. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>

typedef enum Kind { ADD, SUB, MUL, DIV, MINIMUM, MAXIMUM } Kind;

typedef struct Walk {
    int     size[MER_MAX_RANK];    /* of the output, aligned at the end */
    int64_t step[2][MER_MAX_RANK]; /* of both operands */
    bool    is_same;               /* three equal shapes: one long run */
} Walk;

typedef struct Extra {
    Kind kind;
    Walk walk;
} Extra;

static void set_steps(Walk *walk, int which, const MerTensor *tensor)
{
    int64_t step = 1;
    for (int i = MER_MAX_RANK - 1; i >= 0; i--) {
        int axis = i - (MER_MAX_RANK - tensor->rank);
        int size = axis >= 0 ? tensor->shape[axis] : 1;
        assert(size == walk->size[i] || size == 1);
        walk->step[which][i] = size == 1 ? 0 : step;
        step *= size;
    }
}

static Walk walk_of(const MerTensor *a, const MerTensor *b, int *rank, int shape[MER_MAX_RANK])
{
    Walk walk = {.is_same = a->rank == b->rank};
    *rank = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 0; i < MER_MAX_RANK; i++) {
        int from_a = i - (MER_MAX_RANK - a->rank), from_b = i - (MER_MAX_RANK - b->rank);
        int size_a = from_a >= 0 ? a->shape[from_a] : 1;
        int size_b = from_b >= 0 ? b->shape[from_b] : 1;
        walk.size[i] = size_a == 1 ? size_b : size_a;
        walk.is_same = walk.is_same && size_a == size_b;
    }
    for (int i = 0; i < *rank; i++) {
        shape[i] = walk.size[MER_MAX_RANK - *rank + i];
    }
    set_steps(&walk, 0, a);
    set_steps(&walk, 1, b);
    return walk;
}

/* One run of n numbers; steps are 0 or 1. */
#define RUN(expression)                                                                            \
    for (int64_t i = 0; i < n; i++) {                                                              \
        float p = a[i * sa], q = b[i * sb];                                                        \
        y[i] = (expression);                                                                       \
    }

static void forward_run(Kind kind, int64_t n, const float *a, int64_t sa, const float *b,
                        int64_t sb, float *restrict y)
{
    switch (kind) {
    case ADD:
        RUN(p + q)
        break;
    case SUB:
        RUN(p - q)
        break;
    case MUL:
        RUN(p * q)
        break;
    case DIV:
        RUN(p / q)
        break;
    case MINIMUM:
        RUN(p <= q ? p : q)
        break;
    case MAXIMUM:
        RUN(p >= q ? p : q)
        break;
    }
}
#undef RUN

/* What a number of the output's gradient is multiplied by on its way to operand `which`. */
static float slope(Kind kind, int which, float p, float q)
{
    switch (kind) {
    case ADD:
        return 1;
    case SUB:
        return which == 0 ? 1 : -1;
    case MUL:
        return which == 0 ? q : p;
    case DIV:
        return which == 0 ? 1 / q : -p / (q * q);
    case MINIMUM:
        return (p <= q) == (which == 0) ? 1 : 0;
    case MAXIMUM:
        return (p >= q) == (which == 0) ? 1 : 0;
    }
    return 0;
}

static void backward_run(Kind kind, int which, int64_t n, const float *a, int64_t sa,
                         const float *b, int64_t sb, const float *dy, float *grad)
{
    int64_t step = which == 0 ? sa : sb;
    for (int64_t i = 0; i < n; i++) {
        grad[i * step] += dy[i] * slope(kind, which, a[i * sa], b[i * sb]);
    }
}

/* Calls for every innermost run: offsets into both operands and the output. */
typedef struct Run {
    int64_t offset[2], out;
} Run;

static bool next_run(const Walk *walk, int index[MER_MAX_RANK], Run *run)
{
    run->out += walk->size[MER_MAX_RANK - 1];
    for (int i = MER_MAX_RANK - 2; i >= 0; i--) {
        for (int w = 0; w < 2; w++) {
            run->offset[w] += walk->step[w][i];
        }
        if (++index[i] < walk->size[i]) {
            return true;
        }
        for (int w = 0; w < 2; w++) {
            run->offset[w] -= walk->step[w][i] * walk->size[i];
        }
        index[i] = 0;
    }
    return false;
}

static void pair_backward(MerTape *tape, const MerNode *node)
{
    const Extra *extra = node->extra;
    const Walk  *walk = &extra->walk;
    MerTensor   *a = node->inputs[0], *b = node->inputs[1];
    const float *x = mer_tensor_data(tape, a), *y = mer_tensor_data(tape, b);
    const float *dy = mer_tensor_grad(tape, node->output);
    for (int w = 0; w < 2; w++) {
        if (!node->inputs[w]->needs_grad) {
            continue;
        }
        float *grad = mer_grad_zeroed(tape, node->inputs[w]);
        if (walk->is_same) {
            backward_run(extra->kind, w, a->size, x, 1, y, 1, dy, grad);
            continue;
        }
        int     index[MER_MAX_RANK] = {0};
        int64_t sa = walk->step[0][MER_MAX_RANK - 1], sb = walk->step[1][MER_MAX_RANK - 1];
        Run     run = {{0, 0}, 0};
        do {
            backward_run(extra->kind, w, walk->size[MER_MAX_RANK - 1], x + run.offset[0], sa,
                         y + run.offset[1], sb, dy + run.out, grad + run.offset[w]);
        } while (next_run(walk, index, &run));
    }
}

static MerTensor *pair(MerTape *tape, Kind kind, MerTensor *a, MerTensor *b)
{
    int          rank, shape[MER_MAX_RANK];
    Walk         walk = walk_of(a, b, &rank, shape);
    MerTensor   *c = mer_tape_tensor(tape, rank, shape);
    const float *x = mer_tensor_data(tape, a), *y = mer_tensor_data(tape, b);
    if (walk.is_same) {
        forward_run(kind, c->size, x, 1, y, 1, c->data);
    } else if (c->size > 0) {
        int     index[MER_MAX_RANK] = {0};
        int64_t sa = walk.step[0][MER_MAX_RANK - 1], sb = walk.step[1][MER_MAX_RANK - 1];
        Run     run = {{0, 0}, 0};
        do {
            forward_run(kind, walk.size[MER_MAX_RANK - 1], x + run.offset[0], sa, y + run.offset[1],
                        sb, c->data + run.out);
        } while (next_run(&walk, index, &run));
    }
    MerNode *node = c->size > 0 ? mer_tape_add(tape, pair_backward, c, a, b, NULL) : NULL;
    if (node != NULL) {
        Extra *extra = node->extra = mer_workspace_alloc(tape->workspace, sizeof *extra);
        *extra = (Extra){kind, walk};
    }
    return c;
}

/* Sums of images stay in the layout of the first: the way of a residual network. */
static void add_image_backward(MerTape *tape, const MerNode *node)
{
    for (int w = 0; w < 2; w++) {
        if (node->inputs[w]->needs_grad) {
            mer_grad_give(tape, node->inputs[w], mer_grad_form(node->output), true);
        }
    }
}

static MerTensor *add_image(MerTape *tape, MerTensor *a, MerTensor *b)
{
    MerBlocked   form = a->blocked;
    const float *more = mer_form_convert(tape, b, mer_data_form(b), form.layout);
    int64_t      size = mer_form_size(tape, a, form);
    MerTensor   *c = mer_tape_image(tape, a->shape);
    c->blocked = (MerBlocked){mer_workspace_floats(tape->workspace, size), form.layout};
    float *restrict sum = c->blocked.data;
    for (int64_t i = 0; i < size; i++) {
        sum[i] = form.data[i] + more[i];
    }
    mer_tape_add(tape, add_image_backward, c, a, b, NULL);
    return c;
}

static bool is_same_image(const MerTensor *a, const MerTensor *b)
{
    bool is_same = a->rank == 4 && b->rank == 4;
    for (int i = 0; i < 4; i++) {
        is_same = is_same && a->shape[i] == b->shape[i];
    }
    return is_same;
}

MerTensor *mer_tensor_add(MerTape *tape, MerTensor *a, MerTensor *b)
{
    if (is_same_image(a, b) && (a->blocked.data != NULL || b->blocked.data != NULL)) {
        bool is_first = a->blocked.data != NULL;
        return add_image(tape, is_first ? a : b, is_first ? b : a);
    }
    return pair(tape, ADD, a, b);
}

MerTensor *mer_tensor_sub(MerTape *tape, MerTensor *a, MerTensor *b)
{
    return pair(tape, SUB, a, b);
}

MerTensor *mer_tensor_mul(MerTape *tape, MerTensor *a, MerTensor *b)
{
    return pair(tape, MUL, a, b);
}

MerTensor *mer_tensor_div(MerTape *tape, MerTensor *a, MerTensor *b)
{
    return pair(tape, DIV, a, b);
}

MerTensor *mer_tensor_minimum(MerTape *tape, MerTensor *a, MerTensor *b)
{
    return pair(tape, MINIMUM, a, b);
}

MerTensor *mer_tensor_maximum(MerTape *tape, MerTensor *a, MerTensor *b)
{
    return pair(tape, MAXIMUM, a, b);
}
