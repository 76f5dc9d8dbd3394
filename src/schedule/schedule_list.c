/* List scheduling on no-stall latencies. Ties go to the lowest core and the earlier job. */
#include "schedule/schedule_list.h"

#include <math.h>

double mer_schedule_least(const double *values, int count)
{
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        least = fmin(least, values[i]);
    }
    return least;
}

int mer_schedule_smallest(const double *values, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++) {
        best = values[i] < values[best] ? i : best;
    }
    return best;
}

/* By merging runs of doubling length. */
void mer_schedule_merge_sort(int *jobs, int count, MerJobCompare *is_after, const void *context)
{
    MerArena *scratch = mer_arena_new();
    int      *from = jobs;
    int      *to = MER_ARRAY(scratch, int, count + 1);
    for (int width = 1; width < count; width *= 2) {
        for (int first = 0; first < count; first += 2 * width) {
            int a = first;
            int middle = first + width < count ? first + width : count;
            int b = middle;
            int end = first + 2 * width < count ? first + 2 * width : count;
            for (int at = first; at < end; at++) {
                bool takes_a = a < middle && (b == end || !is_after(context, from[a], from[b]));
                to[at] = takes_a ? from[a++] : from[b++];
            }
        }
        int *swap = from;
        from = to;
        to = swap;
    }
    for (int i = 0; i < count && from != jobs; i++) {
        jobs[i] = from[i];
    }
    mer_arena_free(scratch);
}

static bool has_larger_key(const void *key, int a, int b)
{
    return !(((const double *)key)[a] <= ((const double *)key)[b]);
}

int *mer_schedule_input_order(int count, MerArena *arena)
{
    int *jobs = MER_ARRAY(arena, int, count + 1);
    for (int j = 0; j < count; j++) {
        jobs[j] = j;
    }
    return jobs;
}

const int *mer_schedule_sorted(const double *key, int count, MerArena *arena)
{
    int *jobs = mer_schedule_input_order(count, arena);
    mer_schedule_merge_sort(jobs, count, has_larger_key, key);
    return jobs;
}

/* What jobs are sorted by, rising; equal ones stay as they are. `seen`: jobs so far of each model, single ones as
 * a model of their own. */
static double key_of(const MerSchedule *schedule, int order, int job, int *seen)
{
    double sum = 0;
    switch (order) {
    case MER_LIST_LONGEST:
        return -mer_schedule_shortest(schedule, job);
    case MER_LIST_SHORTEST:
        for (int u = 0; u < schedule->unit_count; u++) {
            sum += schedule->latency[job * schedule->unit_count + u];
        }
        return sum / schedule->unit_count;
    case MER_LIST_DEADLINE:
        return schedule->deadline[job];
    case MER_LIST_ROUND_ROBIN:
        return seen[schedule->model[job] + 1]++;
    default:
        return 0;
    }
}

static const int *make_order(const MerSchedule *schedule, const MerListOptions *options,
                             MerArena *arena)
{
    int     count = schedule->job_count;
    double *key = MER_ARRAY(arena, double, count + 1);
    int    *seen = MER_ARRAY(arena, int, schedule->model_count + 2);
    if (options->order == MER_LIST_RANDOM) {
        int *jobs = mer_schedule_input_order(count, arena);
        mer_rng_shuffle(options->rng, jobs, count);
        return jobs;
    }
    for (int j = 0; j < count; j++) {
        key[j] = key_of(schedule, options->order, j, seen);
    }
    return mer_schedule_sorted(key, count, arena);
}

/* Where the job ends first, among the units of its own group if it has one. */
static int least_completion(const MerListOptions *options, int job, const double *load,
                            const double *latency, int units)
{
    int best = -1;
    for (int u = 0; u < units; u++) {
        bool is_allowed = !options->group || options->group_of_unit[u] == options->group[job];
        if (is_allowed && (best < 0 || load[u] + latency[u] < load[best] + latency[best])) {
            best = u;
        }
    }
    return best;
}

/* Where the job ends first, unless that drives the loads apart: then where they are lightest, if not too slow. */
static int balanced(const MerListOptions *options, int chosen, const double *load,
                    const double *latency, int units)
{
    double least = INFINITY, most = 0;
    for (int u = 0; u < units; u++) {
        double after = load[u] + (u == chosen ? latency[u] : 0);
        least = fmin(least, after);
        most = fmax(most, after);
    }
    double quickest = mer_schedule_least(latency, units);
    int    lightest = chosen;
    for (int u = 0; u < units && most > options->imbalance * least; u++) {
        if (latency[u] <= options->slowdown * quickest && load[u] < load[lightest]) {
            lightest = u;
        }
    }
    return lightest;
}

static int choose_unit(const MerSchedule *schedule, const MerListOptions *options, int position,
                       int job, const double *load)
{
    int           units = schedule->unit_count;
    const double *latency = schedule->latency + (size_t)job * (size_t)units;
    int           soonest = least_completion(options, job, load, latency, units);
    switch (options->rule) {
    case MER_LIST_LEAST_LOADED:
        return mer_schedule_smallest(load, units);
    case MER_LIST_ROBIN:
        return position % units;
    case MER_LIST_MIN_EXECUTION:
        return mer_schedule_smallest(latency, units);
    case MER_LIST_ANY:
        return mer_rng_below(options->rng, units);
    case MER_LIST_BALANCED:
        return balanced(options, soonest, load, latency, units);
    default:
        return soonest;
    }
}

void mer_schedule_make_queues(const int *order, const int *unit, MerJobsPlan *plan)
{
    for (int u = 0; u <= plan->unit_count; u++) {
        plan->start[u] = 0;
    }
    for (int j = 0; j < plan->job_count; j++) {
        plan->start[unit[j] + 1]++;
        plan->unit[j] = unit[j];
    }
    for (int u = 0; u < plan->unit_count; u++) {
        plan->start[u + 1] += plan->start[u];
    }
    for (int i = 0; i < plan->job_count;
         i++) { /* start[u] serves as the place to fill, then moves back */
        plan->queue[plan->start[unit[order[i]]]++] = order[i];
    }
    for (int u = plan->unit_count; u > 0; u--) {
        plan->start[u] = plan->start[u - 1];
    }
    plan->start[0] = 0;
}

void mer_schedule_new_plan(const MerSchedule *schedule, MerArena *arena, MerJobsPlan *plan)
{
    *plan = (MerJobsPlan){schedule->job_count, schedule->unit_count,
                          MER_ARRAY(arena, int, schedule->job_count + 1),
                          MER_ARRAY(arena, int, schedule->job_count + 1),
                          MER_ARRAY(arena, int, schedule->unit_count + 1)};
}

void mer_schedule_list(const MerSchedule *schedule, const MerListOptions *options, MerArena *arena,
                       MerJobsPlan *plan)
{
    const int *order = make_order(schedule, options, arena);
    int       *unit = MER_ARRAY(arena, int, schedule->job_count + 1);
    double    *load = MER_ARRAY(arena, double, schedule->unit_count + 1);
    mer_schedule_new_plan(schedule, arena, plan);
    for (int i = 0; i < schedule->job_count; i++) {
        int job = order[i];
        unit[job] = choose_unit(schedule, options, i, job, load);
        load[unit[job]] += schedule->latency[job * schedule->unit_count + unit[job]];
    }
    mer_schedule_make_queues(order, unit, plan);
}
