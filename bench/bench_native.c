/* Native kernels against oneDNN on the distinct convolutions of ResNet-18: float32, one image, one thread, weights
 * packed before, each side in its own layout of activations (oneDNN's choice), so that no reorder is timed. Each kernel
 * is tuned by a short search first (`bench_native [EVALUATIONS [OPTIMIZER]]`, 32 by annealing), and held against the
 * plain convolution. Both sides in turn, processor time; ratios are medians over rounds. Lines: `name value unit`. */
#include "base/log.h"
#include "base/stats.h"
#include "codesign/native/build.h"
#include "mercator/import.h"
#include "mercator/registry.h"
#include "mercator/run.h"

#include <dlfcn.h>
#include <dnnl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 41 };
static const double SAMPLE_S = 2e-3;

void omp_set_num_threads(int count);

static void must(bool is_good, const char *what)
{
    if (!is_good) {
        fprintf(stderr, "bench_native: %s\n", what);
        exit(1);
    }
}

static float *new_array(size_t bytes)
{
    float *array = aligned_alloc(64, (bytes + 63) / 64 * 64);
    must(array != NULL, "no memory");
    return array;
}

/* oneDNN */

typedef struct Library {
    dnnl_primitive_t primitive;
    dnnl_stream_t    stream;
    dnnl_exec_arg_t  arguments[3];
} Library;

static void check(dnnl_status_t status)
{
    must(status == dnnl_success, "oneDNN failed");
}

static void open_library(const MerKernelShape *s, dnnl_engine_t engine, Library *library)
{
    const int          dims[][4] = {{1, s->ci, s->height, s->width},
                                    {s->co, s->ci, s->kernel[0], s->kernel[1]},
                                    {1, s->co, s->rows, s->columns}};
    const dnnl_query_t queries[] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md};
    const int          names[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    const dnnl_dims_t  strides = {s->stride[0], s->stride[1]};
    const dnnl_dims_t  before = {s->pad[0], s->pad[1]}, after = {s->pad[2], s->pad[3]};
    dnnl_memory_desc_t descs[3];
    dnnl_convolution_desc_t what;
    dnnl_primitive_desc_t   how;
    for (int i = 0; i < 3; i++) {
        dnnl_dims_t sizes = {dims[i][0], dims[i][1], dims[i][2], dims[i][3]};
        check(dnnl_memory_desc_init_by_tag(&descs[i], 4, sizes, dnnl_f32, dnnl_format_tag_any));
    }
    check(dnnl_convolution_forward_desc_init(&what, dnnl_forward_inference, dnnl_convolution_auto,
                                             &descs[0], &descs[1], NULL, &descs[2], strides, before,
                                             after));
    check(dnnl_primitive_desc_create(&how, &what, NULL, engine, NULL));
    check(dnnl_primitive_create(&library->primitive, how));
    check(dnnl_stream_create(&library->stream, engine, dnnl_stream_default_flags));
    for (int i = 0; i < 3; i++) {
        const dnnl_memory_desc_t *desc = dnnl_primitive_desc_query_md(how, queries[i], 0);
        size_t                    bytes = dnnl_memory_desc_get_size(desc);
        float                    *array = new_array(bytes);
        mer_kernel_fill(s, array, (int64_t)(bytes / sizeof *array), i);
        library->arguments[i].arg = names[i];
        check(dnnl_memory_create(&library->arguments[i].memory, desc, engine, array));
    }
}

static void run_library(void *state)
{
    Library *library = state;
    check(dnnl_primitive_execute(library->primitive, library->stream, 3, library->arguments));
    check(dnnl_stream_wait(library->stream));
}

/* Ours */

typedef void Run(const float *input, const float *weights, float *output);
typedef void Copy(const float *from, float *to);

typedef struct Kernel {
    Run   *run;
    float *input, *weights, *output;
} Kernel;

static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    must(found != NULL, name);
    memcpy(function, &found, sizeof found);
}

static void open_kernel(const MerKernelShape *s, const MerKernel *settings,
                        const MerPlatform *platform, const char *folder, int number, Kernel *kernel,
                        MerArena *arena)
{
    const char    *source = mer_arena_format(arena, "%s/k%d.c", folder, number);
    const char    *object = mer_arena_format(arena, "%s/k%d.so", folder, number);
    MerBuild       build = {.compiler = mer_build_find_compiler(platform->compiler, arena),
                            .flags = platform->flags,
                            .folder = folder,
                            .build_timeout_s = 60};
    MerBuildResult result;
    MerKernelSizes sizes;
    Copy          *pack_input, *pack_weights, *unpack_output;
    FILE          *file = fopen(source, "w");
    must(file != NULL, source);
    mer_kernel_emit(s, settings, "kernel", file);
    fclose(file);
    mer_build_compile(&build, source, object, &result);
    must(result.error == MER_BUILD_NONE, result.text);
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    must(library != NULL, object);
    find(library, "kernel", &kernel->run);
    find(library, "kernel_pack_input", &pack_input);
    find(library, "kernel_pack_weights", &pack_weights);
    find(library, "kernel_unpack_output", &unpack_output);

    mer_kernel_sizes(s, settings, &sizes);
    int64_t image_count = (int64_t)s->ci * s->height * s->width;
    int64_t filter_count = (int64_t)s->co * s->ci * s->kernel[0] * s->kernel[1];
    int64_t count = (int64_t)s->co * s->rows * s->columns;
    float  *image = MER_ARRAY(arena, float, image_count);
    float  *filters = MER_ARRAY(arena, float, filter_count);
    float  *expected = MER_ARRAY(arena, float, count),
          *result_image = MER_ARRAY(arena, float, count);
    kernel->input = new_array((size_t)sizes.input * sizeof(float));
    kernel->weights = new_array((size_t)sizes.weights * sizeof(float));
    kernel->output = new_array((size_t)sizes.output * sizeof(float));
    mer_kernel_fill(s, image, image_count, 0);
    mer_kernel_fill(s, filters, filter_count, 1);
    mer_kernel_reference(s, image, filters, expected);
    pack_input(image, kernel->input);
    pack_weights(filters, kernel->weights);
    kernel->run(kernel->input, kernel->weights, kernel->output);
    unpack_output(kernel->output, result_image);
    must(memcmp(expected, result_image, (size_t)count * sizeof(float)) == 0, "a wrong answer");
}

