/* The operators: what each needs, makes and becomes. An operator of the same name in another domain
 * is another operator. */
#include "import/onnx/onnx.h"

#include "base/word_list.h"

#define INFER(name) .infer = mer_onnx_infer_##name
#define FOLD(name) .fold = mer_onnx_fold_##name
#define EMIT(name) .emit = mer_onnx_emit_##name
#define RESULT(name) .result = 1 + MER_TYPE_##name
#define MICROSOFT(names) .microsoft = names

/* names, inputs that must be there, kind; the rest by name, MICROSOFT for names in com.microsoft */
/* clang-format off */
static const OnnxOperator operators[] = {
    /* convolutions and products */
    {"Conv", 2, MER_OP_CONV, INFER(conv), EMIT(conv), MICROSOFT("FusedConv")},
    {"ConvInteger", 2, MER_OP_CONV, INFER(conv), EMIT(conv), RESULT(INT32)},
    {"QLinearConv", 4, MER_OP_CONV, INFER(conv), EMIT(conv), MICROSOFT("QLinearConv")},
    {"DeformConv", 3, MER_OP_CONV, INFER(conv), EMIT(conv)},
    {"ConvTranspose", 2, MER_OP_TRANSPOSED, INFER(conv_transpose), EMIT(conv_transpose)},
    {"Gemm", 2, MER_OP_GEMM, INFER(gemm), EMIT(product), MICROSOFT("FusedGemm")},
    {"QLinearMatMul", 4, MER_OP_GEMM, INFER(matmul), EMIT(product), MICROSOFT("QGemm")},
    {"MatMul", 2, MER_OP_GEMM, INFER(matmul), EMIT(product),
     MICROSOFT("FusedMatMul TransposeMatMul MatMulNBits")},
    {"MatMulInteger", 2, MER_OP_GEMM, INFER(matmul), EMIT(product), RESULT(INT32)},
    {"", 2, MER_OP_GEMM, INFER(matmul), EMIT(product), RESULT(FLOAT32),
     MICROSOFT("MatMulIntegerToFloat DynamicQuantizeMatMul")},
    {"Einsum", 1, MER_OP_GEMM, INFER(einsum), EMIT(einsum)},
    {"LSTM GRU RNN", 3, MER_OP_GEMM, INFER(recurrent), EMIT(recurrent)},
    {"", 2, MER_OP_GEMM, INFER(attention), EMIT(attention), MICROSOFT("Attention QAttention")},
    {"", 1, MER_OP_GEMM, INFER(multi_head), EMIT(heads), MICROSOFT("MultiHeadAttention")},
    {"", 1, MER_OP_GEMM, INFER(group_query), EMIT(heads), MICROSOFT("GroupQueryAttention")},

    /* pools and normalisations */
    {"MaxPool AveragePool LpPool", 1, MER_OP_POOL, INFER(pool), EMIT(pool),
     MICROSOFT("QLinearAveragePool")},
    {"MaxUnpool", 2, MER_OP_POOL, INFER(max_unpool)},
    {"GlobalAveragePool GlobalMaxPool GlobalLpPool", 1, MER_OP_POOL, INFER(global_pool),
     MICROSOFT("QLinearGlobalAveragePool")},
    {"MaxRoiPool", 2, MER_OP_POOL, INFER(roi)},
    {"RoiAlign", 3, MER_OP_POOL, INFER(roi)},
    {"BatchNormalization", 5, MER_OP_NORM, INFER(batch_norm)},
    {"InstanceNormalization GroupNormalization LRN LpNormalization MeanVarianceNormalization",
     1, MER_OP_NORM, INFER(same), MICROSOFT("GroupNorm")},
    {"LayerNormalization SimplifiedLayerNormalization RMSNormalization",
     1, MER_OP_NORM, INFER(layer_norm)},
    {"", 1, MER_OP_NORM, INFER(skip_norm),
     MICROSOFT("SkipLayerNormalization SkipSimplifiedLayerNormalization")},
    {"", 1, MER_OP_NORM, INFER(embed_norm), MICROSOFT("EmbedLayerNormalization")},
    {"Softmax LogSoftmax Hardmax", 1, MER_OP_SOFTMAX, INFER(same),
     MICROSOFT("BiasSoftmax QLinearSoftmax")},

    /* element by element */
    {"Add Sub Mul Div Mod Pow", 2, MER_OP_ELEMENTWISE, INFER(broadcast), FOLD(arithmetic)},
    {"Min Max Sum", 1, MER_OP_ELEMENTWISE, INFER(broadcast), FOLD(arithmetic)},
    {"Mean", 1, MER_OP_ELEMENTWISE, INFER(broadcast)},
    {"PRelu", 2, MER_OP_ELEMENTWISE, INFER(same)},
    {"BitShift BitwiseAnd BitwiseOr BitwiseXor", 2, MER_OP_ELEMENTWISE, INFER(broadcast),
     MICROSOFT("BiasGelu")},
    {"BitwiseNot Relu LeakyRelu Elu Selu Celu Gelu ThresholdedRelu Sigmoid HardSigmoid HardSwish "
     "Swish Mish Tanh Softplus Softsign Erf Exp Log Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh "
     "Acosh Atanh Sign Clip Shrink", 1, MER_OP_ELEMENTWISE, INFER(same),
     MICROSOFT("FastGelu QuickGelu Gelu RotaryEmbedding QLinearSigmoid QLinearLeakyRelu")},
    {"", 4, MER_OP_ELEMENTWISE, INFER(qlinear_binary), MICROSOFT("QLinearAdd QLinearMul")},
    {"Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor",
     2, MER_OP_ELEMENTWISE, INFER(broadcast), FOLD(compare), RESULT(BOOL)},
    {"Not", 1, MER_OP_ELEMENTWISE, INFER(same), FOLD(unary), RESULT(BOOL)},
    {"IsNaN IsInf", 1, MER_OP_ELEMENTWISE, INFER(same), RESULT(BOOL)},
    {"Where", 3, MER_OP_ELEMENTWISE, INFER(where), FOLD(where)},
    {"Cast", 1, MER_OP_ELEMENTWISE, INFER(cast), FOLD(cast)},
    {"CastLike", 2, MER_OP_ELEMENTWISE, INFER(like), FOLD(cast)},
    {"QuantizeLinear", 2, MER_OP_ELEMENTWISE, INFER(quantize), MICROSOFT("QuantizeLinear")},
    {"DequantizeLinear", 2, MER_OP_ELEMENTWISE, INFER(dequantize), MICROSOFT("DequantizeLinear")},
    {"DynamicQuantizeLinear", 1, MER_OP_ELEMENTWISE, INFER(dynamic_quantize), RESULT(UINT8)},
    {"Neg Abs Floor Ceil Round Sqrt Reciprocal", 1, MER_OP_ELEMENTWISE, INFER(same), FOLD(unary)},
    {"Bernoulli RandomNormalLike RandomUniformLike", 1, MER_OP_ELEMENTWISE, INFER(like)},
    {"EyeLike", 1, MER_OP_MOVE, INFER(like)},
    {"RandomNormal RandomUniform", 0, MER_OP_ELEMENTWISE, INFER(random)},
    {"Multinomial", 1, MER_OP_ELEMENTWISE, INFER(unknown), RESULT(UNKNOWN)},

    /* reductions and searches */
    {"ReduceSum ReduceProd ReduceMin ReduceMax", 1, MER_OP_REDUCE, INFER(reduce), FOLD(reduce)},
    {"ReduceMean ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare",
     1, MER_OP_REDUCE, INFER(reduce), MICROSOFT("QLinearReduceMean")},
    {"ArgMax ArgMin", 1, MER_OP_REDUCE, INFER(arg), RESULT(INT64)},
    {"TopK", 1, MER_OP_REDUCE, INFER(top_k)},
    {"CumSum", 1, MER_OP_REDUCE, INFER(same)},
    {"Det", 1, MER_OP_REDUCE, INFER(det)},
    {"NonMaxSuppression", 2, MER_OP_REDUCE, INFER(suppression), RESULT(INT64)},
    {"Unique", 1, MER_OP_REDUCE, INFER(unique)},
    {"NonZero", 1, MER_OP_REDUCE, INFER(non_zero), FOLD(non_zero), RESULT(INT64)},

    /* indexing */
    {"Gather", 2, MER_OP_GATHER, INFER(gather), FOLD(gather)},
    {"GatherElements", 2, MER_OP_GATHER, INFER(gather_elements)},
    {"GatherND", 2, MER_OP_GATHER, INFER(gather_nd)},
    {"Scatter ScatterElements ScatterND", 3, MER_OP_GATHER, INFER(same)},
    {"TensorScatter", 2, MER_OP_GATHER, INFER(same)},
    {"OneHot", 3, MER_OP_GATHER, INFER(one_hot)},
    {"Compress", 2, MER_OP_GATHER, INFER(compress)},

    /* resampling and signals */
    {"Resize Upsample", 1, MER_OP_RESIZE, INFER(resize)},
    {"GridSample", 2, MER_OP_RESIZE, INFER(grid_sample)},
    {"AffineGrid", 2, MER_OP_RESIZE, INFER(affine_grid)},
    {"DFT", 1, MER_OP_ELEMENTWISE, INFER(dft)},
    {"STFT", 2, MER_OP_ELEMENTWISE, INFER(stft)},
    {"HannWindow HammingWindow BlackmanWindow", 1, MER_OP_ELEMENTWISE, INFER(window_function)},
    {"MelWeightMatrix", 2, MER_OP_ELEMENTWISE, INFER(mel)},

    /* data movement */
    {"Identity Dropout Trilu", 1, MER_OP_MOVE, INFER(same)},
    {"Constant If Loop Scan SequenceConstruct SequenceEmpty SequenceAt SequenceInsert "
     "SequenceErase SequenceLength SequenceMap SplitToSequence ConcatFromSequence Optional "
     "OptionalGetElement OptionalHasElement StringNormalizer StringConcat StringSplit "
     "RegexFullMatch TfIdfVectorizer ImageDecoder",
     0, MER_OP_MOVE, INFER(unknown), RESULT(UNKNOWN)},
    {"Reshape", 1, MER_OP_MOVE, INFER(reshape), FOLD(same_order)},
    {"Flatten", 1, MER_OP_MOVE, INFER(flatten), FOLD(same_order)},
    {"Squeeze", 1, MER_OP_MOVE, INFER(squeeze), FOLD(same_order)},
    {"Unsqueeze", 1, MER_OP_MOVE, INFER(unsqueeze), FOLD(same_order)},
    {"Transpose", 1, MER_OP_MOVE, INFER(transpose), FOLD(transpose)},
    {"Expand", 2, MER_OP_MOVE, INFER(expand), FOLD(expand)},
    {"Tile", 2, MER_OP_MOVE, INFER(tile), FOLD(tile)},
    {"Concat", 1, MER_OP_MOVE, INFER(concat), FOLD(concat)},
    {"", 3, MER_OP_MOVE, INFER(concat), MICROSOFT("QLinearConcat")},
    {"Split", 1, MER_OP_MOVE, INFER(split), FOLD(split)},
    {"Slice", 1, MER_OP_MOVE, INFER(slice), FOLD(slice)},
    {"Pad", 1, MER_OP_MOVE, INFER(pad)},
    {"CenterCropPad", 2, MER_OP_MOVE, INFER(center_crop)},
    {"DepthToSpace SpaceToDepth", 1, MER_OP_MOVE, INFER(blocks)},
    {"ReverseSequence", 2, MER_OP_MOVE, INFER(same)},
    {"Shape", 1, MER_OP_MOVE, INFER(shape), FOLD(shape), RESULT(INT64)},
    {"Size", 1, MER_OP_MOVE, INFER(size), FOLD(size), RESULT(INT64)},
    {"Range", 3, MER_OP_MOVE, INFER(range), FOLD(range)},
    {"ConstantOfShape", 1, MER_OP_MOVE, INFER(constant_of_shape), FOLD(constant_of_shape)},
    {"Col2Im", 3, MER_OP_MOVE, INFER(unknown), RESULT(UNKNOWN)},
};
/* clang-format on */

const OnnxOperator *mer_onnx_operator_find(const char *name, const char *domain)
{
    bool is_microsoft = strcmp(domain, "com.microsoft") == 0;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const char *names = is_microsoft ? operators[i].microsoft : operators[i].names;
        if (names != NULL && mer_word_list_has(names, name))
            return is_microsoft || domain[0] == '\0' ? &operators[i] : NULL;
    }
    return NULL;
}
