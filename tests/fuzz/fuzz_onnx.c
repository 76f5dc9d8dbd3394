/* Any bytes as an ONNX model: refused with a message, or a graph that passes its check. */
#include "fuzz/importer.h"
#include "import/import_find.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_importer(&mer_importer_onnx, "fuzz.onnx", NULL, data, size);
    return 0;
}
