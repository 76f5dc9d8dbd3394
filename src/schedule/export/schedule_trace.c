/* A schedule as a trace for chrome://tracing and Perfetto (docs/scheduling.md, "Outputs"): jobs as slices
 * with their stalls and switches nested or beside them, bandwidth as a counter with one value per core. */
#include "schedule/export/schedule_export.h"

#include "base/trace_events.h"

#include <math.h>

static void write_job(MerTrace *trace, const MerGantt *gantt, int job, int unit)
{
    const MerSchedule       *schedule = gantt->schedule;
    const MerBandwidthTimes *times = &gantt->play.times;
    MerJson                 *json = &trace->json;
    double                   start = times->start[job], end = times->end[job];
    double                   stall = mer_bandwidth_stall(schedule, times, job);
    mer_trace_slice(trace, schedule->job_names[job], unit, start, end);
    mer_json_object(json, "args");
    mer_json_text(json, "layer", schedule->layer_names[job]);
    mer_json_text(json, "tenant", schedule->tenants[schedule->tenant[job]].name);
    mer_json_real(json, "traffic_bytes", times->moved[job]);
    mer_json_real(json, "stall_us", stall * trace->microseconds);
    mer_json_end_object(json);
    mer_trace_end_event(trace);
    if (stall > 1e-9 * (end - start)) { /* shown as one piece at the end */
        mer_trace_slice(trace, "stall", unit, end - stall, end);
        mer_trace_end_event(trace);
    }
}

static void write_lane(MerTrace *trace, const MerGantt *gantt, int unit)
{
    bool is_first = true;
    mer_trace_thread(trace, unit, gantt->schedule->unit_names[unit]);
    for (int i = 0; gantt->is_played && i < gantt->schedule->job_count; i++) {
        int job = gantt->order[i];
        if (mer_gantt_unit(gantt, job) != unit) {
            continue;
        }
        if (!is_first && gantt->switch_cycles > 0) {
            double start = gantt->play.times.start[job];
            mer_trace_slice(trace, "switch", unit, start - gantt->switch_cycles, start);
            mer_trace_end_event(trace);
        }
        write_job(trace, gantt, job, unit);
        is_first = false;
    }
}

/* `use` NULL: nothing moves any more. */
static void write_bandwidth(MerTrace *trace, const MerSchedule *schedule, double t,
                            const double *use)
{
    mer_trace_counter(trace, "bandwidth", t);
    for (int u = 0; u < schedule->unit_count; u++) {
        mer_json_real(&trace->json, schedule->unit_names[u], use ? use[u] : 0);
    }
    mer_trace_end_counter(trace);
}

static void write_task(MerTrace *trace, const MerGantt *gantt, int process)
{
    const MerSchedule *schedule = gantt->schedule;
    double             end = NAN;
    /* without a clock a cycle counts as one microsecond */
    trace->microseconds = isnan(schedule->clock_hz) ? 1 : 1e6 / schedule->clock_hz;
    mer_trace_process(trace, process, gantt->task);
    for (int u = 0; u < schedule->unit_count; u++) {
        write_lane(trace, gantt, u);
    }
    const double *segment = gantt->play.segments;
    for (int i = 0; i < gantt->play.segment_count; i++, segment += schedule->unit_count + 2) {
        write_bandwidth(trace, schedule, segment[0], segment + 2);
        end = segment[1];
    }
    if (!isnan(end)) {
        write_bandwidth(trace, schedule, end, NULL);
    }
}

void mer_schedule_trace(const MerGantt *gantts, int count, MerTrace *trace)
{
    mer_trace_begin(trace);
    for (int t = 0; t < count; t++) {
        write_task(trace, &gantts[t], t + 1);
    }
    mer_trace_end(trace);
}
