/* Epochs of stochastic gradient descent on a model that hides what it is (MerTrainable), with or without choices that learn beside
 * it. */
#ifndef MERCATOR_LEARN_TRAINING_H
#define MERCATOR_LEARN_TRAINING_H

#include "mercator/trainable.h"
#include "tensor/tensor.h"

typedef struct MerTrainingRule { /* rates fall by a cosine to 0 over all epochs */
    int    epochs;
    double rate, momentum, weight_decay; /* of weights */
    double scale_rate;                   /* of scales, without momentum and decay */
    double
        gradient_limit; /* longest gradient of all weights together, longer ones are cut; 0: any */
} MerTrainingRule;

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
/* One pass over the training part. A cancelled one ends early, with MER_OK. */
MerStatus mer_training_epoch(MerTraining *training, int epoch, const MerTrainingHooks *hooks,
                             MerNotes *notes, MerTally *tally, MerError *error);
/* The model on a part without learning. */
MerStatus mer_training_measure(const MerTrainable *model, MerTape *tape, int part,
                               MerTensor *const *(*choose)(void *context, MerTape *tape),
                               void *context, MerTally *tally, MerError *error);
/* All that the next epoch needs of the model and its steps. */
MerStatus mer_training_keep(MerTraining *training, MerStream *stream, const char *path,
                            MerError *error);

#endif
