/* A library to be loaded before the program (LD_PRELOAD) that makes one call of the system fail.
 *
 *     MERCATOR_FAULT=alloc:120        the 120th allocation gives NULL
 *     MERCATOR_FAULT=alloc:120+       and so does every later one
 *     MERCATOR_FAULT=write:3:ENOSPC   the third write; open, fsync and rename alike, with EIO, ENOSPC or EINTR
 *     MERCATOR_FAULT=write:3:short    the third write takes one byte only
 *     MERCATOR_FAULT_COUNTS=FILE      the number of calls of each kind, added to FILE when the program ends
 *
 * What the C library opens and writes behind stdio cannot be caught from here: fopen is opened anew, and the
 * standard output becomes a stream that writes through `write` below, as glibc's own does: it takes short writes, and
 * is never interrupted because the program restarts what its signals interrupt. Files of the system do not count. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define KINDS(X)                                                                                   \
    X(ALLOC, "alloc") X(OPEN, "open") X(WRITE, "write") X(FSYNC, "fsync") X(RENAME, "rename")

typedef enum Kind {
#define X(id, name) id,
    KINDS(X)
#undef X
        KIND_COUNT
} Kind;

static const char *const names[] = {
#define X(id, name) name,
    KINDS(X)
#undef X
};

enum { SHORT = -1, UNKNOWN = -2 };

static atomic_long counts[KIND_COUNT];
static atomic_bool is_ready;
static Kind        fault_kind = KIND_COUNT;
static long        fault_number;
static bool        fault_stays;
static int         fault_error;

/* Called by the first allocation, long before main: it may allocate nothing itself. */
static void read_fault(void)
{
    const char *text = getenv("MERCATOR_FAULT");
    char       *end;
    atomic_store(&is_ready, true);
    for (int k = 0; text && k < KIND_COUNT; k++) {
        size_t length = strlen(names[k]);
        if (strncmp(text, names[k], length) == 0 && text[length] == ':') {
            fault_number = strtol(text + length + 1, &end, 10);
            fault_stays = *end == '+';
            end += *end == '+';
            fault_error = strcmp(end, ":EIO") == 0      ? EIO
                          : strcmp(end, ":ENOSPC") == 0 ? ENOSPC
                          : strcmp(end, ":EINTR") == 0  ? EINTR
                          : strcmp(end, ":short") == 0  ? SHORT
                          : k == ALLOC                  ? ENOMEM
                                                        : UNKNOWN;
            fault_kind = (Kind)k;
        }
    }
    if (text && (fault_kind == KIND_COUNT || fault_error == UNKNOWN)) {
        _exit(99);
    }
}

/* Counts the call; 0: it shall go through, SHORT, or the error. */
static int fault(Kind kind)
{
    if (!atomic_load(&is_ready)) {
        read_fault();
    }
    long number = atomic_fetch_add(&counts[kind], 1) + 1;
    bool is_hit =
        kind == fault_kind && (number == fault_number || (fault_stays && number > fault_number));
    if (is_hit && fault_error != SHORT) {
        errno = fault_error;
    }
    return is_hit ? fault_error : 0;
}

/* The function that this one stands before. A pointer to data becomes one to a function by its bytes. */
#define NEXT(type, name, ...)                                                                      \
    static type (*next)(__VA_ARGS__);                                                              \
    if (!next) {                                                                                   \
        void *found = dlsym(RTLD_NEXT, name);                                                      \
        memcpy(&next, &found, sizeof next);                                                        \
    }

void *malloc(size_t size)
{
    NEXT(void *, "malloc", size_t)
    return fault(ALLOC) ? NULL : next(size);
}

void *calloc(size_t count, size_t size)
{
    NEXT(void *, "calloc", size_t, size_t)
    return fault(ALLOC) ? NULL : next(count, size);
}

void *realloc(void *memory, size_t size)
{
    NEXT(void *, "realloc", void *, size_t)
    return fault(ALLOC) ? NULL : next(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    NEXT(void *, "aligned_alloc", size_t, size_t)
    return fault(ALLOC) ? NULL : next(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    NEXT(int, "posix_memalign", void **, size_t, size_t)
    return fault(ALLOC) ? ENOMEM : next(memory, alignment, size);
}

/* The kernel's and the system's files are none that a user could do anything about. */
static bool is_counted(const char *path)
{
    static const char *const system[] = {"/proc/", "/sys/", "/dev/", "/etc/", "/usr/", "/lib"};
    for (size_t i = 0; i < sizeof system / sizeof system[0]; i++) {
        if (strncmp(path, system[i], strlen(system[i])) == 0) {
            return false;
        }
    }
    return true;
}

int open(const char *path, int flags, ...)
{
    NEXT(int, "open", const char *, int, ...)
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return is_counted(path) && fault(OPEN) > 0 ? -1 : next(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    NEXT(FILE *, "fopen", const char *, const char *)
    return is_counted(path) && fault(OPEN) > 0 ? NULL : next(path, mode);
}

DIR *opendir(const char *path)
{
    NEXT(DIR *, "opendir", const char *)
    return is_counted(path) && fault(OPEN) > 0 ? NULL : next(path);
}

ssize_t write(int descriptor, const void *data, size_t size)
{
    NEXT(ssize_t, "write", int, const void *, size_t)
    int found = descriptor != STDERR_FILENO ? fault(WRITE) : 0;
    return found > 0 ? -1 : next(descriptor, data, found == SHORT && size > 1 ? 1 : size);
}

int fsync(int descriptor)
{
    NEXT(int, "fsync", int)
    return fault(FSYNC) > 0 ? -1 : next(descriptor);
}

int fdatasync(int descriptor)
{
    NEXT(int, "fdatasync", int)
    return fault(FSYNC) > 0 ? -1 : next(descriptor);
}

int rename(const char *from, const char *to)
{
    NEXT(int, "rename", const char *, const char *)
    return fault(RENAME) > 0 ? -1 : next(from, to);
}

static ssize_t write_out(void *cookie, const char *data, size_t size)
{
    size_t done = 0;
    (void)cookie;
    while (done < size) {
        ssize_t count = write(STDOUT_FILENO, data + done, size - done);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return done > 0 ? (ssize_t)done : -1;
        }
        done += (size_t)count;
    }
    return (ssize_t)done;
}

__attribute__((constructor)) static void catch_standard_output(void)
{
    const char *kind = getenv("MERCATOR_FAULT");
    if (kind && strncmp(kind, "write", 5) == 0) {
        stdout = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_out});
    }
}

/* One call of `write`, so that lines of several processes do not mix. */
__attribute__((destructor)) static void tell_counts(void)
{
    const char *path = getenv("MERCATOR_FAULT_COUNTS");
    char        text[256];
    int         length = 0;
    for (int k = 0; k < KIND_COUNT; k++) {
        length += snprintf(text + length, sizeof text - (size_t)length, "%s=%ld\n", names[k],
                           atomic_load(&counts[k]));
    }
    int descriptor = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (descriptor >= 0) {
        ssize_t written = write(descriptor, text, (size_t)length);
        (void)written;
        close(descriptor);
    }
}
