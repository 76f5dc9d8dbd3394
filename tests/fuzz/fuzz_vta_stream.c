/* Any bytes as a stream of instructions: refused with a message, or shown; never read past an end. */
#include "codesign/export/stream_files.h"

#include <stdio.h>
#include <stdlib.h>

extern const MerInspectorClass mer_inspector_vta;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena     *arena = mer_arena_new();
    MerError      error = {0};
    MerInspection file = {.arena = arena,
                          .path = "/no/such/folder/fuzz.vta",
                          .data = mer_arena_text_n(arena, (const char *)data, size),
                          .size = size,
                          .out = fopen("/dev/null", "w")};
    MerVtaCore    core;
    MerVtaWord   *words = MER_ARRAY(arena, MerVtaWord, size / 16 + 1);
    uint32_t     *uops = MER_ARRAY(arena, uint32_t, size / 16 + 1);
    double        iterations = 0;
    if (!file.out) {
        abort();
    }
    if (mer_inspector_vta.print(&file, &error) != MER_OK && error.message[0] == '\0') {
        abort();
    }
    fclose(file.out);
    /* the same words with micro-ops out of them, for the checker */
    mer_vta_core_make(&core, 1, 16, 16, 32768, 32768, 262144, 131072);
    for (size_t i = 0; i < size / 16; i++) {
        for (int b = 0; b < 8; b++) {
            words[i].low |= (uint64_t)data[16 * i + (size_t)b] << 8 * b;
            words[i].high |= (uint64_t)data[16 * i + 8 + (size_t)b] << 8 * b;
        }
        MerVtaInstruction instruction;
        iterations += mer_vta_decode(&core, words[i], &instruction)
                          ? 0
                          : (double)mer_vta_iterations(&instruction);
        uops[i] = (uint32_t)words[i].high;
    }
    if (iterations < 1e7) {
        MerVtaReason reason;
        mer_vta_stream_check(&core, words, (int64_t)(size / 16), uops, (int64_t)(size / 16), 0,
                             &reason);
    }
    mer_arena_free(arena);
    return 0;
}
