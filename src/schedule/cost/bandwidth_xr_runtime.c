/* The event loop of XRBench's published code (docs/bandwidth-model.md, "The score of XRBench",
 * `xr=compat`), kept with its habits: it counts completions instead of naming them, and notices arrivals
 * late. */
#include "schedule/cost/bandwidth_xr.h"

#include <math.h>
#include <string.h>

typedef struct Queue { /* of one model: requests first .. next - 1 have been injected and wait */
    int period_ms, count, first, next, completed;
} Queue;

typedef struct Loop {
    const MerXrRuntime *input;
    int                *order; /* models by name */
    Queue              *queues;
    double             *injected; /* [model * most + request] */
    int                 most;
    MerXrRequest       *running; /* by unit; model -1: idle */
    MerXrRequest       *log;
    int                 log_count;
    double              now;
} Loop;

static int next_existing(const Loop *loop, int model, int request)
{
    const MerXrModel *m = &loop->input->models[model];
    while (request < loop->queues[model].count && m->exists &&
           (request >= m->exists_count || !m->exists[request])) {
        request++;
    }
    return request;
}

static void prepare(Loop *loop, MerArena *arena)
{
    const MerXrRuntime *input = loop->input;
    loop->order = MER_ARRAY(arena, int, input->model_count + 1);
    loop->queues = MER_ARRAY(arena, Queue, input->model_count + 1);
    loop->running = MER_ARRAY(arena, MerXrRequest, input->unit_count);
    int total = 0;
    for (int m = 0; m < input->model_count; m++) {
        int period = input->models[m].is_used ? (int)(1000 / input->models[m].fps) : 0;
        period = period < 1 ? 1 : period; /* faster than upstream can say */
        int count = input->models[m].is_used ? (int)(input->run_ms / period) : 0;
        loop->queues[m] = (Queue){period, count, 0, 0, 0};
        loop->most = loop->queues[m].count > loop->most ? loop->queues[m].count : loop->most;
        total += loop->queues[m].count;
        int at = m;
        for (; at > 0 && strcmp(input->models[loop->order[at - 1]].name, input->models[m].name) > 0;
             at--) {
            loop->order[at] = loop->order[at - 1];
        }
        loop->order[at] = m;
    }
    for (int m = 0; m < input->model_count; m++) {
        loop->queues[m].first = loop->queues[m].next = next_existing(loop, m, 0);
    }
    for (int u = 0; u < input->unit_count; u++) {
        loop->running[u].model = -1;
    }
    loop->injected = MER_ARRAY(arena, double, (size_t)(input->model_count * loop->most) + 1);
    loop->log = MER_ARRAY(arena, MerXrRequest, total + 1);
}

/* At most one request of each model; false when none is left to come. */
static bool inject(Loop *loop)
{
    bool is_more = false;
    for (int m = 0; m < loop->input->model_count; m++) {
        Queue *queue = &loop->queues[m];
        if (queue->next < queue->count && (double)queue->next * queue->period_ms <= loop->now) {
            loop->injected[m * loop->most + queue->next] = loop->now;
            queue->next = next_existing(loop, m, queue->next + 1);
        }
        is_more = is_more || queue->next < queue->count;
    }
    return is_more;
}

static void retire(Loop *loop)
{
    for (int u = 0; u < loop->input->unit_count; u++) {
        MerXrRequest *request = &loop->running[u];
        if (request->model >= 0 && request->finish <= loop->now) {
            loop->log[loop->log_count++] = *request;
            loop->queues[request->model].completed++;
            request->model = -1;
        }
    }
}

static MerXrRequest head_of(const Loop *loop, int model)
{
    const Queue *queue = &loop->queues[model];
    return (MerXrRequest){.model = model,
                          .index = queue->first,
                          .unit = -1,
                          .injected = loop->injected[model * loop->most + queue->first],
                          .deadline = (queue->first + 1.0) * queue->period_ms};
}

static void take_head(Loop *loop, int model)
{
    loop->queues[model].first = next_existing(loop, model, loop->queues[model].first + 1);
}

static void drop_late(Loop *loop)
{
    for (int m = 0; m < loop->input->model_count; m++) {
        while (loop->queues[m].first < loop->queues[m].next) {
            MerXrRequest head = head_of(loop, m);
            if (!(head.deadline < loop->now)) {
                break;
            }
            head.is_dropped = true;
            loop->log[loop->log_count++] = head;
            take_head(loop, m);
        }
    }
}

static int cheapest_idle(const Loop *loop, int model)
{
    const double *price = loop->input->price + (size_t)model * (size_t)loop->input->unit_count;
    int           best = -1;
    for (int u = 0; u < loop->input->unit_count; u++) {
        if (loop->running[u].model < 0 && (best < 0 || price[u] < price[best])) {
            best = u;
        }
    }
    return best;
}

static void dispatch(Loop *loop)
{
    for (int i = 0; i < loop->input->model_count; i++) {
        int               m = loop->order[i];
        const MerXrModel *model = &loop->input->models[m];
        int               unit = cheapest_idle(loop, m);
        bool              is_ready = unit >= 0 && loop->queues[m].first < loop->queues[m].next;
        for (int a = 0; is_ready && a < model->after_count; a++) {
            is_ready = loop->queues[model->after[a]].completed >= loop->queues[m].first + 1;
        }
        if (is_ready) {
            int           at = m * loop->input->unit_count + unit;
            MerXrRequest *request = &loop->running[unit];
            *request = head_of(loop, m);
            request->unit = unit;
            request->start = loop->now;
            request->finish = loop->now + loop->input->latency_ms[at];
            request->energy_mj = loop->input->energy_mj[at];
            take_head(loop, m);
        }
    }
}

static double next_wake(const Loop *loop, int tick_ms)
{
    double wake = (floor(loop->now / tick_ms) + 1) * tick_ms;
    for (int u = 0; u < loop->input->unit_count; u++) {
        if (loop->running[u].model >= 0) {
            wake = fmin(wake, loop->running[u].finish);
        }
    }
    return wake;
}

int mer_xr_run(const MerXrRuntime *runtime, MerArena *arena, MerXrRequest **requests)
{
    Loop loop = {.input = runtime};
    int  tick_ms = 1000000;
    prepare(&loop, arena);
    for (int m = 0; m < runtime->model_count; m++) {
        bool is_faster = loop.queues[m].count > 0 && loop.queues[m].period_ms < tick_ms;
        tick_ms = is_faster ? loop.queues[m].period_ms : tick_ms;
    }
    while (inject(&loop)) {
        retire(&loop);
        drop_late(&loop);
        dispatch(&loop);
        loop.now = next_wake(&loop, tick_ms);
    }
    *requests = loop.log;
    return loop.log_count;
}
