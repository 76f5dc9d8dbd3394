/* What the tape costs on top of the library below it, as ratios within one run: an MLP against
 * the bare products, the convolutions of ResNet-20 against bare oneDNN primitives with layouts
 * of its choice: CPU time of one thread. And what threads bring: training of ResNet8 on one and on two
 * by the wall clock. Both sides in turn, the best of several repeats. Lines are `name value unit`. */
#include "base/log.h"
#include "conv_layer.h"
#include "mercator/threads.h"
#include "tensor/layers.h"
#include "tensor/updater.h"

#include <dnnl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 256, LAYERS = 3, REPEATS = 40, IMAGES = 64, CONVS = 19, CONV_REPEATS = 7 };

int  omp_get_max_threads(void);
void omp_set_num_threads(int count);

static void must(dnnl_status_t status)
{
    if (status != dnnl_success) {
        fprintf(stderr, "bench_tensor: oneDNN status %d\n", (int)status);
        exit(1);
    }
}

static float *numbers(int64_t count)
{
    float *values = aligned_alloc(64, ((size_t)count * sizeof *values + 63) / 64 * 64);
    MerRng rng = mer_rng_make(1, (uint64_t)count);
    for (int64_t i = 0; values != NULL && i < count; i++) {
        values[i] = (float)mer_rng_unit(&rng) - 0.5f;
    }
    if (values == NULL) {
        exit(1);
    }
    return values;
}

static const int sizes[LAYERS + 1] = {64, 128, 128, 16};

typedef struct RawMlp {
    float *x[LAYERS + 1], *dx[LAYERS + 1], *w[LAYERS], *dw[LAYERS];
} RawMlp;

static RawMlp raw_mlp(int batch)
{
    RawMlp raw;
    for (int i = 0; i <= LAYERS; i++) {
        raw.x[i] = numbers((int64_t)batch * sizes[i]);
        raw.dx[i] = numbers((int64_t)batch * sizes[i]);
    }
    for (int i = 0; i < LAYERS; i++) {
        raw.w[i] = numbers((int64_t)sizes[i] * sizes[i + 1]);
        raw.dw[i] = numbers((int64_t)sizes[i] * sizes[i + 1]);
    }
    return raw;
}

static void raw_mlp_free(RawMlp *raw)
{
    for (int i = 0; i <= LAYERS; i++) {
        free(raw->x[i]);
        free(raw->dx[i]);
    }
    for (int i = 0; i < LAYERS; i++) {
        free(raw->w[i]);
        free(raw->dw[i]);
    }
}

/* The eight products of a step; the input needs no gradient. */
static void raw_mlp_step(const RawMlp *raw, int batch)
{
    for (int i = 0; i < LAYERS; i++) {
        int in = sizes[i], out = sizes[i + 1];
        must(dnnl_sgemm('N', 'N', batch, out, in, 1, raw->x[i], in, raw->w[i], out, 0,
                        raw->x[i + 1], out));
    }
    for (int i = LAYERS - 1; i >= 0; i--) {
        int in = sizes[i], out = sizes[i + 1];
        must(dnnl_sgemm('T', 'N', in, out, batch, 1, raw->x[i], in, raw->dx[i + 1], out, 0,
                        raw->dw[i], out));
        if (i > 0) {
            must(dnnl_sgemm('N', 'T', batch, in, out, 1, raw->dx[i + 1], out, raw->w[i], out, 0,
                            raw->dx[i], in));
        }
    }
}

/* The same products with biases and relu; the loss is the mean, as cheap as one can be. */
static void tape_mlp_step(MerTape *tape, MerParameters *parameters, const MerMlp *mlp, int batch,
                          const float *x)
{
    mer_tape_reset(tape);
    mer_parameters_clear(parameters);
    MerTensor *y = mer_mlp_run(tape, mlp, mer_tape_input(tape, 2, (int[]){batch, sizes[0]}, x));
    mer_tape_backward(tape, mer_tensor_mean(tape, y), NULL);
}

