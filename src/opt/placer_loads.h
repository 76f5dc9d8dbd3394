/* A placement that grows: what every unit has to do and to hold so far, and what one more choice would add. */
#ifndef MERCATOR_OPT_PLACER_LOADS_H
#define MERCATOR_OPT_PLACER_LOADS_H

#include "opt/placer_graph.h"

/* What a policy sees of every unit before it places groups, and of the step as a whole. */
enum { MER_PLACER_UNIT_FEATURES = 12, MER_PLACER_STEP_FEATURES = 6 };

/* Working memory of one look ahead; may be shared by placements. */
typedef struct MerPlacerTry {
    double  *added;  /* of each unit */
    double  *inputs; /* of each unit: results there that are read */
    int64_t *out;    /* [op]: the look that last counted it as leaving its unit */
    int64_t *to;     /* [op * unit_count + unit]: and as arriving there */
    int64_t  count;  /* of looks */
} MerPlacerTry;

typedef struct MerPlacerLoads {
    const MerPlacerGraph *graph;
    MerPlacerTry         *look;
    int                  *unit;         /* of each group, -1: not placed yet */
    double               *load, *bytes; /* of each unit */
    bool                 *is_sent; /* [op * unit_count + unit]: its result has been moved there */
    bool                 *is_out;  /* [op]: its result has left its unit */
    double                most, placed; /* largest load; work placed so far */
    int                   last;         /* unit of the set before, -1: none */
} MerPlacerLoads;

MerPlacerTry *mer_placer_try(const MerPlacerGraph *graph, MerArena *arena);
void mer_placer_loads_make(MerPlacerLoads *loads, const MerPlacerGraph *graph, MerPlacerTry *look,
                           MerArena *arena);
void mer_placer_loads_clear(MerPlacerLoads *loads);

/* Groups that are placed at once: on one unit, those that may not go there on their fallbacks. */
typedef struct MerPlacerSet {
    int        count;
    const int *groups;
} MerPlacerSet;

/* May at least one of the groups go there? */
bool mer_placer_allows(const MerPlacerGraph *graph, MerPlacerSet set, int unit);
/* Of every unit: [unit * MER_PLACER_UNIT_FEATURES], zeros where the set may not go. */
void mer_placer_unit_features(MerPlacerLoads *loads, MerPlacerSet set, float *features);
/* `progress`: share of the steps that are done. */
void mer_placer_step_features(const MerPlacerLoads *loads, MerPlacerSet set, double progress,
                              float *features);
void mer_placer_put(MerPlacerLoads *loads, MerPlacerSet set, int unit);
/* By how much the units hold more than they can, added up in limits of a unit. */
double mer_placer_excess(const MerPlacerLoads *loads);

#endif
