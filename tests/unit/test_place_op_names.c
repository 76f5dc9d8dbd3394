/* What names of operators say (src/place/inputs/op_names.h). */
#include "support.h"

#include "place/inputs/op_names.h"

static void test_each_kind_of_text_is_understood(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        MerOpKind   kind;
    } cases[] = {
        /* PyTorch's texts of modules */
        {"Conv2d(3, 64, kernel_size=(3, 3), stride=(1, 1))", MER_OP_CONV},
        {"ConvTranspose2d(8, 4, kernel_size=2)", MER_OP_TRANSPOSED},
        {"Linear(in_features=1024, out_features=10, bias=True)", MER_OP_GEMM},
        {"LSTM(2048, 1024)", MER_OP_GEMM},
        {"EmuBidirLSTM(  (bidir): LSTM(1024, 1024))", MER_OP_GEMM},
        {"RecurrentAttention(  (rnn): LSTM(1024, 1024))", MER_OP_GEMM},
        {"ReLU(inplace)", MER_OP_ELEMENTWISE},
        {"Dropout(p=0.2)", MER_OP_ELEMENTWISE},
        {"Add", MER_OP_ELEMENTWISE},
        {"BatchNorm2d(64, eps=1e-05)", MER_OP_NORM},
        {"AvgPool2d(kernel_size=7)", MER_OP_POOL},
        {"Embedding(32320, 1024, padding_idx=0)", MER_OP_GATHER},
        {"Softmax(dim=1)", MER_OP_SOFTMAX},
        {"__getitem__(0)", MER_OP_MOVE},
        {"View(-1)", MER_OP_MOVE},
        {"Input0", MER_OP_MOVE},
        {"hidden", MER_OP_MOVE},
        {"", MER_OP_MOVE},
        /* a module that tells only by its parts */
        {"BasicBlock(  (act): ReLU(inplace)  (a): Conv2d(3, 3)  (b): BatchNorm2d(3))", MER_OP_CONV},
        /* names of ONNX nodes and of their gradients */
        {"Conv12", MER_OP_CONV},
        {"BatchNormalization3_gpu_0/res_conv1_bn_1", MER_OP_NORM},
        {"BatchNormalization3_running_mean_def_7", MER_OP_NORM},
        {"Gemm0_Grad/ReduceSum_3", MER_OP_REDUCE},
        {"Sum7_Grad/Identity_2", MER_OP_MOVE},
        {"Sum7", MER_OP_ELEMENTWISE},
        {"SGDOptimizer_gpu_0/pred_w_0", MER_OP_ELEMENTWISE},
        {"SoftmaxCrossEntropy_loss", MER_OP_SOFTMAX},
        {"/model/layers.0/self_attn/q_proj/MatMul", MER_OP_GEMM},
        {"bert/encoder/layer.0/output/LayerNorm/Mul", MER_OP_ELEMENTWISE},
        {"encoder.layer.0.attention.self.softmax", MER_OP_SOFTMAX},
        {"QuantizeLinear_7", MER_OP_ELEMENTWISE},
        {"upsample_bilinear", MER_OP_RESIZE},
        /* weights do nothing */
        {"cls.predictions.transform.LayerNorm.weight", MER_OP_MOVE},
        {"bert.encoder.layer.0.output.dense.weight_transposed", MER_OP_MOVE},
        {"gpu_0/conv1_w_0", MER_OP_MOVE},
        {"gpu_0/res_conv1_bn_s_0", MER_OP_MOVE},
        {"gpu_0/conv1", MER_OP_CONV},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerOpKind kind = mer_place_guess_kind(cases[i].text);
        if (kind != cases[i].kind) {
            fail_msg("\"%s\" is %s, expected %s", cases[i].text, mer_op_kind_name(kind),
                     mer_op_kind_name(cases[i].kind));
        }
    }
}

/* Longer words than the reader keeps, and bytes that are no letters. */
static void test_any_text_has_a_kind(void **state)
{
    (void)state;
    char text[300];
    memset(text, 'x', sizeof text);
    memcpy(text + sizeof text - 7, "Conv2d", 7);
    assert_int_equal(mer_place_guess_kind(text), MER_OP_MOVE);
    for (int byte = 1; byte < 256; byte++) {
        char one[] = {(char)byte, '\0'};
        assert_int_equal(mer_place_guess_kind(one), MER_OP_MOVE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_of_text_is_understood),
        cmocka_unit_test(test_any_text_has_a_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