static void bench_mlp(int batch)
{
    MerTape       *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerParameters *parameters = mer_parameters_new();
    MerRng         rng = mer_rng_make(1, 0);
    MerMlp         mlp = mer_mlp(parameters, "mlp", LAYERS + 1, sizes, MER_RELU, &rng);
    RawMlp         raw = raw_mlp(batch);
    int            steps = 5 * BATCH / batch;
    double         best[2] = {1e30, 1e30};
    for (int r = 0; r < REPEATS; r++) {
        double start = mer_cpu_clock();
        for (int s = 0; s < steps; s++) {
            raw_mlp_step(&raw, batch);
        }
        double middle = mer_cpu_clock();
        for (int s = 0; s < steps; s++) {
            tape_mlp_step(tape, parameters, &mlp, batch, raw.x[0]);
        }
        double end = mer_cpu_clock();
        best[0] = middle - start < best[0] ? middle - start : best[0];
        best[1] = end - middle < best[1] ? end - middle : best[1];
    }
    printf("mlp_batch%d_sgemm %.1f us\n", batch, 1e6 * best[0] / steps);
    printf("mlp_batch%d_tape %.1f us\n", batch, 1e6 * best[1] / steps);
    printf("mlp_batch%d_ratio %.3f 1\n", batch, best[1] / best[0]);
    raw_mlp_free(&raw);
    mer_parameters_free(parameters);
    mer_tape_free(tape);
}

typedef struct ConvShape {
    int in, out, size, stride; /* of the input image */
} ConvShape;

static ConvShape conv_shape(int index)
{
    int       stage = index == 0 ? 0 : (index - 1) / 6;
    int       width = 16 << stage, size = 32 >> stage;
    bool      is_entry = stage > 0 && (index - 1) % 6 == 0;
    ConvShape shape = {width, width, size, 1};
    if (index == 0) {
        shape.in = 3;
    } else if (is_entry) {
        shape = (ConvShape){width / 2, width, 2 * size, 2};
    }
    return shape;
}

typedef struct RawKernel {
    dnnl_primitive_t primitive;
    int              count;
    dnnl_exec_arg_t  arguments[3];
} RawKernel;

typedef struct
    RawNet { /* forward, weight and data gradients of every layer, and what lies between */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    RawKernel     kernels[4 * CONVS];
    int           kernel_count;
} RawNet;

static dnnl_memory_t raw_memory(const RawNet *net, const dnnl_memory_desc_t *desc)
{
    dnnl_memory_t memory;
    must(dnnl_memory_create(&memory, desc, net->engine,
                            numbers((int64_t)dnnl_memory_desc_get_size(desc) / 4 + 16)));
    return memory;
}

static void raw_add(RawNet *net, dnnl_primitive_desc_t desc, int count, const int *names,
                    dnnl_memory_t *memories)
{
    RawKernel *kernel = &net->kernels[net->kernel_count++];
    must(dnnl_primitive_create(&kernel->primitive, desc));
    kernel->count = count;
    for (int i = 0; i < count; i++) {
        kernel->arguments[i] = (dnnl_exec_arg_t){names[i], memories[i]};
    }
}

/* A memory that holds `from` in another layout: the same one, or a reorder is added. */
static dnnl_memory_t raw_reordered(RawNet *net, dnnl_memory_t from, const dnnl_memory_desc_t *to)
{
    const dnnl_memory_desc_t *have;
    must(dnnl_memory_get_memory_desc(from, &have));
    if (dnnl_memory_desc_equal(have, to)) {
        return from;
    }
    dnnl_memory_t         memory = raw_memory(net, to);
    dnnl_primitive_desc_t desc;
    must(dnnl_reorder_primitive_desc_create(&desc, have, net->engine, to, net->engine, NULL));
    raw_add(net, desc, 2, (int[]){DNNL_ARG_FROM, DNNL_ARG_TO}, (dnnl_memory_t[]){from, memory});
    return memory;
}

typedef struct RawConv {
    dnnl_memory_desc_t    x, w, y;
    dnnl_dims_t           stride, dilation, padding;
    dnnl_primitive_desc_t forward;
    dnnl_memory_t         input; /* as the forward pass reads it */
} RawConv;

