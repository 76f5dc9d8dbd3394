/* Native kernels: what the template makes is right for any shape and settings, settings go to points and back,
 * and whatever goes wrong with a kernel is an infeasible plan with its number. Nothing here depends on speed. */
#include "one_arena.h"
#include "run_support.h"

#include "base/log.h"
#include "codesign/native/build.h"
#include "mercator/evaluator.h"

#include <math.h>
#include <sys/stat.h>

typedef struct Case { /* a random layer and settings that the template can make */
    MerOp          op;
    MerKernelSpace space;
    MerSpace       knobs;
    MerKernel      kernel;
} Case;

static int64_t draw(MerRng *rng, int64_t low, int64_t high)
{
    return low + mer_rng_below(rng, (int)(high - low + 1));
}

static MerOp random_conv(MerRng *rng)
{
    MerOp op = mer_op_make("conv", "test", MER_OP_CONV);
    op.dims[MER_DIM_K] = draw(rng, 1, 70);
    op.dims[MER_DIM_C] = draw(rng, 1, 40);
    for (int a = 0; a < 2; a++) {
        int64_t filter = draw(rng, 1, 4), input = draw(rng, 8, 20);
        op.stride[a] = (int)draw(rng, 1, 3);
        op.dilation[a] = (int)draw(rng, 1, 2);
        op.pad[a] = (int)draw(rng, 0, 2);
        op.pad[a + 2] = (int)draw(rng, 0, 3);
        op.dims[MER_DIM_R + a] = filter;
        *(a == 0 ? &op.input_rows : &op.input_columns) = input;
        op.dims[MER_DIM_Y + a] =
            (input + op.pad[a] + op.pad[a + 2] - (filter - 1) * op.dilation[a] - 1) / op.stride[a] +
            1;
    }
    return op;
}

static MerOp random_product(MerRng *rng)
{
    MerOp op = mer_op_make("product", "test", MER_OP_GEMM);
    op.dims[MER_DIM_K] = draw(rng, 1, 200);
    op.dims[MER_DIM_C] = draw(rng, 1, 100);
    op.dims[MER_DIM_Y] = draw(rng, 0, 1) ? 1 : draw(rng, 2, 60);
    return op;
}

static void draw_case(MerRng *rng, Case *c)
{
    MerIndex point[MER_KERNEL_FIELDS];
    c->op = draw(rng, 0, 3) == 0 ? random_product(rng) : random_conv(rng);
    assert_null(mer_kernel_host_reason(&c->op));
    mer_kernel_space_open(&c->space, &c->op, 512, 3, &c->knobs, arena);
    assert_int_equal(c->knobs.knob_count, MER_KERNEL_FIELDS);
    do {
        mer_space_sample(&c->knobs, rng, point);
        mer_kernel_decode(&c->space, point, &c->kernel);
    } while (!mer_kernel_check(&c->space.shape, &c->kernel, NULL));
}

static float *filled(const MerKernelShape *shape, int64_t count, int salt)
{
    float *values = MER_ARRAY(arena, float, count);
    mer_kernel_fill(shape, values, count, salt);
    return values;
}

static MerBuild build_for(const MerKernelShape *s, const char *flags)
{
    float *image = filled(s, (int64_t)s->ci * s->height * s->width, 0);
    float *filters = filled(s, (int64_t)s->co * s->ci * s->kernel[0] * s->kernel[1], 1);
    float *expected = MER_ARRAY(arena, float, (int64_t)s->co * s->rows * s->columns);
    mer_kernel_reference(s, image, filters, expected);
    return (MerBuild){.compiler = mer_build_find_compiler("cc", arena),
                      .flags = flags,
                      .folder = ".",
                      .build_timeout_s = 60,
                      .run_timeout_s = 60,
                      .number = 1,
                      .repeat = 1,
                      .clock = mer_clock,
                      .image = image,
                      .filters = filters,
                      .expected = expected};
}

