/* Any bytes as a Timeloop architecture or a hardware file of MAESTRO: refused with a message, or a
 * platform that is written and read back unchanged. */
#include "hw/foreign.h"
#include "mercator/platform.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_platform(const char *text, size_t size, MerArena *arena)
{
    const MerPlatform *platform = NULL, *again = NULL;
    MerError           error = {0};
    if (mer_platform_parse("fuzz.yaml", text, size, arena, &platform, &error) == MER_OK) {
        char  *written = NULL;
        size_t length = 0;
        FILE  *file = open_memstream(&written, &length);
        mer_platform_write(platform, file);
        fclose(file);
        if (mer_platform_parse("again.yaml", written, length, arena, &again, &error) != MER_OK ||
            again->hash != platform->hash) {
            fprintf(stderr, "not read back: %s\n%s\n", error.message, written);
            abort();
        }
        free(written);
    } else if (error.message[0] == '\0') {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena   *arena = mer_arena_new();
    MerError    error = {0};
    const char *text = (const char *)data, *platform = NULL;
    if (mer_maestro_is_hardware(text, size)) {
        if (mer_maestro_platform("fuzz.m", text, size, "fuzz", arena, &platform, &error) ==
            MER_OK) {
            read_platform(platform, strlen(platform), arena);
        } else if (error.message[0] == '\0') {
            abort();
        }
    } else {
        read_platform(text, size, arena);
    }
    mer_arena_free(arena);
    return 0;
}
