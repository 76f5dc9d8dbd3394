/* oneDNN against plain C, value by value and gradient by gradient: the small cases of every op, and
 * shapes as networks have them, where blocked layouts and their padding come into play. */
#include "conv_layer.h"
#include "support.h"
#include "unit/tensor_cases.h"

#include <math.h>

/* The blocked weight gradient alone is wrong by 4e-6 of its norm against double. */
static const double TOLERANCE = 1e-4;

/* By norm. Some gradients are zero but for rounding (the bias of attention's keys): norms below
 * 1e-2 are no measure. */
static double distance(const float *a, const float *b, int64_t n)
{
    double wrong = 0, right = 1e-4;
    for (int64_t i = 0; i < n; i++) {
        wrong += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        right += (double)b[i] * b[i];
    }
    return sqrt(wrong / right);
}

static bool is_same(const Case *what)
{
    CaseRun plain = case_open(what, &mer_backend_plain), fast = case_open(what, &mer_backend_dnnl);
    MerTensor *expected = case_gradients(&plain), *found = case_gradients(&fast);
    bool       is_good = expected->size == found->size;
    double     wrong = distance(mer_tensor_data(fast.tape, found),
                                mer_tensor_data(plain.tape, expected), expected->size);
    if (!is_good || !(wrong < TOLERANCE)) {
        print_error("%s: values differ by %.2g\n", what->name, wrong);
        is_good = false;
    }
    for (int i = 0; i < plain.count; i++) {
        wrong = plain.in[i]->has_grad
                    ? distance(fast.in[i]->grad, plain.in[i]->grad, plain.in[i]->size)
                    : 0;
        if (plain.in[i]->has_grad != fast.in[i]->has_grad || !(wrong < TOLERANCE)) {
            print_error("%s: gradients of input %d differ by %.2g\n", what->name, i, wrong);
            is_good = false;
        }
    }
    case_close(&plain);
    case_close(&fast);
    return is_good;
}

static void test_every_small_case_is_the_same_on_both_backends(void **state)
{
    (void)state;
    int wrong = 0;
    for (int i = 0; i < CASE_COUNT; i++) {
        wrong += !is_same(&tensor_cases[i]);
    }
    assert_int_equal(wrong, 0);
}

/* conv, norm, relu, conv with a stride, norm, residual, pool: the forms stay blocked all along. */
static MerTensor *build_network(MerTape *tape, MerTensor **in)
{
    MerConvolution same = {1, {1, 1}, {1, 1}, {1, 1}}, half = {1, {2, 2}, {1, 1}, {1, 1}};
    MerTensor     *first = mer_tensor_conv(tape, in[0], in[1], NULL, &same);
    MerTensor     *y =
        mer_tensor_relu(tape, batch_norm(tape, (MerTensor *[]){first, in[2], in[3]}, true, false));
    MerTensor *deep = mer_tensor_conv(tape, y, in[4], NULL, &same);
    y = mer_tensor_add(tape, batch_norm(tape, (MerTensor *[]){deep, in[2], in[3]}, true, false), y);
    y = mer_tensor_pool(tape, y, &(MerPooling){MER_POOLING_MAX, {2, 2}, {2, 2}, {0, 0}});
    y = mer_tensor_conv(tape, y, in[5], in[6], &half);
    return global_average(tape, mer_tensor_relu(tape, y));
}

static MerTensor *build_small_depthwise(MerTape *tape, MerTensor **in)
{
    MerConvolution conv = {in[0]->shape[1], {2, 1}, {1, 1}, {1, 1}};
    return mer_tensor_conv(tape, in[0], in[1], in[2], &conv);
}

/* Filters of one pixel on few pixels are products: behind an image in blocks, behind each other, and with a
 * gradient that comes from two sides. */
static MerTensor *end_in_products(MerTape *tape, MerTensor *x, MerTensor **in)
{
    MerConvolution conv = {1, {1, 1}, {0, 0}, {1, 1}};
    MerTensor     *y = mer_tensor_relu(tape, mer_tensor_conv(tape, x, in[2], in[3], &conv));
    y = mer_tensor_add(tape, mer_tensor_conv(tape, y, in[2], NULL, &conv), y);
    return mer_tensor_conv(tape, y, in[4], NULL, &conv);
}

static MerTensor *build_few_pixels(MerTape *tape, MerTensor **in)
{
    MerConvolution same = {1, {1, 1}, {1, 1}, {1, 1}};
    return end_in_products(tape, mer_tensor_conv(tape, in[0], in[1], NULL, &same), in);
}

