/* The evaluator `datacentric` beyond its plug-in slots: the full report of one plan. */
#ifndef MERCATOR_MAP_COST_DATACENTRIC_H
#define MERCATOR_MAP_COST_DATACENTRIC_H

#include "layer/datacentric_plan.h"
#include "mercator/evaluator.h"

extern const MerEvaluatorClass mer_evaluator_datacentric;

/* Every count of `plan` with the names of MAESTRO's report. `state` is that of the evaluator. */
void mer_datacentric_report(const void *state, const MerDirectivePlan *plan,
                            MerDatacentricResult *result);

#endif
