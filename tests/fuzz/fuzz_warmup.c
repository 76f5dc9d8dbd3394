/* Any bytes as a float network that was trained before, with the checksum made right: refused with one line, or weights and tallies. */
#include "fuzz/as_file.h"
#include "fuzz/saved.h"
#include "split/train/warmup_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);
    if (copy == NULL) {
        abort();
    }
    if (size > 0) {
        memcpy(copy, data, size);
    }
    fuzz_repair(copy, size);
    FuzzFile  file = fuzz_file("warmup-0000000000000001.bin", (const uint8_t *)copy, size);
    MerArena *arena = mer_arena_new();
    MerTally  tallies[2];
    MerWarmup warmup = {mer_parameters_new(), tallies, 2, 1};
    MerError  error = {0};
    bool      is_found;
    mer_parameters_add(warmup.weights, "conv", 2, (int[]){4, 3});
    mer_parameters_add(warmup.weights, "bias", 1, (int[]){4});
    if (mer_warmup_load(file.folder, &warmup, arena, &is_found, &error) == MER_OK) {
        if (!is_found || tallies[1].correct > tallies[1].examples) {
            abort();
        }
    } else if (error.message[0] == '\0' || strchr(error.message, '\n')) {
        abort();
    }
    mer_parameters_free(warmup.weights);
    mer_arena_free(arena);
    fuzz_file_remove(&file);
    free(copy);
    return 0;
}
