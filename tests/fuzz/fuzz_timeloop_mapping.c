/* Any bytes as a Timeloop mapping: refused with a message, or a nest that covers the layer and,
 * where Timeloop can say it, is written and read back unchanged. */
#include "nest_setting.h"

#include "map/export/timeloop_mapping.h"
#include "map/nest/nest_format.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const MerNestPlan *plan, const MerPlatform *platform, MerArena *arena)
{
    MerError    error = {0};
    MerYaml    *root = NULL;
    MerNestPlan again;
    const char *reason = NULL, *line = mer_nest_line(plan, platform, arena);
    const char *text = mer_timeloop_mapping_write(plan, platform, &reason, arena);
    if (text == NULL) {
        return;
    }
    if (mer_yaml_parse("again", text, strlen(text), arena, &root, &error) != MER_OK ||
        mer_timeloop_mapping_read(mer_yaml_get(root, "mapping"), plan->op, platform, &again, arena,
                                  &error) != MER_OK ||
        strcmp(line, mer_nest_line(&again, platform, arena)) != 0) {
        fprintf(stderr, "not read back: %s\n%s\n%s\n", error.message, line, text);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform = nest_setting_platform(arena);
    MerOp              op = nest_setting_op();
    MerError           error = {0};
    MerYaml           *root = NULL, *list;
    MerNestPlan        plan;
    if (mer_yaml_parse("fuzz", (const char *)data, size, arena, &root, &error) == MER_OK &&
        root->kind == MER_YAML_MAP && (list = mer_yaml_get(root, "mapping")) != NULL) {
        if (mer_timeloop_mapping_read(list, &op, platform, &plan, arena, &error) == MER_OK) {
            check_round_trip(&plan, platform, arena);
        } else if (error.message[0] == '\0') {
            abort();
        }
    }
    mer_arena_free(arena);
    return 0;
}
