/* The best split of one layer, exactly: layers do not depend on each other, so that the best of each make the best of a network. */
#ifndef MERCATOR_SPLIT_SOLVE_LAYER_SPLIT_H
#define MERCATOR_SPLIT_SOLVE_LAYER_SPLIT_H

#include "split/split_parts.h"

/* What is minimised: a metric, and, times `price`, what the weights lose. */
typedef struct MerSplitAim {
    MerMetric metric; /* MER_METRIC_CYCLES, _LATENCY, _ENERGY or _DISTORTION */
    double    price;  /* of distortion, in units of the metric */
} MerSplitAim;

/* The least value into `counts`; ties go to more channels on the reference, then to earlier options. INFINITY: nothing fits into
 * memory. */
double mer_split_best_layer(const MerSplit *split, const MerSplitRules *rules, int layer,
                            const MerSplitAim *aim, int *counts, MerArena *scratch);
/* The value of one way to split it. INFINITY: it does not fit. */
double mer_split_layer_value(const MerSplit *split, const MerSplitRules *rules, int layer,
                             const MerSplitAim *aim, const int *counts, MerArena *scratch);

/* All layers at their best into `plan->counts`, and their sum (exact_split.c). */
double mer_split_best_network(const MerSplit *split, const MerSplitRules *rules,
                              const MerSplitAim *aim, MerSplitPlan *plan);

/* Changes counts until the weights of all layers fit at once (split_repair.c); false: no way was found. */
bool mer_split_repair(const MerSplit *split, const MerSplitRules *rules, const MerSplitAim *aim,
                      MerSplitPlan *plan);

#endif
