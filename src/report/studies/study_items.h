/* Between reading the runs of a study and sorting them: a list of what every task of every run left. */
#ifndef MERCATOR_REPORT_STUDIES_STUDY_ITEMS_H
#define MERCATOR_REPORT_STUDIES_STUDY_ITEMS_H

#include "report/studies/study.h"

typedef struct MerStudyItem { /* one trace with the names of its place */
    MerStudyTrace trace;
    MerStudyTask  task;
    const char   *group, *task_key, *method, *objective, *unit;
    int64_t       budget;
    bool          is_exact; /* it tells the optimum, it does not compete */
    bool          is_proven;
} MerStudyItem;

/* Fills study->groups; `items` may go afterwards. */
void mer_study_group(const MerStudyItem *items, int count, MerArena *arena, MerStudy *study);

#endif
