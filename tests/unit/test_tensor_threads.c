/* A training gives the same bits on one, two and three threads, and a backend that has few slots of
 * its own inherits the others. Shapes are large enough to be done in parts. */
#include "conv_layer.h"
#include "mercator/threads.h"
#include "support.h"
#include "tensor/layers.h"
#include "tensor/tape.h"
#include "tensor/updater.h"

enum { STEPS = 2, BATCH = 32 };

typedef struct Net {
    MerTape       *tape;
    MerParameters *parameters;
    MerMlp         mlp;
    ConvLayer      convs[3];
    MerLinearLayer last;
    MerLstm        lstm;
    MerAttention   attention;
    MerTensor     *scale, *shift;
} Net;

typedef struct Training {
    const char *name;
    void (*make)(Net *net, MerRng *rng);
    MerTensor *(*run)(Net *net, float *numbers); /* (BATCH, classes) */
} Training;

static void make_mlp(Net *net, MerRng *rng)
{
    int sizes[] = {600, 500, 400, 10};
    net->mlp = mer_mlp(net->parameters, "mlp", 4, sizes, MER_RELU, rng);
}

static MerTensor *run_mlp(Net *net, float *numbers)
{
    MerTensor *x = mer_tape_input(net->tape, 2, (int[]){BATCH, 600}, numbers);
    return mer_mlp_run(net->tape, &net->mlp, x);
}

static void make_cnn(Net *net, MerRng *rng)
{
    net->convs[0] = conv_layer(net->parameters, "first", 3, 20, 3, 1, 1, rng);
    net->convs[1] = conv_layer(net->parameters, "depth", 20, 20, 3, 1, 20, rng);
    net->convs[2] = conv_layer(net->parameters, "second", 20, 20, 3, 1, 1, rng);
    net->last = mer_linear_layer(net->parameters, "last", 20, 10, rng);
}

static MerTensor *run_cnn(Net *net, float *numbers)
{
    MerTape   *tape = net->tape;
    MerTensor *x = mer_tape_input(tape, 4, (int[]){BATCH, 3, 12, 14}, numbers);
    x = conv_run(tape, &net->convs[0], x, true, true);
    x = mer_tensor_clamp(tape, conv_run(tape, &net->convs[1], x, false, true), -2, 2);
    x = mer_tensor_pool(tape, x, &(MerPooling){MER_POOLING_MAX, {2, 2}, {2, 2}, {1, 0}});
    x = mer_tensor_add(tape, x, conv_run(tape, &net->convs[2], x, true, true));
    return mer_linear_run(tape, &net->last, global_average(tape, x), MER_LINEAR);
}

/* Images of a few pixels, which kernels of their own do. */
static void make_small(Net *net, MerRng *rng)
{
    net->convs[0] = conv_layer(net->parameters, "first", 256, 256, 3, 1, 256, rng);
    net->convs[1] = conv_layer(net->parameters, "second", 256, 256, 1, 1, 1, rng);
    net->convs[2] = conv_layer(net->parameters, "third", 256, 256, 3, 2, 256, rng);
    net->last = mer_linear_layer(net->parameters, "last", 256, 10, rng);
}

static MerTensor *run_small(Net *net, float *numbers)
{
    MerTape   *tape = net->tape;
    MerTensor *x = mer_tape_input(tape, 4, (int[]){BATCH, 256, 2, 2}, numbers);
    for (int i = 0; i < 3; i++) {
        x = conv_run(tape, &net->convs[i], x, true, true);
    }
    return mer_linear_run(tape, &net->last, global_average(tape, x), MER_LINEAR);
}

static void make_lstm(Net *net, MerRng *rng)
{
    net->lstm = mer_lstm(net->parameters, "lstm", 70, 200, rng);
    net->last = mer_linear_layer(net->parameters, "last", 200, 10, rng);
}

static MerTensor *run_lstm(Net *net, float *numbers)
{
    MerTensor   *x = mer_tape_input(net->tape, 3, (int[]){5, BATCH, 70}, numbers);
    MerLstmState state = mer_lstm_start(net->tape, &net->lstm, BATCH);
    mer_lstm_sequence(net->tape, &net->lstm, x, &state, false);
    state = mer_lstm_step(net->tape, &net->lstm,
                          mer_tape_input(net->tape, 2, (int[]){BATCH, 70}, numbers), state);
    return mer_linear_run(net->tape, &net->last, state.h, MER_TANH);
}

static void make_transformer(Net *net, MerRng *rng)
{
    net->attention = mer_attention(net->parameters, "attention", 64, 4, rng);
    net->last = mer_linear_layer(net->parameters, "last", 64, 10, rng);
    net->scale = mer_parameters_add(net->parameters, "scale", 1, (int[]){64});
    net->shift = mer_parameters_add(net->parameters, "shift", 1, (int[]){64});
    mer_tensor_fill(net->scale, 1);
}

static MerTensor *run_transformer(Net *net, float *numbers)
{
    MerTape   *tape = net->tape;
    MerTensor *x = mer_tape_input(tape, 3, (int[]){BATCH, 24, 64}, numbers);
    x = mer_tensor_add(tape, x, mer_attention_run(tape, &net->attention, x, NULL, NULL));
    x = mer_tensor_tanh(tape, mer_tensor_layer_norm(tape, x, net->scale, net->shift, 1e-5f));
    return mer_linear_run(tape, &net->last, mer_tensor_mean_axis(tape, x, 1), MER_LINEAR);
}

