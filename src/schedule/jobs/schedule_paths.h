/* Ways through the dependencies of an opened `schedule`. */
#ifndef MERCATOR_SCHEDULE_JOBS_SCHEDULE_PATHS_H
#define MERCATOR_SCHEDULE_JOBS_SCHEDULE_PATHS_H

#include "mercator/arena.h"
#include "schedule/schedule.h"

typedef struct MerSchedulePaths { /* by job, cycles */
    double *need;                 /* alone on its best core */
    double *head;                 /* it cannot start earlier: releases and predecessors */
    double *tail;                 /* what must come after its end */
} MerSchedulePaths;

MerSchedulePaths mer_schedule_paths(const MerSchedule *schedule, const MerScheduleRules *rules,
                                    MerArena *arena);

/* Bytes that a job moves at least on a unit, whatever ran there before: less its weights and its inputs where
 * these may be kept. */
double mer_schedule_least_traffic(const MerSchedule *schedule, const MerScheduleRules *rules,
                                  int job, int unit);

/* Bytes per cycle that one core has at most. */
double mer_schedule_core_bandwidth(const MerSchedule *schedule, const MerScheduleRules *rules);

#endif
