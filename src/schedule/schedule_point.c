/* Points of the space of schedules: two knobs per job, its core and its priority (docs/bandwidth-model.md,
 * "Points and plans"). */
#include "schedule/schedule_parts.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PRIORITIES = 1 << 24 };

typedef struct LatencyOrder {
    const MerSchedule *schedule;
    int                last_key;
} LatencyOrder;

static bool is_slower(const void *context, int a, int b)
{
    const LatencyOrder *order = context;
    int                 units = order->schedule->unit_count;
    const double       *x = order->schedule->latency + (size_t)a * (size_t)units;
    const double       *y = order->schedule->latency + (size_t)b * (size_t)units;
    int                 key = units - 1;
    while (key >= order->last_key && x[key] == y[key]) {
        key--;
    }
    return key >= order->last_key && x[key] > y[key];
}

/* The order in which the search sees the jobs, which gives one-point crossovers their meaning: by latency on
 * the last core, then the one before, down to core `last_key`; ties keep the input order. */
const int *mer_schedule_sort(const MerSchedule *schedule, MerJobOrder order, MerArena *arena)
{
    LatencyOrder by_latency = {schedule, order == MER_ORDER_M3E ? 2 : 0};
    int         *sorted = mer_schedule_input_order(schedule->job_count, arena);
    if (order != MER_ORDER_INPUT) {
        mer_schedule_merge_sort(sorted, schedule->job_count, is_slower, &by_latency);
    }
    return sorted;
}

MerSpace mer_schedule_space(const MerSchedule *schedule, MerArena *arena)
{
    int      count = schedule->job_count;
    MerKnob *knobs = MER_ARRAY(arena, MerKnob, 2 * (size_t)count + 1);
    for (int i = 0; i < count; i++) {
        int         job = schedule->order[i];
        const char *name = schedule->job_names[job];
        const char *unit = mer_arena_format(arena, "unit.%s", name);
        const char *priority = mer_arena_format(arena, "priority.%s", name);
        knobs[i] = (MerKnob){unit, MER_KNOB_CATEGORY,    MER_ROLE_UNIT, -1, -1, job,
                             0,    schedule->unit_count, NULL};
        knobs[count + i] =
            (MerKnob){priority, MER_KNOB_RANK, MER_ROLE_PRIORITY, -1, -1, job, 1, PRIORITIES, NULL};
    }
    MerTable *tables = MER_ARRAY(arena, MerTable, 8);
    int       used = 0;
    double   *classes = MER_ARRAY(arena, double, schedule->unit_count);
    for (int u = 0; u < schedule->unit_count; u++) {
        classes[u] = schedule->unit_class[u];
    }
    tables[used++] = (MerTable){"latency", count, schedule->unit_count, schedule->latency};
    tables[used++] = (MerTable){"bandwidth", count, schedule->unit_count, schedule->rate};
    tables[used++] = (MerTable){"traffic", count, schedule->unit_count, schedule->traffic};
    if (schedule->energy) {
        tables[used++] = (MerTable){"energy", count, schedule->unit_count, schedule->energy};
    }
    tables[used++] = (MerTable){"release", count, 1, schedule->release};
    tables[used++] = (MerTable){"deadline", count, 1, schedule->deadline};
    tables[used++] = (MerTable){"weight", count, 1, schedule->weight};
    tables[used++] = (MerTable){"class", schedule->unit_count, 1, classes};
    return (MerSpace){2 * count, used, knobs, tables};
}

/* Stable, by six bits at a time from the last: linear however the priorities lie. `a` holds a priority in its
 * upper half and a place in its lower one; the sorted ones end up there. */
static void sort_by_priority(uint64_t *a, uint64_t *b, int count)
{
    enum { DIGITS = 4, VALUES = 64 };
    int first[DIGITS][VALUES] = {{0}};
    for (int i = 0; i < count; i++) {
        for (int d = 0; d < DIGITS; d++) {
            first[d][a[i] >> (32 + 6 * d) & (VALUES - 1)]++;
        }
    }
    for (int d = 0; d < DIGITS; d++) {
        int used = 0;
        for (int v = 0; v < VALUES; v++) {
            int length = first[d][v];
            first[d][v] = used;
            used += length;
        }
        for (int i = 0; i < count; i++) {
            b[first[d][a[i] >> (32 + 6 * d) & (VALUES - 1)]++] = a[i];
        }
        uint64_t *swap = a;
        a = b;
        b = swap;
    }
}

