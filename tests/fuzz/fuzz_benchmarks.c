/* Any bytes as jobs of M3E (JSON or instruction CSV) and as XRBench scenarios: refused with a message, or jobs
 * in the groups of the file. */
#include "import/jobs.h"
#include "problem/schedule_jobs.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(const MerImporterClass *importer, const uint8_t *data, size_t size)
{
    MerArena    *arena = mer_arena_new();
    MerGraph    *graph = NULL;
    MerError     error = {0};
    MerJobGroups groups;
    char        *copy = mer_arena_alloc(arena, size + 1);
    if (size > 0) {
        memcpy(copy, data, size);
    }
    MerImportFile file = {.path = "fuzz", .name = "fuzz", .data = copy, .size = size};
    importer->probe(&file);
    if (importer->read(&file, NULL, arena, &graph, &error) == MER_OK) {
        if (!graph->jobs || graph->jobs->job_count == 0 || mer_graph_check(graph, NULL) != MER_OK) {
            abort();
        }
        mer_schedule_groups(graph, graph->jobs, 0, arena, &groups);
        mer_schedule_select(&groups, "mix:0-2,VR_gaming,1", &error);
    } else if (error.message[0] == '\0') {
        abort();
    }
    mer_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_as(&mer_importer_m3e, data, size);
    read_as(&mer_importer_xrbench, data, size);
    return 0;
}
