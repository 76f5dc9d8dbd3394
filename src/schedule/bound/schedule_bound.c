/* What no schedule can beat (docs/bandwidth-model.md, "Bounds of schedules"): the longest job, the critical path, what many jobs that start
 * late or end early share, and relaxations of the whole. schedule_bound.h says where these are. */
#include "schedule/schedule.h"

#include "schedule/bound/schedule_bound.h"
#include "schedule/jobs/schedule_paths.h"

#include <math.h>
#include <string.h>

/* Events of a simulation are sums, rounded like those of the bounds. Half of what a gap may have and still be
 * a proof. */
static const double rounding = 5e-13;

/* The longest way through the dependencies, every job on its best core, from its release on. */
static double critical_path(const MerSchedulePaths *paths, int count)
{
    double longest = 0;
    for (int j = 0; j < count; j++) {
        longest = fmax(longest, paths->head[j] + paths->need[j] + paths->tail[j]);
    }
    return longest;
}

/* All jobs that start late, or all that must be followed by much, share the cores and the bandwidth in what is
 * left of the time. `key` is the head or the tail that they have at least, `other` the one of which the least
 * counts. */
static double crowd(const MerSchedule *schedule, const MerScheduleRules *rules,
                    const MerSchedulePaths *paths, const double *key, const double *other,
                    MerArena *arena)
{
    const int *order = mer_schedule_sorted(key, schedule->job_count, arena);
    double     cycles = 0, bytes = 0;
    double     least_other = INFINITY;
    double     bound = 0;
    for (int i = schedule->job_count - 1; i >= 0; i--) {
        int job = order[i];
        cycles += (paths->need[job] + rules->switch_cycles) / schedule->unit_count;
        bytes += mer_schedule_least(schedule->traffic + job * schedule->unit_count,
                                    schedule->unit_count) /
                 schedule->bandwidth;
        least_other = fmin(least_other, other[job]);
        double work = fmax(cycles - rules->switch_cycles, bytes);
        bound = fmax(bound, key[job] + work + least_other);
    }
    return bound;
}

/* The schedule with the bytes that each job moves at least, for the bounds to read. */
static MerSchedule with_least_traffic(const MerSchedule *schedule, const MerScheduleRules *rules,
                                      MerArena *arena)
{
    MerSchedule least = *schedule;
    if (rules->saves_traffic) {
        int     units = schedule->unit_count;
        double *traffic = MER_ARRAY(arena, double, (size_t)schedule->job_count *(size_t)units + 1);
        for (int at = 0; at < schedule->job_count * units; at++) {
            traffic[at] = mer_schedule_least_traffic(schedule, rules, at / units, at % units);
        }
        least.traffic = traffic;
    }
    return least;
}

static void raise_bound(MerBound *bound, double value, const char *kind)
{
    if (value * (1 - rounding) > bound->value) {
        *bound = (MerBound){value, kind, ""};
    }
}

/* "configurations", from the prices of the best limit so far. */
static void raise_by_configurations(MerBound *bound, SplitProgram *program,
                                    const Relaxation *relaxation)
{
    if (relaxation->is_virtual && program && !mer_is_cancelled(relaxation->notes)) {
        mer_split_solve(program, bound->value * (1 + 1e-9)); /* for the prices */
        raise_bound(bound, mer_schedule_bound_by_configurations(relaxation, bound->value),
                    "configurations");
    }
}

MerBound mer_schedule_bound(const MerSchedule *schedule, const MerScheduleRules *rules,
                            bool is_published, MerNotes *notes)
{
    Relaxation  relaxation = {.arena = mer_arena_new(), .notes = notes};
    MerSchedule least = with_least_traffic(schedule, rules, relaxation.arena);
    mer_relaxation_build(&least, rules, is_published, &relaxation);
    MerBound      bound = {mer_relaxation_longest_job(&relaxation), "longest-job", ""};
    bool          is_large = mer_relaxation_is_large(&relaxation);
    SplitProgram *program = is_large ? NULL : mer_split_begin(&relaxation);
    double        relaxed = is_large       ? mer_schedule_bound_by_prices(&relaxation, NULL)
                            : is_published ? mer_split_solve(program, INFINITY)
                                           : mer_split_bound(program);
    raise_bound(&bound, relaxed, "lp");
    if (schedule->has_dependencies || schedule->has_releases) {
        MerSchedulePaths paths = mer_schedule_paths(schedule, rules, relaxation.arena);
        double late = crowd(&least, rules, &paths, paths.head, paths.tail, relaxation.arena);
        double early = crowd(&least, rules, &paths, paths.tail, paths.head, relaxation.arena);
        raise_bound(&bound, critical_path(&paths, schedule->job_count), "critical-path");
        raise_bound(&bound, fmax(late, early), "heads-and-tails");
    }
    raise_by_configurations(&bound, program, &relaxation);
    if (program) {
        mer_split_end(program);
    }
    mer_arena_free(relaxation.arena);
    bound.value *= 1 - rounding;
    return bound;
}

/* Jobs of a row are shared out over classes by the relaxation's parts, the largest remainders last. */
static int next_class(double *parts, int classes)
{
    int largest = 0;
    for (int c = 1; c < classes; c++) {
        largest = parts[c] > parts[largest] ? c : largest;
    }
    parts[largest] -= 1;
    return largest;
}

/* Jobs of each row by class, in parts. */
static void read_program(Relaxation *relaxation, double *parts)
{
    SplitProgram *program = mer_split_begin(relaxation);
    double        bound = fmax(mer_relaxation_longest_job(relaxation), mer_split_bound(program));
    size_t        count = (size_t)relaxation->rows * (size_t)relaxation->classes;
    mer_split_solve(program, bound * (1 + 1e-9));
    memcpy(parts, mer_split_parts(program), count * sizeof *parts);
    mer_split_end(program);
}

void mer_schedule_round(const MerSchedule *schedule, const MerScheduleRules *rules, int *group,
                        int *group_of_unit, MerNotes *notes)
{
    Relaxation  relaxation = {.arena = mer_arena_new(), .notes = notes};
    MerSchedule least = with_least_traffic(schedule, rules, relaxation.arena);
    mer_relaxation_build(&least, rules, false, &relaxation);
    size_t  count = (size_t)relaxation.rows * (size_t)relaxation.classes;
    double *parts = MER_ARRAY(relaxation.arena, double, count + 1);
    if (mer_relaxation_is_large(&relaxation)) {
        mer_schedule_bound_by_prices(&relaxation, parts);
    } else {
        read_program(&relaxation, parts);
    }
    for (int j = 0; j < schedule->job_count; j++) {
        group[j] = next_class(parts + (size_t)relaxation.row_of_job[j] * (size_t)relaxation.classes,
                              relaxation.classes);
    }
    memcpy(group_of_unit, relaxation.class_of_unit,
           (size_t)schedule->unit_count * sizeof *group_of_unit);
    mer_arena_free(relaxation.arena);
}
