/* The best of all points where they are few. */
#ifndef MERCATOR_PLACE_SOLVE_ENUMERATION_H
#define MERCATOR_PLACE_SOLVE_ENUMERATION_H

#include "place/solve/point_annealing.h"

/* The first of the best points, and its score. false: points times operators are more than `most`, prices are noisy, nothing is legal, or it was stopped. The
 * arena of the pricer is not used. */
bool mer_place_enumerate(const MerPointPricer *pricer, int64_t most, MerIndex *best, double *score);

#endif