static const dnnl_memory_desc_t *desc_of(dnnl_primitive_desc_t desc, int argument)
{
    return dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, argument);
}

static dnnl_memory_t raw_forward(RawNet *net, RawConv *conv, int index, dnnl_memory_t input)
{
    ConvShape               s = conv_shape(index);
    dnnl_dims_t             x = {IMAGES, s.in, s.size, s.size}, w = {s.out, s.in, 3, 3};
    dnnl_dims_t             y = {IMAGES, s.out, s.size / s.stride, s.size / s.stride};
    dnnl_convolution_desc_t op;
    must(dnnl_memory_desc_init_by_tag(&conv->x, 4, x, dnnl_f32, dnnl_format_tag_any));
    must(dnnl_memory_desc_init_by_tag(&conv->w, 4, w, dnnl_f32, dnnl_format_tag_any));
    must(dnnl_memory_desc_init_by_tag(&conv->y, 4, y, dnnl_f32, dnnl_format_tag_any));
    for (int i = 0; i < 2; i++) {
        conv->stride[i] = s.stride;
        conv->dilation[i] = 0;
        conv->padding[i] = 1;
    }
    must(dnnl_dilated_convolution_forward_desc_init(
        &op, dnnl_forward_training, dnnl_convolution_direct, &conv->x, &conv->w, NULL, &conv->y,
        conv->stride, conv->dilation, conv->padding, conv->padding));
    must(dnnl_primitive_desc_create(&conv->forward, &op, NULL, net->engine, NULL));
    conv->input = raw_reordered(net, input, desc_of(conv->forward, DNNL_ARG_SRC));
    dnnl_memory_t memories[3] = {conv->input,
                                 raw_memory(net, desc_of(conv->forward, DNNL_ARG_WEIGHTS)),
                                 raw_memory(net, desc_of(conv->forward, DNNL_ARG_DST))};
    raw_add(net, conv->forward, 3, (int[]){DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST}, memories);
    return memories[2];
}

static dnnl_memory_t raw_backward(RawNet *net, RawConv *conv, int index, dnnl_memory_t dy)
{
    dnnl_convolution_desc_t op;
    dnnl_primitive_desc_t   desc;
    must(dnnl_dilated_convolution_backward_weights_desc_init(
        &op, dnnl_convolution_direct, &conv->x, &conv->w, NULL, &conv->y, conv->stride,
        conv->dilation, conv->padding, conv->padding));
    must(dnnl_primitive_desc_create(&desc, &op, NULL, net->engine, conv->forward));
    dnnl_memory_t memories[3] = {raw_reordered(net, conv->input, desc_of(desc, DNNL_ARG_SRC)),
                                 raw_reordered(net, dy, desc_of(desc, DNNL_ARG_DIFF_DST)),
                                 raw_memory(net, desc_of(desc, DNNL_ARG_DIFF_WEIGHTS))};
    raw_add(net, desc, 3, (int[]){DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS},
            memories);
    if (index == 0) {
        return NULL;
    }
    must(dnnl_dilated_convolution_backward_data_desc_init(
        &op, dnnl_convolution_direct, &conv->x, &conv->w, &conv->y, conv->stride, conv->dilation,
        conv->padding, conv->padding));
    must(dnnl_primitive_desc_create(&desc, &op, NULL, net->engine, conv->forward));
    dnnl_memory_t data[3] = {raw_reordered(net, dy, desc_of(desc, DNNL_ARG_DIFF_DST)),
                             raw_memory(net, desc_of(desc, DNNL_ARG_WEIGHTS)),
                             raw_memory(net, desc_of(desc, DNNL_ARG_DIFF_SRC))};
    raw_add(net, desc, 3, (int[]){DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC}, data);
    return data[2];
}

