/* What can be computed with tensors. Every op gives a new tensor of the tape and knows its
 * gradient. Shapes are in brackets; an axis counts from 0, or from the end if negative. */
#ifndef MERCATOR_TENSOR_OPS_H
#define MERCATOR_TENSOR_OPS_H

#include "tensor/backend.h"
#include "tensor/tensor.h"

/* Products. (m,k) x (k,n); with a leading batch (b,m,k) x (b,k,n) or x (k,n). `matmul_with` reads a
 * transposed operand as (k,m) or (n,k). */
MerTensor *mer_tensor_matmul(MerTape *tape, MerTensor *a, MerTensor *b);
MerTensor *mer_tensor_matmul_with(MerTape *tape, MerTensor *a, bool transpose_a, MerTensor *b,
                                  bool transpose_b);
/* x w + bias for x (..., in), w (in, out), bias (out) or NULL; optionally with relu or tanh on
 * top. */
MerTensor *mer_tensor_linear(MerTape *tape, MerTensor *x, MerTensor *w, MerTensor *bias,
                             MerActivation activation);

/* Scores of additive attention (Bahdanau et al., ICLR 2015): query (b, m, k), key (b, n, k), v (k) ->
 * y (b, m, n), y[i][j] = sum over k of v[k] tanh(query[i][k] + key[j][k]). The sums inside the tanh are never kept. */
MerTensor *mer_tensor_additive(MerTape *tape, MerTensor *query, MerTensor *key, MerTensor *v);

/* Pairs, with the usual broadcasting: shapes are aligned at the end, a size of 1 is repeated. Where the operands of a
 * minimum are equal, the gradient goes to the first. */
typedef MerTensor *MerPairOp(MerTape *tape, MerTensor *a, MerTensor *b);
MerPairOp mer_tensor_add, mer_tensor_sub, mer_tensor_mul, mer_tensor_div, mer_tensor_minimum;

/* Number by number. */
typedef MerTensor *MerPointwiseOp(MerTape *tape, MerTensor *x);
MerPointwiseOp mer_tensor_relu, mer_tensor_tanh, mer_tensor_sigmoid, mer_tensor_exp, mer_tensor_log,
    mer_tensor_square;
MerTensor *mer_tensor_affine(MerTape *tape, MerTensor *x, float factor, float offset);
MerTensor *mer_tensor_clamp(MerTape *tape, MerTensor *x, float low, float high);
MerTensor *mer_tensor_stop(MerTape *tape, MerTensor *x); /* the same numbers, no gradient */
/* Zeroes a share of the numbers and scales the rest by 1 / (1 - share). */
MerTensor *mer_tensor_dropout(MerTape *tape, MerTensor *x, float share, MerRng *rng);

/* Rows: over the last axis. A segment softmax treats columns first[i] .. first[i + 1] - 1 as a
 * softmax of their own, for `count` segments that cover the row: one policy head each. */
MerTensor *mer_tensor_softmax(MerTape *tape, MerTensor *x);
MerTensor *mer_tensor_log_softmax(MerTape *tape, MerTensor *x);
MerTensor *mer_tensor_segment_log_softmax(MerTape *tape, MerTensor *x, int count, const int *first);
MerTensor *mer_tensor_layer_norm(MerTape *tape, MerTensor *x, MerTensor *scale, MerTensor *shift,
                                 float epsilon);

/* The first channels of a row: y[c] = 1 where r[c] = sum over j >= c of abs x[j] > 1/2, else 0; the
 * gradient is that of r. */
MerTensor *mer_tensor_thermometer(MerTape *tape, MerTensor *x);

/* Rows by index; the indices are borrowed until the next reset. */
/* (rows, w) -> (count, w): also an embedding. */
MerTensor *mer_tensor_gather(MerTape *tape, MerTensor *table, int count, const int *index);
/* x (count, w) to (rows, w): the largest (0 where nothing arrives) or the mean of what is sent
 * to a row. */
MerTensor *mer_tensor_scatter_max(MerTape *tape, MerTensor *x, int rows, const int *index);
MerTensor *mer_tensor_scatter_mean(MerTape *tape, MerTensor *x, int rows, const int *index);
/* x (rows, w), index (rows, count) -> (rows, count): chosen columns of each row. */
MerTensor *mer_tensor_pick(MerTape *tape, MerTensor *x, int count, const int *index);

/* Shapes. One size of a reshape may be -1; axis i of a transposed tensor is axis order[i] of x. */
MerTensor *mer_tensor_reshape(MerTape *tape, MerTensor *x, int rank, const int *shape);
MerTensor *mer_tensor_transpose(MerTape *tape, MerTensor *x, const int *order);
MerTensor *mer_tensor_concat(MerTape *tape, int count, MerTensor *const *parts, int axis);
MerTensor *mer_tensor_slice(MerTape *tape, MerTensor *x, int axis, int start, int length);

