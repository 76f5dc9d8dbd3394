/* Predecessors and successors of jobs as lists that follow each other. */
#include "schedule/jobs/job_links.h"

#include "base/key_table.h"

MerJobLinks mer_job_links(const MerJob *jobs, const int *chosen, int count, MerArena *arena)
{
    MerArena   *scratch = mer_arena_new();
    MerKeyTable place = {.arena = scratch}; /* those chosen may be a small part of all */
    int        *before_start = MER_ARRAY(arena, int, count + 1);
    int        *after_start = MER_ARRAY(arena, int, count + 2);
    int         edges = 0;
    for (int i = 0; i < count; i++) {
        edges += jobs[chosen ? chosen[i] : i].after_count;
        if (chosen) {
            mer_key_table_add(&place, (uint64_t)chosen[i], i);
        }
    }
    int *before = MER_ARRAY(arena, int, edges + 1);
    int *after = MER_ARRAY(arena, int, edges + 1);
    int  used = 0;
    for (int i = 0; i < count; i++) {
        const MerJob *job = &jobs[chosen ? chosen[i] : i];
        for (int k = 0; k < job->after_count; k++) {
            int other = job->after[k];
            int from = chosen ? mer_key_table_find(&place, (uint64_t)other) : other;
            if (from >= 0) {
                before[used++] = from;
                after_start[from + 2]++;
            }
        }
        before_start[i + 1] = used;
    }
    for (int i = 0; i < count; i++) {
        after_start[i + 2] += after_start[i + 1];
    }
    for (int i = 0; i < count; i++) {
        for (int k = before_start[i]; k < before_start[i + 1]; k++) {
            after[after_start[before[k] + 1]++] = i;
        }
    }
    mer_arena_free(scratch);
    return (MerJobLinks){before_start, before, after_start, after};
}

int mer_job_order(const MerJobLinks *links, int count, int *missing, int *order)
{
    int used = 0;
    for (int j = 0; j < count; j++) {
        missing[j] = links->before_start[j + 1] - links->before_start[j];
        if (missing[j] == 0) {
            order[used++] = j;
        }
    }
    for (int i = 0; i < used; i++) {
        for (int k = links->after_start[order[i]]; k < links->after_start[order[i] + 1]; k++) {
            if (--missing[links->after[k]] == 0) {
                order[used++] = links->after[k];
            }
        }
    }
    return used;
}
