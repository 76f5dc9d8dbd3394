/* The network that evaluator `split_train` trained for a plan, for whoever deploys it. */
#ifndef MERCATOR_SPLIT_TRAIN_SPLIT_TRAIN_H
#define MERCATOR_SPLIT_TRAIN_SPLIT_TRAIN_H

#include "mercator/evaluator.h"
#include "split/train/train_net.h"

/* Folded and fine-tuned with the plan, the same bits as the evaluation of the plan had. It is trained again unless the last
 * evaluation was of this very assignment; `pool` (NULL: none) is for that. Belongs to the problem, until something else is trained.
 * Another evaluator is an error that says what to ask for instead. */
MerStatus mer_split_trained_net(const MerEvaluator *evaluator, const MerProblem *problem,
                                const MerPlan *plan, MerPool *pool, MerTrainNet **net,
                                MerError *error);

#endif
