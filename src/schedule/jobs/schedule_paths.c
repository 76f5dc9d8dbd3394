/* Earliest starts and what must follow, along the dependencies, every job on its best core. */
#include "schedule/jobs/schedule_paths.h"

#include "schedule/jobs/job_links.h"

#include <math.h>

double mer_schedule_least_traffic(const MerSchedule *schedule, const MerScheduleRules *rules,
                                  int job, int unit)
{
    double traffic = schedule->traffic[job * schedule->unit_count + unit];
    double capacity = schedule->unit_bytes[unit];
    if (!rules->saves_traffic || !schedule->weight_bytes) {
        return traffic;
    }
    double saved = schedule->weight_bytes[job] <= capacity ? schedule->weight_bytes[job] : 0;
    for (int i = schedule->before_start[job]; i < schedule->before_start[job + 1]; i++) {
        double tensor = schedule->output_bytes[schedule->before[i]];
        saved += tensor <= capacity ? 2 * tensor : 0; /* neither written nor read */
    }
    return fmax(0, traffic - saved);
}

double mer_schedule_core_bandwidth(const MerSchedule *schedule, const MerScheduleRules *rules)
{
    return rules->is_even ? schedule->bandwidth / schedule->unit_count : schedule->bandwidth;
}

/* What a job needs at least, wherever it runs. */
static double least_cycles(const MerSchedule *schedule, const MerScheduleRules *rules, int job)
{
    double least = INFINITY;
    double bandwidth = mer_schedule_core_bandwidth(schedule, rules);
    for (int u = 0; u < schedule->unit_count; u++) {
        int    at = job * schedule->unit_count + u;
        double bytes = mer_schedule_least_traffic(schedule, rules, job, u) / bandwidth;
        least = fmin(least, fmax(schedule->latency[at], bytes));
    }
    return least;
}

MerSchedulePaths mer_schedule_paths(const MerSchedule *schedule, const MerScheduleRules *rules,
                                    MerArena *arena)
{
    int              count = schedule->job_count;
    int             *queue = MER_ARRAY(arena, int, count + 1);
    int             *missing = MER_ARRAY(arena, int, count + 1);
    MerJobLinks      links = {schedule->before_start, schedule->before, schedule->after_start,
                              schedule->after};
    MerSchedulePaths paths = {MER_ARRAY(arena, double, count + 1),
                              MER_ARRAY(arena, double, count + 1),
                              MER_ARRAY(arena, double, count + 1)};
    for (int j = 0; j < count; j++) {
        paths.need[j] = least_cycles(schedule, rules, j);
        paths.head[j] = schedule->release[j];
        paths.tail[j] = 0;
    }
    int used = mer_job_order(&links, count, missing, queue);
    for (int i = 0; i < used; i++) {
        int job = queue[i];
        for (int k = schedule->after_start[job]; k < schedule->after_start[job + 1]; k++) {
            int next = schedule->after[k];
            paths.head[next] = fmax(paths.head[next], paths.head[job] + paths.need[job]);
        }
    }
    for (int i = used - 1; i >= 0; i--) {
        int job = queue[i];
        for (int k = schedule->after_start[job]; k < schedule->after_start[job + 1]; k++) {
            int next = schedule->after[k];
            paths.tail[job] = fmax(paths.tail[job], paths.tail[next] + paths.need[next]);
        }
    }
    return paths;
}
