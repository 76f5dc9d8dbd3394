/* Inside the simulation of a cluster (cluster_run.c, cluster_transfers.c): what is under way, and what operators and transfers do
 * alike. */
#ifndef MERCATOR_PLACE_COST_CLUSTER_RUN_H
#define MERCATOR_PLACE_COST_CLUSTER_RUN_H

#include "place/cost/cluster.h"
#include "place/cost/cluster_queue.h"

typedef struct Transfer {
    int    op, to; /* to -1: all that read it */
    int    channel, hop;
    int    first;      /* of the parts of one result */
    int    parts_left; /* of the first */
    double bytes, ready;
} Transfer;

typedef struct ClusterRun {
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
} ClusterRun;

static inline int kernel_of(const ClusterRun *run, int op)
{
    return run->kernels->kernel ? run->kernels->kernel[op] : op;
}

static inline double time_of(const ClusterRun *run, int kernel, int unit)
{
    return run->kernels->time_us
               ? run->kernels->time_us[kernel]
               : run->place->time_us[(size_t)kernel * (size_t)run->units + (size_t)unit];
}

static inline int *copies(const ClusterRun *run, int op, int unit)
{
    return &run->left[(size_t)op * (size_t)run->units + (size_t)unit];
}

void mer_cluster_note_memory(ClusterRun *run, int unit); /* in the record, which is there */

static inline void hold(ClusterRun *run, int unit, double bytes, int op)
{
    MerClusterOutcome *outcome = run->outcome;
    double             total = run->memory[unit] += bytes;
    if (total > outcome->peak[unit]) {
        outcome->peak[unit] = total;
        outcome->peak_op[unit] = op;
    }
    if (run->record) {
        mer_cluster_note_memory(run, unit);
    }
}

static inline void give_back(ClusterRun *run, int unit, double bytes)
{
    run->memory[unit] -= bytes;
    if (run->record) {
        mer_cluster_note_memory(run, unit);
    }
}

/* One of those that need a copy is done with it. */
static inline void drop_copy(ClusterRun *run, int op, int unit)
{
    if (--*copies(run, op, unit) == 0) {
        give_back(run, unit, run->place->output_bytes[op]);
    }
}

static inline int capacity(const ClusterRun *run, int queue)
{
    return queue < run->channels ? 1 : run->cluster->streams[queue - run->channels];
}

static inline void touch(ClusterRun *run, int queue)
{
    if (!run->is_touched[queue]) {
        run->is_touched[queue] = true;
        run->touched[run->touched_count++] = queue;
    }
}

static inline void enqueue(ClusterRun *run, int queue, int item, int kernel)
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

static inline void finish_input(ClusterRun *run, int op)
{
    int kernel = kernel_of(run, op);
    if (--run->waiting[kernel] == 0) {
        if (run->record) {
            run->record->ready_us[kernel] = run->now;
        }
        enqueue(run, run->channels + run->unit[op], kernel, kernel);
    }
}

static inline double later(double a, double b)
{
    return a > b ? a : b;
}

/* cluster_transfers.c: the result of an operator starts its way to another unit; a transfer that is next, and one that has ended. */
void mer_cluster_send(ClusterRun *run, int op, int to);
void mer_cluster_start_transfer(ClusterRun *run, int index);
void mer_cluster_finish_transfer(ClusterRun *run, int index);

#endif
