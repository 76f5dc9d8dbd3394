/* Kernels for the processor that runs us: float32 convolutions and matrix products of one image, as C
 * source made from a template and a few settings (docs/codesign-native.md). */
#ifndef MERCATOR_CODESIGN_NATIVE_KERNEL_H
#define MERCATOR_CODESIGN_NATIVE_KERNEL_H

#include "mercator/graph.h"
#include "mercator/plan.h"
#include "mercator/space.h"

#include <stddef.h>
#include <stdio.h>

/* A product of rows x ci with ci x co is a 1x1 convolution: its rows are columns of an image of one row. */
typedef struct MerKernelShape {
    int ci, co;
    int height, width; /* of the input, without padding */
    int rows, columns; /* of the output */
    int kernel[2], stride[2], dilation[2];
    int pad[4]; /* top, left, bottom, right */
} MerKernelShape;

/* Why an operator has no such kernel and stays on the host, NULL: it has. */
const char *mer_kernel_host_reason(const MerOp *op);
void        mer_kernel_shape_make(const MerOp *op, MerKernelShape *shape);

enum { MER_KERNEL_ORDERS = 6, MER_KERNEL_REGISTERS = 32, MER_KERNEL_FIELDS = 11 };

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
extern const MerPlanKind mer_plan_kernel;

/* The settings by name, in the order of knobs. Agent 0 owns what is like hardware, 1 the schedule, 2 tiles. */
typedef struct MerKernelField {
    const char *name;
    size_t      offset; /* of an int in MerKernel */
    MerRole     role;
    int         dim, agent;
} MerKernelField;
extern const MerKernelField mer_kernel_fields[MER_KERNEL_FIELDS];
int                        *mer_kernel_field(MerKernel *kernel, int field);

/* Letters of the loops, outermost first: "KCY". */
const char *mer_kernel_order(int order);
int         mer_kernel_order_find(const char *letters); /* -1: no such order */

/* What shape and settings make together. */
typedef struct MerKernelSizes {
    int     lanes;    /* channels of a block of the output */
    int     ci_lanes; /* of the input: fewer where it has fewer channels */
    int     ci_blocks, co_blocks;
    int     k_tiles, y_tiles;       /* register tiles */
    int     height, width;          /* of the input with its padding */
    int64_t input, weights, output; /* numbers in each packed array */
} MerKernelSizes;
void mer_kernel_sizes(const MerKernelShape *shape, const MerKernel *kernel, MerKernelSizes *sizes);

/* Cuts what is larger than the layer, so that settings that make the same code are equal. */
void mer_kernel_settle(const MerKernelShape *shape, MerKernel *kernel);

typedef struct MerKernelReason {
    char text[96];
} MerKernelReason;
/* Can the template make it? `reason` may be NULL. */
bool mer_kernel_check(const MerKernelShape *shape, const MerKernel *kernel,
                      MerKernelReason *reason);

/* Writes the kernel as one C file with external functions
 *     void NAME(const float *input, const float *weights, float *output);  packed arrays
 *     void NAME_pack_input(const float *image, float *packed);             from C, rows, columns
 *     void NAME_pack_weights(const float *filters, float *packed);         from K, C, R, S
 *     void NAME_unpack_output(const float *packed, float *image);          to K, rows, columns
 * Packed arrays start at multiples of 64 bytes. The settings must pass mer_kernel_check. */
void mer_kernel_emit(const MerKernelShape *shape, const MerKernel *kernel, const char *name,
                     FILE *file);

/* The plain convolution that kernels are held against: image (C, rows, columns), filters (K, C, R, S), result
 * (K, rows, columns). Small whole numbers make every sum exact in float32, whatever its order. */
void mer_kernel_reference(const MerKernelShape *shape, const float *image, const float *filters,
                          float *result);
void mer_kernel_fill(const MerKernelShape *shape, float *values, int64_t count, int salt);

/* The knobs of one layer. */
typedef struct MerKernelSpace {
    MerKernelShape shape;
    int            counts[MER_KERNEL_FIELDS];
    const double  *values[MER_KERNEL_FIELDS];
} MerKernelSpace;
void mer_kernel_space_open(MerKernelSpace *space, const MerOp *op, int vector_bits, int threads,
                           MerSpace *knobs, MerArena *arena);
void mer_kernel_decode(const MerKernelSpace *space, const MerIndex *point, MerKernel *kernel);
bool mer_kernel_encode(const MerKernelSpace *space, const MerKernel *kernel, MerIndex *point);
/* The widest vectors of the processor that runs us. */
int mer_kernel_host_bits(void);

#endif
