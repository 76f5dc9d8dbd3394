/* Epochs of stochastic gradient descent on a model that hides what it is (MerTrainable), with or without choices that learn beside
 * it. */
#ifndef MERCATOR_LEARN_TRAINING_H
#define MERCATOR_LEARN_TRAINING_H

#include "base/option_rows.h"
#include "mercator/trainable.h"
#include "tensor/tensor.h"

typedef struct MerTrainingRule { /* momentum 0.9 of SGD; scales are without momentum and decay */
    int      epochs;
    double   rate, weight_decay; /* of weights, at the start */
    double   scale_rate;
    double   gradient_limit; /* of all weights together, longer ones are cut; 0: any */
    int      updater;        /* of weights: 0 SGD, 1 Adam */
    int      schedule; /* of both rates: 0 by a cosine to 0, 1 times step_factor after `steps` */
    MerReals steps;    /* epochs, rising */
    double   step_factor;
} MerTrainingRule;

/* All but `epochs`, rows of an option table whose `Options` has `MerTrainingRule rule`. */
/* clang-format off */
#define MER_TRAINING_OPTIONS \
    MER_REAL_AT("rate", rule.rate, "0.02", 0, 100, "of weights at the start"), \
    MER_REAL_AT("scale_rate", rule.scale_rate, "1e-5", 0, 100, "of clips and scales at the start"), \
    MER_REAL_AT("weight_decay", rule.weight_decay, "1e-4", 0, 1, "of weights"), \
    MER_CHOICE_AT("updater", rule.updater, "sgd", "sgd|adam", \
        "of weights: with momentum 0.9, or Adam with decay beside the gradient"), \
    MER_CHOICE_AT("schedule", rule.schedule, "cosine", "cosine|steps", \
        "rates fall by a cosine to 0, or are multiplied by step_factor at every epoch of `steps`"), \
    MER_REALS_AT("steps", rule.steps, "[]", 0, 100000, "epochs, see schedule; none: rates stay"), \
    MER_REAL_AT("step_factor", rule.step_factor, "0.1", 0, 1, "see schedule"), \
    MER_REAL_AT("gradient_limit", rule.gradient_limit, "1", 0, 1e9, \
        "longer gradients of the weights are cut to this length: without batch norm a step may " \
        "otherwise undo the network; 0: any")
/* clang-format on */

/* What takes part besides the model. Slots may be NULL. */
typedef struct MerTrainingHooks {
    void *context;
    /* the choices of a step, made on the tape; absent: the model without choices */
    MerTensor *const *(*choose)(void *context, MerTape *tape);
    /* the loss of a step from that of the model, once per draw; absent: the same */
    MerTensor *(*total)(void *context, MerTape *tape, MerTensor *loss, MerTensor *const *choice);
    void (*update)(void *context); /* after the gradients have come */
    int draws; /* passes of a step, each with its own choices, their mean counts; 0: one */
} MerTrainingHooks;

typedef struct MerTraining MerTraining;

/* Keeps all three. */
MerTraining *mer_training_new(const MerTrainable *model, MerTape *tape,
                              const MerTrainingRule *rule);
void         mer_training_free(MerTraining *training); /* NULL is fine */
/* One pass over the training part. A cancelled one ends early, with MER_OK, and is not counted as spent. */
MerStatus mer_training_epoch(MerTraining *training, int epoch, const MerTrainingHooks *hooks,
                             MerNotes *notes, MerTally *tally, MerError *error);
bool      mer_training_is_cut(const MerTraining *training); /* whether the last one was cancelled */
/* The model on a part without learning. */
MerStatus mer_training_measure(const MerTrainable *model, MerTape *tape, int part,
                               MerTensor *const *(*choose)(void *context, MerTape *tape),
                               void *context, MerTally *tally, MerError *error);
/* All that the next epoch needs of the model and its steps. */
MerStatus mer_training_keep(MerTraining *training, MerStream *stream, const char *path,
                            MerError *error);

#endif
