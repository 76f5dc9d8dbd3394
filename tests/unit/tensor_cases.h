/* Small networks, at least one for every op of src/tensor. A case makes a tensor from its
 * inputs; the tests compare its gradient with differences, and one backend with another. Add an
 * op: add a case. */
#ifndef MERCATOR_TESTS_TENSOR_CASES_H
#define MERCATOR_TESTS_TENSOR_CASES_H

#include "conv_layer.h"
#include "tensor/layers.h"
#include "tensor/ops.h"
#include "tensor/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_INPUTS = 12 };

typedef struct Case {
    const char *name;
    int         shapes[CASE_INPUTS][MER_TENSOR_RANK]; /* ends with 0; a size of 0 ends a shape */
    double      low, high;                            /* range of the inputs */
    MerTensor *(*build)(MerTape *tape, MerTensor **in);
} Case;

#define PAIR(name)                                                                                 \
    static MerTensor *case_##name(MerTape *tape, MerTensor **in)                                   \
    {                                                                                              \
        return mer_tensor_##name(tape, in[0], in[1]);                                              \
    }
#define SINGLE(name)                                                                               \
    static MerTensor *case_##name(MerTape *tape, MerTensor **in)                                   \
    {                                                                                              \
        return mer_tensor_##name(tape, in[0]);                                                     \
    }

PAIR(matmul)
PAIR(add)
PAIR(sub)
PAIR(mul)
PAIR(div)
PAIR(minimum)
PAIR(mse)
SINGLE(relu)
SINGLE(tanh)
SINGLE(sigmoid)
SINGLE(exp)
SINGLE(log)
SINGLE(square)
SINGLE(softmax)
SINGLE(log_softmax)
SINGLE(sum)
SINGLE(mean)
#undef PAIR
#undef SINGLE

static MerTensor *case_global_average(MerTape *tape, MerTensor **in)
{
    return global_average(tape, in[0]);
}

static MerTensor *case_matmul_at(MerTape *tape, MerTensor **in)
{
    return mer_tensor_matmul_with(tape, in[0], true, in[1], false);
}

static MerTensor *case_matmul_bt(MerTape *tape, MerTensor **in)
{
    return mer_tensor_matmul_with(tape, in[0], false, in[1], true);
}

static MerTensor *case_matmul_att(MerTape *tape, MerTensor **in)
{
    return mer_tensor_matmul_with(tape, in[0], true, in[1], true);
}

static MerTensor *case_linear(MerTape *tape, MerTensor **in)
{
    return mer_tensor_linear(tape, in[0], in[1], in[2], MER_LINEAR);
}

static MerTensor *case_linear_relu(MerTape *tape, MerTensor **in)
{
    return mer_tensor_linear(tape, in[0], in[1], in[2], MER_RELU);
}

static MerTensor *case_linear_tanh(MerTape *tape, MerTensor **in)
{
    return mer_tensor_linear(tape, in[0], in[1], in[2], MER_TANH);
}

/* Every tensor used twice: gradients add up. */
static MerTensor *case_twice(MerTape *tape, MerTensor **in)
{
    MerTensor *a = mer_tensor_matmul(tape, in[0], in[1]);
    MerTensor *b = mer_tensor_add(tape, mer_tensor_mul(tape, a, a), a);
    return mer_tensor_add(tape, b, mer_tensor_matmul(tape, in[0], in[1]));
}

static MerTensor *case_affine(MerTape *tape, MerTensor **in)
{
    return mer_tensor_affine(tape, in[0], -2.5f, 0.75f);
}

static MerTensor *case_clamp(MerTape *tape, MerTensor **in)
{
    return mer_tensor_clamp(tape, in[0], -1, 1.5f);
}

static MerTensor *case_stop(MerTape *tape, MerTensor **in)
{
    MerTensor *zero =
        mer_tensor_sub(tape, mer_tensor_stop(tape, in[1]), mer_tensor_stop(tape, in[1]));
    return mer_tensor_add(tape, in[0], zero);
}

static MerTensor *case_dropout(MerTape *tape, MerTensor **in)
{
    MerRng rng = mer_rng_make(5, 0);
    return mer_tensor_dropout(tape, in[0], 0.4f, &rng);
}

