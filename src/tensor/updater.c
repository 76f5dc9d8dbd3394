/* What a rule remembers of every parameter; the backend does the steps. */
#include "tensor/updater.h"

#include "base/memory.h"
#include "tensor/tape.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct MerUpdater {
    MerTape       *tape;
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

static MerTensor *remember(MerUpdater *updater, int index, const char *what)
{
    const MerTensor *tensor = mer_parameters_get(updater->parameters, index);
    char             name[32];
    snprintf(name, sizeof name, "%s.%d", what, index);
    return mer_parameters_add_constant(updater->memory, name, tensor->rank, tensor->shape);
}

MerUpdater *mer_updater_new(MerTape *tape, MerParameters *parameters, const MerRule *rule)
{
    MerUpdater *updater = mer_heap_zeroed(1, sizeof *updater);
    int         count = mer_parameters_count(parameters);
    bool        has_first = rule->kind == MER_RULE_ADAM || rule->momentum > 0;
    bool        has_second = rule->kind != MER_RULE_SGD;
    updater->tape = tape;
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

void mer_updater_step(MerUpdater *updater, double rate)
{
    assert(mer_parameters_count(updater->parameters) == updater->steps->size);
    for (int i = 0; i < mer_parameters_count(updater->parameters); i++) {
        MerTensor *t = mer_parameters_get(updater->parameters, i);
        if (!t->needs_grad || !t->has_grad) {
            continue;
        }
        updater->steps->data[i] += 1;
        MerUpdate op = {.rule = &updater->rule,
                        .rate = rate,
                        .step = updater->steps->data[i],
                        .count = t->size,
                        .grad = t->grad,
                        .w = t->data,
                        .first = updater->first[i] != NULL ? updater->first[i]->data : NULL,
                        .second = updater->second[i] != NULL ? updater->second[i]->data : NULL};
        updater->tape->backend.update(updater->tape, &op);
    }
}

double mer_rate_cosine(double first, int64_t total, int64_t step)
{
    static const double PI = 3.14159265358979323846;
    double              done = total > step ? (double)step / (double)total : 1;
    return 0.5 * first * (1 + cos(PI * done));
}
