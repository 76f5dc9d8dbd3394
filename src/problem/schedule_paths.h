/* Ways through the dependencies of an opened `schedule`. */
#ifndef MERCATOR_PROBLEM_SCHEDULE_PATHS_H
#define MERCATOR_PROBLEM_SCHEDULE_PATHS_H

#include "mercator/arena.h"
#include "problem/schedule.h"

typedef struct MerSchedulePaths { /* by job, cycles */
    double *need;                 /* alone on its best core */
    double *head;                 /* it cannot start earlier: releases and predecessors */
    double *tail;                 /* what must come after its end */
} MerSchedulePaths;

MerSchedulePaths mer_schedule_paths(const MerSchedule *schedule, const MerScheduleRules *rules,
                                    MerArena *arena);

#endif
