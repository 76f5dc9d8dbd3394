/* Preset `placeto`: the simulator that Placeto learns from (Addanki et al., NeurIPS 2019), with its constants (docs/placement.md,
 * "Preset placeto"). Who goes first of what happens at the same time changes results by some percent, so that sums are added as
 * there and ties are an option. A unit sends over one bus and once, whoever reads; receivers wait for nothing. */
#include "place/cost/cluster.h"

#include <stdlib.h>
#include <string.h>

static const double unit_gap_us = 5.7, bus_gap_us = 25, bus_bytes_per_us = 7600;

typedef enum EventKind { REMOVE_DEPENDENCY, RUN_BUS, RUN_UNIT } EventKind;

/* Earlier first, then smaller kinds, then smaller a, then smaller b. */
typedef struct PlacetoEvent {
    double    time;
    EventKind kind;
    int       a, b; /* ranks of producer and consumer; or a bus, or a unit */
} PlacetoEvent;

struct MerPlaceto {
    const MerPlace *place;
    const double   *time_us; /* [op * unit_count + unit], whole microseconds, half to even */
    bool            is_exact;
    const int      *rank, *by_rank; /* of operators among equal times, and back */
    const int      *by_file;        /* operators in the order of the file */
    const int      *bus;            /* of each unit: its own; hosts share one */
};

typedef struct Name {
    const MerPlace *place;
    MerTieOrder     ties;
    int             op;
} Name;

/* As texts "n<id>", so that n10 comes before n2; or as numbers. */
static int compare_names(const void *a, const void *b)
{
    const Name *x = a, *y = b;
    int64_t     i = x->place->ids[x->op], j = y->place->ids[y->op];
    char        first[24], second[24];
    snprintf(first, sizeof first, "n%lld", (long long)i);
    snprintf(second, sizeof second, "n%lld", (long long)j);
    int order = x->ties == MER_TIES_NAME      ? strcmp(first, second)
                : x->ties == MER_TIES_NUMERIC ? (i > j) - (i < j)
                                              : 0;
    return order != 0 ? order : x->op - y->op;
}

static void rank_operators(MerPlaceto *placeto, MerTieOrder ties, MerArena *arena)
{
    const MerPlace *place = placeto->place;
    int            *rank = MER_ARRAY(arena, int, place->op_count);
    int            *by_rank = MER_ARRAY(arena, int, place->op_count);
    int            *by_file = MER_ARRAY(arena, int, place->op_count);
    Name           *names = MER_ARRAY(arena, Name, place->op_count);
    for (int o = 0; o < place->op_count; o++) {
        names[o] = (Name){place, ties, o};
        by_file[place->file_index[o]] = o;
    }
    qsort(names, (size_t)place->op_count, sizeof *names, compare_names);
    for (int i = 0; i < place->op_count; i++) {
        by_rank[i] = names[i].op;
        rank[names[i].op] = i;
    }
    placeto->rank = rank;
    placeto->by_rank = by_rank;
    placeto->by_file = by_file;
}

const MerPlaceto *mer_placeto_open(const MerPlace *place, MerTieOrder ties, MerArena *arena)
{
    size_t      count = (size_t)place->op_count * (size_t)place->unit_count;
    MerPlaceto *placeto = MER_NEW(arena, MerPlaceto);
    double     *time = MER_ARRAY(arena, double, count);
    int        *bus = MER_ARRAY(arena, int, place->unit_count), host = -1;
    *placeto = (MerPlaceto){.place = place, .time_us = time, .is_exact = true, .bus = bus};
    for (size_t i = 0; i < count; i++) {
        time[i] = nearbyint(place->time_us[i]);
        placeto->is_exact = placeto->is_exact && time[i] == place->time_us[i];
    }
    for (int u = 0; u < place->unit_count; u++) {
        host = host < 0 && place->is_host[u] ? u : host;
        bus[u] = place->is_host[u] ? host : u;
    }
    rank_operators(placeto, ties, arena);
    return placeto;
}

bool mer_placeto_is_exact(const MerPlaceto *placeto)
{
    return placeto->is_exact;
}

typedef struct Run {
    const MerPlaceto *placeto;
    const MerPlace   *place;
    const int        *unit;
    MerClusterRecord *record;
    double            now;
    int              *waiting;
    double           *start, *ready;   /* of each operator; ready for its unit, then for the bus */
    bool             *is_busy;         /* buses, then units */
    int              *head, *tail;     /* queues of buses, then of units; -1: empty */
    int              *next, *next_bus; /* by operator, in queues of units and of buses */
    PlacetoEvent     *events;
    int               event_count;
} Run;

