/* Any bytes as a list of jobs: refused with a message, or jobs that can be cut into groups. */
#include "fuzz/importer.h"
#include "schedule/jobs/jobs_import.h"
#include "schedule/jobs/schedule_jobs.h"

static void cut(const MerGraph *graph, int size, MerArena *arena)
{
    MerJobGroups groups;
    mer_schedule_groups(graph, mer_job_set(graph), size, NULL, arena, &groups);
    int jobs = 0;
    for (int g = 0; g < groups.count; g++) {
        jobs += groups.start[g + 1] - groups.start[g];
    }
    if (jobs != mer_job_set(graph)->job_count) {
        abort();
    }
}

static void check(const MerGraph *graph, MerArena *arena)
{
    if (!mer_job_set(graph) || mer_job_set(graph)->job_count == 0) {
        abort();
    }
    if (mer_job_set(graph)->job_count < 20000) {
        cut(graph, 0, arena);
        cut(graph, 7, arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_importer(&mer_importer_jobs, "fuzz", check, data, size);
    return 0;
}
