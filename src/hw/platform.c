/* The entry points of the platform reader, and small questions a platform answers. */
#include "mercator/platform.h"

#include "hw/foreign.h"
#include "hw/reader.h"
#include "mercator/option.h"

MerStatus mer_platform_read(const char *name_or_path, MerArena *arena, const MerPlatform **platform,
                            MerError *error)
{
    return mer_platform_read_with(name_or_path, NULL, 0, arena, platform, error);
}

MerStatus mer_platform_read_with(const char *name_or_path, const char *const *changes,
                                 int change_count, MerArena *arena, const MerPlatform **platform,
                                 MerError *error)
{
    MerYaml *root;
    MER_TRY(mer_platform_load(name_or_path, arena, &root, error));
    for (int i = 0; i < change_count; i++) {
        MER_TRY(mer_platform_change(root, changes[i], error));
    }
    return mer_platform_from_yaml(root, platform, error);
}

MerStatus mer_platform_parse(const char *name, const char *text, size_t size, MerArena *arena,
                             const MerPlatform **platform, MerError *error)
{
    MerYaml *written, *root, *resolved;
    MER_TRY(mer_yaml_parse(name, text, size, arena, &written, error));
    MER_TRY(mer_platform_adopt(written, arena, &root, error));
    MER_TRY(mer_platform_resolve(root, &resolved, error));
    return mer_platform_from_yaml(resolved, platform, error);
}

double mer_formula_number(const MerFormula *formula, const char *name, double fallback)
{
    for (int i = 0; i < formula->count; i++) {
        const MerConstant *constant = &formula->constants[i];
        if (constant->count > 0 && mer_name_equal(constant->name, name)) {
            return constant->values[0];
        }
    }
    return fallback;
}

const char *const mer_tensor_letters[] = {"W", "I", "O"};
const char *const mer_operator_names[] = {"conv", "pointwise", "linear", "depthwise"};
const char *const mer_platform_kind_names[] = {
#define X(id, name) name,
    MER_PLATFORM_KIND_MAP(X)
#undef X
};

const char *mer_platform_kind_name(MerPlatformKind kind)
{
    return mer_platform_kind_names[kind];
}

int mer_platform_instances(const MerPlatform *platform, int memory)
{
    int instances = 1;
    for (int i = 0; i < memory && i < platform->memory_count; i++) {
        instances *= platform->memories[i].fanout.x * platform->memories[i].fanout.y;
    }
    return instances;
}
