/* Cycles of some channels of a layer on a unit, by the formula of its platform file (docs/channel-split.md, "Cost"). */
#ifndef MERCATOR_SPLIT_COST_SOC_FORMULA_H
#define MERCATOR_SPLIT_COST_SOC_FORMULA_H

#include "split/split.h"

typedef enum MerSocKind {
    MER_SOC_PE_ARRAY,
    MER_SOC_AIMC,
    MER_SOC_SIMD_MATMUL,
    MER_SOC_DW_ENGINE,
    MER_SOC_GAP8_DEPTHWISE,
    MER_SOC_GAP8_LINEAR,
    MER_SOC_MAC_RATE,
    MER_SOC_NE16,
    MER_SOC_TABLE,
    MER_SOC_KIND_COUNT
} MerSocKind;

enum { MER_SOC_MAX_UNROLL = 16 };

typedef struct MerSocTable MerSocTable;

/* A formula with its constants and the shape of a layer. */
typedef struct MerSocCost {
    MerSocKind       kind;
    MerSplitOperator type;
    double           c_in, c_out, groups;
    double           k_x, k_y, o_x, o_y; /* by the formula's x_axis */
    double           stride, repeat;
    double           bits;
    /* constants */
    double channels, columns, elements_per_cycle;                            /* pe-array */
    double rows, input_block, min_inputs, mvm_cycles, weight_cycles_per_row; /* aimc */
    double unroll[MER_SOC_MAX_UNROLL];
    int    unroll_count;
    double rate; /* mac-rate */
    bool
        is_ungated; /* simd-matmul: the input is arranged even for no channel at all (published form) */
    /* table: points of this shape, rising channels */
    int           point_count;
    const double *points; /* (points, 2): channels, cycles */
    bool          is_estimated;
} MerSocCost;

/* The formula of an operator: one that the unit names for it, else the unit's. */
MerSocKind mer_soc_kind(const MerFormula *formula, MerSplitOperator type);
/* How the unit of `option` computes the layer. MER_UNSUPPORTED: the formula does not take such a layer (groups on an analog array,
 * other filters on a depthwise engine). */
MerStatus mer_soc_cost_make(const MerPlatform *platform, const MerSplitLayer *layer,
                            const MerSplitOption *option, MerSocCost *cost, MerArena *arena,
                            MerError *error);
/* Any real number of channels >= 0: floors and gates as they stand in the formula. */
double mer_soc_cycles(const MerSocCost *cost, double channels);
/* Channels at which the cost jumps are multiples of this. */
int mer_soc_step(const MerSocCost *cost);
/* The slope that the published code gives the formula: 1 for each floor, and 1 / (g + 1) for a gate that 0 < channels < 1 leaves
 * closed, g being the gradient that arrives there when one cycle weighs `weight`. */
double mer_soc_published_slope(const MerSocCost *cost, double channels, double weight);

/* soc_table.c: the measured points of the layer's shape, or of the nearest one. */
MerStatus mer_soc_table_points(const MerFormula *formula, MerSocCost *cost, const char *unit,
                               MerArena *arena, MerError *error);
double    mer_soc_table_cycles(const MerSocCost *cost, double channels);

#endif
