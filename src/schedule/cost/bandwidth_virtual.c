/* A plain schedule in virtual time (docs/bandwidth-model.md, "Virtual time"): there every job takes its
 * no-stall latency, so ends are sums along the queues, and the makespan is the integral of max(1, need /
 * bandwidth). Plans that differ little from one with a snapshot start where they part from it. */
#include "schedule/cost/bandwidth_snapshot.h"

#include <math.h>

typedef struct Ahead {
    double latency[MER_BANDWIDTH_UNITS], rate[MER_BANDWIDTH_UNITS],
        excess[MER_BANDWIDTH_UNITS];                                /* of the job that comes next */
    const int *at[MER_BANDWIDTH_UNITS], *stop[MER_BANDWIDTH_UNITS]; /* its place, and the end */
} Ahead;

static inline void look_ahead(const MerBandwidthInput *input, int units, int unit, Ahead *ahead)
{
    ahead->latency[unit] = INFINITY;
    ahead->rate[unit] = 0;
    if (ahead->at[unit] < ahead->stop[unit]) {
        const MerWork *work = &input->work[*ahead->at[unit] * units + unit];
        ahead->latency[unit] = work->latency;
        ahead->rate[unit] = work->rate;
        ahead->excess[unit] = work->excess;
    }
}

/* The unit begins its next job at `start`; false if there is none. */
static inline bool take_job(const MerBandwidthInput *input, int units, int unit, double start,
                            Ahead *ahead, MerLoopState *state)
{
    bool has_more = ahead->at[unit]++ < ahead->stop[unit];
    state->left[unit] = start + ahead->latency[unit];
    state->need[unit] = ahead->rate[unit];
    if (has_more) {
        state->begun[unit] += ahead->latency[unit];
        state->now.begun_excess += ahead->excess[unit];
        look_ahead(input, units, unit, ahead);
    }
    return has_more;
}

static void keep_state(const MerJobsPlan *plan, const Ahead *ahead, MerSnapshot *snapshot,
                       MerLoopState *state)
{
    for (int u = 0; u < plan->unit_count; u++) {
        state->next[u] = (int)(ahead->at[u] - plan->queue) - plan->start[u];
    }
    mer_snapshot_keep(snapshot, state);
}

/* False: above the limit. */
static inline bool integrate(const MerBandwidthInput *input, const MerJobsPlan *plan, int units,
                             MerSnapshot *snapshot, Ahead *ahead, MerLoopState *state)
{
    double bandwidth = input->bandwidth;
    double bytes = state->now.waste; /* the integral times the bandwidth */
    double now = state->now.t;
    double limit = input->limit * bandwidth * (1 + 1e-9);
    int    keep_at = mer_snapshot_due(snapshot);
    while (state->now.running > 0) {
        if (state->now.events == keep_at) {
            state->now.waste = bytes;
            state->now.t = now;
            keep_state(plan, ahead, snapshot, state);
            keep_at = mer_snapshot_due(snapshot);
        }
        int    first = 0;
        double end = state->left[0];
        double need = state->need[0];
        for (int u = 1; u < units; u++) {
            bool is_sooner = state->left[u] < end;
            end = is_sooner ? state->left[u] : end;
            first = is_sooner ? u : first;
            need += state->need[u];
        }
        bytes += (end - now) * (need > bandwidth ? need : bandwidth);
        now = end;
        double waiting = state->load[first].latency - state->begun[first];
        if (bytes + waiting * bandwidth + state->excess - state->now.begun_excess > limit) {
            return false;
        }
        state->now.running -= !take_job(input, units, first, end, ahead, state);
        state->now.events++;
    }
    state->now.waste = bytes;
    return bytes / bandwidth <= input->limit;
}

void mer_bandwidth_fast(const MerBandwidthInput *input, const MerJobsPlan *plan, const void *base,
                        void *snapshot, MerBandwidthOutput *output)
{
    MerLoopState     state;
    Ahead            ahead;
    int              units = plan->unit_count;
    MerSnapshotStart start = mer_snapshot_start(input, plan, base, snapshot, &state);
    output->is_cut = start == MER_SNAPSHOT_CUT;
    if (output->is_cut) {
        return;
    }
    for (int u = 0; u < units; u++) {
        ahead.at[u] = plan->queue + plan->start[u];
        ahead.stop[u] = plan->queue + plan->start[u + 1];
        ahead.at[u] += start == MER_SNAPSHOT_RESUMED ? state.next[u] : 0;
        look_ahead(input, units, u, &ahead);
    }
    if (start == MER_SNAPSHOT_NEW) {
        state.now = (MerLoopClock){0};
        for (int u = 0; u < units; u++) {
            state.finish[u] = state.begun[u] = 0;
            state.now.running += take_job(input, units, u, 0, &ahead, &state);
        }
    }
    /* known counts let the compiler unroll */
    output->is_cut = !(units == 4    ? integrate(input, plan, 4, snapshot, &ahead, &state)
                       : units == 8  ? integrate(input, plan, 8, snapshot, &ahead, &state)
                       : units == 16 ? integrate(input, plan, 16, snapshot, &ahead, &state)
                                     : integrate(input, plan, units, snapshot, &ahead, &state));
    output->cycles = state.now.waste / input->bandwidth;
}

double mer_bandwidth_virtual(const MerBandwidthInput *input, const MerJobsPlan *plan)
{
    MerBandwidthInput  unlimited = *input;
    MerBandwidthOutput output;
    unlimited.limit = INFINITY;
    mer_bandwidth_fast(&unlimited, plan, NULL, NULL, &output);
    return output.cycles;
}
