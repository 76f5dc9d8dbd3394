/* The plain loop of schedule.md 5.1, written for speed: every core has a place in padded arrays, an idle
 * one asks for nothing and never ends. Bits equal those of the public MAGMA evaluator. A trail keeps the
 * state at a few events, so that a plan that differs only later in its queues starts from there. */
#include "cost/bandwidth_loop.h"

#include <math.h>
#include <string.h>

enum { STEPS = 8 }; /* states kept along a trail */

typedef struct LoopState {
    double left[MER_BANDWIDTH_UNITS], need[MER_BANDWIDTH_UNITS], finish[MER_BANDWIDTH_UNITS];
    double unstarted[MER_BANDWIDTH_UNITS]; /* no-stall cycles of the jobs a unit has not begun */
    int    next[MER_BANDWIDTH_UNITS]; /* queue positions; one past the end once the end was seen */
    double t, waste;
    int    running, events;
} LoopState;

typedef struct Snapshot { /* a state without its padding: 3 doubles and an int per unit follow */
    double t, waste;
    int    running, events;
    bool   is_set;
} Snapshot;

typedef struct Trail { /* then queues, starts and snapshots */
    int job_count, unit_count, snapshot_count;
} Trail;

static inline double sum_blocks(const double *values, int count)
{
    double sum = 0;
    int    i = 0;
    if (count >= 8) {
        double part[8];
        for (int p = 0; p < 8; p++) {
            part[p] = values[p];
        }
        for (i = 8; i + 8 <= count; i += 8) {
            for (int p = 0; p < 8; p++) {
                part[p] += values[i + p];
            }
        }
        sum = ((part[0] + part[1]) + (part[2] + part[3])) +
              ((part[4] + part[5]) + (part[6] + part[7]));
    }
    for (; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

double mer_bandwidth_sum(const double *values, int count)
{
    return sum_blocks(values, count);
}

static size_t round_up(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

static size_t snapshot_size(int units)
{
    return round_up(sizeof(Snapshot)) +
           round_up((size_t)units * (3 * sizeof(double) + sizeof(int)));
}

size_t mer_bandwidth_trail_size(int job_count, int unit_count)
{
    return round_up(sizeof(Trail)) + round_up((size_t)(job_count + unit_count + 1) * sizeof(int)) +
           (STEPS + 1) * snapshot_size(unit_count);
}

static int *trail_queue(void *trail)
{
    return (int *)((char *)trail + round_up(sizeof(Trail)));
}

static Snapshot *trail_snapshot(const void *trail, int index)
{
    const Trail *head = trail;
    size_t       at = round_up(sizeof(Trail)) +
                round_up((size_t)(head->job_count + head->unit_count + 1) * sizeof(int)) +
                (size_t)index * snapshot_size(head->unit_count);
    return (Snapshot *)((char *)trail + at);
}

static void keep_state(Snapshot *to, const LoopState *state, int units)
{
    double *numbers = (double *)((char *)to + round_up(sizeof *to));
    size_t  size = (size_t)units * sizeof(double);
    *to = (Snapshot){state->t, state->waste, state->running, state->events, true};
    memcpy(numbers, state->left, size);
    memcpy(numbers + units, state->need, size);
    memcpy(numbers + 2 * units, state->finish, size);
    memcpy(numbers + 3 * units, state->next, (size_t)units * sizeof(int));
}

static void take_state(const Snapshot *from, LoopState *state, int units)
{
    const double *numbers = (const double *)((const char *)from + round_up(sizeof *from));
    size_t        size = (size_t)units * sizeof(double);
    state->t = from->t;
    state->waste = from->waste;
    state->running = from->running;
    state->events = from->events;
    memcpy(state->left, numbers, size);
    memcpy(state->need, numbers + units, size);
    memcpy(state->finish, numbers + 2 * units, size);
    memcpy(state->next, numbers + 3 * units, (size_t)units * sizeof(int));
}

/* The unit begins its next job, or falls idle for good. */
static inline void take_job(const MerBandwidthInput *input, const MerJobsPlan *plan, int unit,
                            LoopState *state)
{
    int at = plan->start[unit] + state->next[unit]++;
    if (at < plan->start[unit + 1]) {
        const MerWork *work = &input->work[plan->queue[at] * plan->unit_count + unit];
        state->left[unit] = work->left;
        state->need[unit] = work->rate;
        state->unstarted[unit] -= work->latency;
    } else {
        state->left[unit] = INFINITY;
        state->need[unit] = 0;
        state->finish[unit] = state->t;
        state->running--;
    }
}

static void begin(const MerBandwidthInput *input, const MerJobsPlan *plan, int padded,
                  LoopState *state)
{
    state->t = state->waste = 0;
    state->running = plan->unit_count;
    state->events = 0;
    for (int u = 0; u < padded; u++) {
        state->left[u] = INFINITY;
        state->need[u] = state->finish[u] = 0;
        state->next[u] = 0;
    }
    for (int u = 0; u < plan->unit_count; u++) {
        take_job(input, plan, u, state);
    }
}

/* Everything a state has seen must be the same in both plans, the ends of queues included. */
static bool has_same_past(const Snapshot *snapshot, const int *same, int units)
{
    const double *numbers = (const double *)((const char *)snapshot + round_up(sizeof *snapshot));
    const int    *next = (const int *)(numbers + 3 * units);
    for (int u = 0; u < units; u++) {
        if (next[u] > same[u]) {
            return false;
        }
    }
    return true;
}

/* Starts from the latest state of `base` that this plan shares. False: there is none. */
static bool resume(const void *base, const MerJobsPlan *plan, void *trail, LoopState *state)
{
    const Trail *head = base;
    int          same[MER_BANDWIDTH_UNITS];
    int          units = plan->unit_count;
    if (!base || head->job_count != plan->job_count || head->unit_count != units ||
        head->snapshot_count == 0) {
        return false;
    }
    const int *queue = trail_queue((void *)base);
    const int *start = queue + plan->job_count;
    for (int u = 0; u < units; u++) {
        int mine = plan->start[u + 1] - plan->start[u];
        int theirs = start[u + 1] - start[u];
        int shorter = mine < theirs ? mine : theirs;
        int at = 0;
        while (at < shorter && plan->queue[plan->start[u] + at] == queue[start[u] + at]) {
            at++;
        }
        same[u] = at == mine && at == theirs ? at + 1 : at;
    }
    int found = -1;
    for (int s = 0; s < head->snapshot_count && has_same_past(trail_snapshot(base, s), same, units);
         s++) {
        found = s;
        if (trail && trail != base) {
            memcpy(trail_snapshot(trail, s), trail_snapshot(base, s), snapshot_size(units));
        }
    }
    if (found < 0) {
        return false;
    }
    take_state(trail_snapshot(base, found), state, units);
    if (trail) {
        ((Trail *)trail)->snapshot_count = found + 1;
    }
    return true;
}

static void open_trail(void *trail, const MerJobsPlan *plan)
{
    *(Trail *)trail = (Trail){plan->job_count, plan->unit_count, 0};
    int *queue = trail_queue(trail);
    memcpy(queue, plan->queue, (size_t)plan->job_count * sizeof *queue);
    memcpy(queue + plan->job_count, plan->start, (size_t)(plan->unit_count + 1) * sizeof *queue);
}

/* One event: how long until the first job ends, and what everyone moves until then. Gives the unit. */
static inline int advance(LoopState *state, int units, int padded, double bandwidth)
{
    double use[MER_BANDWIDTH_UNITS];
    double time[MER_BANDWIDTH_UNITS];
    double wanted = sum_blocks(state->need, units);
    use[0] = time[0] = 0; /* there is at least one unit, though the compiler cannot know */
    if (wanted > bandwidth) {
        for (int u = 0; u < padded; u++) {
            use[u] = state->need[u] * bandwidth / wanted;
        }
    } else {
        for (int u = 0; u < padded; u++) {
            use[u] = state->need[u];
        }
    }
    for (int u = 0; u < padded; u++) {
        time[u] = state->left[u] / use[u];
    }
    int    first = 0;
    double step = time[0];
    double used = use[0];
    for (int u = 1; u < units; u++) {
        bool is_sooner = time[u] < step;
        step = is_sooner ? time[u] : step;
        first = is_sooner ? u : first;
        used += use[u];
    }
    for (int u = 0; u < padded; u++) {
        double left = state->left[u] - step * use[u];
        state->left[u] = fabs(left) < 1e-12 ? 0 : left;
    }
    state->waste += (bandwidth - used) * step;
    state->t += step;
    return first;
}

static inline void run(const MerBandwidthInput *input, const MerJobsPlan *plan, int units,
                       int padded, void *trail, LoopState *state, MerBandwidthOutput *output)
{
    int    stride = plan->job_count / (STEPS + 1) + 1;
    double limit = input->limit;
    output->is_cut = false;
    while (state->running > 0) {
        if (trail && state->events % stride == 0 &&
            ((Trail *)trail)->snapshot_count <= state->events / stride) {
            keep_state(trail_snapshot(trail, ((Trail *)trail)->snapshot_count++), state, units);
        }
        int unit = advance(state, units, padded, input->bandwidth);
        if (state->t + state->unstarted[unit] * (1 - 1e-12) > limit) {
            output->is_cut = true;
            break;
        }
        take_job(input, plan, unit, state);
        state->events++;
    }
}

/* No-stall cycles that each unit has not begun: a bound on what is still to come. */
static void count_unstarted(const MerBandwidthInput *input, const MerJobsPlan *plan,
                            LoopState *state)
{
    for (int u = 0; u < plan->unit_count; u++) {
        double sum = 0;
        for (int i = plan->start[u] + state->next[u]; i < plan->start[u + 1]; i++) {
            sum += input->work[plan->queue[i] * plan->unit_count + u].latency;
        }
        state->unstarted[u] = sum;
    }
}

void mer_bandwidth_plain(const MerBandwidthInput *input, const MerJobsPlan *plan, const void *base,
                         void *trail, MerBandwidthOutput *output)
{
    LoopState state;
    int       units = plan->unit_count;
    int       padded = (units + 1) & ~1;
    if (trail && trail != base) {
        open_trail(trail, plan);
    }
    if (!resume(base, plan, trail, &state)) {
        memset(state.unstarted, 0, sizeof state.unstarted);
        begin(input, plan, padded, &state);
    }
    for (int u = units; u < padded; u++) {
        state.left[u] = INFINITY;
        state.need[u] = 0;
    }
    if (input->limit < INFINITY) {
        count_unstarted(input, plan, &state);
    } else {
        memset(state.unstarted, 0, (size_t)padded * sizeof(double));
    }
    switch (units) { /* known counts let the compiler unroll */
    case 4:
        run(input, plan, 4, 4, trail, &state, output);
        break;
    case 8:
        run(input, plan, 8, 8, trail, &state, output);
        break;
    case 16:
        run(input, plan, 16, 16, trail, &state, output);
        break;
    default:
        run(input, plan, units, padded, trail, &state, output);
        break;
    }
    output->cycles = state.t;
    output->waste = state.waste;
    memcpy(output->finish, state.finish, (size_t)units * sizeof(double));
    for (int u = 0; u < units && output->is_cut; u++) {
        output->finish[u] =
            state.next[u] > plan->start[u + 1] - plan->start[u] ? state.finish[u] : state.t;
    }
}
