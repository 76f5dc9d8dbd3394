/* Any bytes as a policy file: its first line names the optimizer that loads the rest. The checksum at
 * its end is left out, as in files of earlier versions. */
#include "fuzz/saved.h"

#define FUZZ_SMALL "lanes=2,unroll=2,width=3,depth=1"

static const char *const references[] = {
    "reinforce:lanes=2,unroll=2",
    "a2c:" FUZZ_SMALL,
    "ppo:" FUZZ_SMALL,
    "marl:samples=120,candidates=4," FUZZ_SMALL,
    "marl:samples=120,candidates=1,heads=joint," FUZZ_SMALL,
    "marl:form=joint,samples=120," FUZZ_SMALL,
};
enum { REFERENCES = sizeof references / sizeof references[0] };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char LINE[] = "mercator-policy/1 ";
    const uint8_t    *end = memchr(data, '\n', size < 64 ? size : 64);
    if (end == NULL || size < sizeof LINE || memcmp(data, LINE, sizeof LINE - 1) != 0) {
        return 0;
    }
    const char *name = (const char *)data + sizeof LINE - 1;
    size_t      length = (size_t)((const char *)end - name);
    for (int i = 0; i < REFERENCES; i++) {
        if (strncmp(references[i], name, length) == 0 && references[i][length] == ':') {
            fuzz_load(references[i], MER_KEEP_POLICY, end + 1, size - (size_t)(end + 1 - data));
        }
    }
    return 0;
}
