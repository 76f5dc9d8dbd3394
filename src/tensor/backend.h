/* The kernels a tape runs on, as a table of functions, so that another library or device can follow.
 *
 * There is a slot for each kind of work, not for each op: the struct of a kind says which op it is and
 * holds all it reads and writes, forwards and backwards. A backend writes down what it does better
 * than its `base`; the other slots are the base's. A kernel may use the tape's threads
 * (mer_tape_split), but how it divides its work follows from the shapes alone.
 *
 * Image ops take whole tensors because a backend may keep them in layouts of its own: it reads
 * the form it likes (mer_data_form, mer_form_convert), sets `data` or `blocked` of the output,
 * and gives gradients with mer_grad_give. A kernel that fails says so with mer_tape_fail. Letters: N
 * batch, C input channels, K output channels, Y X rows and columns, R S rows and columns of a
 * filter. */
#ifndef MERCATOR_TENSOR_BACKEND_H
#define MERCATOR_TENSOR_BACKEND_H

#include "tensor/tensor.h"
#include "tensor/updater.h"

#include <math.h>

enum { MER_MOST_LANES = 32 };

struct MerLayout {
    bool    is_image; /* (N, C / lanes, Y, X, lanes), zero in channels beyond the last */
    int     lanes;    /* of an image, a power of two; 0: in another order */
    int64_t size;     /* numbers, padding included; of an image: for each of the N */
};

typedef struct MerMatrix { /* row-major */
    float  *data;
    int     row;           /* from one row to the next */
    bool    is_transposed; /* read as its transpose */
    int64_t step;          /* to the next of a batch; 0: the same for all */
} MerMatrix;

typedef struct MerProduct { /* c (m, n) = a (m, k) b (k, n) + beta c, for each of a batch */
    int       batch, m, n, k;
    MerMatrix a, b, c; /* with c.step 0 all are added up, and beta is for the first */
    float     beta;
} MerProduct;

typedef enum MerPointwiseKind {
    MER_POINTWISE_RELU,
    MER_POINTWISE_TANH,
    MER_POINTWISE_SIGMOID,
    MER_POINTWISE_EXP,
    MER_POINTWISE_LOG,
    MER_POINTWISE_SQUARE,
    MER_POINTWISE_AFFINE, /* p x + q */
    MER_POINTWISE_CLAMP   /* p .. q */
} MerPointwiseKind;

typedef struct MerPointwise { /* y = f(x); back: dx = (is_fresh ? 0 : dx) + dy f'(x) */
    MerPointwiseKind kind;
    float            p, q;
    int64_t          count;
    const float     *x, *dy;
    float           *y, *dx;
    bool             is_fresh;
} MerPointwise;

typedef enum MerPairKind {
    MER_PAIR_ADD,
    MER_PAIR_SUB,
    MER_PAIR_MUL,
    MER_PAIR_DIV,
    MER_PAIR_MINIMUM
} MerPairKind;

typedef struct
    MerPair { /* y = f(a, b), operands walked with steps; back: dx[i] += dy f'[i](a, b) */
    MerPairKind  kind;
    bool         is_same; /* three equal shapes: one run of `count` */
    int64_t      count;
    int          size[MER_TENSOR_RANK];    /* of the output, aligned at the end */
    int64_t      step[2][MER_TENSOR_RANK]; /* of both operands; 0: repeated */
    const float *x[2], *dy;
    float       *y, *dx[2]; /* dx[i] NULL: not wanted */
} MerPair;

typedef enum MerReductionKind {
    MER_REDUCTION_SUM,  /* in float, in order */
    MER_REDUCTION_TOTAL /* of everything: in double */
} MerReductionKind;

typedef struct MerReduction { /* x (outer, length, inner) -> y (outer, inner); back: dx += */
    MerReductionKind kind;
    int64_t          outer, length, inner;
    float            factor;
    const float     *x, *dy;
    float           *y, *dx;
} MerReduction;

typedef enum MerActivation { MER_LINEAR, MER_RELU, MER_TANH } MerActivation;

typedef enum MerRowsKind {
    MER_ROWS_BIAS,        /* y = act(y + b), in place; back: dx[0] holds dy and is changed, db */
    MER_ROWS_SOFTMAX,     /* x -> y */
    MER_ROWS_LOG_SOFTMAX, /* by segments */
    MER_ROWS_LAYER_NORM,  /* x, scale, shift -> y; keeps (rows, width) and (rows) */
    MER_ROWS_LSTM,        /* gates (rows, 4 width), c -> h, next c; keeps (rows, 5 width) */
    MER_ROWS_THERMOMETER  /* y[c] = 1 where sum over j >= c of abs x[j] > 1/2; back: of that sum */
} MerRowsKind;

