/* Spaces of data-centric mappings (docs/datacentric-model.md, "Spaces of directives") and their points.
 * Two genomes:
 *   ten    ten knobs: two loop orders, two parallel dims, a cluster size, the four outer tiles and
 *          one scale for the inner ones. Layers with fewer dims have fewer knobs.
 *   gamma  GAMMA's genome (Kao and Krishna, ICCAD 2020): a number of levels and, for each, a
 *          parallel dim, a cluster size, and a tile and an order rank per dim.
 * Batches and groups of a layer are walked one by one, outside everything else. */
#ifndef MERCATOR_MAP_DIRECTIVES_DIRECTIVES_H
#define MERCATOR_MAP_DIRECTIVES_DIRECTIVES_H

#include "layer/directive_plan.h"
#include "mercator/problem.h"

#include <assert.h>

typedef enum MerDirectiveGenome { MER_GENOME_TEN, MER_GENOME_GAMMA } MerDirectiveGenome;

enum { MER_DIRECTIVE_DIMS = 6, MER_DIRECTIVE_LEVELS = 3 };

typedef struct MerDirectiveOptions {
    MerDirectiveGenome genome;
    bool               par_rs;                 /* gamma: R and S may be the parallel dim */
    int                min_levels, max_levels; /* gamma; 0: 2 */
} MerDirectiveOptions;

typedef struct MerDirectiveSpace {
    const MerOp        *op;
    MerDirectiveOptions options;
    int                 num_pes;
    double              lanes;
    int                 dim_count, tiled_count; /* tiled: without R and S, which come last */
    int                 dims[MER_DIRECTIVE_DIMS];
    int                 limit[MER_DIRECTIVE_DIMS]; /* largest tile */
    MerSpace            space;
    /* knobs by meaning, -1 if there is none; level 0 is outermost here */
    int levels, scale;
    int order[MER_DIRECTIVE_LEVELS]; /* ten: a permutation */
    int parallel[MER_DIRECTIVE_LEVELS], cluster[MER_DIRECTIVE_LEVELS];
    int tile[MER_DIRECTIVE_LEVELS][MER_DIRECTIVE_DIMS],
        rank[MER_DIRECTIVE_LEVELS][MER_DIRECTIVE_DIMS];
} MerDirectiveSpace;

/* Fills `space->space`; what it allocates lives in `arena`. Keeps op. */
MerStatus mer_directives_open(MerDirectiveSpace *space, const MerOp *op,
                              const MerPlatform *platform, const MerDirectiveOptions *options,
                              MerArena *arena, MerError *error);
void      mer_directives_decode(const MerDirectiveSpace *space, const MerIndex *point,
                                MerDirectivePlan *plan, MerArena *arena);
/* False: no point decodes to this plan. */
bool mer_directives_encode(const MerDirectiveSpace *space, const MerDirectivePlan *plan,
                           MerIndex *point);
/* What no mapping of strict mode can beat: cycles, latency, energy and EDP. */
MerBound mer_directives_bound(const MerDirectiveSpace *space, const MerPlatform *platform,
                              MerMetric metric);

extern const MerPlanKind mer_plan_directives;

static inline MerDirectivePlan *mer_directive_plan(const MerPlan *plan)
{
    assert(plan->kind == &mer_plan_directives);
    return plan->content;
}

bool mer_directives_equal(const MerDirectivePlan *a, const MerDirectivePlan *b);

#endif
