/* Policy files: written whole, and read only if they are what was written. */
#include "run/search/policy.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char POLICY_LINE[] = "mercator-policy/1 ";
static const char CHECKSUM[] = "checksum ";
enum { CHECKSUM_LINE = sizeof CHECKSUM - 1 + 16 + 1, SHOWN = 40 };
static const size_t MOST_BYTES = (size_t)1 << 32;

/* The first line as a message can show it: a strange file may be anything. */
static void show_line(const char *data, size_t size, char shown[SHOWN + 4])
{
    size_t length = 0;
    for (; length < size && length < SHOWN && data[length] != '\n'; length++) {
        shown[length] = (char)(isprint((unsigned char)data[length]) ? data[length] : '?');
    }
    bool is_cut = length == SHOWN && length < size && data[length] != '\n';
    snprintf(shown + length, 4, "%s", is_cut ? "..." : "");
}

static MerStatus check_line(const char *path, const char *data, size_t size, const char *name,
                            size_t *end, MerError *error)
{
    char   expected[128], shown[SHOWN + 4];
    size_t length = (size_t)snprintf(expected, sizeof expected, "%s%s", POLICY_LINE, name);
    if (size <= length || memcmp(data, expected, length) != 0 || data[length] != '\n') {
        show_line(data, size, shown);
        return mer_error_set(error, MER_INVALID, "%s:1: found \"%s\", expected \"%s\"", path, shown,
                             expected);
    }
    *end = length + 1;
    return MER_OK;
}

static void write_checksum(const char *data, size_t size, char line[CHECKSUM_LINE + 1])
{
    snprintf(line, CHECKSUM_LINE + 1, "%s%016" PRIx64 "\n", CHECKSUM,
             mer_hash_bytes(MER_HASH_START, data, size));
}

/* Takes the checksum off the end, if there is one. */
static MerStatus check_sum(const char *path, const char *data, size_t *size, MerError *error)
{
    size_t      end = *size < CHECKSUM_LINE ? 0 : *size - CHECKSUM_LINE;
    const char *found = data + end;
    char        expected[CHECKSUM_LINE + 1];
    if (end == 0 || memcmp(found, CHECKSUM, sizeof CHECKSUM - 1) != 0) {
        return MER_OK;
    }
    *size = end;
    write_checksum(data, end, expected);
    if (memcmp(found, expected, CHECKSUM_LINE) != 0) {
        return mer_error_set(
            error, MER_INVALID,
            "%s: byte %zu: found \"%.*s\", expected \"%.*s\": the file is not as it was saved",
            path, end, CHECKSUM_LINE - 1, found, CHECKSUM_LINE - 1, expected);
    }
    return MER_OK;
}

static MerStatus load_content(const char *path, char *data, size_t size, size_t begin,
                              const MerOptimizerClass *type, void *optimizer, MerError *error)
{
    MerError why = {0};
    FILE    *file = fmemopen(data, size, "r");
    if (!file || fseek(file, (long)begin, SEEK_SET) != 0) {
        return mer_error_set(error, MER_IO, "%s: cannot read: %s", path, strerror(errno));
    }
    MerStatus status = type->load(optimizer, MER_KEEP_POLICY, file, &why);
    fclose(file);
    return status == MER_OK ? MER_OK : mer_error_set(error, status, "%s: %s", path, why.message);
}

MerStatus mer_policy_load(MerRunState *run, const MerOptimizerClass *type, void *optimizer,
                          MerError *error)
{
    const char *path = run->spec->policy;
    if (!path) {
        return MER_OK;
    }
    if (!type->load) {
        return mer_error_set(error, MER_UNSUPPORTED, "optimizer %s has no policy to load",
                             type->name);
    }
    MerArena *arena = mer_arena_new();
    char     *data = NULL;
    size_t    size = 0, begin = 0;
    MerStatus status = mer_file_read(path, MOST_BYTES, arena, &data, &size, error);
    status = status == MER_OK ? check_line(path, data, size, type->name, &begin, error) : status;
    status = status == MER_OK ? check_sum(path, data, &size, error) : status;
    status =
        status == MER_OK ? load_content(path, data, size, begin, type, optimizer, error) : status;
    mer_arena_free(arena);
    return status;
}

MerStatus mer_policy_check(MerRunState *run, const MerOptimizerClass *type, MerError *error)
{
    const char *path = run->spec->save_policy;
    if (!path) {
        return MER_OK;
    }
    if (!type->save) {
        return mer_error_set(error, MER_UNSUPPORTED, "optimizer %s has no policy to save",
                             type->name);
    }
    bool  is_new = access(path, F_OK) != 0;
    FILE *file = fopen(path, "ab"); /* what is there stays until there is something better */
    if (!file) {
        return mer_error_set(error, MER_IO, "%s: cannot write: %s", path, strerror(errno));
    }
    fclose(file);
    if (is_new) {
        remove(path);
    }
    return MER_OK;
}

static MerStatus write_file(const char *path, const char *data, size_t size, MerError *error)
{
    char  line[CHECKSUM_LINE + 1];
    FILE *file = fopen(path, "wb");
    write_checksum(data, size, line);
    bool is_written = file && fwrite(data, 1, size, file) == size && fputs(line, file) >= 0;
    is_written = file && fclose(file) == 0 && is_written;
    return is_written ? MER_OK
                      : mer_error_set(error, MER_IO, "%s: cannot write: %s", path, strerror(errno));
}

MerStatus mer_policy_save(MerRunState *run, const MerOptimizerClass *type, const void *optimizer,
                          MerError *error)
{
    char  *data = NULL;
    size_t size = 0;
    if (!run->spec->save_policy) {
        return MER_OK;
    }
    FILE *memory = open_memstream(&data, &size);
    if (!memory) {
        return mer_error_set(error, MER_NO_MEMORY, "no memory for the policy");
    }
    fprintf(memory, "%s%s\n", POLICY_LINE, type->name);
    MerStatus status = type->save(optimizer, MER_KEEP_POLICY, memory, error);
    if (fclose(memory) != 0 && status == MER_OK) {
        status = mer_error_set(error, MER_NO_MEMORY, "no memory for the policy");
    }
    status = status == MER_OK ? write_file(run->spec->save_policy, data, size, error) : status;
    free(data);
    return status;
}
