/* What the report shows of a split. */
#ifndef MERCATOR_SPLIT_COST_SOC_VIEWS_H
#define MERCATOR_SPLIT_COST_SOC_VIEWS_H

#include "split/split_parts.h"

#include "mercator/notes.h"

void mer_split_show(const MerSplit *split, const MerSplitRules *rules, const MerSplitPlan *plan,
                    MerNotes *notes);

#endif
