/* Job analysis tables in files: `m3e-jobtable/1` JSON, and CSV (docs/bandwidth-model.md, "Job analysis
 * table"). */
#ifndef MERCATOR_SCHEDULE_TABLE_SCHEDULE_TABLE_FILE_H
#define MERCATOR_SCHEDULE_TABLE_SCHEDULE_TABLE_FILE_H

#include "base/key_table.h"
#include "base/name_table.h"
#include "schedule/table/schedule_table.h"

enum { /* latency, l2, l1, energy in nJ, macs, traffic, weights, outputs, energy in pJ, fallback */
       MER_TABLE_COLUMNS = 10
};

typedef struct MerTableFile {
    const char  *path;
    bool         has_traffic;
    int          row_count, class_count;
    const char **class_names;
    const char **row_names;        /* NULL: rows are numbered */
    uint64_t    *row_hashes;       /* of layers; NULL: rows go by name or number */
    int64_t     *row_ids;          /* beside hashes: the number in the job file, -1: none */
    double       dram_pj_per_byte; /* within the energies; 0: none, or not known */
    MerKeyTable  by_hash;          /* rows, the first of equal ones; */
    MerKeyTable  by_hash_and_id;   /* the last one with the same number */
    MerNameTable by_name;          /* the first of a name, as a pointer into row_names */
    double *values; /* [(row * class_count + class) * MER_TABLE_COLUMNS + column]; NAN: absent */
} MerTableFile;

/* For its readers: the place of a column, -1 if it is none of ours; memory for all values, none there yet. */
enum { MER_TABLE_MAX_ENTRIES = 2000000 };
int       mer_table_column(const char *name);
void      mer_table_file_capacity(MerTableFile *file, MerArena *arena);
MerStatus mer_table_csv_read(char *text, MerArena *arena, MerTableFile *file, MerError *error);

MerStatus mer_table_file_read(const char *path, MerArena *arena, MerTableFile *file,
                              MerError *error);
/* The same of a text that ends with a 0 byte; CSV is cut into pieces in place. */
MerStatus mer_table_file_parse(const char *path, char *data, size_t size, MerArena *arena,
                               MerTableFile *file, MerError *error);
/* The entry of a job on a core class, by the hash of its layer, by the job's row number, or by its layer's or
 * its own name. */
MerStatus mer_table_file_entry(const MerTableFile *file, const MerJob *job, const MerOp *op,
                               const char *class_name, MerJobTableEntry *entry, MerError *error);

#endif
