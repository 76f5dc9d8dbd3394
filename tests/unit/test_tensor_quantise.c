/* Quantisers against their formulas worked by hand, and their straight-through gradients against the
 * rules that stand in src/tensor/ops.h; on both backends, in plain and in blocked order. */
#include "support.h"
#include "tensor/layers.h"
#include "tensor/ops.h"

#include <math.h>

static const MerFormat int8 = {127, -127, 127}, int8_exact = {128, -127, 127}, ternary = {1, -1, 1},
                       bias16 = {1, -32768, 32767};

typedef struct Setting {
    MerTape       *tape;
    MerParameters *parameters;
} Setting;

static Setting setting_open(const MerBackend *backend)
{
    return (Setting){mer_tape_new(backend, NULL), mer_parameters_new()};
}

static void setting_close(Setting *s)
{
    mer_parameters_free(s->parameters);
    mer_tape_free(s->tape);
}

static MerTensor *parameter(Setting *s, const char *name, int rows, int width, const float *values)
{
    MerTensor *t = mer_parameters_add(s->parameters, name, width > 0 ? 2 : 1, (int[]){rows, width});
    memcpy(t->data, values, (size_t)t->size * sizeof(float));
    return t;
}

static void assert_close(const float *found, const double *expected, int count)
{
    for (int i = 0; i < count; i++) {
        if (fabs(found[i] - expected[i]) > 1e-6 * (1 + fabs(expected[i]))) {
            fail_msg("number %d is %.9g, expected %.9g", i, (double)found[i], expected[i]);
        }
    }
}

static void test_scales_are_powers_of_two_or_exponentials(void **state)
{
    (void)state;
    assert_float_equal(mer_scale_value(MER_SCALE_POWER, 0.6f), 0.5f, 0);
    assert_float_equal(mer_scale_value(MER_SCALE_POWER, 0.5f), 0.5f, 0);
    assert_float_equal(mer_scale_value(MER_SCALE_POWER, 3.99f), 2, 0);
    assert_float_equal(mer_scale_value(MER_SCALE_EXP, -2.28747f), 0.10152f, 1e-5f);
    assert_float_equal(mer_staircase_scale(6, 127), 16, 0);           /* 127 / 6 = 21.2 */
    assert_float_equal(mer_staircase_scale(127.0f / 16, 127), 16, 0); /* snapped stays */
    assert_float_equal(mer_staircase_scale(127.0f / 128, 127), 128, 0);
    assert_float_equal(mer_staircase_scale(1, 127), 64, 0);
}

/* e = 0.5: steps of 0.5 / 127; half goes to even. */
static void test_int8_rounds_half_to_even_and_clamps(void **state)
{
    (void)state;
    Setting      s = setting_open(&mer_backend_plain);
    float        step = 0.5f / 127;
    float        w[6] = {0.1f, -0.1f, 0.7f, -9, 2.5f * 0.5f / 127, 3.5f * 0.5f / 127}, scale = 0.7f;
    MerTensor   *x = parameter(&s, "w", 1, 6, w), *sc = parameter(&s, "s", 1, 0, &scale);
    MerQuantiser q = {int8, MER_SCALE_POWER, sc};
    MerTensor   *y = mer_tensor_mixture(s.tape, x, NULL, 1, &q);
    /* 127 * 0.1 / 0.5 = 25.4 */
    double expected[6] = {25 * (double)step, -25 * (double)step, 0.5, -0.5,
                          2 * (double)step,  4 * (double)step};
    assert_close(y->data, expected, 6);
    q.format = int8_exact;
    y = mer_tensor_mixture(s.tape, x, NULL, 1, &q);
    /* 128 * 0.1 / 0.5 = 25.6 */
    assert_float_equal(y->data[0], 26 * 0.5f / 128, 0);
    assert_float_equal(y->data[2], 127 * 0.5f / 128, 0);
    setting_close(&s);
}

