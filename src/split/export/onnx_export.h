/* What the files of exporter `split_onnx` do for each other. */
#ifndef MERCATOR_SPLIT_EXPORT_ONNX_EXPORT_H
#define MERCATOR_SPLIT_EXPORT_ONNX_EXPORT_H

#include "split/export/deployment.h"

/* onnx_network.c: the model as a file, in the arena. */
const void *mer_onnx_network(const MerDeployment *deployment, size_t *size, MerArena *arena);

#endif
