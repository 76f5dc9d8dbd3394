/* Values of ops that are the same code on every backend, against plain loops in double. */
#include "support.h"
#include "tensor/layers.h"
#include "tensor/ops.h"

#include <math.h>

enum { ROWS = 4, COLUMNS = 5, SIZE = ROWS * COLUMNS };

typedef struct Bench {
    MerTape   *tape;
    MerTensor *x, *z;
    double     a[ROWS][COLUMNS], b[ROWS][COLUMNS];
} Bench;

static Bench bench_open(void)
{
    Bench  bench = {.tape = mer_tape_new(&mer_backend_plain, NULL)};
    MerRng rng = mer_rng_make(5, 0);
    bench.x = mer_tape_tensor(bench.tape, 2, (int[]){ROWS, COLUMNS});
    bench.z = mer_tape_tensor(bench.tape, 2, (int[]){ROWS, COLUMNS});
    float *x = mer_tensor_data(bench.tape, bench.x), *z = mer_tensor_data(bench.tape, bench.z);
    for (int i = 0; i < SIZE; i++) {
        x[i] = (float)(4 * mer_rng_unit(&rng) - 2);
        z[i] = (float)(4 * mer_rng_unit(&rng) - 2);
        bench.a[i / COLUMNS][i % COLUMNS] = x[i];
        bench.b[i / COLUMNS][i % COLUMNS] = z[i];
    }
    return bench;
}

static void expect(Bench *bench, MerTensor *found, int64_t count, const double *expected)
{
    const float *values = mer_tensor_data(bench->tape, found);
    assert_int_equal(found->size, count);
    for (int64_t i = 0; i < count; i++) {
        assert_float_equal(values[i], expected[i], 2e-6 * (1 + fabs(expected[i])));
    }
}

static void log_softmax(const double *x, int count, double *y)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += exp(x[i]);
    }
    for (int i = 0; i < count; i++) {
        y[i] = x[i] - log(sum);
    }
}

typedef MerTensor *(*Single)(MerTape *tape, MerTensor *x);
typedef MerTensor *(*Pair)(MerTape *tape, MerTensor *a, MerTensor *b);

static double relu(double x)
{
    return x > 0 ? x : 0;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double square(double x)
{
    return x * x;
}

static void test_pointwise_ops_are_those_of_the_c_library(void **state)
{
    (void)state;
    static const struct {
        Single op;
        double (*reference)(double x);
        bool is_of_exponentials; /* needs positive numbers */
    } ops[] = {{mer_tensor_relu, relu, false},       {mer_tensor_tanh, tanh, false},
               {mer_tensor_sigmoid, sigmoid, false}, {mer_tensor_exp, exp, false},
               {mer_tensor_square, square, false},   {mer_tensor_log, log, true}};
    Bench bench = bench_open();
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        double     expected[SIZE];
        MerTensor *x = ops[i].is_of_exponentials ? mer_tensor_exp(bench.tape, bench.x) : bench.x;
        for (int j = 0; j < SIZE; j++) {
            double value = bench.a[j / COLUMNS][j % COLUMNS];
            expected[j] = ops[i].reference(ops[i].is_of_exponentials ? exp(value) : value);
        }
        expect(&bench, ops[i].op(bench.tape, x), SIZE, expected);
    }
    mer_tape_free(bench.tape);
}

static double sum_of(double x, double y)
{
    return x + y;
}

static double difference_of(double x, double y)
{
    return x - y;
}

static double product_of(double x, double y)
{
    return x * y;
}

static double ratio_of(double x, double y)
{
    return x / y;
}

static void test_pairs_are_those_of_the_c_library(void **state)
{
    (void)state;
    static const struct {
        Pair op;
        double (*reference)(double x, double y);
    } ops[] = {{mer_tensor_add, sum_of},
               {mer_tensor_sub, difference_of},
               {mer_tensor_mul, product_of},
               {mer_tensor_div, ratio_of},
               {mer_tensor_minimum, fmin}};
    Bench bench = bench_open();
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        double expected[SIZE];
        for (int j = 0; j < SIZE; j++) {
            expected[j] = ops[i].reference(bench.a[j / COLUMNS][j % COLUMNS],
                                           bench.b[j / COLUMNS][j % COLUMNS]);
        }
        expect(&bench, ops[i].op(bench.tape, bench.x, bench.z), SIZE, expected);
    }
    mer_tape_free(bench.tape);
}

