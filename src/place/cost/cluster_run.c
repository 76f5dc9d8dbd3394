/* The simulation of a cluster from event to event (docs/placement.md, "cluster"). Whatever starts knows when it ends, so that there
 * is one event per kernel and one per transfer. At one instant everything that ends is taken note of, operators before transfers;
 * then channels and units take what is next. Numbers of units decide nothing: like units may change places. */
#include "place/cost/cluster.h"
#include "place/cost/cluster_queue.h"

#include <string.h>

typedef struct Transfer {
    int    op, to; /* to -1: all that read it */
    int    channel, hop;
    int    first;      /* of the parts of one result */
    int    parts_left; /* of the first */
    double bytes, ready;
} Transfer;

typedef struct Run {
    const MerCluster  *cluster;
    const MerPlace    *place;
    const int         *unit;
    const MerKernels  *kernels;
    MerClusterRecord  *record;
    MerClusterOutcome *outcome;
    double             now, limit;
    int                units, channels, unfinished;
    uint32_t           counter;
    int               *waiting; /* results that each kernel still lacks */
    int               *left;   /* [op * units + unit]: who still needs the copy of a result there */
    int               *sent;   /* by unit: the last operator whose result was sent there, from 1 */
    double            *memory; /* bytes of each unit now */
    double            *channel_free, *stream_free; /* when the gap after the last use is over */
    int               *running;                    /* of channels, then of units */
    int               *touched, touched_count;     /* channels and units that may start something */
    bool              *is_touched;
    Queues             queues; /* of channels, then of units */
    Event             *events;
    int                event_count;
    Transfer          *transfers; /* items from op_count on */
    int                transfer_count;
} Run;

static inline int kernel_of(const Run *run, int op)
{
    return run->kernels->kernel ? run->kernels->kernel[op] : op;
}

static inline double time_of(const Run *run, int kernel, int unit)
{
    return run->kernels->time_us
               ? run->kernels->time_us[kernel]
               : run->place->time_us[(size_t)kernel * (size_t)run->units + (size_t)unit];
}

static inline int *copies(const Run *run, int op, int unit)
{
    return &run->left[(size_t)op * (size_t)run->units + (size_t)unit];
}

static void note_memory(Run *run, int unit)
{
    MerClusterRecord *record = run->record;
    MER_GROW(record->arena, record->steps, record->step_count);
    record->steps[record->step_count++] = (MerMemoryStep){run->now, run->memory[unit], unit};
}

static inline void hold(Run *run, int unit, double bytes, int op)
{
    MerClusterOutcome *outcome = run->outcome;
    double             total = run->memory[unit] += bytes;
    if (total > outcome->peak[unit]) {
        outcome->peak[unit] = total;
        outcome->peak_op[unit] = op;
    }
    if (run->record) {
        note_memory(run, unit);
    }
}

static inline void give_back(Run *run, int unit, double bytes)
{
    run->memory[unit] -= bytes;
    if (run->record) {
        note_memory(run, unit);
    }
}

/* One of those that need a copy is done with it. */
static inline void drop_copy(Run *run, int op, int unit)
{
    if (--*copies(run, op, unit) == 0) {
        give_back(run, unit, run->place->output_bytes[op]);
    }
}

static inline int capacity(const Run *run, int queue)
{
    return queue < run->channels ? 1 : run->cluster->streams[queue - run->channels];
}

static inline void touch(Run *run, int queue)
{
    if (!run->is_touched[queue]) {
        run->is_touched[queue] = true;
        run->touched[run->touched_count++] = queue;
    }
}

static inline void enqueue(Run *run, int queue, int item, int kernel)
{
    if (run->queues.key) {
        int priority = run->kernels->priority[kernel];
        run->queues.key[item] = (uint64_t)((int64_t)INT32_MAX - priority) << 32 | run->counter++;
    }
    push_item(&run->queues, queue, item);
    if (run->running[queue] < capacity(run, queue)) {
        touch(run, queue);
    }
}

static inline void finish_input(Run *run, int op)
{
    int kernel = kernel_of(run, op);
    if (--run->waiting[kernel] == 0) {
        if (run->record) {
            run->record->ready_us[kernel] = run->now;
        }
        enqueue(run, run->channels + run->unit[op], kernel, kernel);
    }
}

