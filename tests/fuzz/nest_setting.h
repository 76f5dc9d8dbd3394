/* The layer and the machine that the fuzzers of mappings and constraints speak of. */
#ifndef MERCATOR_TESTS_FUZZ_NEST_SETTING_H
#define MERCATOR_TESTS_FUZZ_NEST_SETTING_H

#include "mercator/graph.h"
#include "mercator/platform.h"

#include <stdlib.h>

static inline MerOp nest_setting_op(void)
{
    MerOp op = mer_op_make("layer", "fuzz", MER_OP_CONV);
    op.dims[MER_DIM_K] = 16;
    op.dims[MER_DIM_C] = 12;
    op.dims[MER_DIM_Y] = op.dims[MER_DIM_X] = 14;
    op.dims[MER_DIM_R] = op.dims[MER_DIM_S] = 3;
    return op;
}

static inline const MerPlatform *nest_setting_platform(MerArena *arena)
{
    static const char  text[] = "format: mercator-platform/1\nkind: pe-array\nname: fuzz\nunits: "
                                "[{name: MAC, mac_pj: 1}]\nmemories:\n"
                                "  - {name: DRAM, access_pj: 200}\n"
                                "  - {name: GLB, words: 65536, access_pj: 6, fanout: {x: 4, y: 4}}\n"
                                "  - {name: RF, words: 256, access_pj: 1}\n";
    const MerPlatform *platform = NULL;
    if (mer_platform_parse("setting", text, sizeof text - 1, arena, &platform, NULL) != MER_OK) {
        abort();
    }
    return platform;
}

#endif
