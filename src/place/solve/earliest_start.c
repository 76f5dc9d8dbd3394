/* List scheduling by the earliest start under memory limits: Baechi's m-ETF and, with favourite children, the second half of its m-SCT
 * (Jeon et al., SoCC 2020). A group goes where its first operator goes. */
#include "place/solve/placements.h"

#include "base/memory.h"
#include "place/place_parts.h"

#include <stdlib.h>

typedef struct Entry {
    double key;
    int    op;
} Entry;

typedef struct Heap { /* the least key on top, ties by operator */
    Entry *entries;
    int    count, capacity;
} Heap;

static bool is_less(const Entry *a, const Entry *b)
{
    return a->key < b->key || (a->key == b->key && a->op < b->op);
}

static void push(Heap *heap, Entry entry)
{
    if (heap->count == heap->capacity) {
        heap->capacity = 2 * heap->capacity + 16;
        heap->entries = mer_heap_resize(heap->entries, (size_t)heap->capacity, sizeof entry);
    }
    int at = heap->count++;
    for (; at > 0 && is_less(&entry, &heap->entries[(at - 1) / 2]); at = (at - 1) / 2) {
        heap->entries[at] = heap->entries[(at - 1) / 2];
    }
    heap->entries[at] = entry;
}

static Entry pop(Heap *heap)
{
    Entry first = heap->entries[0], last = heap->entries[--heap->count];
    int   at = 0;
    for (int child = 1; child < heap->count; child = 2 * at + 1) {
        child +=
            child + 1 < heap->count && is_less(&heap->entries[child + 1], &heap->entries[child]);
        if (!is_less(&heap->entries[child], &last)) {
            break;
        }
        heap->entries[at] = heap->entries[child];
        at = child;
    }
    heap->entries[at] = last;
    return first;
}

typedef struct Unit {
    Heap   now; /* ready operators whose inputs are here by the time the unit is free, by number */
    Heap   later; /* the others, by the time when theirs are */
    double free_at, bytes;
    int    wait_for; /* an operator, -1: none */
    double wait_until;
} Unit;

typedef struct Schedule {
    const MerPlace *place;
    const int      *favourite;
    Unit           *units;
    double         *end;     /* of each operator; NaN: not placed */
    int            *waiting; /* inputs that are not made yet */
    int            *unit;    /* of each group, -1: not yet */
} Schedule;

typedef struct Choice {
    double start;
    int    op, unit; /* op -1: none */
} Choice;

static bool is_placed(const Schedule *s, int op)
{
    return !isnan(s->end[op]);
}

static double ready_at(const Schedule *s, int op, int unit)
{
    const MerPlace *place = s->place;
    double          ready = 0;
    for (int i = place->before_start[op]; i < place->before_start[op + 1]; i++) {
        int before = place->before[i];
        int from = s->unit[place->group[before]];
        ready = fmax(ready, s->end[before] + mer_place_transfer(place, before, from, unit));
    }
    return ready;
}

/* Has the unit memory for the operator, if its group is not there already? */
static bool may_start(const Schedule *s, int op, int unit)
{
    int group = s->place->group[op];
    if (s->unit[group] >= 0) {
        return s->unit[group] == unit;
    }
    return s->units[unit].bytes + s->place->group_size[group] <= s->place->limit[unit];
}

/* Offers the operator to the hosts, or to the others, that its group may take; false: none has memory or a way to it. */
static bool offer_to(Schedule *s, int op, bool hosts)
{
    const MerPlace *place = s->place;
    int             group = place->group[op];
    bool            is_offered = false;
    for (int i = place->choice_start[group]; i < place->choice_start[group + 1]; i++) {
        int    u = place->choices[i];
        bool   is_asked = place->is_host[u] == hosts && may_start(s, op, u);
        double ready = is_asked ? ready_at(s, op, u) : INFINITY;
        if (isfinite(ready)) {
            push(&s->units[u].later, (Entry){ready, op});
            is_offered = true;
        }
    }
    return is_offered;
}

/* All inputs of the operator are made. An idle host would always be the first to start and the last to end, so hosts only
 * take what no accelerator can. */
static void offer(Schedule *s, int op)
{
    if (!offer_to(s, op, false)) {
        offer_to(s, op, true);
    }
}

/* Memory never comes back, and groups stay where they are: what cannot start now never can. */
static void drop_stale(const Schedule *s, Heap *heap, int unit)
{
    while (heap->count > 0 &&
           (is_placed(s, heap->entries[0].op) || !may_start(s, heap->entries[0].op, unit))) {
        pop(heap);
    }
}