static MerTensor *build_one_pixel(MerTape *tape, MerTensor **in)
{
    MerConvolution each = {in[0]->shape[1], {1, 1}, {0, 0}, {1, 1}};
    return end_in_products(tape, mer_tensor_conv(tape, in[0], in[1], NULL, &each), in);
}

static const Case networks[] = {
    {"network of 16 channels",
     {{4, 3, 16, 16}, {16, 3, 3, 3}, {16}, {16}, {16, 16, 3, 3}, {24, 16, 3, 3}, {24}},
     -0.5,
     0.5,
     build_network},
    {"network of 10 channels, padded inside",
     {{3, 1, 12, 12}, {10, 1, 3, 3}, {10}, {10}, {10, 10, 3, 3}, {7, 10, 3, 3}, {7}},
     -0.5,
     0.5,
     build_network},
    {"depthwise of 32", {{4, 32, 14, 14}, {32, 1, 3, 3}}, -1, 1, case_depthwise},
    {"depthwise of 19", {{4, 19, 9, 9}, {19, 1, 3, 3}}, -1, 1, case_depthwise},
    {"depthwise, image as small as the filter",
     {{4, 19, 3, 3}, {19, 1, 3, 3}},
     -1,
     1,
     case_depthwise},
    {"depthwise, image smaller than the filter",
     {{5, 40, 2, 1}, {40, 1, 3, 3}, {40}},
     -1,
     1,
     build_small_depthwise},
    {"many channels of few pixels",
     {{3, 24, 2, 1}, {208, 24, 3, 3}, {208, 208, 1, 1}, {208}, {150, 208, 1, 1}},
     -0.5,
     0.5,
     build_few_pixels},
    {"many channels of one pixel",
     {{3, 160, 1, 1}, {160, 1, 1, 1}, {160, 160, 1, 1}, {160}, {150, 160, 1, 1}},
     -0.5,
     0.5,
     build_one_pixel},
    {"groups of 16", {{2, 32, 8, 8}, {32, 16, 3, 3}, {32}}, -1, 1, case_conv_groups},
    {"pointwise of 19", {{4, 19, 9, 9}, {19, 19, 3, 3}, {19}}, -0.3, 0.3, case_image_pointwise},
    {"wide matmul", {{130, 70}, {70, 33}}, -1, 1, case_matmul},
    {"deep matmul", {{17, 700}, {90, 700}}, -1, 1, case_matmul_bt},
};

static void test_network_shapes_are_the_same_on_both_backends(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        wrong += !is_same(&networks[i]);
    }
    assert_int_equal(wrong, 0);
}

/* A blocked form is no accident of this test: convolutions leave one behind. */
static void test_convolutions_keep_blocked_layouts(void **state)
{
    (void)state;
    CaseRun    run = case_open(&networks[0], &mer_backend_dnnl);
    MerTensor *y = mer_tensor_conv(run.tape, run.in[0], run.in[1], NULL,
                                   &(MerConvolution){1, {1, 1}, {1, 1}, {1, 1}});
    assert_non_null(y->blocked.data);
    assert_null(y->data);
    MerTensor *z = mer_tensor_relu(run.tape, y);
    assert_ptr_equal(z->blocked.layout, y->blocked.layout);
    assert_null(z->data);
    case_close(&run);
}

static void test_two_runs_give_the_same_bits(void **state)
{
    (void)state;
    CaseRun a = case_open(&networks[0], &mer_backend_dnnl),
            b = case_open(&networks[0], &mer_backend_dnnl);
    MerTensor *x = case_gradients(&a), *y = case_gradients(&b);
    assert_memory_equal(mer_tensor_data(a.tape, x), mer_tensor_data(b.tape, y),
                        (size_t)x->size * 4);
    for (int i = 0; i < a.count; i++) {
        assert_memory_equal(a.in[i]->grad, b.in[i]->grad, (size_t)a.in[i]->size * 4);
    }
    case_close(&a);
    case_close(&b);
}

/* Mean, variance and result of every channel from their definition in double, for images in plain order
 * and for those a convolution left blocked; far from zero, where sums lose digits. */
