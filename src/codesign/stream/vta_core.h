/* A VTA-class core: one GEMM unit of batch x block_in x block_out multipliers, a vector ALU, explicit
 * SRAMs and three stages (load, compute, store) that signal each other by tokens
 * (docs/codesign-model.md, "Core"). */
#ifndef MERCATOR_CODESIGN_VTA_CORE_H
#define MERCATOR_CODESIGN_VTA_CORE_H

#include "mercator/graph.h"
#include "mercator/platform.h"

/* SRAMs by their number in instructions; OUT has the depth of ACC. */
typedef enum MerVtaMemory {
    MER_VTA_UOP,
    MER_VTA_WGT,
    MER_VTA_INP,
    MER_VTA_ACC,
    MER_VTA_OUT,
    MER_VTA_ACC8, /* 8-bit data of DRAM into ACC */
    MER_VTA_MEMORY_COUNT
} MerVtaMemory;
const char *mer_vta_memory_name(MerVtaMemory memory);

typedef struct MerVtaCore {
    int     batch, block_in, block_out;
    int64_t bytes[MER_VTA_MEMORY_COUNT];      /* of the whole SRAM */
    int     element[MER_VTA_MEMORY_COUNT];    /* bytes of one entry */
    int     depth[MER_VTA_MEMORY_COUNT];      /* entries */
    int     depth_bits[MER_VTA_MEMORY_COUNT]; /* log2 of them */
} MerVtaCore;

/* What a reason is written into; NULL: nobody reads it. */
typedef struct MerVtaReason {
    char text[120];
} MerVtaReason;
/* Writes the reason and returns false. */
bool mer_vta_refuse(MerVtaReason *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fills what follows from geometry and bytes. */
void mer_vta_core_make(MerVtaCore *core, int batch, int block_in, int block_out, int64_t uop,
                       int64_t inp, int64_t wgt, int64_t acc);
/* The core of a platform of kind vta. */
void mer_vta_core_of(const MerPlatform *platform, MerVtaCore *core);
/* Another geometry with the depths of `core`; while its bytes exceed `sram_bytes` the largest SRAM is
 * halved (ACC counts with OUT; of equals WGT, ACC, INP). */
void    mer_vta_core_follow(const MerVtaCore *core, int batch, int block_in, int block_out,
                            int64_t sram_bytes, MerVtaCore *other);
bool    mer_vta_core_equal(const MerVtaCore *a, const MerVtaCore *b);
int64_t mer_vta_core_bytes(const MerVtaCore *core);
int64_t mer_vta_core_macs(const MerVtaCore *core);
/* Can such a core be built, and do its indices fit the instruction words? */
bool mer_vta_core_check(const MerVtaCore *core, MerVtaReason *reason);

/* A layer as a core sees it: channels in blocks, rows of a product as image rows, groups one after the
 * other (docs/codesign-model.md, "Layers"). */
typedef struct MerVtaShape {
    int     batches;       /* blocks of images */
    int     groups;        /* independent products: groups, heads, diagonal blocks */
    int     ci, co;        /* blocks of channels of one group */
    int     height, width; /* of the input */
    int     rows, columns; /* of the output */
    int     kernel[2], stride[2], dilation[2];
    int     pad[4]; /* top, left, bottom, right */
    int64_t repeat; /* streams one after the other */
} MerVtaShape;

/* NULL, or why this operator stays on the host. */
const char *mer_vta_host_reason(const MerOp *op);
/* `images` at a time; `op` has no host reason. */
void mer_vta_shape_make(const MerOp *op, int64_t images, const MerVtaCore *core,
                        MerVtaShape *shape);
/* Does the layer multiply a matrix by rows (tile_w and, with one row, tile_h have one choice)? */
bool mer_vta_is_dense(const MerOp *op);

typedef struct MerVtaSchedule {
    int tile_h, tile_w, tile_ci, tile_co; /* rows, columns, blocks of input and output channels */
    int h_threads, oc_threads;
} MerVtaSchedule;

typedef struct MerVtaRules {
    bool has_bias; /* LOAD ACC and ADD after the shift */
    bool is_tvm;   /* only what one 2-D transfer per tile can do */
} MerVtaRules;

enum { MER_VTA_MOST_PAD = 15 }; /* of one side, in one instruction */

/* Input that `count` outputs in a row read, padding included: along axis 0 rows, 1 columns. */
static inline int mer_vta_reach(const MerVtaShape *shape, int axis, int count)
{
    return (count - 1) * shape->stride[axis] + (shape->kernel[axis] - 1) * shape->dilation[axis] +
           1;
}

static inline int mer_vta_tile_rows(const MerVtaShape *shape, const MerVtaSchedule *schedule)
{
    return mer_vta_reach(shape, 0, schedule->tile_h);
}

static inline int mer_vta_tile_columns(const MerVtaShape *shape, const MerVtaSchedule *schedule)
{
    return mer_vta_reach(shape, 1, schedule->tile_w);
}

/* The loops of one GEMM instruction, outermost first: extents, and what an iteration adds to the
 * indices. The two outermost with more than one iteration are the instruction's, the others become
 * micro-ops. */
enum { MER_VTA_LOOPS = 6 };
typedef struct MerVtaKernel {
    int extent[MER_VTA_LOOPS], acc[MER_VTA_LOOPS], inp[MER_VTA_LOOPS], wgt[MER_VTA_LOOPS];
    int outer, inner; /* loops of the instruction, -1: none */
    int uops;
} MerVtaKernel;
/* false: neither order of the loops keeps three writes of one accumulator apart. */
bool mer_vta_kernel_make(const MerVtaShape *shape, const MerVtaSchedule *schedule,
                         MerVtaKernel *kernel, MerVtaReason *reason);

/* Every rule of the hardware on a schedule, without making its instructions. */
bool mer_vta_check(const MerVtaCore *core, const MerVtaShape *shape, const MerVtaSchedule *schedule,
                   const MerVtaRules *rules, MerVtaReason *reason);

#endif
