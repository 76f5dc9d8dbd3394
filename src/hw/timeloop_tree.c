/* The levels of a Timeloop architecture, outermost first, with their attributes. */
#include "hw/timeloop_arch.h"

#include "base/yaml_need.h"
#include "mercator/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_DEPTH = 64 };

/* Is one of the parts, in any case, in the text? The list ends with NULL. */
static bool contains(const char *text, const char *const *parts)
{
    for (; *parts; parts++) {
        for (const char *at = text; *at; at++) {
            if (strncasecmp(at, *parts, strlen(*parts)) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* "PE[0..255]" is PE, 256 times. */
static MerStatus split_name(MerTimeloopArch *arch, const MerYaml *node, const char **name,
                            double *instances)
{
    const char *text;
    MER_TRY(mer_yaml_text(node, &text, arch->error));
    size_t length = strcspn(text, "[");
    *instances = 1;
    *name = mer_arena_text_n(arch->arena, text, length);
    if (text[length] == '[') {
        char *end;
        long  low = strtol(text + length + 1, &end, 10);
        bool  is_range = strncmp(end, "..", 2) == 0;
        long  high = is_range ? strtol(end + 2, &end, 10) : -1;
        if (!is_range || strcmp(end, "]") != 0 || low < 0 || high < low || high >= INT32_MAX) {
            return mer_yaml_expected(node, arch->error, "a name or a range such as PE[0..255]");
        }
        *instances = (double)(high - low + 1);
    }
    return length > 0 ? MER_OK : mer_yaml_expected(node, arch->error, "a name");
}

/* What a key holds, NULL also for null. */
static MerYaml *get_filled(MerYaml *map, const char *key)
{
    MerYaml *node = mer_yaml_get(map, key);
    return node && !mer_yaml_is_null(node) ? node : NULL;
}

static MerStatus get_any(MerTimeloopArch *arch, MerYaml *map, const char *const *names,
                         double *value)
{
    for (; map && *names; names++) {
        MerYaml *node = get_filled(map, *names);
        if (node) {
            return mer_yaml_real(node, 0, 1e15, value, arch->error);
        }
    }
    return MER_OK;
}

#define GET(value, ...) MER_TRY(get_any(arch, map, (const char *const[]){__VA_ARGS__, NULL}, value))

static MerStatus read_size(MerTimeloopArch *arch, MerYaml *map, MerTimeloopLevel *level)
{
    double block = 0, cluster = 1, width = 0, depth = NAN, entries = NAN, kilobytes = NAN;
    double bits = level->word_bits > 0 ? level->word_bits : 16;
    GET(&block, "block-size", "n_words");
    GET(&cluster, "cluster-size");
    GET(&width, "memory_width", "width");
    GET(&depth, "memory_depth", "depth");
    GET(&entries, "entries");
    GET(&kilobytes, "sizeKB");
    cluster = cluster >= 1 ? cluster : 1;
    level->words_per_access = block >= 1 ? block * cluster : width >= bits ? width / bits : cluster;
    if (entries == 0 || depth == 0 || kilobytes == 0) { /* only there for its fan-out */
        level->words = 1;
        level->bypass = (1u << MER_TENSOR_COUNT) - 1;
    } else if (entries > 0) {
        level->words = floor(entries);
    } else if (depth > 0) {
        level->words = width > 0 ? floor(depth * width / bits) : depth * level->words_per_access;
    } else if (kilobytes > 0) {
        level->words = floor(kilobytes * 1024 * 8 / bits);
    }
    if (!isinf(level->words) && level->words < 1) {
        return mer_yaml_error(level->place, arch->error, "%s holds less than one word of %g bits",
                              level->name, bits);
    }
    return MER_OK;
}

static MerStatus read_rates(MerTimeloopArch *arch, MerYaml *map, MerTimeloopLevel *level)
{
    double shared = 0, reads = 0, writes = 0;
    GET(&shared, "shared_bandwidth", "bandwidth");
    GET(&reads, "read_bandwidth");
    GET(&writes, "write_bandwidth");
    level->read_rate = reads > 0 ? reads : shared > 0 ? shared : INFINITY;
    level->write_rate = writes > 0 ? writes : shared > 0 ? shared : INFINITY;
    return MER_OK;
}

static MerStatus read_attributes(MerTimeloopArch *arch, MerYaml *map, MerTimeloopLevel *level)
{
    double energy = NAN;
    GET(&level->word_bits, "word-bits", "datawidth", "data_width");
    GET(&level->mesh_x, "meshX");
    GET(&level->mesh_y, "meshY");
    if (level->is_compute) {
        GET(&level->read_pj, "energy-per-op", "energy_per_op");
        return MER_OK;
    }
    GET(&level->buffers, "multiple-buffering");
    GET(&energy, "vector-access-energy");
    MER_TRY(read_size(arch, map, level));
    if (!isnan(energy)) {
        level->read_pj = level->write_pj = level->update_pj = energy / level->words_per_access;
    }
    level->buffers = level->buffers >= 1 ? level->buffers : 1;
    return read_rates(arch, map, level);
}

static MerStatus add_level(MerTimeloopArch *arch, const MerTimeloopLevel *level,
                           MerYaml *attributes)
{
    if (level->instances > INT32_MAX || arch->count == MER_TIMELOOP_LEVELS) {
        return mer_yaml_error(level->place, arch->error, "%s: more than %d %s", level->name,
                              level->instances > INT32_MAX ? INT32_MAX : MER_TIMELOOP_LEVELS,
                              level->instances > INT32_MAX ? "instances" : "levels");
    }
    MerTimeloopLevel *added = &arch->levels[arch->count++];
    *added = *level;
    added->words = INFINITY;
    added->words_per_access = added->buffers = 1;
    added->read_rate = added->write_rate = INFINITY;
    added->read_pj = added->write_pj = added->update_pj = NAN;
    return read_attributes(arch, attributes, added);
}

static const char *const compute[] = {"mac", "mult", "compute", NULL};
static const char *const dram[] = {"dram", "main_memory", NULL};
static const char *const storage[] = {"dram",    "sram",   "regfile", "buffer",
                                      "storage", "memory", "reg",     NULL};

/* Storage by its class, or by having a size. */
static bool is_storage(const char *class_name, MerYaml *attributes)
{
    return contains(class_name, storage) ||
           (attributes &&
            (mer_yaml_get(attributes, "memory_depth") || mer_yaml_get(attributes, "depth") ||
             mer_yaml_get(attributes, "entries") || mer_yaml_get(attributes, "sizeKB")));
}

static MerStatus read_component(MerTimeloopArch *arch, MerYaml *map, double above)
{
    MerYaml         *name;
    double           own;
    const char      *class_name = "";
    MerTimeloopLevel level = {.place = map};
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, arch->error));
    MER_TRY(mer_yaml_need(map, "name", &name, arch->error));
    MER_TRY(split_name(arch, name, &level.name, &own));
    MER_TRY(mer_yaml_get_text(map, "class", &class_name, arch->error));
    MerYaml *attributes = get_filled(map, "attributes");
    if (attributes) {
        MER_TRY(mer_yaml_check_kind(attributes, MER_YAML_MAP, arch->error));
    }
    level.instances = above * own;
    level.is_compute = contains(class_name, compute);
    level.is_dram = contains(class_name, dram);
    if (level.is_compute || is_storage(class_name, attributes)) {
        return add_level(arch, &level, attributes);
    }
    arch->ignored = mer_arena_format(arch->arena, "%.400s%s%s", arch->ignored,
                                     *arch->ignored ? ", " : "", level.name);
    return MER_OK;
}

/* One node of the tree: what is local to it, then its subtree. */
static MerStatus read_node(MerTimeloopArch *arch, MerYaml *map, double above, int depth)
{
    double      own = 1;
    const char *name;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, arch->error));
    MerYaml *name_node = mer_yaml_get(map, "name");
    MerYaml *local = get_filled(map, "local");
    MerYaml *subtree = get_filled(map, "subtree");
    if (name_node) {
        MER_TRY(split_name(arch, name_node, &name, &own));
    }
    if (local) {
        MER_TRY(mer_yaml_check_kind(local, MER_YAML_LIST, arch->error));
        for (int i = 0; i < local->count; i++) {
            MER_TRY(read_component(arch, local->items[i], above * own));
        }
    }
    if (!subtree) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(subtree, MER_YAML_LIST, arch->error));
    if (subtree->count > 1 || (subtree->count == 1 && depth == MAX_DEPTH)) {
        return mer_yaml_error(subtree->items[subtree->count - 1], arch->error,
                              "%s has %d branches, expected a chain of at most %d memories",
                              subtree->path, subtree->count, MAX_DEPTH);
    }
    return subtree->count == 1 ? read_node(arch, subtree->items[0], above * own, depth + 1)
                               : MER_OK;
}