static void test_ternary_has_its_threshold_at_half_the_scale(void **state)
{
    (void)state;
    Setting      s = setting_open(&mer_backend_plain);
    float        w[8] = {0.04f, 0.06f, -0.2f, -0.049f, 0.04f, 0.06f, -0.2f, 0.3f};
    float        scale[2] = {logf(0.1f), logf(0.4f)};
    MerTensor   *x = parameter(&s, "w", 2, 4, w), *sc = parameter(&s, "s", 2, 0, scale);
    MerQuantiser q = {ternary, MER_SCALE_EXP, sc};
    MerTensor   *y = mer_tensor_mixture(s.tape, x, NULL, 1, &q);
    double       expected[8] = {0, 0.1, -0.1, 0, 0, 0, 0, 0.4}; /* -0.2 / 0.4 = -0.5: to even */
    assert_close(y->data, expected, 8);
    setting_close(&s);
}

static void test_biases_are_multiples_of_their_unit(void **state)
{
    (void)state;
    Setting      s = setting_open(&mer_backend_plain);
    float        b[3] = {0.3f, -1e9f, 0.125f}, unit[3] = {0.125f, 0.25f, 0.25f};
    MerTensor   *x = parameter(&s, "b", 3, 0, b), *u = parameter(&s, "u", 3, 0, unit);
    MerQuantiser q = {bias16, MER_SCALE_DIRECT, u};
    MerTensor   *y = mer_tensor_mixture(s.tape, x, NULL, 1, &q);
    double       expected[3] = {0.25, -8192, 0};
    assert_close(y->data, expected, 3);
    setting_close(&s);
}

/* y[c] = share[0][c] Q8(w[c]) + share[1][c] Qt(w[c]); dw = dy (shares sum to 1), dshare[o][c] = <dy[c], Q_o(w[c])>. */
static void test_mixtures_follow_the_product_rule(void **state)
{
    (void)state;
    Setting      s = setting_open(&mer_backend_plain);
    float        w[6] = {0.11f, -0.33f, 0.9f, 0.02f, 0.2f, -0.07f}, one = 1;
    float        t[2] = {logf(0.25f), logf(0.5f)}, share[4] = {0.75f, 0, 0.25f, 1};
    MerTensor   *x = parameter(&s, "w", 2, 3, w), *th = parameter(&s, "share", 2, 2, share);
    MerQuantiser q[2] = {{int8, MER_SCALE_POWER, parameter(&s, "s", 1, 0, &one)},
                         {ternary, MER_SCALE_EXP, parameter(&s, "t", 2, 0, t)}};
    MerTensor   *y = mer_tensor_mixture(s.tape, x, th, 2, q);
    double       k[6] = {14, -42, 114, 3, 25, -9};         /* round(127 w) */
    double       ternaries[6] = {0, -0.25, 0.25, 0, 0, 0}; /* 0.2 / 0.5 = 0.4 */
    double       expected[6], dshare[4] = {0}, dy[6] = {1, 2, 3, 4, 5, 6};
    for (int i = 0; i < 6; i++) {
        double a = i < 3 ? 0.75 : 0, b = 1 - a;
        expected[i] = a * k[i] / 127 + b * ternaries[i];
        dshare[i / 3] += dy[i] * k[i] / 127;
        dshare[2 + i / 3] += dy[i] * ternaries[i];
    }
    assert_close(y->data, expected, 6);
    float      weights[6] = {1, 2, 3, 4, 5, 6};
    MerTensor *weight = mer_tape_input(s.tape, 2, (int[]){2, 3}, weights);
    MerTensor *loss = mer_tensor_sum(s.tape, mer_tensor_mul(s.tape, y, weight));
    assert_int_equal(mer_tape_backward(s.tape, loss, NULL), MER_OK);
    assert_close(x->grad, dy, 6);
    assert_close(th->grad, dshare, 4);
    /* scales, rounding as the identity: (round(127 w) - 127 w) / 127 inside, and e (k - w / e) of a ternary */
    double ds = 0, dt[2] = {0};
    for (int i = 0; i < 6; i++) {
        double a = i < 3 ? 0.75 : 0, e = i < 3 ? 0.25 : 0.5, at = (double)w[i] / e;
        double slope = at <= -1 ? -1 : at >= 1 ? 1 : rint(at) - at;
        ds += a * dy[i] * (k[i] / 127 - (double)w[i]);
        dt[i / 3] += (1 - a) * dy[i] * slope * e;
    }
    assert_true(fabs(q[0].scale->grad[0] - ds) < 1e-5);
    assert_true(fabs(q[1].scale->grad[0] - dt[0]) < 1e-5);
    assert_true(fabs(q[1].scale->grad[1] - dt[1]) < 1e-5);
    setting_close(&s);
}

