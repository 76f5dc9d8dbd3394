/* `vta_config.json` of VTA's own tools (HW_VER 0.0.2): log2 of widths in bits, of the geometry, and of the bytes of
 * SRAMs. The timing is that of the board the target names. */
#include "hw/foreign.h"

#include "base/yaml_need.h"

typedef enum Key { INP_WIDTH, WGT_WIDTH, ACC_WIDTH, BATCH, UOP, INP, WGT, ACC, KEY_COUNT } Key;

static const struct {
    const char *name;
    int         least, most;
} keys[KEY_COUNT] = {{"LOG_INP_WIDTH", 3, 3},      {"LOG_WGT_WIDTH", 3, 3},
                     {"LOG_ACC_WIDTH", 5, 5},      {"LOG_BATCH", 0, 12},
                     {"LOG_UOP_BUFF_SIZE", 2, 30}, {"LOG_INP_BUFF_SIZE", 2, 30},
                     {"LOG_WGT_BUFF_SIZE", 2, 30}, {"LOG_ACC_BUFF_SIZE", 2, 30}};

static const struct {
    const char *target, *base;
    bool        is_fitted;
} targets[] = {{"sim", "vta-pynq-b", false},        {"tsim", "vta-pynq-b", false},
               {"pynq", "vta-pynq-b", true},        {"ultra96", "vta-ultra96", false},
               {"zcu104", "vta-zcu104", false},     {"de10nano", "vta-de10nano", false},
               {"intelfocl", "vta-de10nano", false}};
enum { TARGET_COUNT = sizeof targets / sizeof targets[0] };

bool mer_vta_is_config(MerYaml *root)
{
    return root->kind == MER_YAML_MAP && mer_yaml_get(root, "LOG_INP_WIDTH") != NULL &&
           mer_yaml_get(root, "LOG_ACC_BUFF_SIZE") != NULL;
}

/* LOG_BLOCK, or one for each side. */
static MerStatus read_blocks(MerYaml *root, int64_t *in, int64_t *out, MerError *error)
{
    if (mer_yaml_get(root, "LOG_BLOCK_IN")) {
        MER_TRY(mer_yaml_get_int(root, "LOG_BLOCK_IN", 0, 12, in, error));
        return mer_yaml_need_int(root, "LOG_BLOCK_OUT", 0, 12, out, error);
    }
    MER_TRY(mer_yaml_need_int(root, "LOG_BLOCK", 0, 12, in, error));
    *out = *in;
    return MER_OK;
}

MerStatus mer_vta_config_platform(MerYaml *root, const char **text, MerError *error)
{
    int64_t     v[KEY_COUNT] = {0}, in = 0, out = 0;
    int         target;
    const char *names[TARGET_COUNT], *blocks;
    for (int t = 0; t < TARGET_COUNT; t++) {
        names[t] = targets[t].target;
    }
    MER_TRY(mer_yaml_need_word(root, "TARGET", names, TARGET_COUNT, &target, error));
    for (int k = 0; k < KEY_COUNT; k++) {
        MER_TRY(mer_yaml_need_int(root, keys[k].name, keys[k].least, keys[k].most, &v[k], error));
    }
    MER_TRY(read_blocks(root, &in, &out, error));
    blocks = in == out ? mer_arena_format(root->arena, "%d", 1 << in)
                       : mer_arena_format(root->arena, "%dx%d", 1 << in, 1 << out);
    *text = mer_arena_format(
        root->arena,
        "format: mercator-platform/1\nkind: vta\nextends: %s\n"
        "name: \"%s_%dx%s_i8w8a32_%d_%d_%d_%d\"\n"
        "summary: VTA core of a vta_config.json\nsource: \"a vta_config.json; timing of %s\"\n"
        "calibrated: %s\nunits: [{name: core, batch: %d, block_in: %d, block_out: %d}]\n"
        "memories:\n  - {name: uop, bytes: %lld}\n  - {name: inp, bytes: %lld}\n"
        "  - {name: wgt, bytes: %lld}\n  - {name: acc, bytes: %lld}\n",
        targets[target].base, targets[target].target, 1 << v[BATCH], blocks, (int)v[UOP],
        (int)v[INP], (int)v[WGT], (int)v[ACC], targets[target].base,
        targets[target].is_fitted ? "true" : "false", 1 << v[BATCH], 1 << in, 1 << out,
        1LL << v[UOP], 1LL << v[INP], 1LL << v[WGT], 1LL << v[ACC]);
    return MER_OK;
}