static void test_softmaxes_are_normed_exponentials(void **state)
{
    (void)state;
    Bench  bench = bench_open();
    double logs[ROWS][COLUMNS], shares[ROWS][COLUMNS], parts[ROWS][COLUMNS];
    for (int r = 0; r < ROWS; r++) {
        log_softmax(bench.a[r], COLUMNS, logs[r]);
        log_softmax(bench.a[r], 2, parts[r]);
        log_softmax(bench.a[r] + 2, 3, parts[r] + 2);
        for (int c = 0; c < COLUMNS; c++) {
            shares[r][c] = exp(logs[r][c]);
        }
    }
    expect(&bench, mer_tensor_log_softmax(bench.tape, bench.x), SIZE, logs[0]);
    expect(&bench, mer_tensor_softmax(bench.tape, bench.x), SIZE, shares[0]);
    expect(&bench, mer_tensor_segment_log_softmax(bench.tape, bench.x, 2, (int[]){0, 2, COLUMNS}),
           SIZE, parts[0]);
    mer_tape_free(bench.tape);
}

static void test_layer_norm_has_mean_shift_and_deviation_scale(void **state)
{
    (void)state;
    Bench        bench = bench_open();
    const float  scale[COLUMNS] = {1, 2, -1, 0.5f, 3}, shift[COLUMNS] = {0, 1, -2, 0.25f, 4};
    double       expected[ROWS][COLUMNS];
    const double epsilon = 1e-2;
    for (int r = 0; r < ROWS; r++) {
        double mean = 0, variance = 0;
        for (int c = 0; c < COLUMNS; c++) {
            mean += bench.a[r][c] / COLUMNS;
        }
        for (int c = 0; c < COLUMNS; c++) {
            variance += square(bench.a[r][c] - mean) / COLUMNS;
        }
        for (int c = 0; c < COLUMNS; c++) {
            double normal = (bench.a[r][c] - mean) / sqrt(variance + epsilon);
            expected[r][c] = normal * scale[c] + shift[c];
        }
    }
    MerTensor *factor = mer_tape_input(bench.tape, 1, (int[]){COLUMNS}, scale);
    MerTensor *offset = mer_tape_input(bench.tape, 1, (int[]){COLUMNS}, shift);
    expect(&bench, mer_tensor_layer_norm(bench.tape, bench.x, factor, offset, (float)epsilon), SIZE,
           expected[0]);
    mer_tape_free(bench.tape);
}

static void test_gathered_and_scattered_rows_are_in_place(void **state)
{
    (void)state;
    Bench     bench = bench_open();
    const int index[ROWS] = {2, 0, 2, 1};
    double    gathered[ROWS][COLUMNS], most[3][COLUMNS], mean[3][COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        for (int r = 0; r < ROWS; r++) {
            gathered[r][c] = bench.a[index[r]][c];
        }
        most[0][c] = mean[0][c] = bench.a[1][c];
        most[1][c] = mean[1][c] = bench.a[3][c];
        most[2][c] = fmax(bench.a[0][c], bench.a[2][c]);
        mean[2][c] = (bench.a[0][c] + bench.a[2][c]) / 2;
    }
    expect(&bench, mer_tensor_gather(bench.tape, bench.x, ROWS, index), SIZE, gathered[0]);
    expect(&bench, mer_tensor_scatter_max(bench.tape, bench.x, 3, index), 3 * COLUMNS, most[0]);
    expect(&bench, mer_tensor_scatter_mean(bench.tape, bench.x, 3, index), 3 * COLUMNS, mean[0]);
    mer_tape_free(bench.tape);
}

static void test_reductions_and_slices_take_the_right_axis(void **state)
{
    (void)state;
    Bench  bench = bench_open();
    double down[COLUMNS] = {0}, all = 0, turned[COLUMNS][ROWS], middle[ROWS][2];
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            down[c] += bench.a[r][c];
            all += bench.a[r][c];
            turned[c][r] = bench.a[r][c];
        }
        middle[r][0] = bench.a[r][2];
        middle[r][1] = bench.a[r][3];
    }
    expect(&bench, mer_tensor_sum_axis(bench.tape, bench.x, 0), COLUMNS, down);
    expect(&bench, mer_tensor_sum(bench.tape, bench.x), 1, &all);
    expect(&bench, mer_tensor_transpose(bench.tape, bench.x, (int[]){1, 0}), SIZE, turned[0]);
    expect(&bench, mer_tensor_slice(bench.tape, bench.x, 1, 2, 2), ROWS * 2, middle[0]);
    mer_tape_free(bench.tape);
}

