/* SGD with momentum, Adam and RMSProp. */
#include "tensor/updater.h"

#include "base/memory.h"
#include "tensor/vector_math.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct MerUpdater {
    MerRule        rule;
    MerParameters *parameters, *memory;
    MerTensor     *steps;        /* one number for each parameter */
    MerTensor **first, **second; /* means of gradients and of their squares; NULL where not used */
};

MerRule mer_rule_sgd(double momentum, double weight_decay)
{
    return (MerRule){.kind = MER_RULE_SGD, .momentum = momentum, .weight_decay = weight_decay};
}

MerRule mer_rule_adam(double epsilon)
{
    return (MerRule){.kind = MER_RULE_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = epsilon};
}

MerRule mer_rule_rmsprop(double decay, double epsilon)
{
    return (MerRule){.kind = MER_RULE_RMSPROP, .beta2 = decay, .epsilon = epsilon};
}

static MerTensor *remember(MerUpdater *updater, int index, const char *what)
{
    const MerTensor *tensor = mer_parameters_get(updater->parameters, index);
    char             name[32];
    snprintf(name, sizeof name, "%s.%d", what, index);
    return mer_parameters_add_constant(updater->memory, name, tensor->rank, tensor->shape);
}

MerUpdater *mer_updater_new(MerParameters *parameters, const MerRule *rule)
{
    MerUpdater *updater = mer_heap_zeroed(1, sizeof *updater);
    int         count = mer_parameters_count(parameters);
    bool        has_first = rule->kind == MER_RULE_ADAM || rule->momentum > 0;
    bool        has_second = rule->kind != MER_RULE_SGD;
    updater->rule = *rule;
    updater->parameters = parameters;
    updater->memory = mer_parameters_new();
    updater->steps = mer_parameters_add_constant(updater->memory, "steps", 1, &count);
    updater->first = mer_heap_zeroed((size_t)count + 1, sizeof(MerTensor *));
    updater->second = mer_heap_zeroed((size_t)count + 1, sizeof(MerTensor *));
    for (int i = 0; i < count; i++) {
        if (mer_parameters_get(parameters, i)->needs_grad) {
            updater->first[i] = has_first ? remember(updater, i, "first") : NULL;
            updater->second[i] = has_second ? remember(updater, i, "second") : NULL;
        }
    }
    return updater;
}

void mer_updater_free(MerUpdater *updater)
{
    if (updater != NULL) {
        mer_parameters_free(updater->memory);
        free(updater->first);
        free(updater->second);
        free(updater);
    }
}

MerParameters *mer_updater_memory(MerUpdater *updater)
{
    return updater->memory;
}

/* Sutskever et al., ICML 2013, in the form v = m v + g, w -= rate v. */
MER_BODY step_sgd_body(const MerRule *rule, MerTensor *t, float *restrict v, float rate)
{
    float momentum = (float)rule->momentum, decay = (float)rule->weight_decay;
    float *restrict w = t->data;
    const float *restrict grad = t->grad;
    for (int64_t i = 0; i < t->size; i++) {
        float g = grad[i] + decay * w[i];
        if (v != NULL) {
            v[i] = momentum * v[i] + g;
            g = rule->is_nesterov ? g + momentum * v[i] : v[i];
        }
        w[i] -= rate * g;
    }
}

MER_WIDE(step_sgd, (const MerRule *rule, MerTensor *t, float *v, float rate), (rule, t, v, rate))

/* Kingma and Ba, ICLR 2015; the decay is decoupled (Loshchilov and Hutter, ICLR 2019). */
MER_BODY step_adam_body(const MerRule *rule, MerTensor *t, float *restrict m, float *restrict v,
                        double step, double rate)
{
    float beta1 = (float)rule->beta1, beta2 = (float)rule->beta2, epsilon = (float)rule->epsilon;
    float whole1 = (float)(1 / (1 - pow(rule->beta1, step)));
    float whole2 = (float)(1 / (1 - pow(rule->beta2, step)));
    float keep = (float)(1 - rate * rule->weight_decay), width = (float)rate * whole1;
    float *restrict w = t->data;
    const float *restrict grad = t->grad;
    for (int64_t i = 0; i < t->size; i++) {
        m[i] = beta1 * m[i] + (1 - beta1) * grad[i];
        v[i] = beta2 * v[i] + (1 - beta2) * grad[i] * grad[i];
        w[i] = keep * w[i] - width * m[i] / (sqrtf(v[i] * whole2) + epsilon);
    }
}

MER_WIDE(step_adam,
         (const MerRule *rule, MerTensor *t, float *m, float *v, double step, double rate),
         (rule, t, m, v, step, rate))

/* Tieleman and Hinton, 2012. */
static void step_rmsprop(const MerRule *rule, MerTensor *t, float *restrict m, float *restrict v,
                         float rate)
{
    float beta2 = (float)rule->beta2, epsilon = (float)rule->epsilon;
    float momentum = (float)rule->momentum, decay = (float)rule->weight_decay;
    float *restrict w = t->data;
    const float *restrict grad = t->grad;
    for (int64_t i = 0; i < t->size; i++) {
        float g = grad[i] + decay * w[i];
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        g /= sqrtf(v[i]) + epsilon;
        if (m != NULL) {
            m[i] = momentum * m[i] + g;
            g = m[i];
        }
        w[i] -= rate * g;
    }
}

void mer_updater_step(MerUpdater *updater, double rate)
{
    const MerRule *rule = &updater->rule;
    assert(mer_parameters_count(updater->parameters) == updater->steps->size);
    for (int i = 0; i < mer_parameters_count(updater->parameters); i++) {
        MerTensor *t = mer_parameters_get(updater->parameters, i);
        if (!t->needs_grad || !t->has_grad) {
            continue;
        }
        float *first = updater->first[i] != NULL ? updater->first[i]->data : NULL;
        float *second = updater->second[i] != NULL ? updater->second[i]->data : NULL;
        updater->steps->data[i] += 1;
        switch (rule->kind) {
        case MER_RULE_SGD:
            step_sgd(rule, t, first, (float)rate);
            break;
        case MER_RULE_ADAM:
            step_adam(rule, t, first, second, updater->steps->data[i], rate);
            break;
        case MER_RULE_RMSPROP:
            step_rmsprop(rule, t, first, second, (float)rate);
            break;
        }
    }
}
