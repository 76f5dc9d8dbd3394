/* Files of a finished schedule. */
#ifndef MERCATOR_PROBLEM_SCHEDULE_EXPORT_H
#define MERCATOR_PROBLEM_SCHEDULE_EXPORT_H

#include "mercator/problem.h"

/* As MerProblemClass.export_files. */
int mer_schedule_export(const MerExport *what, MerExportFile files[MER_MAX_EXPORTS],
                        MerArena *arena);

#endif
