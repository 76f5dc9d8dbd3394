/* What adds up over groups in a way of its own: requests whose layers are in several groups count once. */
#include "schedule/cost/bandwidth.h"
#include "schedule/jobs/schedule_deadlines.h"
#include "schedule/schedule_parts.h"

#include <math.h>
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    const MerServed *x = a;
    const MerServed *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Parts of a request, which stand together, become one. */
static int join_parts(MerServed *requests, int count)
{
    int joined = 0;
    for (int i = 0; i < count; i++) {
        const MerServed *part = &requests[i];
        MerServed       *last = &requests[joined - (joined > 0)];
        if (joined == 0 || part->number < 0 || part->number != last->number) {
            requests[joined++] = *part;
        } else {
            last->late = fmax(last->late, part->late);
            last->is_due = last->is_due || part->is_due;
            last->is_dropped = last->is_dropped || part->is_dropped;
        }
    }
    return joined;
}

/* What became of the requests of one group; none without deadlines or after a deadlock. */
static int play(const MerPart *part, MerArena *arena, MerServed **requests)
{
    const MerBandwidthState *state = mer_bandwidth_state(part->evaluator);
    MerBandwidthTimes        times;
    MerBandwidthOutput       output;
    bool                     is_played =
        state && state->schedule->has_deadlines &&
        mer_bandwidth_simulate(state, mer_jobs_plan(part->plan), arena, &times, NULL, &output);
    return is_played ? mer_schedule_serve(state->schedule, times.end, arena, requests) : 0;
}

/* Requests of all groups, which have plans. */
static int gather_requests(const MerWhole *whole, MerArena *arena, MerServed **requests)
{
    int total = 0;
    *requests = NULL;
    for (int t = 0; t < whole->count; t++) {
        MerServed *own;
        int        count = play(&whole->parts[t], arena, &own);
        for (int r = 0; r < count; r++) {
            MER_GROW(arena, *requests, total);
            (*requests)[total++] = own[r];
        }
    }
    if (total > 0) {
        qsort(*requests, (size_t)total, sizeof **requests, by_number);
    }
    return join_parts(*requests, total);
}

/* Without deadlines there is nothing to say. */
static void serve(const MerWhole *whole, MerCost *total)
{
    double clock = mer_schedule_of(whole->parts[0].problem)->clock_hz;
    for (int t = 0; t < whole->count; t++) {
        if (isnan(whole->parts[t].cost->value[MER_METRIC_MISS_RATE])) {
            return;
        }
    }
    MerArena  *arena = mer_arena_new();
    MerServed *requests;
    int        count = gather_requests(whole, arena, &requests);
    mer_schedule_fill_service(requests, count, clock, total);
    mer_arena_free(arena);
}

/* The mean over groups of the bound of a share, by their requests with a deadline. */
static double mean_bound(const MerWhole *whole)
{
    double all = 0;
    double sum = 0;
    for (int t = 0; t < whole->count; t++) {
        MerArena  *arena = mer_arena_new();
        MerServed *requests;
        int        count = play(&whole->parts[t], arena, &requests);
        int        due = 0;
        for (int r = 0; r < count; r++) {
            due += requests[r].is_due;
        }
        all += due;
        sum += due * whole->parts[t].bound.value;
        mer_arena_free(arena);
    }
    return all > 0 ? sum / all : 0;
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
        serve(whole, total);
    }
    if (total && is_share) {
        bound->value = mean_bound(whole);
    }
    if (isnan(bound->value) || (bound->value > 0 && is_bound_by_plans(whole))) {
        *bound = (MerBound){NAN, "none", ""};
    }
}
