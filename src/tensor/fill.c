/* Starting values of parameters. */
#include "tensor/tensor.h"

#include <assert.h>
#include <math.h>

void mer_tensor_fill(MerTensor *tensor, float value)
{
    for (int64_t i = 0; i < tensor->size; i++) {
        tensor->data[i] = value;
    }
}

void mer_tensor_fill_uniform(MerTensor *tensor, float low, float high, MerRng *rng)
{
    for (int64_t i = 0; i < tensor->size; i++) {
        tensor->data[i] = low + (high - low) * (float)mer_rng_unit(rng);
    }
}

void mer_tensor_fill_normal(MerTensor *tensor, float deviation, MerRng *rng)
{
    for (int64_t i = 0; i < tensor->size; i++) {
        tensor->data[i] = deviation * (float)mer_rng_normal(rng);
    }
}

static double fan_in(const MerTensor *tensor, int output_axis)
{
    assert(output_axis >= 0 && output_axis < tensor->rank);
    return (double)tensor->size / tensor->shape[output_axis];
}

/* Glorot and Bengio, AISTATS 2010. */
void mer_tensor_fill_glorot(MerTensor *tensor, int output_axis, MerRng *rng)
{
    float bound = (float)sqrt(6 / (fan_in(tensor, output_axis) + tensor->shape[output_axis]));
    mer_tensor_fill_uniform(tensor, -bound, bound, rng);
}

/* Gram-Schmidt on vectors of `length` numbers, `step` apart; `count` of them, `next` apart. */
static void orthonormalise(float *data, int count, int next, int length, int step)
{
    for (int i = 0; i < count; i++) {
        float *v = data + (int64_t)i * next;
        for (int j = 0; j < i; j++) {
            const float *u = data + (int64_t)j * next;
            double       dot = 0;
            for (int64_t k = 0; k < length; k++) {
                dot += (double)v[k * step] * u[k * step];
            }
            for (int64_t k = 0; k < length; k++) {
                v[k * step] -= (float)dot * u[k * step];
            }
        }
        double square = 0;
        for (int64_t k = 0; k < length; k++) {
            square += (double)v[k * step] * v[k * step];
        }
        for (int64_t k = 0; k < length; k++) {
            v[k * step] = (float)(v[k * step] / sqrt(square));
        }
    }
}

/* Saxe et al., ICLR 2014; the usual start of actor-critic networks. */
void mer_tensor_fill_orthogonal(MerTensor *tensor, float gain, MerRng *rng)
{
    assert(tensor->rank == 2);
    int rows = tensor->shape[0], columns = tensor->shape[1];
    mer_tensor_fill_normal(tensor, 1, rng);
    if (rows <= columns) {
        orthonormalise(tensor->data, rows, columns, columns, 1);
    } else {
        orthonormalise(tensor->data, columns, 1, rows, columns);
    }
    for (int64_t i = 0; i < tensor->size; i++) {
        tensor->data[i] *= gain;
    }
}
