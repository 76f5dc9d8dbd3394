/* What the evaluators of splits share: the options of the cost models, and prices, hard and soft. */
#ifndef MERCATOR_SPLIT_COST_SOC_H
#define MERCATOR_SPLIT_COST_SOC_H

#include "base/option_rows.h"
#include "split/split_parts.h"

typedef struct MerSocOptions {
    int    memory, residency, scope, gradient;
    double smooth;
} MerSocOptions;

/* Rows of an option table whose `Options` has `MerSocOptions soc`. */
/* clang-format off */
#define MER_SOC_OPTIONS \
    MER_CHOICE_AT("memory", soc.memory, "off", "off|check|price", \
        "memory limits: not looked at, refused, or the cycles of further transfers added"), \
    MER_CHOICE_AT("residency", soc.residency, "layer", "layer|network", \
        "weights that a unit's memory must hold at once"), \
    MER_CHOICE_AT("scope", soc.scope, "all", "all|searchable", \
        "layers that are counted: all, or those that the search decides (tables of the paper)"), \
    MER_CHOICE_AT("gradient", soc.gradient, "exact", "exact|chord|expected|ste|score", \
        "how the cost is made differentiable in the channels; score: not at all, whoever searches draws channels"), \
    MER_REAL_AT("smooth", soc.smooth, "0.01", 1e-9, 1e9, \
        "temperature of the soft maximum over units, in cycles of the layer on the reference")
/* clang-format on */

MerSplitRules mer_soc_rules(const MerSocOptions *options);
/* Everything that `soc` says of a plan. */
void mer_soc_price(const MerSplit *split, const MerSplitRules *rules, const MerSplitPlan *plan,
                   MerCost *cost);
/* MerEvaluatorClass.unknown: without power there is no energy. */
uint64_t mer_soc_unknown(const MerSplit *split, const char **why);
/* MerEvaluatorClass.expected: 1 for everything on the reference. */
MerTensor *mer_soc_expected(const MerSplit *split, const MerSplitRules *rules, MerTape *tape,
                            MerTensor *const *choice, MerMetric metric);

#endif
