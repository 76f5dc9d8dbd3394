/* A kernel as a file of code: compiled by the system's compiler, loaded, checked and timed in processes of
 * their own, so that whatever goes wrong there is an answer here. */
#ifndef MERCATOR_CODESIGN_NATIVE_BUILD_H
#define MERCATOR_CODESIGN_NATIVE_BUILD_H

#include "codesign/native/kernel.h"

/* AutoTVM's numbers of what can go wrong (MeasureErrorNo), and a word for each. */
#define MER_BUILD_ERROR_MAP(X)                                                                     \
    X(NONE, 0, "none")                                                                             \
    X(INSTANTIATION, 1, "instantiation")                                                           \
    X(COMPILE, 2, "compile")                                                                       \
    X(RUNTIME, 4, "runtime")                                                                       \
    X(WRONG_ANSWER, 5, "wrong-answer")                                                             \
    X(BUILD_TIMEOUT, 6, "build-timeout")                                                           \
    X(RUN_TIMEOUT, 7, "run-timeout")
typedef enum MerBuildError {
#define X(id, number, name) MER_BUILD_##id = number,
    MER_BUILD_ERROR_MAP(X)
#undef X
} MerBuildError;
const char *mer_build_error_name(MerBuildError error);

typedef struct MerBuild { /* of all kernels of a task; borrowed texts and arrays */
    const char *compiler; /* a path */
    const char *flags;
    const char *folder; /* an existing one, for files */
    double      build_timeout_s, run_timeout_s;
    int         number, repeat; /* runs per sample at least, samples */
    double      min_s;          /* of one sample */
    double (*clock)(void);      /* seconds */
    const float *image, *filters, *expected;
} MerBuild;

typedef struct MerBuildResult {
    MerBuildError error;
    char          text[96]; /* what went wrong */
    double        seconds;  /* of one run */
} MerBuildResult;

/* The compiler's path: `name` itself if it has a slash, else in PATH. NULL: there is none. */
const char *mer_build_find_compiler(const char *name, MerArena *arena);
/* Compiles the C file `source` to a shared object. */
void mer_build_compile(const MerBuild *build, const char *source, const char *object,
                       MerBuildResult *result);
/* Loads functions of `name` from the object, holds their result against the expected one, and times them. */
void mer_build_run(const MerBuild *build, const MerKernelShape *shape, const MerKernel *kernel,
                   const char *object, const char *name, MerBuildResult *result);
/* The median of those of `count` times that are no outliers. */
double mer_build_typical(const double *times, int count);

#endif
