/* Ops that write numbers with few values: weights and biases as mixtures of formats, activations as
 * staircases. Gradients are straight-through. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>
#include <math.h>

float mer_scale_value(MerScaleRule rule, float s)
{
    switch (rule) {
    case MER_SCALE_POWER:
        return s > 0 ? ldexpf(1, ilogbf(s)) : ldexpf(1, -126);
    case MER_SCALE_EXP:
        return expf(s);
    default:
        return s;
    }
}

float mer_quantiser_e(const MerQuantiser *quantiser, int row)
{
    const MerTensor *scale = quantiser->scale;
    return mer_scale_value(quantiser->rule, scale->data[scale->size == 1 ? 0 : row]);
}

typedef struct MixtureExtra {
    MerMixture   op;
    MerQuantiser quantisers[MER_MOST_FORMATS];
} MixtureExtra;

/* Gradients of e become gradients of s. */
static void give_scale(MerTape *tape, const MerQuantiser *quantiser, const MerMixture *op, int o)
{
    float *ds = mer_grad_zeroed(tape, quantiser->scale);
    bool   is_one = quantiser->scale->size == 1;
    for (int r = 0; r < op->rows; r++) {
        float slope = quantiser->rule == MER_SCALE_EXP ? op->e[o][r] : 1;
        ds[is_one ? 0 : r] += op->de[o][r] * slope;
    }
}

static void mixture_backward(MerTape *tape, const MerNode *node)
{
    const MixtureExtra *extra = node->extra;
    MerMixture          op = extra->op;
    op.dy = mer_tensor_grad(tape, node->output);
    op.dx = mer_grad_wanted(tape, node->inputs[0]);
    op.dshare = mer_grad_wanted(tape, node->inputs[1]);
    for (int o = 0; o < op.count; o++) {
        if (extra->quantisers[o].scale->needs_grad) {
            op.de[o] = mer_workspace_zeros(tape->workspace, op.rows);
        }
    }
    tape->backend.mixture_backward(tape, &op);
    for (int o = 0; o < op.count; o++) {
        if (op.de[o] != NULL) {
            give_scale(tape, &extra->quantisers[o], &op, o);
        }
    }
}

MerTensor *mer_tensor_mixture(MerTape *tape, MerTensor *x, MerTensor *share, int count,
                              const MerQuantiser *quantisers)
{
    int          rows = x->shape[0];
    MerTensor   *y = mer_tape_tensor(tape, x->rank, x->shape);
    MixtureExtra extra = {.op = {.rows = rows, .count = count, .width = x->size / rows}};
    assert(count >= 1 && count <= MER_MOST_FORMATS && (share != NULL || count == 1));
    assert(share == NULL || share->size == (int64_t)count * rows);
    extra.op.x = mer_tensor_data(tape, x);
    extra.op.share = share != NULL ? mer_tensor_data(tape, share) : NULL;
    extra.op.y = y->data;
    MerTensor *learned = NULL; /* a scale that makes the op worth remembering on its own */
    for (int o = 0; o < count; o++) {
        float *e = mer_workspace_floats(tape->workspace, rows);
        assert(quantisers[o].scale->size == 1 || quantisers[o].scale->size == rows);
        for (int r = 0; r < rows; r++) {
            e[r] = mer_quantiser_e(&quantisers[o], r);
        }
        extra.op.formats[o] = quantisers[o].format;
        extra.op.e[o] = e;
        extra.quantisers[o] = quantisers[o];
        learned = quantisers[o].scale->needs_grad ? quantisers[o].scale : learned;
    }
    tape->backend.mixture(tape, &extra.op);
    mer_tape_add(tape, mixture_backward, y, x, share, learned, &extra, sizeof extra);
    return y;
}

float mer_staircase_scale(float clip, int high)
{
    double scale = high / (double)clip;
    return clip > 0 && scale <= 0x1p100 ? (float)ldexp(1, ilogb(scale)) : 0x1p100f;
}

static void staircase_backward(MerTape *tape, const MerNode *node)
{
    MerStaircase     op = *(const MerStaircase *)node->extra;
    MerTensor       *x = node->inputs[0], *clip = node->inputs[1], *y = node->output;
    const MerLayout *layout = op.y == y->data ? NULL : y->blocked.layout;
    op.dy = mer_form_convert(tape, y, mer_grad_form(y), layout);
    op.dx = x->needs_grad ? mer_form_memory(tape, y, layout) : NULL;
    double above = tape->backend.staircase_backward(tape, &op);
    if (op.dx != NULL) {
        mer_grad_give(tape, x, (MerBlocked){op.dx, layout}, false);
    }
    if (clip->needs_grad) {
        mer_grad_zeroed(tape, clip)[0] += (float)above;
    }
}

/* An image stays in its layout: zero stays zero, and below the clip, in the channels that pad it. */
MerTensor *mer_tensor_staircase(MerTape *tape, MerTensor *x, MerTensor *clip, int low, int high)
{
    assert(clip->size == 1 && low <= 0 && high > 0);
    MerAlike     alike = mer_tape_alike(tape, x, true);
    MerStaircase op = {.scale = mer_staircase_scale(clip->data[0], high),
                       .count = mer_form_size(x, alike.from),
                       .x = alike.from.data,
                       .y = alike.to.data};
    op.low = (float)low / op.scale;
    op.high = (float)high / op.scale;
    tape->backend.staircase(tape, &op);
    mer_tape_add(tape, staircase_backward, alike.y, x, clip, NULL, &op, sizeof op);
    return alike.y;
}

static void replace_backward(MerTape *tape, const MerNode *node)
{
    mer_grad_give(tape, node->inputs[0], mer_grad_form(node->output), true);
}

MerTensor *mer_tensor_replace(MerTape *tape, MerTensor *x, const float *values)
{
    MerTensor *y = mer_tape_input(tape, x->rank, x->shape, values);
    mer_tape_add(tape, replace_backward, y, x, NULL, NULL, NULL, 0);
    return y;
}
