/* Any bytes as a Timeloop architecture or a hardware file of MAESTRO: refused with a message, or a
 * platform that is written and read back unchanged. */
#include "fuzz/platform_again.h"
#include "hw/foreign.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena   *arena = mer_arena_new();
    MerError    error = {0};
    const char *text = (const char *)data, *platform = NULL;
    if (mer_maestro_is_hardware(text, size)) {
        if (mer_maestro_platform("fuzz.m", text, size, "fuzz", arena, &platform, &error) ==
            MER_OK) {
            fuzz_platform_again(platform, strlen(platform), arena);
        } else if (error.message[0] == '\0') {
            abort();
        }
    } else {
        fuzz_platform_again(text, size, arena);
    }
    mer_arena_free(arena);
    return 0;
}
