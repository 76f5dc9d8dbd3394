/* What no placement beats (docs/placement.md, "Bounds"): all units busy until the end, the largest group where it is fastest, and the
 * longest path with every operator where it is fastest. */
#include "place/cost/fusion.h"
#include "place/place_parts.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Sums in another order differ in the last digits. Less than what still counts as a proof: what reaches a bound is proven. */
#define ROUNDING (1 - 5e-13)

/* Units of one class take the same time for a group: by class, how many there are (streams count) and one of them. */
typedef struct Classes {
    int     count, group_count;
    double *width;
    int    *unit;
    double *time; /* [group * count + class]; INFINITY: may not go there */
} Classes;

static double width_of(const MerPlace *place, int unit)
{
    int streams = place->platform->units[unit].streams;
    return streams > 1 ? streams : 1;
}

static Classes find_classes(const MerPlace *place, MerArena *arena)
{
    Classes c = {.group_count = place->group_count,
                 .width = MER_ARRAY(arena, double, place->unit_count),
                 .unit = MER_ARRAY(arena, int, place->unit_count)};
    int    *class_of = MER_ARRAY(arena, int, place->unit_count);
    for (int u = 0; u < place->unit_count; u++) {
        int known = 0;
        while (known < c.count && place->unit_class[c.unit[known]] != place->unit_class[u]) {
            known++;
        }
        c.unit[known] = known == c.count ? u : c.unit[known];
        c.count += known == c.count;
        c.width[known] += width_of(place, u);
        class_of[u] = known;
    }
    c.time = MER_ARRAY(arena, double, (size_t)c.group_count *(size_t)c.count + 1);
    for (int g = 0; g < c.group_count; g++) {
        double *row = c.time + (size_t)g * (size_t)c.count;
        for (int k = 0; k < c.count; k++) {
            row[k] = INFINITY;
        }
        for (int i = place->choice_start[g]; i < place->choice_start[g + 1]; i++) {
            int u = place->choices[i];
            row[class_of[u]] =
                fmin(row[class_of[u]],
                     place->group_us[(size_t)g * (size_t)place->unit_count + (size_t)u]);
        }
    }
    return c;
}

/* For any prices >= 0 of a class's time, what all groups pay at least, over what all units offer per microsecond: the dual of
 * the fractional assignment, so that every price gives a bound. */
static double dual(const Classes *c, const double *price)
{
    double paid = 0, offered = 0;
    for (int g = 0; g < c->group_count; g++) {
        const double *row = c->time + (size_t)g * (size_t)c->count;
        double        least = INFINITY;
        for (int k = 0; k < c->count; k++) {
            least = row[k] < INFINITY ? fmin(least, price[k] * row[k]) : least;
        }
        paid += least;
    }
    for (int k = 0; k < c->count; k++) {
        offered += price[k] * c->width[k];
    }
    return offered > 0 ? paid / offered : 0;
}

/* The best price of one class, the others as they are. Along a line the dual is quasi-concave: a quotient of a concave
 * and a linear function. */
static double raise(const Classes *c, double *price, int k)
{
    double low = -25, high = 25, best = price[k], value = dual(c, price);
    for (int step = 0; step < 80; step++) {
        double left = low + (high - low) / 3, right = high - (high - low) / 3;
        price[k] = exp(left);
        double at_left = dual(c, price);
        price[k] = exp(right);
        double at_right = dual(c, price);
        if (at_left > value || at_right > value) {
            value = fmax(at_left, at_right);
            best = at_left > at_right ? exp(left) : exp(right);
        }
        low = at_left < at_right ? left : low;
        high = at_left < at_right ? high : right;
    }
    price[k] = best;
    return value;
}

static double balance(const MerPlace *place)
{
    MerArena *arena = mer_arena_new();
    Classes   c = find_classes(place, arena);
    double   *price = MER_ARRAY(arena, double, c.count), best = 0, previous = -1;
    for (int k = 0; k < c.count; k++) {
        price[k] = 1;
    }
    best = dual(&c, price);
    for (int pass = 0; pass < 10 && c.count > 1 && best > previous * (1 + 1e-12); pass++) {
        previous = best;
        for (int k = 1; k < c.count; k++) { /* only the ratios count */
            best = raise(&c, price, k);
        }
    }
    mer_arena_free(arena);
    return best * ROUNDING;
}

static double fastest(const MerPlace *place, int group)
{
    double least = INFINITY;
    for (int i = place->choice_start[group]; i < place->choice_start[group + 1]; i++) {
        least = fmin(
            least,
            place->group_us[(size_t)group * (size_t)place->unit_count + (size_t)place->choices[i]]);
    }
    return least;
}

