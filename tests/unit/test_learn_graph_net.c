/* Embedding of graphs and attention in segments. */
#include "one_arena.h"
#include "support.h"

#include "learn/graph_net.h"

#include <math.h>

enum { NODES = 11, WIDTH = 8, INPUTS = 5 };

static const int source[] = {0, 1, 2, 2, 4, 5, 6, 3, 8, 9},
                 target[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

static MerGraphNetSpec spec_of(int segment)
{
    return (MerGraphNetSpec){.inputs = INPUTS,
                             .width = WIDTH,
                             .embeddings = 2,
                             .layers = 2,
                             .heads = 2,
                             .feed_forward = 12,
                             .segment = segment,
                             .has_attention = true,
                             .is_modulated = true};
}

static MerTensor *inputs(MerTape *tape, int count, int width)
{
    MerRng rng = mer_rng_make(3, 0);
    float *values = MER_ARRAY(arena, float, count *width);
    for (int i = 0; i < count * width; i++) {
        values[i] = (float)(2 * mer_rng_unit(&rng) - 1);
    }
    return mer_tape_input(tape, 2, (int[]){count, width}, values);
}

static MerTensor *run(MerTape *tape, const MerGraphNet *net)
{
    MerTensor *nodes =
        mer_graph_net_embed(tape, net, inputs(tape, NODES, INPUTS), 10, source, target);
    MerTensor *whole = mer_graph_net_whole(tape, nodes);
    MerTensor *x = mer_tensor_reshape(tape, nodes, 3, (int[]){1, NODES, WIDTH});
    return mer_graph_net_run(tape, net, x, whole, NULL);
}

static double loss_of(MerTape *tape, const MerGraphNet *net, MerParameters *learned)
{
    mer_tape_reset(tape);
    MerTensor *out = run(tape, net);
    float     *weights = MER_ARRAY(arena, float, out->size);
    for (int64_t i = 0; i < out->size; i++) {
        weights[i] = (float)(i % 7 - 3) / 3;
    }
    MerTensor *loss = mer_tensor_sum(
        tape, mer_tensor_mul(tape, out, mer_tape_input(tape, 3, out->shape, weights)));
    if (learned) {
        mer_parameters_clear(learned);
        assert_int_equal(mer_tape_backward(tape, loss, NULL), MER_OK);
    }
    return loss->data[0];
}

/* Along the gradient of all weights together, so that single precision suffices. One segment: through the one before it
 * no gradient flows. */
static void test_the_gradient_is_that_of_differences(void **state)
{
    (void)state;
    MerRng          rng = mer_rng_make(1, 0);
    MerParameters  *parameters = mer_parameters_new();
    MerTape        *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerGraphNetSpec spec = spec_of(NODES);
    MerGraphNet     net = mer_graph_net(parameters, "net", &spec, &rng);
    loss_of(tape, &net, parameters);
    int     count = mer_parameters_count(parameters);
    float **gradient = MER_ARRAY(arena, float *, count);
    double  square = 0, width = 2e-4, sum[2];
    for (int i = 0; i < count; i++) {
        MerTensor *w = mer_parameters_get(parameters, i);
        gradient[i] = MER_ARRAY(arena, float, w->size);
        memcpy(gradient[i], mer_tensor_grad(tape, w), (size_t)w->size * sizeof(float));
        for (int64_t j = 0; j < w->size; j++) {
            square += (double)gradient[i][j] * gradient[i][j];
        }
    }
    for (int side = 0; side < 2; side++) {
        double along = (side == 0 ? width : -2 * width) / sqrt(square);
        for (int i = 0; i < count; i++) {
            MerTensor *w = mer_parameters_get(parameters, i);
            for (int64_t j = 0; j < w->size; j++) {
                w->data[j] += (float)(along * gradient[i][j]);
            }
        }
        sum[side] = loss_of(tape, &net, NULL);
    }
    double slope = (sum[0] - sum[1]) / (2 * width);
    if (!(fabs(slope - sqrt(square)) < 0.02 * sqrt(square))) {
        fail_msg("gradient %g, differences %g", sqrt(square), slope);
    }
    mer_tape_free(tape);
    mer_parameters_free(parameters);
}

static void assert_close(const float *a, const float *b, int count)
{
    for (int i = 0; i < count; i++) {
        assert_float_equal(a[i], b[i], 1e-5);
    }
}

static void test_one_segment_is_attention_to_all(void **state)
{
    (void)state;
    MerRng         rng = mer_rng_make(1, 0);
    MerParameters *parameters = mer_parameters_new();
    MerTape       *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerAttention   attention = mer_attention(parameters, "a", WIDTH, 2, &rng);
    MerTensor     *x =
        mer_tensor_reshape(tape, inputs(tape, NODES, WIDTH), 3, (int[]){1, NODES, WIDTH});
    MerTensor *all = mer_attention_run(tape, &attention, x, NULL, NULL);
    MerTensor *one = mer_segment_attention(tape, &attention, x, 64);
    assert_close(one->data, all->data, NODES * WIDTH);
    /* of two segments the second sees both, the first itself alone */
    MerTensor *two = mer_segment_attention(tape, &attention, x, 6);
    MerTensor *head =
        mer_attention_run(tape, &attention, mer_tensor_slice(tape, x, 1, 0, 6), NULL, NULL);
    assert_close(two->data, head->data, 6 * WIDTH);
    assert_close(two->data + 6 * WIDTH, all->data + 6 * WIDTH, (NODES - 6) * WIDTH);
    /* of four the last sees the third alone beside itself */
    MerTensor *four = mer_segment_attention(tape, &attention, x, 3);
    MerTensor *tail =
        mer_segment_attention(tape, &attention, mer_tensor_slice(tape, x, 1, 6, 5), 3);
    assert_close(four->data + 9 * WIDTH, tail->data + 3 * WIDTH, 2 * WIDTH);
    mer_tape_free(tape);
    mer_parameters_free(parameters);
}

/* Without a tape that holds the whole sequence: the same numbers, for sequences that end within a segment or not. */
static void test_a_stream_gives_the_same(void **state)
{
    (void)state;
    for (int segment = 1; segment <= 12; segment++) {
        MerRng          rng = mer_rng_make(1, 0);
        MerParameters  *parameters = mer_parameters_new();
        MerTape        *tape = mer_tape_new(&mer_backend_dnnl, NULL);
        MerGraphNetSpec spec = spec_of(segment);
        MerGraphNet     net = mer_graph_net(parameters, "net", &spec, &rng);
        MerTensor      *nodes =
            mer_graph_net_embed(tape, &net, inputs(tape, NODES, INPUTS), 10, source, target);
        MerTensor *whole = mer_graph_net_whole(tape, nodes);
        MerTensor *x = mer_tensor_reshape(tape, nodes, 3, (int[]){1, NODES, WIDTH});
        MerTensor *out = mer_graph_net_run(tape, &net, x, whole, NULL);
        float      values[NODES * WIDTH], expected[NODES * WIDTH], mean[WIDTH];
        memcpy(values, nodes->data, sizeof values);
        memcpy(mean, whole->data, sizeof mean);
        memcpy(expected, out->data, sizeof expected);
        mer_graph_net_stream(tape, &net, NODES, values, mean);
        assert_close(values, expected, NODES * WIDTH);
        mer_tape_free(tape);
        mer_parameters_free(parameters);
    }
}

static void test_parts_can_be_left_out(void **state)
{
    (void)state;
    for (int part = 0; part < 4; part++) {
        MerRng          rng = mer_rng_make(1, 0);
        MerParameters  *parameters = mer_parameters_new();
        MerTape        *tape = mer_tape_new(&mer_backend_dnnl, NULL);
        MerGraphNetSpec spec = spec_of(4), whole = spec_of(4);
        spec.embeddings = part == 0 ? 0 : 2;
        spec.has_attention = part != 1;
        spec.is_modulated = part != 2;
        spec.layers = part == 3 ? 0 : 2;
        MerGraphNet net = mer_graph_net(parameters, "net", &spec, &rng);
        int         count = mer_parameters_count(parameters);
        mer_graph_net(parameters, "whole", &whole, &rng);
        assert_true(mer_parameters_count(parameters) > 2 * count);
        assert_true(isfinite(loss_of(tape, &net, NULL)));
        mer_tape_free(tape);
        mer_parameters_free(parameters);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_gradient_is_that_of_differences),
        cmocka_unit_test(test_one_segment_is_attention_to_all),
        cmocka_unit_test(test_a_stream_gives_the_same),
        cmocka_unit_test(test_parts_can_be_left_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
