/* The plain loop (docs/bandwidth-model.md, "The plain loop"): independent jobs, proportional sharing. Bits
 * equal those of the public MAGMA evaluator. Common numbers of cores take the vector form of the same
 * loop, and plans that differ little from one with a snapshot start where they part from it. */
#include "base/numpy.h"
#include "schedule/cost/bandwidth_snapshot.h"

#include <math.h>
#include <string.h>

/* The unit begins its next job, or falls idle for good. */
static void take_job(const MerBandwidthInput *input, const MerJobsPlan *plan, int unit,
                     MerLoopState *state)
{
    int at = plan->start[unit] + state->next[unit]++;
    if (at < plan->start[unit + 1]) {
        const MerWork *work = &input->work[plan->queue[at] * plan->unit_count + unit];
        state->left[unit] = work->left;
        state->need[unit] = work->rate;
        state->begun[unit] += work->latency;
        state->now.begun_excess += work->excess;
    } else {
        state->left[unit] = INFINITY;
        state->need[unit] = 0;
        state->finish[unit] = state->now.t;
        state->now.running--;
    }
}

static void begin(const MerBandwidthInput *input, const MerJobsPlan *plan, MerLoopState *state)
{
    state->now = (MerLoopClock){.running = plan->unit_count};
    for (int u = 0; u < plan->unit_count; u++) {
        state->finish[u] = state->begun[u] = 0;
        state->next[u] = 0;
        take_job(input, plan, u, state);
    }
}

/* One event: how long until the first job ends, and what everyone moves until then. Gives the unit. */
static int advance(MerLoopState *state, int units, double bandwidth)
{
    double use[MER_BANDWIDTH_UNITS];
    double wanted = mer_numpy_sum(state->need, units);
    double step = INFINITY;
    double used = 0;
    int    first = 0;
    for (int u = 0; u < units; u++) {
        use[u] = wanted > bandwidth ? state->need[u] * bandwidth / wanted : state->need[u];
        double time = state->left[u] / use[u];
        if (time < step) {
            step = time;
            first = u;
        }
        used += use[u];
    }
    for (int u = 0; u < units; u++) {
        double left = state->left[u] - step * use[u];
        state->left[u] = fabs(left) < 1e-12 ? 0 : left;
    }
    state->now.waste += (bandwidth - used) * step;
    state->now.t += step;
    return first;
}

/* False: above the limit, which shows early when the jobs that wait are counted without any stall. */
static bool run(const MerBandwidthInput *input, const MerJobsPlan *plan, MerSnapshot *snapshot,
                MerLoopState *state)
{
    while (state->now.running > 0) {
        if (state->now.events == mer_snapshot_due(snapshot)) {
            mer_snapshot_keep(snapshot, state);
        }
        int    unit = advance(state, plan->unit_count, input->bandwidth);
        double rest = state->load[unit].latency - state->begun[unit] +
                      (state->excess - state->now.begun_excess) / input->bandwidth;
        if (state->now.t + rest > input->limit * (1 + 1e-9)) {
            return false;
        }
        take_job(input, plan, unit, state);
        state->now.events++;
    }
    return state->now.t <= input->limit;
}

static void tell(const MerLoopState *state, int units, MerBandwidthOutput *output)
{
    output->cycles = state->now.t;
    output->waste = state->now.waste;
    memcpy(output->finish, state->finish, (size_t)units * sizeof(double));
    memset(output->idle, 0, (size_t)units * sizeof(double)); /* nobody waits */
}

void mer_bandwidth_plain(const MerBandwidthInput *input, const MerJobsPlan *plan, const void *base,
                         void *snapshot, MerBandwidthOutput *output)
{
    MerLoopState     state;
    int              units = plan->unit_count;
    MerSnapshotStart start = mer_snapshot_start(input, plan, base, snapshot, &state);
    output->is_cut = start == MER_SNAPSHOT_CUT;
    if (output->is_cut) {
        return;
    }
    if (start == MER_SNAPSHOT_NEW) {
        begin(input, plan, &state);
    }
    output->is_cut = units == 4 || units == 8 || units == 16
                         ? !mer_bandwidth_lanes(input, plan, snapshot, &state)
                         : !run(input, plan, snapshot, &state);
    tell(&state, units, output);
}

void mer_bandwidth_reference(const MerBandwidthInput *input, const MerJobsPlan *plan,
                             MerBandwidthOutput *output)
{
    MerBandwidthInput unlimited = *input;
    MerLoopState      state;
    unlimited.limit = INFINITY;
    mer_snapshot_start(&unlimited, plan, NULL, NULL, &state);
    begin(&unlimited, plan, &state);
    output->is_cut = !run(&unlimited, plan, NULL, &state);
    tell(&state, plan->unit_count, output);
}
