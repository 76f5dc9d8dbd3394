/* `--warm LOG`: schedules of a log of AutoTVM as points of the task at hand. */
#include "codesign/codesign.h"
#include "codesign/records/vta_records.h"

#include <stdlib.h>
#include <string.h>

typedef struct Found {
    double   seconds;
    int64_t  index;
    MerIndex point[MER_VTA_KNOBS];
} Found;

static int by_seconds(const void *a, const void *b)
{
    const Found *x = a, *y = b;
    if (x->seconds != y->seconds) {
        return x->seconds < y->seconds ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

/* The same layer, as the record's core sees both. */
static bool is_of(const MerCodesignTask *task, const MerVtaRecord *record)
{
    MerVtaShape        shape;
    const MerVtaShape *other = &record->task.shape;
    mer_vta_shape_make(task->op, task->images, &record->task.core, &shape);
    shape.repeat = 1;
    return memcmp(&shape, other, sizeof shape) == 0;
}

/* What the user should know of the log as a whole. */
static const char *describe(const char *path, const MerVtaRecords *records, double clock_hz,
                            MerArena *arena)
{
    const MerVtaRecord *fast = NULL;
    int64_t             fast_count = 0, failed = 0;
    const char         *text = "";
    for (int r = records->count - 1; r >= 0; r--) {
        const MerVtaRecord *record = &records->list[r];
        bool                is_fast = mer_vta_record_beats_peak(record, clock_hz);
        failed += record->error != 0;
        fast_count += is_fast;
        fast = is_fast ? record : fast;
    }
    if (records->damaged > 0) {
        text = mer_arena_format(arena, "%s, %lld damaged lines, line %lld first", text,
                                (long long)records->damaged, (long long)records->first_damaged);
    }
    if (records->unknown > 0) {
        text = mer_arena_format(arena, "%s, %lld of other tasks or machines skipped", text,
                                (long long)records->unknown);
    }
    if (failed > 0) {
        text = mer_arena_format(arena, "%s, %lld that failed skipped", text, (long long)failed);
    }
    if (fast) {
        double most = 2.0 * (double)mer_vta_core_macs(&fast->task.core);
        text = mer_arena_format(
            arena, "%s, %lld above the peak of their machine (record %lld: %.4g of %.4g Gop/s)",
            text, (long long)fast_count, (long long)fast->index + 1,
            1e-9 * most * mer_vta_record_products(fast) / fast->seconds, 1e-9 * most * clock_hz);
    }
    return *text ? mer_arena_format(arena, "%s: %lld records%s", path,
                                    (long long)records->line_count, text)
                 : NULL;
}

MerStatus mer_codesign_read_log(const MerProblem *problem, const char *path, MerIndex **points,
                                int *count, const char **remark, MerArena *arena, MerError *error)
{
    const MerCodesignTask *task = mer_codesign_task(problem);
    int                    knobs = problem->space.knob_count, found_count = 0;
    MerVtaRecords          records;
    if (!task) {
        return mer_error_set(error, MER_UNSUPPORTED, "logs of AutoTVM hold plans of kind vta");
    }
    MER_TRY(mer_vta_records_read(path, &task->usual, NULL, &records, arena, error));
    Found *found = MER_ARRAY(arena, Found, records.count + 1);
    for (int r = 0; r < records.count; r++) {
        const MerVtaRecord *record = &records.list[r];
        MerVtaPlan          plan = {record->task.core, record->schedule};
        Found              *next = &found[found_count];
        if (record->error == 0 && is_of(task, record) &&
            problem->type->encode(problem, &(MerPlan){&mer_plan_vta, &plan}, next->point)) {
            next->seconds = record->seconds;
            next->index = record->index;
            found_count++;
        }
    }
    qsort(found, (size_t)found_count, sizeof *found, by_seconds);
    *points = MER_ARRAY(arena, MerIndex, (size_t)found_count * (size_t)knobs + 1);
    *count = 0;
    for (int f = 0; f < found_count; f++) {
        bool is_new = true;
        for (int p = 0; p < *count && is_new; p++) {
            is_new = memcmp(*points + (size_t)p * (size_t)knobs, found[f].point,
                            (size_t)knobs * sizeof **points) != 0;
        }
        if (is_new) {
            memcpy(*points + (size_t)*count * (size_t)knobs, found[f].point,
                   (size_t)knobs * sizeof **points);
            (*count)++;
        }
    }
    *remark = describe(path, &records, problem->platform->clock_hz, arena);
    return MER_OK;
}
