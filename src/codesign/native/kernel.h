/* Kernels for the processor that runs us: float32 convolutions and matrix products of one image, as C
 * source made from a template and a few settings (docs/codesign-native.md). */
#ifndef MERCATOR_CODESIGN_NATIVE_KERNEL_H
#define MERCATOR_CODESIGN_NATIVE_KERNEL_H

#include "mercator/graph.h"

#include <stdio.h>

/* A product of `rows` x `ci` with `ci` x `co` is a 1x1 convolution with that many columns. */
typedef struct MerKernelShape {
    int ci, co;
    int height, width; /* of the input, without padding */
    int rows, columns; /* of the output */
    int kernel[2], stride[2], dilation[2];
    int pad[4]; /* top, left, bottom, right */
} MerKernelShape;

/* Why an operator has no such kernel, NULL: it has. */
const char *mer_kernel_host_reason(const MerOp *op);
void        mer_kernel_shape_make(const MerOp *op, MerKernelShape *shape);

enum { MER_KERNEL_ORDERS = 6, MER_KERNEL_REGISTERS = 32 };

typedef struct MerKernel { /* the settings: content of a plan of kind `kernel` */
    int vector_bits;       /* of a vector of output channels */
    int threads;           /* that share the output channels */
    int order;             /* of the loops over cache tiles, see mer_kernel_order */
    int unroll;            /* input channels per step of the inner loop; divides a block of them */
    int unroll_columns;    /* 1: the loop over columns of the filter is unrolled too */
    /* the tile that stays in registers: vectors of output channels, rows, columns */
    int tile_k, tile_y, tile_x;
    /* cache tiles: register tiles of output channels, of rows; blocks of input channels */
    int cache_k, cache_y, cache_c;
} MerKernel;

/* Letters of the loops, outermost first: "KCY". */
const char *mer_kernel_order(int order);

/* What shape and settings make together. */
typedef struct MerKernelSizes {
    int     lanes;          /* channels of a block of the output */
    int     ci_lanes;       /* of the input: fewer where it has fewer channels */
    int     ci_blocks, co_blocks;
    int     height, width;  /* of the input with its padding */
    int64_t input, weights, output; /* numbers in each packed array */
} MerKernelSizes;
void mer_kernel_sizes(const MerKernelShape *shape, const MerKernel *kernel, MerKernelSizes *sizes);

/* Writes the kernel as one C file with external functions
 *     void NAME(const float *input, const float *weights, float *output);      packed arrays
 *     void NAME_pack_input(const float *image, float *packed);                 from C, rows, columns
 *     void NAME_pack_weights(const float *filters, float *packed);             from K, C, R, S
 *     void NAME_unpack_output(const float *packed, float *image);              to K, rows, columns
 * Packed arrays start at multiples of 64 bytes. */
void mer_kernel_emit(const MerKernelShape *shape, const MerKernel *kernel, const char *name,
                     FILE *file);

#endif
