/* What the report shows of a split. */
#ifndef MERCATOR_SPLIT_COST_SOC_VIEWS_H
#define MERCATOR_SPLIT_COST_SOC_VIEWS_H

#include "split/split_parts.h"

#include "mercator/notes.h"

/* `rules` NULL: another model prices, and only the channels are shown. */
void mer_split_show(const MerSplit *split, const MerSplitRules *rules, const MerSplitPlan *plan,
                    MerNotes *notes);

#endif
