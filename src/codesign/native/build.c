/* Compiles, loads, checks and times native kernels. */
#include "codesign/native/build.h"

#include "base/descriptor.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/stats.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *mer_build_error_name(MerBuildError error)
{
    switch (error) {
#define X(id, number, name)                                                                        \
    case MER_BUILD_##id:                                                                           \
        return name;
        MER_BUILD_ERROR_MAP(X)
#undef X
    }
    return "unknown";
}

__attribute__((format(printf, 3, 4))) static void fail(MerBuildResult *result, MerBuildError error,
                                                       const char *format, ...)
{
    va_list arguments;
    result->error = error;
    va_start(arguments, format);
    vsnprintf(result->text, sizeof result->text, format, arguments);
    va_end(arguments);
}

const char *mer_build_find_compiler(const char *name, MerArena *arena)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/')) {
        return access(name, X_OK) == 0 ? name : NULL;
    }
    for (path = path ? path : "/usr/bin:/bin"; *path;) {
        size_t      length = strcspn(path, ":");
        const char *file = mer_arena_format(arena, "%.*s/%s", (int)length, path, name);
        if (access(file, X_OK) == 0) {
            return file;
        }
        path += length + (path[length] == ':');
    }
    return NULL;
}

/* Waits for a child process; false: it was still there at the deadline and was ended, with all of its group if it
 * has one of its own. */
static bool wait_for(pid_t child, double deadline, int *status)
{
    const struct timespec pause = {0, 1000000};
    for (;;) {
        pid_t done = waitpid(child, status, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR)) {
            return true;
        }
        if (mer_clock() > deadline) {
            kill(-child, SIGKILL);
            kill(child, SIGKILL);
            while (waitpid(child, status, 0) < 0 && errno == EINTR) {
            }
            return false;
        }
        nanosleep(&pause, NULL);
    }
}

enum { MAX_WORDS = 64 };

/* Never returns: the compiler takes the place of this process, its messages go to a file. What it starts is in its
 * group, and what it leaves behind in our folder. */
static void become_compiler(const MerBuild *build, const char *source, const char *object,
                            const char *messages)
{
    char  words[1024];
    char *arguments[MAX_WORDS + 8];
    int   count = 0;
    int   file = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    snprintf(words, sizeof words, "%s", build->flags);
    arguments[count++] = (char *)build->compiler;
    for (char *word = strtok(words, " "); word && count < MAX_WORDS; word = strtok(NULL, " ")) {
        arguments[count++] = word;
    }
    arguments[count++] = "-shared";
    arguments[count++] = "-fPIC";
    arguments[count++] = "-pthread";
    arguments[count++] = "-o";
    arguments[count++] = (char *)object;
    arguments[count++] = (char *)source;
    arguments[count] = NULL;
    if (file >= 0) {
        dup2(file, STDOUT_FILENO);
        dup2(file, STDERR_FILENO);
    }
    setpgid(0, 0);
    setenv("LC_ALL", "C", 1); /* the same messages everywhere */
    setenv("TMPDIR", build->folder, 1);
    execv(build->compiler, arguments);
    _exit(127);
}

/* The first message of the compiler that is an error, without its folder. */
static void find_message(const char *path, char *text, size_t capacity)
{
    char  line[512];
    FILE *file = mer_file_open(path);
    snprintf(text, capacity, "no message");
    while (file && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, "error");
        if (at) {
            snprintf(text, capacity, "%.*s", (int)strcspn(at, "\n"), at);
            break;
        }
    }
    if (file) {
        fclose(file);
    }
}

void mer_build_compile(const MerBuild *build, const char *source, const char *object,
                       MerBuildResult *result)
{
    char messages[4096], text[64];
    int  status = 0;
    *result = (MerBuildResult){.error = MER_BUILD_NONE};
    snprintf(messages, sizeof messages, "%s.txt", object);
    pid_t child = fork();
    if (child == 0) {
        become_compiler(build, source, object, messages);
    }
    if (child < 0) {
        fail(result, MER_BUILD_COMPILE, "no process for the compiler: %s", strerror(errno));
    } else if (!wait_for(child, mer_clock() + build->build_timeout_s, &status)) {
        fail(result, MER_BUILD_BUILD_TIMEOUT, "not compiled within %g s", build->build_timeout_s);
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        find_message(messages, text, sizeof text);
        fail(result, MER_BUILD_COMPILE, "%s", text);
    }
}

typedef void Run(const float *input, const float *weights, float *output);
typedef void Copy(const float *from, float *to);

typedef struct Loaded {
    Run   *run;
    Copy  *pack_input, *pack_weights, *unpack_output;
    float *input, *weights, *output, *image;
} Loaded;