static MerTensor *case_segments(MerTape *tape, MerTensor **in)
{
    return mer_tensor_segment_log_softmax(tape, in[0], 4, (int[]){0, 3, 4, 6, 11});
}

static MerTensor *case_layer_norm(MerTape *tape, MerTensor **in)
{
    return mer_tensor_layer_norm(tape, in[0], in[1], in[2], 1e-5f);
}

static const int case_rows[6] = {2, 0, 2, 3, 0, 2};

static MerTensor *case_gather(MerTape *tape, MerTensor **in)
{
    return mer_tensor_gather(tape, in[0], 6, case_rows);
}

static MerTensor *case_scatter_max(MerTape *tape, MerTensor **in)
{
    return mer_tensor_scatter_max(tape, in[0], 5, case_rows);
}

static MerTensor *case_scatter_mean(MerTape *tape, MerTensor **in)
{
    return mer_tensor_scatter_mean(tape, in[0], 5, case_rows);
}

static MerTensor *case_pick(MerTape *tape, MerTensor **in)
{
    return mer_tensor_pick(tape, in[0], 2, case_rows);
}

static MerTensor *case_reshape(MerTape *tape, MerTensor **in)
{
    MerTensor *y = mer_tensor_reshape(tape, in[0], 3, (int[]){2, -1, 2});
    return mer_tensor_add(tape, mer_tensor_mul(tape, y, y), y);
}

static MerTensor *case_transpose(MerTape *tape, MerTensor **in)
{
    return mer_tensor_transpose(tape, in[0], (int[]){2, 0, 3, 1});
}

static MerTensor *case_concat(MerTape *tape, MerTensor **in)
{
    return mer_tensor_concat(tape, 3, (MerTensor *[]){in[0], in[1], in[0]}, 1);
}

static MerTensor *case_slice(MerTape *tape, MerTensor **in)
{
    return mer_tensor_slice(tape, in[0], -2, 1, 2);
}

static MerTensor *case_sum_axis(MerTape *tape, MerTensor **in)
{
    return mer_tensor_sum_axis(tape, in[0], 1);
}

static MerTensor *case_mean_axis(MerTape *tape, MerTensor **in)
{
    return mer_tensor_mean_axis(tape, in[0], 0);
}

static MerTensor *case_cross_entropy(MerTape *tape, MerTensor **in)
{
    return mer_tensor_cross_entropy(tape, in[0], case_rows, 0);
}

static MerTensor *case_smoothed(MerTape *tape, MerTensor **in)
{
    return mer_tensor_cross_entropy(tape, in[0], case_rows, 0.2f);
}

static MerTensor *case_conv(MerTape *tape, MerTensor **in)
{
    return mer_tensor_conv(tape, in[0], in[1], NULL, &(MerConvolution){1, {1, 1}, {1, 1}, {1, 1}});
}

static MerTensor *case_conv_bias(MerTape *tape, MerTensor **in)
{
    return mer_tensor_conv(tape, in[0], in[1], in[2], &(MerConvolution){1, {2, 1}, {1, 0}, {1, 2}});
}

static MerTensor *case_conv_groups(MerTape *tape, MerTensor **in)
{
    return mer_tensor_conv(tape, in[0], in[1], in[2], &(MerConvolution){2, {1, 1}, {1, 1}, {1, 1}});
}

static MerTensor *case_depthwise(MerTape *tape, MerTensor **in)
{
    MerConvolution conv = {in[0]->shape[1], {1, 1}, {1, 1}, {1, 1}};
    return mer_tensor_conv(tape, in[0], in[1], NULL, &conv);
}

static MerTensor *batch_norm(MerTape *tape, MerTensor **in, bool is_training, bool has_relu)
{
    static float mean[32] = {0.3f, -0.2f, 0.1f}, variance[32] = {0.5f, 1.5f, 0.8f, 1};
    int          channels = in[0]->shape[1];
    float        first[2][32];
    memcpy(first[0], mean, sizeof mean);
    memcpy(first[1], variance, sizeof variance);
    MerNormParameters norm = {in[1], in[2], mer_tape_input(tape, 1, &channels, mean),
                              mer_tape_input(tape, 1, &channels, variance)};
    MerTensor *y = mer_tensor_batch_norm(tape, in[0], &norm, 0.1f, 1e-5f, is_training, has_relu);
    memcpy(mean, first[0], sizeof mean); /* every call starts from the same statistics */
    memcpy(variance, first[1], sizeof variance);
    return y;
}

