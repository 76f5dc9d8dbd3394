/* Which 2-D transfers bring the data of a tile (docs/codesign-model.md, "Transfers"). The generator
 * emits them, the fast price adds them up. */
#ifndef MERCATOR_CODESIGN_TRANSFERS_H
#define MERCATOR_CODESIGN_TRANSFERS_H

#include "codesign/stream/vta_core.h"

typedef struct MerVtaTransfer { /* entries */
    int64_t sram, dram;         /* relative to the tile's region and to its block of channels */
    int     y, x, stride;
    int     pad[4]; /* top, left, bottom, right: zeros */
    int     count;  /* one after the other, ... */
    int64_t sram_step, dram_step;
} MerVtaTransfer;

/* Input of the tile at output row `row` and column `column`, from one block of input channels on. */
void mer_vta_input_load(const MerVtaShape *shape, const MerVtaSchedule *schedule, int row,
                        int column, MerVtaTransfer *transfer);
void mer_vta_weight_load(const MerVtaShape *shape, const MerVtaSchedule *schedule,
                         MerVtaTransfer *transfer);
void mer_vta_output_store(const MerVtaShape *shape, const MerVtaSchedule *schedule,
                          MerVtaTransfer *transfer);

#endif
