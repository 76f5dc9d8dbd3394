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

static void append(MerYaml *into, const MerYaml *more, int at)
{
    size_t       count = (size_t)into->count;
    MerYaml    **items = MER_ARRAY(into->arena, MerYaml *, count + 1);
    const char **keys = MER_ARRAY(into->arena, const char *, count + 1);
    int         *lines = MER_ARRAY(into->arena, int, count + 1);
    int         *columns = MER_ARRAY(into->arena, int, count + 1);
    if (count > 0) {
        memcpy(items, into->items, count * sizeof *items);
        memcpy(keys, into->keys, count * sizeof *keys);
        memcpy(lines, into->key_lines, count * sizeof *lines);
        memcpy(columns, into->key_columns, count * sizeof *columns);
    }
    items[count] = more->items[at];
    keys[count] = more->keys[at];
    lines[count] = more->key_lines[at];
    columns[count] = more->key_columns[at];
    into->items = items;
    into->keys = keys;
    into->key_lines = lines;
    into->key_columns = columns;
    into->count++;
}

MerStatus mer_yaml_merge_roots(MerYaml *into, const MerYaml *more, MerError *error)
{
    for (int i = 0; i < more->count; i++) {
        int at = 0;
        while (at < into->count && !mer_name_equal(into->keys[at], more->keys[i])) {
            at++;
        }
        if (at == into->count) {
            append(into, more, i);
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
        size_t    length = strcspn(at, ",");
        MerYaml  *more;
        MerStatus status = mer_yaml_read(mer_arena_text_n(arena, at, length), arena, &more, error);
        if (status == MER_OK) {
            status = mer_yaml_check_kind(more, MER_YAML_MAP, error);
        }
        if (status == MER_OK && *root) {
            status = mer_yaml_merge_roots(*root, more, error);
        }
        if (status != MER_OK) {
            return status;
        }
        *root = *root ? *root : more;
        at += length;
        if (!*at) {
            return MER_OK;
        }
    }
}
