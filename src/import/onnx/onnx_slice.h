/* Slice and Split as strided views, for inference and for folding. */
#ifndef MERCATOR_IMPORT_ONNX_ONNX_SLICE_H
#define MERCATOR_IMPORT_ONNX_ONNX_SLICE_H

#include "import/onnx/onnx.h"

typedef struct OnnxSlice {
    OnnxShape shape; /* of the result; -1 where a size is not known */
    int64_t   start[MER_MAX_RANK], step[MER_MAX_RANK];
} OnnxSlice;

/* False if starts, ends, axes or steps are not known. Needs an input of known rank. */
bool mer_onnx_slice_read(OnnxNode *node, OnnxSlice *slice);

#endif
