/* Transfers of a simulated cluster: what a result queues for, holds and rests, by the model of links (docs/placement.md, "Links and
 * routes"). */
#include "place/cost/cluster_run.h"

/* A result arrives: its consumers on unit `to`, or on all units but its own. */
static void release_consumers(ClusterRun *run, int op, int to)
{
    const MerPlace *place = run->place;
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        int consumer = place->after[i], unit = run->unit[consumer];
        if (unit == to || (to < 0 && unit != run->unit[op])) {
            finish_input(run, consumer);
        }
    }
}

static void add_transfer(ClusterRun *run, Transfer transfer)
{
    int index = run->transfer_count++;
    transfer.first = transfer.first < 0 ? index : transfer.first;
    run->transfers[index] = transfer;
    enqueue(run, transfer.channel, run->place->op_count + index, kernel_of(run, transfer.op));
}

/* By hops a result goes in equal parts, so that a part can be on its second link while the next is on the first. */
void mer_cluster_send(ClusterRun *run, int op, int to)
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

void mer_cluster_finish_transfer(ClusterRun *run, int index)
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

/* Memory for what arrives is held from the moment that its transfer is next. */
static void hold_receivers(ClusterRun *run, const Transfer *transfer)
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
static MerHop broadcast_hop(const ClusterRun *run, const Transfer *transfer, double *time)
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
static bool keeps_busy(const ClusterRun *run, const Transfer *transfer, int unit)
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

static double wait_for_units(const ClusterRun *run, const Transfer *transfer, double start)
{
    const int *first = run->cluster->stream_start;
    for (int u = 0; u < run->units; u++) {
        for (int s = first[u]; s < first[u + 1] && keeps_busy(run, transfer, u); s++) {
            start = later(start, run->stream_free[s]);
        }
    }
    return start;
}

static void keep_units(ClusterRun *run, const Transfer *transfer, double end)
{
    const int *first = run->cluster->stream_start;
    for (int u = 0; u < run->units; u++) {
        for (int s = first[u]; s < first[u + 1] && keeps_busy(run, transfer, u); s++) {
            run->stream_free[s] = end;
        }
    }
}

static void note_transfer(ClusterRun *run, const Transfer *transfer, double start, double end)
{
    MerClusterRecord *record = run->record;
    MER_GROW(record->arena, record->transfers, record->transfer_count);
    record->transfers[record->transfer_count++] = (MerTransferTimes){
        transfer->op, transfer->to, transfer->channel, transfer->bytes, transfer->ready,
        start,        end};
}

void mer_cluster_start_transfer(ClusterRun *run, int index)
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
