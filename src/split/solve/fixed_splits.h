/* Splits by a rule, without search: the mappings that a search is compared with. */
#ifndef MERCATOR_SPLIT_SOLVE_FIXED_SPLITS_H
#define MERCATOR_SPLIT_SOLVE_FIXED_SPLITS_H

#include "split/split_parts.h"

/* id, name, what it does */
#define MER_SPLIT_FIXED_MAP(X)                                                                     \
    X(ALL_8BIT, all_8bit, "every channel on the finest weights, the reference among equals")       \
    X(ALL_TERNARY, all_ternary, "every channel on the coarsest weights")                           \
    X(IO_8BIT, io_8bit, "first and last layer on the finest weights, the rest on the coarsest")    \
    X(LAYER_WISE, layer_wise, "each layer whole on its cheapest option")                           \
    X(HALF, half, "half of each layer on the reference, half on the best of the others")           \
    X(ALL_CONV, all_conv, "every layer computed as the network has it")                            \
    X(ALL_DEPTHWISE, all_depthwise, "depthwise wherever a unit can stand in")
typedef enum MerSplitFixed {
#define X(id, name, help) MER_SPLIT_FIXED_##id,
    MER_SPLIT_FIXED_MAP(X)
#undef X
        MER_SPLIT_FIXED_COUNT
} MerSplitFixed;

const char *mer_split_fixed_name(MerSplitFixed which);
/* MER_UNSUPPORTED: the rule means nothing on this platform. `metric`: what makes an option cheap. */
MerStatus mer_split_make_fixed(const MerSplit *split, const MerSplitRules *rules,
                               MerSplitFixed which, MerMetric metric, MerPlan *plan,
                               MerArena *arena, MerError *error);

#endif
