/* The simulation of a cluster for what searches price most: no fusion, no priorities, one stream per unit, one link from unit to unit,
 * copies beside the work. The same results as cluster_run.c to the bit. First come, first served needs no choice: who finds its unit
 * or channel idle has it, and who ends hands it to the next. Starts wait until everything of the instant has ended, since memory is
 * given back before it is taken. */
#include "place/cost/cluster.h"
#include "place/cost/cluster_queue.h"

#include <string.h>

struct MerPlainOp {
    int    before, before_end, after, after_end; /* its edges */
    double bytes, workspace;
    double tail_us;
};

typedef struct Server { /* a unit, or a channel */
    double free_at;     /* the gap after its last use is over */
    int    head, tail;  /* of its queue; head -1: empty */
    bool   is_busy;
} Server;

typedef struct Memory {
    double bytes, peak;
    int    peak_op;
} Memory;

typedef struct Sent { /* an item from op_count on */
    int op, to, channel;
} Sent;

typedef struct Run {
    const MerCluster *cluster;
    const int        *unit;
    int               ops, units;
    double            now;
    int              *waiting, *left, *next; /* by operator; [op * units + unit]; by item */
    int              *reached; /* by unit: the last operator whose result goes there, from 1 */
    Server           *servers; /* units, then channels */
    Memory           *memory;
    Sent             *sent;
    int               sent_count;
    int              *starting, starting_count; /* items */
    Event            *events;
    int               event_count;
} Run;

#define INLINE static inline __attribute__((always_inline))

INLINE void hold(Run *run, int unit, double bytes, int op)
{
    Memory *memory = &run->memory[unit];
    memory->bytes += bytes;
    if (memory->bytes > memory->peak) {
        memory->peak = memory->bytes;
        memory->peak_op = op;
    }
}

INLINE void drop_copy(Run *run, int op, int unit)
{
    if (--run->left[op * run->units + unit] == 0) {
        run->memory[unit].bytes -= run->cluster->plain_ops[op].bytes;
    }
}

INLINE void arrive(Run *run, Server *server, int item)
{
    if (!server->is_busy) {
        server->is_busy = true;
        run->starting[run->starting_count++] = item;
        return;
    }
    run->next[item] = -1;
    if (server->head < 0) {
        server->head = item;
    } else {
        run->next[server->tail] = item;
    }
    server->tail = item;
}

INLINE void leave(Run *run, Server *server)
{
    int item = server->head;
    if (item < 0) {
        server->is_busy = false;
        return;
    }
    server->head = run->next[item];
    run->starting[run->starting_count++] = item;
}

INLINE void finish_op(Run *run, int op)
{
    const struct MerPlainOp *known = &run->cluster->plain_ops[op];
    const MerPlace          *place = run->cluster->place;
    int                      unit = run->unit[op];
    leave(run, &run->servers[unit]);
    for (int i = known->before; i < known->before_end; i++) {
        drop_copy(run, place->before[i], unit);
    }
    for (int i = known->after; i < known->after_end; i++) {
        int consumer = place->after[i], to = run->unit[consumer];
        if (to == unit) {
            if (--run->waiting[consumer] == 0) {
                arrive(run, &run->servers[unit], consumer);
            }
        } else if (run->reached[to] != op + 1) {
            int channel = run->cluster->ways[unit * run->units + to].hops->channel;
            run->reached[to] = op + 1;
            run->left[op * run->units + unit]++;
            run->sent[run->sent_count] = (Sent){op, to, channel};
            arrive(run, &run->servers[run->units + channel], run->ops + run->sent_count++);
        }
    }
    run->memory[unit].bytes -=
        known->workspace + (known->after == known->after_end ? known->bytes : 0);
}

INLINE void finish_transfer(Run *run, int index)
{
    Sent                     sent = run->sent[index];
    const struct MerPlainOp *known = &run->cluster->plain_ops[sent.op];
    const MerPlace          *place = run->cluster->place;
    leave(run, &run->servers[run->units + sent.channel]);
    drop_copy(run, sent.op, run->unit[sent.op]);
    for (int i = known->after; i < known->after_end; i++) {
        int consumer = place->after[i];
        if (run->unit[consumer] == sent.to && --run->waiting[consumer] == 0) {
            arrive(run, &run->servers[sent.to], consumer);
        }
    }
}

/* false: it cannot end below the limit. */
INLINE bool start(Run *run, int item, double limit)
{
    const MerCluster *cluster = run->cluster;
    double            time, gap, start = run->now, least = 0;
    Server           *server;
    if (item < run->ops) {
        const struct MerPlainOp *known = &cluster->plain_ops[item];
        int                      unit = run->unit[item];
        server = &run->servers[unit];
        time = cluster->place->time_us[item * run->units + unit];
        gap = cluster->gap_us[unit];
        least = known->tail_us;
        hold(run, unit, known->bytes + known->workspace, item);
    } else {
        Sent          sent = run->sent[item - run->ops];
        const MerWay *way = &cluster->ways[run->unit[sent.op] * run->units + sent.to];
        double        bytes = cluster->plain_ops[sent.op].bytes;
        server = &run->servers[run->units + sent.channel];
        time = way->latency_us + bytes * way->us_per_byte;
        gap = way->hops->gap_us;
        hold(run, sent.to, bytes, sent.op);
    }
    start = server->free_at > start ? server->free_at : start;
    server->free_at = start + time + (time > 0 ? gap : 0);
    push_event(run->events, &run->event_count, (Event){start + time, item});
    return start + least <= limit;
}

