/* Any bytes as an ONNX model: refused with one line, or imported into a graph that passes its
 * check. */
#include "import/import.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena     *arena = mer_arena_new();
    MerImportFile file = {.path = "fuzz.onnx",
                          .name = "fuzz",
                          .data = mer_arena_text_n(arena, (const char *)data, size),
                          .size = size};
    MerGraph     *graph = NULL;
    MerError      error = {0};
    mer_importer_onnx.probe(&file);
    MerStatus status = mer_importer_onnx.read(&file, NULL, arena, &graph, &error);
    if (status != MER_OK && (error.message[0] == '\0' || strchr(error.message, '\n') != NULL))
        abort();
    if (status == MER_OK && mer_graph_check(graph, &error) != MER_OK)
        abort();
    mer_arena_free(arena);
    return 0;
}
