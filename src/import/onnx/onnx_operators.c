/* The operators: what each needs, makes and becomes. An operator of the same name in another domain
 * is another operator. */
#include "import/onnx/onnx.h"

#include <string.h>

#define INFER(name) mer_onnx_infer_##name
#define FOLD(name) mer_onnx_fold_##name
#define EMIT(name) mer_onnx_emit_##name
#define MICROSOFT "com.microsoft"

/* names, domain, inputs that must be there, kind, inference, folding, emission */
/* clang-format off */
static const OnnxOperator operators[] = {
    /* convolutions and products */
    {"Conv", "", 2, MER_OP_CONV, INFER(conv), NULL, EMIT(conv)},
    {"FusedConv", MICROSOFT, 2, MER_OP_CONV, INFER(conv), NULL, EMIT(conv)},
    {"ConvInteger", "", 2, MER_OP_CONV, INFER(conv_integer), NULL, EMIT(conv)},
    {"QLinearConv", "", 4, MER_OP_CONV, INFER(conv), NULL, EMIT(conv)},
    {"QLinearConv", MICROSOFT, 4, MER_OP_CONV, INFER(conv), NULL, EMIT(conv)},
    {"DeformConv", "", 3, MER_OP_CONV, INFER(conv), NULL, EMIT(conv)},
    {"ConvTranspose", "", 2, MER_OP_TRANSPOSED, INFER(conv_transpose), NULL, EMIT(conv_transpose)},
    {"Gemm", "", 2, MER_OP_GEMM, INFER(gemm), NULL, EMIT(product)},
    {"FusedGemm", MICROSOFT, 2, MER_OP_GEMM, INFER(gemm), NULL, EMIT(product)},
    {"QGemm", MICROSOFT, 4, MER_OP_GEMM, INFER(matmul), NULL, EMIT(product)},
    {"MatMul", "", 2, MER_OP_GEMM, INFER(matmul), NULL, EMIT(product)},
    {"FusedMatMul TransposeMatMul MatMulNBits",
     MICROSOFT, 2, MER_OP_GEMM, INFER(matmul), NULL, EMIT(product)},
    {"MatMulInteger", "", 2, MER_OP_GEMM, INFER(matmul_integer), NULL, EMIT(product)},
    {"MatMulIntegerToFloat DynamicQuantizeMatMul",
     MICROSOFT, 2, MER_OP_GEMM, INFER(matmul_integer), NULL, EMIT(product)},
    {"QLinearMatMul", "", 4, MER_OP_GEMM, INFER(matmul), NULL, EMIT(product)},
    {"Einsum", "", 1, MER_OP_GEMM, INFER(einsum), NULL, EMIT(einsum)},
    {"LSTM GRU RNN", "", 3, MER_OP_GEMM, INFER(recurrent), NULL, EMIT(recurrent)},
    {"Attention QAttention", MICROSOFT, 2, MER_OP_GEMM, INFER(attention), NULL, EMIT(attention)},
    {"MultiHeadAttention", MICROSOFT, 1, MER_OP_GEMM, INFER(multi_head), NULL, EMIT(heads)},
    {"GroupQueryAttention", MICROSOFT, 1, MER_OP_GEMM, INFER(group_query), NULL, EMIT(heads)},

    /* pools and normalisations */
    {"MaxPool AveragePool LpPool", "", 1, MER_OP_POOL, INFER(pool), NULL, EMIT(pool)},
    {"QLinearAveragePool", MICROSOFT, 1, MER_OP_POOL, INFER(pool), NULL, EMIT(pool)},
    {"MaxUnpool", "", 2, MER_OP_POOL, INFER(max_unpool), NULL, NULL},
    {"GlobalAveragePool GlobalMaxPool GlobalLpPool",
     "", 1, MER_OP_POOL, INFER(global_pool), NULL, NULL},
    {"QLinearGlobalAveragePool", MICROSOFT, 1, MER_OP_POOL, INFER(global_pool), NULL, NULL},
    {"MaxRoiPool", "", 2, MER_OP_POOL, INFER(roi), NULL, NULL},
    {"RoiAlign", "", 3, MER_OP_POOL, INFER(roi), NULL, NULL},
    {"BatchNormalization", "", 5, MER_OP_NORM, INFER(batch_norm), NULL, NULL},
    {"InstanceNormalization GroupNormalization LRN LpNormalization MeanVarianceNormalization",
     "", 1, MER_OP_NORM, INFER(same), NULL, NULL},
    {"GroupNorm", MICROSOFT, 1, MER_OP_NORM, INFER(same), NULL, NULL},
    {"LayerNormalization SimplifiedLayerNormalization RMSNormalization",
     "", 1, MER_OP_NORM, INFER(layer_norm), NULL, NULL},
    {"SkipLayerNormalization SkipSimplifiedLayerNormalization",
     MICROSOFT, 1, MER_OP_NORM, INFER(skip_norm), NULL, NULL},
    {"EmbedLayerNormalization", MICROSOFT, 1, MER_OP_NORM, INFER(embed_norm), NULL, NULL},
    {"Softmax LogSoftmax Hardmax", "", 1, MER_OP_SOFTMAX, INFER(same), NULL, NULL},
    {"BiasSoftmax QLinearSoftmax", MICROSOFT, 1, MER_OP_SOFTMAX, INFER(same), NULL, NULL},

    /* element by element */
    {"Add Sub Mul Div Mod Pow",
     "", 2, MER_OP_ELEMENTWISE, INFER(broadcast), FOLD(arithmetic), NULL},
    {"Min Max Sum", "", 1, MER_OP_ELEMENTWISE, INFER(broadcast), FOLD(arithmetic), NULL},
    {"Mean", "", 1, MER_OP_ELEMENTWISE, INFER(broadcast), NULL, NULL},
    {"PRelu", "", 2, MER_OP_ELEMENTWISE, INFER(same), NULL, NULL},
    {"BitShift BitwiseAnd BitwiseOr BitwiseXor",
     "", 2, MER_OP_ELEMENTWISE, INFER(broadcast), NULL, NULL},
    {"BitwiseNot Relu LeakyRelu Elu Selu Celu Gelu ThresholdedRelu Sigmoid HardSigmoid "
     "HardSwish Swish Mish Tanh Softplus Softsign Erf Exp Log Sin Cos Tan Asin Acos Atan "
     "Sinh Cosh Asinh Acosh Atanh Sign Clip Shrink",
     "", 1, MER_OP_ELEMENTWISE, INFER(same), NULL, NULL},
    {"BiasGelu", MICROSOFT, 2, MER_OP_ELEMENTWISE, INFER(broadcast), NULL, NULL},
    {"FastGelu QuickGelu Gelu RotaryEmbedding QLinearSigmoid QLinearLeakyRelu",
     MICROSOFT, 1, MER_OP_ELEMENTWISE, INFER(same), NULL, NULL},
    {"QLinearAdd QLinearMul", MICROSOFT, 4, MER_OP_ELEMENTWISE, INFER(qlinear_binary), NULL, NULL},
    {"Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor",
     "", 2, MER_OP_ELEMENTWISE, INFER(compare), FOLD(compare), NULL},
    {"Not", "", 1, MER_OP_ELEMENTWISE, INFER(test), FOLD(unary), NULL},
    {"IsNaN IsInf", "", 1, MER_OP_ELEMENTWISE, INFER(test), NULL, NULL},
    {"Where", "", 3, MER_OP_ELEMENTWISE, INFER(where), FOLD(where), NULL},
    {"Cast", "", 1, MER_OP_ELEMENTWISE, INFER(cast), FOLD(cast), NULL},
    {"CastLike", "", 2, MER_OP_ELEMENTWISE, INFER(like), FOLD(cast), NULL},
    {"QuantizeLinear", "", 2, MER_OP_ELEMENTWISE, INFER(quantize), NULL, NULL},
    {"QuantizeLinear", MICROSOFT, 2, MER_OP_ELEMENTWISE, INFER(quantize), NULL, NULL},
    {"DequantizeLinear", "", 2, MER_OP_ELEMENTWISE, INFER(dequantize), NULL, NULL},
    {"DequantizeLinear", MICROSOFT, 2, MER_OP_ELEMENTWISE, INFER(dequantize), NULL, NULL},
    {"DynamicQuantizeLinear", "", 1, MER_OP_ELEMENTWISE, INFER(dynamic_quantize), NULL, NULL},
    {"Neg Abs Floor Ceil Round Sqrt Reciprocal",
     "", 1, MER_OP_ELEMENTWISE, INFER(same), FOLD(unary), NULL},
    {"Bernoulli RandomNormalLike RandomUniformLike",
     "", 1, MER_OP_ELEMENTWISE, INFER(like), NULL, NULL},
    {"EyeLike", "", 1, MER_OP_MOVE, INFER(like), NULL, NULL},
    {"RandomNormal RandomUniform", "", 0, MER_OP_ELEMENTWISE, INFER(random), NULL, NULL},
    {"Multinomial", "", 1, MER_OP_ELEMENTWISE, INFER(unknown), NULL, NULL},

    /* reductions and searches */
    {"ReduceSum ReduceProd ReduceMin ReduceMax",
     "", 1, MER_OP_REDUCE, INFER(reduce), FOLD(reduce), NULL},
    {"ReduceMean ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare",
     "", 1, MER_OP_REDUCE, INFER(reduce), NULL, NULL},
    {"QLinearReduceMean", MICROSOFT, 1, MER_OP_REDUCE, INFER(reduce), NULL, NULL},
    {"ArgMax ArgMin", "", 1, MER_OP_REDUCE, INFER(arg), NULL, NULL},
    {"TopK", "", 1, MER_OP_REDUCE, INFER(top_k), NULL, NULL},
    {"CumSum", "", 1, MER_OP_REDUCE, INFER(same), NULL, NULL},
    {"Det", "", 1, MER_OP_REDUCE, INFER(det), NULL, NULL},
    {"NonMaxSuppression", "", 2, MER_OP_REDUCE, INFER(suppression), NULL, NULL},
    {"Unique", "", 1, MER_OP_REDUCE, INFER(unique), NULL, NULL},
    {"NonZero", "", 1, MER_OP_REDUCE, INFER(non_zero), FOLD(non_zero), NULL},

    /* indexing */
    {"Gather", "", 2, MER_OP_GATHER, INFER(gather), FOLD(gather), NULL},
    {"GatherElements", "", 2, MER_OP_GATHER, INFER(gather_elements), NULL, NULL},
    {"GatherND", "", 2, MER_OP_GATHER, INFER(gather_nd), NULL, NULL},
    {"Scatter ScatterElements ScatterND", "", 3, MER_OP_GATHER, INFER(same), NULL, NULL},
    {"TensorScatter", "", 2, MER_OP_GATHER, INFER(same), NULL, NULL},
    {"OneHot", "", 3, MER_OP_GATHER, INFER(one_hot), NULL, NULL},
    {"Compress", "", 2, MER_OP_GATHER, INFER(compress), NULL, NULL},

    /* resampling and signals */
    {"Resize Upsample", "", 1, MER_OP_RESIZE, INFER(resize), NULL, NULL},
    {"GridSample", "", 2, MER_OP_RESIZE, INFER(grid_sample), NULL, NULL},
    {"AffineGrid", "", 2, MER_OP_RESIZE, INFER(affine_grid), NULL, NULL},
    {"DFT", "", 1, MER_OP_ELEMENTWISE, INFER(dft), NULL, NULL},
    {"STFT", "", 2, MER_OP_ELEMENTWISE, INFER(stft), NULL, NULL},
    {"HannWindow HammingWindow BlackmanWindow",
     "", 1, MER_OP_ELEMENTWISE, INFER(window_function), NULL, NULL},
    {"MelWeightMatrix", "", 2, MER_OP_ELEMENTWISE, INFER(mel), NULL, NULL},

    /* data movement */
    {"Identity Dropout Trilu", "", 1, MER_OP_MOVE, INFER(same), NULL, NULL},
    {"Constant If Loop Scan SequenceConstruct SequenceEmpty SequenceAt SequenceInsert "
     "SequenceErase SequenceLength SequenceMap SplitToSequence ConcatFromSequence Optional "
     "OptionalGetElement OptionalHasElement StringNormalizer StringConcat StringSplit "
     "RegexFullMatch TfIdfVectorizer ImageDecoder",
     "", 0, MER_OP_MOVE, INFER(unknown), NULL, NULL},
    {"Reshape", "", 1, MER_OP_MOVE, INFER(reshape), FOLD(same_order), NULL},
    {"Flatten", "", 1, MER_OP_MOVE, INFER(flatten), FOLD(same_order), NULL},
    {"Squeeze", "", 1, MER_OP_MOVE, INFER(squeeze), FOLD(same_order), NULL},
    {"Unsqueeze", "", 1, MER_OP_MOVE, INFER(unsqueeze), FOLD(same_order), NULL},
    {"Transpose", "", 1, MER_OP_MOVE, INFER(transpose), FOLD(transpose), NULL},
    {"Expand", "", 2, MER_OP_MOVE, INFER(expand), FOLD(expand), NULL},
    {"Tile", "", 2, MER_OP_MOVE, INFER(tile), FOLD(tile), NULL},
    {"Concat", "", 1, MER_OP_MOVE, INFER(concat), FOLD(concat), NULL},
    {"QLinearConcat", MICROSOFT, 3, MER_OP_MOVE, INFER(concat), NULL, NULL},
    {"Split", "", 1, MER_OP_MOVE, INFER(split), FOLD(split), NULL},
    {"Slice", "", 1, MER_OP_MOVE, INFER(slice), FOLD(slice), NULL},
    {"Pad", "", 1, MER_OP_MOVE, INFER(pad), NULL, NULL},
    {"CenterCropPad", "", 2, MER_OP_MOVE, INFER(center_crop), NULL, NULL},
    {"DepthToSpace SpaceToDepth", "", 1, MER_OP_MOVE, INFER(blocks), NULL, NULL},
    {"ReverseSequence", "", 2, MER_OP_MOVE, INFER(same), NULL, NULL},
    {"Shape", "", 1, MER_OP_MOVE, INFER(shape), FOLD(shape), NULL},
    {"Size", "", 1, MER_OP_MOVE, INFER(size), FOLD(size), NULL},
    {"Range", "", 3, MER_OP_MOVE, INFER(range), FOLD(range), NULL},
    {"ConstantOfShape",
     "", 1, MER_OP_MOVE, INFER(constant_of_shape), FOLD(constant_of_shape), NULL},
    {"Col2Im", "", 3, MER_OP_MOVE, INFER(unknown), NULL, NULL},
};
/* clang-format on */

/* Is the word one of the list? */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; *at != '\0'; at += strspn(at, " ")) {
        size_t own = strcspn(at, " ");
        if (own == length && strncmp(at, word, length) == 0)
            return true;
        at += own;
    }
    return false;
}

const OnnxOperator *mer_onnx_operator_find(const char *name, const char *domain)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(operators[i].domain, domain) == 0 && has_word(operators[i].names, name))
            return &operators[i];
    }
    return NULL;
}
