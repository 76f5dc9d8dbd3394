/* A convolution without bias, batch norm and relu (optional): what the networks of tests and benchmarks are
 * made of. */
#ifndef MERCATOR_TESTS_CONV_LAYER_H
#define MERCATOR_TESTS_CONV_LAYER_H

#include "tensor/layers.h"

#include <math.h>

typedef struct ConvLayer {
    MerConvolution    conv;
    MerTensor        *weight;
    MerNormParameters norm;
} ConvLayer;

/* He et al., ICCV 2015: normal, sqrt(2 / fan-in), of weights (K, C, R, S). */
static inline void fill_he(MerTensor *weight, MerRng *rng)
{
    double fan_in = (double)weight->size / weight->shape[0];
    mer_tensor_fill_normal(weight, (float)sqrt(2 / fan_in), rng);
}

/* padding window / 2 */
static inline ConvLayer conv_layer(MerParameters *parameters, const char *name, int in, int out,
                                   int window, int stride, int groups, MerRng *rng)
{
    int       edge = window / 2, shape[4] = {out, in / groups, window, window};
    ConvLayer layer = {.conv = {groups, {stride, stride}, {edge, edge}, {1, 1}}};
    layer.weight = mer_parameters_add(parameters, mer_part_name(name, "weight").text, 4, shape);
    layer.norm.scale = mer_parameters_add(parameters, mer_part_name(name, "scale").text, 1, &out);
    layer.norm.shift = mer_parameters_add(parameters, mer_part_name(name, "shift").text, 1, &out);
    layer.norm.running_mean =
        mer_parameters_add_constant(parameters, mer_part_name(name, "mean").text, 1, &out);
    layer.norm.running_variance =
        mer_parameters_add_constant(parameters, mer_part_name(name, "variance").text, 1, &out);
    fill_he(layer.weight, rng);
    mer_tensor_fill(layer.norm.scale, 1);
    mer_tensor_fill(layer.norm.running_variance, 1);
    return layer;
}

static inline MerTensor *conv_run(MerTape *tape, const ConvLayer *layer, MerTensor *x,
                                  bool has_relu, bool is_training)
{
    MerTensor *y = mer_tensor_conv(tape, x, layer->weight, NULL, &layer->conv);
    return mer_tensor_batch_norm(tape, y, &layer->norm, 0.1f, 1e-5f, is_training, has_relu);
}

static inline MerTensor *global_average(MerTape *tape, MerTensor *x) /* (N, C) */
{
    MerPooling pool = {MER_POOLING_AVERAGE, {x->shape[2], x->shape[3]}, {1, 1}, {0, 0}};
    MerTensor *y = mer_tensor_pool(tape, x, &pool);
    return mer_tensor_reshape(tape, y, 2, (int[]){x->shape[0], x->shape[1]});
}

#endif
