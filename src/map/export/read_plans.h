/* What the plan readers of `map` share. */
#ifndef MERCATOR_MAP_EXPORT_READ_PLANS_H
#define MERCATOR_MAP_EXPORT_READ_PLANS_H

#include "mercator/export.h"

/* One task per operator, without plans yet. */
void mer_read_plans_of_graph(MerReadPlans *plans, const MerGraph *graph);

#endif
