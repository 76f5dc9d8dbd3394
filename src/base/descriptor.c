/* Opening, writing and syncing that go on after a signal. */
#define _GNU_SOURCE /* sync_file_range */
#include "base/descriptor.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mer_descriptor_open(const char *path, int flags)
{
    int descriptor;
    do {
        descriptor = open(path, flags | O_CLOEXEC, 0666);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

FILE *mer_file_open(const char *path)
{
    int   descriptor = mer_descriptor_open(path, O_RDONLY);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    if (!file && descriptor >= 0) {
        close(descriptor);
    }
    return file;
}

DIR *mer_folder_open(const char *path)
{
    DIR *folder;
    do {
        folder = opendir(path);
    } while (!folder && errno == EINTR);
    return folder;
}

bool mer_descriptor_write(int descriptor, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t count = write(descriptor, at, size);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        at += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

void mer_descriptor_begin_sync(int descriptor)
{
#ifdef SYNC_FILE_RANGE_WRITE
    sync_file_range(descriptor, 0, 0,
                    SYNC_FILE_RANGE_WRITE); /* a hint: who syncs will see what fails */
#else
    (void)descriptor;
#endif
}

bool mer_descriptor_sync(int descriptor)
{
    int code;
    do {
        code = fdatasync(descriptor); /* the size is part of the data, the time is not */
    } while (code != 0 && errno == EINTR);
    return code == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || errno == EROFS;
}

bool mer_folder_sync(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t      length = slash ? (size_t)(slash - path) + 1 : 1;
    char       *folder = mer_heap_zeroed(length + 1, 1);
    memcpy(folder, slash ? path : ".", length);
    int descriptor = mer_descriptor_open(folder, O_RDONLY | O_DIRECTORY);
    free(folder);
    if (descriptor < 0) {
        return true; /* a folder that may be written and not read */
    }
    bool is_synced = mer_descriptor_sync(descriptor);
    int  code = errno;
    close(descriptor);
    errno = code;
    return is_synced;
}