static MerTensor *case_norm_train(MerTape *tape, MerTensor **in)
{
    return batch_norm(tape, in, true, false);
}

static MerTensor *case_norm_relu(MerTape *tape, MerTensor **in)
{
    return batch_norm(tape, in, true, true);
}

static MerTensor *case_norm_eval(MerTape *tape, MerTensor **in)
{
    return batch_norm(tape, in, false, false);
}

static MerTensor *case_max_pool(MerTape *tape, MerTensor **in)
{
    return mer_tensor_pool(tape, in[0], &(MerPooling){MER_POOLING_MAX, {3, 2}, {2, 2}, {1, 0}});
}

static MerTensor *case_average_pool(MerTape *tape, MerTensor **in)
{
    return mer_tensor_pool(tape, in[0], &(MerPooling){MER_POOLING_AVERAGE, {3, 3}, {2, 1}, {1, 1}});
}

/* A block of a residual network: layouts are kept from layer to layer, and the input is used
 * twice. */
static MerTensor *case_residual(MerTape *tape, MerTensor **in)
{
    MerConvolution conv = {1, {1, 1}, {1, 1}, {1, 1}};
    MerTensor     *y = mer_tensor_conv(tape, in[0], in[1], NULL, &conv);
    y = mer_tensor_tanh(tape, batch_norm(tape, (MerTensor *[]){y, in[3], in[4]}, true, false));
    y = mer_tensor_conv(tape, y, in[2], NULL, &conv);
    y = mer_tensor_add(tape, y, in[0]);
    y = mer_tensor_add(tape, mer_tensor_conv(tape, y, in[1], NULL, &conv), y);
    return global_average(tape, y);
}

static MerTensor *case_image_relu(MerTape *tape, MerTensor **in)
{
    MerConvolution conv = {1, {1, 1}, {0, 0}, {1, 1}};
    MerTensor     *y = mer_tensor_conv(tape, in[0], in[1], in[2], &conv);
    return mer_tensor_relu(tape, y);
}

/* Functions that leave zero at zero keep an image's layout, the last one does not. */
static MerTensor *case_image_pointwise(MerTape *tape, MerTensor **in)
{
    MerTensor *y =
        mer_tensor_conv(tape, in[0], in[1], in[2], &(MerConvolution){1, {1, 1}, {1, 1}, {1, 1}});
    y = mer_tensor_affine(tape, mer_tensor_square(tape, mer_tensor_tanh(tape, y)), 0.5f, 0);
    return mer_tensor_affine(tape, mer_tensor_clamp(tape, y, -9, 9), 1, 0.5f);
}

static MerTensor *case_additive(MerTape *tape, MerTensor **in)
{
    return mer_tensor_additive(tape, in[0], in[1], in[2]);
}

static MerTensor *case_lstm_gates(MerTape *tape, MerTensor **in)
{
    MerLstmState state = mer_tensor_lstm_gates(tape, in[0], in[1], 1);
    return mer_tensor_concat(tape, 2, (MerTensor *[]){state.h, state.c}, 1);
}

static MerTensor *case_lstm_sequence(MerTape *tape, MerTensor **in)
{
    MerLstm      lstm = {3, 4, in[1], in[2], in[3], 1};
    MerLstmState state = {in[4], in[5]}, zero = mer_lstm_start(tape, &lstm, 2);
    MerTensor   *forward = mer_lstm_sequence(tape, &lstm, in[0], &state, false);
    MerTensor   *backward = mer_lstm_sequence(tape, &lstm, in[0], &zero, true);
    forward = mer_tensor_add(tape, forward, mer_tensor_mul(tape, state.h, state.c));
    backward = mer_tensor_add(tape, backward, mer_tensor_mul(tape, zero.h, zero.c));
    return mer_tensor_concat(tape, 2, (MerTensor *[]){forward, backward}, 2);
}

