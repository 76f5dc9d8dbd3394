/* Counting reasons, and remembering the miss that came nearest. */
#include "run/search/reasons.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_class(const MerReasonCount *known, const char *name, size_t length)
{
    return strlen(known->class_name) == length && memcmp(known->class_name, name, length) == 0;
}

static MerReasonCount *find(MerTaskResult *result, const char *name, size_t length)
{
    for (int r = 0; r < result->reason_count; r++) {
        MerReasonCount *known = &result->reasons[r];
        if (is_class(known, name, length)) {
            return known;
        }
    }
    if (result->reason_count == MER_MAX_REASONS) {
        return &result->reasons[MER_MAX_REASONS - 1];
    }
    MerReasonCount *added = &result->reasons[result->reason_count++];
    *added = (MerReasonCount){.excess = INFINITY};
    memcpy(added->class_name, name, length);
    return added;
}

static void add(MerTaskResult *result, const char *name, size_t length, int64_t count,
                const char *example, double excess)
{
    size_t          capacity = sizeof result->reasons[0].class_name - 1;
    MerReasonCount *entry = find(result, name, length < capacity ? length : capacity);
    entry->count += count;
    if (entry->nearest[0] == '\0' || excess < entry->excess) {
        snprintf(entry->nearest, sizeof entry->nearest, "%s", example);
        entry->excess = excess;
    }
}

static size_t class_length(const char *reason)
{
    size_t length = 0;
    while (reason[length] && reason[length] != ':') {
        length++;
    }
    return length;
}

void mer_reasons_count(MerTaskResult *result, const MerCost *cost)
{
    add(result, cost->reason, class_length(cost->reason), 1, cost->reason, mer_cost_excess(cost));
}

int mer_reasons_known(const MerTaskResult *result, const MerCost *cost)
{
    size_t length = class_length(cost->reason);
    for (int r = 0; r < result->reason_count; r++) {
        const MerReasonCount *known = &result->reasons[r];
        if (is_class(known, cost->reason, length)) {
            bool is_nearer = known->nearest[0] == '\0' || mer_cost_excess(cost) < known->excess;
            return is_nearer ? -1 : r;
        }
    }
    return -1;
}

void mer_reasons_merge(MerTaskResult *total, const MerTaskResult *part)
{
    for (int r = 0; r < part->reason_count; r++) {
        const MerReasonCount *from = &part->reasons[r];
        add(total, from->class_name, strlen(from->class_name), from->count, from->nearest,
            from->excess);
    }
}
