/* Small labelled image sets from IDX files: bytes 0 0 TYPE RANK, big-endian sizes, then the
 * numbers, the last index fastest. TYPE 8 is unsigned bytes, 9 signed ones. */
#ifndef MERCATOR_TENSOR_DATASET_H
#define MERCATOR_TENSOR_DATASET_H

#include "mercator/arena.h"
#include "mercator/error.h"
#include "mercator/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MER_IDX_MAX_RANK = 4 };

typedef struct MerIdx {
    bool                 is_signed;
    int                  rank, shape[MER_IDX_MAX_RANK];
    int64_t              size;  /* of all numbers */
    const unsigned char *bytes; /* borrowed from what was parsed */
} MerIdx;

MerStatus mer_idx_parse(const char *path, const void *data, size_t size, MerIdx *idx,
                        MerError *error);
MerStatus mer_idx_read(const char *path, MerArena *arena, MerIdx *idx, MerError *error);

typedef struct MerDataset {
    int          count, channels, height, width, classes;
    const float *images; /* (count, channels, height, width) */
    const int   *labels; /* 0 .. classes - 1 */
} MerDataset;

/* Images (count, rows, columns) and labels (count); a number x becomes (x - offset) / scale. */
MerStatus mer_dataset_read(const char *images_path, const char *labels_path, double offset,
                           double scale, MerArena *arena, MerDataset *dataset, MerError *error);

/* Copies the images with the given numbers into a batch, each moved by up to `shift` pixels at
 * random (0: as they are; `rng` may be NULL then) with the edge filled by `fill`. */
void mer_dataset_batch(const MerDataset *dataset, int count, const int *order, int shift,
                       float fill, MerRng *rng, float *images, int *labels);

#endif
