/* Atomic writing: a full disk or a kill never leaves half a report under the report's name. */
#include "base/output.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static MerStatus fail(const char *path, MerError *error)
{
    return mer_error_set(error, MER_IO, "%s: %s, expected a place to write to", path,
                         strerror(errno));
}

MerStatus mer_output_open(MerOutput *output, const char *path, MerError *error)
{
    size_t      size = strlen(path) + 32;
    struct stat info;
    *output = (MerOutput){.path = path};
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
        output->file = fopen(path, "w"); /* a device or a pipe is written to, never replaced */
        return output->file ? MER_OK : fail(path, error);
    }
    output->part = mer_heap_zeroed(size, 1);
    snprintf(output->part, size, "%s.part%ld", path, (long)getpid());
    int descriptor = open(output->part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0666);
    if (descriptor >= 0 && (output->file = fdopen(descriptor, "w")) == NULL) {
        close(descriptor);
        unlink(output->part);
    }
    if (output->file == NULL) {
        MerStatus status = fail(path, error);
        free(output->part);
        return status;
    }
    return MER_OK;
}

MerStatus mer_output_close(MerOutput *output, MerError *error)
{
    MerStatus status = MER_OK;
    /* Before the close, because a later error of the disk would be lost with the descriptor. */
    bool is_written = fflush(output->file) == 0 && !ferror(output->file);
    bool is_closed = fclose(output->file) == 0;
    bool is_placed =
        is_written && is_closed && (!output->part || rename(output->part, output->path) == 0);
    if (!is_placed) {
        status = fail(output->path, error);
    }
    if (!is_placed && output->part) {
        unlink(output->part);
    }
    free(output->part);
    *output = (MerOutput){0};
    return status;
}

void mer_output_discard(MerOutput *output)
{
    fclose(output->file);
    if (output->part) {
        unlink(output->part);
    }
    free(output->part);
    *output = (MerOutput){0};
}
