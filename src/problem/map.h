/* What solvers and evaluators may ask an opened `map` problem. */
#ifndef MERCATOR_PROBLEM_MAP_H
#define MERCATOR_PROBLEM_MAP_H

#include "problem/map_nest.h"

/* The space of loop nests with its constraints, or NULL if the problem makes other plans. */
const MerNestSpace *mer_map_nest_space(const MerProblem *problem);

#endif
