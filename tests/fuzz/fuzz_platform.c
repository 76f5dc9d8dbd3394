/* Any bytes as a platform file: refused with a message, or read, written and read back
 * unchanged. */
#include "fuzz/platform_again.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena *arena = mer_arena_new();
    fuzz_platform_again((const char *)data, size, arena);
    mer_arena_free(arena);
    return 0;
}