/* Lives until the program ends. */
static RawNet raw_net(void)
{
    RawNet             net = {0};
    RawConv            convs[CONVS];
    dnnl_memory_desc_t plain;
    dnnl_dims_t        dims = {IMAGES, 3, 32, 32};
    must(dnnl_engine_create(&net.engine, dnnl_cpu, 0));
    must(dnnl_stream_create(&net.stream, net.engine, dnnl_stream_default_flags));
    must(dnnl_memory_desc_init_by_tag(&plain, 4, dims, dnnl_f32, dnnl_nchw));
    dnnl_memory_t x = raw_memory(&net, &plain);
    for (int i = 0; i < CONVS; i++) {
        x = raw_forward(&net, &convs[i], i, x);
    }
    for (int i = CONVS - 1; i >= 0; i--) {
        x = raw_backward(&net, &convs[i], i, x);
    }
    return net;
}

static void raw_net_step(const RawNet *net)
{
    for (int i = 0; i < net->kernel_count; i++) {
        const RawKernel *kernel = &net->kernels[i];
        must(dnnl_primitive_execute(kernel->primitive, net->stream, kernel->count,
                                    kernel->arguments));
    }
    must(dnnl_stream_wait(net->stream));
}

typedef struct TapeNet {
    MerTape       *tape;
    MerParameters *parameters;
    MerTensor     *w[CONVS];
    float         *pixels;
} TapeNet;

static void tape_net_step(const TapeNet *net)
{
    mer_tape_reset(net->tape);
    mer_parameters_clear(net->parameters);
    MerTensor *x = mer_tape_input(net->tape, 4, (int[]){IMAGES, 3, 32, 32}, net->pixels);
    for (int i = 0; i < CONVS; i++) {
        int stride = conv_shape(i).stride;
        x = mer_tensor_conv(net->tape, x, net->w[i], NULL,
                            &(MerConvolution){1, {stride, stride}, {1, 1}, {1, 1}});
    }
    mer_tape_backward(net->tape, mer_tensor_mean(net->tape, x), NULL);
}

static void bench_convs(void)
{
    RawNet  raw = raw_net();
    TapeNet net = {.tape = mer_tape_new(&mer_backend_dnnl, NULL),
                   .parameters = mer_parameters_new()};
    MerRng  rng = mer_rng_make(1, 0);
    double  best[2] = {1e30, 1e30};
    net.pixels = numbers((int64_t)IMAGES * 3 * 32 * 32);
    for (int i = 0; i < CONVS; i++) {
        ConvShape s = conv_shape(i);
        char      name[16];
        snprintf(name, sizeof name, "conv%d", i);
        net.w[i] = mer_parameters_add(net.parameters, name, 4, (int[]){s.out, s.in, 3, 3});
        fill_he(net.w[i], &rng);
    }
    for (int r = 0; r < CONV_REPEATS; r++) {
        double start = mer_cpu_clock();
        raw_net_step(&raw);
        double middle = mer_cpu_clock();
        tape_net_step(&net);
        double end = mer_cpu_clock();
        best[0] = middle - start < best[0] ? middle - start : best[0];
        best[1] = end - middle < best[1] ? end - middle : best[1];
    }
    printf("resnet20_convs_dnnl %.1f ms\n", 1e3 * best[0]);
    printf("resnet20_convs_tape %.1f ms\n", 1e3 * best[1]);
    printf("resnet20_convs_tape_rate %.0f images/s\n", IMAGES / best[1]);
    printf("resnet20_convs_ratio %.3f 1\n", best[1] / best[0]);
    free(net.pixels);
    mer_parameters_free(net.parameters);
    mer_tape_free(net.tape);
}

enum { RESNET8_BATCH = 32, RESNET8_STEPS = 4, RESNET8_REPEATS = 12 };

/* The network of MLPerf Tiny: three stages of 16, 32 and 64 channels on 32 x 32 pixels. */
typedef struct ResNet8 {
    MerPool       *pool;
    MerTape       *tape;
    MerParameters *parameters;
    MerUpdater    *updater;
    ConvLayer      stem, first[3], second[3];
    MerTensor     *shortcut[3]; /* NULL: the input itself */
    MerLinearLayer last;
    float         *pixels;
    double         best, loss;
} ResNet8;