/* A result arrives: its consumers on unit `to`, or on all units but its own. */
static void release_consumers(Run *run, int op, int to)
{
    const MerPlace *place = run->place;
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        int consumer = place->after[i], unit = run->unit[consumer];
        if (unit == to || (to < 0 && unit != run->unit[op])) {
            finish_input(run, consumer);
        }
    }
}

static void add_transfer(Run *run, Transfer transfer)
{
    int index = run->transfer_count++;
    transfer.first = transfer.first < 0 ? index : transfer.first;
    run->transfers[index] = transfer;
    enqueue(run, transfer.channel, run->place->op_count + index, kernel_of(run, transfer.op));
}

/* By hops a result goes in equal parts, so that a part can be on its second link while the next is on the first. */
static void send(Run *run, int op, int to)
{
    const MerCluster *cluster = run->cluster;
    int               from = run->unit[op];
    const MerWay     *way = &cluster->ways[from * run->units + to];
    double            bytes = run->place->output_bytes[op];
    bool              is_covered = cluster->is_broadcast && run->sent[from] == op + 1;
    run->sent[to] = run->sent[from] = op + 1;
    if (way->count == 0) {
        run->outcome->end = MER_CLUSTER_NO_WAY;
        run->outcome->op = op;
        run->outcome->to = to;
        return;
    }
    if (is_covered) {
        return;
    }
    ++*copies(run, op, from);
    Transfer transfer = {
        op, cluster->is_broadcast ? -1 : to, way->hops[0].channel, 0, -1, 1, bytes, run->now};
    if (!cluster->goes_by_hops) {
        add_transfer(run, transfer);
        return;
    }
    double wanted = ceil(bytes / cluster->options.segment_bytes);
    int    parts = wanted < 1 ? 1 : wanted < cluster->max_parts ? (int)wanted : cluster->max_parts;
    transfer.parts_left = parts;
    transfer.bytes = bytes / parts;
    for (int p = 0; p < parts; p++) {
        transfer.first = p == 0 ? -1 : run->transfer_count - p;
        add_transfer(run, transfer);
    }
}

/* A kernel is done: an operator of it gives back what it read, and its result goes to those who wait for it. */
static inline void finish_member(Run *run, int op, int kernel, int unit)
{
    const MerPlace *place = run->place;
    for (int i = place->before_start[op]; i < place->before_start[op + 1]; i++) {
        if (kernel_of(run, place->before[i]) != kernel) {
            drop_copy(run, place->before[i], unit);
        }
    }
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        int consumer = place->after[i], to = run->unit[consumer];
        if (to == unit) {
            if (kernel_of(run, consumer) != kernel) {
                finish_input(run, consumer);
            }
        } else if (run->sent[to] != op + 1) {
            send(run, op, to);
        }
    }
    double bytes = place->workspace_bytes[op];
    bytes += place->after_start[op] == place->after_start[op + 1] ? place->output_bytes[op] : 0;
    if (bytes > 0) {
        give_back(run, unit, bytes);
    }
}

static void finish_kernel(Run *run, int kernel)
{
    const MerKernels *kernels = run->kernels;
    int               unit = run->unit[kernel], queue = run->channels + unit;
    run->running[queue]--;
    run->unfinished--;
    touch(run, queue);
    if (!kernels->kernel) {
        finish_member(run, kernel, kernel, unit);
        return;
    }
    for (int i = kernels->start[kernel]; i < kernels->start[kernel + 1]; i++) {
        finish_member(run, kernels->members[i], kernel, unit);
    }
}

static void finish_transfer(Run *run, int index)
{
    Transfer         *transfer = &run->transfers[index];
    const MerCluster *cluster = run->cluster;
    int               op = transfer->op, from = run->unit[op];
    run->running[transfer->channel]--;
    touch(run, transfer->channel);
    if (cluster->goes_by_hops) {
        const MerWay *way = &cluster->ways[from * run->units + transfer->to];
        if (++transfer->hop < way->count) {
            transfer->channel = way->hops[transfer->hop].channel;
            transfer->ready = run->now;
            enqueue(run, transfer->channel, run->place->op_count + index, kernel_of(run, op));
            return;
        }
        if (--run->transfers[transfer->first].parts_left > 0) {
            return;
        }
    }
    drop_copy(run, op, from);
    release_consumers(run, op, transfer->to);
}

