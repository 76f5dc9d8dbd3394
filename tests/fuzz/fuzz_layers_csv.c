/* Any bytes as a layer table: refused with a message, or a graph that passes its check. */
#include "fuzz/importer.h"
#include "import/layer_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_importer(&mer_importer_layers_csv, "fuzz", NULL, data, size);
    return 0;
}
