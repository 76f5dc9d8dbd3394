/* The trials of a run log as comma-separated values, for spreadsheets and plotting tools. */
#ifndef MERCATOR_REPORT_TABLES_CSV_H
#define MERCATOR_REPORT_TABLES_CSV_H

#include "mercator/error.h"

/* Columns: index, task, score, feasible, reason, then every metric of the log in order of
 * appearance. Empty cells where a trial has no value; numbers as the log has them. Reads the log
 * twice, holds one line at a time. The file appears whole or not at all. */
MerStatus mer_report_csv(const char *run_directory, const char *path, MerError *error);

#endif
