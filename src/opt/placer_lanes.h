/* Placements side by side, each a list of sets and a unit for every one of them, and the rows that a network sees of
 * them: row = step * count + lane. */
#ifndef MERCATOR_OPT_PLACER_LANES_H
#define MERCATOR_OPT_PLACER_LANES_H

#include "opt/placer_loads.h"
#include "opt/placer_net.h"

typedef struct MerPlacerLanes {
    const MerPlacerGraph *graph;
    int                   steps, capacity, count; /* count: lanes in use */
    bool                  sees_loads;
    /* the placements */
    int *step_of; /* [lane * group_count + group]: the step that places it, -1: none does */
    int *unit;    /* [lane * steps + step] */
    int *set_start, *set_groups; /* [lane * (steps + 1) + step], [lane * group_count + ..] */
    MerPlacerLoads *loads;       /* of each lane */
    /* the rows */
    int   *before, *choice; /* unit of the step before (unit_count: none), unit of this step */
    float *unit_features, *step_features, *mask;
    float *live; /* 1, or 0 where the set is empty: its unit does not matter */
} MerPlacerLanes;

void mer_placer_lanes_make(MerPlacerLanes *lanes, const MerPlacerGraph *graph, int steps,
                           int capacity, bool sees_loads, MerArena *arena);
/* Every group a step of its own, in the graph's order: for `lane`. */
void mer_placer_lanes_single(MerPlacerLanes *lanes, int lane);
/* Takes `count` lanes into use, with sets as `step_of` says and nothing placed yet. */
void         mer_placer_lanes_begin(MerPlacerLanes *lanes, int count);
MerPlacerSet mer_placer_lanes_set(const MerPlacerLanes *lanes, int lane, int step);
/* Fills the rows of a step from what is placed so far, ... */
void mer_placer_lanes_see(MerPlacerLanes *lanes, int step);
/* ... and places its sets as `unit` says. */
void mer_placer_lanes_put(MerPlacerLanes *lanes, int step);
/* All steps: the rows of placements that are known. */
void mer_placer_lanes_replay(MerPlacerLanes *lanes);
/* From `step` on. */
MerPlacerRows mer_placer_lanes_rows(const MerPlacerLanes *lanes, int step);
/* Knobs that no lane decides become 0. */
void mer_placer_lanes_point(const MerPlacerLanes *lanes, int lane, MerIndex *point);

#endif