static Choice first_of_unit(Schedule *s, int u)
{
    Unit  *unit = &s->units[u];
    Choice choice = {INFINITY, -1, u};
    drop_stale(s, &unit->later, u);
    while (unit->later.count > 0 && unit->later.entries[0].key <= unit->free_at) {
        int op = pop(&unit->later).op;
        push(&unit->now, (Entry){op, op});
        drop_stale(s, &unit->later, u);
    }
    drop_stale(s, &unit->now, u);
    if (unit->now.count > 0) {
        choice = (Choice){unit->free_at, unit->now.entries[0].op, u};
    } else if (unit->later.count > 0) {
        choice = (Choice){unit->later.entries[0].key, unit->later.entries[0].op, u};
    }
    int wanted = unit->wait_for;
    if (wanted < 0 || choice.op == wanted) {
        return choice;
    }
    choice.start =
        fmax(choice.start, unit->wait_until); /* the others wait, the favourite does not */
    if (s->waiting[wanted] == 0 && may_start(s, wanted, u)) {
        double start = fmax(unit->free_at, ready_at(s, wanted, u));
        choice = start <= choice.start ? (Choice){start, wanted, u} : choice;
    }
    return choice;
}

/* Nothing fits: the first operator goes where least memory is missing. */
static Choice least_excess(const Schedule *s, int op)
{
    const MerPlace *place = s->place;
    int             group = place->group[op];
    double          least = INFINITY;
    Choice          choice = {0, op, place->choices[place->choice_start[group]]};
    for (int i = place->choice_start[group]; i < place->choice_start[group + 1]; i++) {
        int    u = place->choices[i];
        double excess = s->units[u].bytes + place->group_size[group] - place->limit[u];
        if (excess < least && (s->unit[group] < 0 || s->unit[group] == u)) {
            least = excess;
            choice.unit = u;
        }
    }
    choice.unit = s->unit[group] >= 0 ? s->unit[group] : choice.unit;
    choice.start = s->units[choice.unit].free_at;
    return choice;
}

static void stop_waiting(Schedule *s, int op)
{
    for (int u = 0; u < s->place->unit_count; u++) {
        if (s->units[u].wait_for == op) {
            s->units[u].wait_for = -1;
        }
    }
}

/* After an operator its unit is kept for its favourite until that could as well start elsewhere. */
static void wait_for_favourite(Schedule *s, int op, int unit)
{
    int wanted = s->favourite ? s->favourite[op] : -1;
    s->units[unit].wait_for = -1;
    if (wanted >= 0 && !is_placed(s, wanted) &&
        mer_place_may_take(s->place, s->place->group[wanted], unit) && may_start(s, wanted, unit)) {
        s->units[unit].wait_for = wanted;
        s->units[unit].wait_until = s->end[op] + mer_place_mean_transfer_us(s->place, op);
    }
}

static void start(Schedule *s, const Choice *choice)
{
    const MerPlace *place = s->place;
    int             op = choice->op, group = place->group[op];
    Unit           *unit = &s->units[choice->unit];
    if (s->unit[group] < 0) {
        s->unit[group] = choice->unit;
        unit->bytes += place->group_size[group];
    }
    s->end[op] = choice->start +
                 place->time_us[(size_t)op * (size_t)place->unit_count + (size_t)choice->unit];
    unit->free_at = s->end[op];
    stop_waiting(s, op);
    wait_for_favourite(s, op, choice->unit);
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        if (--s->waiting[place->after[i]] == 0) {
            offer(s, place->after[i]);
        }
    }
}

static void begin(Schedule *s)
{
    const MerPlace *place = s->place;
    for (int u = 0; u < place->unit_count; u++) {
        s->units[u].wait_for = -1;
    }
    for (int g = 0; g < place->group_count; g++) {
        s->unit[g] = -1;
    }
    for (int o = 0; o < place->op_count; o++) {
        s->end[o] = NAN;
        s->waiting[o] = place->before_start[o + 1] - place->before_start[o];
    }
    for (int o = 0; o < place->op_count; o++) {
        if (s->waiting[o] == 0) {
            offer(s, o);
        }
    }
}

void mer_place_earliest_start(const MerPlace *place, const int *favourite, int *unit)
{
    size_t   ops = (size_t)place->op_count + 1;
    Schedule s = {.place = place,
                  .favourite = favourite,
                  .unit = unit,
                  .units = mer_heap_zeroed((size_t)place->unit_count, sizeof *s.units),
                  .end = mer_heap_zeroed(ops, sizeof *s.end),
                  .waiting = mer_heap_zeroed(ops, sizeof *s.waiting)};
    int      first = 0; /* no operator before it is left, so its inputs are made */
    begin(&s);
    for (int placed = 0; placed < place->op_count; placed++) {
        Choice best = {INFINITY, -1, 0};
        for (int u = 0; u < place->unit_count; u++) {
            Choice choice = first_of_unit(&s, u);
            bool   is_tie = choice.start == best.start && choice.op < best.op;
            best = choice.op >= 0 && (choice.start < best.start || is_tie) ? choice : best;
        }
        while (is_placed(&s, first)) {
            first++;
        }
        best = best.op >= 0 ? best : least_excess(&s, first);
        start(&s, &best);
    }
    for (int u = 0; u < place->unit_count; u++) {
        free(s.units[u].now.entries);
        free(s.units[u].later.entries);
    }
    free(s.units);
    free(s.end);
    free(s.waiting);
}
