/* What no schedule can beat (docs/bandwidth-model.md, "Bounds of schedules"): the longest job, the
 * critical path, and a linear relaxation solved with COIN-OR CLP, in which jobs are split over cores. With
 * proportional sharing the relaxation counts, in virtual time, the bytes by which single jobs exceed the
 * bandwidth, also for the core that runs a long job. A job that would take longer than the bound on some
 * core may not go there, even in part (after Lenstra, Shmoys and Tardos, 1990). CLP only proposes
 * multipliers; the bound is computed from them, so rounding cannot make it too high. In virtual time
 * schedule_bound_search.c goes on from there. */
#include "schedule/schedule.h"

#include "base/memory.h"
#include "mercator/arena.h"
#include "schedule/bound/schedule_bound.h"
#include "schedule/jobs/schedule_paths.h"

#include <Clp_C_Interface.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Events of a simulation are sums, rounded like those of the bounds. Half of what a gap may have and still be
 * a proof. */
static const double rounding = 5e-13;

typedef struct Multipliers { /* all >= 0 */
    double *core;            /* by class */
    double *job;             /* by row */
    double  bytes;
} Multipliers;

/* Weak duality: for any multipliers this is below every makespan that keeps to pairs with alone <= limit. */
static double dual_value(Relaxation *relaxation, const Multipliers *multipliers, double limit)
{
    double all = 0;
    for (int c = 0; c < relaxation->classes; c++) {
        all += relaxation->units[c] * multipliers->core[c];
    }
    for (int r = 0; r < relaxation->rows; r++) {
        all += multipliers->job[r];
    }
    double weight = all + multipliers->bytes;
    double sum = 0;
    for (int r = 0; r < relaxation->rows; r++) {
        double least = INFINITY;
        for (int c = 0; c < relaxation->classes; c++) {
            int    at = r * relaxation->classes + c;
            double own = multipliers->core[c] + multipliers->job[r] / relaxation->count[r];
            double cost = own * relaxation->load[at] + all * relaxation->excess[at] +
                          multipliers->bytes * relaxation->bytes[at];
            least = relaxation->alone[at] <= limit ? fmin(least, cost) : least;
        }
        sum += relaxation->count[r] * least;
        relaxation->row_price[r] = weight > 0 ? least / weight : 0;
    }
    return weight > 0 ? (sum - all * relaxation->free_switch) / weight : 0;
}

/* Columns are x[row][class], the excess E of all jobs, and the makespan T. Rows: every job once; what a core
 * class does; what the core does that runs a job (its load is at least that job's); bytes; E. */
static Clp_Simplex *load_model(const Relaxation *relaxation)
{
    int jobs = relaxation->rows;
    int classes = relaxation->classes;
    int columns = jobs * classes + 2;
    int rows = 2 * jobs + classes + 2;
    int core_row = jobs, job_row = jobs + classes, bytes_row = job_row + jobs,
        excess_row = bytes_row + 1;
    int           capacity = jobs * classes * 5 + 2 * rows;
    MerArena     *arena = relaxation->arena;
    CoinBigIndex *start = MER_ARRAY(arena, CoinBigIndex, columns + 1);
    int          *index = MER_ARRAY(arena, int, capacity);
    double       *value = MER_ARRAY(arena, double, capacity);
    double       *bounds = MER_ARRAY(arena, double, 3 * columns + 2 * rows);
    double       *lower = bounds, *upper = bounds + columns, *cost = upper + columns;
    double       *row_lower = cost + columns, *row_upper = row_lower + rows;
    int           used = 0;
    for (int r = 0; r < rows; r++) {
        row_lower[r] = row_upper[r] = r < jobs ? relaxation->count[r] : 0;
        row_lower[r] = r < jobs ? row_lower[r] : -INFINITY;
        if (r >= core_row && r < bytes_row) {
            double units = r < job_row ? relaxation->units[r - core_row] : 1;
            row_upper[r] = units * relaxation->free_switch / relaxation->scale;
        }
        bool is_job_row = r >= job_row && r < bytes_row;
        row_upper[r] = is_job_row && relaxation->is_published ? INFINITY : row_upper[r];
    }
    for (int at = 0; at < jobs * classes; at++) {
        int    r = at / classes;
        double load = relaxation->load[at] / relaxation->scale;
        const struct {
            int    row;
            double value;
        } entries[5] = {{r, 1},
                        {core_row + at % classes, load},
                        {job_row + r, load / relaxation->count[r]},
                        {bytes_row, relaxation->bytes[at] / relaxation->scale},
                        {excess_row, relaxation->excess[at] / relaxation->scale}};
        start[at] = used;
        upper[at] = relaxation->count[r];
        for (int e = 0; e < 5; e++) {
            index[used] = entries[e].row;
            value[used++] = entries[e].value;
        }
    }
    for (int column = 0; column < 2; column++) { /* E, then T */
        start[columns - 2 + column] = used;
        double sign = column == 0 ? 1 : -1;
        for (int r = core_row; r < bytes_row + column; r++) {
            index[used] = r;
            value[used++] = sign * (r < job_row ? relaxation->units[r - core_row] : 1);
        }
        if (column == 0) {
            index[used] = excess_row;
            value[used++] = -1;
        }
        upper[columns - 2 + column] = INFINITY;
    }
    start[columns] = used;
    cost[columns - 1] = 1;
    Clp_Simplex *model = Clp_newModel();
    Clp_setLogLevel(model, 0);
    Clp_loadProblem(model, columns, rows, start, index, value, lower, upper, cost, row_lower,
                    row_upper);
    return model;
}

