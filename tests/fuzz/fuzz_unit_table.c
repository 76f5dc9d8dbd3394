/* Any bytes as the table of measured cycles of a unit: refused with one line, or a platform whose table is written and read back
 * unchanged. */
#include "fuzz/as_file.h"
#include "mercator/platform.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char machine[] = "format: mercator-platform/1\nkind: soc\nclock_hz: 100M\nunits: "
                              "[{name: npu, options: [{operator: conv, weights: int8}], "
                              "cost: {formula: table, file: %s}}]\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzFile           file = fuzz_file("table.csv", data, size);
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform = NULL, *again = NULL;
    MerError           error = {0};
    char              *text = mer_arena_format(arena, machine, file.path), *written = NULL;
    size_t             length = 0;
    if (mer_platform_parse("fuzz.yaml", text, strlen(text), arena, &platform, &error) == MER_OK) {
        FILE *stream = open_memstream(&written, &length);
        mer_platform_write(platform, stream);
        fclose(stream);
        if (mer_platform_parse("again.yaml", written, length, arena, &again, &error) != MER_OK ||
            again->hash != platform->hash) {
            fprintf(stderr, "not read back: %s\n%s\n", error.message, written);
            abort();
        }
        free(written);
    } else if (error.message[0] == '\0' || strchr(error.message, '\n')) {
        abort();
    }
    mer_arena_free(arena);
    fuzz_file_remove(&file);
    return 0;
}
