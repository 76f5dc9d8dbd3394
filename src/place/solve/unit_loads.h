/* Loads of the units under evaluator `maxload`, kept up to date while operators move: what annealing and local search
 * price with. A move costs as much as what moves has neighbours, whatever the size of the graph
 * (docs/placement.md, "Delta evaluation"). Loads are whole ticks, so that sums are exact in any order and a
 * million moves leave no rounding behind. */
#ifndef MERCATOR_PLACE_SOLVE_UNIT_LOADS_H
#define MERCATOR_PLACE_SOLVE_UNIT_LOADS_H

#include "place/place.h"

/* What all placements of one graph share. What moves is a part: a group, or several that stay together. A result is
 * what an operator hands to other parts. */
typedef struct MerLoadTables {
    const MerPlace *place;
    bool            overlaps; /* load = max(compute, transfers) */
    bool            has_transfers, has_limits;
    int             part_count;
    int            *part_of;    /* part of each group; parts are numbered by their first groups */
    double         *bytes;      /* of each part */
    int64_t        *part_ticks; /* [part * unit_count + unit] */
    double          us_per_tick;
    int     *choice_start, *choices; /* units that each part may take, rising; at least one */
    int      result_count;
    int     *maker;              /* part that makes each result */
    int     *user_start, *users; /* other parts that read it */
    int     *made_start;         /* results of part p: made_start[p] .. made_start[p + 1] - 1 */
    int     *used_start, *used;  /* results of others that each part reads */
    int64_t *move_ticks;         /* [result * unit_count + unit] */
    int     *near_start, *near;  /* parts joined to each part by an edge, once each */
} MerLoadTables;

/* In `arena`; `place` is kept. `part_of`: the part of each group; NULL: each group is one. */
MerLoadTables *mer_load_tables_new(const MerPlace *place, const MerPlaceRules *rules,
                                   const int *part_of, MerArena *arena);

typedef struct MerUnitLoads { /* of one placement */
    const MerLoadTables *tables;
    int                 *unit;  /* of each part */
    int                 *users; /* [result * unit_count + unit]: parts there that read it */
    int64_t             *compute, *transfer; /* of each unit, in ticks */
    double              *bytes;              /* of each unit */
} MerUnitLoads;

/* Memory for a placement; mer_unit_loads_set makes it one. */
void mer_unit_loads_begin(MerUnitLoads *loads, const MerLoadTables *tables, MerArena *arena);
/* The unit of every part. */
void mer_unit_loads_set(MerUnitLoads *loads, const int *unit);
void mer_unit_loads_move(MerUnitLoads *loads, int part, int unit);

static inline int mer_result_users(const MerLoadTables *tables, int result)
{
    return tables->user_start[result + 1] - tables->user_start[result];
}

static inline int64_t mer_unit_load(const MerUnitLoads *loads, int unit)
{
    int64_t compute = loads->compute[unit], transfer = loads->transfer[unit];
    if (loads->tables->overlaps) {
        return compute > transfer ? compute : transfer;
    }
    return compute + transfer;
}

/* What a placement is worth: legal ones first, then the smaller score. */
typedef struct MerPlaceValue {
    double excess; /* bytes above the limits of units; of evaluators: 0, or infinite if refused */
    double score;  /* microseconds of the largest load; of evaluators: as the run minimises it */
} MerPlaceValue;

static inline bool mer_place_is_better(const MerPlaceValue *a, const MerPlaceValue *b)
{
    return a->excess < b->excess || (a->excess == b->excess && a->score < b->score);
}

MerPlaceValue mer_unit_loads_value(const MerUnitLoads *loads);
/* The largest load, in ticks. */
int64_t mer_unit_loads_period(const MerUnitLoads *loads);
/* Bytes above the limits of units, all together. */
double mer_unit_loads_excess(const MerUnitLoads *loads);

#endif
