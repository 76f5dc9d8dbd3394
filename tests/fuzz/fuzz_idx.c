/* Any bytes as an IDX file: refused with a message, or numbers that all lie inside. */
#include "tensor/dataset.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerIdx   idx;
    MerError error = {0};
    if (mer_idx_parse("fuzz", data, size, &idx, &error) == MER_OK) {
        unsigned sum = 0;
        for (int64_t i = 0; i < idx.size; i++) {
            sum += idx.bytes[i];
        }
        if (idx.rank < 1 || sum > 255u * (unsigned)idx.size) {
            abort();
        }
    } else if (error.message[0] == '\0') {
        abort();
    }
    return 0;
}
