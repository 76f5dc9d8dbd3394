/* Training for problem `split`: the data, the float network that every mapping starts from, and a model with choices for whoever
 * searches or prices mappings. */
#ifndef MERCATOR_SPLIT_TRAIN_SPLIT_TRAINING_H
#define MERCATOR_SPLIT_TRAIN_SPLIT_TRAINING_H

#include "split/split.h"
#include "split/train/train_net.h"
#include "tensor/dataset.h"

typedef struct MerTrainOptions {
    const char  *dataset, *data; /* see mer_dataset_open */
    int64_t      batch, warmup_epochs;
    double       warmup_rate, weight_decay, validation;
    int          warmup_updater; /* see MerTrainingRule */
    bool         is_priced;      /* the images are not there: nothing is trained */
    bool         flip, normalise;
    int64_t      shift, roll, samples; /* samples: of the training part that are used, 0: all */
    int64_t      seed;                 /* of weights, order and images */
    double       noise;                /* of all images: deviation, as a share of their range */
    double       test_noise;           /* 0: the test part is not measured with more noise */
    int64_t      test_shift;           /* 0: nor moved by up to so many pixels */
    const char  *warmup_cache;         /* folder that keeps float networks, NULL: none */
    MerTrainForm form;
} MerTrainOptions;

typedef struct MerTrain MerTrain;

enum { /* parts beyond those of MerTrainable: the test part, and what may be made of it */
       MER_TRAIN_TEST = 2,
       MER_TRAIN_NOISY,
       MER_TRAIN_SHIFTED,
       MER_TRAIN_PARTS
};
const char *mer_train_part_name(int part);

/* Keeps `split` (NULL: the graph in floating point only) and the texts of `options`. Cheap: nothing is read before it is needed. In `arena`. */
MerTrain *mer_train_new(const MerGraph *graph, const MerSplit *split,
                        const MerTrainOptions *options, MerArena *arena);
void      mer_train_free(MerTrain *train); /* NULL is fine */

bool mer_train_is_priced(const MerTrain *train); /* nothing to train with, and that is allowed */

/* Reads the data and builds the network; says what does not fit. Once; later calls give the same. */
MerStatus mer_train_open(MerTrain *train, MerError *error);
/* The float network, trained; once. Epoch lines go to `notes` in the phase "warmup". */
MerStatus mer_train_warm_up(MerTrain *train, MerPool *pool, MerNotes *notes, MerError *error);

/* The model with choices: MerTrainable.start, then batches. The model without: what the warm-up trains. */
MerTrainable mer_train_model(MerTrain *train);
MerTrainable
mer_train_knob_model(MerTrain *train); /* choices as the space has them; after mer_train_open */
MerTrainable          mer_train_float_model(MerTrain *train);
const MerDatasetPair *mer_train_data(const MerTrain *train);
MerTrainNet          *mer_train_network(MerTrain *train); /* that has choices */

/* Steps of MerTrainable.start for who has an assignment. First the trained weights in the network that has choices, still in floating
 * point. Then, where a layer has two operators, its norms for the operators that `choose` gives on the tape, (operators, channels):
 * those of the warm-up are of random ones. mer_train_net_fold comes last. */
typedef MerTensor *const *MerChoose(void *context, MerTape *tape);
MerStatus mer_train_start_float(MerTrain *train, MerPool *pool, MerNotes *notes, MerError *error);
MerStatus mer_train_measure_norms(MerTrain *train, MerTape *tape, MerChoose *choose, void *context,
                                  MerError *error);

/* The network that has choices is trained to an assignment of `count` channels by `owner`: remembered until the next training starts. */
void mer_train_keep(MerTrain *train, const void *owner, const unsigned char *assignment, int count);
bool mer_train_is_kept(const MerTrain *train, const void *owner, const unsigned char *assignment,
                       int count);
/* 1 for each image of the part measured last that was answered right, else 0. */
const unsigned char *mer_train_answers(const MerTrain *train);

/* The training of an opened problem. */
MerTrain *mer_split_training(const MerProblem *problem);

#endif
