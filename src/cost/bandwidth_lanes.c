/* The plain loop on 4, 8 or 16 units with the vector types of GCC and clang: all units at once, in registers
 * from event to event. Every operation and its order is that of the plain version, and so are the bits. */
#include "cost/bandwidth_trail.h"

#include <math.h>
#include <string.h>

enum { LANES = 4 };

typedef double  Lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t Mask __attribute__((vector_size(LANES * sizeof(int64_t))));

#define PICK(mask, yes, no) ((Lanes)(((mask) & (Mask)(yes)) | (~(mask) & (Mask)(no))))
#define ALL(number) ((number) - (Lanes){0})
#define INLINE static inline __attribute__((always_inline))

typedef struct Units { /* of the groups of four units only as many are used as there are */
    Lanes  left[4], need[4];
    Lanes  later_left[4], later_need[4];   /* of the job that comes next */
    int    at[4 * LANES], stop[4 * LANES]; /* places in the queues: of that job, and of the end */
    double t, waste, excess;               /* as in the state */
    int    running, events;
} Units;

static const Mask lane_number = {0, 1, 2, 3};

INLINE double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* mer_bandwidth_sum for these counts. */
INLINE double sum_needs(const Lanes *need, int groups)
{
    if (groups == 1) {
        return need[0][0] + need[0][1] + need[0][2] + need[0][3];
    }
    Lanes low = need[0];
    Lanes high = need[1];
    if (groups == 4) {
        low += need[2];
        high += need[3];
    }
    return ((low[0] + low[1]) + (low[2] + low[3])) + ((high[0] + high[1]) + (high[2] + high[3]));
}

static const MerWork nothing = {INFINITY, 0, 0};

/* What a unit runs when it reaches place `at`; nothing after the end. */
INLINE const MerWork *work_at(const MerBandwidthInput *input, const MerJobsPlan *plan, int groups,
                              const Units *units, int unit, int at)
{
    return at < units->stop[unit] ? &input->work[plan->queue[at] * (groups * LANES) + unit]
                                  : &nothing;
}

INLINE void load_units(const MerBandwidthInput *input, const MerJobsPlan *plan, int groups,
                       const MerLoopState *state, Units *units)
{
    double left[4 * LANES], need[4 * LANES];
    size_t size = (size_t)groups * sizeof(Lanes);
    for (int u = 0; u < groups * LANES; u++) {
        units->at[u] = plan->start[u] + state->next[u];
        units->stop[u] = plan->start[u + 1];
        const MerWork *work = work_at(input, plan, groups, units, u, units->at[u]);
        left[u] = work->left;
        need[u] = work->rate;
    }
    units->t = state->t;
    units->waste = state->waste;
    units->excess = state->excess;
    units->running = state->running;
    units->events = state->events;
    memcpy(units->left, state->left, size);
    memcpy(units->need, state->need, size);
    memcpy(units->later_left, left, size);
    memcpy(units->later_need, need, size);
}

INLINE void store_units(const Units *units, const MerJobsPlan *plan, int groups,
                        MerLoopState *state)
{
    size_t size = (size_t)groups * sizeof(Lanes);
    state->t = units->t;
    state->waste = units->waste;
    state->excess = units->excess;
    state->running = units->running;
    state->events = units->events;
    memcpy(state->left, units->left, size);
    memcpy(state->need, units->need, size);
    for (int u = 0; u < groups * LANES; u++) {
        state->next[u] = units->at[u] - plan->start[u];
    }
}

