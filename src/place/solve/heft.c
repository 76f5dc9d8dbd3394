/* Heterogeneous earliest finish time and critical path on a processor (Topcuoglu, Hariri and Wu, IEEE TPDS 13, 2002). A group goes where
 * its first operator goes; a unit without memory for a group is left out while another has some. */
#include "place/solve/placements.h"

#include "base/memory.h"
#include "base/smallest.h"
#include "base/stats.h"
#include "place/place_parts.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Idle times that a unit remembers; the oldest are forgotten, so that large graphs stay quick. */
enum { GAPS = 64 };

typedef struct Gap {
    double start, end;
} Gap;

typedef struct Unit {
    Gap    gaps[GAPS]; /* by time; after them the unit is free from `end` on */
    int    gap_count;
    double end, bytes;
} Unit;

typedef struct Heft {
    const MerPlace *place;
    Unit           *units;
    double         *end;  /* of each operator that is placed */
    int            *unit; /* of each group, -1: not yet */
} Heft;

/* Mean over the units that the operator's group may take. */
static double mean_time(const MerPlace *place, int op)
{
    int    group = place->group[op], first = place->choice_start[group];
    int    count = place->choice_start[group + 1] - first;
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += place->time_us[(size_t)op * (size_t)place->unit_count +
                              (size_t)place->choices[first + i]];
    }
    return sum / count;
}

typedef struct Means { /* of each operator: its time, and to send its result elsewhere */
    double *time, *send;
} Means;

static Means find_means(const MerPlace *place)
{
    size_t count = (size_t)place->op_count + 1;
    Means  means = {mer_heap_zeroed(count, sizeof(double)), mer_heap_zeroed(count, sizeof(double))};
    for (int o = 0; o < place->op_count; o++) {
        means.time[o] = mean_time(place, o);
        means.send[o] = mer_place_mean_transfer_us(place, o);
    }
    return means;
}

static void free_means(Means *means)
{
    free(means->time);
    free(means->send);
}

static void rank_upward(const MerPlace *place, const Means *means, double *rank)
{
    for (int o = place->op_count; o-- > 0;) {
        double longest = 0;
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            longest = fmax(longest, means->send[o] + rank[place->after[i]]);
        }
        rank[o] = means->time[o] + longest;
    }
}

/* The longest way to the start of each operator. */
static void rank_downward(const MerPlace *place, const Means *means, double *rank)
{
    for (int o = 0; o < place->op_count; o++) {
        rank[o] = 0;
        for (int i = place->before_start[o]; i < place->before_start[o + 1]; i++) {
            int before = place->before[i];
            rank[o] = fmax(rank[o], rank[before] + means->time[before] + means->send[before]);
        }
    }
}

void mer_place_upward_ranks(const MerPlace *place, double *rank)
{
    Means means = find_means(place);
    rank_upward(place, &means, rank);
    free_means(&means);
}

/* When all inputs of an operator are on a unit; INFINITY: one cannot come. */
static double ready_at(const Heft *h, int op, int unit)
{
    const MerPlace *place = h->place;
    double          ready = 0;
    for (int i = place->before_start[op]; i < place->before_start[op + 1]; i++) {
        int before = place->before[i];
        int from = h->unit[place->group[before]];
        ready = fmax(ready, h->end[before] + mer_place_transfer(place, before, from, unit));
    }
    return ready;
}

/* The first idle time of a unit, from `ready` on, that is long enough; its number, gap_count: after all. */
static int find_gap(const Unit *unit, double ready, double time, double *start)
{
    for (int i = 0; i < unit->gap_count; i++) {
        *start = fmax(ready, unit->gaps[i].start);
        if (*start + time <= unit->gaps[i].end) {
            return i;
        }
    }
    *start = fmax(ready, unit->end);
    return unit->gap_count;
}

static void remove_gap(Unit *unit, int at)
{
    unit->gap_count--;
    memmove(unit->gaps + at, unit->gaps + at + 1,
            (size_t)(unit->gap_count - at) * sizeof *unit->gaps);
}