static double largest_group(const MerPlace *place)
{
    double most = 0;
    for (int g = 0; g < place->group_count; g++) {
        most = fmax(most, fastest(place, g));
    }
    return most * ROUNDING;
}

/* Every operator on the fastest unit that its group may take. */
static double longest_path(const MerPlace *place)
{
    double *end = mer_heap_zeroed((size_t)place->op_count, sizeof *end), most = 0;
    for (int o = 0; o < place->op_count; o++) {
        int    g = place->group[o];
        double time = INFINITY, start = 0;
        for (int i = place->choice_start[g]; i < place->choice_start[g + 1]; i++) {
            time = fmin(
                time,
                place->time_us[(size_t)o * (size_t)place->unit_count + (size_t)place->choices[i]]);
        }
        for (int i = place->before_start[o]; i < place->before_start[o + 1]; i++) {
            start = fmax(start, end[place->before[i]]);
        }
        end[o] = start + time;
        most = fmax(most, end[o]);
    }
    free(end);
    return most * ROUNDING;
}

static MerBound larger(double a, const char *name_a, double b, const char *name_b)
{
    return a >= b ? (MerBound){1e-6 * a, name_a, ""} : (MerBound){1e-6 * b, name_b, ""};
}

/* The least that an operator adds to its kernel whatever it is fused with. By operations: these alone are sure, for every one. By kernels:
 * a product, convolution or reduction is the only one of its kernel, which reads its weights and is launched; what is never
 * fused takes all its time; the rest may cost nothing. */
static double least_time(const MerFusion *fusion, size_t op, size_t unit, bool by_kernels)
{
    size_t at = op * (size_t)fusion->place->unit_count + unit;
    double time = fusion->place->time_us[at], compute = fusion->compute_us[at];
    if (!by_kernels) {
        return compute;
    }
    if (fusion->role[op] == MER_FUSE_NEVER) {
        return time;
    }
    double weights =
        fusion->is_modelled[at] ? fusion->place->size[op] * fusion->us_per_byte[unit] : 0;
    return mer_fuse_is_root(fusion->role[op])
               ? fmin(time, fmax(compute, weights) + fusion->launch_us[unit])
               : 0;
}

static MerPlace least_when_fused(const MerPlace *place, bool by_kernels, MerArena *arena)
{
    size_t           units = (size_t)place->unit_count, count = (size_t)place->op_count;
    const MerFusion *fusion = mer_fusion_open(place, arena);
    MerPlace         least = *place;
    double          *groups = MER_ARRAY(arena, double, (size_t)place->group_count *units);
    double          *times = MER_ARRAY(arena, double, count *units);
    for (size_t o = 0; o < count; o++) {
        for (size_t u = 0; u < units; u++) {
            times[o * units + u] = least_time(fusion, o, u, by_kernels);
            groups[(size_t)place->group[o] * units + u] += times[o * units + u];
        }
    }
    least.time_us = times;
    least.group_us = groups;
    return least;
}

static MerBound bound_when_fused(const MerPlace *place, const MerPlaceRules *rules,
                                 MerMetric metric)
{
    MerPlaceRules alone = *rules;
    MerBound      best = {0};
    alone.fuses = false;
    for (int by_kernels = 0; by_kernels < 2; by_kernels++) {
        MerArena *arena = mer_arena_new();
        MerPlace  least = least_when_fused(place, by_kernels == 1, arena);
        MerBound  bound = mer_place_bound(&least, &alone, metric);
        best = by_kernels == 0 || bound.value > best.value ? bound : best;
        mer_arena_free(arena);
    }
    return best;
}

MerBound mer_place_bound(const MerPlace *place, const MerPlaceRules *rules, MerMetric metric)
{
    bool is_own = (metric == MER_METRIC_PERIOD && rules->form == MER_PLACE_MAXLOAD) ||
                  (metric == MER_METRIC_LATENCY && rules->form != MER_PLACE_MAXLOAD) ||
                  (metric == MER_METRIC_MAKESPAN && rules->form == MER_PLACE_CLUSTER);
    if (!is_own || rules->ignores_limits) {
        return (MerBound){NAN, "none", ""};
    }
    if (rules->fuses) {
        return bound_when_fused(place, rules, metric);
    }
    switch (rules->form) {
    case MER_PLACE_MAXLOAD:
        return place->has_replicas
                   ? (MerBound){1e-6 * balance(place), "balance", ""}
                   : larger(balance(place), "balance", largest_group(place), "largest-group");
    case MER_PLACE_CALLS:
        return (MerBound){1e-6 * longest_path(place), "critical-path", ""};
    case MER_PLACE_CLUSTER:
        return larger(balance(place), "balance", longest_path(place), "critical-path");
    }
    return (MerBound){NAN, "none", ""};
}
