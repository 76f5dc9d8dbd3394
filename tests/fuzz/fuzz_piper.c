/* Any bytes as a profile of Piper: refused with a message, or a graph that passes its check and has its profile. */
#include "fuzz/importer.h"
#include "place/inputs/profile_build.h"

static void check(const MerGraph *graph, MerArena *arena)
{
    (void)arena;
    if (!mer_graph_attachment(graph, MER_PLACE_PROFILE)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_importer(&mer_importer_piper, "fuzz", check, data, size);
    return 0;
}
