/* Atomic writing: a full disk, a kill or a power cut never leaves half a report under the report's name. */
#define _GNU_SOURCE /* fopencookie */
#include "base/output.h"

#include "base/descriptor.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OPEN = 64, MOST_BESIDE = 1000, BUFFER = 1 << 16 };

struct MerOutputPart {
    int  descriptor;
    int  error; /* of the first write that failed; later ones would hide it */
    bool is_temporary;
    int  slot; /* among open_parts */
    char name[];
};

/* Files that are not yet in their place, so that a program that ends early can take them away. Who takes a part out of
 * here owns it: the thread that closes it, or the one that ends the program. */
static struct MerOutputPart *_Atomic open_parts[MOST_OPEN];

static int enlist(struct MerOutputPart *part)
{
    for (int i = 0; i < MOST_OPEN; i++) {
        struct MerOutputPart *nobody = NULL;
        if (atomic_compare_exchange_strong(&open_parts[i], &nobody, part)) {
            return i;
        }
    }
    return -1; /* it stays if the program ends early */
}

static void release(struct MerOutputPart *part)
{
    bool is_ours = part->slot < 0 || atomic_exchange(&open_parts[part->slot], NULL) != NULL;
    if (is_ours) {
        free(part);
    }
}

void mer_output_discard_all(void)
{
    for (int i = 0; i < MOST_OPEN; i++) {
        const struct MerOutputPart *part = atomic_exchange(&open_parts[i], NULL);
        if (part && part->is_temporary) {
            unlink(part->name);
        }
    }
}

static MerStatus fail(const char *path, MerError *error)
{
    return mer_error_set(error, MER_IO, "%s: %s, expected a place to write to", path,
                         strerror(errno));
}

/* The stream's own writing would give up, and lose what it holds, when a signal comes. */
static ssize_t write_part(void *cookie, const char *data, size_t size)
{
    struct MerOutputPart *part = cookie;
    if (part->error == 0 && mer_descriptor_write(part->descriptor, data, size)) {
        return (ssize_t)size;
    }
    part->error = part->error ? part->error : errno;
    return 0;
}

/* The descriptor that "-" or a name such as /dev/stdout stands for, -1: none. It is written to where it is, also where it is a
 * file: another name of that file must not be replaced, nor its contents. */
static int standing_for(const char *path)
{
    static const char *const forms[] = {"/proc/self/fd/%d%n", "/dev/fd/%d%n"};
    char                     target[64] = "";
    const char              *names[] = {target, path};
    if (strcmp(path, "-") == 0) {
        return STDOUT_FILENO;
    }
    bool is_link = readlink(path, target, sizeof target - 1) > 0;
    for (int n = !is_link; n < 2; n++) {
        for (int f = 0; f < 2; f++) {
            int descriptor, length = 0;
            if (sscanf(names[n], forms[f], &descriptor, &length) == 1 && !names[n][length]) {
                return descriptor;
            }
        }
    }
    return -1;
}

static int open_in_place(const char *path, int descriptor)
{
    if (descriptor < 0) {
        return mer_descriptor_open(path, O_WRONLY | O_TRUNC);
    }
    if (descriptor == STDOUT_FILENO) {
        fflush(stdout);
    }
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

/* NAME.partPID; where another thread of ours writes a file of that name, NAME.partPID-1 and so on. */
static int open_beside(struct MerOutputPart *part, size_t size, const char *path)
{
    int descriptor = -1;
    for (int n = 0; n < MOST_BESIDE && descriptor < 0 && (n == 0 || errno == EEXIST); n++) {
        snprintf(part->name, size, n == 0 ? "%s.part%ld" : "%s.part%ld-%d", path, (long)getpid(),
                 n);
        descriptor = mer_descriptor_open(part->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    }
    return descriptor;
}

MerStatus mer_output_open(MerOutput *output, const char *path, MerError *error)
{
    size_t                size = strlen(path) + 48;
    struct stat           info;
    struct MerOutputPart *part = mer_heap_zeroed(1, sizeof *part + size);
    /* a device or a pipe is written to, never replaced */
    int descriptor = standing_for(path);
    part->is_temporary = descriptor < 0 &&
                         (stat(path, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
    part->descriptor =
        part->is_temporary ? open_beside(part, size, path) : open_in_place(path, descriptor);
    if (part->descriptor < 0) {
        MerStatus status = fail(path, error);
        int       code = errno;
        free(part);
        errno = code;
        return status;
    }
    part->slot = enlist(part);
    FILE *file = fopencookie(part, "w", (cookie_io_functions_t){.write = write_part});
    if (!file) {
        mer_out_of_memory(BUFSIZ);
    }
    setvbuf(file, NULL, _IOFBF, BUFFER);
    *output = (MerOutput){file, path, part};
    return MER_OK;
}

/* Everything on the disk before the new name, so that the name never stands for less. */
static bool put_in_place(const MerOutput *output)
{
    struct MerOutputPart *part = output->part;
    bool                  is_written = fflush(output->file) == 0 && part->error == 0;
    if (part->error) {
        errno = part->error;
    }
    return is_written && (!part->is_temporary ||
                          (mer_descriptor_sync(part->descriptor) &&
                           rename(part->name, output->path) == 0 && mer_folder_sync(output->path)));
}

/* Leaves errno as it was. */
static void end(MerOutput *output, bool is_placed)
{
    int code = errno;
    fclose(output->file);
    close(output->part->descriptor);
    if (!is_placed && output->part->is_temporary) {
        unlink(output->part->name);
    }
    release(output->part);
    *output = (MerOutput){0};
    errno = code;
}

MerStatus mer_output_close(MerOutput *output, MerError *error)
{
    bool      is_placed = put_in_place(output);
    MerStatus status = is_placed ? MER_OK : fail(output->path, error);
    end(output, is_placed);
    return status;
}

void mer_output_discard(MerOutput *output)
{
    end(output, false);
}

MerStatus mer_output_end(MerOutput *output, MerStatus status, MerError *error)
{
    if (status == MER_OK) {
        return mer_output_close(output, error);
    }
    mer_output_discard(output);
    return status;
}
