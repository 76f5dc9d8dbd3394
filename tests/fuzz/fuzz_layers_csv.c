/* Any bytes as a layer table: refused with a message, or a graph that passes its check. */
#include "import/layers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = NULL;
    MerError  error = {0};
    char     *copy = mer_arena_alloc(arena, size + 1);
    if (size > 0) {
        memcpy(copy, data, size);
    }
    MerImportFile file = {.path = "fuzz", .name = "fuzz", .data = copy, .size = size};
    mer_importer_layers_csv.probe(&file);
    if (mer_importer_layers_csv.read(&file, NULL, arena, &graph, &error) == MER_OK) {
        if (graph->op_count == 0 || mer_graph_check(graph, NULL) != MER_OK) {
            abort();
        }
    } else if (error.message[0] == '\0') {
        abort();
    }
    mer_arena_free(arena);
    return 0;
}