/* Gaps of no length are not kept. */
static void insert_gap(Unit *unit, int at, double start, double end)
{
    if (end <= start) {
        return;
    }
    if (unit->gap_count == GAPS) {
        remove_gap(unit, 0);
        at = at > 0 ? at - 1 : 0;
    }
    memmove(unit->gaps + at + 1, unit->gaps + at,
            (size_t)(unit->gap_count - at) * sizeof *unit->gaps);
    unit->gaps[at] = (Gap){start, end};
    unit->gap_count++;
}

static void occupy(Unit *unit, int gap, double start, double end)
{
    if (gap == unit->gap_count) {
        insert_gap(unit, gap, unit->end, start);
        unit->end = end;
        return;
    }
    Gap whole = unit->gaps[gap];
    remove_gap(unit, gap);
    insert_gap(unit, gap, end, whole.end);
    insert_gap(unit, gap, whole.start, start);
}

static double time_of(const MerPlace *place, int op, int unit)
{
    return place->time_us[(size_t)op * (size_t)place->unit_count + (size_t)unit];
}

static bool has_memory(const Heft *h, int group, int unit)
{
    return h->units[unit].bytes + h->place->group_size[group] <= h->place->limit[unit];
}

/* Where the operator ends first. Units without memory for its group count only when none has any; then the one with the
 * least excess is taken. */
static int choose_unit(const Heft *h, int op)
{
    const MerPlace *place = h->place;
    int             group = place->group[op], best = -1, fullest = -1;
    double          best_end = INFINITY, least_excess = INFINITY;
    for (int i = place->choice_start[group]; i < place->choice_start[group + 1]; i++) {
        int    u = place->choices[i];
        double start, time = time_of(place, op, u);
        double excess = h->units[u].bytes + place->group_size[group] - place->limit[u];
        find_gap(&h->units[u], fmin(ready_at(h, op, u), DBL_MAX), time, &start);
        if (excess < least_excess) {
            least_excess = excess;
            fullest = u;
        }
        if (has_memory(h, group, u) && start + time < best_end) {
            best_end = start + time;
            best = u;
        }
    }
    return best >= 0 ? best : fullest >= 0 ? fullest : place->choices[place->choice_start[group]];
}

static void place_op(Heft *h, int op, int unit)
{
    const MerPlace *place = h->place;
    int             group = place->group[op];
    if (h->unit[group] < 0) {
        h->unit[group] = unit;
        h->units[unit].bytes += place->group_size[group];
    }
    unit = h->unit[group];
    double start, time = time_of(place, op, unit);
    double ready = ready_at(h, op, unit);
    int gap = find_gap(&h->units[unit], isfinite(ready) ? ready : h->units[unit].end, time, &start);
    h->end[op] = start + time;
    occupy(&h->units[unit], gap, start, h->end[op]);
}

static void begin(Heft *h, const MerPlace *place, int *unit)
{
    *h = (Heft){.place = place,
                .unit = unit,
                .units = mer_heap_zeroed((size_t)place->unit_count, sizeof *h->units),
                .end = mer_heap_zeroed((size_t)place->op_count + 1, sizeof *h->end)};
    for (int g = 0; g < place->group_count; g++) {
        unit[g] = -1;
    }
}

static void end(Heft *h)
{
    free(h->units);
    free(h->end);
}

/* Operators by falling rank, producers before consumers: ranks of operators that cost nothing may tie. */
static int *order_by_rank(const MerPlace *place, const double *rank)
{
    int    *order = mer_heap_zeroed((size_t)place->op_count + 1, sizeof *order);
    double *key = mer_heap_zeroed((size_t)place->op_count + 1, sizeof *key);
    for (int o = 0; o < place->op_count; o++) {
        key[o] = -rank[o];
    }
    mer_sort_order(key, place->op_count, order); /* ties in the order of the graph */
    free(key);
    return order;
}

