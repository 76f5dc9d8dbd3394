/* Any text as a tuning log or a list of board records: refused with a message, or records that are written and read back
 * unchanged and whose schedules have a time, or a reason why not. */
#include "codesign/cost/timing.h"
#include "codesign/records/vta_records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_record(const MerVtaRecord *record, const MerVtaCore *usual, MerArena *arena)
{
    MerJson       json = {0};
    MerVtaRecords again;
    MerVtaTiming  timing = {.load_per_byte = 0.2, .gemm_interval = 1, .clock_hz = 1e8};
    MerVtaTime    time;
    mer_autotvm_write(record, &json);
    if (mer_vta_records_parse("again", json.text, usual, NULL, &again, arena, NULL) != MER_OK ||
        again.count != 1 ||
        memcmp(&again.list[0].task.shape, &record->task.shape, sizeof record->task.shape) != 0 ||
        memcmp(&again.list[0].schedule, &record->schedule, sizeof record->schedule) != 0) {
        fprintf(stderr, "not read back: %s\n", json.text);
        abort();
    }
    mer_json_free(&json);
    if (mer_vta_check(&record->task.core, &record->task.shape, &record->schedule,
                      &record->task.rules, NULL)) {
        mer_vta_price(&record->task, &record->schedule, &timing, INFINITY, &time);
        if (time.ticks < 0) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena     *arena = mer_arena_new();
    const char   *text = mer_arena_text_n(arena, (const char *)data, size);
    MerError      error = {0};
    MerVtaRecords records;
    MerVtaCore    usual;
    mer_vta_core_make(&usual, 1, 16, 16, 32768, 32768, 262144, 131072);
    if (mer_vta_records_parse("fuzz", text, &usual, NULL, &records, arena, &error) == MER_OK) {
        for (int r = 0; r < records.count; r++) {
            check_record(&records.list[r], &usual, arena);
        }
    } else if (error.message[0] == '\0') {
        abort();
    }
    mer_arena_free(arena);
    return 0;
}