static void test_losses_are_means_over_the_batch(void **state)
{
    (void)state;
    Bench     bench = bench_open();
    const int labels[ROWS] = {4, 0, 2, 2};
    double    entropy = 0, squares = 0;
    for (int r = 0; r < ROWS; r++) {
        double logs[COLUMNS];
        log_softmax(bench.a[r], COLUMNS, logs);
        entropy -= logs[labels[r]] / ROWS;
        for (int c = 0; c < COLUMNS; c++) {
            double d = fabs(bench.a[r][c] - bench.b[r][c]);
            squares += d * d / SIZE;
        }
    }
    expect(&bench, mer_tensor_cross_entropy(bench.tape, bench.x, labels, 0), 1, &entropy);
    expect(&bench, mer_tensor_mse(bench.tape, bench.x, bench.z), 1, &squares);
    mer_tape_free(bench.tape);
}

static void test_joined_picked_and_reshaped_numbers_are_in_place(void **state)
{
    (void)state;
    static const int index[ROWS * 2] = {0, 4, 1, 1, 3, 0, 2, 4};
    Bench            bench = bench_open();
    MerTensor       *parts[2] = {bench.x, bench.z};
    double           wide[2 * SIZE], tall[2 * SIZE], picked[ROWS * 2];
    for (int i = 0; i < SIZE; i++) {
        int row = i / COLUMNS, column = i % COLUMNS;
        wide[row * 2 * COLUMNS + column] = tall[i] = bench.a[row][column];
        wide[row * 2 * COLUMNS + COLUMNS + column] = tall[SIZE + i] = bench.b[row][column];
    }
    for (int i = 0; i < ROWS * 2; i++) {
        picked[i] = bench.a[i / 2][index[i]];
    }
    expect(&bench, mer_tensor_concat(bench.tape, 2, parts, 1), 2 * SIZE, wide);
    expect(&bench, mer_tensor_concat(bench.tape, 2, parts, 0), 2 * SIZE, tall);
    expect(&bench, mer_tensor_pick(bench.tape, bench.x, 2, index), ROWS * 2, picked);
    MerTensor *flat = mer_tensor_reshape(bench.tape, bench.x, 1, (int[]){-1});
    assert_int_equal(flat->rank, 1);
    expect(&bench, flat, SIZE, &bench.a[0][0]);
    mer_tape_free(bench.tape);
}

static void test_affine_clamp_and_means_are_plain_arithmetic(void **state)
{
    (void)state;
    Bench  bench = bench_open();
    double affine[SIZE], clamped[SIZE], mean = 0, rows[ROWS] = {0}, columns[COLUMNS] = {0};
    for (int i = 0; i < SIZE; i++) {
        double x = bench.a[i / COLUMNS][i % COLUMNS];
        affine[i] = 3 * x - 0.5;
        clamped[i] = fmax(-0.75, fmin(1.25, x));
        mean += x / SIZE;
        rows[i / COLUMNS] += x / COLUMNS;
        columns[i % COLUMNS] += x / ROWS;
    }
    expect(&bench, mer_tensor_affine(bench.tape, bench.x, 3, -0.5f), SIZE, affine);
    expect(&bench, mer_tensor_clamp(bench.tape, bench.x, -0.75f, 1.25f), SIZE, clamped);
    expect(&bench, mer_tensor_mean(bench.tape, bench.x), 1, &mean);
    expect(&bench, mer_tensor_mean_axis(bench.tape, bench.x, 1), ROWS, rows);
    expect(&bench, mer_tensor_mean_axis(bench.tape, bench.x, 0), COLUMNS, columns);
    mer_tape_free(bench.tape);
}

static void test_dropout_zeroes_a_share_and_scales_the_rest(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    MerTape   *tape = mer_tape_new(&mer_backend_plain, NULL);
    MerRng     rng = mer_rng_make(9, 0);
    MerTensor *x = mer_tape_tensor(tape, 1, (int[]){MANY});
    float     *ones = mer_tensor_data(tape, x);
    for (int i = 0; i < MANY; i++) {
        ones[i] = 1;
    }
    const float *y = mer_tensor_data(tape, mer_tensor_dropout(tape, x, 0.25f, &rng));
    int          kept = 0;
    for (int i = 0; i < MANY; i++) {
        assert_true(y[i] == 0 || fabs(y[i] - 4.0 / 3) < 1e-6);
        kept += y[i] != 0;
    }
    assert_float_equal((double)kept / MANY, 0.75, 0.015); /* five deviations */
    mer_tape_free(tape);
}

