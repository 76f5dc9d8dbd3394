/* Any bytes as a platform file: refused with a message, or read, written and read back
 * unchanged. */
#include "mercator/platform.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform = NULL, *again = NULL;
    MerError           error = {0};
    if (mer_platform_parse("fuzz.yaml", (const char *)data, size, arena, &platform, &error) ==
        MER_OK) {
        char  *text = NULL;
        size_t length = 0;
        FILE  *file = open_memstream(&text, &length);
        mer_platform_write(platform, file);
        fclose(file);
        if (mer_platform_parse("again.yaml", text, length, arena, &again, &error) != MER_OK ||
            again->hash != platform->hash) {
            fprintf(stderr, "not read back: %s\n%s\n", error.message, text);
            abort();
        }
        free(text);
    } else if (error.message[0] == '\0') {
        abort();
    }
    mer_arena_free(arena);
    return 0;
}
