/* The simulation of a cluster from event to event (docs/placement.md, "cluster"). Whatever starts knows when it ends, so that there
 * is one event per kernel and one per transfer. At one instant everything that ends is taken note of, operators before transfers;
 * then channels and units take what is next. Numbers of units decide nothing: like units may change places. */
#include "place/cost/cluster_run.h"

#include <string.h>

void mer_cluster_note_memory(ClusterRun *run, int unit)
{
    MerClusterRecord *record = run->record;
    MER_GROW(record->arena, record->steps, record->step_count);
    record->steps[record->step_count++] = (MerMemoryStep){run->now, run->memory[unit], unit};
}

/* A kernel is done: an operator of it gives back what it read, and its result goes to those who wait for it. */
static inline void finish_member(ClusterRun *run, int op, int kernel, int unit)
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
            mer_cluster_send(run, op, to);
        }
    }
    double bytes = place->workspace_bytes[op];
    bytes += place->after_start[op] == place->after_start[op + 1] ? place->output_bytes[op] : 0;
    if (bytes > 0) {
        give_back(run, unit, bytes);
    }
}

static void finish_kernel(ClusterRun *run, int kernel)
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

static inline int first_stream(const ClusterRun *run, int unit)
{
    int best = run->cluster->stream_start[unit];
    for (int s = best + 1; s < run->cluster->stream_start[unit + 1]; s++) {
        best = run->stream_free[s] < run->stream_free[best] ? s : best;
    }
    return best;
}

/* Memory that an operator needs from now on: its result unless it stays inside the kernel, and its workspace. */
static inline double needs(const ClusterRun *run, int op, int kernel)
{
    const MerPlace *place = run->place;
    int             first = place->after_start[op], end = place->after_start[op + 1];
    bool            leaves = first == end || !run->kernels->kernel;
    for (int i = first; i < end && !leaves; i++) {
        leaves = kernel_of(run, place->after[i]) != kernel;
    }
    return place->workspace_bytes[op] + (leaves ? place->output_bytes[op] : 0);
}

static inline void start_kernel(ClusterRun *run, int kernel)
{
    const MerKernels *kernels = run->kernels;
    const MerCluster *cluster = run->cluster;
    int               unit = run->unit[kernel], stream = first_stream(run, unit);
    double            time = time_of(run, kernel, unit);
    double            start = later(run->now, run->stream_free[stream]);
    run->stream_free[stream] = start + time + (time > 0 ? cluster->gap_us[unit] : 0);
    run->running[run->channels + unit]++;
    push_event(run->events, &run->event_count, (Event){start + time, kernel});
    double rest = cluster->tail_us && !kernels->kernel ? cluster->tail_us[kernel] : time;
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

static void start_from(ClusterRun *run, int queue)
{
    while (run->queues.head[queue] >= 0 && run->running[queue] < capacity(run, queue)) {
        int item = take_item(&run->queues, queue);
        if (item < run->place->op_count) {
            start_kernel(run, item);
        } else {
            mer_cluster_start_transfer(run, item - run->place->op_count);
        }
    }
}

/* Channels before units, so that results leave before the next operator keeps the unit (where these do not overlap). */
static void start_waiting(ClusterRun *run)
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

static void allocate(ClusterRun *run, MerArena *scratch)
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
static void count_readers(ClusterRun *run)
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

static void start_sources(ClusterRun *run)
{
    for (int o = 0; o < run->place->op_count; o++) {
        if (run->waiting[o] == 0 && kernel_of(run, o) == o) {
            enqueue(run, run->channels + run->unit[o], o, o);
        }
    }
    start_waiting(run);
}

static void fill_members(ClusterRun *run)
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
    ClusterRun run = {.cluster = cluster,
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
        mer_cluster_note_memory(&run, u);
    }
    start_sources(&run);
    while (run.event_count > 0 && outcome->end == MER_CLUSTER_DONE) {
        run.now = run.events[0].time;
        do {
            int item = pop_event(run.events, &run.event_count).item;
            if (item < run.place->op_count) {
                finish_kernel(&run, item);
            } else {
                mer_cluster_finish_transfer(&run, item - run.place->op_count);
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
