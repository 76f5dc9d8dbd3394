/* Prices one plan as its evaluator wants it: here, or, where it measures, in a child process. */
#ifndef MERCATOR_RUN_SEARCH_MEASURE_H
#define MERCATOR_RUN_SEARCH_MEASURE_H

#include "mercator/evaluator.h"

/* A child that crashes, or takes longer than the evaluator allows, gives an infeasible cost with the class
 * `crash` or `timeout`. When call->notes is cancelled the child is ended and the cost means nothing. */
void mer_price_plan(const MerEvaluator *evaluator, const MerPlan *plan, const MerCall *call,
                    MerCost *cost);

#endif
