/* Attention as single nodes (com.microsoft): the products of queries, keys and values as batched
 * GEMMs over batch and heads. Sparse masks and caches are not taken into account. */
#include "import/onnx/onnx.h"

#include <string.h>

typedef struct Heads {
    int64_t batch, queries, keys, heads;
    int64_t key_width, value_width; /* of one head */
} Heads;

static int64_t head_count(OnnxNode *node)
{
    int64_t heads = mer_onnx_required_int(node, "num_heads");
    if (heads < 1 || heads > INT32_MAX) {
        mer_onnx_fail(node, "num_heads is %lld, expected at least 1", (long long)heads);
        return 1;
    }
    return heads;
}

/* scores = Q K', then softmax, then the weighted sum of the values. */
static void emit_heads(OnnxNode *node, const Heads *h, OnnxValue *const *inputs, int input_count)
{
    MerType    type = mer_onnx_input_type(node, 0);
    OnnxShape  shape = {.rank = 4, .dims = {h->batch, h->heads, h->queries, h->keys}};
    OnnxValue *scores = mer_onnx_part_value(node, "scores", type, shape);
    OnnxValue *weights = mer_onnx_part_value(node, "softmax", type, shape);
    MerOp      op = mer_op_make(scores->name, node->op, MER_OP_BATCHED_GEMM);
    op.dims[MER_DIM_G] = mer_onnx_multiply(node, h->batch, h->heads);
    op.dims[MER_DIM_Y] = h->queries;
    op.dims[MER_DIM_C] = h->key_width;
    op.dims[MER_DIM_K] = h->keys;
    mer_onnx_emit_part(node, op, inputs, input_count, &scores, 1);
    mer_onnx_emit_part(node, mer_op_make(weights->name, node->op, MER_OP_SOFTMAX), &scores, 1,
                       &weights, 1);
    op.name = node->name;
    op.dims[MER_DIM_C] = h->keys;
    op.dims[MER_DIM_K] = h->value_width;
    OnnxValue *last[] = {weights, input_count > 2 ? inputs[2] : inputs[0]};
    mer_onnx_emit_part(node, op, last, 2, node->outputs, node->output_count);
}

static int64_t divided(int64_t size, int64_t by)
{
    return size < 0 || by < 1 ? ONNX_UNKNOWN_DIM : size / by;
}

/* Attention: input (B, S, D), weights (D, 3H or the sum of qkv_hidden_sizes). */
static bool read_attention(OnnxNode *node, Heads *h, int64_t *columns)
{
    const OnnxShape *input = mer_onnx_shape(node, 0);
    const OnnxShape *weights = mer_onnx_shape(node, 1);
    OnnxInts         sizes = mer_onnx_ints(node, "qkv_hidden_sizes");
    int64_t          heads = head_count(node);
    if (input->rank != 3 || weights->rank != 2)
        return false;
    *columns = weights->dims[1];
    int64_t key = sizes.count == 3 ? sizes.list[0] : divided(*columns, 3);
    int64_t value = sizes.count == 3 ? sizes.list[2] : divided(*columns, 3);
    *h = (Heads){.batch = input->dims[0],
                 .queries = input->dims[1],
                 .keys = input->dims[1],
                 .heads = heads,
                 .key_width = divided(key, heads),
                 .value_width = divided(value, heads)};
    return true;
}

OnnxShape mer_onnx_infer_attention(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    Heads     h;
    int64_t   columns;
    if (read_attention(node, &h, &columns))
        shape.dims[2] = mer_onnx_multiply(node, h.heads, h.value_width);
    return shape;
}

