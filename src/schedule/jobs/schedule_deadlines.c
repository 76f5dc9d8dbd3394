/* Deadlines: what a schedule missed, and what every schedule must miss. A job cannot end before its release, or
 * the earliest ends of those it waits for, plus its time alone on its best core. */
#include "schedule/jobs/schedule_deadlines.h"

#include "base/key_table.h"
#include "mercator/text.h"
#include "schedule/jobs/schedule_paths.h"

#include <math.h>

bool mer_schedule_is_about_deadlines(MerMetric metric)
{
    return metric == MER_METRIC_MISS_RATE || metric == MER_METRIC_XR_SCORE ||
           metric == MER_METRIC_VIOLATIONS || metric == MER_METRIC_TARDINESS ||
           metric == MER_METRIC_LATENESS || metric == MER_METRIC_DROP_RATE;
}

int mer_schedule_requests_per_model(const MerSchedule *schedule)
{
    int most = 1;
    for (int j = 0; j < schedule->job_count; j++) {
        most = schedule->request[j] >= most ? schedule->request[j] + 1 : most;
    }
    return most;
}

const int *mer_schedule_number_requests(const MerSchedule *schedule, MerArena *arena)
{
    int        *numbers = MER_ARRAY(arena, int, schedule->job_count + 1);
    MerKeyTable known = {.arena = arena};
    int         count = 0;
    for (int j = 0; j < schedule->job_count; j++) {
        uint64_t of_model = mer_hash_int(MER_HASH_START, schedule->model[j]);
        uint64_t key = mer_hash_int(of_model, schedule->request[j]);
        numbers[j] = schedule->model[j] < 0 ? count : mer_key_table_add(&known, key, count);
        count += numbers[j] == count;
    }
    return numbers;
}

int mer_schedule_serve(const MerSchedule *schedule, const double *end, MerArena *arena,
                       MerServed **requests)
{
    MerServed *list = MER_ARRAY(arena, MerServed, schedule->job_count + 1);
    int        count = 0;
    for (int j = 0; j < schedule->job_count; j++) {
        int64_t model = schedule->model[j];
        if (schedule->request_number[j] == count) {
            list[count++] =
                (MerServed){.number = model < 0 ? -1 : model << 32 | schedule->request[j],
                            .job = j,
                            .weight = schedule->weight[j],
                            .release = INFINITY,
                            .deadline = INFINITY,
                            .late = -INFINITY};
        }
        MerServed *request = &list[schedule->request_number[j]];
        request->release = fmin(request->release, schedule->release[j]);
        request->deadline = fmin(request->deadline, schedule->deadline[j]);
        request->end = fmax(request->end, end[j]); /* skips NAN, as the next one does */
        request->late = fmax(request->late, end[j] - schedule->deadline[j]);
        request->is_due = request->deadline < INFINITY;
        request->is_dropped = request->is_dropped || isnan(end[j]);
    }
    *requests = list;
    return count;
}

void mer_schedule_fill_service(const MerServed *requests, int count, double clock_hz, MerCost *cost)
{
    double violations = 0, tardiness = 0, latest = NAN;
    int    due = 0, missed = 0, dropped = 0;
    for (int r = 0; r < count; r++) {
        const MerServed *request = &requests[r];
        due += request->is_due;
        missed += mer_served_is_missed(request);
        dropped += request->is_dropped;
        violations += mer_served_is_missed(request) ? request->weight : 0;
        if (request->is_due && !request->is_dropped) {
            latest = fmax(latest, request->late);
            tardiness += request->weight * fmax(0, request->late);
        }
    }
    cost->value[MER_METRIC_MISS_RATE] = due > 0 ? (double)missed / due : 0;
    cost->value[MER_METRIC_DROP_RATE] = count > 0 ? (double)dropped / count : 0;
    cost->value[MER_METRIC_VIOLATIONS] = violations;
    cost->value[MER_METRIC_TARDINESS] = tardiness / clock_hz;
    cost->value[MER_METRIC_LATENESS] = latest / clock_hz;
}

/* Cycles before which no job can end. A simulation rounds at every event, so these stay a little below. */
static const double *earliest_ends(const MerSchedule *schedule, const MerScheduleRules *rules,
                                   MerArena *arena)
{
    MerSchedulePaths paths = mer_schedule_paths(schedule, rules, arena);
    double           shave = 1 - 1e-15 * (schedule->job_count + 8);
    for (int j = 0; j < schedule->job_count; j++) {
        paths.head[j] = (paths.head[j] + paths.need[j]) * shave;
    }
    return paths.head;
}

MerBound mer_schedule_bound_lateness(const MerSchedule *schedule, const MerScheduleRules *rules,
                                     MerMetric metric)
{
    MerBound none = {NAN, "none", ""};
    if (metric == MER_METRIC_DROP_RATE) {
        return schedule->has_deadlines ? (MerBound){0, "zero", ""} : none;
    }
    if (!schedule->has_deadlines || metric == MER_METRIC_LATENESS) {
        return none; /* lateness may be negative, from where a gap has no meaning */
    }
    MerArena  *arena = mer_arena_new();
    MerServed *requests;
    MerCost    least;
    int        count =
        mer_schedule_serve(schedule, earliest_ends(schedule, rules, arena), arena, &requests);
    mer_schedule_fill_service(requests, count, schedule->clock_hz, &least);
    bool   is_tardiness = metric == MER_METRIC_TARDINESS; /* what is dropped is not tardy */
    double value = is_tardiness && rules->drops_jobs ? 0 : least.value[metric];
    mer_arena_free(arena);
    return isnan(value) ? none : (MerBound){value, value > 0 ? "earliest-ends" : "zero", ""};
}
