/* Run logs as comma-separated values, for spreadsheets and plotting tools. Titles carry units, `energy [pJ]`; what is
 * a count, a flag or a text has none. */
#ifndef MERCATOR_REPORT_TABLES_CSV_H
#define MERCATOR_REPORT_TABLES_CSV_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdio.h>

/* The trials of all runs. Columns: of several runs what tells them apart (run, problem, workload, platform, optimizer,
 * objective, seed), then index, task, score, feasible, reason, and every metric of the logs in order of appearance.
 * Empty cells where a trial has no value; numbers as the log has them. Reads the logs twice, holds one line at a time.
 * The file appears whole or not at all. */
MerStatus mer_report_csv(const char *const *runs, int count, const char *path, MerArena *arena,
                         MerError *error);

/* The results of all runs, a row for each task and one for the total, from their summaries: what was run, the best with
 * its metrics, bound and gap, and what it took. */
MerStatus mer_report_results(const char *const *runs, int count, const char *path, MerError *error);

void mer_csv_title(FILE *file, const char *metric); /* `,energy [pJ]` */

#endif