static inline double later(double a, double b)
{
    return a > b ? a : b;
}

static inline int first_stream(const Run *run, int unit)
{
    int best = run->cluster->stream_start[unit];
    for (int s = best + 1; s < run->cluster->stream_start[unit + 1]; s++) {
        best = run->stream_free[s] < run->stream_free[best] ? s : best;
    }
    return best;
}

/* Memory that an operator needs from now on: its result unless it stays inside the kernel, and its workspace. */
static inline double needs(const Run *run, int op, int kernel)
{
    const MerPlace *place = run->place;
    int             first = place->after_start[op], end = place->after_start[op + 1];
    bool            leaves = first == end || !run->kernels->kernel;
    for (int i = first; i < end && !leaves; i++) {
        leaves = kernel_of(run, place->after[i]) != kernel;
    }
    return place->workspace_bytes[op] + (leaves ? place->output_bytes[op] : 0);
}

static inline void start_kernel(Run *run, int kernel)
{
    const MerKernels *kernels = run->kernels;
    const MerCluster *cluster = run->cluster;
    int               unit = run->unit[kernel], stream = first_stream(run, unit);
    double            time = time_of(run, kernel, unit);
    double            start = later(run->now, run->stream_free[stream]);
    run->stream_free[stream] = start + time + (time > 0 ? cluster->gap_us[unit] : 0);
    run->running[run->channels + unit]++;
    push_event(run->events, &run->event_count, (Event){start + time, kernel});
    double rest = cluster->tail_us ? cluster->tail_us[kernel] : time;
    if (start + rest > run->limit) {
        run->outcome->end = MER_CLUSTER_CUT;
    }
    double bytes = 0;
    if (kernels->kernel) {
        for (int i = kernels->start[kernel]; i < kernels->start[kernel + 1]; i++) {
            bytes += needs(run, kernels->members[i], kernel);
        }
    } else {
        bytes = needs(run, kernel, kernel);
    }
    hold(run, unit, bytes, kernel);
    if (run->record) {
        run->record->start_us[kernel] = start;
        run->record->end_us[kernel] = start + time;
        run->record->stream[kernel] = stream;
    }
}

/* Memory for what arrives is held from the moment that its transfer is next. */
static void hold_receivers(Run *run, const Transfer *transfer)
{
    const MerPlace *place = run->place;
    int             op = transfer->op;
    if (transfer->to >= 0) {
        hold(run, transfer->to, place->output_bytes[op], op);
        return;
    }
    for (int u = 0; u < run->units; u++) {
        if (u != run->unit[op] && *copies(run, op, u) > 0) {
            hold(run, u, place->output_bytes[op], op);
        }
    }
}

/* A broadcast takes as long as the slowest of its ways, and rests as long as the longest of their gaps. */
static MerHop broadcast_hop(const Run *run, const Transfer *transfer, double *time)
{
    const MerPlace *place = run->place;
    int             from = run->unit[transfer->op];
    MerHop          hop = {.channel = transfer->channel};
    *time = 0;
    for (int i = place->after_start[transfer->op]; i < place->after_start[transfer->op + 1]; i++) {
        int           to = run->unit[place->after[i]];
        const MerWay *way = &run->cluster->ways[from * run->units + to];
        if (to != from) {
            *time = later(*time, way->latency_us + transfer->bytes * way->us_per_byte);
            hop.gap_us = later(hop.gap_us, way->hops[0].gap_us);
        }
    }
    return hop;
}

/* Without overlap a unit computes nothing while it sends or receives. Does this step of a transfer keep `unit` busy? */
static bool keeps_busy(const Run *run, const Transfer *transfer, int unit)
{
    const MerCluster *cluster = run->cluster;
    int               from = run->unit[transfer->op];
    if (unit == from) {
        return transfer->hop == 0;
    }
    if (transfer->to < 0) {
        return *copies(run, transfer->op, unit) > 0;
    }
    return unit == transfer->to &&
           (!cluster->goes_by_hops ||
            transfer->hop == cluster->ways[from * run->units + unit].count - 1);
}