void mer_schedule_decode(const MerSchedule *schedule, const MerIndex *point, MerPlan *plan,
                         MerArena *arena)
{
    MerJobsPlan *jobs = MER_NEW(arena, MerJobsPlan);
    int          count = schedule->job_count;
    *plan = (MerPlan){&mer_plan_jobs, jobs};
    mer_schedule_new_plan(schedule, arena, jobs);
    int      *order = MER_ARRAY(arena, int, count + 1);
    uint64_t *sorted = MER_ARRAY(arena, uint64_t, 2 * (size_t)count + 1);
    for (int i = 0; i < count; i++) {
        jobs->unit[schedule->order[i]] = point[i];
        sorted[i] = (uint64_t)point[count + i] << 32 | (uint64_t)schedule->order[i];
    }
    sort_by_priority(sorted, sorted + count, count);
    for (int i = 0; i < count; i++) {
        order[i] = (int)(sorted[i] & UINT32_MAX);
    }
    mer_schedule_make_queues(order, jobs->unit, jobs);
}

/* Priorities are spread evenly over each queue. */
bool mer_schedule_encode(const MerProblem *problem, const MerPlan *plan, MerIndex *point)
{
    const MerSchedule *schedule = mer_schedule_of(problem);
    const MerJobsPlan *jobs = plan->content;
    int                count = schedule->job_count;
    if (plan->kind != &mer_plan_jobs || jobs->job_count != count ||
        jobs->unit_count != schedule->unit_count) {
        return false;
    }
    int *place = mer_heap_zeroed((size_t)count + 1, sizeof *place); /* knob of each job */
    for (int i = 0; i < count; i++) {
        place[schedule->order[i]] = i;
    }
    for (int u = 0; u < jobs->unit_count; u++) {
        int length = jobs->start[u + 1] - jobs->start[u];
        for (int i = 0; i < length; i++) {
            int knob = place[jobs->queue[jobs->start[u] + i]];
            point[knob] = u;
            point[count + knob] = (MerIndex)((double)PRIORITIES * (i + 0.5) / length);
        }
    }
    free(place);
    return true;
}

static int earliest_job(const MerJobsPlan *plan, int unit)
{
    int earliest = plan->job_count;
    for (int i = plan->start[unit]; i < plan->start[unit + 1]; i++) {
        earliest = plan->queue[i] < earliest ? plan->queue[i] : earliest;
    }
    return earliest;
}

/* Equal cores exchange their queues so that they come in the order of their smallest job. */
void mer_schedule_canonical(const MerProblem *problem, MerPlan *whole)
{
    const MerSchedule *schedule = mer_schedule_of(problem);
    MerJobsPlan       *plan = mer_jobs_plan(whole);
    int                units = plan->unit_count;
    int               *from = mer_heap_zeroed((size_t)(2 * units + 2 * plan->job_count + 1),
                                              sizeof *from); /* queue that a unit gets */
    int               *earliest = from + units;
    int               *unit = earliest + units;
    int               *queue = unit + plan->job_count;
    for (int u = 0; u < units; u++) {
        from[u] = u;
        earliest[u] = earliest_job(plan, u);
    }
    for (int a = 0; a < units; a++) {
        for (int b = a + 1; b < units; b++) {
            if (schedule->unit_class[a] == schedule->unit_class[b] &&
                earliest[from[b]] < earliest[from[a]]) {
                int swap = from[a];
                from[a] = from[b];
                from[b] = swap;
            }
        }
    }
    memcpy(queue, plan->queue, (size_t)plan->job_count * sizeof *queue);
    for (int u = 0; u < units; u++) {
        for (int i = plan->start[from[u]]; i < plan->start[from[u] + 1]; i++) {
            unit[queue[i]] = u;
        }
    }
    mer_schedule_make_queues(queue, unit, plan);
    free(from);
}
