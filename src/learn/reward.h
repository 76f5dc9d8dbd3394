/* Rewards from scores that are minimised (+inf: infeasible; negative where a metric is
 * maximised). */
#ifndef MERCATOR_LEARN_REWARD_H
#define MERCATOR_LEARN_REWARD_H

#include "learn/returns.h"

#include <stdbool.h>

typedef enum MerRewardForm {
    MER_REWARD_LOG,     /* log(reference / score), the reference being the first scores' median */
    MER_REWARD_INVERSE, /* best so far / score */
    MER_REWARD_ARCHGYM  /* 1 / score as it is, -1 if infeasible */
} MerRewardForm;
#define MER_REWARD_CHOICES "log|inverse|archgym"

typedef struct MerReward {
    MerRewardForm form;
    bool          is_normalised; /* divided by the deviation of all feasible rewards so far */
    bool          has_reference;
    double        reference;   /* log */
    double        best, worst; /* best score, worst feasible reward so far */
    bool          has_feasible;
    MerRunning    seen;
} MerReward;

MerReward mer_reward_make(MerRewardForm form, bool is_normalised);
/* Takes in a batch of scores and gives their rewards. An infeasible one lies 1 below the worst
 * feasible reward so far (log, inverse). */
void mer_reward_batch(MerReward *reward, const double *scores, int count, double *rewards);

#endif
