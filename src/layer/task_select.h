/* Which layers `--select` names. */
#ifndef MERCATOR_LAYER_TASK_SELECT_H
#define MERCATOR_LAYER_TASK_SELECT_H

#include "mercator/error.h"
#include "mercator/graph.h"

#include <stdbool.h>

/* Is layer `number` (from 1), called `name`, part of "1,3-5" or "conv1,fc"? All are of NULL and "". */
bool mer_task_is_selected(const char *select, int number, const char *name);

/* Every part must be a layer, or a range of layers of the graph, so that a typing error is no smaller run. */
MerStatus mer_task_select_check(const char *select, const MerGraph *graph, MerError *error);

#endif
