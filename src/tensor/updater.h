/* How parameters follow their gradients, and how the step width changes over time. */
#ifndef MERCATOR_TENSOR_UPDATER_H
#define MERCATOR_TENSOR_UPDATER_H

#include "tensor/tensor.h"

typedef enum MerRuleKind { MER_RULE_SGD, MER_RULE_ADAM, MER_RULE_RMSPROP } MerRuleKind;

typedef struct MerRule {
    MerRuleKind kind;
    double      momentum;     /* SGD, RMSProp: 0 = none */
    double      beta1, beta2; /* Adam's means; RMSProp's mean of squares is beta2 */
    double      epsilon;      /* beside the root */
    double      weight_decay; /* added to the gradient; Adam: taken from the weight (AdamW) */
    bool        is_nesterov;  /* SGD */
} MerRule;

MerRule mer_rule_sgd(double momentum, double weight_decay);
MerRule mer_rule_adam(double epsilon); /* betas 0.9 and 0.999 */
MerRule mer_rule_rmsprop(double decay, double epsilon);

typedef struct MerUpdater MerUpdater;

/* Keeps `tape`, whose backend does the work, and `parameters`. What it remembers (momenta, step) are
 * parameters of their own, so that they can be saved beside. */
MerUpdater *mer_updater_new(MerTape *tape, MerParameters *parameters, const MerRule *rule);
void        mer_updater_free(MerUpdater *updater);              /* NULL is fine */
void        mer_updater_step(MerUpdater *updater, double rate); /* skips what no gradient reached */
MerParameters *mer_updater_memory(MerUpdater *updater);

/* Step widths over `total` steps, for step 0, 1, ...; a warm-up rises linearly from 0 first. */
typedef enum MerRateKind {
    MER_RATE_CONSTANT,
    MER_RATE_COSINE,
    MER_RATE_LINEAR,
    MER_RATE_STEPS
} MerRateKind;

typedef struct MerRate {
    MerRateKind kind;
    double      first, last; /* cosine, linear: from, to */
    int64_t     total, warm_up;
    int64_t     period; /* steps: times `factor` after every `period` */
    double      factor;
} MerRate;

double mer_rate_at(const MerRate *rate, int64_t step);

#endif
