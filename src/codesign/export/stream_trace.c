/* Streams as a trace for chrome://tracing and Perfetto: a process per layer, a thread per stage, a slice per
 * instruction, and what it waited for as a slice before it. */
#include "base/trace_events.h"
#include "codesign/codesign.h"
#include "codesign/cost/timing.h"
#include "mercator/export.h"

enum { MOST_INSTRUCTIONS = 10000 }; /* of a layer: viewers grow slow */

static void watch(void *state, const MerVtaInstruction *i, int64_t index, int64_t ready,
                  int64_t start, int64_t end)
{
    MerTrace *trace = state;
    int       stage = (int)mer_vta_stage(i);
    char      line[160];
    if (index >= MOST_INSTRUCTIONS || (start == ready && end == start)) {
        return;
    }
    mer_vta_print(i, line);
    if (start > ready) {
        mer_trace_slice(trace, "wait", stage, (double)ready, (double)start);
        mer_trace_end_event(trace);
    }
    if (end > start) {
        mer_trace_slice(trace, mer_vta_operation(i), stage, (double)start, (double)end);
        mer_json_object(&trace->json, "args");
        mer_json_int(&trace->json, "index", index);
        mer_json_text(&trace->json, "instruction", line);
        mer_json_end_object(&trace->json);
        mer_trace_end_event(trace);
    }
}

static MerStatus write_task(MerTrace *trace, const MerExportTask *task, int process,
                            MerError *error)
{
    const MerVtaPlan   *plan = task->plan->content;
    const MerVtaTiming *timing = task->evaluator->type->rules(task->evaluator->state);
    MerVtaTask          vta;
    MerVtaStream        stream;
    MerVtaTime          time;
    mer_codesign_vta_task(mer_codesign_task(task->problem), &plan->core, &vta);
    MER_TRY(mer_vta_generate(&vta, &plan->schedule, MER_VTA_STREAM_LIMIT, &stream, error));
    trace->microseconds = 1e6 / timing->clock_hz / MER_VTA_TICKS;
    mer_trace_process(trace, process, task->problem->task->name);
    for (int s = 0; s < MER_VTA_STAGES; s++) {
        mer_trace_thread(trace, s, mer_vta_stage_name(s));
    }
    mer_vta_walk(&vta.core, timing, stream.list, stream.count, &time, watch, trace, NULL);
    mer_vta_stream_free(&stream);
    return MER_OK;
}

static MerStatus export_trace(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerTrace  trace = {.process = 1};
    MerStatus status = MER_OK;
    if (what->tasks[0].plan->kind != &mer_plan_vta || !what->tasks[0].evaluator->type->rules) {
        return MER_OK;
    }
    mer_trace_begin(&trace);
    for (int t = 0; t < what->count && status == MER_OK; t++) {
        status = write_task(&trace, &what->tasks[t], t + 1, error);
    }
    mer_trace_end(&trace);
    mer_export_add(files, "trace.json", trace.json.text, trace.json.size);
    mer_json_free(&trace.json);
    return status;
}

const MerExporterClass mer_exporter_codesign_trace = {
    .name = "codesign_trace",
    .summary = "trace.json: load, compute and store of each layer in Chrome's trace format",
    .problem = "codesign",
    .is_default = true,
    .write = export_trace,
};
