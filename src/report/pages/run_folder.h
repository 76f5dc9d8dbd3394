/* Which runs a path stands for. */
#ifndef MERCATOR_REPORT_PAGES_RUN_FOLDER_H
#define MERCATOR_REPORT_PAGES_RUN_FOLDER_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdbool.h>

bool mer_report_is_run(const char *path, MerArena *arena);
/* Adds to `runs` the path itself if it is a run directory or a log (.jsonl), else the run directories in it, and in
 * folders in it, by their numbers; none is an error. */
MerStatus mer_report_find_runs(const char *path, MerArena *arena, const char ***runs, int *count,
                               MerError *error);

#endif