static double wait_for_units(const Run *run, const Transfer *transfer, double start)
{
    const int *first = run->cluster->stream_start;
    for (int u = 0; u < run->units; u++) {
        for (int s = first[u]; s < first[u + 1] && keeps_busy(run, transfer, u); s++) {
            start = later(start, run->stream_free[s]);
        }
    }
    return start;
}

static void keep_units(Run *run, const Transfer *transfer, double end)
{
    const int *first = run->cluster->stream_start;
    for (int u = 0; u < run->units; u++) {
        for (int s = first[u]; s < first[u + 1] && keeps_busy(run, transfer, u); s++) {
            run->stream_free[s] = end;
        }
    }
}

static void note_transfer(Run *run, const Transfer *transfer, double start, double end)
{
    MerClusterRecord *record = run->record;
    MER_GROW(record->arena, record->transfers, record->transfer_count);
    record->transfers[record->transfer_count++] = (MerTransferTimes){
        transfer->op, transfer->to, transfer->channel, transfer->bytes, transfer->ready,
        start,        end};
}

static inline void start_transfer(Run *run, int index)
{
    const MerCluster *cluster = run->cluster;
    Transfer         *transfer = &run->transfers[index];
    int               from = run->unit[transfer->op];
    bool              by_hops = cluster->goes_by_hops;
    double            start = run->now, time;
    const MerHop     *hops;
    MerHop            broadcast;
    int               hop_count = 1;
    if (transfer->to < 0) {
        broadcast = broadcast_hop(run, transfer, &time);
        hops = &broadcast;
    } else {
        const MerWay *way = &cluster->ways[from * run->units + transfer->to];
        hops = by_hops ? &way->hops[transfer->hop] : way->hops;
        hop_count = by_hops ? 1 : way->count;
        time = by_hops ? hops->latency_us + transfer->bytes * hops->us_per_byte
                       : way->latency_us + transfer->bytes * way->us_per_byte;
    }
    for (int h = 0; h < hop_count; h++) {
        start = later(start, run->channel_free[hops[h].channel]);
    }
    start = cluster->options.overlap ? start : wait_for_units(run, transfer, start);
    double end = start + time;
    for (int h = 0; h < hop_count; h++) {
        run->channel_free[hops[h].channel] = end + (time > 0 ? hops[h].gap_us : 0);
    }
    if (!cluster->options.overlap) {
        keep_units(run, transfer, end);
    }
    run->running[transfer->channel]++;
    push_event(run->events, &run->event_count, (Event){end, run->place->op_count + index});
    if (transfer->first == index && transfer->hop == 0) {
        hold_receivers(run, transfer);
    }
    if (run->record) {
        note_transfer(run, transfer, start, end);
    }
}

static void start_from(Run *run, int queue)
{
    while (run->queues.head[queue] >= 0 && run->running[queue] < capacity(run, queue)) {
        int item = take_item(&run->queues, queue);
        if (item < run->place->op_count) {
            start_kernel(run, item);
        } else {
            start_transfer(run, item - run->place->op_count);
        }
    }
}

/* Channels before units, so that results leave before the next operator keeps the unit (where these do not overlap). */
static void start_waiting(Run *run)
{
    int units = 0;
    for (int t = 0; t < run->touched_count; t++) {
        int queue = run->touched[t];
        run->is_touched[queue] = false;
        if (queue < run->channels) {
            start_from(run, queue);
        } else {
            run->touched[units++] = queue;
        }
    }
    for (int u = 0; u < units; u++) {
        start_from(run, run->touched[u]);
    }
    run->touched_count = 0;
}

/* Most transfers that a plan can have. */
static size_t transfer_limit(const MerCluster *cluster)
{
    return (size_t)cluster->place->edge_count * (size_t)cluster->max_parts + 1;
}

