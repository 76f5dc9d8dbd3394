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

static void write_job(const Trace *trace, int unit, const MerGanttItem *item)
{
    const MerSchedule *schedule = trace->schedule;
    MerJson           *json = trace->json;
    begin_slice(trace, schedule->job_names[item->job], unit, item->start, item->end);
    mer_json_object(json, "args");
    mer_json_text(json, "layer", schedule->layer_names[item->job]);
    mer_json_text(json, "tenant", schedule->tenants[schedule->tenant[item->job]].name);
    mer_json_real(json, "traffic_bytes", item->traffic);
    mer_json_real(json, "stall_us", item->stall * trace->microseconds);
    mer_json_end_object(json);
    mer_json_end_object(json);
    if (item->stall > 1e-9 * (item->end - item->start)) { /* shown as one piece at the end */
        begin_slice(trace, "stall", unit, item->end - item->stall, item->end);
        mer_json_end_object(json);
    }
}

static void write_lane(const Trace *trace, int unit, const MerGanttLane *lane, double switch_cycles)
{
    name_event(trace, "thread_name", trace->schedule->unit_names[unit], unit);
    for (int i = 0; i < lane->count; i++) {
        const MerGanttItem *item = &lane->items[i];
        if (i > 0 && switch_cycles > 0) {
            begin_slice(trace, "switch", unit, item->start - switch_cycles, item->start);
            mer_json_end_object(trace->json);
        }
        write_job(trace, unit, item);
    }
}

/* `use` NULL: nothing moves any more. */
static void write_bandwidth(const Trace *trace, double t, const cJSON *use)
{
    const MerSchedule *schedule = trace->schedule;
    begin(trace, "C", "bandwidth", -1);
    mer_json_real(trace->json, "ts", t * trace->microseconds);
    mer_json_object(trace->json, "args");
    for (int u = 0; u < schedule->unit_count; u++) {
        mer_json_real(trace->json, schedule->unit_names[u], use ? use->valuedouble : 0);
        use = use ? use->next : NULL;
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
            write_lane(&trace, u, &gantts[t].lanes[u], gantts[t].switch_cycles);
        }
        const cJSON *segment;
        cJSON_ArrayForEach(segment, gantts[t].segments)
        {
            write_bandwidth(&trace, cJSON_GetArrayItem(segment, 0)->valuedouble,
                            cJSON_GetArrayItem(segment, 2));
            end = cJSON_GetArrayItem(segment, 1)->valuedouble;
        }
        if (!isnan(end)) {
            write_bandwidth(&trace, end, NULL);
        }
    }
    mer_json_end_array(json);
    mer_json_end_object(json);
}
