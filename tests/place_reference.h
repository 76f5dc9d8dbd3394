/* The rules of evaluator `cluster` (docs/placement.md, "cluster") once more, as plainly as they can be said: lists that are searched
 * from end to end, and memory as intervals that are summed up afterwards. For the simulation that has to be fast to be held
 * against. */
#ifndef MERCATOR_TESTS_PLACE_REFERENCE_H
#define MERCATOR_TESTS_PLACE_REFERENCE_H

#include "place/cost/cluster.h"
#include "support.h"

typedef struct ReferenceItem { /* a kernel, or a part of a transfer */
    bool   is_kernel;
    int    op, to, hop;
    int    parts, *parts_left;
    double bytes, end;
    int    number; /* of its queueing */
    int    queue;  /* channel, or channel count + unit; -1: in none */
    bool   runs;
} ReferenceItem;

typedef struct ReferenceHold { /* bytes on a unit in rounds from .. to - 1 */
    int    unit, op, from, to;
    double bytes;
} ReferenceHold;

typedef struct Reference {
    const MerCluster *cluster;
    const MerPlace   *place;
    const int        *unit, *kernel, *priority; /* priority of a kernel, or NULL */
    const double     *time;                     /* of a kernel */
    ReferenceItem    *items;
    ReferenceHold    *holds;
    int               item_count, hold_count, queued, round;
    int              *touched, touched_count;
    double           *channel_free, *stream_free;
    double            now;
} Reference;

static inline void reference_touch(Reference *r, int queue)
{
    for (int i = 0; i < r->touched_count; i++) {
        if (r->touched[i] == queue) {
            return;
        }
    }
    r->touched[r->touched_count++] = queue;
}

static inline int reference_running(const Reference *r, int queue)
{
    int count = 0;
    for (int i = 0; i < r->item_count; i++) {
        count += r->items[i].runs && r->items[i].queue == queue;
    }
    return count;
}

static inline int reference_capacity(const Reference *r, int queue)
{
    int unit = queue - r->cluster->channel_count;
    return unit < 0 ? 1 : r->cluster->streams[unit];
}

static inline void reference_enqueue(Reference *r, ReferenceItem *item, int queue)
{
    item->queue = queue;
    item->number = r->queued++;
    if (reference_running(r, queue) < reference_capacity(r, queue)) {
        reference_touch(r, queue);
    }
}

/* Who needs the result of `op` on `unit`: its consumers there, but for those of its own kernel. */
static inline bool reference_reads(const Reference *r, int op, int unit, int consumer)
{
    bool is_consumer = false;
    for (int i = r->place->after_start[op]; i < r->place->after_start[op + 1]; i++) {
        is_consumer = is_consumer || r->place->after[i] == consumer;
    }
    return is_consumer && r->unit[consumer] == unit && r->kernel[consumer] != r->kernel[op];
}

static inline bool reference_is_done(const Reference *r, int kernel)
{
    return r->items[kernel].end < INFINITY && !r->items[kernel].runs && r->items[kernel].queue < 0;
}

static inline void reference_hold(Reference *r, int unit, int op, double bytes)
{
    r->holds[r->hold_count++] = (ReferenceHold){unit, op, r->round, INT32_MAX, bytes};
}

static inline void reference_drop(Reference *r, int unit, int op)
{
    for (int i = 0; i < r->hold_count; i++) {
        ReferenceHold *hold = &r->holds[i];
        if (hold->unit == unit && hold->op == op && hold->to == INT32_MAX) {
            hold->to = r->round;
            return;
        }
    }
}

/* Gives copies back that nobody needs any more: no reader on the unit is to come, and nothing of it is still being sent. */
static inline void reference_sweep(Reference *r, int op, int unit)
{
    bool is_needed = false;
    for (int c = 0; c < r->place->op_count; c++) {
        is_needed =
            is_needed || (reference_reads(r, op, unit, c) && !reference_is_done(r, r->kernel[c]));
    }
    for (int i = r->place->op_count; i < r->item_count && unit == r->unit[op]; i++) {
        is_needed = is_needed || (r->items[i].op == op && *r->items[i].parts_left > 0);
    }
    if (!is_needed) {
        reference_drop(r, unit, op);
    }
}

