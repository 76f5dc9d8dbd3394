/* What solvers and evaluators may ask an opened `map` problem. */
#ifndef MERCATOR_MAP_MAP_H
#define MERCATOR_MAP_MAP_H

#include "map/nest/nest.h"

/* The space of loop nests with its constraints, or NULL if the problem makes other plans. */
const MerNestSpace *mer_map_nest_space(const MerProblem *problem);

#endif
