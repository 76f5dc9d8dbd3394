/* A letter for the optimizer, then any bytes as its saved state: what a resumed run loads. */
#include "fuzz/saved.h"

#define FUZZ_SMALL "lanes=2,unroll=2,width=3,depth=1"

static const char *const references[] = {
    "reinforce:lanes=2,unroll=2",
    "a2c:" FUZZ_SMALL,
    "ppo:heads=joint,minibatches=2," FUZZ_SMALL,
    "ppo:heads=ordered,minibatches=2," FUZZ_SMALL,
    "marl:samples=120,recluster=20,candidates=4," FUZZ_SMALL,
    "marl:agents=2,partition=random,central=true,candidates=1,heads=joint," FUZZ_SMALL,
    "marl:preset=paper,samples=24,initial=latin," FUZZ_SMALL,
    "marl:preset=paper,samples=24,recluster=20," FUZZ_SMALL,
};
enum { REFERENCES = sizeof references / sizeof references[0] };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] >= 'a' && data[0] < 'a' + REFERENCES) {
        fuzz_load(references[data[0] - 'a'], MER_KEEP_ALL, data + 1, size - 1);
    }
    return 0;
}