static void check_batch_norm(const MerBackend *backend, const int shape[4])
{
    MerTape       *tape = mer_tape_new(backend, NULL);
    MerParameters *net = mer_parameters_new();
    MerRng         rng = mer_rng_make(5, 0);
    ConvLayer      layer = conv_layer(net, "conv", shape[1], shape[1], 1, 1, 1, &rng);
    MerTensor     *in = mer_parameters_add_constant(net, "x", 4, shape);
    mer_tensor_fill_uniform(in, 4, 6, &rng);
    mer_tensor_fill_uniform(layer.norm.scale, 0.5f, 2, &rng);
    mer_tensor_fill_normal(layer.norm.shift, 1, &rng);
    MerTensor   *x = mer_tensor_conv(tape, in, layer.weight, NULL, &layer.conv);
    MerTensor   *y = mer_tensor_batch_norm(tape, x, &layer.norm, 1, 1e-5f, true, true);
    const float *from = mer_tensor_data(tape, x), *found = mer_tensor_data(tape, y);
    int          pixels = shape[2] * shape[3], count = shape[0] * pixels;
    for (int c = 0; c < shape[1]; c++) {
        double sum = 0, square = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < count; i++) {
                double value = from[(i / pixels * shape[1] + c) * pixels + i % pixels];
                sum += pass == 0 ? value : 0;
                square += pass == 1 ? (value - sum / count) * (value - sum / count) : 0;
            }
        }
        assert_float_equal(layer.norm.running_mean->data[c], sum / count, 1e-5);
        assert_float_equal(layer.norm.running_variance->data[c] * (count - 1) / square, 1, 1e-5);
        for (int i = 0; i < count; i++) {
            int    at = (i / pixels * shape[1] + c) * pixels + i % pixels;
            double normal = (from[at] - sum / count) / sqrt(square / count + 1e-5);
            double expected = normal * layer.norm.scale->data[c] + layer.norm.shift->data[c];
            assert_float_equal(found[at], expected > 0 ? expected : 0, 1e-4);
        }
    }
    mer_parameters_free(net);
    mer_tape_free(tape);
}

static void test_batch_norm_is_what_it_is_defined_as(void **state)
{
    (void)state;
    check_batch_norm(&mer_backend_plain, (int[]){5, 3, 6, 7});
    check_batch_norm(&mer_backend_dnnl, (int[]){5, 3, 6, 7});
    check_batch_norm(&mer_backend_dnnl, (int[]){5, 19, 33, 31});
}

/* Folding a batch norm into its convolution changes no result. */
static void test_fold_keeps_the_result(void **state)
{
    (void)state;
    MerTape       *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerParameters *net = mer_parameters_new();
    MerRng         rng = mer_rng_make(3, 0);
    ConvLayer      layer = conv_layer(net, "conv", 3, 8, 3, 1, 1, &rng);
    MerTensor     *bias = mer_parameters_add(net, "bias", 1, (int[]){8});
    MerTensor     *x = mer_parameters_add_constant(net, "x", 4, (int[]){2, 3, 6, 6});
    mer_tensor_fill_normal(x, 1, &rng);
    mer_tensor_fill_normal(layer.norm.shift, 1, &rng);
    mer_tensor_fill_uniform(layer.norm.scale, 0.5f, 2, &rng);
    mer_tensor_fill_normal(layer.norm.running_mean, 1, &rng);
    mer_tensor_fill_uniform(layer.norm.running_variance, 0.2f, 3, &rng);
    MerTensor *before = conv_run(tape, &layer, x, true, false);
    mer_tensor_data(tape, before);
    mer_batch_norm_fold(&layer.norm, 1e-5f, layer.weight, bias);
    MerTensor *after =
        mer_tensor_relu(tape, mer_tensor_conv(tape, x, layer.weight, bias, &layer.conv));
    assert_true(distance(mer_tensor_data(tape, after), before->data, before->size) < 1e-6);
    mer_parameters_free(net);
    mer_tape_free(tape);
}

static void test_running_statistics_move_towards_the_batch(void **state)
{
    (void)state;
    MerTape       *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerParameters *net = mer_parameters_new();
    MerRng         rng = mer_rng_make(3, 0);
    ConvLayer      layer = conv_layer(net, "conv", 1, 1, 1, 1, 1, &rng);
    layer.weight->data[0] = 1;
    float      values[4] = {1, 2, 3, 6}; /* mean 3, variance 3.5, without bias 14/3 */
    MerTensor *x = mer_tape_input(tape, 4, (int[]){2, 1, 1, 2}, values);
    conv_run(tape, &layer, x, false, true);
    assert_float_equal(layer.norm.running_mean->data[0], 0.3f, 1e-6f);
    assert_float_equal(layer.norm.running_variance->data[0], 0.9f + 0.1f * 14 / 3, 1e-6f);
    mer_parameters_free(net);
    mer_tape_free(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_small_case_is_the_same_on_both_backends),
        cmocka_unit_test(test_network_shapes_are_the_same_on_both_backends),
        cmocka_unit_test(test_convolutions_keep_blocked_layouts),
        cmocka_unit_test(test_two_runs_give_the_same_bits),
        cmocka_unit_test(test_batch_norm_is_what_it_is_defined_as),
        cmocka_unit_test(test_fold_keeps_the_result),
        cmocka_unit_test(test_running_statistics_move_towards_the_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