static MerTensor *case_lstm_step(MerTape *tape, MerTensor **in)
{
    MerLstm      lstm = {3, 4, in[1], in[2], in[3], 0};
    MerLstmState state = mer_lstm_step(tape, &lstm, in[0], (MerLstmState){in[4], in[5]});
    return mer_lstm_step(tape, &lstm, in[0], state).h;
}

static MerAttention attention_of(MerTensor **in)
{
    return (MerAttention){2, 4, {in[1], in[2]}, {in[3], in[4]}, {in[5], in[6]}, {in[7], in[8]}};
}

static MerTensor *case_attention(MerTape *tape, MerTensor **in)
{
    MerAttention attention = attention_of(in);
    return mer_attention_run(tape, &attention, in[0], NULL, NULL);
}

/* The cache is a constant here: its gradient is stopped by definition. */
static MerTensor *case_attention_cache(MerTape *tape, MerTensor **in)
{
    static const float past[2 * 2 * 4] = {0.5f, -1, 0.25f, 1, -0.5f, 0.75f, 2, -2, 1, 1, -1, 0.5f};
    static const float mask[3 * 5] = {[3] = -1e9f, [4] = -1e9f, [9] = -1e9f};
    MerAttention       attention = attention_of(in);
    MerTensor         *cache = mer_tape_input(tape, 3, (int[]){2, 2, 4}, past);
    return mer_attention_run(tape, &attention, in[0], cache,
                             mer_tape_input(tape, 2, (int[]){3, 5}, mask));
}

static MerTensor *case_sage(MerTape *tape, MerTensor **in)
{
    MerSage          sage = {{in[1], in[2]}, {in[3], in[4]}};
    static const int source[5] = {0, 1, 2, 3, 0}, target[5] = {1, 2, 3, 0, 2};
    return mer_sage_run(tape, &sage, in[0], 5, source, target);
}

