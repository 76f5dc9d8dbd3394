/* SGD with momentum and Adam on some of a parameter's numbers, and clipping. */
#include "tensor/plain_inside.h"
#include "tensor/vector_math.h"

#include <math.h>

/* Sutskever et al., ICML 2013, in the form v = m v + g, w -= rate v. */
MER_BODY step_sgd_body(void *context, int64_t first, int64_t end)
{
    const MerUpdate *op = context;
    const MerRule   *rule = op->rule;
    float            momentum = (float)rule->momentum, decay = (float)rule->weight_decay;
    float            rate = (float)op->rate;
    float *restrict w = op->w;
    float *restrict v = op->first;
    const float *restrict grad = op->grad;
    for (int64_t i = first; i < end; i++) {
        float g = grad[i] + decay * w[i];
        if (v != NULL) {
            v[i] = momentum * v[i] + g;
            g = v[i];
        }
        w[i] -= rate * g;
    }
}
MER_WIDE(step_sgd, (void *context, int64_t first, int64_t end), (context, first, end))

/* Kingma and Ba, ICLR 2015; the decay is decoupled (Loshchilov and Hutter, ICLR 2019). */
MER_BODY step_adam_body(void *context, int64_t first, int64_t end)
{
    const MerUpdate *op = context;
    const MerRule   *rule = op->rule;
    float beta1 = (float)rule->beta1, beta2 = (float)rule->beta2, epsilon = (float)rule->epsilon;
    float whole1 = (float)(1 / (1 - pow(rule->beta1, op->step)));
    float whole2 = (float)(1 / (1 - pow(rule->beta2, op->step)));
    float keep = (float)(1 - op->rate * rule->weight_decay), width = (float)op->rate * whole1;
    float *restrict w = op->w;
    float *restrict m = op->first;
    float *restrict v = op->second;
    const float *restrict grad = op->grad;
    for (int64_t i = first; i < end; i++) {
        m[i] = beta1 * m[i] + (1 - beta1) * grad[i];
        v[i] = beta2 * v[i] + (1 - beta2) * grad[i] * grad[i];
        w[i] = keep * w[i] - width * m[i] / (sqrtf(v[i] * whole2) + epsilon);
    }
}
MER_WIDE(step_adam, (void *context, int64_t first, int64_t end), (context, first, end))

void mer_plain_update(MerTape *tape, const MerUpdate *op)
{
    mer_tape_split(tape, op->count, MER_GRAIN,
                   op->rule->kind == MER_RULE_SGD ? step_sgd : step_adam, (void *)op);
}

double mer_plain_clip(MerTape *tape, MerParameters *parameters, double limit)
{
    (void)tape;
    double square = 0;
    for (int i = 0; i < mer_parameters_count(parameters); i++) {
        const MerTensor *tensor = mer_parameters_get(parameters, i);
        for (int64_t j = 0; tensor->has_grad && j < tensor->size; j++) {
            square += (double)tensor->grad[j] * tensor->grad[j];
        }
    }
    double norm = sqrt(square);
    float  scale = norm > limit ? (float)(limit / norm) : 1;
    for (int i = 0; i < mer_parameters_count(parameters) && scale < 1; i++) {
        MerTensor *tensor = mer_parameters_get(parameters, i);
        for (int64_t j = 0; tensor->has_grad && j < tensor->size; j++) {
            tensor->grad[j] *= scale;
        }
    }
    return norm;
}
