/* Metrics of many runs side by side: what differs between them, and means over seeds with their intervals. */
#ifndef MERCATOR_REPORT_METRICS_H
#define MERCATOR_REPORT_METRICS_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdio.h>

/* A directory of `paths` is a run, or holds runs in folders of its own. Runs that differ in nothing but their
 * seeds make one row: mean and half the width of its 95 % interval (Student's t). `metrics` is a list with
 * commas. A Markdown table. */
MerStatus mer_report_metrics(const char *const *paths, int count, const char *metrics,
                             MerArena *arena, FILE *file, MerError *error);

#endif