static const Case tensor_cases[] = {
    {"matmul", {{5, 3}, {3, 4}}, -2, 2, case_matmul},
    {"matmul transposed a", {{3, 5}, {3, 4}}, -2, 2, case_matmul_at},
    {"matmul transposed b", {{5, 3}, {4, 3}}, -2, 2, case_matmul_bt},
    {"matmul both transposed", {{3, 5}, {4, 3}}, -2, 2, case_matmul_att},
    {"matmul batch", {{2, 5, 3}, {2, 3, 4}}, -2, 2, case_matmul},
    {"matmul batch, one b", {{2, 5, 3}, {3, 4}}, -2, 2, case_matmul},
    {"matmul batch, transposed b", {{2, 5, 3}, {2, 4, 3}}, -2, 2, case_matmul_bt},
    {"matmul batch, both transposed", {{2, 3, 5}, {4, 3}}, -2, 2, case_matmul_att},
    {"linear", {{5, 3}, {3, 4}, {4}}, -2, 2, case_linear},
    {"linear of three axes", {{2, 3, 3}, {3, 4}, {4}}, -2, 2, case_linear},
    {"linear, relu", {{5, 3}, {3, 4}, {4}}, -2, 2, case_linear_relu},
    {"linear, tanh", {{5, 3}, {3, 4}, {4}}, -0.5, 0.5, case_linear_tanh},
    {"tensors used twice", {{4, 3}, {3, 4}}, -1, 1, case_twice},
    {"add", {{4, 6}, {4, 6}}, -2, 2, case_add},
    {"add row", {{4, 6}, {6}}, -2, 2, case_add},
    {"sub", {{4, 6}, {4, 6}}, -2, 2, case_sub},
    {"sub column", {{4, 1}, {4, 6}}, -2, 2, case_sub},
    {"mul", {{4, 6}, {4, 6}}, -2, 2, case_mul},
    {"mul outer", {{4, 1}, {1, 6}}, -2, 2, case_mul},
    {"mul middle", {{2, 1, 3}, {4, 1}}, -2, 2, case_mul},
    {"div", {{4, 6}, {4, 6}}, 1, 3, case_div},
    {"div by one", {{2, 3, 4}, {1}}, 1, 3, case_div},
    {"minimum", {{4, 6}, {4, 6}}, -2, 2, case_minimum},
    {"relu", {{8, 6}}, -2, 2, case_relu},
    {"tanh", {{8, 6}}, -2, 2, case_tanh},
    {"sigmoid", {{8, 6}}, -3, 3, case_sigmoid},
    {"exp", {{8, 6}}, -2, 2, case_exp},
    {"log", {{8, 6}}, 0.5, 3, case_log},
    {"square", {{8, 6}}, -2, 2, case_square},
    {"affine", {{8, 6}}, -2, 2, case_affine},
    {"clamp", {{8, 6}}, -3, 3, case_clamp},
    {"stop", {{4, 3}, {4, 3}}, -2, 2, case_stop},
    {"dropout", {{8, 6}}, -2, 2, case_dropout},
    {"softmax", {{5, 7}}, -2, 2, case_softmax},
    {"log softmax", {{2, 3, 5}}, -2, 2, case_log_softmax},
    {"segment log softmax", {{4, 11}}, -2, 2, case_segments},
    {"layer norm", {{2, 3, 5}, {5}, {5}}, -2, 2, case_layer_norm},
    {"gather", {{4, 5}}, -2, 2, case_gather},
    {"scatter max", {{6, 5}}, -2, 2, case_scatter_max},
    {"scatter mean", {{6, 5}}, -2, 2, case_scatter_mean},
    {"pick", {{3, 4}}, -2, 2, case_pick},
    {"reshape", {{4, 6}}, -2, 2, case_reshape},
    {"transpose", {{2, 3, 4, 2}}, -2, 2, case_transpose},
    {"concat", {{2, 3, 4}, {2, 1, 4}}, -2, 2, case_concat},
    {"slice", {{2, 4, 3}}, -2, 2, case_slice},
    {"sum", {{4, 6}}, -2, 2, case_sum},
    {"mean", {{4, 6}}, -2, 2, case_mean},
    {"sum axis", {{2, 3, 4}}, -2, 2, case_sum_axis},
    {"mean axis", {{2, 3, 4}}, -2, 2, case_mean_axis},
    {"mean squared error", {{4, 3}, {4, 3}}, -2, 2, case_mse},
    {"cross entropy", {{6, 4}}, -2, 2, case_cross_entropy},
    {"cross entropy, smoothed", {{6, 4}}, -2, 2, case_smoothed},
    {"conv", {{2, 3, 5, 4}, {4, 3, 3, 3}}, -1, 1, case_conv},
    {"conv, stride, dilation, bias", {{2, 3, 6, 7}, {5, 3, 3, 2}, {5}}, -1, 1, case_conv_bias},
    {"conv, groups", {{2, 4, 4, 4}, {6, 2, 3, 3}, {6}}, -1, 1, case_conv_groups},
    {"conv, wide", {{1, 16, 3, 3}, {16, 16, 3, 3}}, -0.5, 0.5, case_conv},
    {"depthwise", {{2, 4, 5, 4}, {4, 1, 3, 3}}, -1, 1, case_depthwise},
    {"batch norm, training", {{3, 4, 2, 3}, {4}, {4}}, -2, 2, case_norm_train},
    {"batch norm, relu", {{3, 4, 2, 3}, {4}, {4}}, -2, 2, case_norm_relu},
    {"batch norm, evaluation", {{3, 4, 2, 3}, {4}, {4}}, -2, 2, case_norm_eval},
    {"max pool", {{2, 3, 5, 4}}, -3, 3, case_max_pool},
    {"average pool", {{2, 3, 5, 4}}, -2, 2, case_average_pool},
    {"global average", {{2, 3, 3, 4}}, -2, 2, case_global_average},
    {"residual block",
     {{2, 3, 4, 4}, {3, 3, 3, 3}, {3, 3, 3, 3}, {3}, {3}},
     -0.6,
     0.6,
     case_residual},
    {"conv, relu", {{1, 2, 3, 3}, {3, 2, 2, 2}, {3}}, -1, 1, case_image_relu},
    {"conv, pointwise", {{1, 2, 3, 3}, {3, 2, 3, 3}, {3}}, -1, 1, case_image_pointwise},
    {"additive attention", {{1, 11, 9}, {1, 3, 9}, {9}}, -2, 2, case_additive},
    {"additive attention of a batch", {{2, 5, 4}, {2, 3, 4}, {4}}, -2, 2, case_additive},
    {"lstm gates", {{3, 16}, {3, 4}}, -2, 2, case_lstm_gates},
    {"lstm step", {{2, 3}, {3, 16}, {4, 16}, {16}, {2, 4}, {2, 4}}, -1, 1, case_lstm_step},
    {"lstm sequence",
     {{3, 2, 3}, {3, 16}, {4, 16}, {16}, {2, 4}, {2, 4}},
     -1,
     1,
     case_lstm_sequence},
    {"attention",
     {{2, 3, 4}, {4, 4}, {4}, {4, 4}, {4}, {4, 4}, {4}, {4, 4}, {4}},
     -1,
     1,
     case_attention},
    {"attention with a cache and a mask",
     {{2, 3, 4}, {4, 4}, {4}, {4, 4}, {4}, {4, 4}, {4}, {4, 4}, {4}},
     -1,
     1,
     case_attention_cache},
    {"graph sage", {{4, 3}, {3, 3}, {3}, {6, 4}, {4}}, -1, 1, case_sage},
};

