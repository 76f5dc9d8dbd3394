/* The job analysis table: what each layer costs on each core class, alone (docs/bandwidth-model.md, "Job
 * analysis table"). */
#ifndef MERCATOR_SCHEDULE_TABLE_SCHEDULE_TABLE_H
#define MERCATOR_SCHEDULE_TABLE_SCHEDULE_TABLE_H

#include "mercator/graph.h"
#include "mercator/json.h"
#include "mercator/notes.h"
#include "schedule/jobs/job_set.h"
#include "schedule/table/layer_pricer.h"

typedef struct
    MerJobTable { /* one row per distinct layer of the group, one column per core class */
    const char             *source;
    bool                    is_compat;
    double                  dram_pj_per_byte; /* within the energies; 0: none, or not known */
    int                     row_count, class_count;
    const int              *row_of_job;
    const char *const      *class_names;
    const char *const      *row_names;
    const uint64_t         *row_hashes; /* of the layer, as it is priced */
    const int              *row_ids;    /* of a table file with numbered rows; -1: none */
    const MerJobTableEntry *entries;    /* [row * class_count + class] */
    uint64_t                hash;
} MerJobTable;

typedef struct MerJobTableInput {
    const MerGraph        *graph;
    const MerJobSet       *set;
    const int             *jobs; /* of the group */
    int                    job_count;
    const MerPlatform     *platform;
    const MerLayerPricer  *pricer;
    const char            *source; /* "own", "m3e-compat" or a file */
    MerFlexible            flexible;
    const char            *cache;  /* "auto", "off" or a folder for prices (schedule_cache.h) */
    struct MerPriceCache **caches; /* by core class: stay open for further tables, NULL where */
    MerArena              *cache_arena; /* not open yet, in this arena. NULL: only for this table */
    MerNotes              *notes;       /* asked whether to stop; NULL: nobody stops it */
} MerJobTableInput;

MerStatus mer_job_table_make(const MerJobTableInput *input, MerArena *arena, MerJobTable *table,
                             MerError *error);

/* The rows of several tables on one platform as one JSON object, `m3e-jobtable/1` with further columns; read
 * back (schedule_table_file.h) it gives the same bits. */
void mer_job_table_write(const MerJobTable *const *tables, int count, MerArena *arena,
                         MerJson *json);

/* Operators with equal hashes cost the same on every core. */
uint64_t mer_layer_hash(const MerOp *op);

/* The operator as the job runs it: its batch times the job's images. */
MerOp mer_job_op(const MerGraph *graph, const MerJob *job);

/* Leaves out of a list of independent single jobs those that mode COMPAT has no price for on some core, unless
 * that is all. What to tell the user, NULL: none was left out. */
const char *mer_schedule_leave_unmapped(const MerGraph *graph, const MerPlatform *platform,
                                        MerFlexible flexible, MerArena *arena,
                                        const MerJobSet **set);

#endif
