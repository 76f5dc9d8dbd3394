/* The nine reference layers on the s256 platform (docs/loopnest-model.md, "Reference figures"). */
#ifndef MERCATOR_TESTS_S256_H
#define MERCATOR_TESTS_S256_H

#include "mercator/graph.h"
#include "mercator/platform.h"

typedef struct S256Layer {
    const char *name;
    int         k, c, r, s, y, x, stride;
    /* bounds */
    double macs, traffic, reads, reductions, cycles, energy, edp;
    /* EDP of the restricted and of the free annealing, and their nests */
    double      restricted_edp, free_edp;
    const char *restricted, *free;
} S256Layer;

static const S256Layer s256_layers[] = {
    {"r50_conv1", 64, 3, 7, 7, 112, 112, 2, 118013952, 969547, 166731, 147, 460992, 6.7295e8,
     3.10224e14, 3.7349e14, 3.70027e14,
     "DRAM: P2 Q14 | GLB: Q2 C3 R7 | X: M16 Y: P8 Q2 | RF: M4 S7 P7 Q2",
     "DRAM: P28 | GLB: C3 R7 | X: M4 Q4 Y: M4 P2 Q2 | RF: M4 S7 P2 Q14"},
    {"r50_c2_3x3", 64, 64, 3, 3, 56, 56, 1, 115605504, 452864, 252160, 192, 451584, 6.34547e8,
     2.86551e14, 3.0572e14, 2.9935e14,
     "DRAM: Q2 P14 | GLB: Q28 | X: C16 Y: M16 | RF: C4 M4 R3 S3 P4",
     "DRAM: P28 | GLB: Q28 | X: C8 M2 Y: C8 M2 | RF: M16 R3 S3 P2 Q2"},
    {"r50_c2_1x1", 256, 64, 1, 1, 56, 56, 1, 51380224, 1019904, 217088, 64, 200704, 4.17141e8,
     8.37218e13, 9.1741e13, 8.38427e13, "DRAM: P4 Q56 | GLB: P7 | X: C16 Y: M8 P2 | RF: C4 M32",
     "DRAM: Q2 P14 | GLB: Q14 P4 | X: C8 M2 Y: C8 M2 | RF: M64 Q2"},
    {"r50_c3_3x3", 128, 128, 3, 3, 28, 28, 1, 115605504, 478208, 363008, 192, 451584, 6.59812e8,
     2.9796e14, 3.189e14, 3.18897e14,
     "DRAM: M2 C16 | GLB: M16 | X: M4 Q4 Y: C4 P4 | RF: C2 R3 S3 P7 Q7",
     "DRAM: M2 C16 | GLB: M16 | X: C2 M4 Q2 Y: C2 P4 Q2 | RF: C2 R3 S3 P7 Q7"},
    {"r50_c4_3x3", 256, 256, 3, 3, 14, 14, 1, 115605504, 705536, 655360, 256, 451584, 7.1511e8,
     3.22932e14, 3.4293e14, 3.35362e14,
     "DRAM: M2 C16 | GLB: Q14 | X: C8 P2 Y: M16 | RF: C2 M8 R3 S3 P7",
     "DRAM: C128 | GLB: R3 C2 S3 | X: M8 P2 Y: M8 Q2 | RF: M4 P7 Q7"},
    {"r50_c5_3x3", 512, 512, 3, 3, 7, 7, 1, 115605504, 2425856, 2400768, 256, 451584, 1.08814e9,
     4.91385e14, 5.0849e14, 4.91385e14, "DRAM: M2 C32 | GLB: M16 | X: C16 Y: M16 | RF: R3 S3 P7 Q7",
     "DRAM: M256 | GLB: M2 | X: C16 Y: C16 | RF: C2 R3 S3 P7 Q7"},
    {"r50_c5_1x1", 2048, 512, 1, 1, 7, 7, 1, 51380224, 1174016, 1073664, 256, 200704, 4.80574e8,
     9.64531e13, 1.048e14, 9.64531e13, "DRAM: M32 | GLB: C32 | X: M16 Y: C16 | RF: M4 P7 Q7",
     "DRAM: M128 | GLB: M16 | X: C16 Y: C16 | RF: C2 P7 Q7"},
    {"gemm_bert_qkv", 768, 768, 1, 1, 512, 1, 1, 301989888, 3145728, 2752512, 256, 1179648,
     2.07657e9, 2.44963e15, 2.6166e15, 2.61661e15,
     "DRAM: P2 M4 C24 | GLB: C16 | X: P16 Y: M16 | RF: C2 M12 P16",
     "DRAM: M4 P2 C48 | GLB: C8 | X: M4 P4 Y: M4 P4 | RF: C2 M12 P16"},
    {"r50_fc", 1000, 2048, 1, 1, 1, 1, 1, 2048000, 2051048, 2050048, 256, 128128, 4.4685e8,
     5.7254e13, 5.7287e13, 5.7254e13, "DRAM: C64 | GLB: C2 | X: M8 Y: C16 | RF: M125",
     "DRAM: M250 | GLB: M2 | X: C16 Y: C16 | RF: C8 M2"},
};

enum { S256_LAYER_COUNT = sizeof s256_layers / sizeof s256_layers[0] };

static inline MerOp s256_op(const S256Layer *layer)
{
    MerOp op = mer_op_make(layer->name, "test", MER_OP_CONV);
    op.dims[MER_DIM_K] = layer->k;
    op.dims[MER_DIM_C] = layer->c;
    op.dims[MER_DIM_R] = layer->r;
    op.dims[MER_DIM_S] = layer->s;
    op.dims[MER_DIM_Y] = layer->y;
    op.dims[MER_DIM_X] = layer->x;
    op.stride[0] = op.stride[1] = layer->stride;
    op.macs = (int64_t)layer->macs;
    return op;
}

#endif
