/* Merging YAML files at the root, as users of Timeloop give them. */
#include "base/yaml_files.h"

#include "mercator/option.h"

#include <string.h>

static bool is_equal(const MerYaml *a, const MerYaml *b)
{
    if (a->kind != b->kind || a->count != b->count) {
        return false;
    }
    if (a->kind == MER_YAML_SCALAR) {
        return a->quoted == b->quoted && strcmp(a->text, b->text) == 0;
    }
    for (int i = 0; i < a->count; i++) {
        if ((a->kind == MER_YAML_MAP && !mer_name_equal(a->keys[i], b->keys[i])) ||
            !is_equal(a->items[i], b->items[i])) {
            return false;
        }
    }
    return true;
}

static void *copy(MerArena *arena, const void *list, int count, size_t size)
{
    void *longer = mer_arena_alloc_array(arena, (size_t)count + 1, size);
    return count > 0 ? memcpy(longer, list, (size_t)count * size) : longer;
}

void mer_yaml_add(MerYaml *map, const char *key, MerYaml *value, int line, int column)
{
    int at = map->count++;
    map->items = copy(map->arena, map->items, at, sizeof *map->items);
    map->keys = copy(map->arena, map->keys, at, sizeof *map->keys);
    map->key_lines = copy(map->arena, map->key_lines, at, sizeof *map->key_lines);
    map->key_columns = copy(map->arena, map->key_columns, at, sizeof *map->key_columns);
    map->items[at] = value;
    map->keys[at] = key;
    map->key_lines[at] = line;
    map->key_columns[at] = column;
}

/* The keys of `more` join those of `into`; a key of both must mean the same. */
static MerStatus merge_roots(MerYaml *into, const MerYaml *more, MerError *error)
{
    for (int i = 0; i < more->count; i++) {
        int at = 0;
        while (at < into->count && !mer_name_equal(into->keys[at], more->keys[i])) {
            at++;
        }
        if (at == into->count) {
            mer_yaml_add(into, more->keys[i], more->items[i], more->key_lines[i],
                         more->key_columns[i]);
        } else if (!is_equal(into->items[at], more->items[i])) {
            return mer_yaml_error(more->items[i], error,
                                  "%s is defined twice with different values, first at %s:%d:%d",
                                  more->keys[i], into->items[at]->file, into->items[at]->line,
                                  into->items[at]->column);
        }
    }
    return MER_OK;
}

MerStatus mer_yaml_read_files(const char *paths, MerArena *arena, MerYaml **root, MerError *error)
{
    *root = NULL;
    for (const char *at = paths;; at++) {
        size_t   length = strcspn(at, ",");
        MerYaml *more;
        MER_TRY(mer_yaml_read(mer_arena_text_n(arena, at, length), arena, &more, error));
        MER_TRY(mer_yaml_check_kind(more, MER_YAML_MAP, error));
        MER_TRY(*root ? merge_roots(*root, more, error) : MER_OK);
        *root = *root ? *root : more;
        at += length;
        if (!*at) {
            return MER_OK;
        }
    }
}