static inline void reference_send(Reference *r, int op, int to, MerArena *arena)
{
    const MerCluster *c = r->cluster;
    const MerWay     *way = &c->ways[r->unit[op] * r->place->unit_count + to];
    double            bytes = r->place->output_bytes[op];
    int               parts = c->goes_by_hops
                                  ? (int)fmax(1, fmin(c->max_parts, ceil(bytes / c->options.segment_bytes)))
                                  : 1;
    int              *left = MER_NEW(arena, int);
    *left = parts;
    for (int p = 0; p < parts; p++) {
        ReferenceItem *item = &r->items[r->item_count++];
        *item = (ReferenceItem){.op = op,
                                .to = c->is_broadcast ? -1 : to,
                                .parts = p == 0 ? parts : 0,
                                .parts_left = left,
                                .bytes = bytes / parts,
                                .end = INFINITY};
        reference_enqueue(r, item, way->hops[0].channel);
    }
}

static inline void reference_try_release(Reference *r, int consumer, int *missing)
{
    int kernel = r->kernel[consumer];
    if (--missing[kernel] == 0) {
        reference_enqueue(r, &r->items[kernel], r->cluster->channel_count + r->unit[consumer]);
    }
}

static inline void reference_finish_kernel(Reference *r, int kernel, int *missing, MerArena *arena)
{
    const MerPlace *place = r->place;
    int             unit = r->unit[kernel];
    for (int o = 0; o < place->op_count; o++) {
        if (r->kernel[o] != kernel) {
            continue;
        }
        for (int i = place->before_start[o]; i < place->before_start[o + 1]; i++) {
            if (r->kernel[place->before[i]] != kernel) {
                reference_sweep(r, place->before[i], unit);
            }
        }
        int first_item = r->item_count;
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int  consumer = place->after[i], to = r->unit[consumer];
            bool is_sent = false;
            for (int k = first_item; k < r->item_count; k++) {
                is_sent = is_sent || r->items[k].to == to || r->items[k].to < 0;
            }
            if (to == unit && r->kernel[consumer] != kernel) {
                reference_try_release(r, consumer, missing);
            } else if (to != unit && !is_sent) {
                reference_send(r, o, to, arena);
            }
        }
        reference_drop(r, unit, place->op_count + o); /* workspace */
        if (place->after_start[o] == place->after_start[o + 1]) {
            reference_drop(r, unit, o);
        }
    }
}

static inline void reference_finish_transfer(Reference *r, ReferenceItem *item, int *missing)
{
    const MerCluster *c = r->cluster;
    const MerPlace   *place = r->place;
    if (c->goes_by_hops) {
        const MerWay *way = &c->ways[r->unit[item->op] * place->unit_count + item->to];
        if (++item->hop < way->count) {
            reference_enqueue(r, item, way->hops[item->hop].channel);
            return;
        }
    }
    if (--*item->parts_left > 0) {
        return;
    }
    reference_sweep(r, item->op, r->unit[item->op]);
    for (int i = place->after_start[item->op]; i < place->after_start[item->op + 1]; i++) {
        int consumer = place->after[i], unit = r->unit[consumer];
        if (unit != r->unit[item->op] && (item->to < 0 || unit == item->to)) {
            reference_try_release(r, consumer, missing);
        }
    }
}

static inline void reference_start_kernel(Reference *r, ReferenceItem *item)
{
    const MerCluster *c = r->cluster;
    const MerPlace   *place = r->place;
    int               unit = r->unit[item->op], best = c->stream_start[unit];
    double            time = r->time[item->op];
    for (int s = best; s < c->stream_start[unit + 1]; s++) {
        best = r->stream_free[s] < r->stream_free[best] ? s : best;
    }
    double start = fmax(r->now, r->stream_free[best]);
    item->end = start + time;
    r->stream_free[best] = item->end + (time > 0 ? c->gap_us[unit] : 0);
    for (int o = 0; o < place->op_count; o++) {
        bool is_inner = place->after_start[o] < place->after_start[o + 1];
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            is_inner = is_inner && r->kernel[place->after[i]] == r->kernel[o];
        }
        if (r->kernel[o] == item->op) {
            reference_hold(r, unit, place->op_count + o, place->workspace_bytes[o]);
            if (!is_inner) {
                reference_hold(r, unit, o, place->output_bytes[o]);
            }
        }
    }
}

