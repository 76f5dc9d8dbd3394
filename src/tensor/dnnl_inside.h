/* Inside of the oneDNN backend, for the files that implement it. A kernel is made once per shape and
 * kept. Version 3 of oneDNN has no *_desc_init calls: only the make_* and *_desc functions of those
 * files would change. */
#ifndef MERCATOR_TENSOR_DNNL_INSIDE_H
#define MERCATOR_TENSOR_DNNL_INSIDE_H

#include "mercator/arena.h"
#include "tensor/tape.h"

#include <dnnl.h>

typedef struct MerDnnlLayout {
    MerLayout             base;
    struct MerDnnlLayout *next;
    dnnl_memory_desc_t    desc; /* of an image: with one of a batch */
} MerDnnlLayout;

#define MER_DNNL_KINDS(X)                                                                          \
    X(REORDER, "reorder")                                                                          \
    X(CONV, "convolution")                                                                         \
    X(CONV_DATA, "convolution's data gradient")                                                    \
    X(CONV_WEIGHTS, "convolution's weight gradient")                                               \
    X(LSTM, "LSTM")                                                                                \
    X(LSTM_BACK, "LSTM's gradient")

typedef enum MerDnnlKind {
#define X(id, name) MER_DNNL_##id,
    MER_DNNL_KINDS(X)
#undef X
} MerDnnlKind;

typedef struct MerDnnlKey { /* all that a kernel depends on; unused parts are zero */
    int              kind, has_bias, is_backwards;
    int              x[4], w[4], y[4];
    int              groups, stride[2], padding[2], dilation[2];
    const MerLayout *from, *to;
} MerDnnlKey;

enum { MER_DNNL_ARGUMENTS = 19, MER_DNNL_BUCKETS = 256, MER_DNNL_CHUNKS = 8 };

typedef struct MerDnnlKernel {
    struct MerDnnlKernel *next;
    uint64_t              hash;
    MerDnnlKey            key;
    dnnl_primitive_t      primitive;
    int                   count; /* of arguments */
    int                   arguments[MER_DNNL_ARGUMENTS];
    bool                  is_image[MER_DNNL_ARGUMENTS]; /* the argument's first axis is the batch */
    const MerLayout      *layouts[MER_DNNL_ARGUMENTS];  /* NULL: plain */
    size_t                bytes[MER_DNNL_ARGUMENTS];
    dnnl_memory_t        *memories; /* (workers, count + 1): the last is for scratch */
} MerDnnlKernel;

typedef struct MerDnnlWorker { /* what each thread needs for itself */
    dnnl_stream_t stream;
    void         *scratch;
} MerDnnlWorker;

typedef struct MerDnnl {         /* the state of a tape's backend */
    MerArena             *arena; /* of itself, its kernels and layouts */
    dnnl_engine_t         engine;
    dnnl_primitive_attr_t attributes;
    int                   worker_count;
    MerDnnlWorker        *workers;
    size_t                scratch_bytes; /* of each worker */
    MerDnnlLayout        *layouts;
    MerDnnlKernel        *kernels[MER_DNNL_BUCKETS];
    int64_t               made; /* kernels, layouts and scratch memories */
} MerDnnl;

#define MER_DNNL_TRY(call)                                                                         \
    do {                                                                                           \
        dnnl_status_t status_ = (call);                                                            \
        if (status_ != dnnl_success) {                                                             \
            return status_;                                                                        \
        }                                                                                          \
    } while (0)

/* A refusal by oneDNN becomes the tape's error. */
void mer_dnnl_fail(MerTape *tape, dnnl_status_t status, const char *what);
/* One OpenMP thread between the two, whatever the caller's setting is. */
int  mer_dnnl_enter(void);
void mer_dnnl_leave(int threads);

dnnl_status_t mer_dnnl_any_desc(int count, const int *shape, dnnl_memory_desc_t *desc);
dnnl_status_t mer_dnnl_plain_desc(int count, const dnnl_dim_t *dims, dnnl_memory_desc_t *desc);
/* The one object for this layout, so that equal layouts are equal pointers; NULL for a plain one. */
dnnl_status_t mer_dnnl_layout(MerDnnl *state, const dnnl_memory_desc_t *desc, bool is_image,
                              const MerLayout **layout);

/* The description of a forward kernel, or of the backward kernel that belongs to it. */
dnnl_status_t mer_dnnl_describe(const MerDnnl *state, const_dnnl_op_desc_t forward,
                                const_dnnl_op_desc_t back, dnnl_primitive_desc_t *desc);

/* The kernel of this key, which `make` describes the first time: arguments, which of them are images, and
 * oneDNN's description. NULL: the tape has failed. */
typedef dnnl_status_t (*MerDnnlMaker)(const MerDnnl *state, const MerDnnlKey *key,
                                      MerDnnlKernel *kernel, dnnl_primitive_desc_t *desc);
MerDnnlKernel *mer_dnnl_kernel(MerTape *tape, const MerDnnlKey *key, MerDnnlMaker make);

/* How many equal parts a batch is done in: as many as there is work for, fixed by the shapes. `work`
 * counts products. */
int mer_dnnl_chunks(int batch, double work);
/* Runs the kernel on each chunk of a batch, on the tape's threads. Argument i of chunk c is data[i]
 * plus c steps[i] bytes; `steps` NULL: one chunk. False: the tape has failed. */
bool mer_dnnl_run(MerTape *tape, MerDnnlKernel *kernel, int chunks, void *const *data,
                  const size_t *steps);

/* The tensor's numbers in a layout; the first blocked form of a tensor of this step is kept with it. */
float *mer_dnnl_data(MerTape *tape, MerTensor *x, const MerLayout *layout);
float *mer_dnnl_grad(MerTape *tape, MerTensor *y, const MerLayout *layout);

/* The sum of `count` rows of `width` numbers, in their order. */
float *mer_dnnl_sum(MerTape *tape, float *rows, int count, int64_t width);

/* Convolutions of images of a few pixels. */
bool mer_dnnl_is_product(const MerConvolution *conv, const MerTensor *weight, const MerTensor *y);
void mer_dnnl_product_conv(MerTape *tape, MerTensor *x, MerTensor *weight, MerTensor *bias,
                           MerTensor *y);
void mer_dnnl_product_backward(MerTape *tape, MerTensor *x, MerTensor *weight, MerTensor *bias,
                               MerTensor *y);
bool mer_dnnl_is_small_depthwise(const MerConvolution *conv, const MerTensor *x,
                                 const MerTensor *weight);
void mer_dnnl_depthwise_weights(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                                MerTensor *weight, MerTensor *bias, MerTensor *y);

/* Slots of MerBackend. */
void mer_dnnl_close(void *state);
/* 0 lanes: pixel by pixel, all channels of one after the other. */
const MerLayout     *mer_dnnl_image_layout(MerTape *tape, const int shape[4], int lanes);
void                 mer_dnnl_reorder(MerTape *tape, const MerTensor *shape, const MerLayout *from,
                                      const float *source, const MerLayout *to, float *target);
MerConvolutionKernel mer_dnnl_conv, mer_dnnl_conv_backward;
void                 mer_dnnl_lstm(MerTape *tape, MerLstmTensors *lstm);
void                 mer_dnnl_lstm_backward(MerTape *tape, const MerLstmTensors *lstm);

#endif
