/* Rules that look at each group once. */
#include "place/solve/placements.h"

#include "base/memory.h"
#include "base/stats.h"
#include "place/place_parts.h"

#include <stdlib.h>

bool mer_place_may_take(const MerPlace *place, int group, int unit)
{
    for (int i = place->choice_start[group]; i < place->choice_start[group + 1]; i++) {
        if (place->choices[i] == unit) {
            return true;
        }
    }
    return false;
}

int mer_place_instead(const MerPlace *place, int group)
{
    for (int i = place->choice_start[group]; i < place->choice_start[group + 1]; i++) {
        if (place->is_host[place->choices[i]]) {
            return place->choices[i];
        }
    }
    return place->choices[place->choice_start[group]];
}

int mer_place_workers(const MerPlace *place, int *units)
{
    int count = 0;
    for (int u = 0; u < place->unit_count; u++) {
        if (place->accelerator_count == 0 || !place->is_host[u]) {
            units[count++] = u;
        }
    }
    return count;
}

static double group_us(const MerPlace *place, int group, int unit)
{
    return place->group_us[(size_t)group * (size_t)place->unit_count + (size_t)unit];
}

double mer_place_mean_us(const MerPlace *place, int group, const int *workers, int count)
{
    double sum = 0;
    int    taken = 0;
    for (int w = 0; w < count; w++) {
        if (mer_place_may_take(place, group, workers[w])) {
            sum += group_us(place, group, workers[w]);
            taken++;
        }
    }
    return taken > 0 ? sum / taken : group_us(place, group, mer_place_instead(place, group));
}

double mer_place_mean_transfer_us(const MerPlace *place, int op)
{
    double sum = 0;
    int    ways = 0;
    for (int from = 0; from < place->unit_count; from++) {
        for (int to = 0; to < place->unit_count; to++) {
            double us = mer_place_transfer(place, op, from, to);
            if (from != to && isfinite(us)) {
                sum += us;
                ways++;
            }
        }
    }
    return ways > 0 ? sum / ways : 0;
}

MerPlaceRules mer_place_split_rules(const MerPlaceRules *rules)
{
    return rules && rules->form == MER_PLACE_MAXLOAD ? *rules
                                                     : (MerPlaceRules){.form = MER_PLACE_MAXLOAD,
                                                                       .max_calls = 1,
                                                                       .bytes_per_us = INFINITY};
}

static int allowed(const MerPlace *place, int group, int unit)
{
    return mer_place_may_take(place, group, unit) ? unit : mer_place_instead(place, group);
}

void mer_place_single(const MerPlace *place, int single, int *unit)
{
    for (int g = 0; g < place->group_count; g++) {
        unit[g] = allowed(place, g, single);
    }
}

/* Groups by the first of their operators in the file. */
static int *file_order(const MerPlace *place)
{
    double *first = mer_heap_zeroed((size_t)place->group_count + 1, sizeof *first);
    int    *order = mer_heap_zeroed((size_t)place->group_count + 1, sizeof *order);
    for (int g = 0; g < place->group_count; g++) {
        first[g] = INFINITY;
        for (int m = place->member_start[g]; m < place->member_start[g + 1]; m++) {
            first[g] = fmin(first[g], place->file_index[place->members[m]]);
        }
    }
    mer_sort_order(first, place->group_count, order);
    free(first);
    return order;
}

void mer_place_round_robin(const MerPlace *place, int *unit)
{
    int *order = file_order(place);
    int *workers = mer_heap_zeroed((size_t)place->unit_count, sizeof *workers);
    int  count = mer_place_workers(place, workers);
    for (int i = 0; i < place->group_count; i++) {
        unit[order[i]] = allowed(place, order[i], workers[i % count]);
    }
    free(workers);
    free(order);
}

void mer_place_equal_parts(const MerPlace *place, int *unit)
{
    int   *workers = mer_heap_zeroed((size_t)place->unit_count, sizeof *workers);
    int    count = mer_place_workers(place, workers);
    double all = 0, before = 0;
    for (int g = 0; g < place->group_count; g++) {
        all += mer_place_mean_us(place, g, workers, count);
    }
    for (int g = 0; g < place->group_count; g++) {
        double time = mer_place_mean_us(place, g, workers, count);
        double middle = all > 0 ? (before + time / 2) / all : 0;
        int    part = (int)(middle * count);
        before += time;
        unit[g] = allowed(place, g, workers[part < count ? part : count - 1]);
    }
    free(workers);
}

/* Groups in their order, each worker up to its `capacity`; those that fit nowhere go to the host. */
static void fill_in_turn(const MerPlace *place, const int *workers, int count,
                         const double *capacity, int *unit)
{
    double used = 0;
    int    at = 0;
    for (int g = 0; g < place->group_count; g++) {
        unit[g] = mer_place_instead(place, g);
        if (at < count && !mer_place_may_take(place, g, workers[at])) {
            continue; /* it has no kernel there: the others go on */
        }
        while (at < count && used + place->group_size[g] > capacity[at]) {
            at++;
            used = 0;
        }
        if (at < count && mer_place_may_take(place, g, workers[at])) {
            unit[g] = workers[at];
            used += place->group_size[g];
        }
    }
}

static void fill(const MerPlace *place, bool by_share, int *unit)
{
    int    *workers = mer_heap_zeroed((size_t)place->unit_count, sizeof *workers);
    double *capacity = mer_heap_zeroed((size_t)place->unit_count, sizeof *capacity);
    int     count = mer_place_workers(place, workers);
    double  all = 0, largest = 0;
    for (int g = 0; g < place->group_count; g++) {
        all += place->group_size[g];
        largest = fmax(largest, place->group_size[g]);
    }
    for (int w = 0; w < count; w++) {
        double limit = place->limit[workers[w]];
        capacity[w] = by_share ? fmin(limit, all / count + largest) : limit;
    }
    fill_in_turn(place, workers, count, capacity, unit);
    free(capacity);
    free(workers);
}

void mer_place_greedy_fill(const MerPlace *place, int *unit)
{
    fill(place, false, unit);
}

void mer_place_m_topo(const MerPlace *place, int *unit)
{
    fill(place, true, unit);
}
