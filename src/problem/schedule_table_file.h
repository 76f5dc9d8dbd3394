/* Job analysis tables in files: `m3e-jobtable/1` JSON, and CSV (schedule.md 3.3). */
#ifndef MERCATOR_PROBLEM_SCHEDULE_TABLE_FILE_H
#define MERCATOR_PROBLEM_SCHEDULE_TABLE_FILE_H

#include "problem/schedule_table.h"

enum { MER_TABLE_COLUMNS = 7 }; /* latency, l2, l1, energy, macs, traffic, weights */

typedef struct MerTableFile {
    const char  *path;
    bool         has_traffic;
    int          row_count, class_count;
    const char **class_names;
    const char **row_names; /* NULL: rows are numbered */
    double *values; /* [(row * class_count + class) * MER_TABLE_COLUMNS + column]; NAN: absent */
} MerTableFile;

MerStatus mer_table_file_read(const char *path, MerArena *arena, MerTableFile *file,
                              MerError *error);
/* The entry of a job on a core class, by the job's row number or its layer's or its own name. */
MerStatus mer_table_file_entry(const MerTableFile *file, const MerJob *job, const MerOp *op,
                               const char *class_name, MerJobTableEntry *entry, MerError *error);

#endif