void mer_place_heft(const MerPlace *place, int *unit)
{
    Heft    h;
    double *rank = mer_heap_zeroed((size_t)place->op_count + 1, sizeof *rank);
    mer_place_upward_ranks(place, rank);
    int *order = order_by_rank(place, rank);
    begin(&h, place, unit);
    for (int i = 0; i < place->op_count; i++) {
        int group = place->group[order[i]];
        place_op(&h, order[i], unit[group] >= 0 ? unit[group] : choose_unit(&h, order[i]));
    }
    end(&h);
    free(order);
    free(rank);
}

/* Operators from the first to the last of a longest path, marked. */
static void mark_critical(const MerPlace *place, const double *whole, bool *is_critical)
{
    int at = 0;
    for (int o = 1; o < place->op_count; o++) { /* the longest way through it starts with it */
        bool is_start = place->before_start[o] == place->before_start[o + 1];
        at = is_start && whole[o] > whole[at] ? o : at;
    }
    while (at >= 0) {
        int next = -1;
        is_critical[at] = true;
        for (int i = place->after_start[at]; i < place->after_start[at + 1]; i++) {
            int after = place->after[i];
            next = next < 0 || whole[after] > whole[next] ? after : next;
        }
        at = next;
    }
}

/* The unit where the critical path takes least time; operators that cannot run there count where they go instead. */
static int critical_unit(const MerPlace *place, const bool *is_critical)
{
    int    best = 0;
    double least = INFINITY;
    for (int u = 0; u < place->unit_count; u++) {
        double sum = 0;
        for (int o = 0; o < place->op_count; o++) {
            int group = place->group[o];
            int on = mer_place_may_take(place, group, u) ? u : mer_place_instead(place, group);
            sum += is_critical[o] ? time_of(place, o, on) : 0;
        }
        if (sum < least) {
            least = sum;
            best = u;
        }
    }
    return best;
}

/* Ready operators by priority; those of the critical path go to its unit while it has memory. */
static void place_by_priority(Heft *h, const double *priority, const bool *is_critical,
                              int critical)
{
    const MerPlace *place = h->place;
    int            *order = order_by_rank(place, priority);
    int            *position = mer_heap_zeroed((size_t)place->op_count + 1, sizeof *position);
    int            *heap = mer_heap_zeroed((size_t)place->op_count + 1, sizeof *heap);
    int            *waiting = mer_heap_zeroed((size_t)place->op_count + 1, sizeof *waiting);
    int             count = 0;
    for (int i = 0; i < place->op_count; i++) {
        position[order[i]] = i;
    }
    for (int o = 0; o < place->op_count; o++) {
        waiting[o] = place->before_start[o + 1] - place->before_start[o];
        if (waiting[o] == 0) {
            mer_smallest_push(heap, &count, position[o]);
        }
    }
    while (count > 0) {
        int  op = order[mer_smallest_take(heap, &count)];
        int  group = place->group[op];
        bool stays = is_critical[op] && mer_place_may_take(place, group, critical) &&
                     has_memory(h, group, critical);
        int unit = h->unit[group] >= 0 ? h->unit[group] : stays ? critical : choose_unit(h, op);
        place_op(h, op, unit);
        for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
            if (--waiting[place->after[i]] == 0) {
                mer_smallest_push(heap, &count, position[place->after[i]]);
            }
        }
    }
    free(order);
    free(position);
    free(heap);
    free(waiting);
}

void mer_place_cpop(const MerPlace *place, int *unit)
{
    Heft    h;
    Means   means = find_means(place);
    size_t  count = (size_t)place->op_count + 1;
    double *up = mer_heap_zeroed(count, sizeof *up), *whole = mer_heap_zeroed(count, sizeof *whole);
    bool   *is_critical = mer_heap_zeroed(count, sizeof *is_critical);
    rank_upward(place, &means, up);
    rank_downward(place, &means, whole);
    for (int o = 0; o < place->op_count; o++) {
        whole[o] += up[o];
    }
    mark_critical(place, whole, is_critical);
    begin(&h, place, unit);
    place_by_priority(&h, whole, is_critical, critical_unit(place, is_critical));
    end(&h);
    free_means(&means);
    free(up);
    free(whole);
    free(is_critical);
}
