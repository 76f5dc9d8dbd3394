/* Small labelled image sets: IDX files (bytes 0 0 TYPE RANK, big-endian sizes, then the numbers, the last
 * index fastest; TYPE 8 is unsigned bytes, 9 signed ones), the binary files of CIFAR-10 and CIFAR-100, and
 * the digits that are built in; and batches with images that are moved at random. */
#ifndef MERCATOR_TENSOR_DATASET_H
#define MERCATOR_TENSOR_DATASET_H

#include "mercator/arena.h"
#include "mercator/error.h"
#include "mercator/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MER_IDX_MAX_RANK = 8 };

typedef struct MerIdx {
    bool                 is_signed;
    int                  rank, shape[MER_IDX_MAX_RANK];
    int64_t              size;  /* of all numbers */
    const unsigned char *bytes; /* borrowed from what was parsed */
} MerIdx;

MerStatus mer_idx_parse(const char *path, const void *data, size_t size, MerIdx *idx,
                        MerError *error);

typedef struct MerDataset {
    int          count, channels, height, width, classes;
    const float *images; /* (count, channels, height, width) */
    const int   *labels; /* 0 .. classes - 1 */
} MerDataset;

/* Images (count, ..., rows, columns), what is in between being channels, and labels (count); numbers are
 * divided by `scale`. */
MerStatus mer_dataset_from_idx(const char *images_path, const MerIdx *images,
                               const char *labels_path, const MerIdx *labels, double scale,
                               MerArena *arena, MerDataset *dataset, MerError *error);

/* Images to train on and images to test with, of one shape. */
typedef struct MerDatasetPair {
    const char *name;
    MerDataset  train, test;
    bool        is_signed; /* numbers are of -1 .. 1, else of 0 .. 1 */
    uint64_t    hash;      /* of all bytes */
    const char *remark;    /* what looks wrong about the labels, one line; NULL: nothing */
} MerDatasetPair;

/* `name` is "digits8x8" (built in), or a folder, or a folder inside `root` (NULL: none). A folder has IDX files
 * train-*-idxN-* with train-labels-idx1-ubyte, and the same with test- or t10k-; or data_batch_1.bin ..
 * data_batch_5.bin and test_batch.bin (CIFAR-10); or train.bin and test.bin (CIFAR-100, fine labels). Unsigned numbers
 * are divided by 255, or by the largest one if that is below 128; signed ones by 128. */
MerStatus mer_dataset_open(const char *name, const char *root, MerArena *arena,
                           MerDatasetPair *pair, MerError *error);

/* Whether mer_dataset_open would find a folder, or has the images built in. */
bool mer_dataset_is_there(const char *name, const char *root);

/* How images of a batch differ from those of the set, each by its own random stream. */
typedef struct MerAugment {
    bool   flip; /* left and right, every second */
    int    shift; /* up to so many pixels in both directions, 0 filling up; a crop of the padded image is the same */
    int    roll;      /* up to so many rows down or up, around the end */
    double noise;     /* deviation of what is added to every pixel; 0: none */
    double low, high; /* noisy pixels stay within */
} MerAugment;

/* Copies the images with the given numbers into a batch. What is random follows from (seed, epoch, number of the
 * image) alone. `augment` NULL: as they are. */
void mer_dataset_batch(const MerDataset *dataset, int count, const int *order,
                       const MerAugment *augment, uint64_t seed, int epoch, float *images,
                       int *labels);
/* All images, changed once and for all. */
MerDataset mer_dataset_changed(const MerDataset *dataset, const MerAugment *augment, uint64_t seed,
                               MerArena *arena);
/* Mean 0 and deviation 1 in every channel of the training part, the test part moved alike. */
void mer_dataset_normalise(MerDatasetPair *pair, MerArena *arena);

#endif
