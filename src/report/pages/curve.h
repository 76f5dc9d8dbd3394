/* Best-so-far curves, thinned while they grow. */
#ifndef MERCATOR_REPORT_PAGES_CURVE_H
#define MERCATOR_REPORT_PAGES_CURVE_H

#include "report/pages/run_reader.h"

typedef struct MerCurveSet { /* zeroed = empty */
    struct MerCurveTask *tasks;
    int                  count;
    int64_t              next_index; /* a sparse log leaves indices out; they were evaluated too */
    int64_t              last_task;
    int64_t              budget; /* evaluations per task, 0: unknown */
} MerCurveSet;

enum { MER_CURVE_TASKS = 1 << 16 };

/* `score` NaN: the trial was infeasible or says nothing about the best. */
void mer_curve_add(MerCurveSet *set, int64_t index, int64_t task, double score);
/* The clock ended the task before trial `index`: what the log left out until then is its own. */
void mer_curve_end(MerCurveSet *set, int64_t index, int64_t task);
void mer_curve_finish(const MerCurveSet *set, MerReportRun *run, MerArena *arena);
void mer_curve_free(MerCurveSet *set);

#endif
