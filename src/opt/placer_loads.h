/* A placement that grows group by group: what every unit has to do and to hold so far, and what one more choice
 * would add. */
#ifndef MERCATOR_OPT_PLACER_LOADS_H
#define MERCATOR_OPT_PLACER_LOADS_H

#include "opt/placer_graph.h"

/* What a policy sees of a unit before it places a set of groups there, and of the step as a whole. */
enum { MER_PLACER_UNIT_FEATURES = 12, MER_PLACER_STEP_FEATURES = 6 };

typedef struct MerPlacerLoads {
    const MerPlacerGraph *graph;
    int                  *unit;         /* of each group, -1: not placed yet */
    double               *load, *bytes; /* of each unit */
    bool                 *is_sent;      /* [op * unit_count + unit]: its result is there */
    bool                 *is_out;       /* its result has left its unit */
    double                most, placed; /* largest load; work placed so far */
    int                   last;         /* unit of the set before, -1: none */
    struct MerPlacerTry  *attempt; /* working memory, may be shared */
} MerPlacerLoads;

typedef struct MerPlacerTry {
    double  *added; /* of each unit */
    int64_t *out;   /* [op]: the try that last counted it as leaving its unit */
    int64_t *to;    /* [op * unit_count + unit]: and as arriving there */
    int64_t  tries;
} MerPlacerTry;

MerPlacerTry *mer_placer_try(const MerPlacerGraph *graph, MerArena *arena);
void mer_placer_loads_make(MerPlacerLoads *loads, const MerPlacerGraph *graph,
                           MerPlacerTry *attempt, MerArena *arena);
void mer_placer_loads_clear(MerPlacerLoads *loads);

/* A set of groups that is placed at once. */
typedef struct MerPlacerSet {
    int        count;
    const int *groups;
} MerPlacerSet;

bool mer_placer_allows(const MerPlacerGraph *graph, MerPlacerSet set, int unit);
/* Of every unit [unit * MER_PLACER_UNIT_FEATURES]. */
void mer_placer_unit_features(MerPlacerLoads *loads, MerPlacerSet set, float *features);
void mer_placer_step_features(const MerPlacerLoads *loads, MerPlacerSet set, double progress,
                              float *features);
void mer_placer_put(MerPlacerLoads *loads, MerPlacerSet set, int unit);

#endif
