/* Between reading the runs of a study and sorting them: a list of what every task of every run left. */
#ifndef MERCATOR_REPORT_STUDIES_STUDY_ITEMS_H
#define MERCATOR_REPORT_STUDIES_STUDY_ITEMS_H

#include "report/studies/study.h"

typedef struct MerStudyItem { /* one trace with the names of its place */
    MerStudyTrace trace;
    MerStudyTask  task;
    const char   *group, *task_key, *method, *objective, *unit;
    const char   *method_key; /* with the limit of the run: random @500, random @0.2 s */
    bool          is_exact;   /* of a solver that may tell the optimum */
    bool          is_proven;
} MerStudyItem;

/* Fills study->groups; `items` may go afterwards. */
void mer_study_group(const MerStudyItem *items, int count, MerArena *arena, MerStudy *study);

#endif
