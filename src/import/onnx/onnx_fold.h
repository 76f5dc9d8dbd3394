/* What the two files of constant folding share. */
#ifndef MERCATOR_IMPORT_ONNX_ONNX_FOLD_H
#define MERCATOR_IMPORT_ONNX_ONNX_FOLD_H

#include "import/onnx/onnx.h"

/* Element i of the result is element offset + sum of index[axis] * stride[axis] of `from`. NULL if
 * that leaves the source or the result is too large. */
OnnxContent *mer_onnx_view(OnnxContext *context, const OnnxContent *from, const OnnxShape *shape,
                           int64_t offset, const int64_t *stride);
/* A constant of one shape broadcast to another. */
OnnxContent *mer_onnx_spread(OnnxContext *context, const OnnxContent *from,
                             const OnnxShape *from_shape, const OnnxShape *shape);
/* Sets is_partial; NULL stays NULL. */
const OnnxContent *mer_onnx_seal(OnnxContent *content);
/* An unknown integer is ONNX_UNKNOWN_ELEMENT, an unknown real is NaN. */
bool mer_onnx_is_unknown(const OnnxContent *content, int at);
void mer_onnx_copy_element(OnnxContent *to, int at, const OnnxContent *from, int64_t source);
/* Row-major strides. */
void mer_onnx_strides(const OnnxShape *shape, int64_t *stride);

#endif
