/* How parameters follow their gradients, and how the step width changes over time. */
#ifndef MERCATOR_TENSOR_UPDATER_H
#define MERCATOR_TENSOR_UPDATER_H

#include "tensor/tensor.h"

typedef enum MerRuleKind { MER_RULE_SGD, MER_RULE_ADAM } MerRuleKind;

typedef struct MerRule {
    MerRuleKind kind;
    double      momentum;     /* SGD: 0 = none */
    double      beta1, beta2; /* Adam's means */
    double      epsilon;      /* beside the root */
    double      weight_decay; /* added to the gradient; Adam: taken from the weight (AdamW) */
} MerRule;

MerRule mer_rule_sgd(double momentum, double weight_decay);
MerRule mer_rule_adam(double epsilon); /* betas 0.9 and 0.999 */

typedef struct MerUpdater MerUpdater;

/* Keeps `tape`, whose backend does the work, and `parameters`. What it remembers (momenta, step) are
 * parameters of their own, so that they can be saved beside. */
MerUpdater *mer_updater_new(MerTape *tape, MerParameters *parameters, const MerRule *rule);
void        mer_updater_free(MerUpdater *updater);              /* NULL is fine */
void        mer_updater_step(MerUpdater *updater, double rate); /* skips what no gradient reached */
MerParameters *mer_updater_memory(MerUpdater *updater);

/* The step width of step 0, 1, ... on its way from `first` to 0 over `total` steps, by a cosine
 * (Loshchilov and Hutter, ICLR 2017). */
double mer_rate_cosine(double first, int64_t total, int64_t step);

#endif