static void check_staircase(const MerBackend *backend, bool is_signed)
{
    Setting    s = setting_open(backend);
    float      x[8] = {-1, 0, 0.03f, 0.07f, 5, 7.9f, 7.9375f, 100}, clip = 6;
    MerTensor *in = parameter(&s, "x", 1, 8, x), *c = parameter(&s, "clip", 1, 0, &clip);
    MerTensor *y = mer_tensor_staircase(s.tape, in, c, is_signed ? -64 : 0, is_signed ? 63 : 127);
    /* unsigned: S = 16, clip 127 / 16 = 7.9375. signed: 63 / 6 = 10.5, S = 8, range -8 .. 7.875 */
    double whole[8] = {0, 0, 0, 1.0 / 16, 5, 126.0 / 16, 127.0 / 16, 127.0 / 16};
    double part[8] = {-1, 0, 0, 0, 5, 7.875, 7.875, 7.875};
    assert_close(y->data, is_signed ? part : whole, 8);
    float      weights[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    MerTensor *weight = mer_tape_input(s.tape, 2, (int[]){1, 8}, weights);
    MerTensor *loss = mer_tensor_sum(s.tape, mer_tensor_mul(s.tape, y, weight));
    assert_int_equal(mer_tape_backward(s.tape, loss, NULL), MER_OK);
    double dx[8] = {0, 0, 4, 8, 16, 32, 0, 0}, dx_signed[8] = {1, 2, 4, 8, 16, 0, 0, 0};
    assert_close(in->grad, is_signed ? dx_signed : dx, 8);
    assert_float_equal(c->grad[0], is_signed ? 32 + 64 + 128 : 64 + 128, 0);
    assert_float_equal(c->data[0], 6, 0); /* the real parameter is kept, a copy is snapped */
    setting_close(&s);
}

static void test_activations_are_floored_and_masked_by_the_snapped_clip(void **state)
{
    (void)state;
    check_staircase(&mer_backend_plain, false);
    check_staircase(&mer_backend_plain, true);
    check_staircase(&mer_backend_dnnl, false);
}

/* Behind a convolution oneDNN keeps images blocked, with padded channels: both backends must agree. */
static void run_image(const MerBackend *backend, float *y, float *dw, float *dclip)
{
    Setting    s = setting_open(backend);
    MerRng     rng = mer_rng_make(3, 0);
    float      image[2 * 3 * 5 * 4], clip = 0.5f;
    MerTensor *w = mer_parameters_add(s.parameters, "w", 4, (int[]){5, 3, 3, 3});
    MerTensor *c = parameter(&s, "clip", 1, 0, &clip);
    mer_tensor_fill_normal(w, 0.5f, &rng);
    for (int i = 0; i < 2 * 3 * 5 * 4; i++) {
        image[i] = (float)mer_rng_unit(&rng);
    }
    MerConvolution conv = {1, {1, 1}, {1, 1}, {1, 1}};
    MerTensor     *x = mer_tape_input(s.tape, 4, (int[]){2, 3, 5, 4}, image);
    MerTensor     *out =
        mer_tensor_staircase(s.tape, mer_tensor_conv(s.tape, x, w, NULL, &conv), c, 0, 127);
    MerTensor *loss = mer_tensor_sum(s.tape, mer_tensor_square(s.tape, out));
    assert_int_equal(mer_tape_backward(s.tape, loss, NULL), MER_OK);
    memcpy(y, mer_tensor_data(s.tape, out), 200 * sizeof *y);
    memcpy(dw, w->grad, 135 * sizeof *dw);
    *dclip = c->grad[0];
    setting_close(&s);
}

static void test_blocked_images_give_the_same_steps(void **state)
{
    (void)state;
    float y[2][200], dw[2][135], dclip[2];
    int   apart = 0;
    run_image(&mer_backend_plain, y[0], dw[0], &dclip[0]);
    run_image(&mer_backend_dnnl, y[1], dw[1], &dclip[1]);
    for (int i = 0; i < 200; i++) { /* a sum on the edge of a step may fall on either side */
        apart += fabsf(y[0][i] - y[1][i]) > 1e-6f;
    }
    assert_true(apart <= 2);
    for (int i = 0; i < 135; i++) {
        assert_true(fabsf(dw[0][i] - dw[1][i]) < 2e-2f * (1 + fabsf(dw[0][i])));
    }
    assert_true(dclip[0] != 0 && fabsf(dclip[0] - dclip[1]) < 2e-2f * fabsf(dclip[0]));
}

static void test_thermometers_fill_from_the_first_channel(void **state)
{
    (void)state;
    Setting    s = setting_open(&mer_backend_plain);
    float      alpha[5] = {1, 0.2f, -0.3f, 0.25f, 0};
    MerTensor *a = parameter(&s, "a", 1, 5, alpha);
    MerTensor *y = mer_tensor_thermometer(s.tape, a);
    double     expected[5] = {1, 1, 1, 0, 0}; /* sums 1.75 0.75 0.55 0.25 0 */
    assert_close(y->data, expected, 5);
    float      weights[5] = {1, 2, 4, 8, 16};
    MerTensor *weight = mer_tape_input(s.tape, 2, (int[]){1, 5}, weights);
    MerTensor *loss = mer_tensor_sum(s.tape, mer_tensor_mul(s.tape, y, weight));
    assert_int_equal(mer_tape_backward(s.tape, loss, NULL), MER_OK);
    double da[5] = {1, 3, -7, 15, 0};
    assert_close(a->grad, da, 5);
    setting_close(&s);
}

static void test_replaced_numbers_hand_the_gradient_on(void **state)
{
    (void)state;
    Setting    s = setting_open(&mer_backend_plain);
    float      x[3] = {0.2f, 0.5f, 0.3f}, hard[3] = {0, 1, 0};
    MerTensor *in = parameter(&s, "x", 1, 3, x);
    MerTensor *y = mer_tensor_replace(s.tape, in, hard);
    assert_float_equal(y->data[1], 1, 0);
    MerTensor *loss = mer_tensor_sum(s.tape, mer_tensor_affine(s.tape, y, 3, 0));
    assert_int_equal(mer_tape_backward(s.tape, loss, NULL), MER_OK);
    assert_float_equal(in->grad[0], 3, 0);
    assert_float_equal(in->grad[2], 3, 0);
    setting_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scales_are_powers_of_two_or_exponentials),
        cmocka_unit_test(test_int8_rounds_half_to_even_and_clamps),
        cmocka_unit_test(test_ternary_has_its_threshold_at_half_the_scale),
        cmocka_unit_test(test_biases_are_multiples_of_their_unit),
        cmocka_unit_test(test_mixtures_follow_the_product_rule),
        cmocka_unit_test(test_activations_are_floored_and_masked_by_the_snapped_clip),
        cmocka_unit_test(test_blocked_images_give_the_same_steps),
        cmocka_unit_test(test_thermometers_fill_from_the_first_channel),
        cmocka_unit_test(test_replaced_numbers_hand_the_gradient_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
