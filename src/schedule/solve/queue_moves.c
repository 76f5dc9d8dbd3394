/* Moves of jobs between and within queues, drawn and undone, and the loads by which a move is ruled out before
 * it is priced. */
#include "schedule/solve/queue_moves.h"

#include <math.h>
#include <string.h>

void mer_queues_begin(MerQueues *q, const MerSchedule *schedule, MerRng *rng, double swap,
                      MerArena *arena)
{
    int jobs = schedule->job_count;
    *q = (MerQueues){.schedule = schedule, .rng = rng, .swap = swap};
    q->unit = MER_ARRAY(arena, int, jobs + 1);
    q->place = MER_ARRAY(arena, int, jobs + 1);
    for (int u = 0; u < schedule->unit_count; u++) {
        q->queue[u] = MER_ARRAY(arena, int, jobs + 1);
    }
}

void mer_queues_count_excess(MerQueues *q, MerArena *arena)
{
    const MerSchedule *schedule = q->schedule;
    int                count = schedule->job_count * schedule->unit_count;
    double            *excess = MER_ARRAY(arena, double, count);
    for (int i = 0; i < count; i++) {
        excess[i] = schedule->latency[i] * fmax(0, schedule->rate[i] / schedule->bandwidth - 1);
    }
    q->excess = excess;
}

static void add_load(MerQueues *q, int job, int unit, double sign)
{
    int at = job * q->schedule->unit_count + unit;
    q->loads.unit[unit] += sign * q->schedule->latency[at];
    q->loads.excess += sign * (q->excess ? q->excess[at] : 0);
    q->loads.bytes += sign * q->schedule->traffic[at] / q->schedule->bandwidth;
}

void mer_queues_read(MerQueues *q, const MerJobsPlan *plan)
{
    memset(&q->loads, 0, sizeof q->loads);
    for (int u = 0; u < plan->unit_count; u++) {
        q->length[u] = plan->start[u + 1] - plan->start[u];
        memcpy(q->queue[u], plan->queue + plan->start[u], (size_t)q->length[u] * sizeof(int));
        for (int i = 0; i < q->length[u]; i++) {
            q->unit[q->queue[u][i]] = u;
            q->place[q->queue[u][i]] = i;
        }
    }
    for (int j = 0; j < plan->job_count; j++) {
        add_load(q, j, q->unit[j], 1);
    }
}

void mer_queues_write(const MerQueues *q, MerJobsPlan *plan)
{
    plan->start[0] = 0;
    for (int u = 0; u < plan->unit_count; u++) {
        memcpy(plan->queue + plan->start[u], q->queue[u], (size_t)q->length[u] * sizeof(int));
        plan->start[u + 1] = plan->start[u] + q->length[u];
    }
}

static void take_out(MerQueues *q, int job)
{
    int  unit = q->unit[job];
    int *queue = q->queue[unit];
    int  place = q->place[job];
    q->length[unit]--;
    memmove(queue + place, queue + place + 1, (size_t)(q->length[unit] - place) * sizeof *queue);
    for (int i = place; i < q->length[unit]; i++) {
        q->place[queue[i]] = i;
    }
    add_load(q, job, unit, -1);
}

static void put_in(MerQueues *q, int job, int unit, int place)
{
    int *queue = q->queue[unit];
    memmove(queue + place + 1, queue + place, (size_t)(q->length[unit] - place) * sizeof *queue);
    queue[place] = job;
    q->length[unit]++;
    q->unit[job] = unit;
    for (int i = place; i < q->length[unit]; i++) {
        q->place[queue[i]] = i;
    }
    add_load(q, job, unit, 1);
}

static void exchange(MerQueues *q, int a, int b)
{
    int unit = q->unit[a];
    int place = q->place[a];
    add_load(q, a, unit, -1);
    add_load(q, b, q->unit[b], -1);
    q->unit[a] = q->unit[b];
    q->place[a] = q->place[b];
    q->unit[b] = unit;
    q->place[b] = place;
    q->queue[q->unit[a]][q->place[a]] = a;
    q->queue[unit][place] = b;
    add_load(q, a, q->unit[a], 1);
    add_load(q, b, unit, 1);
}

static int any_busy_unit(MerQueues *q)
{
    int unit;
    do {
        unit = mer_rng_below(q->rng, q->schedule->unit_count);
    } while (q->length[unit] == 0);
    return unit;
}

static int any_job(MerQueues *q, int unit)
{
    return q->queue[unit][mer_rng_below(q->rng, q->length[unit])];
}

void mer_queues_undo(MerQueues *q)
{
    if (q->job[1] >= 0) {
        exchange(q, q->job[0], q->job[1]);
    } else {
        take_out(q, q->job[0]);
        put_in(q, q->job[0], q->from_unit, q->from_place);
    }
    q->loads = q->old_loads;
}

/* Whether it does not matter which of two jobs is which: layers are equal, and so is whatever else a metric or a
 * rule may look at. */
static bool is_interchangeable(const MerSchedule *schedule, int a, int b)
{
    bool is_timed = schedule->has_releases || schedule->has_deadlines;
    bool is_equal = schedule->layer[a] == schedule->layer[b] && !schedule->has_dependencies &&
                    schedule->tenant[a] == schedule->tenant[b];
    return is_equal && (!is_timed || (schedule->release[a] == schedule->release[b] &&
                                      schedule->deadline[a] == schedule->deadline[b] &&
                                      schedule->model[a] == schedule->model[b] &&
                                      schedule->request[a] == schedule->request[b]));
}

/* Changes the queues; false if the change would say the same plan. */
static bool make_move(MerQueues *q)
{
    bool is_swap = mer_rng_unit(q->rng) < q->swap;
    int  unit = any_busy_unit(q);
    int  job = any_job(q, unit);
    q->old_loads = q->loads;
    q->job[0] = job;
    q->changed[0] = q->from_unit = unit;
    q->from_place = q->place[job];
    if (is_swap) {
        int other = any_job(q, any_busy_unit(q));
        if (other == job || is_interchangeable(q->schedule, job, other)) {
            return false;
        }
        q->job[1] = other;
        q->changed[1] = q->unit[other];
        exchange(q, job, other);
        return true;
    }
    int target = mer_rng_below(q->rng, q->schedule->unit_count);
    int place = mer_rng_below(q->rng, q->length[target] + (target != unit));
    if (target == unit && place == q->from_place) {
        return false;
    }
    q->job[1] = -1;
    q->changed[1] = target;
    take_out(q, job);
    put_in(q, job, target, place);
    return true;
}

/* What the new queues need at least: the heaviest core, stretched by every job that alone exceeds the
 * bandwidth; and all the bytes. */
static double least_score(const MerQueues *q)
{
    double heaviest = 0;
    for (int u = 0; u < q->schedule->unit_count; u++) {
        heaviest = fmax(heaviest, q->loads.unit[u]);
    }
    return fmax(heaviest + q->loads.excess, q->loads.bytes) * (1 - 1e-9);
}

bool mer_queues_anneal(MerQueues *q, double score, double temperature, double *threshold)
{
    enum { TRIES = 64 };
    *threshold = score - temperature * log(1 - mer_rng_unit(q->rng));
    for (int tries = 0; tries < TRIES; tries++) {
        if (!make_move(q)) {
            continue;
        }
        if (tries + 1 == TRIES || !q->can_screen || least_score(q) <= *threshold) {
            return true;
        }
        mer_queues_undo(q);
    }
    return false;
}
