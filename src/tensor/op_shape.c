/* Ops that move numbers without changing them: reshape, transpose, concat, slice. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>
#include <string.h>

static void reshape_backward(MerTape *tape, const MerNode *node)
{
    mer_grad_give_plain(tape, node->inputs[0], mer_tensor_grad(tape, node->output), true);
}

MerTensor *mer_tensor_reshape(MerTape *tape, MerTensor *x, int rank, const int *shape)
{
    int     sizes[MER_MAX_RANK], open = -1;
    int64_t known = 1;
    assert(rank >= 1 && rank <= MER_MAX_RANK);
    for (int i = 0; i < rank; i++) {
        sizes[i] = shape[i];
        assert(shape[i] >= 0 || open < 0);
        open = shape[i] < 0 ? i : open;
        known *= shape[i] < 0 ? 1 : shape[i];
    }
    if (open >= 0) {
        sizes[open] = known > 0 ? (int)(x->size / known) : 0;
    }
    MerTensor *y =
        mer_tape_input(tape, rank, sizes, mer_tensor_data(tape, x)); /* the same memory */
    assert(y->size == x->size);
    mer_tape_add(tape, reshape_backward, y, x, NULL, NULL);
    return y;
}

typedef struct Order {
    int     size[MER_MAX_RANK]; /* of the output */
    int64_t step[MER_MAX_RANK]; /* in the input, along each axis of the output */
} Order;

/* Calls of the innermost axis are strided runs. `is_back` adds the output's numbers to the
 * input's. */
static void walk_order(const Order *order, float *in, float *out, int64_t size, bool is_back)
{
    int     index[MER_MAX_RANK] = {0};
    int     last = MER_MAX_RANK - 1;
    int64_t offset = 0, run = order->size[last], step = order->step[last];
    for (int64_t o = 0; o < size; o += run) {
        for (int64_t i = 0; i < run; i++) {
            if (is_back) {
                in[offset + i * step] += out[o + i];
            } else {
                out[o + i] = in[offset + i * step];
            }
        }
        for (int i = last - 1; i >= 0; i--) {
            offset += order->step[i];
            if (++index[i] < order->size[i]) {
                break;
            }
            offset -= order->step[i] * order->size[i];
            index[i] = 0;
        }
    }
}

static void transpose_backward(MerTape *tape, const MerNode *node)
{
    float *dy = mer_tensor_grad(tape, node->output);
    float *grad = mer_grad_zeroed(tape, node->inputs[0]);
    walk_order(node->extra, grad, dy, node->output->size, true);
}

MerTensor *mer_tensor_transpose(MerTape *tape, MerTensor *x, const int *axes)
{
    int     shape[MER_MAX_RANK], missing = MER_MAX_RANK - x->rank;
    int64_t step[MER_MAX_RANK];
    Order   order;
    for (int64_t i = x->rank - 1, s = 1; i >= 0; i--) {
        step[i] = s;
        s *= x->shape[i];
    }
    for (int i = 0; i < MER_MAX_RANK; i++) {
        int axis = i < missing ? -1 : axes[i - missing];
        order.size[i] = axis < 0 ? 1 : x->shape[axis];
        order.step[i] = axis < 0 ? 0 : step[axis];
        if (axis >= 0) {
            shape[i - missing] = x->shape[axis];
        }
    }
    MerTensor *y = mer_tape_tensor(tape, x->rank, shape);
    assert(y->size == x->size);
    walk_order(&order, mer_tensor_data(tape, x), y->data, y->size, false);
    MerNode *node = mer_tape_add(tape, transpose_backward, y, x, NULL, NULL);
    if (node != NULL) {
        node->extra = mer_workspace_alloc(tape->workspace, sizeof order);
        memcpy(node->extra, &order, sizeof order);
    }
    return y;
}

/* A tensor around one axis: `outer` blocks of `inner` numbers for each of its places. */
typedef struct Around {
    int64_t outer, inner;
} Around;