/* Reductions drop the axis; over all numbers they give (1). */
MerTensor *mer_tensor_sum(MerTape *tape, MerTensor *x);
MerTensor *mer_tensor_mean(MerTape *tape, MerTensor *x);
MerTensor *mer_tensor_sum_axis(MerTape *tape, MerTensor *x, int axis);
MerTensor *mer_tensor_mean_axis(MerTape *tape, MerTensor *x, int axis);

/* Images (N, C, Y, X). `bias` may be NULL. Depthwise: groups = C. */
MerTensor *mer_tensor_conv(MerTape *tape, MerTensor *x, MerTensor *weight, MerTensor *bias,
                           const MerConvolution *conv);
MerTensor *mer_tensor_pool(MerTape *tape, MerTensor *x, const MerPooling *pooling);
/* Training: statistics of the batch, and the running ones move by `momentum` towards them (the
 * variance without bias). Else: the running ones. With a relu on top if wanted. */
typedef struct MerNormParameters {
    MerTensor *scale, *shift;                   /* (C), learned */
    MerTensor *running_mean, *running_variance; /* (C), constants */
} MerNormParameters;
MerTensor *mer_tensor_batch_norm(MerTape *tape, MerTensor *x, const MerNormParameters *parameters,
                                 float momentum, float epsilon, bool is_training, bool has_relu);
/* Moves an evaluated batch norm into the convolution before it: weight (K, C, R, S), bias (K). */
void mer_batch_norm_fold(const MerNormParameters *parameters, float epsilon, MerTensor *weight,
                         MerTensor *bias);

/* Numbers of few values, for networks that will run on integers; rounding and clamping have
 * straight-through gradients, as backend.h says for each. docs/tensor.md has the formulas. */
typedef enum MerScaleRule {
    MER_SCALE_POWER, /* e = 2^floor(log2 s), its gradient handed to s unchanged */
    MER_SCALE_EXP,   /* e = exp(s) */
    MER_SCALE_DIRECT /* e = s */
} MerScaleRule;
typedef struct MerQuantiser { /* how the numbers of a row are written */
    MerFormat    format;
    MerScaleRule rule;
    MerTensor   *scale; /* s: (1), or one for each row */
} MerQuantiser;
/* e of a scale s; of the scales of a quantiser that row r of its tensor has. */
float mer_scale_value(MerScaleRule rule, float s);
float mer_quantiser_e(const MerQuantiser *quantiser, int row);
/* x (rows, ...), share (count, rows) or NULL with one quantiser: sum over quantisers of share times x
 * as it writes it. Quantisers are copied; scales that need a gradient get theirs. */
MerTensor *mer_tensor_mixture(MerTape *tape, MerTensor *x, MerTensor *share, int count,
                              const MerQuantiser *quantisers);
/* Activations in steps of a power of two (PACT, Choi et al., 2018, with a snapped clip): S = 2^floor(log2(high /
 * clip)), y = floor(S clamp(x, low / S, high / S)) / S; high 127 and low 0 are 7 bits without sign. `clip` (1) is
 * never changed by this: its gradient is that of the snapped one. */
MerTensor *mer_tensor_staircase(MerTape *tape, MerTensor *x, MerTensor *clip, int low, int high);
float      mer_staircase_scale(float clip, int high); /* S */
/* Other numbers in the place of x, the gradient going on to x as if they were the same; `values` are
 * borrowed until the next reset. */
MerTensor *mer_tensor_replace(MerTape *tape, MerTensor *x, const float *values);

/* The value (1) of a function of plain tensors that was computed elsewhere, with its gradient by each input; the gradients are
 * borrowed until the next reset. */
MerTensor *mer_tensor_known(MerTape *tape, float value, int count, MerTensor *const *inputs,
                            const float *const *gradients);

/* Losses give (1), the mean over rows or numbers. Labels are borrowed until the next reset. */
MerTensor *mer_tensor_cross_entropy(MerTape *tape, MerTensor *logits, const int *labels,
                                    float smoothing);
MerTensor *mer_tensor_mse(MerTape *tape, MerTensor *x, MerTensor *target);

/* One step of an LSTM: gates (B, 4H) in the order input, forget, cell, output; c (B, H). Gives h
 * and the next c. `forget` is added to the forget gate before its sigmoid. */
typedef struct MerLstmState {
    MerTensor *h, *c;
} MerLstmState;
MerLstmState mer_tensor_lstm_gates(MerTape *tape, MerTensor *gates, MerTensor *c, float forget);
/* A whole sequence at once, where the backend can: fills in y and last_c. */
void mer_tensor_lstm(MerTape *tape, MerLstmTensors *lstm);

#endif