enum { CASE_COUNT = sizeof tensor_cases / sizeof tensor_cases[0] };

typedef struct CaseRun { /* a case with its inputs as parameters */
    const Case    *what;
    MerTape       *tape;
    MerParameters *parameters;
    MerTensor     *in[CASE_INPUTS];
    int            count;
} CaseRun;

/* Inputs are the points of even grids in random order: far from ties, from zero and from each
 * other. */
static void fill_spread(MerTensor *tensor, const Case *what, double shift, MerRng *rng)
{
    int  n = (int)tensor->size;
    int *order = malloc((size_t)n * sizeof *order);
    for (int i = 0; i < n; i++) {
        order[i] = i;
    }
    mer_rng_shuffle(rng, order, n);
    for (int i = 0; i < n; i++) {
        tensor->data[i] = (float)(what->low + (what->high - what->low) * (order[i] + shift) / n);
    }
    free(order);
}

static CaseRun case_open(const Case *what, const MerBackend *backend)
{
    CaseRun run = {
        .what = what, .tape = mer_tape_new(backend, NULL), .parameters = mer_parameters_new()};
    MerRng rng = mer_rng_make(11, 0);
    while (run.count < CASE_INPUTS && what->shapes[run.count][0] > 0) {
        const int *shape = what->shapes[run.count];
        int        rank = 0;
        char       name[8];
        while (rank < MER_TENSOR_RANK && shape[rank] > 0) {
            rank++;
        }
        snprintf(name, sizeof name, "in%d", run.count);
        run.in[run.count] = mer_parameters_add(run.parameters, name, rank, shape);
        fill_spread(run.in[run.count], what, run.count == 0 ? 0.35 : 0.65, &rng);
        run.count++;
    }
    return run;
}

static void case_close(CaseRun *run)
{
    mer_tape_free(run->tape);
    mer_parameters_free(run->parameters);
}

/* Every number of the output gets a weight of its own. */
static double case_weight(int64_t i)
{
    return 1 + 0.5 * (double)((i * 7) % 11 - 5) / 5;
}

/* The weighted sum of the output in double. */
static inline double case_value(CaseRun *run)
{
    mer_tape_reset(run->tape);
    MerTensor   *y = run->what->build(run->tape, run->in);
    const float *data = mer_tensor_data(run->tape, y);
    double       sum = 0;
    for (int64_t i = 0; i < y->size; i++) {
        sum += case_weight(i) * data[i];
    }
    return sum;
}

/* Gradients of that sum are in the inputs afterwards; gives the output (of the tape). */
static inline MerTensor *case_gradients(CaseRun *run)
{
    mer_tape_reset(run->tape);
    mer_parameters_clear(run->parameters);
    MerTensor *y = run->what->build(run->tape, run->in);
    MerTensor *weights = mer_tape_tensor(run->tape, y->rank, y->shape);
    for (int64_t i = 0; i < y->size; i++) {
        weights->data[i] = (float)case_weight(i);
    }
    mer_tape_backward(run->tape, mer_tensor_sum(run->tape, mer_tensor_mul(run->tape, y, weights)),
                      NULL);
    return y;
}

#endif
