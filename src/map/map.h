/* What solvers and evaluators may ask an opened `map` problem. */
#ifndef MERCATOR_MAP_MAP_H
#define MERCATOR_MAP_MAP_H

#include "map/nest/nest.h"

/* The space of loop nests with its constraints, or NULL if the problem makes other plans. */
const MerNestSpace *mer_map_nest_space(const MerProblem *problem);
/* May the loops of a nest run past the layer (factors=padded)? */
bool mer_map_is_padded(const MerProblem *problem);

/* The rules of evaluators for which the bounds of `map` hold (MerEvaluatorClass.rules). */
extern const char mer_map_rules[];

/* The bound of a metric from what cycles and energy are at least; kind "none" where it is not known. */
MerBound mer_map_bound(MerMetric metric, double cycles, double energy, double macs,
                       double clock_hz);
/* The metrics that follow from cycles and energy. */
void mer_map_fill_costs(double cycles, double energy, double macs, double peak_macs,
                        double clock_hz, MerCost *cost);

#endif