/* Smoothing shares out that much of the label evenly over all classes. */
static void test_smoothed_cross_entropy_mixes_in_the_even_distribution(void **state)
{
    (void)state;
    static const int labels[ROWS] = {4, 0, 2, 2};
    Bench            bench = bench_open();
    double           entropy = 0, logs[COLUMNS];
    for (int row = 0; row < ROWS; row++) {
        log_softmax(bench.a[row], COLUMNS, logs);
        for (int c = 0; c < COLUMNS; c++) {
            double wanted = 0.1 / COLUMNS + (c == labels[row] ? 0.9 : 0);
            entropy -= wanted * logs[c] / ROWS;
        }
    }
    expect(&bench, mer_tensor_cross_entropy(bench.tape, bench.x, labels, 0.1f), 1, &entropy);
    mer_tape_free(bench.tape);
}

enum { TOKENS = 3, WIDTH = 4, HEADS = 2, HEAD = WIDTH / HEADS };

static void project(const MerLinearLayer *layer, double x[TOKENS][WIDTH], double y[TOKENS][WIDTH])
{
    for (int t = 0; t < TOKENS; t++) {
        for (int o = 0; o < WIDTH; o++) {
            y[t][o] = layer->bias->data[o];
            for (int i = 0; i < WIDTH; i++) {
                y[t][o] += x[t][i] * layer->w->data[i * WIDTH + o];
            }
        }
    }
}

/* softmax(q k / sqrt(d)) v per head (Vaswani et al., NeurIPS 2017), then the output layer. */
static void test_attention_weighs_values_by_scaled_products(void **state)
{
    (void)state;
    MerRng         rng = mer_rng_make(7, 0);
    MerTape       *tape = mer_tape_new(&mer_backend_plain, NULL);
    MerParameters *parameters = mer_parameters_new();
    MerAttention   attention = mer_attention(parameters, "a", WIDTH, HEADS, &rng);
    MerTensor     *x = mer_tape_tensor(tape, 3, (int[]){1, TOKENS, WIDTH});
    double         in[TOKENS][WIDTH], q[TOKENS][WIDTH], k[TOKENS][WIDTH], v[TOKENS][WIDTH];
    double         mixed[TOKENS][WIDTH] = {{0}}, out[TOKENS][WIDTH];
    for (int i = 0; i < TOKENS * WIDTH; i++) {
        mer_tensor_data(tape, x)[i] = (float)(4 * mer_rng_unit(&rng) - 2);
        in[i / WIDTH][i % WIDTH] = mer_tensor_data(tape, x)[i];
    }
    project(&attention.query, in, q);
    project(&attention.key, in, k);
    project(&attention.value, in, v);
    for (int t = 0; t < TOKENS * HEADS; t++) {
        int    from = t / HEADS, first = t % HEADS * HEAD;
        double products[TOKENS] = {0}, logs[TOKENS];
        for (int to = 0; to < TOKENS; to++) {
            for (int d = first; d < first + HEAD; d++) {
                products[to] += q[from][d] * k[to][d] / sqrt(HEAD);
            }
        }
        log_softmax(products, TOKENS, logs);
        for (int to = 0; to < TOKENS; to++) {
            for (int d = first; d < first + HEAD; d++) {
                mixed[from][d] += exp(logs[to]) * v[to][d];
            }
        }
    }
    project(&attention.output, mixed, out);
    Bench bench = {.tape = tape};
    expect(&bench, mer_attention_run(tape, &attention, x, NULL, NULL), TOKENS * WIDTH, &out[0][0]);
    mer_parameters_free(parameters);
    mer_tape_free(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pointwise_ops_are_those_of_the_c_library),
        cmocka_unit_test(test_pairs_are_those_of_the_c_library),
        cmocka_unit_test(test_softmaxes_are_normed_exponentials),
        cmocka_unit_test(test_layer_norm_has_mean_shift_and_deviation_scale),
        cmocka_unit_test(test_gathered_and_scattered_rows_are_in_place),
        cmocka_unit_test(test_reductions_and_slices_take_the_right_axis),
        cmocka_unit_test(test_losses_are_means_over_the_batch),
        cmocka_unit_test(test_joined_picked_and_reshaped_numbers_are_in_place),
        cmocka_unit_test(test_affine_clamp_and_means_are_plain_arithmetic),
        cmocka_unit_test(test_dropout_zeroes_a_share_and_scales_the_rest),
        cmocka_unit_test(test_smoothed_cross_entropy_mixes_in_the_even_distribution),
        cmocka_unit_test(test_attention_weighs_values_by_scaled_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
