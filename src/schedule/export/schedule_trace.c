/* A schedule as a trace for chrome://tracing and Perfetto (docs/scheduling.md, "Outputs"): jobs as slices
 * with their stalls and switches nested or beside them, bandwidth as a counter with one value per core. */
#include "schedule/export/schedule_export.h"

#include <math.h>

typedef struct Trace {
    MerJson           *json;
    const MerSchedule *schedule;
    int                process;
    double             microseconds; /* of a cycle; without a clock a cycle counts as one */
} Trace;

static void begin(const Trace *trace, const char *phase, const char *name, int thread)
{
    mer_json_object(trace->json, NULL);
    mer_json_text(trace->json, "ph", phase);
    mer_json_text(trace->json, "name", name);
    mer_json_int(trace->json, "pid", trace->process);
    if (thread >= 0) {
        mer_json_int(trace->json, "tid", thread);
    }
}

static void name_event(const Trace *trace, const char *what, const char *name, int thread)
{
    begin(trace, "M", what, thread);
    mer_json_object(trace->json, "args");
    mer_json_text(trace->json, "name", name);
    mer_json_end_object(trace->json);
    mer_json_end_object(trace->json);
}

static void begin_slice(const Trace *trace, const char *name, int unit, double start, double end)
{
    begin(trace, "X", name, unit);
    mer_json_real(trace->json, "ts", start * trace->microseconds);
    mer_json_real(trace->json, "dur", (end - start) * trace->microseconds);
}

static void write_job(const Trace *trace, const MerGantt *gantt, int job, int unit)
{
    const MerSchedule       *schedule = trace->schedule;
    const MerBandwidthTimes *times = &gantt->play.times;
    MerJson                 *json = trace->json;
    double                   start = times->start[job], end = times->end[job];
    double                   stall = mer_bandwidth_stall(schedule, times, job);
    begin_slice(trace, schedule->job_names[job], unit, start, end);
    mer_json_object(json, "args");
    mer_json_text(json, "layer", schedule->layer_names[job]);
    mer_json_text(json, "tenant", schedule->tenants[schedule->tenant[job]].name);
    mer_json_real(json, "traffic_bytes", times->moved[job]);
    mer_json_real(json, "stall_us", stall * trace->microseconds);
    mer_json_end_object(json);
    mer_json_end_object(json);
    if (stall > 1e-9 * (end - start)) { /* shown as one piece at the end */
        begin_slice(trace, "stall", unit, end - stall, end);
        mer_json_end_object(json);
    }
}

static void write_lane(const Trace *trace, const MerGantt *gantt, int unit)
{
    bool is_first = true;
    name_event(trace, "thread_name", trace->schedule->unit_names[unit], unit);
    for (int i = 0; gantt->is_played && i < trace->schedule->job_count; i++) {
        int job = gantt->order[i];
        if (mer_gantt_unit(gantt, job) != unit) {
            continue;
        }
        if (!is_first && gantt->switch_cycles > 0) {
            double start = gantt->play.times.start[job];
            begin_slice(trace, "switch", unit, start - gantt->switch_cycles, start);
            mer_json_end_object(trace->json);
        }
        write_job(trace, gantt, job, unit);
        is_first = false;
    }
}

/* `use` NULL: nothing moves any more. */
static void write_bandwidth(const Trace *trace, double t, const double *use)
{
    const MerSchedule *schedule = trace->schedule;
    begin(trace, "C", "bandwidth", -1);
    mer_json_real(trace->json, "ts", t * trace->microseconds);
    mer_json_object(trace->json, "args");
    for (int u = 0; u < schedule->unit_count; u++) {
        mer_json_real(trace->json, schedule->unit_names[u], use ? use[u] : 0);
    }
    mer_json_end_object(trace->json);
    mer_json_end_object(trace->json);
}

void mer_schedule_trace(const MerGantt *gantts, int count, MerJson *json)
{
    mer_json_object(json, NULL);
    mer_json_text(json, "displayTimeUnit", "ns");
    mer_json_array(json, "traceEvents");
    for (int t = 0; t < count; t++) {
        const MerSchedule *schedule = gantts[t].schedule;
        double             microseconds = isnan(schedule->clock_hz) ? 1 : 1e6 / schedule->clock_hz;
        Trace              trace = {json, schedule, t + 1, microseconds};
        double             end = NAN;
        name_event(&trace, "process_name", gantts[t].task, -1);
        for (int u = 0; u < schedule->unit_count; u++) {
            write_lane(&trace, &gantts[t], u);
        }
        const double *segment = gantts[t].play.segments;
        for (int i = 0; i < gantts[t].play.segment_count;
             i++, segment += schedule->unit_count + 2) {
            write_bandwidth(&trace, segment[0], segment + 2);
            end = segment[1];
        }
        if (!isnan(end)) {
            write_bandwidth(&trace, end, NULL);
        }
    }
    mer_json_end_array(json);
    mer_json_end_object(json);
}
