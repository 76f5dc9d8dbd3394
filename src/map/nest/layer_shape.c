/* Projections of each operator kind (docs/loopnest-model.md, "Tensors as projections"), and footprints. */
#include "map/nest/layer_shape.h"

#include <limits.h>

#define BIT(dim) (1u << MER_DIM_##dim)

static void add_slide(MerTensorShape *tensor, int dim0, int coefficient0, int dim1,
                      int coefficient1)
{
    tensor->slides[tensor->slide_count++] = (MerSlide){{dim0, dim1}, {coefficient0, coefficient1}};
    tensor->relevant |= 1u << dim0 | 1u << dim1;
}

static void add_image_slides(MerTensorShape *tensor, const MerOp *op)
{
    add_slide(tensor, MER_DIM_Y, op->stride[0], MER_DIM_R, op->dilation[0]);
    add_slide(tensor, MER_DIM_X, op->stride[1], MER_DIM_S, op->dilation[1]);
}

/* Dims of W, I and O that are a rank of their own; a kind without any has no loop nest. */
static const unsigned plain_dims[MER_OP_KIND_COUNT][MER_TENSOR_COUNT] = {
    [MER_OP_CONV] = {BIT(G) | BIT(K) | BIT(C) | BIT(R) | BIT(S), BIT(N) | BIT(G) | BIT(C),
                     BIT(N) | BIT(G) | BIT(K) | BIT(Y) | BIT(X)},
    [MER_OP_DEPTHWISE] = {BIT(C) | BIT(R) | BIT(S), BIT(N) | BIT(C),
                          BIT(N) | BIT(C) | BIT(Y) | BIT(X)},
    [MER_OP_TRANSPOSED] = {BIT(G) | BIT(K) | BIT(C) | BIT(R) | BIT(S),
                           BIT(N) | BIT(G) | BIT(C) | BIT(Y) | BIT(X), BIT(N) | BIT(G) | BIT(K)},
    [MER_OP_GEMM] = {BIT(G) | BIT(K) | BIT(C), BIT(N) | BIT(G) | BIT(C) | BIT(Y),
                     BIT(N) | BIT(G) | BIT(K) | BIT(Y)},
    [MER_OP_BATCHED_GEMM] = {BIT(G) | BIT(K) | BIT(C), BIT(N) | BIT(G) | BIT(C) | BIT(Y),
                             BIT(N) | BIT(G) | BIT(K) | BIT(Y)},
};

static MerStatus set_projections(const MerOp *op, MerLayerShape *shape, MerError *error)
{
    const unsigned *plain = plain_dims[op->kind];
    if (!plain[MER_TENSOR_W]) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "operator %s is of kind %s, which has no loop nest", op->name,
                             mer_op_kind_name(op->kind));
    }
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        shape->tensors[t].plain = shape->tensors[t].relevant = plain[t];
    }
    if (op->kind == MER_OP_TRANSPOSED) { /* scatter: the output slides, the input does not */
        add_image_slides(&shape->tensors[MER_TENSOR_O], op);
    } else if (op->kind == MER_OP_CONV || op->kind == MER_OP_DEPTHWISE) {
        add_image_slides(&shape->tensors[MER_TENSOR_I], op);
    }
    return MER_OK;
}

/* Dims of size 1 neither move a tile nor widen it: leaving them out keeps every later loop short. */
static void drop_unit_dims(MerLayerShape *shape)
{
    unsigned real = 0;
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (shape->size[d] > 1) {
            real |= 1u << d;
            shape->dims[shape->dim_count++] = d;
        }
    }
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        MerTensorShape *tensor = &shape->tensors[t];
        tensor->relevant &= real;
        tensor->plain &= real;
        for (int i = 0; i < shape->dim_count; i++) {
            if (tensor->plain >> shape->dims[i] & 1) {
                tensor->plain_dims[tensor->plain_count++] = shape->dims[i];
            }
        }
        int kept = 0;
        for (int s = 0; s < tensor->slide_count; s++) {
            const MerSlide *slide = &tensor->slides[s];
            bool            moves = (real >> slide->dim[0] & 1) || (real >> slide->dim[1] & 1);
            if (moves) {
                tensor->slides[kept++] = *slide;
            }
        }
        tensor->slide_count = kept;
    }
    shape->reduction = real & ~shape->tensors[MER_TENSOR_O].relevant;
}

/* Distinct values of a*i + b*j for i < m, j < n: a range without gaps, or all pairs if none coincide; in
 * between a number that is not too large. */
static double distinct_positions(const MerSlide *slide, double m, double n)
{
    double a = slide->coefficient[0];
    double b = slide->coefficient[1];
    if ((b == 1 && a <= n) || (a == 1 && b <= m)) {
        return 1 + a * (m - 1) + b * (n - 1);
    }
    bool are_apart = a > b * (n - 1) || b > a * (m - 1);
    return are_apart ? m * n : m > n ? m : n;
}

static double plain_words(const MerTensorShape *tensor, const double *tile)
{
    double words = 1;
    for (int i = 0; i < tensor->plain_count; i++) {
        words *= tile[tensor->plain_dims[i]];
    }
    return words;
}

double mer_layer_touched(const MerLayerShape *shape, int tensor, const double tile[MER_DIM_COUNT])
{
    const MerTensorShape *t = &shape->tensors[tensor];
    double                words = plain_words(t, tile);
    for (int s = 0; s < t->slide_count; s++) {
        const MerSlide *slide = &t->slides[s];
        words *= distinct_positions(slide, tile[slide->dim[0]], tile[slide->dim[1]]);
    }
    return words;
}

MerStatus mer_layer_shape_make(const MerOp *op, MerLayerShape *shape, MerError *error)
{
    *shape = (MerLayerShape){.macs = 1};
    double whole[MER_DIM_COUNT];
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (op->dims[d] < 1 || op->dims[d] > INT_MAX) {
            return mer_error_set(error, MER_INVALID,
                                 "operator %s: dimension %c is %lld, expected 1 .. %d", op->name,
                                 MER_DIM_LETTERS[d], (long long)op->dims[d], INT_MAX);
        }
        shape->size[d] = (int)op->dims[d];
        shape->macs *= shape->size[d];
        whole[d] = shape->size[d];
    }
    MER_TRY(set_projections(op, shape, error));
    drop_unit_dims(shape);
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        shape->tensors[t].words = mer_layer_footprint(shape, t, whole);
        shape->tensors[t].touched = mer_layer_touched(shape, t, whole);
    }
    return MER_OK;
}

double mer_layer_footprint(const MerLayerShape *shape, int tensor, const double tile[MER_DIM_COUNT])
{
    const MerTensorShape *t = &shape->tensors[tensor];
    double                words = plain_words(t, tile);
    for (int s = 0; s < t->slide_count; s++) {
        words *= mer_slide_height(&t->slides[s], tile);
    }
    return words;
}