typedef struct MerRows { /* row by row; back: dx += where it is wanted (not NULL) */
    MerRowsKind   kind;
    MerActivation activation;
    int64_t       rows;
    int           width; /* of a row of y */
    int           segment_count;
    const int    *first;    /* (segment_count + 1) */
    float         constant; /* layer norm: epsilon; LSTM: added to the forget gate */
    const float  *x[3], *dy[2];
    float        *y[2], *dx[3], *kept[2];
} MerRows;

typedef struct
    MerAdditive { /* y (batch, m, n) = sum over k of v (k) tanh(query (batch, m, k) + key (batch, n, k)) */
    int          batch, m, n, k;
    const float *query, *key, *v, *dy;
    float       *y, *dquery, *dkey, *dv; /* back: added where wanted (not NULL) */
} MerAdditive;

typedef enum MerLookupKind {
    MER_LOOKUP_GATHER,       /* y (count, width) = rows of x */
    MER_LOOKUP_SCATTER_MAX,  /* x (count, width) -> y (rows, width); keeps the winners */
    MER_LOOKUP_SCATTER_MEAN, /* the same; keeps (rows) shares */
    MER_LOOKUP_PICK          /* y (rows, count) = columns of x (rows, width) */
} MerLookupKind;

typedef struct MerLookup { /* by index; back: dx += */
    MerLookupKind kind;
    int           count, rows;
    int64_t       width;
    const int    *index;
    void         *kept;
    const float  *x, *dy;
    float        *y, *dx;
} MerLookup;

typedef struct MerMove { /* copies or adds a box of numbers from one order to another */
    bool         is_added;
    int          size[MER_TENSOR_RANK];
    int64_t      step[2][MER_TENSOR_RANK]; /* from, to */
    const float *from;
    float       *to;
} MerMove;

typedef enum MerLossKind { MER_LOSS_CROSS_ENTROPY, MER_LOSS_MSE } MerLossKind;

typedef struct MerLoss { /* the mean; leaves its gradient in `grad` */
    MerLossKind  kind;
    int64_t      rows;
    int          width; /* 1 but for cross-entropy */
    float        smoothing;
    const float *x, *target;
    const int   *labels;
    float       *grad;
} MerLoss;

typedef struct MerUpdate { /* of one parameter */
    const MerRule *rule;
    double         rate, step;
    int64_t        count;
    const float   *grad;
    float         *w, *first, *second; /* the updater's memory; NULL where the rule has none */
} MerUpdate;

typedef struct MerConvolution { /* weights are (K, C / groups, R, S) */
    int groups;
    int stride[2], padding[2], dilation[2]; /* rows, columns; dilation 1: dense */
} MerConvolution;

typedef enum MerPoolingKind { MER_POOLING_MAX, MER_POOLING_AVERAGE } MerPoolingKind;

typedef struct MerPooling { /* averages count real pixels only, not the padding */
    MerPoolingKind kind;
    int            window[2], stride[2], padding[2];
} MerPooling;

typedef struct MerBatchNorm {
    float      epsilon;
    bool       is_training; /* use and give the batch's own statistics */
    bool       has_relu;    /* on top */
    MerTensor *x, *scale, *shift, *y;
    float     *mean, *variance; /* (C): written in training, read otherwise */
} MerBatchNorm;

enum { MER_MOST_FORMATS = 8 }; /* that one tensor may mix */

/* Numbers of few values: k e / unit with an integer k of low .. high, the nearest one, half to even.
 * int8 has unit 127, k of -127 .. 127; ternary unit 1, k of -1 .. 1; a bias unit 1 and 16 bits. */
typedef struct MerFormat {
    float unit, low, high;
} MerFormat;

/* The k of a number: here once, so that what is deployed is what was trained. */
static inline __attribute__((always_inline)) float mer_format_level(MerFormat f, float e, float x)
{
    float k = rintf(f.unit * (x / e));
    k = k < f.low ? f.low : k;
    return k > f.high ? f.high : k;
}

/* y[r] = sum over formats o of share[o][r] Q_o(x)[r] for rows r: the weights of an output channel.
 * Back: rounding and clamping count as the identity for x; `de` is the gradient of e with rounding as
 * the identity, clamped numbers moving with e. All gradients are added where wanted (not NULL). */
