/* What the fuzzers of platforms share: a text is refused with a message, or a platform that is written and read
 * back unchanged. */
#ifndef MERCATOR_TESTS_FUZZ_PLATFORM_AGAIN_H
#define MERCATOR_TESTS_FUZZ_PLATFORM_AGAIN_H

#include "mercator/platform.h"

#include <stdlib.h>

static inline void fuzz_platform_again(const char *text, size_t size, MerArena *arena)
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

#endif