static bool is_before(const PlacetoEvent *x, const PlacetoEvent *y)
{
    return x->time != y->time   ? x->time < y->time
           : x->kind != y->kind ? x->kind < y->kind
           : x->a != y->a       ? x->a < y->a
                                : x->b < y->b;
}

static void post(Run *run, double time, EventKind kind, int a, int b)
{
    PlacetoEvent event = {time, kind, a, b};
    int          at = run->event_count++;
    for (; at > 0 && is_before(&event, &run->events[(at - 1) / 2]); at = (at - 1) / 2) {
        run->events[at] = run->events[(at - 1) / 2];
    }
    run->events[at] = event;
}

static PlacetoEvent next_event(Run *run)
{
    PlacetoEvent first = run->events[0], last = run->events[--run->event_count];
    int          at = 0;
    for (int child = 1; child < run->event_count; child = 2 * at + 1) {
        child +=
            child + 1 < run->event_count && is_before(&run->events[child + 1], &run->events[child]);
        if (!is_before(&run->events[child], &last)) {
            break;
        }
        run->events[at] = run->events[child];
        at = child;
    }
    run->events[at] = last;
    return first;
}

static double time_of(const Run *run, int op)
{
    return run->placeto
        ->time_us[(size_t)op * (size_t)run->place->unit_count + (size_t)run->unit[op]];
}

/* Behind all that came at its time or before; nearly always that is the end. */
static void append(Run *run, int queue, int *next, int op)
{
    int *spot = &run->head[queue];
    if (*spot >= 0 && run->ready[run->tail[queue]] <= run->ready[op]) {
        spot = &next[run->tail[queue]];
    }
    while (*spot >= 0 && run->ready[*spot] <= run->ready[op]) {
        spot = &next[*spot];
    }
    run->tail[queue] = *spot < 0 ? op : run->tail[queue];
    next[op] = *spot;
    *spot = op;
}

static void enter_unit(Run *run, int op)
{
    int units = run->place->unit_count, unit = run->unit[op];
    run->ready[op] = run->now;
    append(run, units + unit, run->next, op);
    if (!run->is_busy[units + unit]) {
        run->is_busy[units + unit] = true;
        post(run, run->now, RUN_UNIT, unit, 0);
    }
    if (run->record) {
        run->record->ready_us[op] = run->now;
    }
}

static void remove_dependency(Run *run, int op)
{
    if (--run->waiting[op] == 0) {
        enter_unit(run, op);
    }
}

/* Tells consumers on the same unit, or those elsewhere, that a result is there at `time`; true: there are some. */
static bool release(Run *run, int op, double time, bool is_remote, bool asks_only)
{
    const MerPlace *place = run->place;
    bool            is_any = false;
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        int consumer = place->after[i];
        if ((run->unit[consumer] != run->unit[op]) == is_remote) {
            is_any = true;
            if (!asks_only) {
                post(run, time, REMOVE_DEPENDENCY, run->placeto->rank[op],
                     run->placeto->rank[consumer]);
            }
        }
    }
    return is_any;
}

static void run_unit(Run *run, int unit)
{
    int *head = &run->head[run->place->unit_count + unit], op = *head;
    if (op < 0) {
        run->is_busy[run->place->unit_count + unit] = false;
        return;
    }
    *head = run->next[op];
    double cost = time_of(run, op), end = run->now + cost;
    run->start[op] = run->now;
    post(run, cost > 0 ? end + unit_gap_us : end, RUN_UNIT, unit, 0);
    release(run, op, end, false, false);
    if (release(run, op, end, true, true)) {
        int bus = run->placeto->bus[unit];
        run->ready[op] = end;
        append(run, bus, run->next_bus, op);
        if (!run->is_busy[bus]) {
            run->is_busy[bus] = true;
            post(run, end, RUN_BUS, bus, 0);
        }
    }
}

static void run_bus(Run *run, int bus)
{
    int op = run->head[bus];
    if (op < 0) {
        run->is_busy[bus] = false;
        return;
    }
    if (run->ready[op] > run->now) {
        post(run, run->ready[op], RUN_BUS, bus, 0);
        return;
    }
    run->head[bus] = run->next_bus[op];
    double bytes = run->place->output_bytes[op], end = run->now + bytes / bus_bytes_per_us;
    release(run, op, end, true, false);
    post(run, end + bus_gap_us, RUN_BUS, bus, 0);
    if (run->record) {
        MerClusterRecord *record = run->record;
        MER_GROW(record->arena, record->transfers, record->transfer_count);
        record->transfers[record->transfer_count++] =
            (MerTransferTimes){op, -1, bus, bytes, run->ready[op], run->now, end};
    }
}

