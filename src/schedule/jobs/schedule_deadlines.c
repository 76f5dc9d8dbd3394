/* Deadlines: what a schedule missed, and what every schedule must miss. A job cannot end before its release, or
 * the earliest ends of those it waits for, plus its time alone on its best core. */
#include "schedule/jobs/schedule_deadlines.h"

#include "base/key_table.h"
#include "base/text.h"
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

double mer_schedule_miss_rate(const MerSchedule *schedule, const double *end, MerArena *scratch)
{
    unsigned char *seen = MER_ARRAY(scratch, unsigned char, schedule->job_count + 1);
    int            all = 0;
    int            missed = 0;
    for (int j = 0; j < schedule->job_count; j++) {
        if (!(schedule->deadline[j] < INFINITY)) {
            continue;
        }
        unsigned char *known = &seen[schedule->request_number[j]];     /* 1: in time, 2: missed */
        bool           is_missed = !(end[j] <= schedule->deadline[j]); /* NAN: never ended */
        all += *known == 0;
        missed += is_missed && *known < 2;
        *known = is_missed ? 2 : *known == 0 ? 1 : *known;
    }
    return all > 0 ? (double)missed / all : 0;
}

MerLateness mer_schedule_lateness(const MerSchedule *schedule, const double *end)
{
    MerLateness sum = {0, 0, -INFINITY};
    for (int j = 0; j < schedule->job_count; j++) {
        double late = end[j] - schedule->deadline[j];
        if (schedule->deadline[j] < INFINITY && isnan(end[j])) {
            sum.violations += schedule->weight[j];
        } else if (schedule->deadline[j] < INFINITY) {
            sum.latest = fmax(sum.latest, late);
            sum.tardiness += schedule->weight[j] * fmax(0, late);
            sum.violations += late > 0 ? schedule->weight[j] : 0;
        }
    }
    return sum;
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
    MerArena     *arena = mer_arena_new();
    const double *end = earliest_ends(schedule, rules, arena);
    MerLateness   least = mer_schedule_lateness(schedule, end);
    double value = metric == MER_METRIC_MISS_RATE    ? mer_schedule_miss_rate(schedule, end, arena)
                   : metric == MER_METRIC_VIOLATIONS ? least.violations
                   : rules->drops_jobs               ? 0 /* what is dropped is not tardy */
                                                     : least.tardiness / schedule->clock_hz;
    mer_arena_free(arena);
    return isnan(value) ? none : (MerBound){value, value > 0 ? "earliest-ends" : "zero", ""};
}
