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

#endif
