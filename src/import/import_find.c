/* From a name or a path to the importer that knows the file's format. */
#include "import/import_find.h"

#include "base/descriptor.h"
#include "base/file.h"
#include "base/utf8.h"
#include "base/word_list.h"
#include "mercator/option.h"

#include <stdio.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)1 << 31)

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The file's name without folder and ending; a number of a descriptor is no name. */
static const char *graph_name(MerArena *arena, const char *path)
{
    if (strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0)
        return "pipe";
    const char *name = file_name(path);
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? mer_arena_text_n(arena, name, (size_t)(dot - name))
                                      : mer_arena_text(arena, name);
}

bool mer_path_has_ending(const char *path, const char *endings)
{
    const char *dot = strrchr(file_name(path), '.');
    return dot != NULL && mer_word_list_has(endings, dot + 1);
}

/* By content first; a file that no one recognises goes by its ending, so that the importer can say
 * what is wrong with it. */
static const MerImporterClass *find_importer(const MerImporterClass *const *importers,
                                             const MerImportFile           *file)
{
    const MerImporterClass *best = NULL;
    int                     most = 0;
    for (int i = 0; importers[i] != NULL && most < 3; i++) {
        int points =
            2 * importers[i]->probe(file) + mer_path_has_ending(file->path, importers[i]->endings);
        best = points > most ? importers[i] : best;
        most = points > most ? points : most;
    }
    return best;
}

static MerStatus fail_format(const MerImporterClass *const *importers, const MerImportFile *file,
                             MerError *error)
{
    char names[300] = "";
    for (int i = 0; importers[i] != NULL; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", importers[i]->name);
    }
    return mer_error_set(error, MER_INVALID, "%s is not a known network format, expected one of %s",
                         file->path, names);
}

static bool has_line(const char *data, const char *start)
{
    size_t length = strlen(start);
    bool   has = strncmp(data, start, length) == 0;
    for (const char *line = strchr(data, '\n'); line && !has; line = strchr(line + 1, '\n')) {
        has = strncmp(line + 1, start, length) == 0;
    }
    return has;
}

/* A file that no importer could read may be another of our own. */
static MerStatus name_other(const MerImportFile *file, MerStatus status, MerError *error)
{
    if (has_line(file->data, "format: mercator-platform/")) {
        return mer_error_set(error, status,
                             "%s is a platform, expected a network; platforms go to --platform",
                             file->path);
    }
    if (has_line(file->data, "workload:") && !has_line(file->data, "format:")) {
        return mer_error_set(error, status,
                             "%s: no line \"format:\", an experiment begins with "
                             "\"format: mercator-experiment/1\"",
                             file->path);
    }
    return status;
}

static MerStatus read_file(const MerImporterClass *const *importers, const char *path,
                           const MerImportOptions *options, MerArena *arena, MerGraph **graph,
                           MerError *error)
{
    MerArena     *bytes = mer_arena_new();
    MerImportFile file = {.path = path, .name = graph_name(arena, path)};
    char         *data = NULL;
    MerStatus     status = mer_file_read(path, MAX_FILE_BYTES, bytes, &data, &file.size, error);
    int           mark = status == MER_OK ? mer_utf8_mark(data, file.size) : 0;
    data = mark > 0 ? data + mark : data; // none where nothing was read
    file.size -= (size_t)mark;
    file.data = data;
    bool is_wide =
        status == MER_OK && (memcmp(data, "\xff\xfe", 2) == 0 || memcmp(data, "\xfe\xff", 2) == 0);
    if (is_wide) {
        status = mer_error_set(error, MER_INVALID, "%s is UTF-16 text, expected UTF-8", path);
    } else if (status == MER_OK && strncmp(data, "version https://git-lfs", 23) == 0) {
        status = mer_error_set(error, MER_INVALID,
                               "%s is a Git LFS pointer, expected the file it points to", path);
    } else if (status == MER_OK) {
        const MerImporterClass *importer = find_importer(importers, &file);
        status = importer != NULL ? importer->read(&file, options, arena, graph, error)
                                  : fail_format(importers, &file, error);
        status = status == MER_OK ? status : name_other(&file, status, error);
    }
    mer_arena_free(bytes);
    return status;
}

static MerStatus fail_name(const char *name, MerArena *arena, MerError *error)
{
    const char **models, **definitions;
    int          count = mer_data_list("models", ".onnx", arena, &models, NULL);
    const char  *nearest = mer_name_nearest(name, models, count);
    if (nearest == NULL) {
        count = mer_data_list("models", ".net", arena, &definitions, NULL);
        nearest = mer_name_nearest(name, definitions, count);
    }
    if (nearest != NULL)
        return mer_error_set(error, MER_NOT_FOUND,
                             "there is no model or file \"%s\", did you mean %s?", name, nearest);
    return mer_error_set(error, MER_NOT_FOUND,
                         "there is no built-in model and no file named \"%s\"", name);
}

static bool exists(const char *path)
{
    FILE *file = mer_file_open(path);
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

static MerStatus import_any(const MerImporterClass *const *importers, const char *name_or_path,
                            const MerImportOptions *options, MerArena *arena, MerGraph **graph,
                            MerError *error)
{
    if (strcmp(name_or_path, "-") == 0)
        return read_file(importers, "/dev/stdin", options, arena, graph, error);
    for (const MerImporterClass *const *importer = importers; *importer; importer++) {
        if ((*importer)->knows && (*importer)->knows(name_or_path))
            return (*importer)->make(name_or_path, options, arena, graph, error);
    }
    bool        is_name = strpbrk(name_or_path, "/.") == NULL;
    const char *built_in = is_name ? mer_data_path("models", name_or_path, ".onnx", arena) : NULL;
    if (is_name && built_in == NULL) /* tasks of several networks */
        built_in = mer_data_path("models", name_or_path, ".yaml", arena);
    if (built_in != NULL)
        return read_file(importers, built_in, options, arena, graph, error);
    if (is_name && !exists(name_or_path))
        return fail_name(name_or_path, arena, error);
    return read_file(importers, name_or_path, options, arena, graph, error);
}

MerStatus mer_graph_import_with(const MerImporterClass *const *importers, const char *name_or_path,
                                const MerImportOptions *options, MerArena *arena, MerGraph **graph,
                                MerError *error)
{
    *graph = NULL;
    MerStatus status = import_any(importers, name_or_path, options, arena, graph, error);
    if (status == MER_OK)
        (*graph)->path = mer_arena_text(arena, name_or_path);
    return status;
}
