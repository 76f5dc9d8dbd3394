/* Schedules that were measured: tuning logs of AutoTVM (v0.2) and lists of board records, read into one form
 * (docs/codesign-files.md, "Tuning logs" and "Calibration"). */
#ifndef MERCATOR_CODESIGN_VTA_RECORDS_H
#define MERCATOR_CODESIGN_VTA_RECORDS_H

#include "codesign/stream/generate.h"
#include "mercator/json.h"
#include "mercator/option.h"

#include <cjson/cJSON.h>

typedef struct MerVtaRecord {
    int64_t        index;    /* position in its file, from 0 */
    bool           is_dense; /* of a dense layer on one row */
    const char    *model;    /* of the machine: "pynq_1x16_i8w8a32_15_15_18_17" */
    MerVtaTask     task;
    MerVtaSchedule schedule;
    double         seconds; /* mean of the runs; of no use with an error */
    int            error;   /* AutoTVM's number; 0: measured */
} MerVtaRecord;

typedef struct MerVtaRecords {
    int           count;
    MerVtaRecord *list;
    int64_t       line_count;
    /* left out: of tasks, targets or settings that say nothing of such a core; lines that are no records; records that
     * `where` leaves out. The first damaged line, from 1 */
    int64_t unknown, damaged, first_damaged, others;
} MerVtaRecords;

/* `where`: members that a record must have, NULL: none. A target that does not say the sizes of its SRAMs is taken to
 * have the depths of `usual`. MER_UNSUPPORTED: no file with records. */
MerStatus mer_vta_records_read(const char *path, const MerVtaCore *usual, const MerReference *where,
                               MerVtaRecords *records, MerArena *arena, MerError *error);

/* One line of a log, as AutoTVM reads it: an object, without the end of the line. A core whose blocks differ is told
 * by its model, an extension. */
void mer_autotvm_write(const MerVtaRecord *record, MerJson *json);
/* Target, geometry, widths and log2 of the bytes of SRAMs: `TARGET_1x16_i8w8a32_15_15_18_17`, 1x8x32 where blocks
 * differ. `platform` is looked into for a name that VTA knows; else the target is `sim`. */
const char *mer_vta_model(const char *platform, const MerVtaCore *core, MerArena *arena);

/* Does the record take less time than its products alone need? */
bool mer_vta_record_beats_peak(const MerVtaRecord *record, double clock_hz);
/* Products of the core, as its counters count them. */
double mer_vta_record_products(const MerVtaRecord *record);

/* One line of a log; false: of a task, target or setting that no such core has. */
bool mer_autotvm_read(const cJSON *line, const MerVtaCore *usual, MerVtaRecord *record,
                      MerArena *arena);

#endif