void mer_onnx_emit_attention(OnnxNode *node)
{
    Heads   h;
    int64_t columns;
    if (!read_attention(node, &h, &columns)) {
        mer_onnx_emit_plain(node, MER_OP_MOVE);
        return;
    }
    OnnxShape  shape = {.rank = 3, .dims = {h.batch, h.queries, columns}};
    OnnxValue *projected = mer_onnx_part_value(node, "qkv", mer_onnx_input_type(node, 0), shape);
    MerOp      op = mer_op_make(projected->name, node->op, MER_OP_GEMM);
    op.dims[MER_DIM_Y] = mer_onnx_multiply(node, h.batch, h.queries);
    op.dims[MER_DIM_C] = mer_onnx_shape(node, 0)->dims[2];
    op.dims[MER_DIM_K] = columns;
    mer_onnx_emit_part(node, op, node->inputs, node->input_count, &projected, 1);
    emit_heads(node, &h, &projected, 1);
}

/* MultiHeadAttention: query (B, S, H), key (B, L, H), value (B, L, V). */
static bool read_multi_head(OnnxNode *node, Heads *h)
{
    const OnnxShape *query = mer_onnx_shape(node, 0);
    const OnnxShape *key = mer_onnx_shape(node, 1);
    const OnnxShape *value = mer_onnx_shape(node, 2);
    int64_t          heads = head_count(node);
    if (query->rank != 3 || key->rank != 3 || value->rank != 3)
        return false;
    *h = (Heads){.batch = query->dims[0],
                 .queries = query->dims[1],
                 .keys = key->dims[1],
                 .heads = heads,
                 .key_width = divided(query->dims[2], heads),
                 .value_width = divided(value->dims[2], heads)};
    return true;
}

OnnxShape mer_onnx_infer_multi_head(OnnxNode *node)
{
    OnnxShape        shape = *mer_onnx_shape(node, 0);
    const OnnxShape *value = mer_onnx_shape(node, 2);
    if (shape.rank == 3 && value->rank == 3)
        shape.dims[2] = value->dims[2];
    else if (shape.rank != 3)
        shape = mer_onnx_unknown_shape;
    return shape;
}

/* GroupQueryAttention: fewer heads for keys and values; the cache adds past keys. */
static bool read_group_query(OnnxNode *node, Heads *h)
{
    const OnnxShape *query = mer_onnx_shape(node, 0);
    const OnnxShape *past = mer_onnx_shape(node, 3);
    int64_t          heads = head_count(node);
    int64_t          shared = mer_onnx_int(node, "kv_num_heads", heads);
    if (query->rank != 3 || shared < 1 || shared > INT32_MAX)
        return false;
    /* Without a key input the query holds all three. */
    bool    is_packed = mer_onnx_shape(node, 1)->rank != 3;
    int64_t width = divided(query->dims[2], is_packed ? heads + 2 * shared : heads);
    int64_t past_length = past->rank == 4 ? past->dims[2] : 0;
    int64_t keys = past_length < 0 || query->dims[1] < 0 ? -1 : past_length + query->dims[1];
    *h = (Heads){.batch = query->dims[0],
                 .queries = query->dims[1],
                 .keys = keys,
                 .heads = heads,
                 .key_width = width,
                 .value_width = width};
    return true;
}

OnnxShape mer_onnx_infer_group_query(OnnxNode *node)
{
    OnnxShape shape = *mer_onnx_shape(node, 0);
    Heads     h;
    if (!read_group_query(node, &h))
        return mer_onnx_unknown_shape;
    shape.dims[2] = mer_onnx_multiply(node, h.heads, h.key_width);
    int64_t   shared = mer_onnx_int(node, "kv_num_heads", h.heads);
    OnnxShape cache = {.rank = 4, .dims = {h.batch, shared, h.keys, h.key_width}};
    mer_onnx_set(node, 1, node->result_type, cache);
    mer_onnx_set(node, 2, node->result_type, cache);
    return shape;
}

void mer_onnx_emit_heads(OnnxNode *node)
{
    Heads h;
    bool  is_multi_head = strcmp(node->op, "MultiHeadAttention") == 0;
    if (is_multi_head ? read_multi_head(node, &h) : read_group_query(node, &h))
        emit_heads(node, &h, node->inputs, node->input_count);
    else
        mer_onnx_emit_plain(node, MER_OP_MOVE);
}
