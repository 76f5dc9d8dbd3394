/* What adds up over groups in a way of its own: requests whose layers are in several groups count once, and shares
 * weigh by what they are shares of. */
#include "schedule/cost/bandwidth.h"
#include "schedule/schedule_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct RequestCount { /* with a deadline */
    int64_t all, missed;
} RequestCount;

/* Parts of a request stand together, a missed one first. */
static int by_number(const void *a, const void *b)
{
    const MerServed *x = a;
    const MerServed *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : y->is_missed - x->is_missed;
}

/* Of groups first .. last - 1, all with a plan. */
static RequestCount count_requests(const MerWhole *whole, int first, int last)
{
    MerArena    *arena = mer_arena_new();
    MerServed  **lists = MER_ARRAY(arena, MerServed *, last - first + 1);
    int         *counts = MER_ARRAY(arena, int, last - first + 1);
    RequestCount sum = {0, 0};
    size_t       total = 0;
    for (int t = first; t < last; t++) {
        const MerBandwidthState *state = mer_bandwidth_state(whole->parts[t].evaluator);
        if (state) {
            counts[t - first] =
                mer_bandwidth_requests(state, whole->parts[t].plan, arena, &lists[t - first]);
        }
        total += (size_t)counts[t - first];
    }
    MerServed *all = MER_ARRAY(arena, MerServed, total + 1);
    size_t     at = 0;
    for (int t = 0; t < last - first; t++) {
        if (counts[t] > 0) {
            memcpy(all + at, lists[t], (size_t)counts[t] * sizeof *all);
        }
        at += (size_t)counts[t];
    }
    qsort(all, total, sizeof *all, by_number);
    for (size_t i = 0; i < total; i++) {
        bool is_new = i == 0 || all[i].number < 0 || all[i].number != all[i - 1].number;
        sum.all += is_new;
        sum.missed += is_new && all[i].is_missed;
    }
    mer_arena_free(arena);
    return sum;
}

/* Without deadlines there is none. */
static double miss_rate(const MerWhole *whole)
{
    for (int t = 0; t < whole->count; t++) {
        if (isnan(whole->parts[t].cost->value[MER_METRIC_MISS_RATE])) {
            return NAN;
        }
    }
    RequestCount requests = count_requests(whole, 0, whole->count);
    return requests.all > 0 ? (double)requests.missed / (double)requests.all : 0;
}

/* The mean of a share over groups, weighed by jobs or by requests: of the plans or of their bounds. */
static double weighed_mean(const MerWhole *whole, MerMetric metric, bool is_bound)
{
    MerArena *arena = mer_arena_new();
    double   *weights = MER_ARRAY(arena, double, whole->count);
    double    all = 0;
    double    sum = 0;
    for (int t = 0; t < whole->count; t++) {
        double size = metric == MER_METRIC_DROP_RATE
                          ? mer_jobs_plan(whole->parts[t].plan)->job_count
                          : (double)count_requests(whole, t, t + 1).all;
        weights[t] = (double)whole->parts[t].task->count * size;
        all += weights[t];
    }
    for (int t = 0; t < whole->count; t++) {
        double weight = all > 0 ? weights[t] / all : 0;
        sum +=
            weight * (is_bound ? whole->parts[t].bound.value : whole->parts[t].cost->value[metric]);
    }
    mer_arena_free(arena);
    return sum;
}

/* A group that starts when the one before ends may be late only because of how that one was planned: what it
 * must miss then is no bound of the whole. */
static bool is_bound_by_plans(const MerWhole *whole)
{
    bool is_late = whole->objective == MER_METRIC_TARDINESS ||
                   whole->objective == MER_METRIC_VIOLATIONS ||
                   whole->objective == MER_METRIC_MISS_RATE;
    bool follows = false;
    for (int t = 0; t < whole->count; t++) {
        double start = whole->parts[t].task->start;
        follows = follows || (start > 0 && isfinite(start));
    }
    return is_late && follows;
}

void mer_schedule_combine(const MerWhole *whole, MerCost *total, MerBound *bound)
{
    bool is_share =
        whole->objective == MER_METRIC_DROP_RATE || whole->objective == MER_METRIC_MISS_RATE;
    if (total) {
        total->value[MER_METRIC_DROP_RATE] = weighed_mean(whole, MER_METRIC_DROP_RATE, false);
        total->value[MER_METRIC_MISS_RATE] = miss_rate(whole);
    }
    if (total && is_share) {
        bound->value = weighed_mean(whole, whole->objective, true);
    }
    if (isnan(bound->value) || (bound->value > 0 && is_bound_by_plans(whole))) {
        *bound = (MerBound){NAN, "none", ""};
    }
}