/* Units that the transfer reaches; its own does not count. */
static inline bool reference_reaches(const Reference *r, const ReferenceItem *item, int unit)
{
    bool is_read = false;
    for (int c = 0; c < r->place->op_count; c++) {
        is_read = is_read || reference_reads(r, item->op, unit, c);
    }
    return unit != r->unit[item->op] && is_read && (item->to < 0 || item->to == unit);
}

static inline bool reference_keeps(const Reference *r, const ReferenceItem *item, int unit)
{
    const MerCluster *c = r->cluster;
    int               from = r->unit[item->op], units = r->place->unit_count;
    bool is_last = !c->goes_by_hops || item->hop == c->ways[from * units + item->to].count - 1;
    return !c->options.overlap &&
           ((unit == from && item->hop == 0) || (is_last && reference_reaches(r, item, unit)));
}

static inline void reference_start_transfer(Reference *r, ReferenceItem *item)
{
    const MerCluster *c = r->cluster;
    int               from = r->unit[item->op], units = r->place->unit_count;
    const MerWay     *slowest = NULL;
    double            time = -1, gap = 0, start = r->now;
    for (int to = 0; to < units; to++) {
        const MerWay *way = &c->ways[from * units + to];
        double        needed = way->latency_us + item->bytes * way->us_per_byte;
        if (reference_reaches(r, item, to)) {
            slowest = needed > time ? way : slowest;
            time = fmax(time, needed);
            gap = fmax(gap, way->hops[0].gap_us);
        }
    }
    const MerHop *hops = slowest->hops + (c->goes_by_hops ? item->hop : 0);
    int           hop_count = c->goes_by_hops ? 1 : slowest->count;
    time = c->goes_by_hops ? hops->latency_us + item->bytes * hops->us_per_byte : time;
    for (int h = 0; h < hop_count; h++) {
        start = fmax(start, r->channel_free[hops[h].channel]);
    }
    for (int u = 0; u < units; u++) {
        for (int s = c->stream_start[u]; s < c->stream_start[u + 1]; s++) {
            start = reference_keeps(r, item, u) ? fmax(start, r->stream_free[s]) : start;
        }
    }
    item->end = start + time;
    for (int h = 0; h < hop_count; h++) {
        r->channel_free[hops[h].channel] = item->end + (time == 0         ? 0
                                                        : c->is_broadcast ? gap
                                                                          : hops[h].gap_us);
    }
    for (int u = 0; u < units; u++) {
        for (int s = c->stream_start[u]; s < c->stream_start[u + 1]; s++) {
            r->stream_free[s] = reference_keeps(r, item, u) ? item->end : r->stream_free[s];
        }
        if (item->parts > 0 && item->hop == 0 && reference_reaches(r, item, u)) {
            reference_hold(r, u, item->op, r->place->output_bytes[item->op]);
        }
    }
}

static inline bool reference_is_next(const Reference *r, const ReferenceItem *a,
                                     const ReferenceItem *b)
{
    int x = r->priority ? r->priority[r->kernel[a->op]] : 0;
    int y = r->priority ? r->priority[r->kernel[b->op]] : 0;
    return x != y ? x > y : a->number < b->number;
}

/* Channels first, then units, each in the order in which something happened to them. */
static inline void reference_start_all(Reference *r)
{
    for (int t = 0; t < 2 * r->touched_count; t++) {
        int  queue = r->touched[t % r->touched_count];
        bool is_unit = queue >= r->cluster->channel_count;
        while (is_unit == (t >= r->touched_count) &&
               reference_running(r, queue) < reference_capacity(r, queue)) {
            ReferenceItem *best = NULL;
            for (int i = 0; i < r->item_count; i++) {
                ReferenceItem *item = &r->items[i];
                if (item->queue == queue && !item->runs &&
                    (!best || reference_is_next(r, item, best))) {
                    best = item;
                }
            }
            if (!best) {
                break;
            }
            best->runs = true;
            if (best->is_kernel) {
                reference_start_kernel(r, best);
            } else {
                reference_start_transfer(r, best);
            }
        }
    }
    r->touched_count = 0;
}

