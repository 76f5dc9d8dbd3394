/* Outputs of operators that keep the shape of an input or broadcast several. */
#include "import/onnx/onnx.h"

#include <string.h>

void mer_onnx_infer_same(OnnxNode *node)
{
    mer_onnx_set(node, 0, mer_onnx_input_type(node, 0), *mer_onnx_shape(node, 0));
}

static OnnxShape broadcast_all(OnnxNode *node, int first)
{
    OnnxShape shape = *mer_onnx_shape(node, first);
    /* Before opset 7 the second input was laid over the first at the attribute axis. */
    if (node->opset < 7 && mer_onnx_int(node, "broadcast", 0) != 0)
        return shape;
    for (int i = first + 1; i < node->input_count; i++)
        shape = mer_onnx_broadcast(node, &shape, mer_onnx_shape(node, i));
    return shape;
}

/* The first type that is known: a constant of unknown type says nothing. */
static MerType first_type(const OnnxNode *node, int first)
{
    MerType type = MER_TYPE_UNKNOWN;
    for (int i = first; i < node->input_count && type == MER_TYPE_UNKNOWN; i++)
        type = mer_onnx_input_type(node, i);
    return type;
}

void mer_onnx_infer_broadcast(OnnxNode *node)
{
    mer_onnx_set(node, 0, first_type(node, 0), broadcast_all(node, 0));
}

void mer_onnx_infer_compare(OnnxNode *node)
{
    mer_onnx_set(node, 0, MER_TYPE_BOOL, broadcast_all(node, 0));
}

void mer_onnx_infer_test(OnnxNode *node)
{
    mer_onnx_set(node, 0, MER_TYPE_BOOL, *mer_onnx_shape(node, 0));
}

void mer_onnx_infer_where(OnnxNode *node)
{
    mer_onnx_set(node, 0, first_type(node, 1), broadcast_all(node, 0));
}

void mer_onnx_infer_cast(OnnxNode *node)
{
    int64_t to = mer_onnx_required_int(node, "to");
    mer_onnx_set(node, 0, mer_onnx_type(to), *mer_onnx_shape(node, 0));
}

/* CastLike takes its type from the second input; the *Like generators may name one. */
void mer_onnx_infer_like(OnnxNode *node)
{
    MerType type = mer_onnx_input_type(node, node->input_count > 1 ? 1 : 0);
    if (mer_onnx_has(node, "dtype"))
        type = mer_onnx_type(mer_onnx_int(node, "dtype", 1));
    mer_onnx_set(node, 0, type, *mer_onnx_shape(node, 0));
}

void mer_onnx_infer_unknown(OnnxNode *node)
{
    for (int i = 0; i < node->output_count; i++)
        mer_onnx_set(node, i, MER_TYPE_UNKNOWN, mer_onnx_unknown_shape);
}

void mer_onnx_infer_batch_norm(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    const OnnxShape *scale = mer_onnx_shape(node, 1);
    mer_onnx_infer_same(node);
    if (input->rank >= 2 && scale->rank == 1 && input->dims[1] != scale->dims[0] &&
        input->dims[1] != ONNX_UNKNOWN_DIM && scale->dims[0] != ONNX_UNKNOWN_DIM)
        mer_onnx_fail(node, "the scale has %lld elements, expected %lld, one per channel",
                      (long long)scale->dims[0], (long long)input->dims[1]);
    for (int i = 1; i < node->output_count; i++)
        mer_onnx_set(node, i, mer_onnx_input_type(node, 1), *scale);
}

/* Mean and inverse deviation keep the axes before `axis`, the others shrink to 1. */
void mer_onnx_infer_layer_norm(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    mer_onnx_infer_same(node);
    if (shape.rank < 0)
        return;
    int axis = mer_onnx_axis(node, mer_onnx_int(node, "axis", -1), shape.rank);
    for (int i = axis; i >= 0 && i < shape.rank; i++)
        shape.dims[i] = 1;
    for (int i = 1; i < node->output_count; i++)
        mer_onnx_set(node, i, MER_TYPE_FLOAT32, shape);
}

/* com.microsoft: the fourth output is the sum of input and skip. */
void mer_onnx_infer_skip_norm(OnnxNode *node)
{
    mer_onnx_infer_layer_norm(node);
    mer_onnx_set(node, 3, mer_onnx_input_type(node, 0), *mer_onnx_shape(node, 0));
}

/* com.microsoft: ids (batch, length) to (batch, length, hidden), and one mask index per sentence. */
void mer_onnx_infer_embed_norm(OnnxNode *node)
{
    const OnnxShape *ids = mer_onnx_shape(node, 0);
    const OnnxShape *table = mer_onnx_shape(node, 2);
    if (ids->rank != 2 || table->rank != 2)
        return;
    MerType   type = mer_onnx_input_type(node, 2);
    OnnxShape shape = {.rank = 3, .dims = {ids->dims[0], ids->dims[1], table->dims[1]}};
    mer_onnx_set(node, 0, type, shape);
    mer_onnx_set(node, 1, MER_TYPE_INT32, mer_onnx_shape_of(1, ids->dims));
    mer_onnx_set(node, 2, type, shape);
}

void mer_onnx_infer_quantize(OnnxNode *node)
{
    MerType type = node->input_count > 2 ? mer_onnx_input_type(node, 2) : MER_TYPE_UINT8;
    if (mer_onnx_has(node, "output_dtype"))
        type = mer_onnx_type(mer_onnx_int(node, "output_dtype", 2));
    mer_onnx_set(node, 0, type, *mer_onnx_shape(node, 0));
}

void mer_onnx_infer_dequantize(OnnxNode *node)
{
    mer_onnx_set(node, 0, mer_onnx_input_type(node, 1), *mer_onnx_shape(node, 0));
}

void mer_onnx_infer_dynamic_quantize(OnnxNode *node)
{
    OnnxShape scalar = {.rank = 0};
    mer_onnx_set(node, 0, MER_TYPE_UINT8, *mer_onnx_shape(node, 0));
    mer_onnx_set(node, 1, MER_TYPE_FLOAT32, scalar);
    mer_onnx_set(node, 2, MER_TYPE_UINT8, scalar);
}

/* com.microsoft: A, scale, zero point, B, scale, zero point, ... */
void mer_onnx_infer_qlinear_binary(OnnxNode *node)
{
    OnnxShape shape = mer_onnx_broadcast(node, mer_onnx_shape(node, 0), mer_onnx_shape(node, 3));
    mer_onnx_set(node, 0, mer_onnx_input_type(node, 0), shape);
}
