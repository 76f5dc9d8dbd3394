/* Inside of the plain backend, for the files that implement it. */
#ifndef MERCATOR_TENSOR_PLAIN_INSIDE_H
#define MERCATOR_TENSOR_PLAIN_INSIDE_H

#include "tensor/tape.h"

/* A plane is what one image has of one group of `lanes` channels: (pixels, lanes), one lane in plain
 * order. */
typedef struct MerPlanes {
    const MerLayout *layout;
    int              groups, lanes, channels;
    int64_t          count, pixels; /* planes; pixels of each */
} MerPlanes;

MerPlanes mer_planes(const MerTensor *x, const MerLayout *layout);
/* The layout to work in: that of x, or plain if its order is not known here. */
const MerLayout *mer_planes_layout(const MerTensor *x);
void mer_planes_split(MerTape *tape, const MerPlanes *planes, MerRange work, void *context);

/* Slots of MerBackend. */
void   mer_plain_pointwise(MerTape *tape, const MerPointwise *op);
void   mer_plain_pointwise_backward(MerTape *tape, const MerPointwise *op);
void   mer_plain_pair(MerTape *tape, const MerPair *op);
void   mer_plain_pair_backward(MerTape *tape, const MerPair *op);
void   mer_plain_reduce(MerTape *tape, const MerReduction *op);
void   mer_plain_reduce_backward(MerTape *tape, const MerReduction *op);
void   mer_plain_rows(MerTape *tape, const MerRows *op);
void   mer_plain_rows_backward(MerTape *tape, const MerRows *op);
void   mer_plain_lookup(MerTape *tape, const MerLookup *op);
void   mer_plain_lookup_backward(MerTape *tape, const MerLookup *op);
void   mer_plain_move(MerTape *tape, const MerMove *op);
double mer_plain_loss(MerTape *tape, const MerLoss *op);
void   mer_plain_update(MerTape *tape, const MerUpdate *op);
double mer_plain_clip(MerTape *tape, MerParameters *parameters, double limit);
void   mer_plain_conv(MerTape *tape, const MerConvolution *conv, MerTensor *x, MerTensor *weight,
                      MerTensor *bias, MerTensor *y);
void   mer_plain_conv_backward(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                               MerTensor *weight, MerTensor *bias, MerTensor *y);
void   mer_plain_batch_norm(MerTape *tape, const MerBatchNorm *norm);
void   mer_plain_batch_norm_backward(MerTape *tape, const MerBatchNorm *norm);
void  *mer_plain_pool(MerTape *tape, const MerPooling *pooling, MerTensor *x, MerTensor *y);
void   mer_plain_pool_backward(MerTape *tape, const MerPooling *pooling, MerTensor *x, MerTensor *y,
                               void *kept);

#endif