/* The most that intervals add up to on each unit. */
static inline void reference_peaks(const Reference *r, double *peak)
{
    for (int u = 0; u < r->place->unit_count; u++) {
        peak[u] = 0;
        for (int o = 0; o < r->place->op_count; o++) {
            peak[u] += r->unit[o] == u ? r->place->size[o] : 0;
        }
        double weights = peak[u];
        for (int round = 0; round <= r->round; round++) {
            double bytes = weights;
            for (int i = 0; i < r->hold_count; i++) {
                const ReferenceHold *hold = &r->holds[i];
                bytes +=
                    hold->unit == u && hold->from <= round && round < hold->to ? hold->bytes : 0;
            }
            peak[u] = fmax(peak[u], bytes);
        }
    }
}

/* Gives the makespan in microseconds and the peak of each unit. */
static inline double reference_cluster(const MerCluster *cluster, const MerGraphPlan *plan,
                                       const MerKernels *kernels, double *peak, MerArena *arena)
{
    const MerPlace *place = cluster->place;
    size_t          count = (size_t)place->op_count, units = (size_t)place->unit_count;
    size_t          most = count + (size_t)(place->edge_count * cluster->max_parts) + 1;
    size_t          queues = (size_t)cluster->channel_count + units;
    int            *missing = MER_ARRAY(arena, int, count), *kernel = MER_ARRAY(arena, int, count);
    double         *time = MER_ARRAY(arena, double, count);
    Reference       r = {.cluster = cluster,
                         .place = place,
                         .unit = plan->unit,
                         .kernel = kernel,
                         .priority = kernels->priority,
                         .time = time,
                         .items = MER_ARRAY(arena, ReferenceItem, most),
                         .holds = MER_ARRAY(arena, ReferenceHold, 2 * count + most),
                         .item_count = place->op_count,
                         .touched = MER_ARRAY(arena, int, queues),
                         .channel_free = MER_ARRAY(arena, double, queues),
                         .stream_free = MER_ARRAY(arena, double, cluster->stream_start[units])};
    for (int o = 0; o < place->op_count; o++) {
        kernel[o] = kernels->kernel ? kernels->kernel[o] : o;
        time[o] = kernels->time_us ? kernels->time_us[o]
                                   : place->time_us[o * place->unit_count + plan->unit[o]];
        r.items[o] = (ReferenceItem){.is_kernel = true, .op = o, .queue = -1, .end = INFINITY};
    }
    for (int o = 0; o < place->op_count; o++) {
        for (int i = place->before_start[o]; i < place->before_start[o + 1]; i++) {
            missing[kernel[o]] += kernel[place->before[i]] != kernel[o];
        }
    }
    for (int o = 0; o < place->op_count; o++) {
        if (kernel[o] == o && missing[o] == 0) {
            reference_enqueue(&r, &r.items[o], cluster->channel_count + plan->unit[o]);
        }
    }
    for (reference_start_all(&r);; reference_start_all(&r)) {
        double next = INFINITY;
        for (int i = 0; i < r.item_count; i++) {
            next = r.items[i].runs ? fmin(next, r.items[i].end) : next;
        }
        if (next == INFINITY) {
            break;
        }
        r.now = next;
        r.round++;
        int known = r.item_count; /* transfers that are made now do not end now */
        for (int i = 0; i < known; i++) {
            ReferenceItem *item = &r.items[i];
            if (item->runs && item->end == next) {
                reference_touch(&r, item->queue);
                item->runs = false;
                item->queue = -1;
                if (item->is_kernel) {
                    reference_finish_kernel(&r, item->op, missing, arena);
                } else {
                    reference_finish_transfer(&r, item, missing);
                }
            }
        }
    }
    reference_peaks(&r, peak);
    return r.now;
}

#endif
