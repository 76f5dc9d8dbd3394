/* The kernels a tape runs on, as a table of functions, so that another library or device can
 * follow.
 *
 * Image ops take whole tensors because a backend may keep them in layouts of its own: it reads
 * the form it likes (mer_data_form, mer_form_convert), sets `data` or `blocked` of the output,
 * and gives gradients with mer_grad_give. Letters: N batch, C input channels, K output channels,
 * Y X rows and columns, R S rows and columns of a filter. */
#ifndef MERCATOR_TENSOR_BACKEND_H
#define MERCATOR_TENSOR_BACKEND_H

#include "tensor/tensor.h"

typedef struct MerConvolution { /* weights are (K, C / groups, R, S) */
    int groups;
    int stride[2], padding[2], dilation[2]; /* rows, columns; dilation 1: dense */
} MerConvolution;

typedef enum MerPoolKind { MER_POOL_MAX, MER_POOL_AVERAGE } MerPoolKind;

typedef struct MerPool { /* averages count real pixels only, not the padding */
    MerPoolKind kind;
    int         window[2], stride[2], padding[2];
} MerPool;

typedef struct MerBatchNorm {
    float epsilon;
    bool  is_training; /* use and give the batch's own statistics */
} MerBatchNorm;

typedef struct MerBatchNormTensors {
    MerTensor *x, *scale, *shift, *y;
    float     *mean, *variance; /* (C): written in training, read otherwise */
} MerBatchNormTensors;

typedef struct
    MerLstmTensors { /* a whole sequence; gates in the order input, forget, cell, output */
    MerTensor *x, *w, *u, *bias; /* (T, B, in), (in, 4H), (H, 4H), (4H) */
    MerTensor *h, *c;            /* (B, H), where it starts */
    MerTensor *y, *last_c;       /* (T, B, H), (B, H) */
    float      forget;           /* added to the forget gate */
    bool       is_backwards;     /* from the last step to the first */
    void      *kept;             /* the backend's own, for the backward pass */
} MerLstmTensors;

struct MerBackend {
    const char *name;
    void *(*open)(void);
    void (*close)(void *state);
    int64_t (*allocations)(const void *state); /* kernels and buffers ever made */

    /* C(m,n) = op(A) op(B) + beta C, row-major; op(A) is (m,k): A is (k,m) if transposed. */
    void (*matmul)(void *state, bool transpose_a, bool transpose_b, int m, int n, int k,
                   const float *a, int row_a, const float *b, int row_b, float beta, float *c,
                   int row_c);

    int64_t (*layout_size)(const MerLayout *layout); /* numbers, padding included */
    void (*reorder)(MerTape *tape, const MerTensor *shape, const MerLayout *from,
                    const float *source, const MerLayout *to, float *target); /* NULL: plain */

    /* `bias` (K) may be NULL. Backward passes skip inputs that need no gradient. */
    void (*conv)(MerTape *tape, const MerConvolution *conv, MerTensor *x, MerTensor *weight,
                 MerTensor *bias, MerTensor *y);
    void (*conv_backward)(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                          MerTensor *weight, MerTensor *bias, MerTensor *y);
    void (*batch_norm)(MerTape *tape, const MerBatchNorm *norm, const MerBatchNormTensors *tensors);
    void (*batch_norm_backward)(MerTape *tape, const MerBatchNorm *norm,
                                const MerBatchNormTensors *tensors);
    /* `choice` is what a maximum remembers for its backward pass. */
    void (*pool)(MerTape *tape, const MerPool *pool, MerTensor *x, MerTensor *y, void **choice);
    void (*pool_backward)(MerTape *tape, const MerPool *pool, MerTensor *x, MerTensor *y,
                          void *choice);

    /* optional: absent, sequences are done step by step with matmul */
    void (*lstm)(MerTape *tape, MerLstmTensors *lstm);
    void (*lstm_backward)(MerTape *tape, const MerLstmTensors *lstm);
};

#endif
