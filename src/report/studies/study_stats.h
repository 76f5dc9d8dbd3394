/* Numbers of a study: what a method had reached, and when. Infinite: nothing feasible, or never. */
#ifndef MERCATOR_REPORT_STUDIES_STUDY_STATS_H
#define MERCATOR_REPORT_STUDIES_STUDY_STATS_H

#include "base/stats.h"
#include "report/studies/study.h"

static inline const MerStudyCell *mer_study_cell(const MerStudyGroup *group, int task, int method)
{
    return &group->cells[task * group->method_count + method];
}

int    mer_study_most_seeds(const MerStudyGroup *group); /* of a method on a task */
double mer_trace_best(const MerStudyTrace *trace,
                      /* score after so many samples */
                      int64_t samples);
double mer_trace_reach(const MerStudyTrace *trace, double score); /* first sample with this score */
/* One number per seed. */
int    mer_cell_best(const MerStudyCell *cell, int64_t samples, double *scores);
int    mer_cell_reach(const MerStudyCell *cell, double score, double *samples);
double mer_cell_median(const MerStudyCell *cell, int64_t samples);

/* Evaluations that were made, per task: medians. */
double mer_cell_samples(const MerStudyCell *cell);
double mer_method_samples(const MerStudyGroup *group, int method, MerArena *arena);
/* Samples up to which all seeds tell what they had (INT64_MAX: there is none); of the task that has most. */
int64_t mer_cell_until(const MerStudyCell *cell);
int64_t mer_method_until(const MerStudyGroup *group, int method);

double mer_study_ratio(double score,
                       double best); /* >= 1 when `best` is better, for either direction */
double mer_study_median(const double *x, int n); /* infinite values are larger than all others */
/* 95 % bootstrap interval of the median; NaN where it is not finite, and of a single value. */
MerInterval mer_study_interval(const double *x, int n);
double      mer_sign_test(int wins, int losses); /* two-sided, exact */

#endif
