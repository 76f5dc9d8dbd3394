/* Which form a platform file has, its content says. */
#include "hw/foreign.h"

#include "hw/reader.h"
#include "hw/timeloop_arch.h"

#include "base/yaml_files.h"
#include "mercator/text.h"

#include <string.h>

enum { MAX_FILE_BYTES = 1 << 26 };

/* The file's name without folder and endings, as letters a name may have. */
static const char *name_of(const char *path, MerArena *arena)
{
    size_t      whole = strcspn(path, ",");
    const char *start = path;
    for (size_t i = 0; i < whole; i++) {
        start = path[i] == '/' ? path + i + 1 : start;
    }
    size_t length = strcspn(start, ".,");
    return length > 0 ? mer_platform_plain_name(start, length, arena) : "machine";
}

/* Our own text can only be refused if the machine itself is impossible. */
static MerStatus parse(const char *path, const char *text, MerArena *arena, MerYaml **root,
                       MerError *error)
{
    const char *file = mer_arena_format(arena, "%.400s (as a platform)", path);
    return mer_yaml_parse(file, text, strlen(text), arena, root, error);
}

MerStatus mer_platform_adopt(MerYaml *root, MerYaml **adopted, MerError *error)
{
    const char *text = NULL;
    *adopted = root;
    if (mer_vta_is_config(root)) {
        MER_TRY(mer_vta_config_platform(root, &text, error));
    } else if (mer_timeloop_is_architecture(root)) {
        MER_TRY(mer_timeloop_platform(root, name_of(root->file, root->arena), &text, error));
    }
    root->asked_count = 0; /* the keys of other forms are none that this one could have */
    return text ? parse(root->file, text, root->arena, adopted, error) : MER_OK;
}

static MerStatus read_several(const char *paths, MerArena *arena, MerYaml **root, MerError *error)
{
    MerYaml *merged;
    MER_TRY(mer_yaml_read_files(paths, arena, &merged, error));
    if (!mer_timeloop_is_architecture(merged)) {
        return mer_error_set(error, MER_INVALID,
                             "%.200s: none of the files has an `architecture`; only Timeloop files "
                             "are given together",
                             paths);
    }
    return mer_platform_adopt(merged, root, error);
}

MerStatus mer_platform_read_file(const char *paths, MerArena *arena, MerYaml **root,
                                 MerError *error)
{
    MerYaml    *read;
    const char *text;
    char       *data;
    size_t      size;
    if (strchr(paths, ',') != NULL) {
        return read_several(paths, arena, root, error);
    }
    MER_TRY(mer_file_read(paths, MAX_FILE_BYTES, arena, &data, &size, error));
    if (mer_maestro_is_hardware(data, size)) {
        MER_TRY(
            mer_maestro_platform(paths, data, size, name_of(paths, arena), arena, &text, error));
        return parse(paths, text, arena, root, error);
    }
    MER_TRY(mer_yaml_parse(paths, data, size, arena, &read, error));
    return mer_platform_adopt(read, root, error);
}

/* A line that starts with `architecture:` or `arch:`, as Timeloop's machines do. */
static bool has_architecture(const char *text)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "architecture:", 13) == 0 || strncmp(line, "arch:", 5) == 0) {
            return true;
        }
    }
    return false;
}

bool mer_platform_is_text(const char *text, size_t size)
{
    return strstr(text, "mercator-platform/") || mer_maestro_is_hardware(text, size) ||
           has_architecture(text) ||
           (strstr(text, "LOG_INP_WIDTH") && strstr(text, "LOG_ACC_BUFF_SIZE"));
}
