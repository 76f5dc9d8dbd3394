/* Any bytes as the table of measured cycles of a unit: refused with a message, or a platform whose table is written and read back
 * unchanged. */
#include "fuzz/as_file.h"
#include "fuzz/platform_again.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char machine[] = "format: mercator-platform/1\nkind: soc\nclock_hz: 100M\nunits: "
                              "[{name: npu, options: [{operator: conv, weights: int8}], "
                              "cost: {formula: table, file: %s}}]\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzFile    file = fuzz_file("table.csv", data, size);
    MerArena   *arena = mer_arena_new();
    const char *text = mer_arena_format(arena, machine, file.path);
    fuzz_platform_again(text, strlen(text), arena);
    mer_arena_free(arena);
    fuzz_file_remove(&file);
    return 0;
}
