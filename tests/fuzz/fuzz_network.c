/* Any bytes as the definition of a network: refused with a message, or a graph that passes its check. */
#include "fuzz/importer.h"

extern const MerImporterClass mer_importer_network;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_importer(&mer_importer_network, "fuzz.net", NULL, data, size);
    return 0;
}
