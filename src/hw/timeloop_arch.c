/* From a Timeloop architecture to a platform of ours. */
#include "hw/timeloop_arch.h"

#include "hw/reader.h"

#include "mercator/graph.h"
#include "mercator/option.h"

#include "mercator/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool mer_timeloop_is_architecture(MerYaml *root)
{
    MerYaml *map = root->kind == MER_YAML_MAP ? mer_yaml_get(root, "architecture") : NULL;
    map = map || root->kind != MER_YAML_MAP ? map : mer_yaml_get(root, "arch");
    return map && map->kind == MER_YAML_MAP && !mer_yaml_get(root, "format");
}

static MerYaml *list_of(MerYaml *node)
{
    for (int depth = 0; node && node->kind == MER_YAML_MAP && depth < 2; depth++) {
        MerYaml *targets = mer_yaml_get(node, "targets");
        node = targets ? targets : mer_yaml_get(node, "constraints");
    }
    return node && node->kind == MER_YAML_LIST ? node : NULL;
}

int mer_timeloop_constraint_lists(MerYaml *root, MerYaml *lists[MER_TIMELOOP_LISTS])
{
    static const char *const keys[] = {"architecture_constraints", "mapspace_constraints",
                                       "mapspace", "constraints", "arch_constraints"};
    int                      count = 0;
    for (int i = 0; root->kind == MER_YAML_MAP && i < MER_TIMELOOP_LISTS; i++) {
        MerYaml *list = list_of(mer_yaml_get(root, keys[i]));
        if (list) {
            lists[count++] = list;
        }
    }
    return count;
}

/* As in `Z = A x B`, too; -1: none. */
static int tensor_of(const char *name)
{
    static const char *const letters[MER_TENSOR_COUNT] = {"wfb", "ia", "oz"};
    for (int t = 0; *name && t < MER_TENSOR_COUNT; t++) {
        if (strchr(letters[t], tolower((unsigned char)*name))) {
            return t;
        }
    }
    return -1;
}

static MerStatus read_tensors(MerYaml *entry, const char *key, unsigned *mask, MerError *error)
{
    const MerYaml *list = mer_yaml_get(entry, key);
    if (!list || mer_yaml_is_null(list)) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    for (int i = 0; i < list->count; i++) {
        const char *name;
        MER_TRY(mer_yaml_text(list->items[i], &name, error));
        if (tensor_of(name) < 0) {
            return mer_yaml_expected(list->items[i], error, "Weights, Inputs or Outputs");
        }
        *mask |= 1u << tensor_of(name);
    }
    return MER_OK;
}

MerStatus mer_timeloop_keep(MerYaml *entry, unsigned *keep, unsigned *bypass, MerError *error)
{
    MER_TRY(read_tensors(entry, "keep", keep, error));
    return read_tensors(entry, "bypass", bypass, error);
}

static MerTimeloopLevel *find_level(MerTimeloopArch *arch, const MerYaml *target)
{
    for (int l = 0; target && target->kind == MER_YAML_SCALAR && l < arch->count; l++) {
        if (mer_name_equal(arch->levels[l].name, target->text)) {
            return &arch->levels[l];
        }
    }
    return NULL;
}

/* Entries of other types, and of targets that are no memories, are the search's business. */
static MerStatus read_keep(MerTimeloopArch *arch, MerYaml *entry)
{
    if (entry->kind != MER_YAML_MAP) {
        return MER_OK;
    }
    MerYaml          *type = mer_yaml_get(entry, "type");
    MerTimeloopLevel *level = find_level(arch, mer_yaml_get(entry, "target"));
    bool              speaks_of_data =
        type && type->kind == MER_YAML_SCALAR &&
        (strcmp(type->text, "datatype") == 0 || strcmp(type->text, "bypass") == 0 ||
         strcmp(type->text, "dataspace") == 0);
    if (!level || !speaks_of_data) {
        return MER_OK;
    }
    MER_TRY(mer_timeloop_keep(entry, &level->keep, &level->bypass, arch->error));
    if (level->keep & level->bypass) {
        return mer_yaml_error(entry, arch->error, "%s is to keep and to bypass %c", level->name,
                              MER_TENSOR_LETTERS[__builtin_ctz(level->keep & level->bypass)]);
    }
    return MER_OK;
}

static MerStatus read_keeps(MerTimeloopArch *arch, MerYaml *root)
{
    MerYaml *lists[MER_TIMELOOP_LISTS];
    int      count = mer_timeloop_constraint_lists(root, lists);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < lists[i]->count; j++) {
            MER_TRY(read_keep(arch, lists[i]->items[j]));
        }
    }
    return MER_OK;
}

/* The mesh of all instances of a level. Without meshX and meshY what is new goes on the X axis. */
static MerStatus find_mesh(MerTimeloopArch *arch, MerTimeloopLevel *level, double x_above,
                           double y_above)
{
    if (level->mesh_x <= 0 && level->mesh_y <= 0) {
        level->mesh_y = y_above;
        level->mesh_x = level->instances / y_above;
    } else if (level->mesh_x <= 0) {
        level->mesh_x = level->instances / level->mesh_y;
    } else if (level->mesh_y <= 0) {
        level->mesh_y = level->instances / level->mesh_x;
    }
    if (level->mesh_x * level->mesh_y != level->instances || fmod(level->mesh_x, x_above) != 0 ||
        fmod(level->mesh_y, y_above) != 0) {
        return mer_yaml_error(
            level->place, arch->error,
            "%s has %g instances on a mesh of %g x %g, expected a multiple of the %g x %g above it",
            level->name, level->instances, level->mesh_x, level->mesh_y, x_above, y_above);
    }
    return MER_OK;
}

