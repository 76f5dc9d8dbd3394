/* Outputs of operators that keep the shape of an input or broadcast several. */
#include "import/onnx/onnx.h"

OnnxShape mer_onnx_infer_same(OnnxNode *node)
{
    return *mer_onnx_shape(node, 0);
}

static OnnxShape broadcast_all(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    /* Before opset 7 the second input was laid over the first at the attribute axis. */
    if (node->opset < 7 && mer_onnx_int(node, "broadcast", 0) != 0)
        return shape;
    for (int i = 1; i < node->input_count; i++)
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

OnnxShape mer_onnx_infer_broadcast(OnnxNode *node)
{
    if (node->type->result == 0)
        node->result_type = first_type(node, 0);
    return broadcast_all(node);
}

OnnxShape mer_onnx_infer_where(OnnxNode *node)
{
    node->result_type = first_type(node, 1);
    return broadcast_all(node);
}

OnnxShape mer_onnx_infer_cast(OnnxNode *node)
{
    node->result_type = mer_onnx_type(mer_onnx_required_int(node, "to"));
    return *mer_onnx_shape(node, 0);
}

/* CastLike takes its type from the second input; the *Like generators may name one. */
OnnxShape mer_onnx_infer_like(OnnxNode *node)
{
    node->result_type = mer_onnx_input_type(node, node->input_count > 1 ? 1 : 0);
    if (mer_onnx_has(node, "dtype"))
        node->result_type = mer_onnx_type(mer_onnx_int(node, "dtype", 1));
    return *mer_onnx_shape(node, 0);
}

OnnxShape mer_onnx_infer_unknown(OnnxNode *node)
{
    (void)node;
    return mer_onnx_unknown_shape;
}

OnnxShape mer_onnx_infer_batch_norm(OnnxNode *node)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    const OnnxShape *scale = mer_onnx_shape(node, 1);
    if (input->rank >= 2 && scale->rank == 1 && input->dims[1] != scale->dims[0] &&
        input->dims[1] != ONNX_UNKNOWN_DIM && scale->dims[0] != ONNX_UNKNOWN_DIM)
        mer_onnx_fail(node, "the scale has %lld elements, expected %lld, one per channel",
                      (long long)scale->dims[0], (long long)input->dims[1]);
    for (int i = 1; i < node->output_count; i++)
        mer_onnx_set(node, i, mer_onnx_input_type(node, 1), *scale);
    return *input;
}

/* Mean and inverse deviation keep the axes before `axis`, the others shrink to 1. */
OnnxShape mer_onnx_infer_layer_norm(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    if (shape.rank < 0)
        return shape;
    int axis = mer_onnx_axis_attribute(node, -1, shape.rank);
    for (int i = axis; i >= 0 && i < shape.rank; i++)
        shape.dims[i] = 1;
    for (int i = 1; i < node->output_count; i++)
        mer_onnx_set(node, i, MER_TYPE_FLOAT32, shape);
    return *mer_onnx_shape(node, 0);
}

/* com.microsoft: the fourth output is the sum of input and skip. */
OnnxShape mer_onnx_infer_skip_norm(OnnxNode *node)
{
    OnnxShape shape = mer_onnx_infer_layer_norm(node);
    mer_onnx_set(node, 3, node->result_type, shape);
    return shape;
}

/* com.microsoft: ids (batch, length) to (batch, length, hidden), and one mask index per sentence. */
OnnxShape mer_onnx_infer_embed_norm(OnnxNode *node)
{
    const OnnxShape *ids = mer_onnx_shape(node, 0);
    const OnnxShape *table = mer_onnx_shape(node, 2);
    bool             is_known = ids->rank == 2 && table->rank == 2;
    node->result_type = is_known ? mer_onnx_input_type(node, 2) : MER_TYPE_UNKNOWN;
    if (!is_known)
        return mer_onnx_unknown_shape;
    OnnxShape shape = {.rank = 3, .dims = {ids->dims[0], ids->dims[1], table->dims[1]}};
    mer_onnx_set(node, 1, MER_TYPE_INT32, mer_onnx_shape_of(1, ids->dims));
    mer_onnx_set(node, 2, node->result_type, shape);
    return shape;
}

OnnxShape mer_onnx_infer_quantize(OnnxNode *node)
{
    node->result_type = node->input_count > 2 ? mer_onnx_input_type(node, 2) : MER_TYPE_UINT8;
    if (mer_onnx_has(node, "output_dtype"))
        node->result_type = mer_onnx_type(mer_onnx_int(node, "output_dtype", 2));
    return *mer_onnx_shape(node, 0);
}

OnnxShape mer_onnx_infer_dequantize(OnnxNode *node)
{
    node->result_type = mer_onnx_input_type(node, 1);
    return *mer_onnx_shape(node, 0);
}

OnnxShape mer_onnx_infer_dynamic_quantize(OnnxNode *node)
{
    mer_onnx_set(node, 1, MER_TYPE_FLOAT32, (OnnxShape){.rank = 0});
    mer_onnx_set(node, 2, MER_TYPE_UINT8, (OnnxShape){.rank = 0});
    return *mer_onnx_shape(node, 0);
}

/* com.microsoft: A, scale, zero point, B, scale, zero point, ... */
OnnxShape mer_onnx_infer_qlinear_binary(OnnxNode *node)
{
    return mer_onnx_broadcast(node, mer_onnx_shape(node, 0), mer_onnx_shape(node, 3));
}