static Around around(const MerTensor *x, int axis)
{
    Around a = {1, 1};
    for (int i = 0; i < x->rank; i++) {
        a.outer *= i < axis ? x->shape[i] : 1;
        a.inner *= i > axis ? x->shape[i] : 1;
    }
    return a;
}

static void copy_blocks(int64_t count, int64_t length, const float *from, int64_t from_step,
                        float *to, int64_t to_step)
{
    for (int64_t i = 0; i < count; i++) {
        memcpy(to + i * to_step, from + i * from_step, (size_t)length * sizeof *to);
    }
}

static void add_blocks(int64_t count, int64_t length, const float *from, int64_t from_step,
                       float *to, int64_t to_step)
{
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < length; j++) {
            to[i * to_step + j] += from[i * from_step + j];
        }
    }
}

typedef struct Part { /* of a longer axis */
    int axis, start;
} Part;

static void slice_backward(MerTape *tape, const MerNode *node)
{
    const Part *part = node->extra;
    MerTensor  *x = node->inputs[0], *y = node->output;
    Around      a = around(x, part->axis);
    int64_t     step = a.inner * x->shape[part->axis], length = a.inner * y->shape[part->axis];
    float      *grad = mer_grad_zeroed(tape, x) + part->start * a.inner;
    add_blocks(a.outer, length, mer_tensor_grad(tape, y), length, grad, step);
}

MerTensor *mer_tensor_slice(MerTape *tape, MerTensor *x, int axis, int start, int length)
{
    axis += axis < 0 ? x->rank : 0;
    assert(axis >= 0 && axis < x->rank && start >= 0 && start + length <= x->shape[axis]);
    Around a = around(x, axis);
    int    shape[MER_MAX_RANK];
    memcpy(shape, x->shape, sizeof shape);
    shape[axis] = length;
    MerTensor *y = mer_tape_tensor(tape, x->rank, shape);
    copy_blocks(a.outer, a.inner * length, mer_tensor_data(tape, x) + start * a.inner,
                a.inner * x->shape[axis], y->data, a.inner * length);
    MerNode *node = mer_tape_add(tape, slice_backward, y, x, NULL, NULL);
    if (node != NULL) {
        Part *part = node->extra = mer_workspace_alloc(tape->workspace, sizeof *part);
        *part = (Part){axis, start};
    }
    return y;
}

/* One node per part: each takes its piece of the gradient. */
static void concat_backward(MerTape *tape, const MerNode *node)
{
    const Part  *part = node->extra;
    MerTensor   *x = node->inputs[0], *y = node->output;
    Around       a = around(y, part->axis);
    int64_t      step = a.inner * y->shape[part->axis], length = a.inner * x->shape[part->axis];
    const float *dy = mer_tensor_grad(tape, y) + part->start * a.inner;
    add_blocks(a.outer, length, dy, step, mer_grad_zeroed(tape, x), length);
}

MerTensor *mer_tensor_concat(MerTape *tape, int count, MerTensor *const *parts, int axis)
{
    assert(count >= 1);
    axis += axis < 0 ? parts[0]->rank : 0;
    int shape[MER_MAX_RANK], length = 0;
    memcpy(shape, parts[0]->shape, sizeof shape);
    for (int i = 0; i < count; i++) {
        length += parts[i]->shape[axis];
    }
    shape[axis] = length;
    MerTensor *y = mer_tape_tensor(tape, parts[0]->rank, shape);
    Around     a = around(y, axis);
    for (int i = 0, start = 0; i < count; start += parts[i]->shape[axis], i++) {
        int64_t run = a.inner * parts[i]->shape[axis];
        assert(parts[i]->rank == y->rank && parts[i]->size == a.outer * run);
        copy_blocks(a.outer, run, mer_tensor_data(tape, parts[i]), run, y->data + start * a.inner,
                    a.inner * length);
        MerNode *node = mer_tape_add(tape, concat_backward, y, parts[i], NULL, NULL);
        if (node != NULL) {
            Part *part = node->extra = mer_workspace_alloc(tape->workspace, sizeof *part);
            *part = (Part){axis, start};
        }
    }
    return y;
}
