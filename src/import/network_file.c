/* Networks as a list of layers (mercator-network/1, docs/importing.md, "Definitions"), with settings that a name may change:
 * `resnet8@input=1x28x28@classes=10`. */
#include "import/network_build.h"

#include "base/file.h"
#include "base/yaml_need.h"
#include "mercator/import.h"
#include "mercator/option.h"
#include "mercator/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZE = 1 << 16, MAX_REPEAT = 1000, MAX_OPS = 100000 };

extern const MerImporterClass mer_importer_network;

typedef struct Reader {
    MerYaml          *settings; /* a map; what a name changes is in `changes` */
    MerReference      changes;
    MerNetworkBuilder builder;
    double            width;
    MerArena         *arena;
} Reader;

/* The text of a setting, NULL: there is none of that name. */
static const char *setting(const Reader *r, const char *name)
{
    for (int i = 0; i < r->changes.count; i++) {
        if (mer_name_equal(r->changes.keys[i], name)) {
            return r->changes.values[i];
        }
    }
    MerYaml *node = mer_yaml_get(r->settings, name);
    return node && node->kind == MER_YAML_SCALAR ? node->text : NULL;
}

/* A whole number, or the name of a setting that is one. */
static MerStatus read_number(const Reader *r, const MerYaml *node, int64_t maximum, int64_t *value,
                             MerError *error)
{
    const char *named = node->kind == MER_YAML_SCALAR ? setting(r, node->text) : NULL;
    if (!named) {
        return mer_yaml_int(node, 0, maximum, value, error);
    }
    return mer_parse_int(named, value) && *value >= 0 && *value <= maximum
               ? MER_OK
               : mer_yaml_error(node, error, "setting %s is %s, expected a whole number up to %lld",
                                node->text, named, (long long)maximum);
}

/* `3`, or `[10, 4]` for rows and columns. */
static MerStatus get_pair(const Reader *r, MerYaml *map, const char *key, int least, int *pair,
                          MerError *error)
{
    MerYaml *node = mer_yaml_get(map, key);
    int64_t  value[2];
    if (!node) {
        return MER_OK;
    }
    if (node->kind == MER_YAML_LIST && node->count != 2) {
        return mer_yaml_expected(node, error, "a number, or one for rows and one for columns");
    }
    for (int i = 0; i < 2; i++) {
        const MerYaml *item = node->kind == MER_YAML_LIST ? node->items[i] : node;
        MER_TRY(read_number(r, item, 1000, &value[i], error));
        if (value[i] < least) {
            return mer_yaml_expected(item, error, "at least %d", least);
        }
        pair[i] = (int)value[i];
    }
    return MER_OK;
}

/* Output channels: a number is scaled by the setting `width`, the name of a setting is taken as it is. */
static MerStatus need_out(const Reader *r, MerYaml *map, int64_t *out, MerError *error)
{
    MerYaml *node;
    MER_TRY(mer_yaml_need(map, "out", &node, error));
    MER_TRY(read_number(r, node, MAX_SIZE, out, error));
    if (!setting(r, node->text ? node->text : "")) {
        *out = (int64_t)floor((double)*out * r->width + 0.5);
    }
    return *out >= 1 && *out <= MAX_SIZE ? MER_OK
                                         : mer_yaml_expected(node, error, "at least one channel");
}

static MerStatus read_conv(Reader *r, MerYaml *map, const char *name, MerError *error)
{
    MerNetworkConv conv = {.name = name, .stride = {1, 1}, .has_norm = true, .has_relu = true};
    MerYaml       *kernel;
    MER_TRY(need_out(r, map, &conv.out, error));
    MER_TRY(mer_yaml_need(map, "kernel", &kernel, error));
    MER_TRY(get_pair(r, map, "kernel", 1, conv.kernel, error));
    conv.pad[0] = conv.kernel[0] / 2;
    conv.pad[1] = conv.kernel[1] / 2;
    MER_TRY(get_pair(r, map, "stride", 1, conv.stride, error));
    MER_TRY(get_pair(r, map, "pad", 0, conv.pad, error));
    MER_TRY(mer_yaml_get_bool(map, "norm", &conv.has_norm, error));
    MER_TRY(mer_yaml_get_bool(map, "relu", &conv.has_relu, error));
    return mer_network_conv(&r->builder, &conv, error);
}

enum { CONV, RESIDUAL, SEPARABLE, MAX_POOL, GLOBAL_POOL, LINEAR, LAYER_KINDS };
static const char *const layer_kinds[LAYER_KINDS] = {"conv",     "residual",    "separable",
                                                     "max_pool", "global_pool", "linear"};

