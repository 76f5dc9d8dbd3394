/* The tape's memory, recording, parameters and the rules that change them. A counting malloc
 * shows that a step like the last one asks the system for nothing. */
#include "conv_layer.h"
#include "support.h"
#include "tensor/layers.h"
#include "tensor/updater.h"

#include <math.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_COUNTER 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_COUNTER 0
#endif
#endif
#ifndef HAS_COUNTER
#define HAS_COUNTER 1
#endif

static int64_t heap_calls;

#if HAS_COUNTER
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    heap_calls++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    heap_calls++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    heap_calls++;
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    heap_calls++;
    return __libc_memalign(alignment, size);
}
#endif

typedef struct Net {
    MerTape       *tape;
    MerParameters *parameters;
    MerUpdater    *updater;
    MerMlp         mlp;
    ConvLayer      conv;
    MerLstm        lstm;
} Net;

static Net net_open(const MerBackend *backend)
{
    Net     net = {.tape = mer_tape_new(backend, NULL), .parameters = mer_parameters_new()};
    MerRng  rng = mer_rng_make(1, 0);
    MerRule rule = mer_rule_adam(1e-8);
    net.conv = conv_layer(net.parameters, "conv", 1, 8, 3, 1, 1, &rng);
    net.lstm = mer_lstm(net.parameters, "lstm", 8, 6, &rng);
    net.mlp = mer_mlp(net.parameters, "mlp", 3, (int[]){6, 16, 4}, MER_RELU, &rng);
    net.updater = mer_updater_new(net.tape, net.parameters, &rule);
    return net;
}

static void net_close(Net *net)
{
    mer_updater_free(net->updater);
    mer_parameters_free(net->parameters);
    mer_tape_free(net->tape);
}

static float net_step(Net *net, double rate)
{
    static const int labels[4] = {0, 3, 1, 2};
    static float     pixels[4 * 36];
    for (int i = 0; i < 4 * 36; i++) {
        pixels[i] = (float)((i * 37) % 17) / 17;
    }
    mer_tape_reset(net->tape);
    mer_parameters_clear(net->parameters);
    MerTensor *x = mer_tape_input(net->tape, 4, (int[]){4, 1, 6, 6}, pixels);
    x = conv_run(net->tape, &net->conv, x, true, true);
    x = global_average(net->tape, x);
    MerLstmState state = mer_lstm_start(net->tape, &net->lstm, 4);
    state = mer_lstm_step(net->tape, &net->lstm, x, state);
    MerTensor *loss =
        mer_tensor_cross_entropy(net->tape, mer_mlp_run(net->tape, &net->mlp, state.h), labels, 0);
    assert_int_equal(mer_tape_backward(net->tape, loss, NULL), MER_OK);
    mer_parameters_clip(net->tape, net->parameters, 1);
    mer_updater_step(net->updater, rate);
    return loss->data[0];
}

static void test_later_steps_allocate_nothing(void **state)
{
    (void)state;
    Net net = net_open(&mer_backend_plain);
    net_step(&net, 1e-3);
    int64_t tape_before = mer_tape_allocations(net.tape), heap_before = heap_calls;
    for (int i = 0; i < 20; i++) {
        net_step(&net, 1e-3);
    }
    assert_int_equal(heap_calls, heap_before);
    assert_int_equal(mer_tape_allocations(net.tape), tape_before);
    net_close(&net);
}

/* oneDNN allocates inside when it runs; what is ours stays the same. */
static void test_later_steps_make_no_kernels_and_no_blocks(void **state)
{
    (void)state;
    Net net = net_open(&mer_backend_dnnl);
    net_step(&net, 1e-3);
    int64_t before = mer_tape_allocations(net.tape);
    assert_true(before > 5);
    for (int i = 0; i < 20; i++) {
        net_step(&net, 1e-3);
    }
    assert_int_equal(mer_tape_allocations(net.tape), before);
    net_close(&net);
}

/* Products alone do not allocate inside oneDNN either. */
static void test_later_steps_of_an_mlp_allocate_nothing_with_dnnl(void **state)
{
    (void)state;
    MerTape       *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerParameters *parameters = mer_parameters_new();
    MerRng         rng = mer_rng_make(1, 0);
    MerMlp         mlp = mer_mlp(parameters, "mlp", 4, (int[]){64, 128, 128, 16}, MER_RELU, &rng);
    static float   x[64 * 64];
    static int     labels[64];
    int64_t        heap_before = 0;
    for (int i = 0; i < 10; i++) {
        mer_tape_reset(tape);
        MerTensor *y = mer_mlp_run(tape, &mlp, mer_tape_input(tape, 2, (int[]){64, 64}, x));
        mer_tape_backward(tape, mer_tensor_cross_entropy(tape, y, labels, 0), NULL);
        heap_before = i == 1 ? heap_calls : heap_before;
    }
    assert_int_equal(heap_calls, heap_before);
    mer_parameters_free(parameters);
    mer_tape_free(tape);
}

static void test_training_lowers_the_loss_and_a_seed_repeats_it(void **state)
{
    (void)state;
    Net   a = net_open(&mer_backend_dnnl), b = net_open(&mer_backend_dnnl);
    float first = net_step(&a, 1e-2), last = 0;
    net_step(&b, 1e-2);
    for (int i = 0; i < 100; i++) {
        last = net_step(&a, 1e-2);
        assert_true(last == net_step(&b, 1e-2));
    }
    assert_true(last < 0.5f * first);
    net_close(&a);
    net_close(&b);
}

