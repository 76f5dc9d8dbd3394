/* Layers, cores and references for tests of the codesign wing. */
#ifndef MERCATOR_TESTS_VTA_SUPPORT_H
#define MERCATOR_TESTS_VTA_SUPPORT_H

#include "codesign/cost/timing.h"
#include "one_arena.h"

/* A convolution with equal sides, kernel and padding. */
static inline MerOp vta_conv(int size, int ci, int co, int kernel, int stride, int pad)
{
    MerOp op = mer_op_make("conv", "Conv", MER_OP_CONV);
    int   out = (size + 2 * pad - kernel) / stride + 1;
    op.dims[MER_DIM_C] = ci;
    op.dims[MER_DIM_K] = co;
    op.dims[MER_DIM_R] = op.dims[MER_DIM_S] = kernel;
    op.dims[MER_DIM_Y] = op.dims[MER_DIM_X] = out;
    op.input_rows = op.input_columns = size;
    op.stride[0] = op.stride[1] = stride;
    for (int p = 0; p < 4; p++) {
        op.pad[p] = pad;
    }
    return op;
}

static inline const MerPlatform *vta_platform(const char *name)
{
    const MerPlatform *platform;
    MerError           error = {0};
    if (mer_platform_read(name, arena, &platform, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return platform;
}

static inline MerVtaTask vta_task(const MerPlatform *platform, const MerOp *op, int images)
{
    MerVtaTask task = {0};
    mer_vta_core_of(platform, &task.core);
    mer_vta_shape_make(op, images, &task.core, &task.shape);
    return task;
}

#endif
