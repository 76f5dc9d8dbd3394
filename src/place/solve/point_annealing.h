/* Annealing of points by an evaluator: where no table tells what a move costs (docs/placement.md, "Annealing by the evaluator"). Besides
 * units it changes whatever else the space decides: priorities, fusion, replicas. */
#ifndef MERCATOR_PLACE_SOLVE_POINT_ANNEALING_H
#define MERCATOR_PLACE_SOLVE_POINT_ANNEALING_H

#include "mercator/evaluator.h"
#include "place/solve/load_levels.h"

/* Prices points as a run would, one at a time; each thread has its own. */
typedef struct MerPointPricer {
    const MerProblem   *problem;
    const MerEvaluator *evaluator;
    const MerSearch    *search;
    MerArena           *arena; /* of plans and of the evaluator, reset after each */
} MerPointPricer;

/* `limit`: a score above which the exact value does not matter. */
MerPlaceValue mer_point_price(const MerPointPricer *pricer, const MerIndex *point, double limit);

typedef struct MerPointAnnealing {
    MerPointPricer       pricer;
    const MerLoadLevels *levels; /* parts that move together */
    int64_t              evaluations;
    double               hot, cold; /* temperatures, as parts of the start's score */
    unsigned             kept;      /* bits of roles whose knobs stay as they are */
} MerPointAnnealing;

/* `point` becomes the best one met, `value` is its price; gives the evaluations. */
int64_t mer_point_anneal(const MerPointAnnealing *annealing, MerRng *rng, MerIndex *point,
                         MerPlaceValue *value);

#endif