/* The blocks of a stage follow each other; the first one has the stride. */
static MerStatus read_blocks(Reader *r, MerYaml *map, int kind, const char *name, MerError *error)
{
    MerYaml *count = mer_yaml_get(map, "repeat");
    int64_t  out, repeat = 1;
    int      stride[2] = {1, 1};
    bool     has_norm = true;
    MER_TRY(need_out(r, map, &out, error));
    MER_TRY(get_pair(r, map, "stride", 1, stride, error));
    if (count) {
        MER_TRY(read_number(r, count, MAX_SIZE, &repeat, error));
    }
    MER_TRY(mer_yaml_get_bool(map, "shortcut_norm", &has_norm, error));
    if (repeat < 1 || repeat > MAX_REPEAT) {
        return mer_yaml_error(map, error, "%s.repeat is %lld, expected 1 to %d", map->path,
                              (long long)repeat, MAX_REPEAT);
    }
    for (int i = 0; i < repeat; i++) {
        const char *own = count ? mer_arena_format(r->arena, "%s%d", name, i) : name;
        int         step = i == 0 ? stride[0] : 1;
        MER_TRY(kind == RESIDUAL
                    ? mer_network_residual(&r->builder, own, out, step, has_norm, error)
                    : mer_network_separable(&r->builder, own, out, step, error));
    }
    return MER_OK;
}

static MerStatus read_max_pool(Reader *r, MerYaml *map, const char *name, MerError *error)
{
    int kernel[2] = {2, 2}, stride[2] = {2, 2}, pad[2] = {0, 0};
    MER_TRY(get_pair(r, map, "kernel", 1, kernel, error));
    MER_TRY(get_pair(r, map, "stride", 1, stride, error));
    MER_TRY(get_pair(r, map, "pad", 0, pad, error));
    return mer_network_max_pool(&r->builder, name, kernel[0], stride[0], pad[0], error);
}

/* `when: {stem: 7x7}`: the layer is there if the setting says so. */
static MerStatus is_wanted(const Reader *r, MerYaml *map, bool *wanted, MerError *error)
{
    MerYaml *when = mer_yaml_get(map, "when");
    *wanted = true;
    if (!when) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(when, MER_YAML_MAP, error));
    for (int i = 0; i < when->count; i++) {
        const char *said = setting(r, when->keys[i]), *text;
        MER_TRY(mer_yaml_text(when->items[i], &text, error));
        if (!said) {
            return mer_yaml_error(when, error, "%s.%s is no setting", when->path, when->keys[i]);
        }
        *wanted = *wanted && mer_name_equal(said, text);
    }
    return MER_OK;
}

static MerStatus read_layer(Reader *r, MerYaml *map, bool is_last, MerError *error)
{
    MerYaml    *node;
    const char *name = NULL;
    int64_t     out;
    int         kind;
    bool        wanted;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    MER_TRY(is_wanted(r, map, &wanted, error));
    if (!wanted) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_need(map, "layer", &node, error));
    MER_TRY(mer_yaml_word(node, layer_kinds, LAYER_KINDS, &kind, error));
    MER_TRY(mer_yaml_get_text(map, "name", &name, error));
    name = name ? name : layer_kinds[kind];
    switch (kind) {
    case CONV:
        MER_TRY(read_conv(r, map, name, error));
        break;
    case MAX_POOL:
        MER_TRY(read_max_pool(r, map, name, error));
        break;
    case GLOBAL_POOL:
        mer_network_global_pool(&r->builder, name);
        break;
    case LINEAR:
        MER_TRY(need_out(r, map, &out, error));
        mer_network_linear(&r->builder, name, out, is_last);
        break;
    default:
        MER_TRY(read_blocks(r, map, kind, name, error));
        break;
    }
    return mer_yaml_finish(map, error);
}

/* `3x32x32` or `[3, 32, 32]`: channels, rows, columns. */
static MerStatus read_input(const Reader *r, int64_t size[3], MerError *error)
{
    const char *text = setting(r, "input");
    MerYaml    *node = mer_yaml_get(r->settings, "input");
    if (!text && node && node->kind == MER_YAML_LIST && node->count == 3) {
        for (int i = 0; i < 3; i++) {
            MER_TRY(mer_yaml_int(node->items[i], 1, MAX_SIZE, &size[i], error));
        }
        return MER_OK;
    }
    const char *at = text ? text : "";
    for (int i = 0; i < 3; i++) {
        char *end;
        size[i] = strtoll(at, &end, 10);
        bool is_number = end != at && size[i] >= 1 && size[i] <= MAX_SIZE;
        if (!is_number || (i < 2 ? *end != 'x' : *end != '\0')) {
            return mer_error_set(error, MER_INVALID,
                                 "setting input is %s, expected CHANNELSxROWSxCOLUMNS as 3x32x32",
                                 text ? text : "not there");
        }
        at = end + 1;
    }
    return MER_OK;
}