/* A convolution by its definition, in another order of loops than the reference. */
static void test_the_reference_is_a_convolution(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(3, 0);
    for (int i = 0; i < 100; i++) {
        Case c;
        draw_case(&rng, &c);
        const MerKernelShape *s = &c.space.shape;
        MerBuild              build = build_for(s, "");
        for (int j = 0; j < 50; j++) {
            int    k = (int)draw(&rng, 0, s->co - 1), y = (int)draw(&rng, 0, s->rows - 1);
            int    x = (int)draw(&rng, 0, s->columns - 1);
            double sum = 0;
            for (int r = 0; r < s->kernel[0] * s->kernel[1]; r++) {
                int row = y * s->stride[0] + r / s->kernel[1] * s->dilation[0] - s->pad[0];
                int column = x * s->stride[1] + r % s->kernel[1] * s->dilation[1] - s->pad[1];
                for (int ci = 0; ci < s->ci; ci++) {
                    bool   is_in = row >= 0 && row < s->height && column >= 0 && column < s->width;
                    double pixel =
                        is_in ? (double)build.image[(ci * s->height + row) * s->width + column] : 0;
                    sum +=
                        pixel *
                        (double)build.filters[(k * s->ci + ci) * s->kernel[0] * s->kernel[1] + r];
                }
            }
            assert_true(sum == (double)build.expected[(k * s->rows + y) * s->columns + x]);
        }
    }
}

static MerBuildResult make_and_run(const Case *c, const char *flags)
{
    MerBuild       build = build_for(&c->space.shape, flags);
    MerBuildResult result;
    FILE          *file = fopen("kernel.c", "w");
    assert_non_null(build.compiler);
    assert_non_null(file);
    mer_kernel_emit(&c->space.shape, &c->kernel, "kernel", file);
    assert_int_equal(fclose(file), 0);
    mer_build_compile(&build, "kernel.c", "./kernel.so", &result);
    if (result.error == MER_BUILD_NONE) {
        mer_build_run(&build, &c->space.shape, &c->kernel, "./kernel.so", "kernel", &result);
    }
    return result;
}

static void test_kernels_of_random_layers_and_settings_are_right(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(5, 0);
    for (int i = 0; i < 40; i++) {
        Case c;
        draw_case(&rng, &c);
        MerBuildResult result =
            make_and_run(&c, i % 4 == 0 ? "-O2 -march=native -Wall -Wextra -Werror" : "-O0");
        if (result.error != MER_BUILD_NONE || !(result.seconds > 0)) {
            fail_msg("kernel %d: error %d, %s", i, (int)result.error, result.text);
        }
    }
}

static void test_settings_become_points_and_come_back(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(7, 0);
    for (int i = 0; i < 3000; i++) {
        Case      c;
        MerIndex  point[MER_KERNEL_FIELDS];
        MerKernel again, settled;
        draw_case(&rng, &c);
        settled = c.kernel;
        mer_kernel_settle(&c.space.shape, &settled);
        assert_memory_equal(&settled, &c.kernel, sizeof settled);
        assert_true(mer_kernel_encode(&c.space, &c.kernel, point));
        assert_true(mer_space_contains(&c.knobs, point));
        mer_kernel_decode(&c.space, point, &again);
        assert_memory_equal(&again, &c.kernel, sizeof again);
    }
}

static void test_knobs_belong_to_three_agents(void **state)
{
    (void)state;
    static const char *const owners[] = {"vector_bits", "order", "tile_k"};
    for (int agent = 0; agent < 3; agent++) {
        int owned = 0;
        for (int f = 0; f < MER_KERNEL_FIELDS; f++) {
            owned += mer_kernel_fields[f].agent == agent;
            if (strcmp(mer_kernel_fields[f].name, owners[agent]) == 0) {
                assert_int_equal(mer_kernel_fields[f].agent, agent);
            }
        }
        assert_true(owned >= 2);
    }
}

static void test_loops_that_run_once_do_not_make_other_settings(void **state)
{
    (void)state;
    MerRng    rng = mer_rng_make(9, 0);
    Case      c;
    MerKernel a, b;
    draw_case(&rng, &c);
    a = (MerKernel){512, 1, 1, 16, 0, 1, 1, 1, 65536, 65536, 65536};
    b = a;
    b.order = 5;
    mer_kernel_settle(&c.space.shape, &a);
    mer_kernel_settle(&c.space.shape, &b);
    assert_memory_equal(&a, &b, sizeof a);
}

static void test_what_the_template_cannot_make_is_refused(void **state)
{
    (void)state;
    MerOp           op = mer_op_make("conv", "test", MER_OP_CONV);
    MerKernelShape  shape;
    MerKernelReason reason;
    const MerKernel good = {256, 1, 0, 8, 0, 2, 1, 8, 1, 1, 1};
    MerKernel       bad[6] = {good, good, good, good, good, good};
    op.dims[MER_DIM_K] = op.dims[MER_DIM_C] = 64;
    op.dims[MER_DIM_Y] = op.dims[MER_DIM_X] = 16;
    mer_kernel_shape_make(&op, &shape);
    assert_true(mer_kernel_check(&shape, &good, &reason));
    bad[0].tile_k = 5;
    bad[1].vector_bits = 96;
    bad[2].unroll = 3;
    bad[3].threads = 0;
    bad[4].order = 6;
    bad[5].tile_x = -8;
    for (int i = 0; i < 6; i++) {
        assert_false(mer_kernel_check(&shape, &bad[i], &reason));
        assert_false(mer_kernel_check(&shape, &bad[i], NULL));
    }
    mer_kernel_check(&shape, &bad[0], &reason);
    mer_test_contains(reason.text, "needs 40 vectors, has 32");
}

