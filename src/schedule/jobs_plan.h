/* Plans of kind "jobs": which core runs which jobs, in which order. */
#ifndef MERCATOR_SCHEDULE_JOBS_PLAN_H
#define MERCATOR_SCHEDULE_JOBS_PLAN_H

#include "mercator/plan.h"

#include <assert.h>

typedef struct MerJobsPlan { /* queue of unit u: queue[start[u]] .. queue[start[u+1]-1] */
    int  job_count, unit_count;
    int *unit, *queue, *start;
} MerJobsPlan;

extern const MerPlanKind mer_plan_jobs;

static inline MerJobsPlan *mer_jobs_plan(const MerPlan *plan)
{
    assert(plan->kind == &mer_plan_jobs);
    return plan->content;
}

#endif