static void start_run(Run *run, MerArena *scratch)
{
    const MerPlace *place = run->place;
    size_t          count = (size_t)place->op_count, units = (size_t)place->unit_count;
    run->waiting = MER_ARRAY(scratch, int, 3 * count);
    run->next = run->waiting + count;
    run->next_bus = run->waiting + 2 * count;
    run->start = MER_ARRAY(scratch, double, 2 * count);
    run->ready = run->start + count;
    run->is_busy = MER_ARRAY(scratch, bool, 2 * units);
    run->head = MER_ARRAY(scratch, int, 4 * units);
    run->tail = run->head + 2 * units;
    run->events = MER_ARRAY(scratch, PlacetoEvent, (size_t)place->edge_count + 2 * units + 1);
    memset(run->head, -1, 2 * units * sizeof(int));
    for (int o = 0; o < place->op_count; o++) {
        run->waiting[o] = place->before_start[o + 1] - place->before_start[o];
    }
    for (int i = 0; i < place->op_count; i++) {
        int op = run->placeto->by_file[i];
        if (run->waiting[op] == 0) {
            enter_unit(run, op);
        }
    }
}

typedef struct Change { /* of the bytes on a unit */
    double time, bytes;
    int    op; /* that takes them; frees: behind all takes */
    bool   is_free;
} Change;

static int compare_changes(const void *a, const void *b)
{
    const Change *x = a, *y = b;
    if (x->time != y->time) {
        return x->time < y->time ? -1 : 1;
    }
    return x->is_free != y->is_free ? x->is_free - y->is_free : x->op - y->op;
}

/* Results are held from the start of their operator to a microsecond before the end of the last that reads them. */
static void find_peaks(const Run *run, MerArena *scratch, MerClusterOutcome *outcome)
{
    const MerPlace *place = run->place;
    Change         *changes = MER_ARRAY(scratch, Change, 2 * (size_t)place->op_count);
    double         *memory = MER_ARRAY(scratch, double, place->unit_count);
    int             count = 0;
    for (int o = 0; o < place->op_count; o++) {
        double end = run->start[o];
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int consumer = place->after[i];
            end = fmax(end, run->start[consumer] + time_of(run, consumer) - 1);
        }
        changes[count++] = (Change){run->start[o], place->output_bytes[o], o, false};
        changes[count++] = (Change){end, -place->output_bytes[o], o, true};
    }
    qsort(changes, (size_t)count, sizeof *changes, compare_changes);
    for (int i = 0; i < count; i++) {
        int unit = run->unit[changes[i].op];
        memory[unit] += changes[i].bytes;
        if (memory[unit] > outcome->peak[unit]) {
            outcome->peak[unit] = memory[unit];
            outcome->peak_op[unit] = changes[i].op;
        }
        if (run->record) {
            MerClusterRecord *record = run->record;
            MER_GROW(record->arena, record->steps, record->step_count);
            record->steps[record->step_count++] =
                (MerMemoryStep){changes[i].time, memory[unit], unit};
        }
    }
}

static void fill_record(const Run *run, const int *stream_start)
{
    for (int o = 0; o < run->place->op_count; o++) {
        run->record->start_us[o] = run->start[o];
        run->record->end_us[o] = run->start[o] + time_of(run, o);
        run->record->stream[o] = stream_start[run->unit[o]];
    }
}

void mer_placeto_run(const MerCluster *cluster, const MerGraphPlan *plan, MerArena *scratch,
                     MerClusterRecord *record, MerClusterOutcome *outcome)
{
    const MerPlace *place = cluster->place;
    Run run = {.placeto = cluster->placeto, .place = place, .unit = plan->unit, .record = record};
    *outcome = (MerClusterOutcome){.end = MER_CLUSTER_DONE,
                                   .peak = MER_ARRAY(scratch, double, place->unit_count),
                                   .peak_op = MER_ARRAY(scratch, int, place->unit_count)};
    memset(outcome->peak_op, -1, (size_t)place->unit_count * sizeof(int));
    start_run(&run, scratch);
    while (run.event_count > 0) {
        PlacetoEvent event = next_event(&run);
        run.now = event.time;
        switch (event.kind) {
        case REMOVE_DEPENDENCY:
            remove_dependency(&run, cluster->placeto->by_rank[event.b]);
            break;
        case RUN_BUS:
            run_bus(&run, event.a);
            break;
        case RUN_UNIT:
            run_unit(&run, event.a);
            break;
        }
    }
    outcome->makespan_us = run.now;
    for (int o = 0; o < place->op_count; o++) {
        outcome->busy_us += time_of(&run, o);
    }
    find_peaks(&run, scratch, outcome);
    if (record) {
        fill_record(&run, cluster->stream_start);
    }
}
