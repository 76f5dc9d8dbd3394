/* Images: convolution, pooling and batch norm. The backend does the work and chooses the
 * layouts. */
#include "tensor/ops.h"
#include "tensor/tape.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static int window_count(int size, int window, int stride, int padding, int dilation)
{
    int reach = (window - 1) * dilation + 1;
    assert(stride > 0 && size + 2 * padding >= reach);
    return (size + 2 * padding - reach) / stride + 1;
}

/* After an error the backend gives no numbers, and the ops behind still want some. */
static void make_sure(MerTape *tape, MerTensor *y)
{
    if (y->data == NULL && y->blocked.data == NULL) {
        y->data = mer_workspace_zeros(tape->workspace, y->size);
    }
}

static void conv_backward(MerTape *tape, const MerNode *node)
{
    tape->backend.conv_backward(tape, node->extra, node->inputs[0], node->inputs[1],
                                node->inputs[2], node->output);
}

MerTensor *mer_tensor_conv(MerTape *tape, MerTensor *x, MerTensor *weight, MerTensor *bias,
                           const MerConvolution *conv)
{
    assert(x->rank == 4 && weight->rank == 4 && conv->groups >= 1);
    assert(weight->shape[1] * conv->groups == x->shape[1] && weight->shape[0] % conv->groups == 0);
    assert(bias == NULL || bias->size == weight->shape[0]);
    int shape[4] = {x->shape[0], weight->shape[0]};
    for (int i = 0; i < 2; i++) {
        shape[2 + i] = window_count(x->shape[2 + i], weight->shape[2 + i], conv->stride[i],
                                    conv->padding[i], conv->dilation[i]);
    }
    MerTensor *y = mer_tape_image(tape, shape);
    tape->backend.conv(tape, conv, x, weight, bias, y);
    make_sure(tape, y);
    mer_tape_add(tape, conv_backward, y, x, weight, bias, conv, sizeof *conv);
    return y;
}

typedef struct PoolExtra {
    MerPooling pooling;
    void      *kept;
} PoolExtra;

static void pool_backward(MerTape *tape, const MerNode *node)
{
    const PoolExtra *extra = node->extra;
    tape->backend.pool_backward(tape, &extra->pooling, node->inputs[0], node->output, extra->kept);
}

MerTensor *mer_tensor_pool(MerTape *tape, MerTensor *x, const MerPooling *pooling)
{
    assert(x->rank == 4);
    int shape[4] = {x->shape[0], x->shape[1]};
    for (int i = 0; i < 2; i++) {
        assert(pooling->padding[i] < pooling->window[i]);
        shape[2 + i] = window_count(x->shape[2 + i], pooling->window[i], pooling->stride[i],
                                    pooling->padding[i], 1);
    }
    MerTensor *y = mer_tape_image(tape, shape);
    PoolExtra  extra = {*pooling, tape->backend.pool(tape, pooling, x, y)};
    make_sure(tape, y);
    mer_tape_add(tape, pool_backward, y, x, NULL, NULL, &extra, sizeof extra);
    return y;
}

static void norm_backward(MerTape *tape, const MerNode *node)
{
    tape->backend.batch_norm_backward(tape, node->extra);
}

static void move_running(const MerNormParameters *parameters, const MerBatchNorm *norm,
                         float momentum)
{
    float count = (float)(norm->x->size / norm->x->shape[1]);
    float unbiased = count > 1 ? count / (count - 1) : 1;
    for (int c = 0; c < norm->x->shape[1]; c++) {
        float *mean = &parameters->running_mean->data[c];
        float *variance = &parameters->running_variance->data[c];
        *mean += momentum * (norm->mean[c] - *mean);
        *variance += momentum * (unbiased * norm->variance[c] - *variance);
    }
}

/* Ioffe and Szegedy, ICML 2015. */
MerTensor *mer_tensor_batch_norm(MerTape *tape, MerTensor *x, const MerNormParameters *parameters,
                                 float momentum, float epsilon, bool is_training, bool has_relu)
{
    int channels = x->shape[1];
    assert(x->rank == 4 && parameters->scale->size == channels);
    MerBatchNorm norm = {.epsilon = epsilon,
                         .is_training = is_training,
                         .has_relu = has_relu,
                         .x = x,
                         .scale = parameters->scale,
                         .shift = parameters->shift,
                         .y = mer_tape_image(tape, x->shape)};
    if (is_training) {
        norm.mean = mer_workspace_floats(tape->workspace, channels);
        norm.variance = mer_workspace_floats(tape->workspace, channels);
    } else {
        norm.mean = parameters->running_mean->data;
        norm.variance = parameters->running_variance->data;
    }
    tape->backend.batch_norm(tape, &norm);
    make_sure(tape, norm.y);
    if (is_training && tape->error.status == MER_OK) {
        move_running(parameters, &norm, momentum);
    }
    mer_tape_add(tape, norm_backward, norm.y, x, norm.scale, norm.shift, &norm, sizeof norm);
    return norm.y;
}

void mer_batch_norm_fold(const MerNormParameters *parameters, float epsilon, MerTensor *weight,
                         MerTensor *bias)
{
    int64_t run = weight->size / weight->shape[0];
    for (int k = 0; k < weight->shape[0]; k++) {
        float factor =
            parameters->scale->data[k] / sqrtf(parameters->running_variance->data[k] + epsilon);
        for (int64_t i = 0; i < run; i++) {
            weight->data[k * run + i] *= factor;
        }
        bias->data[k] = parameters->shift->data[k] +
                        (bias->data[k] - parameters->running_mean->data[k]) * factor;
    }
}