typedef struct MerMixture {
    int          rows, count; /* of formats */
    int64_t      width;       /* numbers of a row */
    MerFormat    formats[MER_MOST_FORMATS];
    const float *e[MER_MOST_FORMATS]; /* (rows) */
    const float *x, *share, *dy;      /* share (count, rows); NULL: 1 */
    float       *y, *dx, *dshare, *de[MER_MOST_FORMATS];
} MerMixture;

/* y = floor(scale clamp(x, low, high)) / scale. Back: dx = dy strictly inside; gives the sum of dy at
 * and above `high`, less what is at and below `low` if that is negative: it moves with `high`. */
typedef struct MerStaircase {
    float        scale, low, high;
    int64_t      count;
    const float *x, *dy;
    float       *y, *dx; /* dx is overwritten; NULL: not wanted */
} MerStaircase;

typedef struct
    MerLstmTensors { /* a whole sequence; gates in the order input, forget, cell, output */
    MerTensor *x, *w, *u, *bias; /* (T, B, in), (in, 4H), (H, 4H), (4H) */
    MerTensor *h, *c;            /* (B, H), where it starts */
    MerTensor *y, *last_c;       /* (T, B, H), (B, H) */
    float      forget;           /* added to the forget gate */
    bool       is_backwards;     /* from the last step to the first */
    void      *kept;             /* the backend's own, for the backward pass */
} MerLstmTensors;

/* What a backend does for each kind of work. */
typedef void MerProductKernel(MerTape *tape, const MerProduct *op);
typedef void MerPointwiseKernel(MerTape *tape, const MerPointwise *op);
typedef void MerPairKernel(MerTape *tape, const MerPair *op);
typedef void MerReductionKernel(MerTape *tape, const MerReduction *op);
typedef void MerRowsKernel(MerTape *tape, const MerRows *op);
typedef void MerAdditiveKernel(MerTape *tape, const MerAdditive *op);
typedef void MerLookupKernel(MerTape *tape, const MerLookup *op);
typedef void MerMoveKernel(MerTape *tape, const MerMove *op);
typedef void MerMixtureKernel(MerTape *tape, const MerMixture *op);
typedef void MerUpdateKernel(MerTape *tape, const MerUpdate *op);
typedef void MerBatchNormKernel(MerTape *tape, const MerBatchNorm *op);
typedef void MerConvolutionKernel(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                                  MerTensor *weight, MerTensor *bias, MerTensor *y);

struct MerBackend {
    const char       *name;
    const MerBackend *base; /* has the slots that are NULL here; NULL: none */

    /* optional: absent, there is no state and there are no layouts */
    void *(*open)(MerTape *tape); /* NULL after an error */
    void (*close)(void *state);
    int64_t (*allocations)(const void *state); /* kernels and buffers ever made */
    /* The layout of images of a shape with that many lanes; NULL: there is none. */
    const MerLayout *(*layout)(MerTape *tape, const int shape[4], int lanes);
    void (*reorder)(MerTape *tape, const MerTensor *shape, const MerLayout *from,
                    const float *source, const MerLayout *to, float *target); /* NULL: plain */

    MerProductKernel   *product;
    MerPointwiseKernel *pointwise, *pointwise_backward;
    MerPairKernel      *pair, *pair_backward;
    MerReductionKernel *reduce, *reduce_backward;
    MerRowsKernel      *rows, *rows_backward;
    MerAdditiveKernel  *additive, *additive_backward;
    MerLookupKernel    *lookup, *lookup_backward;
    MerMoveKernel      *move;
    MerMixtureKernel   *mixture, *mixture_backward;
    void (*staircase)(MerTape *tape, const MerStaircase *op);
    double (*staircase_backward)(MerTape *tape, const MerStaircase *op);
    double (*loss)(MerTape *tape, const MerLoss *op);
    MerUpdateKernel *update;
    double (*clip)(MerTape *tape, MerParameters *parameters, double limit);

    /* `bias` (K) may be NULL. Backward passes skip inputs that need no gradient. */
    MerConvolutionKernel *conv, *conv_backward;
    MerBatchNormKernel   *batch_norm, *batch_norm_backward;
    /* Gives what a maximum remembers for its backward pass. */
    void *(*pool)(MerTape *tape, const MerPooling *pooling, MerTensor *x, MerTensor *y);
    void (*pool_backward)(MerTape *tape, const MerPooling *pooling, MerTensor *x, MerTensor *y,
                          void *kept);

    /* optional: absent, sequences are done step by step */
    void (*lstm)(MerTape *tape, MerLstmTensors *lstm);
    void (*lstm_backward)(MerTape *tape, const MerLstmTensors *lstm);
};

#endif
