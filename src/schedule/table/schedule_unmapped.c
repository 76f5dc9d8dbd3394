/* Layers that the published model cannot map on some core: lists of independent jobs go on without them. */
#include "schedule/table/layer_pricer.h"
#include "schedule/table/schedule_table.h"

static bool is_mapped(const MerOp *op, const MerPlatform *platform, MerFlexible flexible)
{
    bool is_mapped = true;
    for (int u = 0; u < platform->unit_count && is_mapped; u++) {
        const MerUnit   *unit = &platform->units[u];
        bool             is_known = u > 0 && unit->class_index == unit[-1].class_index;
        MerJobTableEntry entry;
        is_mapped =
            is_known || mer_core_pricer.price(op, unit, platform->word_bits, MER_PRICE_COMPAT,
                                              flexible, &entry, NULL) != MER_UNSUPPORTED;
    }
    return is_mapped;
}

const char *mer_schedule_leave_unmapped(const MerGraph *graph, const MerPlatform *platform,
                                        MerFlexible flexible, MerArena *arena,
                                        const MerJobSet **set)
{
    const MerJobSet *all = *set;
    MerJob          *jobs = MER_ARRAY(arena, MerJob, all->job_count + 1);
    const char      *first = NULL;
    int              count = 0;
    for (int j = 0; j < all->job_count; j++) {
        const MerJob *job = &all->jobs[j];
        if (job->model >= 0 || job->after_count > 0) {
            return NULL;
        }
        MerOp op = mer_job_op(graph, job);
        if (is_mapped(&op, platform, flexible)) {
            jobs[count++] = *job;
        } else {
            first = first ? first : job->name;
        }
    }
    if (!first || count == 0) {
        return NULL;
    }
    *set = mer_job_set_with(all, jobs, count, arena);
    return mer_arena_format(arena,
                            "m3e-compat has no mapping for %d of %d layers (%s, ...) on some core: "
                            "they are left out; --table own has one for all",
                            all->job_count - count, all->job_count, first);
}