/* Every change must be of a setting that the file has. */
static MerStatus check_changes(const Reader *r, const char *name, MerError *error)
{
    for (int i = 0; i < r->changes.count; i++) {
        if (!mer_yaml_get(r->settings, r->changes.keys[i])) {
            const char *nearest =
                mer_name_nearest(r->changes.keys[i], r->settings->keys, r->settings->count);
            return mer_error_set(error, MER_INVALID, "network %s has no setting %s%s%s", name,
                                 r->changes.keys[i], nearest ? ", did you mean " : "",
                                 nearest ? nearest : "");
        }
    }
    return MER_OK;
}

static MerStatus read_width(Reader *r, MerError *error)
{
    enum { MOST = 100 };
    const char *text = setting(r, "width");
    r->width = 1;
    return !text || (mer_parse_real(text, &r->width) && r->width > 0 && r->width <= MOST)
               ? MER_OK
               : mer_error_set(error, MER_INVALID,
                               "setting width is %s, expected a number > 0, at most %d", text,
                               MOST);
}

static MerStatus build(Reader *r, MerYaml *root, const char *name, MerGraph **graph,
                       MerError *error)
{
    MerYaml *list;
    int64_t  size[3];
    MER_TRY(mer_yaml_format(root, "network", 1, error));
    MER_TRY(mer_yaml_need_kind(root, "settings", MER_YAML_MAP, &r->settings, error));
    MER_TRY(mer_yaml_need_kind(root, "layers", MER_YAML_LIST, &list, error));
    mer_yaml_get(root, "summary");
    MER_TRY(mer_yaml_finish(root, error));
    MER_TRY(check_changes(r, name, error));
    MER_TRY(read_width(r, error));
    MER_TRY(read_input(r, size, error));
    *graph = mer_graph_new(name, r->arena);
    (*graph)->format = mer_importer_network.name;
    r->builder = mer_network_begin(*graph, size[0], size[1], size[2]);
    for (int i = 0; i < list->count; i++) {
        MER_TRY(read_layer(r, list->items[i], i == list->count - 1, error));
        if ((*graph)->op_count > MAX_OPS) {
            return mer_yaml_error(list->items[i], error, "the network has more than %d operators",
                                  MAX_OPS);
        }
    }
    if ((*graph)->op_count == 0) {
        return mer_yaml_expected(list, error, "at least one layer");
    }
    return mer_graph_finish(*graph, error);
}

static MerStatus read(const MerImportFile *file, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error)
{
    Reader   r = {.arena = arena};
    MerYaml *root;
    (void)options;
    MER_TRY(mer_yaml_parse(file->path, file->data, file->size, arena, &root, error));
    return build(&r, root, file->name, graph, error);
}

static bool probe(const MerImportFile *file)
{
    return strstr(file->data, "format: mercator-network/") != NULL;
}

static const char *path_of(const char *name, MerArena *arena)
{
    size_t length = strcspn(name, "@");
    return mer_data_path("models", mer_arena_text_n(arena, name, length), ".net", arena);
}

/* A definition that comes with the program; a plain name that is an ONNX file too means that file. */
static bool knows(const char *name)
{
    MerArena *arena = mer_arena_new();
    bool      has_settings = strchr(name, '@') != NULL;
    bool      known = strchr(name, '/') == NULL && path_of(name, arena) != NULL &&
                 (has_settings || mer_data_path("models", name, ".onnx", arena) == NULL);
    mer_arena_free(arena);
    return known;
}

/* `NAME@key=value@key=value` */
static MerStatus split_name(const char *name, MerReference *changes, MerArena *arena,
                            MerError *error)
{
    *changes = (MerReference){.name = mer_arena_text_n(arena, name, strcspn(name, "@"))};
    for (const char *at = strchr(name, '@'); at; at = strchr(at + 1, '@')) {
        size_t      length = strcspn(at + 1, "@");
        const char *text = mer_arena_text_n(arena, at + 1, length);
        const char *equals = strchr(text, '=');
        if (!equals || equals == text) {
            return mer_error_set(error, MER_INVALID,
                                 "network %s: \"%s\" is no setting, expected NAME@KEY=VALUE",
                                 changes->name, text);
        }
        *changes = mer_reference_add(
            changes, mer_arena_text_n(arena, text, (size_t)(equals - text)), equals + 1, arena);
    }
    return MER_OK;
}

static MerStatus make(const char *name, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error)
{
    Reader   r = {.arena = arena};
    MerYaml *root;
    (void)options;
    MER_TRY(mer_yaml_read(path_of(name, arena), arena, &root, error));
    MER_TRY(split_name(name, &r.changes, arena, error));
    return build(&r, root, r.changes.name, graph, error);
}

const MerImporterClass mer_importer_network = {
    .name = "network",
    .summary = "definitions of networks by layers (mercator-network/1)",
    .endings = "net",
    .probe = probe,
    .read = read,
    .knows = knows,
    .make = make,
};
