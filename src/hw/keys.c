/* Small takers for platform files: numbers above zero, sizes, names, keys of the right kind. */
#include "hw/reader.h"

#include "mercator/option.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* "pe-array", "cores and soc", "cores, soc and vta" */
static void kind_list(unsigned kinds, char *text, size_t capacity)
{
    int left = __builtin_popcount(kinds);
    text[0] = '\0';
    for (int kind = 0; kind < MER_PLATFORM_KIND_COUNT; kind++) {
        if ((kinds & (1u << kind)) == 0) {
            continue;
        }
        left--;
        size_t length = strlen(text);
        snprintf(text + length, capacity - length, "%s%s",
                 mer_platform_kind_name((MerPlatformKind)kind),
                 left == 0   ? ""
                 : left == 1 ? " and "
                             : ", ");
    }
}

MerYaml mer_platform_key(const MerYaml *map, int index)
{
    return (MerYaml){.kind = MER_YAML_SCALAR,
                     .file = map->items[index]->file,
                     .line = map->key_lines[index],
                     .column = map->key_columns[index],
                     .text = map->keys[index],
                     .path = map->path};
}

const char *mer_platform_item_name(const MerYaml *item)
{
    for (int i = 0; item->kind == MER_YAML_MAP && i < item->count; i++) {
        if (mer_name_equal(item->keys[i], "name") && item->items[i]->kind == MER_YAML_SCALAR) {
            return item->items[i]->text;
        }
    }
    return NULL;
}

const char *mer_platform_plain_name(const char *text, size_t length, MerArena *arena)
{
    char *name = mer_arena_text_n(arena, text, length);
    for (char *c = name; *c != '\0'; c++) {
        *c = isalnum((unsigned char)*c) || *c == '_' || *c == '-' ? *c : '_';
    }
    return name;
}

MerStatus mer_platform_check_keys(const MerYaml *map, const MerKeyKinds *table,
                                  MerPlatformKind kind, MerError *error)
{
    for (int i = 0; i < map->count; i++) {
        for (const MerKeyKinds *row = table; row->kinds != 0; row++) {
            for (int k = 0; row->keys[k] != NULL && !(row->kinds >> kind & 1); k++) {
                if (!mer_name_equal(map->keys[i], row->keys[k])) {
                    continue;
                }
                MerYaml place = mer_platform_key(map, i);
                char    kinds[80];
                kind_list(row->kinds, kinds, sizeof kinds);
                return mer_yaml_error(&place, error,
                                      "%s%s%s belongs to %s platforms, this one is %s", map->path,
                                      *map->path == '\0' ? "" : ".", row->keys[k], kinds,
                                      mer_platform_kind_name(kind));
            }
        }
    }
    return MER_OK;
}

MerStatus mer_platform_get_positive(MerYaml *map, const char *key, double *value, MerError *error)
{
    return mer_yaml_get_real(map, key, DBL_MIN, INFINITY, value, error);
}

MerStatus mer_platform_get_cost(MerYaml *map, const char *key, double *value, MerError *error)
{
    return mer_yaml_get_real(map, key, 0, INFINITY, value, error);
}

/* The plain range `>= 1` is named first: the upper end matters to nobody who is not there. */
static MerStatus get_whole(MerYaml *map, const char *key, int64_t maximum, int64_t *value,
                           MerError *error)
{
    const MerYaml *node = mer_yaml_get(map, key);
    if (node == NULL) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_int(node, 1, INT64_MAX, value, error));
    return mer_yaml_int(node, 1, maximum, value, error);
}

MerStatus mer_platform_get_size(MerYaml *map, const char *key, double *value, MerError *error)
{
    int64_t size = -1;
    /* Up to 2^53 a double holds every whole number. */
    MER_TRY(get_whole(map, key, INT64_C(1) << 53, &size, error));
    *value = size > 0 ? (double)size : *value;
    return MER_OK;
}

MerStatus mer_platform_get_count(MerYaml *map, const char *key, int *value, MerError *error)
{
    int64_t number = *value;
    MER_TRY(get_whole(map, key, INT32_MAX, &number, error));
    *value = (int)number;
    return MER_OK;
}

MerStatus mer_platform_need_count(MerYaml *map, const char *key, int *value, MerError *error)
{
    MerYaml *node;
    MER_TRY(mer_yaml_need(map, key, &node, error));
    return mer_platform_get_count(map, key, value, error);
}

MerStatus mer_platform_need_power(MerYaml *map, const char *key, int *value, MerError *error)
{
    MER_TRY(mer_platform_need_count(map, key, value, error));
    bool is_power = (*value & (*value - 1)) == 0;
    return is_power ? MER_OK : mer_yaml_expected(mer_yaml_get(map, key), error, "a power of two");
}

MerStatus mer_platform_name(const MerYaml *node, const char **name, MerError *error)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    MER_TRY(mer_yaml_text(node, name, error));
    if (**name == '\0' || (*name)[strspn(*name, allowed)] != '\0') {
        return mer_yaml_expected(node, error, "a name of letters, digits, '_' and '-'");
    }
    return MER_OK;
}

MerStatus mer_platform_get_name(MerYaml *map, const char *key, const char **name, MerError *error)
{
    const MerYaml *node = mer_yaml_get(map, key);
    return node != NULL ? mer_platform_name(node, name, error) : MER_OK;
}

MerStatus mer_platform_need_name(MerYaml *map, const char *key, const char **name, MerError *error)
{
    MerYaml *node;
    MER_TRY(mer_yaml_need(map, key, &node, error));
    return mer_platform_name(node, name, error);
}
