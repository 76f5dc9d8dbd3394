/* Matrix products: MatMul and Gemm with their integer and fused forms. */
#include "import/onnx/onnx.h"

#include <string.h>

/* (batch) x rows x inner times (batch) x inner x columns */
typedef struct Product {
    OnnxShape shape; /* of the result */
    int64_t   rows, inner, columns;
    int64_t   batch, left_batch, right_batch; /* left and right: before broadcasting */
} Product;

static int64_t batch_of(OnnxNode *node, const OnnxShape *shape)
{
    int64_t batch = 1;
    for (int axis = 0; axis < shape->rank; axis++)
        batch = mer_onnx_multiply(node, batch, shape->dims[axis]);
    return batch;
}

/* As numpy: a vector on the left is a row, on the right a column, and that axis goes again. */
static bool multiply(OnnxNode *node, const OnnxShape *left, const OnnxShape *right,
                     Product *product)
{
    *product = (Product){.shape = {.rank = -1}};
    if (left->rank < 0 || right->rank < 0)
        return false;
    if (left->rank == 0 || right->rank == 0) {
        mer_onnx_fail(node, "a factor is a scalar, expected at least a vector");
        return false;
    }
    OnnxShape left_batch = *left, right_batch = *right;
    left_batch.rank = left->rank > 2 ? left->rank - 2 : 0;
    right_batch.rank = right->rank > 2 ? right->rank - 2 : 0;
    int64_t inner = right->rank > 1 ? right->dims[right->rank - 2] : right->dims[0];
    product->rows = left->rank > 1 ? left->dims[left->rank - 2] : 1;
    product->inner = left->dims[left->rank - 1];
    product->columns = right->rank > 1 ? right->dims[right->rank - 1] : 1;
    if (product->inner != inner && product->inner >= 0 && inner >= 0)
        mer_onnx_fail(node, "the inner sizes of %s and %s differ",
                      mer_onnx_shape_text(node->context, left),
                      mer_onnx_shape_text(node->context, right));
    product->inner = product->inner < 0 ? inner : product->inner;
    product->left_batch = batch_of(node, &left_batch);
    product->right_batch = batch_of(node, &right_batch);
    product->shape = mer_onnx_broadcast(node, &left_batch, &right_batch);
    if (product->shape.rank < 0)
        return false;
    product->batch = batch_of(node, &product->shape);
    if (left->rank > 1)
        product->shape.dims[product->shape.rank++] = product->rows;
    if (right->rank > 1)
        product->shape.dims[product->shape.rank++] = product->columns;
    return true;
}

/* Loops of the product. A side without batch is shared: a plain GEMM. */
static MerOp product_op(const OnnxNode *node, const Product *product)
{
    MerOp   op = mer_op_make(node->name, node->op, MER_OP_GEMM);
    bool    is_shared_right = product->right_batch == 1;
    bool    is_shared_left = product->left_batch == 1 && node->inputs[0]->role == MER_VALUE_WEIGHT;
    bool    is_turned = is_shared_left && !is_shared_right;
    int64_t rows = is_turned ? product->columns : product->rows;
    op.dims[MER_DIM_Y] = rows;
    op.dims[MER_DIM_K] = is_turned ? product->rows : product->columns;
    op.dims[MER_DIM_C] = product->inner;
    if (is_shared_right || is_shared_left) {
        if (product->batch < 0 || rows < 0 ||
            __builtin_mul_overflow(rows, product->batch, &op.dims[MER_DIM_Y]))
            op.dims[MER_DIM_Y] = ONNX_UNKNOWN_DIM;
    } else if (product->batch != 1) {
        op.kind = MER_OP_BATCHED_GEMM;
        op.dims[MER_DIM_G] = product->batch;
    }
    return op;
}

static OnnxShape transposed(OnnxShape shape, bool is_transposed)
{
    if (is_transposed && shape.rank >= 2) {
        int64_t last = shape.dims[shape.rank - 1];
        shape.dims[shape.rank - 1] = shape.dims[shape.rank - 2];
        shape.dims[shape.rank - 2] = last;
    }
    return shape;
}

/* com.microsoft: weights packed to a few bits; their true sizes are attributes. */
static OnnxShape packed_weights(OnnxNode *node)
{
    OnnxShape shape = {.rank = 2};
    shape.dims[0] = mer_onnx_required_int(node, "K");
    shape.dims[1] = mer_onnx_required_int(node, "N");
    if (shape.dims[0] < 1 || shape.dims[1] < 1 || shape.dims[0] > INT32_MAX ||
        shape.dims[1] > INT32_MAX) {
        mer_onnx_fail(node, "K or N is out of range");
        shape.dims[0] = shape.dims[1] = 1;
    }
    return shape;
}

static bool read_product(OnnxNode *node, Product *product)
{
    OnnxShape left = transposed(*mer_onnx_shape(node, 0), mer_onnx_int(node, "transA", 0) != 0);
    OnnxShape right = transposed(*mer_onnx_shape(node, mer_onnx_right(node)),
                                 mer_onnx_int(node, "transB", 0) != 0);
    if (strcmp(node->op, "MatMulNBits") == 0)
        right = packed_weights(node);
    return multiply(node, &left, &right, product);
}

OnnxShape mer_onnx_infer_matmul(OnnxNode *node)
{
    Product product;
    read_product(node, &product);
    return product.shape;
}

OnnxShape mer_onnx_infer_gemm(OnnxNode *node)
{
    for (int i = 0; i < 2; i++) {
        int rank = mer_onnx_shape(node, i)->rank;
        if (rank >= 0 && rank != 2)
            mer_onnx_fail(node, "input %d has %d axes, expected 2", i, rank);
    }
    return mer_onnx_infer_matmul(node);
}

void mer_onnx_emit_product(OnnxNode *node)
{
    Product product;
    if (!read_product(node, &product))
        product.rows = ONNX_UNKNOWN_DIM;
    mer_onnx_emit_loops(node, product_op(node, &product));
}
