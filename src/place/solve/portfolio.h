/* What the files of solver `portfolio` do for each other. */
#ifndef MERCATOR_PLACE_SOLVE_PORTFOLIO_H
#define MERCATOR_PLACE_SOLVE_PORTFOLIO_H

#include "place/place.h"

typedef struct MerSource { /* who made a point, and what it is worth */
    const char *name, *detail;
    MerIndex   *point;
    double      score;  /* as told; NaN: not yet */
    double      value;  /* of the objective, as users read it */
    const char *reason; /* why it was refused; NULL: it was not */
} MerSource;

typedef struct MerSources {
    const MerSearch *search;
    const MerPlace  *place;
    int              knob_count, count, asked, told;
    MerSource       *list;
} MerSources;

/* A point of some source, to be asked for. */
MerSource *mer_sources_add(MerSources *sources, const char *name, const char *detail,
                           const MerIndex *point);
/* A placement; what else the space decides gets its default. */
MerSource *mer_sources_add_units(MerSources *sources, const char *name, const char *detail,
                                 const int *unit);
/* Told points by score, the best first, equal ones once; refused ones last. Their numbers in `order`, how many are legal. */
int mer_sources_rank(const MerSources *sources, int *order, int *legal);
/* The table for the report: one line per source, `single` first. `moves`: that annealing made, priced by loads or by the evaluator inside
 * the solver; -1: it made none. */
void mer_sources_show(const MerSources *sources, int64_t moves, bool by_loads);

/* portfolio_rules.c: the points of each kind of source. */
void mer_portfolio_add_singles(MerSources *sources);
void mer_portfolio_add_rules(MerSources *sources);
void mer_portfolio_add_partitions(MerSources *sources);
/* `ideals`: down-sets up to which the exact split is sought. `proof`: of the largest load of contiguous splits; NULL: another value
 * counts. */
void mer_portfolio_add_splits(MerSources *sources, const MerPlaceRules *rules, int64_t ideals,
                              MerBound *proof);
/* Replicated stages. */
void mer_portfolio_add_replicas(MerSources *sources, const MerProblem *problem,
                                const MerEvaluator *evaluator);
/* The best `count` told placements, and the best single unit, again with priorities by upward rank and with greedy fusion, where these are decided. */
void mer_portfolio_add_variants(MerSources *sources, int count);
/* The best point of all with one more decision: priorities by upward rank, or greedy fusion. */
void mer_portfolio_add_turn(MerSources *sources, MerRole role);

#endif
