/* Plans of kind "nest": a loop nest over the memories of an accelerator. */
#ifndef MERCATOR_MAP_NEST_PLAN_H
#define MERCATOR_MAP_NEST_PLAN_H

#include "mercator/graph.h"
#include "mercator/plan.h"

#include <assert.h>

/* one memory, with the fan-out below it; level 0 of a plan is innermost */
typedef struct MerNestLevel {
    union { /* trip counts, >= 1: by name, or by MerNestPlace */
        struct {
            int temporal[MER_DIM_COUNT], x[MER_DIM_COUNT], y[MER_DIM_COUNT];
        };
        int factors[3][MER_DIM_COUNT];
    };
    int      order[MER_DIM_COUNT]; /* temporal loops, outer to inner: a permutation of the dims */
    unsigned keep;                 /* bit per tensor W, I, O */
} MerNestLevel;

typedef struct MerNestPlan {
    const MerOp  *op;
    int           level_count;
    MerNestLevel *levels;
} MerNestPlan;

extern const MerPlanKind mer_plan_nest;

static inline MerNestPlan *mer_nest_plan(const MerPlan *plan)
{
    assert(plan->kind == &mer_plan_nest);
    return plan->content;
}

#endif
