/* Whole files into memory, and where the shipped platforms and models lie. */
#include "base/file.h"
#include "base/descriptor.h"
#include "base/memory.h"
#include "base/output.h"
#include "mercator/option.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static MerStatus too_large(const char *path, size_t limit, MerError *error)
{
    return mer_error_set(error, MER_INVALID, "%s is larger than %zu bytes", path, limit);
}

/* Reads until the end or until `capacity` bytes are there; false with errno set on failure. */
static bool read_some(int descriptor, char *data, size_t capacity, size_t *size)
{
    *size = 0;
    while (*size < capacity) {
        ssize_t count = read(descriptor, data + *size, capacity - *size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return count == 0;
        }
        *size += (size_t)count;
    }
    return true;
}

/* A pipe has no size: read into a growing buffer first. */
static bool read_stream(int descriptor, size_t limit, MerArena *arena, char **data, size_t *size)
{
    char  *buffer = NULL;
    size_t capacity = 0, filled = 0, count = 0;
    bool   done;
    do {
        capacity = capacity == 0 ? 1 << 16 : capacity * 2;
        capacity = capacity > limit ? limit + 1 : capacity;
        buffer = mer_heap_resize(buffer, capacity, 1);
        done = read_some(descriptor, buffer + filled, capacity - filled, &count);
        filled += count;
    } while (done && filled == capacity && filled <= limit);
    *data = mer_arena_text_n(arena, buffer, filled);
    *size = filled;
    free(buffer);
    return done;
}

