/* Placements side by side. */
#include "opt/placer_lanes.h"

#include <string.h>

static const float forbidden = -1e9f; /* beside any logit: no probability is left */

void mer_placer_lanes_make(MerPlacerLanes *lanes, const MerPlacerGraph *graph, int steps,
                           int capacity, bool sees_loads, MerArena *arena)
{
    int64_t       rows = (int64_t)steps * capacity, groups = (int64_t)graph->group_count * capacity;
    int64_t       units = graph->unit_count;
    MerPlacerTry *look = mer_placer_try(graph, arena);
    *lanes = (MerPlacerLanes){.graph = graph,
                              .steps = steps,
                              .capacity = capacity,
                              .sees_loads = sees_loads,
                              .step_of = MER_ARRAY(arena, int, groups),
                              .unit = MER_ARRAY(arena, int, rows),
                              .set_start = MER_ARRAY(arena, int, rows + capacity),
                              .set_groups = MER_ARRAY(arena, int, groups),
                              .loads = MER_ARRAY(arena, MerPlacerLoads, capacity),
                              .before = MER_ARRAY(arena, int, rows),
                              .choice = MER_ARRAY(arena, int, rows),
                              .mask = MER_ARRAY(arena, float, rows *units),
                              .live = MER_ARRAY(arena, float, rows)};
    for (int lane = 0; lane < capacity; lane++) {
        mer_placer_loads_make(&lanes->loads[lane], graph, look, arena);
    }
    if (sees_loads) {
        int64_t width = MER_PLACER_UNIT_FEATURES;
        lanes->unit_features = MER_ARRAY(arena, float, rows *units *width);
        lanes->step_features = MER_ARRAY(arena, float, rows *MER_PLACER_STEP_FEATURES);
    }
}

void mer_placer_lanes_single(MerPlacerLanes *lanes, int lane)
{
    memcpy(lanes->step_of + (int64_t)lane * lanes->graph->group_count, lanes->graph->position,
           (size_t)lanes->graph->group_count * sizeof *lanes->step_of);
}

/* Groups of each step, in the graph's order. */
static void sort_sets(MerPlacerLanes *lanes, int lane)
{
    const MerPlacerGraph *g = lanes->graph;
    const int            *step_of = lanes->step_of + (int64_t)lane * g->group_count;
    int                  *start = lanes->set_start + (int64_t)lane * (lanes->steps + 1);
    int                  *groups = lanes->set_groups + (int64_t)lane * g->group_count;
    memset(start, 0, (size_t)(lanes->steps + 1) * sizeof *start);
    for (int i = 0; i < g->order_count; i++) {
        start[step_of[g->order[i]] + 1]++;
    }
    for (int s = 0; s < lanes->steps; s++) {
        start[s + 1] += start[s];
    }
    for (int i = 0; i < g->order_count; i++) {
        groups[start[step_of[g->order[i]]]++] = g->order[i];
    }
    memmove(start + 1, start,
            (size_t)lanes->steps * sizeof *start); /* each is where the next begins */
    start[0] = 0;
}

void mer_placer_lanes_begin(MerPlacerLanes *lanes, int count)
{
    lanes->count = count;
    for (int lane = 0; lane < count; lane++) {
        sort_sets(lanes, lane);
        mer_placer_loads_clear(&lanes->loads[lane]);
    }
}

MerPlacerSet mer_placer_lanes_set(const MerPlacerLanes *lanes, int lane, int step)
{
    const int *start = lanes->set_start + (int64_t)lane * (lanes->steps + 1) + step;
    return (MerPlacerSet){start[1] - start[0],
                          lanes->set_groups + (int64_t)lane * lanes->graph->group_count + start[0]};
}

static void see_lane(MerPlacerLanes *lanes, int step, int lane)
{
    MerPlacerLoads *loads = &lanes->loads[lane];
    MerPlacerSet    set = mer_placer_lanes_set(lanes, lane, step);
    int64_t         row = (int64_t)step * lanes->count + lane, units = lanes->graph->unit_count;
    lanes->before[row] = loads->last < 0 ? (int)units : loads->last;
    lanes->live[row] = set.count > 0;
    for (int u = 0; u < units; u++) {
        lanes->mask[row * units + u] = mer_placer_allows(lanes->graph, set, u) ? 0 : forbidden;
    }
    if (lanes->sees_loads) {
        mer_placer_unit_features(loads, set,
                                 lanes->unit_features + row * units * MER_PLACER_UNIT_FEATURES);
        mer_placer_step_features(loads, set, (double)step / lanes->steps,
                                 lanes->step_features + row * MER_PLACER_STEP_FEATURES);
    }
}

void mer_placer_lanes_see(MerPlacerLanes *lanes, int step)
{
    for (int lane = 0; lane < lanes->count; lane++) {
        see_lane(lanes, step, lane);
    }
}

void mer_placer_lanes_put(MerPlacerLanes *lanes, int step)
{
    for (int lane = 0; lane < lanes->count; lane++) {
        int unit = lanes->unit[(int64_t)lane * lanes->steps + step];
        lanes->choice[(int64_t)step * lanes->count + lane] = unit;
        mer_placer_put(&lanes->loads[lane], mer_placer_lanes_set(lanes, lane, step), unit);
    }
}

void mer_placer_lanes_replay(MerPlacerLanes *lanes)
{
    for (int step = 0; step < lanes->steps; step++) {
        mer_placer_lanes_see(lanes, step);
        mer_placer_lanes_put(lanes, step);
    }
}

MerPlacerRows mer_placer_lanes_rows(const MerPlacerLanes *lanes, int step)
{
    int64_t       row = (int64_t)step * lanes->count, units = lanes->graph->unit_count;
    MerPlacerRows rows = {.before = lanes->before + row, .mask = lanes->mask + row * units};
    if (lanes->sees_loads) {
        rows.unit_features = lanes->unit_features + row * units * MER_PLACER_UNIT_FEATURES;
        rows.step_features = lanes->step_features + row * MER_PLACER_STEP_FEATURES;
    }
    return rows;
}

void mer_placer_lanes_point(const MerPlacerLanes *lanes, int lane, MerIndex *point)
{
    const MerPlacerGraph *g = lanes->graph;
    memset(point, 0, (size_t)g->space->knob_count * sizeof *point);
    for (int i = 0; i < g->order_count; i++) {
        int group = g->order[i];
        int step = lanes->step_of[(int64_t)lane * g->group_count + group];
        int unit = mer_placer_unit(g, group, lanes->unit[(int64_t)lane * lanes->steps + step]);
        point[g->knob[group]] = g->choice[group * g->unit_count + unit];
    }
}
