/* A layer's stream as files: TASK.vta has the instructions, TASK.uop the micro-ops, TASK.vta.json the core that they
 * are for and where their data lies (docs/codesign-files.md, "Streams"). */
#ifndef MERCATOR_CODESIGN_STREAM_FILES_H
#define MERCATOR_CODESIGN_STREAM_FILES_H

#include "codesign/codesign.h"
#include "mercator/export.h"

typedef struct MerVtaFiles { /* of one task, in an arena */
    const char *task, *platform;
    const char *name; /* of the files: the task's, with `-` for a slash */
    MerVtaCore  core;
    int64_t     repeat; /* times that the stream runs */
    int64_t     count;
    MerVtaWord *words;
    bool        has_uops; /* false: their file is missing */
    int64_t     uop_count;
    uint32_t   *uops;
    /* DRAM: first entry and entries of the region of each memory */
    int64_t base[MER_VTA_MEMORY_COUNT], entries[MER_VTA_MEMORY_COUNT];
} MerVtaFiles;

/* The stream of task `index`, a plan of kind vta. */
MerStatus mer_vta_files_make(const MerExport *what, int index, MerVtaFiles *files, MerArena *arena,
                             MerError *error);
/* What TASK.vta.json says. */
void mer_vta_files_describe(const MerVtaFiles *files, MerJson *json);

/* Reads TASK.vta at `path`, whose bytes are `data`, and the files beside it. Without TASK.vta.json core and platform
 * are those of `platform`, NULL: of vta-pynq-b. `machine` gives what prices it. */
MerStatus mer_vta_files_read(const char *path, const char *data, size_t size, const char *platform,
                             MerVtaFiles *files, const MerPlatform **machine, MerArena *arena,
                             MerError *error);
/* All instructions, in `arena`. */
MerStatus mer_vta_files_decode(const MerVtaFiles *files, MerVtaInstruction **list, MerArena *arena,
                               MerError *error);

#endif
