/* The levels of a Timeloop architecture, outermost first, with their attributes. */
#include "hw/reader.h"
#include "hw/timeloop_arch.h"

#include "mercator/graph.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

static bool contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == part[i]) {
            i++;
        }
        if (i == length) {
            return true;
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

static MerStatus get_any(MerTimeloopArch *arch, MerYaml *map, const char *const *names,
                         double *value)
{
    for (; map && *names; names++) {
        MerYaml *node = mer_yaml_get(map, *names);
        if (node && !mer_yaml_is_null(node)) {
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

static bool is_compute(const char *class_name)
{
    return contains(class_name, "mac") || contains(class_name, "mult") ||
           contains(class_name, "compute");
}

/* Storage by its class, or by having a size. */
static bool is_storage(const char *class_name, MerYaml *attributes)
{
    static const char *const parts[] = {"dram",    "sram",   "regfile", "buffer",
                                        "storage", "memory", "reg"};
    static const char *const sizes[] = {"memory_depth", "depth", "entries", "sizeKB"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (contains(class_name, parts[i])) {
            return true;
        }
    }
    for (size_t i = 0; attributes && i < sizeof sizes / sizeof sizes[0]; i++) {
        if (mer_yaml_get(attributes, sizes[i])) {
            return true;
        }
    }
    return false;
}

static MerStatus read_component(MerTimeloopArch *arch, MerYaml *map, double above)
{
    MerYaml         *name;
    double           own;
    MerTimeloopLevel level = {.class_name = "", .place = map};
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, arch->error));
    MER_TRY(mer_yaml_need(map, "name", &name, arch->error));
    MER_TRY(split_name(arch, name, &level.name, &own));
    MER_TRY(mer_yaml_get_text(map, "class", &level.class_name, arch->error));
    MerYaml *attributes = mer_yaml_get(map, "attributes");
    if (attributes && mer_yaml_is_null(attributes)) {
        attributes = NULL;
    }
    if (attributes) {
        MER_TRY(mer_yaml_check_kind(attributes, MER_YAML_MAP, arch->error));
    }
    level.instances = above * own;
    level.is_compute = is_compute(level.class_name);
    level.is_dram = contains(level.class_name, "dram") || contains(level.class_name, "main_memory");
    if (level.is_compute || is_storage(level.class_name, attributes)) {
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
    MerYaml *local = mer_yaml_get(map, "local");
    MerYaml *subtree = mer_yaml_get(map, "subtree");
    if (name_node) {
        MER_TRY(split_name(arch, name_node, &name, &own));
    }
    if (local && !mer_yaml_is_null(local)) {
        MER_TRY(mer_yaml_check_kind(local, MER_YAML_LIST, arch->error));
        for (int i = 0; i < local->count; i++) {
            MER_TRY(read_component(arch, local->items[i], above * own));
        }
    }
    if (!subtree || mer_yaml_is_null(subtree)) {
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
    MerTimeloopLevel level = {
        .name = name, .class_name = computes ? "mac" : "", .place = map, .is_compute = computes};
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, arch->error));
    GET(&instances, "instances");
    MER_TRY(mer_yaml_get_text(map, "name", &level.name, arch->error));
    MER_TRY(mer_yaml_get_text(map, "technology", &level.class_name, arch->error));
    MER_TRY(mer_yaml_get_text(map, "class", &level.class_name, arch->error));
    level.is_dram = contains(level.class_name, "dram");
    level.instances = floor(instances) >= 1 ? floor(instances) : 1;
    return add_level(arch, &level, map);
}

static MerStatus read_old(MerTimeloopArch *arch, MerYaml *map)
{
    MerYaml *arithmetic, *storage;
    MER_TRY(mer_yaml_need(map, "arithmetic", &arithmetic, arch->error));
    MER_TRY(mer_yaml_need(map, "storage", &storage, arch->error));
    MER_TRY(mer_yaml_check_kind(storage, MER_YAML_LIST, arch->error));
    for (int i = storage->count - 1; i >= 0; i--) {
        MER_TRY(read_flat(arch, storage->items[i], mer_arena_format(arch->arena, "L%d", i), false));
    }
    return read_flat(arch, arithmetic, "MAC", true);
}

static MerStatus check_version(MerTimeloopArch *arch, MerYaml *map)
{
    static const char *const known[] = {"0.1", "0.2", "0.3"};
    MerYaml    *node = mer_yaml_get(map, "version"), *nodes = mer_yaml_get(map, "nodes");
    const char *version = nodes ? "0.4" : NULL;
    if (node) {
        MER_TRY(mer_yaml_text(node, &version, arch->error));
    }
    for (int i = 0; version && !nodes && i < 3; i++) {
        if (strcmp(version, known[i]) == 0) {
            return MER_OK;
        }
    }
    if (!version) {
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
