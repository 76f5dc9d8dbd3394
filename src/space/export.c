/* The files that an exporter makes, gathered in memory. */
#include "mercator/export.h"

#include <stdlib.h>

void mer_export_add(MerExportFiles *files, const char *name, const void *data, size_t size)
{
    MER_GROW(files->arena, files->list, files->count);
    files->list[files->count++] = (MerExportFile){mer_arena_text(files->arena, name),
                                                  mer_arena_text_n(files->arena, data, size), size};
}

FILE *mer_export_begin(MerExportFiles *files)
{
    files->text = NULL;
    files->size = 0;
    return open_memstream(&files->text, &files->size);
}

MerStatus mer_export_end(MerExportFiles *files, FILE *stream, const char *name, MerError *error)
{
    bool is_whole = stream && fclose(stream) == 0;
    if (is_whole) {
        mer_export_add(files, name, files->text, files->size);
    }
    free(files->text);
    files->text = NULL;
    return is_whole ? MER_OK : mer_error_set(error, MER_NO_MEMORY, "no memory for %s", name);
}
