/* The entry points of the platform reader: a resolved tree becomes a platform, root keys first, then the parts, then
 * what joins them; and small questions a platform answers. */
#include "mercator/platform.h"

#include "base/yaml_need.h"
#include "hw/foreign.h"
#include "hw/reader.h"
#include "mercator/option.h"

#include <math.h>
#include <string.h>

const char *const mer_tensor_letters[] = {"W", "I", "O"};
const char *const mer_operator_names[] = {"conv", "pointwise", "linear", "depthwise"};
const char *const mer_platform_kind_names[] = {
#define X(id, name) name,
    MER_PLATFORM_KIND_MAP(X)
#undef X
};

static const MerKeyKinds root_keys[] = {
    {MER_IN_PE_ARRAY | MER_IN_CORES | MER_IN_VTA | MER_IN_SOC, {"memories"}},
    {MER_IN_CLUSTER, {"links", "routes"}},
    {MER_IN_VTA, {"bus_bits", "timing", "energy"}},
    {MER_IN_SOC, {"reference", "activations", "power_mw"}},
    {MER_IN_NATIVE, {"compiler", "flags"}},
    {0}};

/* "platforms/edge.yaml" is called edge. */
static const char *name_of_file(const char *file, MerArena *arena)
{
    const char *slash = strrchr(file, '/');
    const char *base = slash == NULL ? file : slash + 1;
    const char *dot = strrchr(base, '.');
    bool        has_ending =
        dot != NULL && dot != base &&
        (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
    return mer_arena_text_n(arena, base, has_ending ? (size_t)(dot - base) : strlen(base));
}

static MerStatus read_kind(MerPlatform *platform, MerYaml *root, MerError *error)
{
    int kind;
    MER_TRY(mer_yaml_need_word(root, "kind", mer_platform_kind_names, MER_PLATFORM_KIND_COUNT,
                               &kind, error));
    platform->kind = (MerPlatformKind)kind;
    return mer_platform_check_keys(root, root_keys, platform->kind, error);
}

static MerStatus read_common(MerPlatform *platform, MerYaml *root, MerError *error)
{
    int64_t word_bits = 16;
    MER_TRY(mer_yaml_get_text(root, "name", &platform->name, error));
    MER_TRY(mer_yaml_get_text(root, "summary", &platform->summary, error));
    MER_TRY(mer_yaml_get_text(root, "source", &platform->source, error));
    MER_TRY(mer_platform_get_positive(root, "clock_hz", &platform->clock_hz, error));
    MER_TRY(mer_yaml_get_int(root, "word_bits", 1, 4096, &word_bits, error));
    platform->word_bits = (int)word_bits;
    return mer_yaml_get_bool(root, "calibrated", &platform->calibrated, error);
}

static MerStatus read_reference(MerPlatform *platform, MerYaml *root, MerError *error)
{
    const MerYaml *node = mer_yaml_get(root, "reference");
    return node == NULL ? MER_OK
                        : mer_unit_need(node, "the name of a unit", platform->units,
                                        platform->unit_count, &platform->reference, error);
}

static MerStatus read_activations(MerPlatform *platform, MerYaml *root, MerError *error)
{
    MerYaml *map = mer_yaml_get(root, "activations");
    int64_t  bits = 0;
    if (map == NULL) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_get_int(map, "bits", 1, 64, &bits, error));
    platform->activation_bits = (int)bits;
    MER_TRY(mer_yaml_get_bool(map, "signed", &platform->activation_signed, error));
    MER_TRY(mer_platform_get_name(map, "quantiser", &platform->activation_quantiser, error));
    return mer_yaml_finish(map, error);
}

static MerStatus read_routes(MerPlatform *platform, MerYaml *root, MerError *error)
{
    static const char *const modes[] = {"cut_through", "store_and_forward"};
    int                      mode = 0;
    MER_TRY(mer_yaml_get_word(root, "routes", modes, 2, &mode, error));
    platform->store_and_forward = mode == 1;
    return MER_OK;
}

static MerStatus read_compiler(MerPlatform *platform, MerYaml *root, MerError *error)
{
    platform->compiler = "cc";
    platform->flags = "-O3 -march=native -ffp-contract=fast";
    MER_TRY(mer_yaml_get_text(root, "compiler", &platform->compiler, error));
    return mer_yaml_get_text(root, "flags", &platform->flags, error);
}

static MerStatus read_kind_parts(MerPlatform *platform, MerYaml *root, MerError *error)
{
    switch (platform->kind) {
    case MER_PLATFORM_VTA:
        MER_TRY(mer_platform_need_power(root, "bus_bits", &platform->bus_bits, error));
        return mer_platform_read_timing(platform, root, error);
    case MER_PLATFORM_SOC:
        MER_TRY(read_reference(platform, root, error));
        MER_TRY(read_activations(platform, root, error));
        return mer_platform_read_power(platform, root, error);
    case MER_PLATFORM_CLUSTER:
        MER_TRY(mer_platform_read_links(platform, root, error));
        return read_routes(platform, root, error);
    case MER_PLATFORM_NATIVE:
        return read_compiler(platform, root, error);
    default:
        return MER_OK;
    }
}

MerStatus mer_platform_from_yaml(MerYaml *root, const MerPlatform **platform, MerError *error)
{
    MerPlatform *result = MER_NEW(root->arena, MerPlatform);
    *result = (MerPlatform){.name = name_of_file(root->file, root->arena),
                            .clock_hz = NAN,
                            .calibrated = true,
                            .reference = -1};
    MER_TRY(read_kind(result, root, error));
    MER_TRY(read_common(result, root, error));
    if (result->kind != MER_PLATFORM_CLUSTER && result->kind != MER_PLATFORM_NATIVE) {
        MER_TRY(mer_platform_read_memories(result, root, error));
    }
    MER_TRY(mer_platform_read_units(result, root, error));
    MER_TRY(read_kind_parts(result, root, error));
    MER_TRY(mer_yaml_finish(root, error));
    result->hash = mer_platform_hash(result);
    *platform = result;
    return MER_OK;
}

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
    MER_TRY(mer_platform_adopt(written, &root, error));
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