/* The relaxation's value with only the pairs that are allowed at `limit`; INFINITY if a job has none. */
static double solve(Clp_Simplex *model, Relaxation *relaxation, double limit)
{
    int     jobs = relaxation->rows;
    int     classes = relaxation->classes;
    double *upper = Clp_columnUpper(model);
    for (int r = 0; r < jobs; r++) {
        bool is_possible = false;
        for (int c = 0; c < classes; c++) {
            bool is_allowed = relaxation->alone[r * classes + c] <= limit;
            upper[r * classes + c] = is_allowed ? relaxation->count[r] : 0;
            is_possible = is_possible || is_allowed;
        }
        if (!is_possible) {
            return INFINITY;
        }
    }
    Clp_dual(model, 0);
    const double *price = Clp_dualRowSolution(model);
    Multipliers   multipliers = {MER_ARRAY(relaxation->arena, double, classes),
                                 MER_ARRAY(relaxation->arena, double, jobs),
                                 fmax(0, -price[2 * jobs + classes])};
    for (int c = 0; c < classes; c++) {
        multipliers.core[c] = fmax(0, -price[jobs + c]);
    }
    for (int r = 0; r < jobs; r++) {
        multipliers.job[r] = fmax(0, -price[jobs + classes + r]);
    }
    return dual_value(relaxation, &multipliers, limit);
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The longest pair that a schedule uses is some pair of the table; the makespan is at least that pair's own
 * bound and the relaxation without longer ones. The least over all pairs holds whatever the schedule. */
static double bound_by_pairs(Clp_Simplex *model, Relaxation *relaxation)
{
    int     count = relaxation->rows * relaxation->classes;
    double *limits = MER_ARRAY(relaxation->arena, double, count + 1);
    memcpy(limits, relaxation->alone, (size_t)count * sizeof *limits);
    qsort(limits, (size_t)count, sizeof *limits, compare_reals);
    int    low = 0;
    int    high = count - 1; /* the first place where the pair itself is the larger of the two */
    double below = INFINITY;
    while (low < high && !mer_is_cancelled(relaxation->notes)) {
        int    middle = low + (high - low) / 2;
        double value = solve(model, relaxation, limits[middle]);
        if (limits[middle] >= value) {
            high = middle;
        } else {
            below = fmin(below, value);
            low = middle + 1;
        }
    }
    if (mer_is_cancelled(relaxation->notes)) {
        return 0;
    }
    double last = fmax(limits[low], solve(model, relaxation, limits[low]));
    return fmin(below, last);
}

/* What a job moves at least, wherever it runs, in cycles. */
static double least_bytes(const MerSchedule *schedule, int job)
{
    double least = INFINITY;
    for (int u = 0; u < schedule->unit_count; u++) {
        least = fmin(least, schedule->traffic[job * schedule->unit_count + u]);
    }
    return least / schedule->bandwidth;
}

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
        bytes += least_bytes(schedule, job);
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
static void raise_by_configurations(MerBound *bound, Clp_Simplex *model, Relaxation *relaxation)
{
    if (relaxation->is_virtual && model && !mer_is_cancelled(relaxation->notes)) {
        solve(model, relaxation, bound->value * (1 + 1e-9)); /* for the prices */
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
    MerBound     bound = {mer_relaxation_longest_job(&relaxation), "longest-job", ""};
    Clp_Simplex *model = mer_relaxation_is_large(&relaxation) ? NULL : load_model(&relaxation);
    double       relaxed = !model         ? mer_schedule_bound_by_prices(&relaxation, NULL)
                           : is_published ? solve(model, &relaxation, INFINITY)
                                          : bound_by_pairs(model, &relaxation);
    raise_bound(&bound, relaxed, "lp");
    if (schedule->has_dependencies || schedule->has_releases) {
        MerSchedulePaths paths = mer_schedule_paths(schedule, rules, relaxation.arena);
        double late = crowd(&least, rules, &paths, paths.head, paths.tail, relaxation.arena);
        double early = crowd(&least, rules, &paths, paths.tail, paths.head, relaxation.arena);
        raise_bound(&bound, critical_path(&paths, schedule->job_count), "critical-path");
        raise_bound(&bound, fmax(late, early), "heads-and-tails");
    }
    raise_by_configurations(&bound, model, &relaxation);
    if (model) {
        Clp_deleteModel(model);
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
    Clp_Simplex *model = load_model(relaxation);
    double bound = fmax(mer_relaxation_longest_job(relaxation), bound_by_pairs(model, relaxation));
    size_t count = (size_t)relaxation->rows * (size_t)relaxation->classes;
    solve(model, relaxation, bound * (1 + 1e-9));
    memcpy(parts, Clp_primalColumnSolution(model), count * sizeof *parts);
    Clp_deleteModel(model);
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
