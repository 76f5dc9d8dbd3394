/* Files of a finished schedule. */
#ifndef MERCATOR_SCHEDULE_EXPORT_SCHEDULE_EXPORT_H
#define MERCATOR_SCHEDULE_EXPORT_SCHEDULE_EXPORT_H

#include "mercator/export.h"
#include "schedule/schedule.h"

#include <cjson/cJSON.h>

typedef struct MerGanttItem { /* cycles and bytes */
    int    job;
    double start, end, stall, traffic;
} MerGanttItem;

typedef struct MerGanttLane { /* one core, in the order of time */
    int           count;
    MerGanttItem *items;
} MerGanttLane;

typedef struct MerGantt { /* the chart of one task */
    const MerSchedule *schedule;
    const char        *task;
    double             switch_cycles;
    MerGanttLane      *lanes;
    const cJSON       *segments; /* of the bandwidth: [start, end, use of core 0, ...] */
    cJSON             *root;     /* what `segments` is part of */
} MerGantt;

/* Chrome's trace format, which Perfetto reads too: a process per task, a thread per core (schedule_trace.c). */
void mer_schedule_trace(const MerGantt *gantts, int count, MerJson *json);

#endif