/* The older form names instances directly and lists memories from the inside. */
static MerStatus read_flat(MerTimeloopArch *arch, MerYaml *map, const char *name, bool computes)
{
    double           instances = 1;
    const char      *class_name = "";
    MerTimeloopLevel level = {.name = name, .place = map, .is_compute = computes};
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, arch->error));
    GET(&instances, "instances");
    MER_TRY(mer_yaml_get_text(map, "name", &level.name, arch->error));
    MER_TRY(mer_yaml_get_text(map, "technology", &class_name, arch->error));
    MER_TRY(mer_yaml_get_text(map, "class", &class_name, arch->error));
    level.is_dram = contains(class_name, (const char *const[]){"dram", NULL});
    level.instances = floor(instances) >= 1 ? floor(instances) : 1;
    return add_level(arch, &level, map);
}

static MerStatus read_old(MerTimeloopArch *arch, MerYaml *map)
{
    MerYaml *arithmetic, *memories;
    MER_TRY(mer_yaml_need(map, "arithmetic", &arithmetic, arch->error));
    MER_TRY(mer_yaml_need_kind(map, "storage", MER_YAML_LIST, &memories, arch->error));
    for (int i = memories->count - 1; i >= 0; i--) {
        const char *name = mer_arena_format(arch->arena, "L%d", i);
        MER_TRY(read_flat(arch, memories->items[i], name, false));
    }
    return read_flat(arch, arithmetic, "MAC", true);
}

