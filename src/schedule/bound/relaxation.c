/* The relaxation behind the bounds of schedules: equal jobs and equal cores merged, and what each pair of
 * the two takes of a core, of all cores and of the bandwidth (docs/bandwidth-model.md, "Bounds of
 * schedules"). */
#include "schedule/bound/schedule_bound.h"

#include "base/key_table.h"
#include "mercator/text.h"
#include "schedule/jobs/schedule_paths.h"

#include <math.h>
#include <string.h>

static bool is_equal_job(const MerSchedule *schedule, int a, int b)
{
    size_t units = (size_t)schedule->unit_count;
    size_t size = units * sizeof(double);
    return memcmp(schedule->latency + (size_t)a * units, schedule->latency + (size_t)b * units,
                  size) == 0 &&
           memcmp(schedule->traffic + (size_t)a * units, schedule->traffic + (size_t)b * units,
                  size) == 0;
}

static bool is_equal_unit(const MerSchedule *schedule, int a, int b)
{
    for (int j = 0; j < schedule->job_count; j++) {
        int at = j * schedule->unit_count;
        if (schedule->latency[at + a] != schedule->latency[at + b] ||
            schedule->traffic[at + a] != schedule->traffic[at + b]) {
            return false;
        }
    }
    return true;
}

/* The row of each job, equal ones the same; their number. */
static int merge_jobs(const MerSchedule *schedule, int *row_of_job, MerArena *arena)
{
    MerKeyTable known = {.arena = arena};
    int        *first = MER_ARRAY(arena, int, schedule->job_count + 1);
    size_t      units = (size_t)schedule->unit_count;
    size_t      size = units * sizeof(double);
    int         rows = 0;
    for (int j = 0; j < schedule->job_count; j++) {
        uint64_t key = mer_hash_bytes(MER_HASH_START, schedule->latency + (size_t)j * units, size);
        key = mer_hash_bytes(key, schedule->traffic + (size_t)j * units, size);
        int row = mer_key_table_add(&known, key, rows);
        while (row < rows && !is_equal_job(schedule, first[row], j)) {
            key = mer_hash_int(key, 1);
            row = mer_key_table_add(&known, key, rows);
        }
        if (row == rows) {
            first[rows++] = j;
        }
        row_of_job[j] = row;
    }
    return rows;
}

static int merge_units(const MerSchedule *schedule, int *class_of_unit)
{
    int classes = 0;
    for (int u = 0; u < schedule->unit_count; u++) {
        int equal = 0;
        while (!is_equal_unit(schedule, equal, u)) { /* which it is to itself */
            equal++;
        }
        class_of_unit[u] = equal < u ? class_of_unit[equal] : classes++;
    }
    return classes;
}

/* The first item of each kind, and how many there are. */
static int *count_merged(const int *kind_of, int items, int *count, MerArena *arena)
{
    int *first = MER_ARRAY(arena, int, items + 1);
    for (int i = items - 1; i >= 0; i--) {
        first[kind_of[i]] = i;
        count[kind_of[i]]++;
    }
    return first;
}

static void fill_alone(Relaxation *relaxation)
{
    double  least = 0; /* excess of all jobs, each where it is smallest */
    int     classes = relaxation->classes;
    double *own = MER_ARRAY(relaxation->arena, double, relaxation->rows + 1);
    for (int r = 0; r < relaxation->rows; r++) {
        own[r] = mer_schedule_least(relaxation->excess + r * classes, classes);
        least += relaxation->count[r] * own[r];
    }
    for (int r = 0; r < relaxation->rows; r++) {
        for (int c = 0; c < classes; c++) {
            int    at = r * classes + c;
            double others = relaxation->is_virtual ? least - own[r] : 0;
            double cycles = relaxation->load[at] - relaxation->free_switch;
            relaxation->alone[at] =
                fmax(cycles + relaxation->excess[at] + others, relaxation->bytes[at]);
        }
    }
}

/* Whether all running jobs slow down alike. One that moves no bytes is never slowed down, so that the excess of
 * the others does not stretch its core. */
static bool has_virtual_time(const MerSchedule *schedule, const MerScheduleRules *rules)
{
    for (int i = 0; i < schedule->job_count * schedule->unit_count; i++) {
        if (schedule->rate[i] <= 0) {
            return false;
        }
    }
    return rules->is_proportional && !schedule->has_releases && !rules->saves_traffic &&
           rules->switch_cycles == 0;
}

void mer_relaxation_build(const MerSchedule *schedule, const MerScheduleRules *rules,
                          bool is_published, Relaxation *relaxation)
{
    MerArena *arena = relaxation->arena;
    relaxation->count = MER_ARRAY(arena, int, schedule->job_count + 1);
    relaxation->units = MER_ARRAY(arena, int, schedule->unit_count + 1);
    relaxation->row_of_job = MER_ARRAY(arena, int, schedule->job_count + 1);
    relaxation->class_of_unit = MER_ARRAY(arena, int, schedule->unit_count + 1);
    relaxation->rows = merge_jobs(schedule, relaxation->row_of_job, arena);
    relaxation->classes = merge_units(schedule, relaxation->class_of_unit);
    const int *row_first =
        count_merged(relaxation->row_of_job, schedule->job_count, relaxation->count, arena);
    const int *class_first =
        count_merged(relaxation->class_of_unit, schedule->unit_count, relaxation->units, arena);
    size_t size = (size_t)relaxation->rows * (size_t)relaxation->classes + 1;
    relaxation->load = MER_ARRAY(arena, double, size);
    relaxation->excess = MER_ARRAY(arena, double, size);
    relaxation->bytes = MER_ARRAY(arena, double, size);
    relaxation->need = MER_ARRAY(arena, double, size);
    relaxation->alone = MER_ARRAY(arena, double, size);
    relaxation->row_price = MER_ARRAY(arena, double, relaxation->rows + 1);
    bool is_virtual = !is_published && has_virtual_time(schedule, rules);
    relaxation->is_virtual = is_virtual;
    relaxation->is_published = is_published;
    relaxation->free_switch = is_published ? 0 : rules->switch_cycles;
    relaxation->scale = 0;
    double part = schedule->bandwidth / mer_schedule_core_bandwidth(schedule, rules);
    for (int r = 0; r < relaxation->rows; r++) {
        double least = INFINITY;
        for (int c = 0; c < relaxation->classes; c++) {
            int    at = r * relaxation->classes + c;
            int    from = row_first[r] * schedule->unit_count + class_first[c];
            double bytes = schedule->traffic[from] / schedule->bandwidth;
            double latency = schedule->latency[from];
            least = fmin(least, latency);
            relaxation->bytes[at] = bytes;
            relaxation->excess[at] =
                is_virtual ? latency * fmax(0, schedule->rate[from] / schedule->bandwidth - 1) : 0;
            relaxation->load[at] =
                is_virtual || is_published ? latency : fmax(latency, bytes * part);
            relaxation->load[at] += relaxation->free_switch;
            relaxation->need[at] = bytes / relaxation->load[at];
        }
        relaxation->scale += relaxation->count[r] * least;
    }
    fill_alone(relaxation);
}

double mer_relaxation_longest_job(const Relaxation *relaxation)
{
    double longest = 0;
    for (int r = 0; r < relaxation->rows; r++) {
        longest = fmax(longest, mer_schedule_least(relaxation->alone + r * relaxation->classes,
                                                   relaxation->classes));
    }
    return longest;
}
