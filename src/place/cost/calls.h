/* One sample through accelerators that are called, for evaluator `calls` and its views (docs/placement.md, "calls"). */
#ifndef MERCATOR_PLACE_COST_CALLS_H
#define MERCATOR_PLACE_COST_CALLS_H

#include "place/place_parts.h"

typedef struct MerCallsRun { /* microseconds */
    double *start, *finish;  /* of each operator; on accelerators those of its call */
    int    *call;            /* that each operator runs in, counted from 1; 0: on a host */
    int *
        last_input; /* of each operator: the one whose end it, or its call, waited for; -1: none, or the
                                call before */
    int    *calls;       /* of each unit */
    double *transfer_us; /* of each unit, all calls */
    double  latency_us;
    int     call_count;
} MerCallsRun;

void mer_calls_run(const MerPlace *place, const MerGraphPlan *plan, MerArena *arena,
                   MerCallsRun *run);

/* calls_detail.c: the timeline of the calls; `parts` of each unit as mer_place_show takes them. */
double *mer_calls_parts(const MerPlace *place, const MerGraphPlan *plan, const MerCallsRun *run,
                        MerArena *arena);
void    mer_calls_show(const MerPlace *place, const MerGraphPlan *plan, const MerCallsRun *run,
                       MerArena *arena, MerNotes *notes);

#endif
