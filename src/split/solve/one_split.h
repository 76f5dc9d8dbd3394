/* Solvers that propose one plan and are done. */
#ifndef MERCATOR_SPLIT_SOLVE_ONE_SPLIT_H
#define MERCATOR_SPLIT_SOLVE_ONE_SPLIT_H

#include "mercator/evaluator.h"
#include "split/split_parts.h"

typedef struct MerOneSplit { /* the state of such a solver */
    const MerSplit      *split;
    const MerSplitRules *rules;
    MerMetric            objective;
    MerIndex            *point;
    int                  knob_count;
    bool                 is_done, is_proven;
    double               value; /* that is proven, in units of the objective */
} MerOneSplit;

/* Refuses fixed knobs and, if it `needs_prices`, evaluators that price in another way than `soc`. `name`: of the solver. */
MerStatus mer_one_split_open(MerOneSplit *one, const MerSearch *search, const MerProblem *problem,
                             const MerEvaluator *evaluator, const char *name, bool needs_prices,
                             MerError *error);
/* The plan to propose. */
MerStatus mer_one_split_take(MerOneSplit *one, const MerPlan *plan, MerError *error);

/* Slots of the class. */
int  mer_one_split_ask(void *state, MerProposal *proposals, int capacity);
void mer_one_split_tell(void *state, const MerTrial *trials, int count);
bool mer_one_split_proof(const void *state, MerBound *bound);

#endif
