/* Every call of oneDNN that a training makes is made to fail once: the training reports it and stops,
 * nothing aborts. The functions below stand before the library's own. */
#define _GNU_SOURCE
#include "conv_layer.h"
#include "learn/team.h"
#include "mercator/threads.h"
#include "support.h"
#include "tensor/layers.h"

#include <dlfcn.h>
#include <dnnl.h>
#include <stdatomic.h>

static atomic_int    calls_left; /* before one fails; negative: none does */
static dnnl_status_t fault = dnnl_runtime_error;

static bool is_time(void)
{
    return atomic_fetch_sub(&calls_left, 1) == 0;
}

#define STAND_BEFORE(name, parameters, arguments)                                                  \
    dnnl_status_t name parameters                                                                  \
    {                                                                                              \
        dnnl_status_t(*real) parameters;                                                           \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                 \
        return is_time() ? fault : real arguments;                                                 \
    }

STAND_BEFORE(dnnl_engine_create, (dnnl_engine_t * engine, dnnl_engine_kind_t kind, size_t index),
             (engine, kind, index))
STAND_BEFORE(dnnl_stream_create, (dnnl_stream_t * stream, dnnl_engine_t engine, unsigned flags),
             (stream, engine, flags))
STAND_BEFORE(dnnl_primitive_attr_create, (dnnl_primitive_attr_t * attributes), (attributes))
STAND_BEFORE(dnnl_primitive_desc_create,
             (dnnl_primitive_desc_t * desc, const_dnnl_op_desc_t op,
              const_dnnl_primitive_attr_t attributes, dnnl_engine_t engine,
              const_dnnl_primitive_desc_t hint),
             (desc, op, attributes, engine, hint))
STAND_BEFORE(dnnl_reorder_primitive_desc_create,
             (dnnl_primitive_desc_t * desc, const dnnl_memory_desc_t *from, dnnl_engine_t source,
              const dnnl_memory_desc_t *to, dnnl_engine_t target,
              const_dnnl_primitive_attr_t attributes),
             (desc, from, source, to, target, attributes))
STAND_BEFORE(dnnl_primitive_create,
             (dnnl_primitive_t * primitive, const_dnnl_primitive_desc_t desc), (primitive, desc))
STAND_BEFORE(dnnl_memory_create,
             (dnnl_memory_t * memory, const dnnl_memory_desc_t *desc, dnnl_engine_t engine,
              void *handle),
             (memory, desc, engine, handle))
STAND_BEFORE(dnnl_primitive_execute,
             (const_dnnl_primitive_t primitive, dnnl_stream_t stream, int count,
              const dnnl_exec_arg_t *arguments),
             (primitive, stream, count, arguments))
STAND_BEFORE(dnnl_sgemm,
             (char a_kind, char b_kind, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha,
              const float *a, dnnl_dim_t row_a, const float *b, dnnl_dim_t row_b, float beta,
              float *c, dnnl_dim_t row_c),
             (a_kind, b_kind, m, n, k, alpha, a, row_a, b, row_b, beta, c, row_c))

static MerStatus step(MerTape *tape, const ConvLayer *conv, const MerLstm *lstm,
                      const MerLinearLayer *last, MerError *error)
{
    static float     pixels[8 * 3 * 36];
    static const int labels[8] = {1, 0, 3, 2};
    mer_tape_reset(tape);
    MerTensor *x = mer_tape_input(tape, 4, (int[]){8, 3, 6, 6}, pixels);
    x = conv_run(tape, conv, x, true, true);
    x = mer_tensor_pool(tape, x, &(MerPooling){MER_POOLING_MAX, {2, 2}, {2, 2}, {0, 0}});
    x = mer_tensor_reshape(tape, global_average(tape, x), 3, (int[]){1, 8, 16});
    MerLstmState state = mer_lstm_start(tape, lstm, 8);
    mer_lstm_sequence(tape, lstm, x, &state, false);
    MerTensor *y = mer_linear_run(tape, last, state.h, MER_LINEAR);
    return mer_tape_backward(tape, mer_tensor_cross_entropy(tape, y, labels, 0), error);
}

