/* What the two files of constant folding share. */
#ifndef MERCATOR_IMPORT_ONNX_ONNX_FOLD_H
#define MERCATOR_IMPORT_ONNX_ONNX_FOLD_H

#include "import/onnx/onnx.h"

/* Room for the content of an output; NULL if its size is not known or too large. */
OnnxContent *mer_onnx_output_content(OnnxNode *node, int output, bool is_real);
/* An input broadcast to the shape of an output; NULL if it is not known. */
OnnxContent *mer_onnx_spread(OnnxNode *node, int input, int output);
/* Sets is_partial; NULL stays NULL. */
const OnnxContent *mer_onnx_seal(OnnxContent *content);
/* An unknown integer is ONNX_UNKNOWN_ELEMENT, an unknown real is NaN. */
bool mer_onnx_is_unknown(const OnnxContent *content, int at);
void mer_onnx_copy_element(OnnxContent *to, int at, const OnnxContent *from, int64_t source);
/* Row-major strides. */
void mer_onnx_strides(const OnnxShape *shape, int64_t *stride);

#endif
