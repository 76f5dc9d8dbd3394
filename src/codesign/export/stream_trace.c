/* Streams as a trace for chrome://tracing and Perfetto: a process per layer, a thread per stage, a slice per
 * instruction, and what it waited for as a slice before it. */
#include "codesign/codesign.h"
#include "codesign/cost/timing.h"
#include "mercator/export.h"

enum { MOST_INSTRUCTIONS = 10000 }; /* of a layer: viewers grow slow */

typedef struct Trace {
    MerJson *json;
    int      process;
    double   microseconds; /* of a tick */
} Trace;

static void begin(const Trace *trace, const char *phase, const char *name, int stage)
{
    mer_json_object(trace->json, NULL);
    mer_json_text(trace->json, "ph", phase);
    mer_json_text(trace->json, "name", name);
    mer_json_int(trace->json, "pid", trace->process);
    if (stage >= 0) {
        mer_json_int(trace->json, "tid", stage);
    }
}

static void write_name(const Trace *trace, const char *what, const char *name, int stage)
{
    begin(trace, "M", what, stage);
    mer_json_object(trace->json, "args");
    mer_json_text(trace->json, "name", name);
    mer_json_end_object(trace->json);
    mer_json_end_object(trace->json);
}

static void begin_slice(const Trace *trace, const char *name, int stage, int64_t from, int64_t to)
{
    begin(trace, "X", name, stage);
    mer_json_real(trace->json, "ts", (double)from * trace->microseconds);
    mer_json_real(trace->json, "dur", (double)(to - from) * trace->microseconds);
}

static void watch(void *state, const MerVtaInstruction *i, int64_t index, int64_t ready,
                  int64_t start, int64_t end)
{
    const Trace *trace = state;
    int          stage = (int)mer_vta_stage(i);
    char         line[160];
    if (index >= MOST_INSTRUCTIONS || (start == ready && end == start)) {
        return;
    }
    mer_vta_print(i, line);
    if (start > ready) {
        begin_slice(trace, "wait", stage, ready, start);
        mer_json_end_object(trace->json);
    }
    if (end > start) {
        begin_slice(trace, mer_vta_operation(i), stage, start, end);
        mer_json_object(trace->json, "args");
        mer_json_int(trace->json, "index", index);
        mer_json_text(trace->json, "instruction", line);
        mer_json_end_object(trace->json);
        mer_json_end_object(trace->json);
    }
}

static MerStatus write_task(Trace *trace, const MerExportTask *task, MerError *error)
{
    const MerVtaPlan   *plan = task->plan->content;
    const MerVtaTiming *timing = task->evaluator->type->rules(task->evaluator->state);
    MerVtaTask          vta;
    MerVtaStream        stream;
    MerVtaTime          time;
    mer_codesign_vta_task(mer_codesign_task(task->problem), &plan->core, &vta);
    MER_TRY(mer_vta_generate(&vta, &plan->schedule, MER_VTA_STREAM_LIMIT, &stream, error));
    trace->microseconds = 1e6 / timing->clock_hz / MER_VTA_TICKS;
    write_name(trace, "process_name", task->problem->task->name, -1);
    for (int s = 0; s < MER_VTA_STAGES; s++) {
        write_name(trace, "thread_name", mer_vta_stage_name(s), s);
    }
    mer_vta_walk(&vta.core, timing, stream.list, stream.count, &time, watch, trace, NULL);
    mer_vta_stream_free(&stream);
    return MER_OK;
}

static MerStatus export_trace(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerJson   json = {0};
    MerStatus status = MER_OK;
    if (what->tasks[0].plan->kind != &mer_plan_vta) {
        return MER_OK;
    }
    mer_json_object(&json, NULL);
    mer_json_text(&json, "displayTimeUnit", "ns");
    mer_json_array(&json, "traceEvents");
    for (int t = 0; t < what->count && status == MER_OK; t++) {
        status = write_task(&(Trace){.json = &json, .process = t + 1}, &what->tasks[t], error);
    }
    mer_json_end_array(&json);
    mer_json_end_object(&json);
    mer_export_add(files, "trace.json", json.text, json.size);
    mer_json_free(&json);
    return status;
}

const MerExporterClass mer_exporter_codesign_trace = {
    .name = "codesign_trace",
    .summary = "trace.json: load, compute and store of each layer in Chrome's trace format",
    .problem = "codesign",
    .is_default = true,
    .write = export_trace,
};
