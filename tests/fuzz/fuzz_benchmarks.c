/* Any bytes as jobs of M3E (JSON or instruction CSV) and as XRBench scenarios: refused with a message, or jobs
 * in the groups of the file. */
#include "fuzz/importer.h"
#include "schedule/jobs/jobs_import.h"
#include "schedule/jobs/schedule_jobs.h"

static void check(const MerGraph *graph, MerArena *arena)
{
    MerJobGroups groups;
    MerError     error;
    if (!mer_job_set(graph) || mer_job_set(graph)->job_count == 0) {
        abort();
    }
    mer_schedule_groups(graph, mer_job_set(graph), 0, NULL, arena, &groups);
    mer_schedule_select(&groups, "mix:0-2,VR_gaming,1", &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_importer(&mer_importer_m3e, "fuzz", check, data, size);
    fuzz_importer(&mer_importer_xrbench, "fuzz", check, data, size);
    return 0;
}