static void test_other_operators_stay_on_the_host(void **state)
{
    (void)state;
    MerOp op = mer_op_make("x", "test", MER_OP_CONV);
    assert_null(mer_kernel_host_reason(&op));
    op.dims[MER_DIM_G] = 2;
    mer_test_contains(mer_kernel_host_reason(&op), "grouped");
    op = mer_op_make("x", "test", MER_OP_CONV);
    op.dims[MER_DIM_N] = 4;
    mer_test_contains(mer_kernel_host_reason(&op), "image");
    op = mer_op_make("x", "test", MER_OP_CONV);
    op.pad[3] = -1;
    mer_test_contains(mer_kernel_host_reason(&op), "padding");
    for (int kind = 0; kind < MER_OP_KIND_COUNT; kind++) {
        op = mer_op_make("x", "test", (MerOpKind)kind);
        assert_int_equal(mer_kernel_host_reason(&op) == NULL,
                         kind == MER_OP_CONV || kind == MER_OP_GEMM);
    }
}

static void test_outliers_do_not_move_the_time(void **state)
{
    (void)state;
    const double quiet[] = {1.0, 1.1, 0.9, 1.0, 1.05}, busy[] = {1.0, 1.1, 50, 0.9, 1.0, 1.05, 9};
    const double one[] = {2};
    assert_true(mer_build_typical(quiet, 5) == 1.0);
    assert_true(mer_build_typical(busy, 7) == 1.0);
    assert_true(mer_build_typical(one, 1) == 2);
}

/* Failures, through a whole run: its compiler is a script that makes something else of our source. */

#define CODE_HEAD                                                                                  \
    "void kernel_pack_input(const float *a, float *b) { (void)a; (void)b; }\n"                     \
    "void kernel_pack_weights(const float *a, float *b) { (void)a; (void)b; }\n"                   \
    "void kernel_unpack_output(const float *a, float *b) { *b = *a; }\n"                           \
    "void kernel(const float *a, const float *b, float *c) { (void)a; (void)b; (void)c;\n"

typedef struct Failure {
    const char *name;
    const char *script; /* the compiler; object and source are its last arguments */
    const char *code;
    const char *reason;
} Failure;

#define LAST_TWO "while [ $# -gt 2 ]; do shift; done\n"
static const Failure failures[] = {
    {"message", "echo 'kernel.c:1: error: no such thing'; exit 1\n", NULL,
     "compile: error 2, error: no such thing"},
    {"silent", "exit 3\n", NULL, "compile: error 2, no message"},
    {"slow", "sleep 100\n", NULL, "build-timeout: error 6, not compiled within 1 s"},
    {"empty", LAST_TWO "exec cc -shared -fPIC -o $1 empty.c\n", "int nothing;\n",
     "runtime: error 4, cannot be loaded"},
    {"garbage", LAST_TWO "echo garbage >$1\n", NULL, "runtime: error 4, cannot be loaded"},
    {"crash", LAST_TWO "exec cc -shared -fPIC -o $1 crash.c\n", CODE_HEAD "__builtin_trap(); }\n",
     "runtime: error 4, ended by signal"},
    {"leave", LAST_TWO "exec cc -shared -fPIC -o $1 leave.c\n",
     "void _exit(int code);\n" CODE_HEAD "_exit(5); }\n", "runtime: error 4, ended with code 5"},
    {"wrong", LAST_TWO "exec cc -shared -fPIC -o $1 wrong.c\n", CODE_HEAD "}\n",
     "wrong-answer: error 5, result 0 is"},
    {"hang", LAST_TWO "exec cc -shared -fPIC -o $1 hang.c\n",
     CODE_HEAD "for (volatile int i = 0;; i++) ; }\n",
     "run-timeout: error 7, no result within 1 s"},
};

