/* The plain loop on 4, 8 or 16 units with the vector types of GCC and clang: all units at once, in registers
 * from event to event. Every operation and its order is that of the plain version, and so are the bits. Who
 * ends next is guessed from virtual time: then only one division waits for the event before, and a guess that
 * proves wrong costs no more than having waited. */
#include "schedule/cost/bandwidth_snapshot.h"

#include <math.h>
#include <string.h>

enum { LANES = 4 };

typedef double  Lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t Mask __attribute__((vector_size(LANES * sizeof(int64_t))));

#define PICK(mask, yes, no) ((Lanes)(((mask) & (Mask)(yes)) | (~(mask) & (Mask)(no))))
#define ALL(number) ((number) - (Lanes){0})
#define IS_NOTHING(left) (((left) < ALL(1e-12)) & ((left) > ALL(-1e-12)))
#define INLINE static inline __attribute__((always_inline))

typedef struct Units { /* of the groups of four units only as many are used as there are */
    Lanes        left[4], need[4], use[4];
    MerLoopClock now;
} Units;

typedef struct Queues {                     /* by unit */
    int64_t end[4 * LANES];                 /* of the running job in virtual time; see numbered */
    MerWork later[4 * LANES];               /* the job that comes next, */
    int     at[4 * LANES], stop[4 * LANES]; /* its place, and the end */
} Queues;

static const Mask lane_number = {0, 1, 2, 3};

INLINE double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* mer_numpy_sum for these counts. */
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

INLINE void share(Units *units, int groups, double bandwidth)
{
    double wanted = sum_needs(units->need, groups);
    Mask   is_scarce = ALL(wanted) > ALL(bandwidth);
    for (int g = 0; g < groups; g++) {
        units->use[g] = PICK(is_scarce, units->need[g] * bandwidth / wanted, units->need[g]);
    }
}

static const MerWork nothing = {INFINITY, 0, INFINITY, 0};

/* The work at place `at` of a unit's queue; nothing after the end. */
INLINE const MerWork *work_at(const MerBandwidthInput *input, const MerJobsPlan *plan, int groups,
                              const Queues *queues, int unit, int at)
{
    return at < queues->stop[unit] ? &input->work[plan->queue[at] * (groups * LANES) + unit]
                                   : &nothing;
}

enum { NUMBER_BITS = 15 };

/* A time, 0 or more, as an integer that compares like it, with the unit's number in the last bits: the least
 * of them names its unit, and no two are equal. */
INLINE int64_t numbered(double time, int unit)
{
    int64_t bits;
    memcpy(&bits, &time, sizeof bits);
    return (bits & ~(int64_t)NUMBER_BITS) | unit;
}

INLINE void load_units(const MerBandwidthInput *input, const MerJobsPlan *plan, int groups,
                       const MerLoopState *state, Units *units, Queues *queues)
{
    size_t size = (size_t)groups * sizeof(Lanes);
    for (int u = 0; u < groups * LANES; u++) {
        queues->at[u] = plan->start[u] + state->next[u];
        queues->stop[u] = plan->start[u + 1];
        queues->later[u] = *work_at(input, plan, groups, queues, u, queues->at[u]);
        queues->end[u] = numbered(state->left[u] / state->need[u], u);
    }
    units->now = state->now;
    memcpy(units->left, state->left, size);
    memcpy(units->need, state->need, size);
    share(units, groups, input->bandwidth);
}

INLINE void store_units(const Units *units, const Queues *queues, const MerJobsPlan *plan,
                        int groups, MerLoopState *state)
{
    size_t size = (size_t)groups * sizeof(Lanes);
    state->now = units->now;
    memcpy(state->left, units->left, size);
    memcpy(state->need, units->need, size);
    for (int u = 0; u < groups * LANES; u++) {
        state->next[u] = queues->at[u] - plan->start[u];
    }
}

/* The unit whose job ends first in virtual time (docs/bandwidth-model.md, "Virtual time"). It is almost
 * always the one that advance will find, but it is known without waiting for any of its divisions. */
INLINE int guess_first(const Queues *queues, int groups)
{
    int64_t soonest = queues->end[0];
    for (int u = 1; u < groups * LANES; u++) {
        soonest = queues->end[u] < soonest ? queues->end[u] : soonest;
    }
    return (int)(soonest & NUMBER_BITS);
}

INLINE void pass_time(Units *units, int groups, double step, double bandwidth)
{
    double used = 0;
    for (int g = 0; g < groups; g++) {
        for (int i = 0; i < LANES; i++) {
            used += units->use[g][i];
        }
    }
    units->now.waste += (bandwidth - used) * step;
    units->now.t += step;
}

