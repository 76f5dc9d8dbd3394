/* Any bytes as a list of jobs: refused with a message, or jobs that can be cut into groups. */
#include "import/jobs.h"
#include "problem/schedule_jobs.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void cut(const MerGraph *graph, int size, MerArena *arena)
{
    MerJobGroups groups;
    mer_schedule_groups(graph, graph->jobs, size, arena, &groups);
    int jobs = 0;
    for (int g = 0; g < groups.count; g++) {
        jobs += groups.start[g + 1] - groups.start[g];
    }
    if (jobs != graph->jobs->job_count) {
        abort();
    }
}

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
    mer_importer_jobs.probe(&file);
    if (mer_importer_jobs.read(&file, NULL, arena, &graph, &error) == MER_OK) {
        if (!graph->jobs || graph->jobs->job_count == 0 || mer_graph_check(graph, NULL) != MER_OK) {
            abort();
        }
        if (graph->jobs->job_count < 20000) {
            cut(graph, 0, arena);
            cut(graph, 7, arena);
        }
    } else if (error.message[0] == '\0') {
        abort();
    }
    mer_arena_free(arena);
    return 0;
}
