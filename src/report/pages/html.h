/* report.html: one file that shows one run, or compares several. */
#ifndef MERCATOR_REPORT_PAGES_HTML_H
#define MERCATOR_REPORT_PAGES_HTML_H

#include "report/pages/run_reader.h"

#include <stdbool.h>

/* Writes the page of web/dist/report.html with the runs' data in it (docs/report-data.md). The file
 * appears whole or not at all. `title` NULL: the page makes one from the runs. */
MerStatus mer_report_html(const MerReportRun *runs, int run_count, const char *title,
                          const char *path, MerError *error);

/* The same of runs that are read first, by their directories. */
MerStatus mer_report_page(const char *const *directories, int count, const char *title,
                          const char *path, MerArena *arena, MerError *error);

/* The page of a study without its runs; `study` is the object of mer_study_json. */
MerStatus mer_report_study(const char *study, const char *title, const char *path, MerError *error);

/* False: there is a file that is no page of ours, which a page would replace. */
bool mer_report_may_write(const char *path);

#endif
