/* Evaluator `native`: makes the kernel of a plan, compiles and loads it, holds its result against the plain
 * convolution and measures it on the processor that runs us (docs/codesign-native.md). */
#include "codesign/native/build.h"

#include "base/descriptor.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/option_rows.h"
#include "mercator/evaluator.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Options {
    int64_t number, repeat;
    double  min_ms, build_timeout_s, run_timeout_s;
    int     clock;
} Options;

static const MerOption options[] = {
    MER_INT(number, "1", 1, 1e6, "runs per sample at least"),
    MER_INT(repeat, "9", 1, 1e4, "samples, of which the median without outliers counts"),
    MER_REAL(min_ms, "5", 0, 1e5, "least time of a sample in ms; short kernels run more often"),
    MER_CHOICE(clock, "cpu", "cpu|wall",
               "of kernels with one thread: processor time, which others on the machine do not "
               "lengthen, or wall time; several threads are timed by the wall clock"),
    MER_REAL(build_timeout_s, "10", 0.01, 1e5, "seconds that the compiler may take"),
    MER_REAL(run_timeout_s, "10", 0.01, 1e5, "seconds that check and measurement may take"),
    {0}};

typedef struct State {
    MerKernelShape shape;
    double         macs, repeat; /* of the layer; how often its loops run */
    bool           is_cpu_time;
    MerBuild       build;
    float         *arrays; /* image, filters and expected result */
    char           folder[512];
} State;

static void fill_arrays(State *s)
{
    const MerKernelShape *shape = &s->shape;
    int64_t               image = (int64_t)shape->ci * shape->height * shape->width;
    int64_t filters = (int64_t)shape->co * shape->ci * shape->kernel[0] * shape->kernel[1];
    int64_t result = (int64_t)shape->co * shape->rows * shape->columns;
    s->arrays = mer_heap_zeroed((size_t)(image + filters + result), sizeof(float));
    mer_kernel_fill(shape, s->arrays, image, 0);
    mer_kernel_fill(shape, s->arrays + image, filters, 1);
    mer_kernel_reference(shape, s->arrays, s->arrays + image, s->arrays + image + filters);
    s->build.image = s->arrays;
    s->build.filters = s->arrays + image;
    s->build.expected = s->arrays + image + filters;
}

static MerStatus open_native(void *state, const MerProblem *problem, const void *chosen,
                             MerArena *arena, MerError *error)
{
    State             *s = state;
    const Options     *o = chosen;
    const MerPlatform *platform = problem->platform;
    const MerOp       *op = &problem->graph->ops[problem->task->op];
    const char        *parent = getenv("TMPDIR");
    *s = (State){.macs = problem->task->macs,
                 .repeat = (double)op->repeat,
                 .is_cpu_time = o->clock == 0,
                 .build = {.compiler = mer_build_find_compiler(platform->compiler, arena),
                           .flags = platform->flags,
                           .build_timeout_s = o->build_timeout_s,
                           .run_timeout_s = o->run_timeout_s,
                           .number = (int)o->number,
                           .repeat = (int)o->repeat,
                           .min_s = 1e-3 * o->min_ms}};
    if (!s->build.compiler) {
        return mer_error_set(error, MER_NOT_FOUND,
                             "platform %s needs the C compiler %s, which is not there; install it "
                             "or name another one by `compiler`",
                             platform->name, platform->compiler);
    }
    snprintf(s->folder, sizeof s->folder, "%s/mercator-XXXXXX",
             parent && strlen(parent) < 400 ? parent : "/tmp");
    if (!mkdtemp(s->folder)) {
        MerStatus status =
            mer_error_set(error, MER_INVALID, "%s: cannot be made: %s", s->folder, strerror(errno));
        s->folder[0] = '\0';
        return status;
    }
    s->build.folder = s->folder;
    mer_kernel_shape_make(op, &s->shape);
    fill_arrays(s);
    return MER_OK;
}

/* A folder without folders in it. */
static void remove_folder(const char *path)
{
    DIR           *folder = mer_folder_open(path);
    struct dirent *entry;
    char           name[1024];
    while (folder && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            unlink(name);
        }
    }
    if (folder) {
        closedir(folder);
    }
    rmdir(path);
}

static void close_native(void *state)
{
    State *s = state;
    free(s->arrays);
    if (s->folder[0] != '\0') {
        remove_folder(s->folder);
    }
}

static bool write_source(const State *s, const MerKernel *kernel, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        return false;
    }
    mer_kernel_emit(&s->shape, kernel, "kernel", file);
    bool is_bad = ferror(file) != 0;
    return fclose(file) == 0 && !is_bad;
}

static void refuse(MerCost *cost, MerBuildError error, const char *text)
{
    mer_cost_refuse(cost, "%s: error %d, %s", mer_build_error_name(error), (int)error, text);
}

static void evaluate(const void *state, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    const State     *s = state;
    const MerKernel *kernel = plan->content;
    MerKernelReason  reason;
    MerBuildResult   result;
    char             source[600], object[600];
    (void)call;
    mer_cost_clear(cost);
    if (!mer_kernel_check(&s->shape, kernel, &reason)) {
        refuse(cost, MER_BUILD_INSTANTIATION, reason.text);
        return;
    }
    snprintf(source, sizeof source, "%s/kernel.c", s->folder);
    snprintf(object, sizeof object, "%s/kernel.so", s->folder);
    if (!write_source(s, kernel, source)) {
        refuse(cost, MER_BUILD_INSTANTIATION, "the source cannot be written");
        return;
    }
    mer_build_compile(&s->build, source, object, &result);
    if (result.error == MER_BUILD_NONE) {
        MerBuild build = s->build;
        build.clock = s->is_cpu_time && kernel->threads == 1 ? mer_cpu_clock : mer_clock;
        mer_build_run(&build, &s->shape, kernel, object, "kernel", &result);
    }
    if (result.error != MER_BUILD_NONE) {
        refuse(cost, result.error, result.text);
        return;
    }
    cost->value[MER_METRIC_LATENCY] = s->repeat * result.seconds;
    cost->value[MER_METRIC_THROUGHPUT] = 2 * s->macs / cost->value[MER_METRIC_LATENCY];
}

/* The parts end themselves in time and say why; this is for what cannot happen. */
static double timeout_s(const void *state)
{
    const State *s = state;
    return s->build.build_timeout_s + s->build.run_timeout_s + 10;
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_kernel, NULL};

const MerEvaluatorClass mer_evaluator_native = {
    .name = "native",
    .summary = "kernels compiled and measured on the processor that runs Mercator, float32",
    .reference = "failures numbered as by AutoTVM (Chen et al., arXiv 1805.08166)",
    .plans = plan_kinds,
    .metrics = UINT64_C(1) << MER_METRIC_LATENCY | UINT64_C(1) << MER_METRIC_THROUGHPUT,
    .mode = MER_EVALUATE_MEASURED,
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .checks_plans = true,
    .open = open_native,
    .evaluate = evaluate,
    .timeout_s = timeout_s,
    .close = close_native,
};
