/* Trails of the plain loop: a few states along the way and the loads of the queues. */
#include "cost/bandwidth_trail.h"

#include <string.h>

enum { STATES = 12, BLOCK = 8 }; /* BLOCK: places compared at once */

/* A state without its padding: 4 doubles and an int per unit follow. Cycles and excess are those of the jobs
 * that have begun, so that a snapshot says nothing of what comes after. */
typedef struct Snapshot {
    double t, waste, excess;
    int    running, events;
} Snapshot;

static size_t round_up(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

static size_t queues_size(int jobs, int units)
{
    return round_up((size_t)(jobs + units + 1) * sizeof(int));
}

static size_t snapshot_size(int units)
{
    return round_up(sizeof(Snapshot)) +
           round_up((size_t)units * (4 * sizeof(double) + sizeof(int)));
}

size_t mer_bandwidth_trail_size(int job_count, int unit_count)
{
    return round_up(sizeof(MerTrail)) + queues_size(job_count, unit_count) +
           STATES * snapshot_size(unit_count);
}

static int *queue_of(const MerTrail *trail)
{
    return (int *)((char *)trail + round_up(sizeof *trail));
}

static Snapshot *snapshot_at(const MerTrail *trail, int index)
{
    return (Snapshot *)((char *)queue_of(trail) + queues_size(trail->job_count, trail->unit_count) +
                        (size_t)index * snapshot_size(trail->unit_count));
}

static double *numbers_of(const Snapshot *snapshot)
{
    return (double *)((char *)snapshot + round_up(sizeof *snapshot));
}

static void copy_loads(MerQueueLoads *to, const MerQueueLoads *from, int units)
{
    size_t size = (size_t)units * sizeof(double);
    memcpy(to->cycles, from->cycles, size);
    memcpy(to->excess, from->excess, size);
    memcpy(to->bytes, from->bytes, size);
}

/* The loads of `plan`; those of units that have the same queue in `base` (NULL: none) are taken from there. */
static void count_loads(const MerBandwidthInput *input, const MerJobsPlan *plan,
                        const MerTrail *base, const int *same, MerQueueLoads *loads)
{
    int units = plan->unit_count;
    if (base) {
        copy_loads(loads, &base->loads, units);
    }
    for (int u = 0; u < units; u++) {
        int first = plan->start[u];
        int count = plan->start[u + 1] - first;
        if (base && same[u] > count) {
            continue;
        }
        double cycles = 0, excess = 0, bytes = 0;
        for (int i = 0; i < count; i++) {
            const MerWork *work = &input->work[plan->queue[first + i] * units + u];
            cycles += work->latency;
            excess += mer_work_excess(work, input->bandwidth);
            bytes += work->left;
        }
        loads->cycles[u] = cycles;
        loads->excess[u] = excess;
        loads->bytes[u] = bytes;
    }
}

/* schedule.md 5.3 and 9.2: the heaviest unit, stretched by every job that alone exceeds the bandwidth. */
static double least_cycles(const MerBandwidthInput *input, const MerQueueLoads *loads, int units)
{
    double heaviest = 0, excess = 0, bytes = 0;
    for (int u = 0; u < units; u++) {
        heaviest = loads->cycles[u] > heaviest ? loads->cycles[u] : heaviest;
        excess += loads->excess[u];
        bytes += loads->bytes[u];
    }
    return fmax(heaviest + excess / input->bandwidth, bytes / input->bandwidth);
}

static void open_trail(MerTrail *trail, const MerJobsPlan *plan, const MerQueueLoads *loads)
{
    trail->job_count = plan->job_count;
    trail->unit_count = plan->unit_count;
    trail->state_count = 0;
    copy_loads(&trail->loads, loads, plan->unit_count);
    int *queue = queue_of(trail);
    memcpy(queue, plan->queue, (size_t)plan->job_count * sizeof *queue);
    memcpy(queue + plan->job_count, plan->start, (size_t)(plan->unit_count + 1) * sizeof *queue);
}

int mer_trail_stride(int job_count)
{
    return job_count / STATES + 1;
}

void mer_trail_pass(MerTrail *trail, const MerLoopState *state)
{
    int units = trail->unit_count;
    int stride = mer_trail_stride(trail->job_count);
    if (state->events % stride != 0 || trail->state_count > state->events / stride ||
        trail->state_count >= STATES) {
        return;
    }
    Snapshot *to = snapshot_at(trail, trail->state_count++);
    double   *numbers = numbers_of(to);
    size_t    size = (size_t)units * sizeof(double);
    *to = (Snapshot){state->t, state->waste, -state->excess, state->running, state->events};
    memcpy(numbers, state->left, size);
    memcpy(numbers + units, state->need, size);
    memcpy(numbers + 2 * units, state->finish, size);
    memcpy(numbers + 4 * units, state->next, (size_t)units * sizeof(int));
    for (int u = 0; u < units; u++) {
        numbers[3 * units + u] = trail->loads.cycles[u] - state->waiting[u];
        to->excess += trail->loads.excess[u];
    }
}

/* Is there anything in `base` that a plan of this size can use? */
static bool is_base(const MerTrail *base, const MerJobsPlan *plan)
{
    return base && base->job_count == plan->job_count && base->unit_count == plan->unit_count &&
           base->state_count > 0;
}

static int same_places(const int *a, const int *b, int count)
{
    int at = 0;
    for (; at + BLOCK <= count; at += BLOCK) {
        int differs = 0;
        for (int i = 0; i < BLOCK; i++) {
            differs |= a[at + i] ^ b[at + i];
        }
        if (differs) {
            break;
        }
    }
    while (at < count && a[at] == b[at]) {
        at++;
    }
    return at;
}

/* By unit, how many places from the front are the same in both; one more than all if nothing differs. */
static void compare(const MerTrail *base, const MerJobsPlan *plan, int *same)
{
    const int *queue = queue_of(base);
    const int *start = queue + plan->job_count;
    for (int u = 0; u < plan->unit_count; u++) {
        int mine = plan->start[u + 1] - plan->start[u];
        int theirs = start[u + 1] - start[u];
        same[u] = same_places(plan->queue + plan->start[u], queue + start[u],
                              mine < theirs ? mine : theirs);
        same[u] += same[u] == mine && same[u] == theirs;
    }
}

/* Everything a state has seen must be the same in both plans, the ends of queues included. */
static bool has_same_past(const Snapshot *snapshot, const int *same, int units)
{
    const int *next = (const int *)(numbers_of(snapshot) + 4 * units);
    for (int u = 0; u < units; u++) {
        if (next[u] > same[u]) {
            return false;
        }
    }
    return true;
}

static void take_state(const Snapshot *from, const MerQueueLoads *loads, int units,
                       MerLoopState *state)
{
    const double *numbers = numbers_of(from);
    size_t        size = (size_t)units * sizeof(double);
    state->t = from->t;
    state->waste = from->waste;
    state->excess = -from->excess;
    state->running = from->running;
    state->events = from->events;
    memcpy(state->left, numbers, size);
    memcpy(state->need, numbers + units, size);
    memcpy(state->finish, numbers + 2 * units, size);
    memcpy(state->next, numbers + 4 * units, (size_t)units * sizeof(int));
    for (int u = 0; u < units; u++) {
        state->waiting[u] = loads->cycles[u] - numbers[3 * units + u];
        state->excess += loads->excess[u];
    }
}

/* The latest state of `base` that the plan shares; it and those before go to `trail`. False: none. */
static bool resume(const MerTrail *base, const MerJobsPlan *plan, const int *same,
                   const MerQueueLoads *loads, MerTrail *trail, MerLoopState *state)
{
    int units = plan->unit_count;
    int found = 0;
    while (found < base->state_count && has_same_past(snapshot_at(base, found), same, units)) {
        found++;
    }
    if (found == 0) {
        return false;
    }
    take_state(snapshot_at(base, found - 1), loads, units, state);
    if (trail) {
        memcpy(snapshot_at(trail, 0), snapshot_at(base, 0), (size_t)found * snapshot_size(units));
        trail->state_count = found;
    }
    return true;
}

MerTrailStart mer_trail_start(const MerBandwidthInput *input, const MerJobsPlan *plan,
                              const MerTrail *base, MerTrail *trail, MerLoopState *state)
{
    MerQueueLoads loads;
    int           same[MER_BANDWIDTH_UNITS];
    int           units = plan->unit_count;
    bool          has_base = base != trail && is_base(base, plan);
    bool          has_loads = has_base || trail || input->limit < INFINITY;
    if (has_base) {
        compare(base, plan, same);
    }
    if (has_loads) {
        count_loads(input, plan, has_base ? base : NULL, same, &loads);
    }
    if (trail) {
        open_trail(trail, plan, &loads);
    }
    if (has_loads && least_cycles(input, &loads, units) > input->limit * (1 + 1e-9)) {
        return MER_TRAIL_CUT;
    }
    if (has_base && resume(base, plan, same, &loads, trail, state)) {
        return MER_TRAIL_RESUMED;
    }
    state->excess = 0;
    for (int u = 0; u < units; u++) {
        state->waiting[u] = has_loads ? loads.cycles[u] : 0;
        state->excess += has_loads ? loads.excess[u] : 0;
    }
    return MER_TRAIL_NEW;
}
