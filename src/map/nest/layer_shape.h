/* A layer as loops and projections (docs/loopnest-model.md, "Tensors as projections"): which dims each
 * tensor uses, and how many words a tile of the loops touches. Everything about loop nests is derived from
 * here; nothing downstream knows what a convolution is. */
#ifndef MERCATOR_MAP_NEST_LAYER_SHAPE_H
#define MERCATOR_MAP_NEST_LAYER_SHAPE_H

#include "mercator/graph.h"

enum { MER_MAX_SLIDES = 2 };

/* A rank that is a sum of two dims: rows = 1 + stride*(y-1) + dilation*(r-1). */
typedef struct MerSlide {
    int dim[2], coefficient[2];
} MerSlide;

typedef struct MerTensorShape {
    unsigned relevant;    /* bit per dim that moves the tile of this tensor */
    unsigned plain;       /* bit per dim that is a rank of its own, ... */
    int      plain_count; /* ... and which they are */
    int      plain_dims[MER_DIM_COUNT];
    int      slide_count; /* ranks with two dims */
    MerSlide slides[MER_MAX_SLIDES];
    double   words;   /* of the whole tensor, ... */
    double   touched; /* ... and how many of them are used at least: strides can leave gaps */
} MerTensorShape;

typedef struct MerLayerShape {
    int            size[MER_DIM_COUNT];
    int            dim_count;           /* dims larger than 1 ... */
    int            dims[MER_DIM_COUNT]; /* ... and which they are */
    MerTensorShape tensors[MER_TENSOR_COUNT];
    unsigned       reduction; /* dims not relevant to O */
    double         macs;      /* of one run of the loops */
} MerLayerShape;

/* Rows of the rank under a tile with the given extents. */
static inline double mer_slide_height(const MerSlide *slide, const double tile[MER_DIM_COUNT])
{
    return 1 + slide->coefficient[0] * (tile[slide->dim[0]] - 1) +
           slide->coefficient[1] * (tile[slide->dim[1]] - 1);
}

MerStatus mer_layer_shape_make(const MerOp *op, MerLayerShape *shape, MerError *error);

/* Words of a tensor touched by a tile with the given extents. */
double mer_layer_footprint(const MerLayerShape *shape, int tensor,
                           const double tile[MER_DIM_COUNT]);
/* The same without the gaps that strides leave (in odd cases fewer): several children together need
 * hold no more. */
double mer_layer_touched(const MerLayerShape *shape, int tensor, const double tile[MER_DIM_COUNT]);

#endif