static MerStatus find_fanouts(MerTimeloopArch *arch)
{
    double x = 1, y = 1;
    for (int l = 0; l < arch->count; l++) {
        MerTimeloopLevel *level = &arch->levels[l];
        MER_TRY(find_mesh(arch, level, x, y));
        if (l > 0) {
            arch->levels[l - 1].fanout_x = (int)(level->mesh_x / x);
            arch->levels[l - 1].fanout_y = (int)(level->mesh_y / y);
        } else if (level->instances != 1) {
            return mer_yaml_error(level->place, arch->error,
                                  "%s has %g instances, expected one outermost memory", level->name,
                                  level->instances);
        }
        x = level->mesh_x;
        y = level->mesh_y;
    }
    return MER_OK;
}

static const char *plain_name(const MerTimeloopArch *arch, const char *name)
{
    return mer_platform_plain_name(name, strlen(name), arch->arena);
}

/* Unlimited is said by silence. */
static void write_real(FILE *file, const char *key, double value)
{
    char text[32];
    mer_print_real(text, value);
    if (!isinf(value)) {
        fprintf(file, ", %s: %s", key, text);
    }
}

static void write_tensors(FILE *file, const char *key, unsigned mask)
{
    if (mask != 0) {
        fprintf(file, ", %s: ", key);
        mer_tensors_write(file, mask);
    }
}

/* `buffers` is a whole number of ours; other factors are taken off the size. */
static void write_size(FILE *file, const MerTimeloopLevel *level)
{
    bool   is_whole = floor(level->buffers) == level->buffers && level->buffers < 1e6;
    double words = is_whole ? level->words : floor(level->words / level->buffers);
    write_real(file, "words", words >= 1 ? words : 1);
    if (is_whole && level->buffers > 1) {
        fprintf(file, ", buffers: %.0f", level->buffers);
    }
}

static void write_memory(FILE *file, const MerTimeloopArch *arch, int l)
{
    const MerTimeloopLevel *level = &arch->levels[l];
    fprintf(file, "  - {name: \"%s\", word_bits: %.0f", plain_name(arch, level->name),
            level->word_bits);
    if (l > 0 && !isinf(level->words)) {
        write_size(file, level);
    }
    write_real(file, "read_pj", level->read_pj);
    write_real(file, "write_pj", level->write_pj);
    write_real(file, "update_pj", level->update_pj);
    write_real(file, "read_words_per_cycle", level->read_rate);
    write_real(file, "write_words_per_cycle", level->write_rate);
    write_tensors(file, "keep", level->keep);
    write_tensors(file, "bypass", l > 0 ? level->bypass : 0);
    if (level->fanout_x * level->fanout_y > 1) {
        fprintf(file, ", fanout: {x: %d, y: %d}", level->fanout_x, level->fanout_y);
    }
    fprintf(file, "}\n");
}

static void write_platform(FILE *file, const MerTimeloopArch *arch, const char *name)
{
    const MerTimeloopLevel *mac = &arch->levels[arch->count - 1];
    fprintf(file, "format: mercator-platform/1\nkind: pe-array\nname: \"%s\"\n",
            plain_name(arch, name));
    fprintf(file, "source: \"a Timeloop architecture");
    if (!isinf(arch->levels[0].words)) {
        fprintf(file, "; the size of %s is not checked, it is outermost",
                plain_name(arch, arch->levels[0].name));
    }
    fprintf(file, "\"\n");
    if (*arch->ignored) {
        char *text = mer_arena_text(arch->arena, arch->ignored);
        for (char *c = text; *c; c++) {
            *c = *c == ',' || *c == ' ' || isalnum((unsigned char)*c) ? *c : '_';
        }
        fprintf(file, "summary: \"left out, neither storage nor compute: %s\"\n", text);
    }
    fprintf(file, "word_bits: %.0f\nunits: [{name: \"%s\"", mac->word_bits,
            plain_name(arch, mac->name));
    write_real(file, "mac_pj", mac->read_pj);
    fprintf(file, "}]\nmemories:\n");
    for (int l = 0; l + 1 < arch->count; l++) {
        write_memory(file, arch, l);
    }
}

/* Where a memory does not say its word, it is that of the compute element. */
static void set_word_bits(MerTimeloopArch *arch)
{
    double bits = arch->levels[arch->count - 1].word_bits;
    for (int l = arch->count - 1; l >= 0; l--) {
        MerTimeloopLevel *level = &arch->levels[l];
        level->word_bits = level->word_bits >= 1 ? floor(level->word_bits)
                           : bits >= 1           ? floor(bits)
                                                 : 16;
    }
}

MerStatus mer_timeloop_platform(MerYaml *root, const char *name, const char **text, MerError *error)
{
    MerTimeloopArch *arch = MER_NEW(root->arena, MerTimeloopArch);
    char            *data = NULL;
    size_t           size = 0;
    *arch = (MerTimeloopArch){.arena = root->arena, .error = error, .ignored = ""};
    MER_TRY(mer_timeloop_read_levels(arch, root));
    set_word_bits(arch);
    MER_TRY(mer_timeloop_read_energies(arch, root));
    MER_TRY(read_keeps(arch, root));
    MER_TRY(find_fanouts(arch));
    FILE *file = open_memstream(&data, &size);
    if (!file) {
        return mer_error_set(error, MER_NO_MEMORY, "no memory for the platform of %s", root->file);
    }
    write_platform(file, arch, name);
    fclose(file);
    *text = mer_arena_text_n(root->arena, data, size);
    free(data);
    return MER_OK;
}