/* A function by name; POSIX makes the two kinds of pointers the same size. */
static bool find(void *library, const char *name, const char *ending, void *function)
{
    char  symbol[256];
    void *found;
    snprintf(symbol, sizeof symbol, "%s%s", name, ending);
    found = dlsym(library, symbol);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* All NaN, so that what a kernel does not write is seen. */
static float *new_array(int64_t count)
{
    size_t bytes = ((size_t)count * sizeof(float) + 63) / 64 * 64;
    float *array = aligned_alloc(64, bytes);
    if (!array) {
        mer_out_of_memory(bytes);
    }
    return memset(array, 0xff, bytes);
}

/* Runs per sample as asked, and as many more as the least time of a sample needs. */
static double time_runs(const MerBuild *build, const Loaded *k)
{
    double *times = mer_heap_zeroed((size_t)build->repeat, sizeof *times);
    double  start = build->clock();
    k->run(k->input, k->weights, k->output); /* warm */
    double  once = fmax(build->clock() - start, 1e-9);
    int64_t wanted = (int64_t)ceil(fmin(build->min_s / once, 1e6));
    int64_t runs = wanted > build->number ? wanted : build->number;
    for (int r = 0; r < build->repeat; r++) {
        start = build->clock();
        for (int64_t i = 0; i < runs; i++) {
            k->run(k->input, k->weights, k->output);
        }
        times[r] = (build->clock() - start) / (double)runs;
    }
    double typical = mer_build_typical(times, build->repeat);
    free(times);
    return typical;
}

/* What else runs on the machine only makes a sample longer: those more than three median deviations above the
 * median are left out. */
double mer_build_typical(const double *times, int count)
{
    double  median = mer_median(times, count);
    double *kept = mer_heap_zeroed((size_t)count, sizeof *kept);
    int     kept_count = 0;
    for (int i = 0; i < count; i++) {
        kept[i] = fabs(times[i] - median);
    }
    double limit = median + 3 * mer_median(kept, count);
    for (int i = 0; i < count; i++) {
        if (times[i] <= limit) {
            kept[kept_count++] = times[i];
        }
    }
    double typical = mer_median(kept, kept_count);
    free(kept);
    return typical;
}

static void load_and_run(const MerBuild *build, const MerKernelShape *shape,
                         const MerKernel *kernel, const char *object, const char *name,
                         MerBuildResult *result)
{
    Loaded         k;
    MerKernelSizes sizes;
    int64_t        count = (int64_t)shape->co * shape->rows * shape->columns;
    void          *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!library || !find(library, name, "", &k.run) ||
        !find(library, name, "_pack_input", &k.pack_input) ||
        !find(library, name, "_pack_weights", &k.pack_weights) ||
        !find(library, name, "_unpack_output", &k.unpack_output)) {
        fail(result, MER_BUILD_RUNTIME, "cannot be loaded: %s", dlerror());
        return;
    }
    mer_kernel_sizes(shape, kernel, &sizes);
    k.input = new_array(sizes.input);
    k.weights = new_array(sizes.weights);
    k.output = new_array(sizes.output);
    k.image = new_array(count);
    k.pack_input(build->image, k.input);
    k.pack_weights(build->filters, k.weights);
    k.run(k.input, k.weights, k.output);
    k.unpack_output(k.output, k.image);
    for (int64_t i = 0; i < count; i++) {
        if (!(k.image[i] == build->expected[i])) {
            fail(result, MER_BUILD_WRONG_ANSWER, "result %lld is %g, expected %g", (long long)i,
                 (double)k.image[i], (double)build->expected[i]);
            return;
        }
    }
    result->seconds = time_runs(build, &k);
}

/* Whoever holds handlers of such signals does not mean the crashes of a kernel. */
static void expect_a_crash(void)
{
    static const int    signals[] = {SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGABRT, SIGSYS};
    const struct rlimit none = {0, 0};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        signal(signals[i], SIG_DFL);
    }
    setrlimit(RLIMIT_CORE, &none);
}

void mer_build_run(const MerBuild *build, const MerKernelShape *shape, const MerKernel *kernel,
                   const char *object, const char *name, MerBuildResult *result)
{
    int ends[2], status = 0;
    *result = (MerBuildResult){.error = MER_BUILD_NONE};
    if (pipe(ends) != 0) {
        fail(result, MER_BUILD_RUNTIME, "no pipe: %s", strerror(errno));
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        expect_a_crash();
        load_and_run(build, shape, kernel, object, name, result);
        _exit(write(ends[1], result, sizeof *result) == (ssize_t)sizeof *result ? 0 : 1);
    }
    close(ends[1]);
    /* the answer is far smaller than a pipe holds, so that the child ends without a reader */
    bool is_in_time = child > 0 && wait_for(child, mer_clock() + build->run_timeout_s, &status);
    bool is_told = read(ends[0], result, sizeof *result) == (ssize_t)sizeof *result;
    close(ends[0]);
    if (is_told) {
        return;
    }
    if (child > 0 && !is_in_time) {
        fail(result, MER_BUILD_RUN_TIMEOUT, "no result within %g s", build->run_timeout_s);
    } else if (WIFSIGNALED(status)) {
        fail(result, MER_BUILD_RUNTIME, "ended by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
    } else {
        fail(result, MER_BUILD_RUNTIME, "ended with code %d", WEXITSTATUS(status));
    }
}