/* True if the fault was reached. */
static bool train_with_fault(int calls, MerPool *pool)
{
    MerParameters *net = mer_parameters_new();
    MerRng         rng = mer_rng_make(1, 0);
    MerError       error = {0};
    atomic_store(&calls_left, calls);
    MerTape       *tape = mer_tape_new(&mer_backend_dnnl, pool);
    ConvLayer      conv = conv_layer(net, "conv", 3, 16, 3, 1, 1, &rng);
    MerLstm        lstm = mer_lstm(net, "lstm", 16, 8, &rng);
    MerLinearLayer last = mer_linear_layer(net, "last", 8, 4, &rng);
    MerStatus      status = step(tape, &conv, &lstm, &last, &error);
    bool           is_reached = atomic_load(&calls_left) < 0;
    atomic_store(&calls_left, -1);
    assert_int_equal(status, is_reached ? MER_UNSUPPORTED : MER_OK);
    if (is_reached) {
        MerError again = {0};
        assert_non_null(strstr(error.message, "oneDNN refused a "));
        assert_non_null(strstr(error.message, "runtime_error"));
        assert_int_equal(step(tape, &conv, &lstm, &last, &again), MER_UNSUPPORTED);
        assert_string_equal(again.message, error.message);
    }
    mer_tape_free(tape);
    mer_parameters_free(net);
    return is_reached;
}

static void test_every_refusal_is_reported_and_stays(void **state)
{
    (void)state;
    MerPool *pool = mer_pool_new(2);
    int      calls = 0;
    while (train_with_fault(calls, calls % 2 == 0 ? NULL : pool)) {
        calls++;
    }
    assert_in_range(calls, 50, 2000);
    mer_pool_free(pool);
}

/* A dilation of 0 passes our shapes and is nothing to oneDNN. */
static void test_an_impossible_convolution_is_an_error(void **state)
{
    (void)state;
    MerTape       *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerParameters *net = mer_parameters_new();
    MerTensor     *w = mer_parameters_add(net, "w", 4, (int[]){4, 1, 3, 3});
    static float   pixels[16];
    MerError       error = {0};
    MerTensor     *x = mer_tape_input(tape, 4, (int[]){1, 1, 4, 4}, pixels);
    assert_int_equal(mer_tape_status(tape, &error), MER_OK);
    MerTensor *y = mer_tensor_conv(tape, x, w, NULL, &(MerConvolution){1, {1, 1}, {0, 0}, {0, 0}});
    assert_int_equal(mer_tape_status(tape, &error), MER_UNSUPPORTED);
    assert_string_equal(error.message, "oneDNN refused a convolution: invalid_arguments");
    assert_int_equal(mer_tape_backward(tape, mer_tensor_sum(tape, y), NULL), MER_UNSUPPORTED);
    assert_false(w->has_grad);
    mer_parameters_free(net);
    mer_tape_free(tape);
}

static void test_a_lack_of_memory_is_told_apart(void **state)
{
    (void)state;
    MerError error = {0};
    fault = dnnl_out_of_memory;
    atomic_store(&calls_left, 0);
    MerTape *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    fault = dnnl_runtime_error;
    assert_int_equal(mer_tape_status(tape, &error), MER_NO_MEMORY);
    assert_string_equal(error.message, "oneDNN refused a CPU engine: out_of_memory");
    mer_tape_free(tape);
}

/* Agents go on choosing points, and say that they learn nothing. */
static void test_a_team_tells_what_happened_to_its_networks(void **state)
{
    (void)state;
    MerRng      rng = mer_rng_make(1, 0);
    MerTeamSpec spec = {.backend = &mer_backend_dnnl,
                        .algorithm = MER_ALGORITHM_PPO,
                        .knob_count = 2,
                        .agent_count = 1,
                        .choices = (int[]){3, 4},
                        .owner = (int[]){0, 0},
                        .feature_count = 1,
                        .lanes = 2,
                        .unroll = 1,
                        .width = 8,
                        .depth = 1,
                        .epochs = 1,
                        .minibatches = 1,
                        .rate = 1e-3,
                        .adam_epsilon = 1e-8};
    MerTeam    *team = mer_team_new(&spec, &rng);
    MerError    error = {0};
    int         point[2];
    for (int lane = 0; lane < 2; lane++) {
        mer_team_act(team, &rng, lane, point);
        mer_team_see(team, lane, (float[]){0});
    }
    assert_int_equal(mer_team_status(team, &error), MER_OK);
    assert_true(mer_team_step(team));
    atomic_store(&calls_left, 3);
    mer_team_learn(team, (double[]){1, 0}, 0, &rng);
    assert_int_equal(mer_team_status(team, &error), MER_UNSUPPORTED);
    assert_string_equal(error.message, "oneDNN refused a product: runtime_error");
    mer_team_act(team, &rng, 0, point);
    assert_in_range(point[0], 0, 2);
    assert_in_range(point[1], 0, 3);
    mer_team_free(team);
}

int main(void)
{
    atomic_store(&calls_left, -1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_refusal_is_reported_and_stays),
        cmocka_unit_test(test_an_impossible_convolution_is_an_error),
        cmocka_unit_test(test_a_lack_of_memory_is_told_apart),
        cmocka_unit_test(test_a_team_tells_what_happened_to_its_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