static void allocate(Run *run, MerArena *scratch)
{
    const MerCluster *cluster = run->cluster;
    size_t            ops = (size_t)run->place->op_count, units = (size_t)run->units;
    size_t            channels = (size_t)run->channels, queues = channels + units;
    size_t            streams = (size_t)cluster->stream_start[units];
    size_t            items = ops + transfer_limit(cluster);
    double           *reals = MER_ARRAY(scratch, double, 2 * units + channels + streams);
    int              *numbers = MER_ARRAY(scratch, int, 2 * units + 3 * queues + channels);
    run->memory = reals;
    run->outcome->peak = reals + units;
    run->channel_free = reals + 2 * units;
    run->stream_free = run->channel_free + channels;
    run->sent = numbers;
    run->outcome->peak_op = numbers + units;
    run->running = run->outcome->peak_op + units;
    run->touched = run->running + queues;
    run->queues.head = run->touched + queues;
    run->is_touched = MER_ARRAY(scratch, bool, queues);
    run->waiting = MER_ARRAY(scratch, int, ops);
    run->left = MER_ARRAY(scratch, int, ops *units);
    run->queues.tail = MER_ARRAY(scratch, int, queues);
    run->queues.next = MER_ARRAY(scratch, int, items);
    run->events = MER_ARRAY(scratch, Event, streams + channels + 1);
    run->transfers = MER_ARRAY(scratch, Transfer, items - ops);
    memset(run->queues.head, -1, queues * sizeof(int));
    memset(run->outcome->peak_op, -1, units * sizeof(int));
    if (run->kernels->priority) {
        run->queues.right = MER_ARRAY(scratch, int, items);
        run->queues.key = MER_ARRAY(scratch, uint64_t, items);
    }
}

/* Who reads which result where, and how many each kernel waits for. */
static void count_readers(Run *run)
{
    const MerPlace *place = run->place;
    const int      *unit = run->unit;
    double          busy = 0;
    for (int o = 0; o < place->op_count; o++) {
        int own = unit[o], kernel = kernel_of(run, o);
        run->memory[own] += place->size[o];
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int consumer = place->after[i], reader = kernel_of(run, consumer);
            if (reader != kernel) {
                ++*copies(run, o, unit[consumer]);
                run->waiting[reader]++;
            }
        }
        if (kernel == o) {
            busy += time_of(run, o, own) / run->cluster->streams[own];
        }
    }
    run->outcome->busy_us = busy;
    memcpy(run->outcome->peak, run->memory, (size_t)run->units * sizeof(double));
}

static void start_sources(Run *run)
{
    for (int o = 0; o < run->place->op_count; o++) {
        if (run->waiting[o] == 0 && kernel_of(run, o) == o) {
            enqueue(run, run->channels + run->unit[o], o, o);
        }
    }
    start_waiting(run);
}

static void fill_members(Run *run)
{
    MerClusterRecord *record = run->record;
    for (int o = 0; o < run->place->op_count; o++) {
        int kernel = kernel_of(run, o);
        record->ready_us[o] = record->ready_us[kernel];
        record->start_us[o] = record->start_us[kernel];
        record->end_us[o] = record->end_us[kernel];
        record->stream[o] = record->stream[kernel];
    }
}

void mer_cluster_run(const MerCluster *cluster, const MerGraphPlan *plan, const MerKernels *kernels,
                     double limit_us, MerArena *scratch, MerClusterRecord *record,
                     MerClusterOutcome *outcome)
{
    Run run = {.cluster = cluster,
               .place = cluster->place,
               .unit = plan->unit,
               .kernels = kernels,
               .record = record,
               .outcome = outcome,
               .limit = limit_us,
               .units = cluster->place->unit_count,
               .channels = cluster->channel_count,
               .unfinished = kernels->kernel ? kernels->count : cluster->place->op_count};
    *outcome = (MerClusterOutcome){.end = MER_CLUSTER_DONE};
    allocate(&run, scratch);
    count_readers(&run);
    for (int u = 0; record && u < run.units; u++) {
        note_memory(&run, u);
    }
    start_sources(&run);
    while (run.event_count > 0 && outcome->end == MER_CLUSTER_DONE) {
        run.now = run.events[0].time;
        do {
            int item = pop_event(run.events, &run.event_count).item;
            if (item < run.place->op_count) {
                finish_kernel(&run, item);
            } else {
                finish_transfer(&run, item - run.place->op_count);
            }
        } while (run.event_count > 0 && run.events[0].time == run.now);
        start_waiting(&run);
    }
    outcome->makespan_us = run.now;
    if (outcome->end == MER_CLUSTER_DONE && run.unfinished > 0) {
        outcome->end = MER_CLUSTER_CYCLE;
        while (run.waiting[kernel_of(&run, outcome->op)] == 0) {
            outcome->op++;
        }
    }
    if (record) {
        record->kernel = kernels->kernel;
        fill_members(&run);
    }
}