static MerStatus read_open(int descriptor, const char *path, size_t limit, MerArena *arena,
                           char **data, size_t *size, MerError *error)
{
    struct stat status;
    bool        done;
    if (fstat(descriptor, &status) != 0) {
        return mer_error_set(error, MER_IO, "%s: %s", path, strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        return mer_error_set(error, MER_INVALID, "%s is a directory, expected a file", path);
    }
    if (S_ISREG(status.st_mode)) {
        if ((uintmax_t)status.st_size > limit) {
            return too_large(path, limit, error);
        }
        *data = mer_arena_alloc(arena, (size_t)status.st_size + 1);
        done = read_some(descriptor, *data, (size_t)status.st_size, size);
    } else {
        done = read_stream(descriptor, limit, arena, data, size);
    }
    if (!done) {
        return mer_error_set(error, MER_IO, "%s: %s", path, strerror(errno));
    }
    if (*size > limit) {
        return too_large(path, limit, error);
    }
    if (*size == 0) {
        return mer_error_set(error, MER_INVALID, "%s is empty", path);
    }
    return MER_OK;
}

MerStatus mer_file_read(const char *path, size_t limit, MerArena *arena, char **data, size_t *size,
                        MerError *error)
{
    int descriptor = mer_descriptor_open(path, O_RDONLY);
    if (descriptor < 0) {
        return mer_error_set(error, errno == ENOENT ? MER_NOT_FOUND : MER_IO, "%s: %s", path,
                             errno == ENOENT ? "no such file" : strerror(errno));
    }
    MerStatus status = read_open(descriptor, path, limit, arena, data, size, error);
    close(descriptor);
    return status;
}

size_t mer_file_peek(const char *path, char *data, size_t size)
{
    int descriptor = -1;
    for (int tries = 0; tries < 2 && descriptor < 0; tries++) {
        descriptor = mer_descriptor_open(path, O_RDONLY);
    }
    size_t count = 0;
    if (descriptor >= 0) {
        read_some(descriptor, data, size, &count);
        close(descriptor);
    }
    return count;
}

MerStatus mer_file_first_line(const char *path, MerArena *arena, char **line, bool *is_whole,
                              MerError *error)
{
    char  *text = NULL;
    size_t capacity = 0;
    *line = NULL;
    *is_whole = false;
    if (mer_file_is_stream(path)) { /* its first line may never end */
        return MER_OK;
    }
    FILE *file = mer_file_open(path);
    if (!file) {
        bool is_absent = errno == ENOENT || errno == ENOTDIR;
        return is_absent
                   ? MER_OK
                   : mer_error_set(error, MER_IO, "%s: cannot read: %s", path, strerror(errno));
    }
    ssize_t length = getline(&text, &capacity, file);
    *is_whole = length > 0 && text[length - 1] == '\n';
    *line = mer_arena_text_n(arena, text, length > 0 ? (size_t)length - *is_whole : 0);
    fclose(file);
    free(text);
    return MER_OK;
}

bool mer_file_is_stream(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

#ifndef MERCATOR_SOURCE_DATA
#define MERCATOR_SOURCE_DATA NULL
#endif
#ifndef MERCATOR_INSTALL_DATA
#define MERCATOR_INSTALL_DATA NULL
#endif

/* The data folders in the order of their right to answer; NULL where there is none. */
enum { FOLDER_COUNT = 4 };

/* PREFIX/share/mercator of a program that runs as PREFIX/bin/NAME, wherever PREFIX was moved. */
static const char *beside_program(MerArena *arena)
{
    char    path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    for (int level = 0; level < 2; level++) {
        char *slash = strrchr(path, '/');
        if (slash == NULL) {
            return NULL;
        }
        *slash = '\0';
    }
    return mer_arena_format(arena, "%s/share/mercator", path);
}

static const char *kind_folder(int index, const char *kind, MerArena *arena)
{
    const char *const roots[FOLDER_COUNT] = {getenv("MERCATOR_DATA"),
                                             index == 1 ? beside_program(arena) : NULL,
                                             MERCATOR_SOURCE_DATA, MERCATOR_INSTALL_DATA};
    const char       *root = roots[index];
    return root == NULL || *root == '\0' ? NULL : mer_arena_format(arena, "%s/%s", root, kind);
}

/* The entry without its ending, or NULL if it has another one. */
static const char *entry_name(const char *entry, const char *ending, MerArena *arena)
{
    size_t entry_length = strlen(entry), ending_length = strlen(ending);
    if (entry[0] == '.' || entry_length < ending_length + 2) {
        return NULL;
    }
    size_t length = entry_length - ending_length - 1;
    if (entry[length] != '.' || strcmp(entry + length + 1, ending) != 0) {
        return NULL;
    }
    return mer_arena_text_n(arena, entry, length);
}

/* Adds the names of all entries with this ending; false with errno set: the folder cannot be read. */
static bool add_entries(const char *folder, const char *ending, MerArena *arena, const char ***list,
                        size_t *count)
{
    DIR *directory = mer_folder_open(folder);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        const char *name = entry_name(entry->d_name, ending, arena);
        if (name != NULL) {
            MER_GROW(arena, *list, *count);
            (*list)[(*count)++] = name;
        }
    }
    return directory != NULL && closedir(directory) == 0;
}

/* The entry that `name` means: the same spelling first, then the first in order. */
static const char *find_entry(const char *folder, const char *name, const char *ending,
                              MerArena *arena)
{
    const char  *best = mer_arena_format(arena, "%s/%s.%s", folder, name, ending);
    const char **list = NULL;
    size_t       count = 0;
    if (name[0] != '.' && access(best, F_OK) == 0) {
        return best;
    }
    best = NULL;
    add_entries(folder, ending, arena, &list, &count);
    for (size_t i = 0; i < count; i++) {
        bool is_meant = mer_name_equal(list[i], name);
        best = is_meant && (best == NULL || strcmp(list[i], best) < 0) ? list[i] : best;
    }
    return best ? mer_arena_format(arena, "%s/%s.%s", folder, best, ending) : NULL;
}

const char *mer_data_path(const char *kind, const char *name, const char *ending, MerArena *arena)
{
    ending += *ending == '.';
    if (*name == '\0' || strchr(name, '/') != NULL) {
        return NULL;
    }
    for (int i = 0; i < FOLDER_COUNT; i++) {
        const char *folder = kind_folder(i, kind, arena);
        const char *found = folder ? find_entry(folder, name, ending, arena) : NULL;
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

/* With '-' as '_', so that two spellings of one name are neighbours. */
static int compare_names(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    for (; *x != '\0' && *y != '\0'; x++, y++) {
        int order = (*x == '-' ? '_' : *x) - (*y == '-' ? '_' : *y);
        if (order != 0) {
            return order;
        }
    }
    return *x - *y;
}

int mer_data_list(const char *kind, const char *ending, MerArena *arena, const char ***names,
                  MerError *error)
{
    const char **list = NULL;
    size_t       count = 0;
    ending += *ending == '.';
    for (int i = 0; i < FOLDER_COUNT; i++) {
        const char *folder = kind_folder(i, kind, arena);
        if (folder && !add_entries(folder, ending, arena, &list, &count) && errno != ENOENT &&
            errno != ENOTDIR) {
            mer_error_set(error, MER_IO, "%s: cannot read: %s", folder, strerror(errno));
            return -1;
        }
    }
    if (count > 0) {
        qsort(list, count, sizeof *list, compare_names);
    }
    *names = MER_ARRAY(arena, const char *, count);
    int kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !mer_name_equal((*names)[kept - 1], list[i])) {
            (*names)[kept++] = list[i];
        }
    }
    return kept;
}

MerStatus mer_file_write(const char *path, const void *data, size_t size, MerError *error)
{
    MerOutput output;
    if (mer_output_open(&output, path, NULL) == MER_OK) {
        fwrite(data, 1, size, output.file); /* what goes wrong shows at the end */
        if (mer_output_close(&output, NULL) == MER_OK) {
            return MER_OK;
        }
    }
    return mer_error_set(error, MER_IO, "%s: cannot write: %s", path, strerror(errno));
}

MerStatus mer_directory_make(const char *path, MerArena *arena, MerError *error)
{
    if (!*path) {
        return mer_error_set(error, MER_IO, "the run directory has an empty name");
    }
    char *copy = mer_arena_text(arena, path);
    for (char *at = copy + 1;; at++) {
        if (*at != '/' && *at != '\0') {
            continue;
        }
        char end = *at;
        *at = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) {
            return mer_error_set(error, MER_IO, "%s: cannot make the run directory: %s", path,
                                 strerror(errno));
        }
        *at = end;
        if (!end) {
            break;
        }
    }
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return mer_error_set(error, MER_IO, "%s: the run directory is a file", path);
    }
    return MER_OK;
}
