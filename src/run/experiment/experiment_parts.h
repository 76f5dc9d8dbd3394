/* An experiment on its way to runs, shared by the files that expand it. */
#ifndef MERCATOR_RUN_EXPERIMENT_EXPERIMENT_PARTS_H
#define MERCATOR_RUN_EXPERIMENT_EXPERIMENT_PARTS_H

#include "run/experiment/experiment.h"

typedef struct MerExpansion {
    const MerExperiment   *experiment;
    const MerProblemClass *problem;
    MerArena              *arena;
    MerImportOptions       import;
    const MerGraph       **graphs;
    MerReference          *workloads; /* name and the problem options of this workload alone */
    const MerPlatform    **platforms;
    const char           **evaluators, **optimizers, **objectives; /* texts */
    uint64_t              *seeds;
    int64_t               *budgets;
    int                    counts[MER_AXIS_COUNT];
    bool                   has_own_budget; /* the optimizer resolved last named one */
    void (*warn)(void *state, const char *text);
    void *warn_state;
} MerExpansion;

/* Put the place of a value of a list key, or of a common option, before the message of a failed call, if
 * it is from a file. Return `status`. */
MerStatus mer_expansion_at_value(const MerExpansion *e, MerAxis axis, int index, MerStatus status,
                                 MerError *error);
MerStatus mer_expansion_at_option(const MerExperiment *experiment, const char *key,
                                  MerStatus status, MerError *error);

/* Sets a common option, as on the command line (`place` NULL) or in a file: a gap may be said in percent. */
MerStatus mer_experiment_set_common(MerExperiment *experiment, const MerOption *option,
                                    const char *place, const char *value, MerError *error);

/* Adds a value of the command line (`place` and `map` NULL) or of a file. */
void mer_axis_add(MerAxisValues *values, const char *value, const char *place, MerYaml *map,
                  MerArena *arena);
/* sweep_values.c: adds the value, or all of a range `16Ki..512Ki:x2`, to a list. */
MerStatus mer_sweep_values(const char *text, MerAxisValues *values, MerArena *arena,
                           MerError *error);

/* A list is written with brackets, which only guard its commas where the problem's option is a text (select: [1, 3-5]). */
const char *mer_experiment_unlisted(const MerProblemClass *problem, const char *key,
                                    const char *value, MerArena *arena);

MerStatus mer_expansion_workloads(MerExpansion *e, MerError *error);
MerStatus mer_expansion_platforms(MerExpansion *e, MerError *error);

#endif
