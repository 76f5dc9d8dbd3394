/* Chrome's trace format, which Perfetto reads too: named processes and threads, slices of time, counters, and arrows
 * from slice to slice. */
#ifndef MERCATOR_BASE_TRACE_EVENTS_H
#define MERCATOR_BASE_TRACE_EVENTS_H

#include "mercator/json.h"

typedef struct MerTrace { /* {.microseconds = of one unit of the times given} = empty */
    MerJson json;
    int     process;
    double  microseconds;
} MerTrace;

void mer_trace_begin(MerTrace *trace);
/* What follows is of this process. */
void mer_trace_process(MerTrace *trace, int process, const char *name);
void mer_trace_thread(MerTrace *trace, int thread, const char *name);

/* An event that is open: the caller may add `args`, and ends it. */
void mer_trace_slice(MerTrace *trace, const char *name, int thread, double start, double end);
void mer_trace_end_event(MerTrace *trace);
/* A counter that is open: the caller adds numbers by name, and ends it. */
void mer_trace_counter(MerTrace *trace, const char *name, double time);
void mer_trace_end_counter(MerTrace *trace);

typedef struct MerTracePoint { /* a moment inside a slice */
    int    process, thread;
    double time;
} MerTracePoint;
/* `id` tells arrows apart. */
void mer_trace_arrow(MerTrace *trace, int64_t id, MerTracePoint from, MerTracePoint to);

/* The JSON is complete; mer_json_free(&trace->json) is the caller's. */
void mer_trace_end(MerTrace *trace);

#endif
