/* Replays a fuzzer's corpus without a fuzzer: every file of the folder, and of small files some
 * beginnings too, because a truncated file is the most common broken one. */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BEGINNINGS = 16, LARGEST_TRUNCATED = 65536 };

/* A copy of exactly `size` bytes, so that a sanitizer sees a read past the end. */
static void try_bytes(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (exact == NULL) {
        fprintf(stderr, "replay: out of memory\n");
        exit(1);
    }
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        exit(1);
    }
    long length = ftell(file);
    rewind(file);
    uint8_t *data = malloc(length > 0 ? (size_t)length : 1);
    if (length < 0 || data == NULL || fread(data, 1, (size_t)length, file) != (size_t)length) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    *size = (size_t)length;
    return data;
}

static void replay_file(const char *path)
{
    size_t   size = 0;
    uint8_t *data = read_file(path, &size);
    printf("%s\n", path);
    fflush(stdout);
    try_bytes(data, size);
    for (size_t part = 1; size <= LARGEST_TRUNCATED && part < BEGINNINGS; part++) {
        try_bytes(data, size * part / BEGINNINGS);
    }
    free(data);
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (folder == NULL) {
        fprintf(stderr, "replay: expected one folder of inputs, found %s\n",
                argc == 2 ? argv[1] : "none");
        return 1;
    }
    int files = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[4096];
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        replay_file(path);
        files++;
    }
    closedir(folder);
    printf("replayed %d files\n", files);
    return files > 0 ? 0 : 1;
}