static void test_nothing_is_recorded_while_off(void **state)
{
    (void)state;
    Net net = net_open(&mer_backend_dnnl);
    mer_tape_record(net.tape, false);
    static float x[2 * 6] = {1, 2, 3};
    MerTensor   *y = mer_mlp_run(net.tape, &net.mlp, mer_tape_input(net.tape, 2, (int[]){2, 6}, x));
    assert_false(y->needs_grad);
    mer_tape_record(net.tape, true);
    y = mer_mlp_run(net.tape, &net.mlp, mer_tape_input(net.tape, 2, (int[]){2, 6}, x));
    assert_true(y->needs_grad);
    net_close(&net);
}

static void test_clip_limits_the_common_norm(void **state)
{
    (void)state;
    MerTape       *tape = mer_tape_new(&mer_backend_plain, NULL);
    MerParameters *parameters = mer_parameters_new();
    MerTensor     *a = mer_parameters_add(parameters, "a", 1, (int[]){1});
    MerTensor     *b = mer_parameters_add(parameters, "b", 1, (int[]){1});
    a->has_grad = b->has_grad = true;
    a->grad[0] = 3;
    b->grad[0] = -4;
    assert_float_equal(mer_parameters_clip(tape, parameters, 10), 5, 1e-9);
    assert_float_equal(a->grad[0], 3, 0);
    assert_float_equal(mer_parameters_clip(tape, parameters, 1), 5, 1e-9);
    assert_float_equal(a->grad[0], 0.6f, 1e-6f);
    assert_float_equal(b->grad[0], -0.8f, 1e-6f);
    mer_parameters_free(parameters);
    mer_tape_free(tape);
}

/* One weight that starts at 1 with gradients 0.5 and -0.25, rate 0.1, calculated by hand. */
static double two_steps(const MerRule *rule)
{
    MerParameters *parameters = mer_parameters_new();
    MerTensor     *w = mer_parameters_add(parameters, "w", 1, (int[]){1});
    MerTape       *tape = mer_tape_new(&mer_backend_plain, NULL);
    MerUpdater    *updater = mer_updater_new(tape, parameters, rule);
    w->data[0] = 1;
    w->has_grad = true;
    w->grad[0] = 0.5f;
    mer_updater_step(updater, 0.1);
    w->grad[0] = -0.25f;
    mer_updater_step(updater, 0.1);
    double value = w->data[0];
    mer_updater_free(updater);
    mer_parameters_free(parameters);
    mer_tape_free(tape);
    return value;
}

static void test_rules_match_a_hand_calculation(void **state)
{
    (void)state;
    MerRule sgd = mer_rule_sgd(0.9, 0), decayed = mer_rule_sgd(0, 0.1), adam = mer_rule_adam(1e-8);
    /* v = 0.5, then 0.9 * 0.5 - 0.25 = 0.2 */
    assert_float_equal(two_steps(&sgd), 1 - 0.05 - 0.02, 1e-6);
    /* 1 - 0.1 * 0.6 = 0.94, then 0.94 - 0.1 * (-0.25 + 0.094) = 0.9556 */
    assert_float_equal(two_steps(&decayed), 0.9556, 1e-6);
    /* first step 0.1 exactly; then m = 0.02 / 0.19, v = 0.00031225 / 0.001999 */
    assert_float_equal(two_steps(&adam), 0.9 - 0.1 * (0.02 / 0.19) / sqrt(0.00031225 / 0.001999),
                       1e-5);
}

static void test_a_schedule_has_its_ends_and_middle(void **state)
{
    (void)state;
    assert_float_equal(mer_rate_cosine(2, 100, 0), 2, 1e-12);
    assert_float_equal(mer_rate_cosine(2, 100, 50), 1, 1e-12);
    assert_float_equal(mer_rate_cosine(2, 100, 100), 0, 1e-12);
    assert_float_equal(mer_rate_cosine(2, 100, 1000), 0, 1e-12);
}

static void test_orthogonal_start_has_orthonormal_columns(void **state)
{
    (void)state;
    MerParameters *parameters = mer_parameters_new();
    MerRng         rng = mer_rng_make(2, 0);
    MerTensor     *w = mer_parameters_add(parameters, "w", 2, (int[]){7, 4});
    mer_tensor_fill_orthogonal(w, 2, &rng);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            double dot = 0;
            for (int k = 0; k < 7; k++) {
                dot += (double)w->data[4 * k + i] * w->data[4 * k + j];
            }
            assert_float_equal(dot, i == j ? 4 : 0, 1e-5);
        }
    }
    mer_parameters_free(parameters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later_steps_allocate_nothing),
        cmocka_unit_test(test_later_steps_make_no_kernels_and_no_blocks),
        cmocka_unit_test(test_later_steps_of_an_mlp_allocate_nothing_with_dnnl),
        cmocka_unit_test(test_training_lowers_the_loss_and_a_seed_repeats_it),
        cmocka_unit_test(test_nothing_is_recorded_while_off),
        cmocka_unit_test(test_clip_limits_the_common_norm),
        cmocka_unit_test(test_rules_match_a_hand_calculation),
        cmocka_unit_test(test_a_schedule_has_its_ends_and_middle),
        cmocka_unit_test(test_orthogonal_start_has_orthonormal_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
