/* Why trials were infeasible: counts by class, and those that nearly fitted. */
#ifndef MERCATOR_REPORT_PAGES_REFUSALS_H
#define MERCATOR_REPORT_PAGES_REFUSALS_H

#include "report/pages/log_lines.h"
#include "report/pages/run_reader.h"

enum { MER_REFUSAL_CLASSES = 32, MER_REFUSAL_EXAMPLES = 3 };

typedef struct MerRefusal {
    char    name[32];
    int64_t count;
    int     example_count;
    struct {
        char    text[160]; /* JSON, without its quotes */
        double  excess;    /* needed / available; infinity where the text gives no numbers */
        int64_t index, task;
    } examples[MER_REFUSAL_EXAMPLES]; /* nearest first */
} MerRefusal;

typedef struct MerRefusals { /* zeroed = empty */
    MerRefusal classes[MER_REFUSAL_CLASSES];
    int        count;
    int64_t    total;
} MerRefusals;

void mer_refusals_add(MerRefusals *refusals, const MerLogLine *trial);
void mer_refusals_finish(MerRefusals *refusals, MerReportRun *run, MerArena *arena);

#endif