static MerStatus check_version(MerTimeloopArch *arch, MerYaml *map)
{
    MerYaml    *node = mer_yaml_get(map, "version"), *nodes = mer_yaml_get(map, "nodes");
    const char *version = nodes ? "0.4" : "0.3";
    if (node) {
        MER_TRY(mer_yaml_text(node, &version, arch->error));
    }
    bool is_known =
        strcmp(version, "0.1") == 0 || strcmp(version, "0.2") == 0 || strcmp(version, "0.3") == 0;
    if (is_known && !nodes) {
        return MER_OK;
    }
    const MerYaml *place = node ? node : nodes;
    return mer_error_set(
        arch->error, MER_UNSUPPORTED,
        "%s:%d:%d: architecture version %.20s%s is not supported, expected 0.1 to 0.3", place->file,
        place->line, place->column, version, nodes ? " (nodes:)" : "");
}

MerStatus mer_timeloop_read_levels(MerTimeloopArch *arch, MerYaml *root)
{
    MerYaml *map = mer_yaml_get(root, "architecture");
    map = map ? map : mer_yaml_get(root, "arch");
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, arch->error));
    MER_TRY(check_version(arch, map));
    if (mer_yaml_get(map, "storage") || mer_yaml_get(map, "arithmetic")) {
        MER_TRY(read_old(arch, map));
    } else {
        MER_TRY(read_node(arch, map, 1, 0));
    }
    if (arch->count < 2 || !arch->levels[arch->count - 1].is_compute) {
        return mer_yaml_error(
            map, arch->error,
            "the architecture ends in %s, expected memories and, innermost, a compute element "
            "(class intmac or the like)",
            arch->count > 0 ? arch->levels[arch->count - 1].name : "nothing");
    }
    for (int i = 0; i + 1 < arch->count; i++) {
        if (arch->levels[i].is_compute) {
            return mer_yaml_error(arch->levels[i].place, arch->error,
                                  "%s computes, but %s lies inside it", arch->levels[i].name,
                                  arch->levels[i + 1].name);
        }
    }
    return MER_OK;
}
