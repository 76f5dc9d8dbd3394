/* Files of a finished schedule. */
#ifndef MERCATOR_SCHEDULE_EXPORT_SCHEDULE_EXPORT_H
#define MERCATOR_SCHEDULE_EXPORT_SCHEDULE_EXPORT_H

#include "base/trace_events.h"
#include "mercator/export.h"
#include "schedule/cost/bandwidth.h"

#include <math.h>

typedef struct MerGantt { /* the chart of one task */
    const MerSchedule *schedule;
    const char        *task;
    double             switch_cycles;
    bool               is_played; /* false: the plan could not run at all, or nobody knows how */
    MerBandwidthPlay   play;
    const int         *order; /* jobs by their start */
} MerGantt;

/* Where a job ran to its end; -1: it did not. */
static inline int mer_gantt_unit(const MerGantt *gantt, int job)
{
    return isnan(gantt->play.times.end[job]) ? -1 : gantt->play.times.unit[job];
}

/* Chrome's trace format, which Perfetto reads too: a process per task, a thread per core (schedule_trace.c). */
void mer_schedule_trace(const MerGantt *gantts, int count, MerTrace *trace);

#endif
