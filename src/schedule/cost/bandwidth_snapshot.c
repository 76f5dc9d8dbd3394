/* Trails of the plain loop: a few states along the way and the loads of the queues. */
#include "schedule/cost/bandwidth_snapshot.h"

#include <math.h>
#include <string.h>

enum { STATES = 12, BLOCK = 8 }; /* BLOCK: places compared at once */

/* A state without what belongs to the whole plan, so that it says nothing of what comes after. Then, padded
 * to full groups, by unit: left, need, finish, begun, next. */
typedef MerLoopClock Snapshot;

enum { GROUP = 4 }; /* units copied at once */

static int padded(int units)
{
    return (units + GROUP - 1) / GROUP * GROUP;
}

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
    return sizeof(Snapshot) + (size_t)padded(units) * (4 * sizeof(double) + sizeof(int));
}

size_t mer_bandwidth_snapshot_size(int job_count, int unit_count)
{
    return round_up(sizeof(MerSnapshot)) + queues_size(job_count, unit_count) +
           STATES * snapshot_size(unit_count);
}

static int *queue_of(const MerSnapshot *snapshot)
{
    return (int *)((char *)snapshot + round_up(sizeof *snapshot));
}

static Snapshot *snapshot_at(const MerSnapshot *snapshot, int index)
{
    return (Snapshot *)((char *)queue_of(snapshot) +
                        queues_size(snapshot->job_count, snapshot->unit_count) +
                        (size_t)index * snapshot_size(snapshot->unit_count));
}

static double *numbers_of(const Snapshot *snapshot)
{
    return (double *)((char *)snapshot + sizeof *snapshot);
}

static int *next_of(const Snapshot *snapshot, int units)
{
    return (int *)(numbers_of(snapshot) + 4 * padded(units));
}

static void add_work(MerWork *sum, const MerWork *work)
{
    sum->left += work->left;
    sum->rate += work->rate;
    sum->latency += work->latency;
    sum->excess += work->excess;
}

/* What a queue asks for, whatever the others do; in two sums, which need not wait for each other. */
static MerWork load_of(const MerWork *work, const int *queue, int count, int units)
{
    MerWork even = {0};
    MerWork odd = {0};
    for (int i = 0; i + 1 < count; i += 2) {
        add_work(&even, &work[queue[i] * units]);
        add_work(&odd, &work[queue[i + 1] * units]);
    }
    if (count % 2 != 0) {
        add_work(&even, &work[queue[count - 1] * units]);
    }
    add_work(&even, &odd);
    return even;
}

/* The loads of `plan`; those of units that have the same queue in `base` (NULL: none) are taken from there. */
static void count_loads(const MerBandwidthInput *input, const MerJobsPlan *plan,
                        const MerSnapshot *base, const int *same, MerLoopState *state)
{
    int units = plan->unit_count;
    state->excess = 0;
    for (int u = 0; u < units; u++) {
        int first = plan->start[u];
        int count = plan->start[u + 1] - first;
        state->load[u] = base && same[u] > count
                             ? base->load[u]
                             : load_of(input->work + u, plan->queue + first, count, units);
        state->excess += state->load[u].excess;
    }
}

/* docs/bandwidth-model.md, "Bounds of schedules": the heaviest unit, stretched by every job that alone
 * exceeds the bandwidth; and the bytes of all. */
static bool is_above_limit(const MerBandwidthInput *input, const MerLoopState *state, int units)
{
    double heaviest = 0, bytes = 0;
    for (int u = 0; u < units; u++) {
        heaviest = state->load[u].latency > heaviest ? state->load[u].latency : heaviest;
        bytes += state->load[u].left;
    }
    double stretched = heaviest * input->bandwidth + state->excess;
    return (stretched > bytes ? stretched : bytes) > input->limit * input->bandwidth * (1 + 1e-9);
}

static void open_snapshot(MerSnapshot *snapshot, const MerJobsPlan *plan, const MerLoopState *state)
{
    snapshot->job_count = plan->job_count;
    snapshot->unit_count = plan->unit_count;
    for (int u = 0; u < plan->unit_count; u++) {
        snapshot->load[u] = state->load[u];
    }
    int *queue = queue_of(snapshot);
    memcpy(queue, plan->queue, (size_t)plan->job_count * sizeof *queue);
    memcpy(queue + plan->job_count, plan->start, (size_t)(plan->unit_count + 1) * sizeof *queue);
}

int mer_snapshot_due(const MerSnapshot *snapshot)
{
    int stride = snapshot ? snapshot->job_count / STATES + 1 : 0;
    return snapshot && snapshot->state_count < STATES ? snapshot->state_count * stride : -1;
}

