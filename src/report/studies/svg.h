/* Best-so-far curves of a run as a picture for papers and slides. */
#ifndef MERCATOR_REPORT_STUDIES_SVG_H
#define MERCATOR_REPORT_STUDIES_SVG_H

#include "report/pages/run_reader.h"

/* One step line per task: best score over the task's bound (over its own best where it has none)
 * against evaluations, both axes logarithmic. The file appears whole or not at all. */
MerStatus mer_report_svg(const MerReportRun *run, const char *path, MerError *error);

#endif
