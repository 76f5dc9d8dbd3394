#include "base/trace_events.h"

static void begin(MerTrace *trace, const char *phase, const char *name, int thread)
{
    mer_json_object(&trace->json, NULL);
    mer_json_text(&trace->json, "ph", phase);
    mer_json_text(&trace->json, "name", name);
    mer_json_int(&trace->json, "pid", trace->process);
    if (thread >= 0) {
        mer_json_int(&trace->json, "tid", thread);
    }
}

void mer_trace_begin(MerTrace *trace)
{
    mer_json_object(&trace->json, NULL);
    mer_json_text(&trace->json, "displayTimeUnit", "ns");
    mer_json_array(&trace->json, "traceEvents");
}

static void write_name(MerTrace *trace, const char *what, const char *name, int thread)
{
    begin(trace, "M", what, thread);
    mer_json_object(&trace->json, "args");
    mer_json_text(&trace->json, "name", name);
    mer_json_end_object(&trace->json);
    mer_json_end_object(&trace->json);
}

void mer_trace_process(MerTrace *trace, int process, const char *name)
{
    trace->process = process;
    write_name(trace, "process_name", name, -1);
}

void mer_trace_thread(MerTrace *trace, int thread, const char *name)
{
    write_name(trace, "thread_name", name, thread);
}

void mer_trace_slice(MerTrace *trace, const char *name, int thread, double start, double end)
{
    begin(trace, "X", name, thread);
    mer_json_real(&trace->json, "ts", start * trace->microseconds);
    mer_json_real(&trace->json, "dur", (end - start) * trace->microseconds);
}

void mer_trace_end_event(MerTrace *trace)
{
    mer_json_end_object(&trace->json);
}

void mer_trace_counter(MerTrace *trace, const char *name, double time)
{
    begin(trace, "C", name, -1);
    mer_json_real(&trace->json, "ts", time * trace->microseconds);
    mer_json_object(&trace->json, "args");
}

void mer_trace_end_counter(MerTrace *trace)
{
    mer_json_end_object(&trace->json);
    mer_json_end_object(&trace->json);
}

/* `bp: e`: the arrow ends at the slice around the moment, not at the next one. */
static void write_arrow_end(MerTrace *trace, const char *phase, int64_t id, MerTracePoint point)
{
    int process = trace->process;
    trace->process = point.process;
    begin(trace, phase, "after", point.thread);
    mer_json_text(&trace->json, "cat", "after");
    mer_json_int(&trace->json, "id", id);
    mer_json_real(&trace->json, "ts", point.time * trace->microseconds);
    if (*phase == 'f') {
        mer_json_text(&trace->json, "bp", "e");
    }
    mer_json_end_object(&trace->json);
    trace->process = process;
}

void mer_trace_arrow(MerTrace *trace, int64_t id, MerTracePoint from, MerTracePoint to)
{
    write_arrow_end(trace, "s", id, from);
    write_arrow_end(trace, "f", id, to);
}

void mer_trace_end(MerTrace *trace)
{
    mer_json_end_array(&trace->json);
    mer_json_end_object(&trace->json);
}
