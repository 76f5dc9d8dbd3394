/* Metrics of many runs side by side: what differs between them, and means over seeds with their intervals. */
#ifndef MERCATOR_REPORT_TABLES_METRICS_H
#define MERCATOR_REPORT_TABLES_METRICS_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdio.h>

/* `runs` are directories of runs that have ended. Runs that differ in nothing but their
 * seeds make one row: mean and half the width of its 95 % interval (Student's t). `metrics` is a list with
 * commas; `gap` in it is the run's gap to its bound. With `over` (may be NULL), a list such as
 * "platform=s3,table=own", each cell is divided by that of the row which has these values and else the same; that
 * row is left out. A Markdown table. */
MerStatus mer_report_metrics(const char *const *runs, int count, const char *metrics,
                             const char *over, MerArena *arena, FILE *file, MerError *error);

#endif
