/* What the fuzzers of importers share: any bytes are refused with one line, or become a graph that passes its
 * check. */
#ifndef MERCATOR_TESTS_FUZZ_IMPORTER_H
#define MERCATOR_TESTS_FUZZ_IMPORTER_H

#include "mercator/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef void (*FuzzCheck)(const MerGraph *graph, MerArena *arena);

/* `path` is what the file is called; `check` (optional) looks further at a graph that was read. */
static inline void fuzz_importer(const MerImporterClass *importer, const char *path,
                                 FuzzCheck check, const uint8_t *data, size_t size)
{
    MerArena     *arena = mer_arena_new();
    MerGraph     *graph = NULL;
    MerError      error = {0};
    MerImportFile file = {.path = path,
                          .name = "fuzz",
                          .data = mer_arena_text_n(arena, size > 0 ? (const char *)data : "", size),
                          .size = size};
    importer->probe(&file);
    if (importer->read(&file, NULL, arena, &graph, &error) == MER_OK) {
        if (graph->op_count == 0 || mer_graph_check(graph, NULL) != MER_OK) {
            abort();
        }
        if (check) {
            check(graph, arena);
        }
    } else if (error.message[0] == '\0' || strchr(error.message, '\n')) {
        abort();
    }
    mer_arena_free(arena);
}

#endif
