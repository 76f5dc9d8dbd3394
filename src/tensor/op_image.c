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

static void conv_backward(MerTape *tape, const MerNode *node)
{
    tape->backend->conv_backward(tape, node->extra, node->inputs[0], node->inputs[1],
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
    tape->backend->conv(tape, conv, x, weight, bias, y);
    MerNode *node = mer_tape_add(tape, conv_backward, y, x, weight, bias);
    if (node != NULL) {
        node->extra = mer_workspace_alloc(tape->workspace, sizeof *conv);
        memcpy(node->extra, conv, sizeof *conv);
    }
    return y;
}

typedef struct PoolExtra {
    MerPool pool;
    void   *choice;
} PoolExtra;

static void pool_backward(MerTape *tape, const MerNode *node)
{
    const PoolExtra *extra = node->extra;
    tape->backend->pool_backward(tape, &extra->pool, node->inputs[0], node->output, extra->choice);
}

MerTensor *mer_tensor_pool(MerTape *tape, MerTensor *x, const MerPool *pool)
{
    assert(x->rank == 4);
    int shape[4] = {x->shape[0], x->shape[1]};
    for (int i = 0; i < 2; i++) {
        assert(pool->padding[i] < pool->window[i]);
        shape[2 + i] =
            window_count(x->shape[2 + i], pool->window[i], pool->stride[i], pool->padding[i], 1);
    }
    void      *choice = NULL;
    MerTensor *y = mer_tape_image(tape, shape);
    tape->backend->pool(tape, pool, x, y, tape->is_recording && x->needs_grad ? &choice : NULL);
    MerNode *node = mer_tape_add(tape, pool_backward, y, x, NULL, NULL);
    if (node != NULL) {
        PoolExtra *extra = node->extra = mer_workspace_alloc(tape->workspace, sizeof *extra);
        *extra = (PoolExtra){*pool, choice};
    }
    return y;
}

MerTensor *mer_tensor_global_average(MerTape *tape, MerTensor *x)
{
    MerPool    pool = {MER_POOL_AVERAGE, {x->shape[2], x->shape[3]}, {1, 1}, {0, 0}};
    MerTensor *y = mer_tensor_pool(tape, x, &pool);
    return mer_tensor_reshape(tape, y, 2, (int[]){x->shape[0], x->shape[1]});
}

typedef struct NormExtra {
    MerBatchNorm        norm;
    MerBatchNormTensors tensors;
} NormExtra;

static void norm_backward(MerTape *tape, const MerNode *node)
{
    const NormExtra *extra = node->extra;
    tape->backend->batch_norm_backward(tape, &extra->norm, &extra->tensors);
}

static void move_running(const MerNormParameters *parameters, const MerBatchNormTensors *t,
                         float momentum)
{
    float count = (float)(t->x->size / t->x->shape[1]);
    float unbiased = count > 1 ? count / (count - 1) : 1;
    for (int c = 0; c < t->x->shape[1]; c++) {
        float *mean = &parameters->running_mean->data[c];
        float *variance = &parameters->running_variance->data[c];
        *mean += momentum * (t->mean[c] - *mean);
        *variance += momentum * (unbiased * t->variance[c] - *variance);
    }
}

/* Ioffe and Szegedy, ICML 2015. */
MerTensor *mer_tensor_batch_norm(MerTape *tape, MerTensor *x, const MerNormParameters *parameters,
                                 float momentum, float epsilon, bool is_training)
{
    int channels = x->shape[1];
    assert(x->rank == 4 && parameters->scale->size == channels);
    MerBatchNorm        norm = {epsilon, is_training};
    MerBatchNormTensors tensors = {
        x, parameters->scale, parameters->shift, mer_tape_image(tape, x->shape), NULL, NULL};
    if (is_training) {
        tensors.mean = mer_workspace_floats(tape->workspace, channels);
        tensors.variance = mer_workspace_floats(tape->workspace, channels);
    } else {
        tensors.mean = parameters->running_mean->data;
        tensors.variance = parameters->running_variance->data;
    }
    tape->backend->batch_norm(tape, &norm, &tensors);
    if (is_training) {
        move_running(parameters, &tensors, momentum);
    }
    MerNode *node = mer_tape_add(tape, norm_backward, tensors.y, x, tensors.scale, tensors.shift);
    if (node != NULL) {
        NormExtra *extra = node->extra = mer_workspace_alloc(tape->workspace, sizeof *extra);
        *extra = (NormExtra){norm, tensors};
    }
    return tensors.y;
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
