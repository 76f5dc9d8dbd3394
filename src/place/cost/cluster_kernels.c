/* What a plan runs as one, checked: clusters of a file may be anything (docs/placement.md, "Fusion"). */
#include "place/cost/cluster.h"

#include <string.h>

static bool are_equal(const int *numbers, int count)
{
    for (int i = 1; i < count; i++) {
        if (numbers[i] != numbers[0]) {
            return false;
        }
    }
    return true;
}

/* Members by the first operators of their clusters, rising. */
static void gather(const MerGraphPlan *plan, int *kernel, int *start, int *members, int *first)
{
    int count = plan->op_count;
    for (int o = 0; o < count; o++) {
        int *known = &first[plan->cluster[o]]; /* from 1 */
        *known = *known == 0 ? o + 1 : *known;
        kernel[o] = *known - 1;
        start[kernel[o] + 1]++;
    }
    for (int o = 0; o < count; o++) {
        start[o + 1] += start[o];
    }
    memset(first, 0, (size_t)count * sizeof *first);
    for (int o = 0; o < count; o++) {
        members[start[kernel[o]] + first[kernel[o]]++] = o;
    }
}

static bool check_kernel(const MerCluster *cluster, const MerGraphPlan *plan, const int *members,
                         int count, MerCost *cost)
{
    const MerPlace *place = cluster->place;
    int             root = -1;
    if (count > MER_FUSE_MOST) {
        mer_cost_refuse(cost, "unsupported: cluster of %.60s needs %d operators, has %d",
                        place->names[members[0]], count, MER_FUSE_MOST);
        return false;
    }
    for (int m = 0; m < count; m++) {
        int         op = members[m];
        MerFuseRole role = cluster->fusion->role[op];
        if (plan->unit[op] != plan->unit[members[0]]) {
            mer_cost_refuse(cost, "colocation: %.45s and %.45s are fused on two units",
                            place->names[members[0]], place->names[op]);
            return false;
        }
        if (role == MER_FUSE_NEVER) {
            mer_cost_refuse(cost, "unsupported: operator %.80s cannot be fused", place->names[op]);
            return false;
        }
        if (mer_fuse_is_root(role) && root >= 0) {
            mer_cost_refuse(cost, "unsupported: %.40s and %.40s cannot be one kernel",
                            place->names[root], place->names[op]);
            return false;
        }
        root = mer_fuse_is_root(role) ? op : root;
    }
    return true;
}

static int highest(const int *priority, const int *members, int count)
{
    int most = priority[members[0]];
    for (int m = 1; m < count; m++) {
        most = priority[members[m]] > most ? priority[members[m]] : most;
    }
    return most;
}

bool mer_cluster_kernels(const MerCluster *cluster, const MerGraphPlan *plan, MerArena *arena,
                         MerKernels *kernels, MerCost *cost)
{
    const MerPlace *place = cluster->place;
    size_t          count = (size_t)place->op_count;
    bool            has_order = plan->priority && !are_equal(plan->priority, plan->op_count);
    *kernels =
        (MerKernels){.priority = has_order ? plan->priority : NULL, .count = place->op_count};
    if (!plan->cluster) {
        return true;
    }
    int    *kernel = MER_ARRAY(arena, int, 6 * count + 2), *start = kernel + count;
    int    *members = start + count + 1, *priority = members + count, *seen = priority + count;
    double *time = MER_ARRAY(arena, double, count);
    gather(plan, kernel, start, members, seen + count);
    kernels->count = 0;
    for (int o = 0; o < place->op_count; o++) {
        int size = start[o + 1] - start[o], *first = members + start[o], unit = plan->unit[o];
        if (size == 0) {
            continue;
        }
        kernels->count++;
        if (size > 1 && !check_kernel(cluster, plan, first, size, cost)) {
            return false;
        }
        time[o] = size > 1 ? mer_fusion_time(cluster->fusion, first, size, kernel, unit, seen)
                           : place->time_us[(size_t)o * (size_t)place->unit_count + (size_t)unit];
        priority[o] = has_order ? highest(plan->priority, first, size) : 0;
    }
    kernels->kernel = kernel;
    kernels->start = start;
    kernels->members = members;
    kernels->time_us = time;
    kernels->priority = has_order && !are_equal(priority, place->op_count) ? priority : NULL;
    return true;
}
