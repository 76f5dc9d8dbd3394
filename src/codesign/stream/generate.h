/* The code generator: a layer, a core and a schedule become instructions and micro-ops
 * (docs/codesign-model.md, "Code generator"). */
#ifndef MERCATOR_CODESIGN_GENERATE_H
#define MERCATOR_CODESIGN_GENERATE_H

#include "codesign/stream/isa.h"

typedef struct MerVtaStream {
    int64_t            count, capacity;
    MerVtaInstruction *list; /* one or several streams, each ends with FINISH */
    int                uop_count, uop_capacity;
    MerVtaUop         *uops; /* in DRAM, kernel after kernel */
    /* DRAM: first entry and entries of the region of each memory */
    int64_t base[MER_VTA_MEMORY_COUNT], entries[MER_VTA_MEMORY_COUNT];
} MerVtaStream;

typedef struct MerVtaTask { /* what is generated or priced */
    MerVtaCore  core;
    MerVtaShape shape;
    MerVtaRules rules;
} MerVtaTask;

/* Instructions that one stream may have: 2^25 bytes, with six in reserve. */
enum { MER_VTA_STREAM_LIMIT = (1 << 25) / 16 - 6 };

/* How the tiles are cut into streams: the outermost loop (0 batches and groups, 1 rows, 2 output
 * channels, 3 columns; -1: one stream) of which `count` iterations fit. */
typedef struct MerVtaCut {
    int loop;
    int count;
} MerVtaCut;
/* Iterations of the four loops over tiles. */
void mer_vta_extents(const MerVtaShape *shape, const MerVtaSchedule *schedule, int extent[4]);
/* Instructions of one step of all threads at most. */
int64_t   mer_vta_step_most(const MerVtaTask *task, const MerVtaSchedule *schedule,
                            const MerVtaKernel *kernel);
MerVtaCut mer_vta_cut(const int extent[4], int64_t step, int threads, int64_t limit);

/* `schedule` passed mer_vta_check. `limit`: instructions of one stream, MER_VTA_STREAM_LIMIT unless a
 * test wants shorter ones. Free it after use. */
MerStatus mer_vta_generate(const MerVtaTask *task, const MerVtaSchedule *schedule, int64_t limit,
                           MerVtaStream *stream, MerError *error);
/* The same work with a token at every change of the stage: nothing overlaps. */
void mer_vta_serialise(MerVtaStream *stream);
void mer_vta_stream_free(MerVtaStream *stream);

/* Reads binary instructions alone and says which rule of the hardware the stream breaks; true: none.
 * Shares nothing with the generator. */
bool mer_vta_stream_check(const MerVtaCore *core, const MerVtaWord *words, int64_t count,
                          const uint32_t *uops, int64_t uop_count, int64_t uop_base,
                          MerVtaReason *reason);

#endif
