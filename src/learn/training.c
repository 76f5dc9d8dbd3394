/* Epochs over a model that hides what it is. */
#include "learn/training.h"

#include "base/memory.h"
#include "tensor/ops.h"
#include "tensor/updater.h"

#include <stdlib.h>

enum { GROUPS = 2 };

struct MerTraining {
    const MerTrainable *model;
    MerTape            *tape;
    MerTrainingRule     rule;
    MerParameters      *parameters[GROUPS];
    MerUpdater         *updaters[GROUPS];
    int64_t             step;
    bool                is_cut; /* the last epoch was cancelled */
};

MerTraining *mer_training_new(const MerTrainable *model, MerTape *tape, const MerTrainingRule *rule)
{
    MerTraining *t = mer_heap_zeroed(1, sizeof *t);
    MerRule      rules[GROUPS] = {mer_rule_sgd(0.9, rule->weight_decay), mer_rule_sgd(0, 0)};
    if (rule->updater == 1) {
        rules[0] = mer_rule_adam(1e-8);
        rules[0].weight_decay = rule->weight_decay;
    }
    t->model = model;
    t->tape = tape;
    t->rule = *rule;
    for (int g = 0; g < GROUPS; g++) {
        t->parameters[g] = model->parameters(model->state, g);
        t->updaters[g] = mer_updater_new(tape, t->parameters[g], &rules[g]);
    }
    return t;
}

void mer_training_free(MerTraining *training)
{
    for (int g = 0; training != NULL && g < GROUPS; g++) {
        mer_updater_free(training->updaters[g]);
    }
    free(training);
}

static MerTensor *loss_of(const MerTraining *t, const MerTrainingHooks *hooks, int epoch, int batch,
                          MerTally *tally)
{
    MerTensor *const *choice = hooks->choose ? hooks->choose(hooks->context, t->tape) : NULL;
    MerTensor *loss = t->model->loss(t->model->state, t->tape, choice, 0, epoch, batch, tally);
    return hooks->total ? hooks->total(hooks->context, t->tape, loss, choice) : loss;
}

static double rate_now(const MerTraining *t, double first, int batches)
{
    if (t->rule.schedule == 0) {
        return mer_rate_cosine(first, (int64_t)t->rule.epochs * batches, t->step);
    }
    for (int i = 0; i < t->rule.steps.count; i++) {
        bool is_past = (double)t->step >= t->rule.steps.values[i] * batches;
        first *= is_past ? t->rule.step_factor : 1;
    }
    return first;
}

static void descend(MerTraining *t, int batches)
{
    mer_updater_step(t->updaters[0], rate_now(t, t->rule.rate, batches));
    mer_updater_step(t->updaters[1], rate_now(t, t->rule.scale_rate, batches));
    t->step++;
}

MerStatus mer_training_epoch(MerTraining *t, int epoch, const MerTrainingHooks *hooks,
                             MerNotes *notes, MerTally *tally, MerError *error)
{
    static const MerTrainingHooks none = {0};
    int                           batches = t->model->batch_count(t->model->state, 0);
    hooks = hooks != NULL ? hooks : &none;
    mer_epoch_begins(notes, hooks->choose == NULL);
    *tally = (MerTally){0};
    t->is_cut = false;
    for (int batch = 0; batch < batches; batch++) {
        if ((t->is_cut = mer_is_cancelled(notes))) {
            return MER_OK; /* whoever goes on later does it again: it costs nothing */
        }
        int draws = hooks->draws > 1 ? hooks->draws : 1;
        mer_tape_reset(t->tape);
        for (int g = 0; g < GROUPS; g++) {
            mer_parameters_clear(t->parameters[g]);
        }
        MerTensor *loss = loss_of(t, hooks, epoch, batch, tally);
        for (int d = 1; d < draws; d++) {
            loss = mer_tensor_add(t->tape, loss, loss_of(t, hooks, epoch, batch, tally));
        }
        if (draws > 1) {
            loss = mer_tensor_affine(t->tape, loss, 1 / (float)draws, 0);
        }
        MER_TRY(mer_tape_backward(t->tape, loss, error));
        if (t->rule.gradient_limit > 0) {
            mer_parameters_clip(t->tape, t->parameters[0], t->rule.gradient_limit);
        }
        descend(t, batches);
        if (hooks->update) {
            hooks->update(hooks->context);
        }
    }
    mer_spend(notes, MER_SPENT_EPOCHS, 1);
    mer_spend(notes, MER_SPENT_IMAGES, (double)tally->examples);
    return MER_OK;
}

bool mer_training_is_cut(const MerTraining *training)
{
    return training->is_cut;
}

MerStatus mer_training_measure(const MerTrainable *model, MerTape *tape, int part,
                               MerTensor *const *(*choose)(void *context, MerTape *tape),
                               void *context, MerTally *tally, MerError *error)
{
    int batches = model->batch_count(model->state, part);
    *tally = (MerTally){0};
    mer_tape_record(tape, false);
    for (int batch = 0; batch < batches; batch++) {
        mer_tape_reset(tape);
        MerTensor *const *choice = choose != NULL ? choose(context, tape) : NULL;
        model->loss(model->state, tape, choice, part, 0, batch, tally);
    }
    mer_tape_record(tape, true);
    return mer_tape_status(tape, error);
}

MerStatus mer_training_keep(MerTraining *t, MerStream *stream, const char *path, MerError *error)
{
    for (int g = 0; g < GROUPS; g++) {
        MER_TRY(mer_parameters_keep(t->parameters[g], stream, path, error));
        MER_TRY(mer_parameters_keep(mer_updater_memory(t->updaters[g]), stream, path, error));
    }
    t->step = mer_stream_int(stream, t->step, 0, INT64_MAX);
    return mer_stream_status(stream, path, error);
}
