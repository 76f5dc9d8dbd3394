/* Sums, means and maxima, over everything or along one axis. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>
#include <string.h>

typedef struct Reduction { /* x is (outer, length, inner), y is (outer, inner) */
    int64_t outer, length, inner;
    float   factor;
    int    *winner; /* of a maximum */
} Reduction;

static MerTensor *output_of(MerTape *tape, const MerTensor *x, int axis, Reduction *r)
{
    int shape[MER_MAX_RANK], rank = 0;
    axis += axis < 0 ? x->rank : 0;
    assert(axis >= 0 && axis < x->rank);
    *r = (Reduction){1, x->shape[axis], 1, 1, NULL};
    for (int i = 0; i < x->rank; i++) {
        r->outer *= i < axis ? x->shape[i] : 1;
        r->inner *= i > axis ? x->shape[i] : 1;
        if (i != axis) {
            shape[rank++] = x->shape[i];
        }
    }
    if (rank == 0) {
        shape[rank++] = 1;
    }
    return mer_tape_tensor(tape, rank, shape);
}

static void remember(MerTape *tape, MerBackward backward, MerTensor *y, MerTensor *x, Reduction r)
{
    MerNode *node = mer_tape_add(tape, backward, y, x, NULL, NULL);
    if (node != NULL) {
        node->extra = mer_workspace_alloc(tape->workspace, sizeof r);
        memcpy(node->extra, &r, sizeof r);
    }
}

static void sum_backward(MerTape *tape, const MerNode *node)
{
    const Reduction *r = node->extra;
    const float     *dy = mer_tensor_grad(tape, node->output);
    float           *grad = mer_grad_zeroed(tape, node->inputs[0]);
    for (int64_t o = 0; o < r->outer; o++) {
        for (int64_t l = 0; l < r->length; l++) {
            float *to = grad + (o * r->length + l) * r->inner;
            for (int64_t i = 0; i < r->inner; i++) {
                to[i] += r->factor * dy[o * r->inner + i];
            }
        }
    }
}

static MerTensor *sum(MerTape *tape, MerTensor *x, MerTensor *y, Reduction r)
{
    const float *in = mer_tensor_data(tape, x);
    memset(y->data, 0, (size_t)y->size * sizeof *y->data);
    for (int64_t o = 0; o < r.outer; o++) {
        float *to = y->data + o * r.inner;
        for (int64_t l = 0; l < r.length; l++) {
            const float *from = in + (o * r.length + l) * r.inner;
            for (int64_t i = 0; i < r.inner; i++) {
                to[i] += from[i];
            }
        }
        for (int64_t i = 0; i < r.inner; i++) {
            to[i] *= r.factor;
        }
    }
    remember(tape, sum_backward, y, x, r);
    return y;
}

MerTensor *mer_tensor_sum_axis(MerTape *tape, MerTensor *x, int axis)
{
    Reduction  r;
    MerTensor *y = output_of(tape, x, axis, &r);
    return sum(tape, x, y, r);
}

MerTensor *mer_tensor_mean_axis(MerTape *tape, MerTensor *x, int axis)
{
    Reduction  r;
    MerTensor *y = output_of(tape, x, axis, &r);
    r.factor = r.length > 0 ? 1 / (float)r.length : 0;
    return sum(tape, x, y, r);
}

/* In double: a sum over everything may be long. */
static MerTensor *sum_all(MerTape *tape, MerTensor *x, float factor)
{
    MerTensor   *y = mer_tape_tensor(tape, 1, (int[]){1});
    const float *in = mer_tensor_data(tape, x);
    double       total = 0;
    for (int64_t i = 0; i < x->size; i++) {
        total += in[i];
    }
    y->data[0] = (float)(total * factor);
    remember(tape, sum_backward, y, x, (Reduction){1, x->size, 1, factor, NULL});
    return y;
}

MerTensor *mer_tensor_sum(MerTape *tape, MerTensor *x)
{
    return sum_all(tape, x, 1);
}

MerTensor *mer_tensor_mean(MerTape *tape, MerTensor *x)
{
    return sum_all(tape, x, x->size > 0 ? 1 / (float)x->size : 0);
}

static void max_backward(MerTape *tape, const MerNode *node)
{
    const Reduction *r = node->extra;
    const float     *dy = mer_tensor_grad(tape, node->output);
    float           *grad = mer_grad_zeroed(tape, node->inputs[0]);
    for (int64_t i = 0; i < node->output->size; i++) {
        int64_t o = i / r->inner;
        grad[(o * r->length + r->winner[i]) * r->inner + i % r->inner] += dy[i];
    }
}

MerTensor *mer_tensor_max_axis(MerTape *tape, MerTensor *x, int axis)
{
    Reduction    r;
    MerTensor   *y = output_of(tape, x, axis, &r);
    const float *in = mer_tensor_data(tape, x);
    assert(r.length > 0);
    r.winner = mer_workspace_alloc(tape->workspace, (size_t)y->size * sizeof *r.winner);
    for (int64_t i = 0; i < y->size; i++) {
        const float *from = in + i / r.inner * r.length * r.inner + i % r.inner;
        r.winner[i] = 0;
        for (int l = 1; l < r.length; l++) {
            if (from[l * r.inner] > from[r.winner[i] * r.inner]) {
                r.winner[i] = l;
            }
        }
        y->data[i] = from[r.winner[i] * r.inner];
    }
    remember(tape, max_backward, y, x, r);
    return y;
}
