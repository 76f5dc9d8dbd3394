/* For fuzzers of what is read by its path: the bytes as a file in a folder that is gone again afterwards. */
#ifndef MERCATOR_TESTS_FUZZ_AS_FILE_H
#define MERCATOR_TESTS_FUZZ_AS_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct FuzzFile {
    char folder[32], path[96];
} FuzzFile;

static inline FuzzFile fuzz_file(const char *name, const uint8_t *data, size_t size)
{
    FuzzFile file = {"/tmp/mercator-fuzz-XXXXXX", ""};
    if (mkdtemp(file.folder) == NULL) {
        abort();
    }
    snprintf(file.path, sizeof file.path, "%s/%s", file.folder, name);
    FILE *stream = fopen(file.path, "wb");
    if (stream == NULL || (size > 0 && fwrite(data, size, 1, stream) != 1) || fclose(stream) != 0) {
        abort();
    }
    return file;
}

static inline void fuzz_file_remove(const FuzzFile *file)
{
    remove(file->path);
    rmdir(file->folder);
}

#endif