static ResNet8 resnet8(int threads)
{
    ResNet8 net = {.pool = mer_pool_new(threads), .parameters = mer_parameters_new(), .best = 1e30};
    MerRng  rng = mer_rng_make(1, 0);
    MerRule rule = mer_rule_sgd(0.9, 1e-4);
    net.tape = mer_tape_new(&mer_backend_dnnl, net.pool);
    net.pixels = numbers(RESNET8_BATCH * 3 * 32 * 32);
    net.stem = conv_layer(net.parameters, "stem", 3, 16, 3, 1, 1, &rng);
    for (int s = 0; s < 3; s++) {
        char name[16];
        int  in = s == 0 ? 16 : 8 << s, out = 16 << s, stride = s == 0 ? 1 : 2;
        snprintf(name, sizeof name, "first%d", s);
        net.first[s] = conv_layer(net.parameters, name, in, out, 3, stride, 1, &rng);
        snprintf(name, sizeof name, "second%d", s);
        net.second[s] = conv_layer(net.parameters, name, out, out, 3, 1, 1, &rng);
        if (s > 0) {
            snprintf(name, sizeof name, "shortcut%d", s);
            net.shortcut[s] = mer_parameters_add(net.parameters, name, 4, (int[]){out, in, 1, 1});
            fill_he(net.shortcut[s], &rng);
        }
    }
    net.last = mer_linear_layer(net.parameters, "last", 64, 10, &rng);
    net.updater = mer_updater_new(net.tape, net.parameters, &rule);
    return net;
}

static void resnet8_step(ResNet8 *net)
{
    static const int labels[RESNET8_BATCH] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    MerTape         *tape = net->tape;
    mer_tape_reset(tape);
    mer_parameters_clear(net->parameters);
    MerTensor *x = mer_tape_input(tape, 4, (int[]){RESNET8_BATCH, 3, 32, 32}, net->pixels);
    x = conv_run(tape, &net->stem, x, true, true);
    for (int s = 0; s < 3; s++) {
        MerTensor *y = conv_run(tape, &net->first[s], x, true, true);
        y = conv_run(tape, &net->second[s], y, false, true);
        if (net->shortcut[s] != NULL) {
            x = mer_tensor_conv(tape, x, net->shortcut[s], NULL,
                                &(MerConvolution){1, {2, 2}, {0, 0}, {1, 1}});
        }
        x = mer_tensor_relu(tape, mer_tensor_add(tape, y, x));
    }
    x = mer_linear_run(tape, &net->last, global_average(tape, x), MER_LINEAR);
    MerTensor *loss = mer_tensor_cross_entropy(tape, x, labels, 0);
    mer_tape_backward(tape, loss, NULL);
    mer_updater_step(net->updater, 0.01);
    net->loss = loss->data[0];
}

static void bench_threads(void)
{
    ResNet8 nets[2] = {resnet8(1), resnet8(2)};
    for (int r = 0; r < 2 * RESNET8_REPEATS; r++) {
        ResNet8 *net = &nets[r % 2];
        double   start = mer_clock();
        for (int i = 0; i < RESNET8_STEPS; i++) {
            resnet8_step(net);
        }
        double seconds = mer_clock() - start;
        net->best = seconds < net->best ? seconds : net->best;
    }
    for (int i = 0; i < 2; i++) {
        printf("resnet8_train_%d_threads %.0f images/s\n", i + 1,
               RESNET8_BATCH * RESNET8_STEPS / nets[i].best);
    }
    printf("resnet8_threads_ratio %.3f 1\n", nets[0].best / nets[1].best);
    printf("resnet8_threads_difference %g 1\n", nets[1].loss - nets[0].loss);
    for (int i = 0; i < 2; i++) {
        mer_updater_free(nets[i].updater);
        mer_parameters_free(nets[i].parameters);
        mer_tape_free(nets[i].tape);
        mer_pool_free(nets[i].pool);
        free(nets[i].pixels);
    }
}

int main(void)
{
    omp_set_num_threads(1);
    bench_mlp(BATCH);
    bench_mlp(1);
    bench_convs();
    bench_threads();
    return 0;
}