/* One event: everyone moves on until the first job ends. Gives the unit. */
INLINE int advance(Units *units, int groups, double bandwidth)
{
    Lanes  use[4], time[4];
    double wanted = sum_needs(units->need, groups);
    if (wanted > bandwidth) {
        for (int g = 0; g < groups; g++) {
            use[g] = units->need[g] * bandwidth / wanted;
        }
    } else {
        for (int g = 0; g < groups; g++) {
            use[g] = units->need[g];
        }
    }
    Lanes least = time[0] = units->left[0] / use[0];
    for (int g = 1; g < groups; g++) {
        time[g] = units->left[g] / use[g];
        least = PICK(time[g] < least, time[g], least);
    }
    double step = smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
    int    first = 0;
    double used = 0;
    for (int g = groups - 1; g >= 0; g--) {
        for (int i = LANES - 1; i >= 0; i--) {
            first = time[g][i] == step ? g * LANES + i : first;
        }
    }
    for (int g = 0; g < groups; g++) {
        for (int i = 0; i < LANES; i++) {
            used += use[g][i];
        }
        Lanes left = units->left[g] - step * use[g];
        Mask  is_none = (left < ALL(1e-12)) & (left > ALL(-1e-12));
        units->left[g] = (Lanes)(~is_none & (Mask)left);
    }
    units->waste += (bandwidth - used) * step;
    units->t += step;
    return first;
}

INLINE void take_job(const MerBandwidthInput *input, const MerJobsPlan *plan, int groups, int unit,
                     Units *units, MerLoopState *state)
{
    int            at = units->at[unit]++;
    const MerWork *work = work_at(input, plan, groups, units, unit, at);
    const MerWork *later = work_at(input, plan, groups, units, unit, at + 1);
    for (int g = 0; g < groups; g++) {
        Mask is_unit = lane_number == (int64_t)unit - g * LANES;
        units->left[g] = PICK(is_unit, units->later_left[g], units->left[g]);
        units->need[g] = PICK(is_unit, units->later_need[g], units->need[g]);
        units->later_left[g] = PICK(is_unit, ALL(later->left), units->later_left[g]);
        units->later_need[g] = PICK(is_unit, ALL(later->rate), units->later_need[g]);
    }
    state->waiting[unit] -= work->latency;
    units->excess -= mer_work_excess(work, input->bandwidth);
    units->events++;
    if (work == &nothing) {
        state->finish[unit] = units->t;
        units->running--;
    }
}

INLINE bool run(const MerBandwidthInput *input, const MerJobsPlan *plan, int groups,
                MerTrail *trail, MerLoopState *state)
{
    Units  units;
    int    stride = mer_trail_stride(plan->job_count);
    int    keep_at = trail ? state->events : -1;
    double limit = input->limit * (1 + 1e-9);
    double per_bandwidth = 1 / input->bandwidth;
    load_units(input, plan, groups, state, &units);
    while (units.running > 0) {
        if (units.events == keep_at) {
            store_units(&units, plan, groups, state);
            mer_trail_pass(trail, state);
            keep_at += stride;
        }
        int unit = advance(&units, groups, input->bandwidth);
        if (units.t + state->waiting[unit] + units.excess * per_bandwidth > limit) {
            return false;
        }
        take_job(input, plan, groups, unit, &units, state);
    }
    store_units(&units, plan, groups, state);
    return state->t <= input->limit;
}

INLINE bool run_known(const MerBandwidthInput *input, const MerJobsPlan *plan, MerTrail *trail,
                      MerLoopState *state)
{
    switch (plan->unit_count) {
    case 4:
        return run(input, plan, 1, trail, state);
    case 8:
        return run(input, plan, 2, trail, state);
    default:
        return run(input, plan, 4, trail, state);
    }
}

/* One copy for every width of vectors; the machine's own is chosen at run time. */
#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool run_256(const MerBandwidthInput *input,
                                                    const MerJobsPlan *plan, MerTrail *trail,
                                                    MerLoopState *state)
{
    return run_known(input, plan, trail, state);
}
#endif

static bool run_any(const MerBandwidthInput *input, const MerJobsPlan *plan, MerTrail *trail,
                    MerLoopState *state)
{
    return run_known(input, plan, trail, state);
}

bool mer_bandwidth_lanes(const MerBandwidthInput *input, const MerJobsPlan *plan, MerTrail *trail,
                         MerLoopState *state)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return run_256(input, plan, trail, state);
    }
#endif
    return run_any(input, plan, trail, state);
}