void mer_snapshot_keep(MerSnapshot *snapshot, const MerLoopState *state)
{
    int       units = snapshot->unit_count;
    int       count = padded(units);
    Snapshot *to = snapshot_at(snapshot, snapshot->state_count++);
    double   *numbers = numbers_of(to);
    *to = state->now;
    for (int u = 0; u < count; u += GROUP) {
        memcpy(numbers + u, state->left + u, GROUP * sizeof(double));
        memcpy(numbers + count + u, state->need + u, GROUP * sizeof(double));
        memcpy(numbers + 2 * count + u, state->finish + u, GROUP * sizeof(double));
        memcpy(numbers + 3 * count + u, state->begun + u, GROUP * sizeof(double));
        memcpy(next_of(to, units) + u, state->next + u, GROUP * sizeof(int));
    }
}

static void take_state(const Snapshot *from, int units, MerLoopState *state)
{
    int           count = padded(units);
    const double *numbers = numbers_of(from);
    state->now = *from;
    for (int u = 0; u < count; u += GROUP) {
        memcpy(state->left + u, numbers + u, GROUP * sizeof(double));
        memcpy(state->need + u, numbers + count + u, GROUP * sizeof(double));
        memcpy(state->finish + u, numbers + 2 * count + u, GROUP * sizeof(double));
        memcpy(state->begun + u, numbers + 3 * count + u, GROUP * sizeof(double));
        memcpy(state->next + u, next_of(from, units) + u, GROUP * sizeof(int));
    }
}

static bool is_same_block(const int *a, const int *b)
{
    int differs = 0;
    for (int i = 0; i < BLOCK; i++) {
        differs |= a[i] ^ b[i];
    }
    return differs == 0;
}

/* How many of the first `count` places are the same, counted without a branch that depends on them. */
static int same_in_block(const int *a, const int *b, int count)
{
    int same = 0;
    int is_same = 1;
    for (int i = 0; i < count; i++) {
        is_same &= a[i] == b[i];
        same += is_same;
    }
    return same;
}

static int same_places(const int *a, const int *b, int count)
{
    int at = 0;
    if (count < BLOCK) {
        return same_in_block(a, b, count);
    }
    while (at < count - BLOCK && is_same_block(a + at, b + at)) {
        at += BLOCK;
    }
    at = at < count - BLOCK ? at : count - BLOCK; /* the last block overlaps with the one before */
    return at + same_in_block(a + at, b + at, BLOCK);
}

/* By unit, how many places from the front are the same in both; one more than all if nothing differs. */
static void compare(const MerSnapshot *base, const MerJobsPlan *plan, int *same)
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
    const int *next = next_of(snapshot, units);
    for (int u = 0; u < units; u++) {
        if (next[u] > same[u]) {
            return false;
        }
    }
    return true;
}

/* The latest state of `base` that the plan shares; it and those before go to `snapshot`. False: none. */
static bool resume(const MerSnapshot *base, const MerJobsPlan *plan, const int *same,
                   MerSnapshot *snapshot, MerLoopState *state)
{
    int units = plan->unit_count;
    int found = 0;
    while (found < base->state_count && has_same_past(snapshot_at(base, found), same, units)) {
        found++;
    }
    if (found == 0) {
        return false;
    }
    take_state(snapshot_at(base, found - 1), units, state);
    if (snapshot) {
        memcpy(snapshot_at(snapshot, 0), snapshot_at(base, 0),
               (size_t)found * snapshot_size(units));
        snapshot->state_count = found;
    }
    return true;
}

MerSnapshotStart mer_snapshot_start(const MerBandwidthInput *input, const MerJobsPlan *plan,
                                    const MerSnapshot *base, MerSnapshot *snapshot,
                                    MerLoopState *state)
{
    int  same[MER_BANDWIDTH_UNITS];
    int  units = plan->unit_count;
    bool has_base = base && base != snapshot && base->job_count == plan->job_count &&
                    base->unit_count == units && base->state_count > 0;
    if (has_base) {
        compare(base, plan, same);
    }
    if (snapshot) {
        snapshot->state_count = 0;
    }
    if (snapshot || input->limit < INFINITY) {
        count_loads(input, plan, has_base ? base : NULL, same, state);
        if (is_above_limit(input, state, units)) {
            return MER_SNAPSHOT_CUT;
        }
    } else {
        memset(state->load, 0, (size_t)units * sizeof *state->load);
        state->excess = 0;
    }
    if (snapshot) {
        open_snapshot(snapshot, plan, state);
    }
    return has_base && resume(base, plan, same, snapshot, state) ? MER_SNAPSHOT_RESUMED
                                                                 : MER_SNAPSHOT_NEW;
}
