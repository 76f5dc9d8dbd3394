/* Policy files: written whole, and read only if they are what was written. */
#include "run/search/task_search.h"

#include "base/descriptor.h"
#include "base/file.h"
#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
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
    if (status == MER_OK) {
        return MER_OK;
    }
    /* the checksum was right, so the file is what was saved */
    return mer_error_set(error, status, "%s: %s; it was learned on other knobs or other options",
                         path, why.message);
}

static MerStatus read_policy(const MerTaskSearch *s, MerArena *arena, MerError *error)
{
    const char *path = s->run->spec->policy;
    char       *data = NULL;
    size_t      size = 0, begin = 0;
    MER_TRY(mer_file_read(path, MOST_BYTES, arena, &data, &size, error));
    MER_TRY(check_line(path, data, size, s->type->name, &begin, error));
    MER_TRY(check_sum(path, data, &size, error));
    return load_content(path, data, size, begin, s->type, s->optimizer, error);
}

MerStatus mer_policy_load(const MerTaskSearch *s, MerError *error)
{
    if (!s->run->spec->policy || s->run->round) { /* of further rounds the knobs are others */
        if (s->run->spec->policy && s->run->round_number == 0) {
            mer_run_warn(s->run, "--policy is not read: the search goes in rounds from the start, "
                                 "each with other knobs");
        }
        return MER_OK;
    }
    if (!s->type->load || s->type->has_no_policy) {
        return mer_error_set(error, MER_UNSUPPORTED, "optimizer %s has no policy to load",
                             s->type->name);
    }
    MerArena *arena = mer_arena_new();
    MerStatus status = read_policy(s, arena, error);
    mer_arena_free(arena);
    return status;
}

static MerStatus cannot_write(const char *path, MerError *error)
{
    return mer_error_set(error, MER_IO, "%s: cannot write: %s", path, strerror(errno));
}

MerStatus mer_policy_check(const MerTaskSearch *s, MerError *error)
{
    const char *path = s->run->spec->save_policy;
    if (!path) {
        return MER_OK;
    }
    if (!s->type->save || s->type->has_no_policy) {
        return mer_error_set(error, MER_UNSUPPORTED, "optimizer %s has no policy to save",
                             s->type->name);
    }
    if (s->run->round && s->run->round_number == 0) {
        return mer_error_set(
            error, MER_UNSUPPORTED,
            "%s: no policy can be saved: the search goes in rounds from the start, "
            "each with other knobs",
            path);
    }
    return mer_policy_check_file(path, error);
}

MerStatus mer_policy_check_file(const char *path, MerError *error)
{
    bool is_new = access(path, F_OK) != 0;
    /* what is there stays until there is something better */
    int descriptor = mer_descriptor_open(path, O_WRONLY | O_CREAT | O_APPEND);
    if (descriptor < 0) {
        return cannot_write(path, error);
    }
    close(descriptor);
    if (is_new) {
        remove(path);
    }
    return MER_OK;
}

/* Where no file can be added to the folder, the file that is there takes the new text. */
static MerStatus write_in_place(const char *path, const char *data, size_t size, MerError *error)
{
    int  descriptor = mer_descriptor_open(path, O_WRONLY | O_TRUNC);
    bool is_written = descriptor >= 0 && mer_descriptor_write(descriptor, data, size) &&
                      mer_descriptor_sync(descriptor);
    MerStatus status = is_written ? MER_OK : cannot_write(path, error);
    if (descriptor >= 0) {
        close(descriptor);
    }
    return status;
}

static bool is_folder_closed(const char *path, MerArena *arena)
{
    const char *slash = strrchr(path, '/');
    size_t      length = slash ? (size_t)(slash - path) + 1 : 0;
    return access(slash ? mer_arena_text_n(arena, path, length) : ".", W_OK) != 0;
}

MerStatus mer_policy_save(const MerTaskSearch *s, MerError *error)
{
    const char *path = s->run->spec->save_policy;
    char       *data = NULL;
    size_t      size = 0;
    if (!path || s->run->round) {
        return MER_OK;
    }
    const char *line = mer_arena_format(s->run->arena, "%s%s\n", POLICY_LINE, s->type->name);
    MerStatus   status =
        mer_task_search_save(s, MER_KEEP_POLICY, line, strlen(line), &data, &size, error);
    if (status == MER_OK) {
        data = mer_heap_resize(data, size + CHECKSUM_LINE + 1, 1);
        write_checksum(data, size, data + size);
        size += CHECKSUM_LINE;
        status = is_folder_closed(path, s->run->arena) ? write_in_place(path, data, size, error)
                                                       : mer_file_write(path, data, size, error);
    }
    free(data);
    return status;
}
