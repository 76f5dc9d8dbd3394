/* Inside of the image sets, for the files that read them. */
#ifndef MERCATOR_TENSOR_DATASET_INSIDE_H
#define MERCATOR_TENSOR_DATASET_INSIDE_H

#include "tensor/dataset.h"

MerStatus mer_dataset_from_idx(const char *images_path, const MerIdx *images,
                               const char *labels_path, const MerIdx *labels, double offset,
                               double scale, MerArena *arena, MerDataset *dataset, MerError *error);

#endif
