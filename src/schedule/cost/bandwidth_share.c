/* How jobs that run at once share the bandwidth (docs/bandwidth-model.md, "Sharing rules"). Nobody gets
 * more than it needs, so a rule only matters where the needs exceed the bandwidth. */
#include "base/numpy.h"
#include "schedule/cost/bandwidth_loop.h"

#include <math.h>

/* Smallest needs first (ties by unit), each at most an equal part of what is left. */
static double fill_water(const double *need, const bool *is_member, int units, double bandwidth,
                         double *use)
{
    int order[MER_BANDWIDTH_UNITS];
    int count = 0;
    for (int u = 0; u < units; u++) {
        if (is_member[u] && need[u] > 0) {
            int at = count++;
            for (; at > 0 && need[order[at - 1]] > need[u]; at--) {
                order[at] = order[at - 1];
            }
            order[at] = u;
        }
    }
    for (int i = 0; i < count; i++) {
        double part = fmin(need[order[i]], bandwidth / (count - i));
        use[order[i]] += part;
        bandwidth -= part;
    }
    return bandwidth;
}

/* Heavier tenants are served first; water is filled within equal weights. */
static void share_by_priority(const MerShareInput *input, double *use)
{
    bool   is_member[MER_BANDWIDTH_UNITS];
    double left = input->bandwidth;
    double above = INFINITY;
    for (;;) {
        double heaviest = -INFINITY;
        for (int u = 0; u < input->units; u++) {
            double weight =
                input->tenant[u] < 0 ? -INFINITY : input->tenants[input->tenant[u]].weight;
            heaviest = weight < above && weight > heaviest ? weight : heaviest;
        }
        if (heaviest == -INFINITY) {
            return;
        }
        for (int u = 0; u < input->units; u++) {
            is_member[u] =
                input->tenant[u] >= 0 && input->tenants[input->tenant[u]].weight == heaviest;
        }
        left = fill_water(input->need, is_member, input->units, left, use);
        above = heaviest;
    }
}

/* Every tenant has its weight's part of the bandwidth; what a tenant leaves over goes to all. */
static void share_by_reservation(const MerShareInput *input, double *use)
{
    bool   is_member[MER_BANDWIDTH_UNITS];
    double rest[MER_BANDWIDTH_UNITS];
    double weights = 0;
    double spare = 0;
    for (int i = 0; i < input->tenant_count; i++) {
        weights += input->tenants[i].weight;
    }
    for (int i = 0; i < input->tenant_count; i++) {
        for (int u = 0; u < input->units; u++) {
            is_member[u] = input->tenant[u] == i;
        }
        double part = input->bandwidth * input->tenants[i].weight / weights;
        spare += fill_water(input->need, is_member, input->units, part, use);
    }
    for (int u = 0; u < input->units; u++) {
        rest[u] = input->need[u] - use[u];
        is_member[u] = rest[u] > 0;
    }
    fill_water(rest, is_member, input->units, spare, use);
}

void mer_bandwidth_share(const MerShareInput *input, double *use)
{
    bool   is_member[MER_BANDWIDTH_UNITS];
    double wanted = mer_numpy_sum(input->need, input->units);
    double even = input->bandwidth / input->units;
    for (int u = 0; u < input->units; u++) {
        bool is_even = input->share == MER_SHARE_EVEN;
        bool is_scarce = wanted > input->bandwidth;
        use[u] = is_even ? fmin(input->need[u], even) : is_scarce ? 0 : input->need[u];
        is_member[u] = true;
    }
    if (input->share == MER_SHARE_EVEN || wanted <= input->bandwidth) {
        return;
    }
    if (input->share == MER_SHARE_PROPORTIONAL) {
        for (int u = 0; u < input->units; u++) {
            use[u] = input->need[u] * input->bandwidth / wanted;
        }
    } else if (input->share == MER_SHARE_MAXMIN) {
        fill_water(input->need, is_member, input->units, input->bandwidth, use);
    } else if (input->share == MER_SHARE_PRIORITY) {
        share_by_priority(input, use);
    } else {
        share_by_reservation(input, use);
    }
}
