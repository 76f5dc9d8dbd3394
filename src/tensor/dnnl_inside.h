/* Inside of the oneDNN backend, for the files that implement it. A kernel is made once per shape and
 * kept. Version 3 of oneDNN has no *_desc_init calls: only the make_* and *_desc functions of those
 * files would change. */
#ifndef MERCATOR_TENSOR_DNNL_INSIDE_H
#define MERCATOR_TENSOR_DNNL_INSIDE_H

#include "tensor/tape.h"

#include <dnnl.h>

struct MerLayout {
    MerLayout         *next;
    dnnl_memory_desc_t desc;
    size_t             bytes;
};

typedef enum MerDnnlKind {
    MER_DNNL_REORDER,
    MER_DNNL_CONV,
    MER_DNNL_CONV_DATA,
    MER_DNNL_CONV_WEIGHTS,
    MER_DNNL_NORM,
    MER_DNNL_NORM_BACK,
    MER_DNNL_POOL,
    MER_DNNL_POOL_BACK,
    MER_DNNL_LSTM,
    MER_DNNL_LSTM_BACK,
} MerDnnlKind;

typedef struct MerDnnlKey { /* all that a kernel depends on; unused parts are zero */
    int              kind, has_bias, is_training, pool, is_backwards;
    int              x[4], w[4], y[4];
    int              groups, stride[2], padding[2], dilation[2];
    float            epsilon;
    const MerLayout *from, *to;
} MerDnnlKey;

enum { MER_DNNL_ARGUMENTS = 19, MER_DNNL_BUCKETS = 256 };

typedef struct MerDnnlKernel {
    struct MerDnnlKernel *next;
    uint64_t              hash;
    MerDnnlKey            key;
    dnnl_primitive_t      primitive;
    int                   count;
    int                   arguments[MER_DNNL_ARGUMENTS];
    const MerLayout      *layouts[MER_DNNL_ARGUMENTS]; /* NULL: plain */
    dnnl_memory_t         memories[MER_DNNL_ARGUMENTS];
} MerDnnlKernel;

typedef struct MerDnnl { /* the state of a tape's backend */
    dnnl_engine_t  engine;
    dnnl_stream_t  stream;
    MerLayout     *layouts;
    MerDnnlKernel *kernels[MER_DNNL_BUCKETS];
    int64_t        made; /* kernels and layouts */
} MerDnnl;

/* A refusal by oneDNN is a bug of ours: shapes were checked before. */
void mer_dnnl_must(dnnl_status_t status);
/* One thread between the two, whatever the caller's setting is. */
int  mer_dnnl_enter(void);
void mer_dnnl_leave(int threads);

dnnl_memory_desc_t mer_dnnl_plain_desc(int count, const dnnl_dim_t *dims);
dnnl_memory_desc_t mer_dnnl_any_desc(int count, const int *shape);
/* A given layout, or plain images where it is NULL. */
dnnl_memory_desc_t mer_dnnl_image_desc(const int shape[4], const MerLayout *layout);

/* The kernel of this key, which `make` makes with mer_dnnl_finish the first time. */
typedef void (*MerDnnlMaker)(MerDnnl *state, MerDnnlKernel *kernel);
MerDnnlKernel *mer_dnnl_kernel(MerDnnl *state, const MerDnnlKey *key, MerDnnlMaker make);
/* Takes a finished description apart, and destroys it: one memory object for each argument, filled
 * when the kernel runs. */
void mer_dnnl_finish(MerDnnl *state, MerDnnlKernel *kernel, dnnl_primitive_desc_t desc, int count,
                     const int *arguments);
/* `data` in the order of the arguments. */
void mer_dnnl_run(MerDnnl *state, MerDnnlKernel *kernel, void *const *data);

float *mer_dnnl_capacity(MerTape *tape, const MerTensor *tensor, const MerLayout *layout);
void   mer_dnnl_set_data(MerTensor *y, float *data, const MerLayout *layout);
/* The tensor's numbers in a layout; the first blocked form of a tensor of this step is kept with it. */
float *mer_dnnl_data(MerTape *tape, MerTensor *x, const MerLayout *layout);
float *mer_dnnl_grad(MerTape *tape, MerTensor *y, const MerLayout *layout);

/* Slots of MerBackend. */
int64_t mer_dnnl_layout_size(const MerLayout *layout);
void    mer_dnnl_reorder(MerTape *tape, const MerTensor *shape, const MerLayout *from,
                         const float *source, const MerLayout *to, float *target);
void    mer_dnnl_conv(MerTape *tape, const MerConvolution *conv, MerTensor *x, MerTensor *weight,
                      MerTensor *bias, MerTensor *y);
void    mer_dnnl_conv_backward(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                               MerTensor *weight, MerTensor *bias, MerTensor *y);
void    mer_dnnl_batch_norm(MerTape *tape, const MerBatchNorm *norm,
                            const MerBatchNormTensors *tensors);
void    mer_dnnl_batch_norm_backward(MerTape *tape, const MerBatchNorm *norm,
                                     const MerBatchNormTensors *tensors);
void mer_dnnl_pool(MerTape *tape, const MerPool *pool, MerTensor *x, MerTensor *y, void **choice);
void mer_dnnl_pool_backward(MerTape *tape, const MerPool *pool, MerTensor *x, MerTensor *y,
                            void *choice);
void mer_dnnl_lstm(MerTape *tape, MerLstmTensors *lstm);
void mer_dnnl_lstm_backward(MerTape *tape, const MerLstmTensors *lstm);

#endif
