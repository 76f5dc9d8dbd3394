/* A plain schedule in virtual time (schedule.md 5.3): there every job takes its no-stall latency, so ends
 * are sums along the queues, and the makespan is the integral of max(1, need / bandwidth). */
#include "cost/bandwidth_loop.h"

#include <math.h>

typedef struct Lanes {
    double     end[MER_BANDWIDTH_UNITS], need[MER_BANDWIDTH_UNITS];
    const int *at[MER_BANDWIDTH_UNITS], *stop[MER_BANDWIDTH_UNITS];
} Lanes;

static inline bool take_job(const MerWork *work, int units, int unit, double start, Lanes *lanes)
{
    bool has_more = lanes->at[unit] < lanes->stop[unit];
    lanes->end[unit] = INFINITY;
    lanes->need[unit] = 0;
    if (has_more) {
        const MerWork *next = &work[*lanes->at[unit]++ * units + unit];
        lanes->end[unit] = start + next->latency;
        lanes->need[unit] = next->rate;
    }
    return has_more;
}

static inline double integrate(const MerBandwidthInput *input, int units, Lanes *lanes, int running)
{
    double bandwidth = input->bandwidth;
    double bytes = 0; /* the integral times the bandwidth */
    double now = 0;
    double limit = input->limit * bandwidth;
    while (running > 0) {
        int    first = 0;
        double end = lanes->end[0];
        double need = lanes->need[0];
        for (int u = 1; u < units; u++) {
            bool is_sooner = lanes->end[u] < end;
            end = is_sooner ? lanes->end[u] : end;
            first = is_sooner ? u : first;
            need += lanes->need[u];
        }
        bytes += (end - now) * (need > bandwidth ? need : bandwidth);
        now = end;
        if (bytes > limit) {
            break;
        }
        running -= !take_job(input->work, units, first, end, lanes);
    }
    return bytes / bandwidth;
}

double mer_bandwidth_virtual(const MerBandwidthInput *input, const MerJobsPlan *plan)
{
    Lanes lanes;
    int   running = 0;
    for (int u = 0; u < plan->unit_count; u++) {
        lanes.at[u] = plan->queue + plan->start[u];
        lanes.stop[u] = plan->queue + plan->start[u + 1];
        running += take_job(input->work, plan->unit_count, u, 0, &lanes);
    }
    switch (plan->unit_count) { /* known counts let the compiler unroll */
    case 4:
        return integrate(input, 4, &lanes, running);
    case 8:
        return integrate(input, 8, &lanes, running);
    case 16:
        return integrate(input, 16, &lanes, running);
    default:
        return integrate(input, plan->unit_count, &lanes, running);
    }
}