static void run_kernel(void *state)
{
    Kernel *kernel = state;
    kernel->run(kernel->input, kernel->weights, kernel->output);
}

/* Processor seconds of one run, over a sample of some milliseconds. */
static double sample(void (*run)(void *), void *state)
{
    double start = mer_cpu_clock(), end;
    int    count = 0;
    do {
        run(state);
        count++;
        end = mer_cpu_clock();
    } while (end - start < SAMPLE_S);
    return (end - start) / count;
}

static double compare(const char *name, double flop, Kernel *kernel, Library *library)
{
    double ours[ROUNDS], theirs[ROUNDS], ratios[ROUNDS];
    for (int r = -1; r < ROUNDS; r++) { /* the first warms both up */
        int    at = r < 0 ? 0 : r;
        bool   is_first = at % 2 == 0;
        double a = 0, b;
        if (is_first) {
            a = sample(run_kernel, kernel);
        }
        b = sample(run_library, library);
        if (!is_first) {
            a = sample(run_kernel, kernel);
        }
        ours[at] = a;
        theirs[at] = b;
        ratios[at] = b / a;
    }
    double ratio = mer_median(ratios, ROUNDS);
    printf("%s.native %.1f GFLOP/s\n", name, 1e-9 * flop / mer_median(ours, ROUNDS));
    printf("%s.onednn %.1f GFLOP/s\n", name, 1e-9 * flop / mer_median(theirs, ROUNDS));
    printf("%s.ratio %.3f 1\n", name, ratio);
    fflush(stdout);
    return ratio;
}

int main(int count, char **arguments)
{
    MerArena          *arena = mer_arena_new();
    MerGraph          *graph;
    const MerPlatform *platform;
    MerRunResult       result;
    MerError           error = {0};
    dnnl_engine_t      engine;
    char               folder[] = "/tmp/bench-native-XXXXXX";
    double             logs = 0, least = INFINITY;
    int                layers = 0;
    omp_set_num_threads(1);
    must(mer_graph_import("resnet18", NULL, arena, &graph, &error) == MER_OK, error.message);
    must(mer_platform_read("native", arena, &platform, &error) == MER_OK, error.message);
    MerRunSpec spec = {.name = "bench",
                       .problem = mer_problem_find("codesign", NULL),
                       .graph = graph,
                       .platform = platform,
                       .evaluator = mer_evaluator_find("native", NULL),
                       .optimizer =
                           mer_optimizer_find(count > 2 ? arguments[2] : "annealing", NULL),
                       .seed = 1,
                       .threads = 1,
                       .budget = count > 1 ? strtoll(arguments[1], NULL, 10) : 32};
    must(spec.optimizer != NULL, "no such optimizer");
    must(mer_run(&spec, NULL, arena, &result, &error) == MER_OK, error.message);
    must(mkdtemp(folder) != NULL, folder);
    check(dnnl_engine_create(&engine, dnnl_cpu, 0));
    for (int t = 0; t < result.task_count; t++) {
        const MerTaskResult *task = &result.tasks[t];
        const MerOp         *op = &graph->ops[task->task.op];
        MerKernelShape       shape;
        Kernel               kernel;
        Library              library;
        must(task->point != NULL, "a layer has no kernel");
        if (op->kind != MER_OP_CONV) {
            continue;
        }
        mer_kernel_shape_make(op, &shape);
        open_kernel(&shape, task->plan.content, platform, folder, t, &kernel, arena);
        open_library(&shape, engine, &library);
        double ratio = compare(mer_arena_format(arena, "layer%d", t + 1), 2 * task->task.macs,
                               &kernel, &library);
        logs += log(ratio);
        least = fmin(least, ratio);
        layers++;
    }
    printf("layers %d 1\nleast.ratio %.3f 1\nmean.ratio %.3f 1\n", layers, least,
           exp(logs / layers));
    must(system(mer_arena_format(arena, "rm -rf '%s'", folder)) == 0, folder);
    mer_arena_free(arena);
    return 0;
}
