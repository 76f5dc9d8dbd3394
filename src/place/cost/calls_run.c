/* One sample through accelerators that are called with pieces of work, and hosts of any width (docs/placement.md, "calls"). Operators
 * are taken one after the other once all their producers are; an accelerator is called when all that is left of its work can
 * run, or when nobody's can. */
#include "place/cost/calls.h"

#include "base/smallest.h"

#include <string.h>

typedef struct Work { /* while it runs */
    MerCallsRun    *run;
    const MerPlace *place;
    const int      *unit;
    int            *waiting; /* producers of each operator that are not taken yet */
    int    *ready; /* operators that wait for their unit: heaps, from ready_start[unit] on */
    int    *ready_start, *ready_count;
    int    *left;    /* operators of each unit that are not taken */
    double *free_at; /* end of the last call of each unit */
    int    *members; /* of the call that is being made */
    int    *seen;    /* of a producer: the last call that took its result in */
    int     member_count, call_count, taken;
} Work;

static void release(Work *work, int op)
{
    int unit = work->unit[op];
    mer_smallest_push(work->ready + work->ready_start[unit], &work->ready_count[unit], op);
}

static void release_consumers(Work *work, int op)
{
    const MerPlace *place = work->place;
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        if (--work->waiting[place->after[i]] == 0) {
            release(work, place->after[i]);
        }
    }
}

/* The smallest first, so that sums do not depend on the order in which units are looked at. */
static int take_ready(Work *work, int unit)
{
    work->left[unit]--;
    work->taken++;
    return mer_smallest_take(work->ready + work->ready_start[unit], &work->ready_count[unit]);
}

static double transfer_of(const MerPlace *place, int op, int unit)
{
    return place->transfer_us[(size_t)op * (size_t)place->unit_count + (size_t)unit];
}

static void wait_for(const Work *work, int producer, double *start, int *last)
{
    if (work->run->finish[producer] > *start) {
        *start = work->run->finish[producer];
        *last = producer;
    }
}

static void run_on_host(Work *work, int unit)
{
    const MerPlace *place = work->place;
    while (work->ready_count[unit] > 0) {
        int    op = take_ready(work, unit);
        double start = 0;
        int    last = -1;
        for (int i = place->before_start[op]; i < place->before_start[op + 1]; i++) {
            wait_for(work, place->before[i], &start, &last);
        }
        work->run->start[op] = start;
        work->run->finish[op] = start + mer_place_time(place, op, unit);
        work->run->last_input[op] = last;
        release_consumers(work, op);
    }
}

/* All operators of the unit that can run now, and those that can once these have. */
static void gather_call(Work *work, int unit)
{
    work->member_count = 0;
    work->call_count++;
    while (work->ready_count[unit] > 0) {
        int op = take_ready(work, unit);
        work->run->call[op] = work->call_count;
        work->members[work->member_count++] = op;
        release_consumers(work, op);
    }
}

/* Results from outside, each once. */
static double take_in(Work *work, int unit, double *start, int *last)
{
    const MerPlace *place = work->place;
    double          time = 0;
    for (int m = 0; m < work->member_count; m++) {
        int op = work->members[m];
        for (int i = place->before_start[op]; i < place->before_start[op + 1]; i++) {
            int producer = place->before[i];
            if (work->run->call[producer] != work->call_count &&
                work->seen[producer] != work->call_count) {
                work->seen[producer] = work->call_count;
                time += transfer_of(place, producer, unit);
                wait_for(work, producer, start, last);
            }
        }
    }
    return time;
}

/* A consumer outside is one that no call has yet, or that another unit or a later call of this one has. */
static double give_out(const Work *work, int unit)
{
    const MerPlace *place = work->place;
    double          time = 0;
    for (int m = 0; m < work->member_count; m++) {
        int  op = work->members[m];
        bool leaves = false;
        for (int i = place->after_start[op]; i < place->after_start[op + 1] && !leaves; i++) {
            leaves = work->run->call[place->after[i]] != work->call_count;
        }
        time += leaves ? transfer_of(place, op, unit) : 0;
    }
    return time;
}

