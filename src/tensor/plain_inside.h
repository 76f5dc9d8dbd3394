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

/* A box of numbers that two sides walk with steps of their own, run by run along its last axis. Begins
 * zeroed. */
typedef struct MerWalk {
    int     index[MER_TENSOR_RANK];
    int64_t offset[2]; /* of the run, on both sides */
} MerWalk;
bool mer_walk_next(MerWalk *walk, const int size[MER_TENSOR_RANK],
                   const int64_t step[2][MER_TENSOR_RANK]); /* false: it was the last */

/* Slots of MerBackend. */
MerPointwiseKernel   mer_plain_pointwise, mer_plain_pointwise_backward;
MerPairKernel        mer_plain_pair, mer_plain_pair_backward;
MerReductionKernel   mer_plain_reduce, mer_plain_reduce_backward;
MerRowsKernel        mer_plain_rows, mer_plain_rows_backward;
MerAdditiveKernel    mer_plain_additive, mer_plain_additive_backward;
MerLookupKernel      mer_plain_lookup, mer_plain_lookup_backward;
MerMoveKernel        mer_plain_move;
MerMixtureKernel     mer_plain_mixture, mer_plain_mixture_backward;
void                 mer_plain_staircase(MerTape *tape, const MerStaircase *op);
double               mer_plain_staircase_backward(MerTape *tape, const MerStaircase *op);
MerUpdateKernel      mer_plain_update;
MerBatchNormKernel   mer_plain_batch_norm, mer_plain_batch_norm_backward;
MerConvolutionKernel mer_plain_conv, mer_plain_conv_backward;
double               mer_plain_loss(MerTape *tape, const MerLoss *op);
double               mer_plain_clip(MerTape *tape, MerParameters *parameters, double limit);
void *mer_plain_pool(MerTape *tape, const MerPooling *pooling, MerTensor *x, MerTensor *y);
void  mer_plain_pool_backward(MerTape *tape, const MerPooling *pooling, MerTensor *x, MerTensor *y,
                              void *kept);

#endif
