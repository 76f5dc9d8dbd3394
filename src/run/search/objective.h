/* What is minimised: one metric, or an expression of metrics such as `energy^0.5*latency` or
 * `max:throughput/mac_units` (docs/formats.md, "Objectives"). */
#ifndef MERCATOR_RUN_SEARCH_OBJECTIVE_H
#define MERCATOR_RUN_SEARCH_OBJECTIVE_H

#include "mercator/arena.h"
#include "mercator/metric.h"

#include <stdint.h>

typedef struct MerObjective {
    const char           *text;
    MerMetric             metric;    /* MER_METRIC_COUNT for an expression */
    int                   direction; /* -1: smaller is better */
    const struct MerTerm *terms;     /* postfix */
    int                   term_count;
} MerObjective;

MerStatus mer_objective_parse(const char *text, MerObjective *objective, MerArena *arena,
                              MerError *error);
/* as the user reads it */
double mer_objective_value(const MerObjective *objective, const double *metrics);
/* minimised; +inf infeasible */
double mer_objective_score(const MerObjective *objective, const MerCost *cost);
/* A feasible cost without a finite value of the objective becomes infeasible, with the reason. */
void mer_objective_refuse(const MerObjective *objective, MerCost *cost);
/* value/bound - 1 or bound/value - 1 by direction, never negative; NaN if it cannot be said. */
double mer_objective_gap(const MerObjective *objective, double value, double bound);
/* Does it only need metrics of this mask? Gives the first it lacks. */
bool mer_objective_needs(const MerObjective *objective, uint64_t metrics, MerMetric *missing);

/* Those it reads, as bits. */
uint64_t mer_objective_metrics(const MerObjective *objective);

#endif