static void run_call(Work *work, int unit)
{
    const MerPlace *place = work->place;
    double          start = work->free_at[unit], compute = 0;
    int             last = -1;
    gather_call(work, unit);
    double in = take_in(work, unit, &start, &last), out = give_out(work, unit);
    for (int m = 0; m < work->member_count; m++) {
        compute += mer_place_time(place, work->members[m], unit);
    }
    double end = start + in + compute + out;
    for (int m = 0; m < work->member_count; m++) {
        work->run->start[work->members[m]] = start;
        work->run->finish[work->members[m]] = end;
        work->run->last_input[work->members[m]] = last;
    }
    work->run->transfer_us[unit] += in + out;
    work->free_at[unit] = end;
    work->run->calls[unit]++;
}

/* How many operators of a unit one call would take; a dry run of gather_call that leaves `waiting` as it was. */
static int count_call(Work *work, int unit)
{
    const MerPlace *place = work->place;
    int             count = work->ready_count[unit], next = 0;
    memcpy(work->members, work->ready + work->ready_start[unit], (size_t)count * sizeof(int));
    for (; next < count; next++) {
        int op = work->members[next];
        for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
            int after = place->after[i];
            if (work->unit[after] == unit && --work->waiting[after] == 0) {
                work->members[count++] = after;
            }
        }
    }
    for (next = 0; next < count; next++) {
        int op = work->members[next];
        for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
            work->waiting[place->after[i]] += work->unit[place->after[i]] == unit;
        }
    }
    return count;
}

/* The accelerator to call next: one that a call brings to its end, so that no call is wasted; else the one whose first operator
 * comes first. -1: all is done. */
static int choose_unit(Work *work)
{
    int first = -1;
    for (int u = 0; u < work->place->unit_count; u++) {
        if (work->ready_count[u] == 0) {
            continue;
        }
        if (count_call(work, u) == work->left[u]) {
            return u;
        }
        bool is_earlier =
            first < 0 || work->ready[work->ready_start[u]] < work->ready[work->ready_start[first]];
        first = is_earlier ? u : first;
    }
    return first;
}

static void allocate(Work *work, MerCallsRun *run, MerArena *arena)
{
    size_t  ops = (size_t)work->place->op_count, units = (size_t)work->place->unit_count;
    int    *by_op = MER_ARRAY(arena, int, 6 * ops), *by_unit = MER_ARRAY(arena, int, 4 * units + 1);
    double *reals = MER_ARRAY(arena, double, 2 * ops + 2 * units);
    *run = (MerCallsRun){.start = reals,
                         .finish = reals + ops,
                         .call = by_op,
                         .last_input = by_op + ops,
                         .calls = by_unit,
                         .transfer_us = reals + 2 * ops};
    work->waiting = by_op + 2 * ops;
    work->ready = by_op + 3 * ops;
    work->members = by_op + 4 * ops;
    work->seen = by_op + 5 * ops;
    work->left = by_unit + units;
    work->ready_count = by_unit + 2 * units;
    work->ready_start = by_unit + 3 * units;
    work->free_at = run->transfer_us + units;
}

static void release_sources(Work *work)
{
    const MerPlace *place = work->place;
    for (int o = 0; o < place->op_count; o++) {
        work->left[work->unit[o]]++;
    }
    for (int u = 0; u < place->unit_count; u++) {
        work->ready_start[u + 1] = work->ready_start[u] + work->left[u];
    }
    for (int o = 0; o < place->op_count; o++) {
        work->waiting[o] = place->before_start[o + 1] - place->before_start[o];
        if (work->waiting[o] == 0) {
            release(work, o);
        }
    }
}

void mer_calls_run(const MerPlace *place, const MerGraphPlan *plan, MerArena *arena,
                   MerCallsRun *run)
{
    Work work = {.run = run, .place = place, .unit = plan->unit};
    allocate(&work, run, arena);
    release_sources(&work);
    while (work.taken < place->op_count) {
        int before = work.taken;
        for (int u = 0; u < place->unit_count; u++) {
            if (place->is_host[u]) {
                run_on_host(&work, u);
            }
        }
        int unit = work.taken == before ? choose_unit(&work) : -1;
        if (unit >= 0) {
            run_call(&work, unit);
        }
    }
    run->call_count = work.call_count;
    for (int o = 0; o < place->op_count; o++) {
        run->latency_us = fmax(run->latency_us, run->finish[o]);
    }
}
