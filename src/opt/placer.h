/* What the policies that place sets one after another share: rollouts, rewards and updates behind ask and tell. */
#ifndef MERCATOR_OPT_PLACER_H
#define MERCATOR_OPT_PLACER_H

#include "mercator/search.h"
#include "opt/placer_loads.h"
#include "opt/placer_net.h"
#include "tensor/updater.h"

typedef struct MerPlacerOptions {
    int64_t samples, hidden, embedding, scorer, valid_only_after, greedy_every, epochs, elite;
    double  rate, rate_end, baseline_decay, failing_signal, grad_norm, temperature, tanh_constant, entropy, clip, explore, imitate;
    int     features, reward;
    bool    standardise, starts_failing, both_ways;
} MerPlacerOptions;

#endif
