/* Inside of the image sets, for the files that read them. */
#ifndef MERCATOR_TENSOR_DATASET_INSIDE_H
#define MERCATOR_TENSOR_DATASET_INSIDE_H

#include "tensor/dataset.h"

/* Images (count, ..., rows, columns), what is in between being channels, and labels (count); numbers are
 * divided by `scale`. */
MerStatus mer_dataset_from_idx(const char *images_path, const MerIdx *images,
                               const char *labels_path, const MerIdx *labels, double scale,
                               MerArena *arena, MerDataset *dataset, MerError *error);

#endif
