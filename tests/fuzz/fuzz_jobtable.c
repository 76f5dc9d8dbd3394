/* Any bytes as a job analysis table: refused with a message, or one that can be asked. */
#include "schedule/table/schedule_table_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena    *arena = mer_arena_new();
    MerTableFile file;
    MerError     error = {0};
    char        *copy = mer_arena_alloc(arena, size + 1);
    if (size > 0) {
        memcpy(copy, data, size);
    }
    if (mer_table_file_parse("fuzz", copy, size, arena, &file, &error) == MER_OK) {
        MerOp  op = mer_op_make("fc-8x4", "fuzz", MER_OP_GEMM);
        MerJob job = {.name = "0.fc-8x4", .row = 0};
        for (int c = 0; c < file.class_count; c++) {
            MerJobTableEntry entry;
            mer_table_file_entry(&file, &job, &op, file.class_names[c], &entry, &error);
        }
    } else if (error.message[0] == '\0') {
        abort();
    }
    mer_arena_free(arena);
    return 0;
}