/* One event: everyone moves on until the first job ends. Gives the unit. */
INLINE int advance(Units *units, int groups, double bandwidth)
{
    Lanes time[4];
    Lanes least = time[0] = units->left[0] / units->use[0];
    for (int g = 1; g < groups; g++) {
        time[g] = units->left[g] / units->use[g];
        least = PICK(time[g] < least, time[g], least);
    }
    double step = smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
    int    first = 0;
    for (int g = groups - 1; g >= 0; g--) {
        for (int i = LANES - 1; i >= 0; i--) {
            first = time[g][i] == step ? g * LANES + i : first;
        }
    }
    for (int g = 0; g < groups; g++) {
        Lanes left = units->left[g] - step * units->use[g];
        units->left[g] = (Lanes)(~IS_NOTHING(left) & (Mask)left);
    }
    pass_time(units, groups, step, bandwidth);
    return first;
}

/* The same if `first` is the only one that ends and nobody comes near its end; else false, and nothing has
 * happened. */
INLINE bool advance_to(Units *units, int groups, double bandwidth, int first)
{
    Lanes time[4], left[4];
    Mask  is_other = {0};
    for (int g = 0; g < groups; g++) {
        time[g] = units->left[g] / units->use[g];
    }
    double step = time[first / LANES % groups][first % LANES];
    for (int g = 0; g < groups; g++) {
        left[g] = units->left[g] - step * units->use[g];
        is_other |= ((time[g] <= ALL(step)) | IS_NOTHING(left[g])) &
                    (lane_number != (int64_t)first - g * LANES);
    }
    if (is_other[0] | is_other[1] | is_other[2] | is_other[3]) {
        return false;
    }
    memcpy(units->left, left, (size_t)groups * sizeof(Lanes));
    pass_time(units, groups, step, bandwidth);
    return true;
}

INLINE void take_job(const MerBandwidthInput *input, const MerJobsPlan *plan, int groups, int unit,
                     Units *units, Queues *queues, MerLoopState *state)
{
    MerWork *work = &queues->later[unit];
    double   end;
    for (int g = 0; g < groups; g++) {
        Mask is_unit = lane_number == (int64_t)unit - g * LANES;
        units->left[g] = PICK(is_unit, ALL(work->left), units->left[g]);
        units->need[g] = PICK(is_unit, ALL(work->rate), units->need[g]);
    }
    share(units, groups, input->bandwidth);
    memcpy(&end, &queues->end[unit], sizeof end);
    queues->end[unit] = numbered(end + work->latency, unit);
    state->begun[unit] += work->latency;
    units->now.begun_excess += work->excess;
    units->now.events++;
    if (queues->at[unit] == queues->stop[unit]) {
        state->finish[unit] = units->now.t;
        units->now.running--;
    }
    *work = *work_at(input, plan, groups, queues, unit, ++queues->at[unit]);
}

INLINE bool run(const MerBandwidthInput *input, const MerJobsPlan *plan, int groups,
                MerSnapshot *snapshot, MerLoopState *state)
{
    Units  units;
    Queues queues;
    int    keep_at = mer_snapshot_due(snapshot);
    double limit = input->limit * (1 + 1e-9);
    double per_bandwidth = 1 / input->bandwidth;
    load_units(input, plan, groups, state, &units, &queues);
    while (units.now.running > 0) {
        if (units.now.events == keep_at) {
            store_units(&units, &queues, plan, groups, state);
            mer_snapshot_keep(snapshot, state);
            keep_at = mer_snapshot_due(snapshot);
        }
        int unit = guess_first(&queues, groups);
        if (!advance_to(&units, groups, input->bandwidth, unit)) {
            unit = advance(&units, groups, input->bandwidth);
        }
        double waiting = state->load[unit].latency - state->begun[unit];
        double excess = state->excess - units.now.begun_excess;
        if (units.now.t + waiting + excess * per_bandwidth > limit) {
            return false;
        }
        take_job(input, plan, groups, unit, &units, &queues, state);
    }
    store_units(&units, &queues, plan, groups, state);
    return state->now.t <= input->limit;
}

INLINE bool run_known(const MerBandwidthInput *input, const MerJobsPlan *plan,
                      MerSnapshot *snapshot, MerLoopState *state)
{
    return plan->unit_count == 4   ? run(input, plan, 1, snapshot, state)
           : plan->unit_count == 8 ? run(input, plan, 2, snapshot, state)
                                   : run(input, plan, 4, snapshot, state);
}

/* One copy for every width of vectors; the machine's own is chosen at run time. */
#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool run_256(const MerBandwidthInput *input,
                                                    const MerJobsPlan *plan, MerSnapshot *snapshot,
                                                    MerLoopState *state)
{
    return run_known(input, plan, snapshot, state);
}
#endif

bool mer_bandwidth_lanes(const MerBandwidthInput *input, const MerJobsPlan *plan,
                         MerSnapshot *snapshot, MerLoopState *state)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return run_256(input, plan, snapshot, state);
    }
#endif
    return run_known(input, plan, snapshot, state);
}