static void check_failure(const Failure *failure)
{
    char here[400];
    assert_non_null(getcwd(here, sizeof here));
    const char *script = mer_arena_format(arena, "%s/%s.sh", here, failure->name);
    write_text(script, mer_arena_format(arena, "#!/bin/sh\n%s", failure->script));
    assert_int_equal(chmod(script, 0700), 0);
    if (failure->code) {
        write_text(mer_arena_format(arena, "%s.c", failure->name), failure->code);
    }
    /* short only where it is to be reached: a busy machine compiles slowly */
    const char *timeouts = mer_arena_format(arena, "native:build_timeout_s=%d,run_timeout_s=%d",
                                            strstr(failure->reason, "build-timeout") ? 1 : 30,
                                            strstr(failure->reason, "run-timeout") ? 1 : 30);
    MerRunSpec  spec = spec_from("codesign", timeouts, "random",
                                 one_layer_graph(4, 3, 5, 5, 3, 3, arena), "native", arena);
    spec.platform = platform_from(
        mer_arena_format(arena,
                         "{format: mercator-platform/1, kind: native, compiler: \"%s\","
                         " units: [{name: cpu, vector_bits: 128}]}",
                         script),
        arena);
    spec.budget = 1;
    spec.directory = failure->name;
    MerRunResult result = run_or_fail(&spec, NULL, arena);
    assert_false(result.is_feasible);
    mer_test_contains(file_text(failure->name, "run.jsonl", arena), failure->reason);
}

static void test_every_failure_is_an_infeasible_plan_with_its_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        check_failure(&failures[i]);
    }
}

static void test_settings_beyond_the_registers_are_error_1(void **state)
{
    (void)state;
    MerRunSpec         spec = spec_from("codesign", "native", "random",
                                        one_layer_graph(64, 3, 20, 20, 3, 3, arena), "native", arena);
    const MerFixedKnob fixed[] = {{"tile_k", 8, NULL}, {"tile_x", 20, NULL}};
    spec.fixed = fixed;
    spec.fixed_count = 2;
    spec.learned_legality = true;
    spec.budget = 2;
    spec.directory = "registers";
    assert_false(run_or_fail(&spec, NULL, arena).is_feasible);
    mer_test_contains(file_text("registers", "run.jsonl", arena),
                      "instantiation: error 1, the register tile needs");
}

static void test_a_missing_compiler_is_one_clear_error(void **state)
{
    (void)state;
    MerRunSpec   spec = spec_from("codesign", "native", "random",
                                  one_layer_graph(4, 3, 5, 5, 3, 3, arena), "native", arena);
    MerRunResult result;
    MerError     error = {0};
    spec.budget = 1;
    spec.platform = platform_from("{format: mercator-platform/1, kind: native, name: bare,"
                                  " compiler: no-such-cc, units: [{name: cpu}]}",
                                  arena);
    assert_int_equal(mer_run(&spec, NULL, arena, &result, &error), MER_NOT_FOUND);
    mer_test_contains(error.message, "platform bare needs the C compiler no-such-cc");
    assert_null(mer_build_find_compiler("/no/such/cc", arena));
}

static void test_platforms_and_plans_must_fit(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"vta", "native"}, {"native", "vta-pynq-b"}};
    for (int i = 0; i < 2; i++) {
        MerRunSpec   spec = spec_from("codesign", pairs[i][0], "random",
                                      one_layer_graph(4, 3, 5, 5, 3, 3, arena), pairs[i][1], arena);
        MerRunResult result;
        MerError     error = {0};
        spec.budget = 1;
        assert_int_equal(mer_run(&spec, NULL, arena, &result, &error), MER_INVALID);
        mer_test_contains(error.message, "do not run on platform");
    }
    MerRunSpec   spec = spec_from("codesign", "native", "grid",
                                  one_layer_graph(4, 3, 5, 5, 3, 3, arena), "native", arena);
    MerRunResult result;
    spec.budget = 1;
    assert_int_equal(mer_run(&spec, NULL, arena, &result, NULL), MER_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_reference_is_a_convolution),
        cmocka_unit_test(test_kernels_of_random_layers_and_settings_are_right),
        cmocka_unit_test(test_settings_become_points_and_come_back),
        cmocka_unit_test(test_knobs_belong_to_three_agents),
        cmocka_unit_test(test_loops_that_run_once_do_not_make_other_settings),
        cmocka_unit_test(test_what_the_template_cannot_make_is_refused),
        cmocka_unit_test(test_other_operators_stay_on_the_host),
        cmocka_unit_test(test_outliers_do_not_move_the_time),
        cmocka_unit_test(test_every_failure_is_an_infeasible_plan_with_its_number),
        cmocka_unit_test(test_settings_beyond_the_registers_are_error_1),
        cmocka_unit_test(test_a_missing_compiler_is_one_clear_error),
        cmocka_unit_test(test_platforms_and_plans_must_fit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
