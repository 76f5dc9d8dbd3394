/* What a report shows of one run, read from its run directory. */
#ifndef MERCATOR_REPORT_PAGES_RUN_READER_H
#define MERCATOR_REPORT_PAGES_RUN_READER_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { MER_REPORT_POINTS = 500 }; /* at most so many per curve, and one for its end */

typedef struct MerReportCurve { /* best score after so many evaluations of the task */
    int64_t *evaluations;
    double  *scores;
    int      count;
} MerReportCurve;

typedef struct MerReportReason {
    const char *name; /* class: capacity, fan-out, ... */
    int64_t     count;
} MerReportReason;

typedef struct MerReportExample { /* a refused trial that came near */
    const char *name, *text;
    int64_t     index, task;
} MerReportExample;

typedef struct MerReportNote {
    int64_t     index, task; /* task -1: the whole run */
    const char *source, *name;
    const char *value; /* JSON */
} MerReportNote;

typedef struct MerReportRun {
    const char *name;   /* last part of the directory's path */
    const char *header; /* JSON, as the next two; NULL: absent, the run has not ended */
    const char *summary, *clock;
    int64_t     trials; /* lines in the log */
    int64_t     infeasible;
    bool        was_cut; /* the last line was half-written */

    MerReportCurve   *curves; /* by task */
    int               curve_count;
    MerReportReason  *reasons; /* most frequent first */
    int               reason_count;
    MerReportExample *examples;
    int               example_count;
    MerReportNote    *notes; /* the newest of each task, source, name and id; warnings all */
    int               note_count;
    const char      **plans; /* JSON objects {task, name, count, kind, text, body} */
    int               plan_count;
    const char **costs; /* JSON objects {metric: value} of the trials, where they make a front */
    int          cost_count;
} MerReportRun;

/* `run_directory` may also be the log itself (a path that ends in .jsonl). Memory stays bounded by
 * the number of tasks and distinct notes, whatever the length of the log. */
MerStatus mer_report_read(const char *run_directory, MerReportRun *run, MerArena *arena,
                          MerError *error);

#endif