static const Training trainings[] = {
    {"mlp", make_mlp, run_mlp},
    {"cnn", make_cnn, run_cnn},
    {"cnn of few pixels", make_small, run_small},
    {"lstm", make_lstm, run_lstm},
    {"transformer", make_transformer, run_transformer},
};

/* Fills `weights` with all parameters after a few steps and gives their number. */
static int64_t train(const Training *what, const MerBackend *backend, int threads, float *weights)
{
    static float numbers[BATCH * 24 * 64];
    static int   labels[BATCH];
    MerPool     *pool = threads > 0 ? mer_pool_new(threads) : NULL;
    Net          net = {.tape = mer_tape_new(backend, pool), .parameters = mer_parameters_new()};
    MerRng       rng = mer_rng_make(4, 0);
    MerRule      rule = mer_rule_adam(1e-8);
    int64_t      count = 0;
    what->make(&net, &rng);
    MerUpdater *updater = mer_updater_new(net.tape, net.parameters, &rule);
    for (int i = 0; i < BATCH * 24 * 64; i++) {
        numbers[i] = (float)mer_rng_normal(&rng);
        labels[i % BATCH] = mer_rng_below(&rng, 10);
    }
    for (int s = 0; s < STEPS; s++) {
        mer_tape_reset(net.tape);
        mer_parameters_clear(net.parameters);
        MerTensor *loss =
            mer_tensor_cross_entropy(net.tape, what->run(&net, numbers), labels, 0.1f);
        assert_int_equal(mer_tape_backward(net.tape, loss, NULL), MER_OK);
        mer_updater_step(updater, 1e-3);
    }
    for (int i = 0; i < mer_parameters_count(net.parameters); i++) {
        const MerTensor *t = mer_parameters_get(net.parameters, i);
        memcpy(weights + count, t->data, (size_t)t->size * sizeof *weights);
        count += t->size;
    }
    mer_updater_free(updater);
    mer_parameters_free(net.parameters);
    mer_tape_free(net.tape);
    mer_pool_free(pool);
    return count;
}

static void check_all(const MerBackend *backend, int fewest)
{
    static float one[600000], more[600000];
    for (size_t i = 0; i < sizeof trainings / sizeof *trainings; i++) {
        int64_t count = train(&trainings[i], backend, 0, one);
        assert_in_range(count, 500, 600000);
        for (int threads = fewest; threads <= 3; threads++) {
            assert_int_equal(train(&trainings[i], backend, threads, more), count);
            if (memcmp(one, more, (size_t)count * sizeof *one) != 0) {
                fail_msg("%s: other bits on %d threads", trainings[i].name, threads);
            }
        }
    }
}

static void test_trainings_are_the_same_on_any_number_of_threads_dnnl(void **state)
{
    (void)state;
    check_all(&mer_backend_dnnl, 1);
}

static void test_trainings_are_the_same_on_any_number_of_threads_plain(void **state)
{
    (void)state;
    check_all(&mer_backend_plain, 3);
}

typedef struct Seen {
    int     parts;
    int64_t end;
} Seen;

static void see_range(void *context, int64_t first, int64_t end)
{
    Seen *seen = context;
    assert_int_equal(first, seen->end);
    seen->parts++;
    seen->end = end;
}

/* The number of parts is the same with and without threads: the shape decides. */
static void test_parts_follow_from_the_size_alone(void **state)
{
    (void)state;
    MerPool *pool = mer_pool_new(1);
    for (int with = 0; with < 2; with++) {
        MerTape *tape = mer_tape_new(&mer_backend_plain, with ? pool : NULL);
        Seen     seen = {0};
        mer_tape_split(tape, 1000, 64, see_range, &seen);
        assert_int_equal(seen.parts, 16);
        assert_int_equal(seen.end, 1000);
        mer_tape_free(tape);
    }
    mer_pool_free(pool);
}

static int relus;

static void count_pointwise(MerTape *tape, const MerPointwise *op)
{
    relus += op->kind == MER_POINTWISE_RELU;
    mer_backend_plain.pointwise(tape, op);
}

static void test_a_backend_inherits_what_it_has_not(void **state)
{
    (void)state;
    const MerBackend counting = {
        .name = "counting", .base = &mer_backend_dnnl, .pointwise = count_pointwise};
    MerTape   *tape = mer_tape_new(&counting, NULL);
    float      values[4] = {1, -2, 3, -4};
    MerTensor *x = mer_tape_input(tape, 2, (int[]){2, 2}, values);
    MerTensor *y = mer_tensor_matmul(tape, mer_tensor_relu(tape, x), x); /* (1 0; 3 0) x */
    assert_int_equal(relus, 1);
    assert_float_equal(y->data[0], 1, 0);
    assert_float_equal(y->data[3], -6, 0);
    assert_ptr_equal(tape->backend.product, mer_backend_dnnl.product);
    assert_ptr_equal(tape->backend.rows, mer_backend_plain.rows);
    mer_tape_free(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trainings_are_the_same_on_any_number_of_threads_dnnl),
        cmocka_unit_test(test_trainings_are_the_same_on_any_number_of_threads_plain),
        cmocka_unit_test(test_parts_follow_from_the_size_alone),
        cmocka_unit_test(test_a_backend_inherits_what_it_has_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
