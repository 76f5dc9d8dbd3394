/* What every evaluator refuses alike, and what "contiguous" means (docs/placement.md, "Feasible placements"). */
#include "place/place_parts.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool check_support(const MerPlace *place, const MerGraphPlan *plan, MerCost *cost)
{
    for (int o = 0; o < plan->op_count; o++) {
        if (place->time_us[o * place->unit_count + plan->unit[o]] == INFINITY) {
            mer_cost_refuse(cost, "unsupported: operator %.60s has no kernel on %.30s",
                            place->names[o], place->unit_names[plan->unit[o]]);
            return false;
        }
    }
    return true;
}

static bool check_groups(const MerPlace *place, const MerGraphPlan *plan, MerCost *cost)
{
    for (int o = 0; o < plan->op_count; o++) {
        int first = place->members[place->member_start[place->group[o]]];
        if (plan->unit[o] != plan->unit[first]) {
            mer_cost_refuse(cost, "colocation: %.40s is on %.20s, %.40s on %.20s",
                            place->names[first], place->unit_names[plan->unit[first]],
                            place->names[o], place->unit_names[plan->unit[o]]);
            return false;
        }
    }
    return true;
}

/* Units of the class of `unit` that exist, and that the plan uses with all replicas. */
static void count_class(const MerPlace *place, const MerGraphPlan *plan, const bool *is_used,
                        int unit, int *exist, int *used)
{
    *exist = *used = 0;
    for (int u = 0; u < place->unit_count; u++) {
        if (place->unit_class[u] == place->unit_class[unit]) {
            *exist += 1;
            *used += is_used[u] ? (plan->replicas ? plan->replicas[u] : 1) : 0;
        }
    }
    *exist -= place->is_host[unit] ? 0 : plan->absent;
}

static bool check_devices(const MerPlace *place, const MerGraphPlan *plan, MerCost *cost)
{
    bool fits = true;
    if (!plan->replicas && plan->absent == 0) {
        return true;
    }
    bool *is_used = mer_heap_zeroed((size_t)place->unit_count, sizeof *is_used);
    for (int o = 0; o < plan->op_count; o++) {
        is_used[plan->unit[o]] = true;
    }
    for (int u = 0; u < place->unit_count && fits; u++) {
        int exist, used;
        count_class(place, plan, is_used, u, &exist, &used);
        if (is_used[u] && used > exist) {
            const char *name = place->platform->units[u].class_name;
            mer_cost_refuse(cost, "devices: uses %d %.30s, %d exist", used,
                            !place->is_host[u] ? "accelerators"
                            : name             ? name
                                               : "hosts",
                            exist);
            fits = false;
        }
    }
    free(is_used);
    return fits;
}

bool mer_place_check_memory(const MerPlace *place, const double *bytes, MerCost *cost)
{
    for (int u = 0; u < place->unit_count; u++) {
        if (bytes[u] > place->limit[u]) {
            mer_cost_refuse(cost, "memory: %.30s needs %.9g bytes, has %.9g", place->unit_names[u],
                            bytes[u], place->limit[u]);
            return false;
        }
    }
    return true;
}

bool mer_place_check(const MerPlace *place, const MerGraphPlan *plan, MerCost *cost)
{
    return check_support(place, plan, cost) && check_groups(place, plan, cost) &&
           check_devices(place, plan, cost);
}

/* A unit that a unit's results go to, of forward operators. A class of backward operators alone stands for the forward class that
 * it lacks: its edges count the other way round. */
static bool crosses(const MerPlace *place, int from, int to, bool *is_mirrored)
{
    bool from_orphan = mer_place_is_orphan(place, place->group[from]);
    bool to_orphan = mer_place_is_orphan(place, place->group[to]);
    *is_mirrored = place->is_backward[from] && place->is_backward[to] && (from_orphan || to_orphan);
    return *is_mirrored || (!place->is_backward[from] && !place->is_backward[to]);
}

bool mer_place_is_orphan(const MerPlace *place, int group)
{
    for (int i = place->member_start[group]; i < place->member_start[group + 1]; i++) {
        if (!place->is_backward[place->members[i]]) {
            return false;
        }
    }
    return true;
}

/* Units without incoming edges are taken away until none is left, or a cycle. */
static bool is_acyclic(bool *edges, int count)
{
    int *incoming = mer_heap_zeroed((size_t)count, sizeof *incoming), taken = 0, previous = -1;
    for (int a = 0; a < count; a++) {
        for (int b = 0; b < count; b++) {
            incoming[b] += edges[a * count + b];
        }
    }
    while (taken > previous) {
        previous = taken;
        for (int a = 0; a < count; a++) {
            if (incoming[a] == 0) {
                incoming[a] = -1;
                taken++;
                for (int b = 0; b < count; b++) {
                    incoming[b] -= edges[a * count + b];
                }
            }
        }
    }
    free(incoming);
    return taken == count;
}

bool mer_place_is_contiguous(const MerPlace *place, const MerGraphPlan *plan)
{
    size_t count = (size_t)place->unit_count;
    bool  *edges = mer_heap_zeroed(count * count, sizeof *edges);
    for (int o = 0; o < place->op_count; o++) {
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int  from = plan->unit[o], to = plan->unit[place->after[i]];
            bool is_mirrored;
            if (from != to && crosses(place, o, place->after[i], &is_mirrored)) {
                edges[is_mirrored ? (size_t)to * count + (size_t)from
                                  : (size_t)from * count + (size_t)to] = true;
            }
        }
    }
    bool is_chain = is_acyclic(edges, place->unit_count);
    free(edges);
    return is_chain;
}
