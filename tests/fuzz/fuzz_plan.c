/* Plan bodies: operators and loop nests from YAML, in both forms. */
#include "layer/directive_format.h"
#include "layer/op_format.h"
#include "map/nest/nest_format.h"
#include "mercator/platform.h"
#include "mercator/yaml.h"

#include <string.h>

static const char machine[] =
    "{format: mercator-platform/1, kind: pe-array, name: m, units: [{name: MAC}], memories: "
    "[{name: DRAM}, {name: GLB, words: 4096, fanout: {x: 4, y: 4}}, {name: RF, words: 64}]}";

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform = NULL;
    MerError           error;
    MerYaml           *root;
    MerOp              op;
    bool               is_open =
        mer_platform_parse("m", machine, strlen(machine), arena, &platform, &error) == MER_OK &&
        mer_yaml_parse("plan", (const char *)data, size, arena, &root, &error) == MER_OK &&
        root->kind == MER_YAML_MAP;
    MerYaml *node = is_open ? mer_yaml_get(root, "op") : NULL;
    if (node && mer_op_read(node, &op, &error) == MER_OK) {
        MerNestPlan      nest;
        MerDirectivePlan directives;
        if (mer_nest_read(root, &op, platform, true, &nest, arena, &error) == MER_OK) {
            mer_nest_print(&nest, platform, arena);
        }
        if (mer_directives_read(root, &op, &directives, arena, &error) == MER_OK) {
            mer_directives_print(&directives, arena);
        }
    }
    mer_arena_free(arena);
    return 0;
}
