/* Reward forms. */
#include "learn/reward.h"

#include "base/memory.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

MerReward mer_reward_make(MerRewardForm form, bool is_normalised)
{
    return (MerReward){.form = form, .is_normalised = is_normalised, .best = INFINITY};
}

/* The logarithm of a cost; scores of maximised metrics are negative, and larger is better there. */
static double log_cost(double score)
{
    return score > 0 ? log(score) : score < 0 ? -log(-score) : -700;
}

static void set_reference(MerReward *reward, const double *scores, int count)
{
    double *costs = mer_heap_zeroed((size_t)count + 1, sizeof *costs);
    int     feasible = 0;
    for (int i = 0; i < count; i++) {
        if (isfinite(scores[i])) {
            costs[feasible++] = log_cost(scores[i]);
        }
    }
    if (feasible > 0) {
        reward->reference = mer_median(costs, feasible);
        reward->has_reference = true;
    }
    free(costs);
}

static double raw_reward(const MerReward *reward, double score)
{
    switch (reward->form) {
    case MER_REWARD_LOG:
        return reward->reference - log_cost(score);
    case MER_REWARD_INVERSE:
        return score > 0 ? reward->best / score : score < 0 ? score / reward->best : 1;
    case MER_REWARD_ARCHGYM:
        return score != 0 ? 1 / score : -1;
    }
    return 0;
}

void mer_reward_batch(MerReward *reward, const double *scores, int count, double *rewards)
{
    if (!reward->has_reference) {
        set_reference(reward, scores, count);
    }
    for (int i = 0; i < count; i++) {
        reward->best = scores[i] < reward->best ? scores[i] : reward->best;
    }
    for (int i = 0; i < count; i++) {
        if (isfinite(scores[i])) {
            rewards[i] = raw_reward(reward, scores[i]);
            reward->worst =
                !reward->has_feasible || rewards[i] < reward->worst ? rewards[i] : reward->worst;
            reward->has_feasible = true;
            mer_running_add(&reward->seen, rewards[i]);
        }
    }
    double scale = reward->is_normalised ? 1 / mer_running_deviation(&reward->seen) : 1;
    for (int i = 0; i < count; i++) {
        double lost = reward->form == MER_REWARD_ARCHGYM ? -1 : scale * reward->worst - 1;
        rewards[i] = isfinite(scores[i]) ? scale * rewards[i] : lost;
    }
}