INLINE bool start_all(Run *run, double limit)
{
    bool is_below = true;
    for (int i = 0; i < run->starting_count; i++) {
        is_below = start(run, run->starting[i], limit) && is_below;
    }
    run->starting_count = 0;
    return is_below;
}

static void allocate(Run *run, MerArena *scratch)
{
    const MerPlace *place = run->cluster->place;
    size_t          ops = (size_t)run->ops, units = (size_t)run->units;
    size_t          servers = units + (size_t)run->cluster->channel_count;
    size_t          items = ops + (size_t)place->edge_count;
    run->waiting = MER_ARRAY(scratch, int, ops + ops * units + units);
    run->left = run->waiting + ops;
    run->reached = run->left + ops * units;
    run->next = MER_ARRAY(scratch, int, items + servers);
    run->starting = run->next + items;
    run->servers = MER_ARRAY(scratch, Server, servers);
    run->memory = MER_ARRAY(scratch, Memory, units);
    run->sent = MER_ARRAY(scratch, Sent, items - ops + 1);
    run->events = MER_ARRAY(scratch, Event, servers + 1);
    for (size_t s = 0; s < servers; s++) {
        run->servers[s].head = -1;
    }
}

/* Who reads which result where, and what starts at once. */
static void prepare(Run *run, MerClusterOutcome *outcome)
{
    const MerPlace *place = run->cluster->place;
    for (int o = 0; o < run->ops; o++) {
        const struct MerPlainOp *known = &run->cluster->plain_ops[o];
        int                      unit = run->unit[o];
        run->memory[unit].bytes += place->size[o];
        run->waiting[o] = known->before_end - known->before;
        outcome->busy_us += place->time_us[o * run->units + unit];
        for (int i = known->after; i < known->after_end; i++) {
            run->left[o * run->units + run->unit[place->after[i]]]++;
        }
        if (run->waiting[o] == 0) {
            arrive(run, &run->servers[unit], o);
        }
    }
    for (int u = 0; u < run->units; u++) {
        run->memory[u].peak = run->memory[u].bytes;
        run->memory[u].peak_op = -1;
    }
}

static double run_events(Run *given, double limit, bool *is_cut)
{
    Run  local = *given, *run = &local; /* not seen elsewhere, so that it may live in registers */
    bool is_below = start_all(run, limit);
    while (run->event_count > 0 && is_below) {
        run->now = run->events[0].time;
        do {
            int item = pop_event(run->events, &run->event_count).item;
            if (item < run->ops) {
                finish_op(run, item);
            } else {
                finish_transfer(run, item - run->ops);
            }
        } while (run->event_count > 0 && run->events[0].time == run->now);
        is_below = start_all(run, limit);
    }
    *is_cut = !is_below;
    return run->now;
}

void mer_cluster_run_plain(const MerCluster *cluster, const MerGraphPlan *plan, double limit_us,
                           MerArena *scratch, MerClusterOutcome *outcome)
{
    Run  run = {.cluster = cluster,
                .unit = plan->unit,
                .ops = cluster->place->op_count,
                .units = cluster->place->unit_count};
    bool is_cut;
    *outcome = (MerClusterOutcome){.peak = MER_ARRAY(scratch, double, run.units),
                                   .peak_op = MER_ARRAY(scratch, int, run.units)};
    allocate(&run, scratch);
    prepare(&run, outcome);
    outcome->makespan_us = run_events(&run, limit_us, &is_cut);
    outcome->end = is_cut ? MER_CLUSTER_CUT : MER_CLUSTER_DONE;
    for (int u = 0; u < run.units; u++) {
        outcome->peak[u] = run.memory[u].peak;
        outcome->peak_op[u] = run.memory[u].peak_op;
    }
}

/* Every way is one link, and operators do not run side by side. */
static bool is_plain(const MerCluster *cluster)
{
    int  units = cluster->place->unit_count;
    bool is_known = cluster->options.link_model == MER_LINKS_PAIR && cluster->options.overlap;
    for (int u = 0; u < units && is_known; u++) {
        is_known = cluster->streams[u] == 1;
        for (int to = 0; to < units && is_known; to++) {
            is_known = to == u || cluster->ways[u * units + to].count == 1;
        }
    }
    /* indices of tables stay below 2^31 */
    return is_known && (int64_t)units * cluster->place->op_count < INT32_MAX;
}

void mer_cluster_prepare_plain(MerCluster *cluster, MerArena *arena)
{
    const MerPlace    *place = cluster->place;
    struct MerPlainOp *ops = MER_ARRAY(arena, struct MerPlainOp, place->op_count);
    for (int o = 0; o < place->op_count; o++) {
        ops[o] = (struct MerPlainOp){place->before_start[o],
                                     place->before_start[o + 1],
                                     place->after_start[o],
                                     place->after_start[o + 1],
                                     place->output_bytes[o],
                                     place->workspace_bytes[o],
                                     cluster->tail_us ? cluster->tail_us[o] : 0};
    }
    cluster->plain_ops = is_plain(cluster) ? ops : NULL;
}
