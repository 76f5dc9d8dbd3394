/* Sweeps: `memories.GLB.words=16Ki` sets one scalar of a resolved platform before it is checked.
 * Parts of the path are keys, names of list items or their indices. */
#include "hw/reader.h"

#include "base/yaml_files.h"
#include "mercator/option.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_CHANGE = 1000 };

static MerStatus fail(MerError *error, const char *change, const char *part, const char *what)
{
    return mer_error_set(error, MER_INVALID, "change \"%.200s\": %.100s %s", change, part, what);
}

static MerYaml *find_item(MerYaml *list, const char *part)
{
    for (int i = 0; i < list->count; i++) {
        const char *name = mer_platform_item_name(list->items[i]);
        if (name != NULL && mer_name_equal(name, part)) {
            return list->items[i];
        }
    }
    char *end;
    long  index = strtol(part, &end, 10);
    return *part >= '0' && *part <= '9' && *end == '\0' && index < list->count ? list->items[index]
                                                                               : NULL;
}

static MerYaml **find_key(MerYaml *map, const char *part)
{
    for (int i = 0; i < map->count; i++) {
        if (mer_name_equal(map->keys[i], part)) {
            return &map->items[i];
        }
    }
    return NULL;
}

static MerYaml *new_node(MerYamlKind kind, const char *change, const char *text, MerArena *arena)
{
    MerYaml *node = MER_NEW(arena, MerYaml);
    *node = (MerYaml){.kind = kind,
                      .file = change,
                      .line = 1,
                      .column = text != NULL ? (int)(text - change) + 1 : 1,
                      .text = text,
                      .path = "",
                      .arena = arena};
    return node;
}

/* Splits `path` at its dots and brackets: memories[1].words is memories.1.words. */
static int split(char *path, char *parts[], int capacity)
{
    int   count = 0;
    char *rest = path;
    for (char *part = strtok_r(path, ".[]", &rest); part != NULL;
         part = strtok_r(NULL, ".[]", &rest)) {
        if (count == capacity) {
            return capacity + 1;
        }
        parts[count++] = part;
    }
    return count;
}

/* The names of a list's items: DRAM, GLB, RF. */
static const char *list_items(const MerYaml *list)
{
    const char *names = "";
    for (int i = 0; i < list->count; i++) {
        const char *name = mer_platform_item_name(list->items[i]);
        names = mer_arena_format(list->arena, "%s%s%s", names, *names ? ", " : "",
                                 name != NULL ? name : "an item without a name");
    }
    return names;
}

/* The key of the list at the root that has an item of this name; NULL: none. */
static const char *list_with(MerYaml *root, const char *name)
{
    for (int i = 0; i < root->count; i++) {
        bool is_list = root->items[i]->kind == MER_YAML_LIST;
        if (is_list && (*name < '0' || *name > '9') && find_item(root->items[i], name) != NULL) {
            return root->keys[i];
        }
    }
    return NULL;
}

/* The keys of each row say the same in other units. */
static const char *const forms[][3] = {
    {"words", "bytes"},
    {"words_per_cycle", "bytes_per_cycle", "bytes_per_s"},
    {"read_words_per_cycle", "read_bytes_per_cycle", "read_bytes_per_s"},
    {"write_words_per_cycle", "write_bytes_per_cycle", "write_bytes_per_s"},
};
enum { FORM_ROWS = sizeof forms / sizeof forms[0], FORMS = 3 };

static int form_row(const char *key)
{
    for (int i = 0; i < FORM_ROWS * FORMS; i++) {
        const char *form = forms[i / FORMS][i % FORMS];
        if (form != NULL && strcmp(form, key) == 0) {
            return i / FORMS;
        }
    }
    return -1;
}

/* A size or a rate is said once: in words it takes the place of one in bytes. */
static MerYaml **find_other_form(MerYaml *map, const char *key)
{
    int row = form_row(key);
    for (int i = 0; row >= 0 && i < map->count; i++) {
        if (form_row(map->keys[i]) == row) {
            map->keys[i] = mer_arena_text(map->arena, key);
            return &map->items[i];
        }
    }
    return NULL;
}

/* One step down to the map or list that `part` names. */
static MerStatus step(MerYaml **node, const char *part, const char *change, MerError *error)
{
    MerArena *arena = (*node)->arena;
    if ((*node)->kind == MER_YAML_LIST) {
        MerYaml *item = find_item(*node, part);
        if (item == NULL) {
            return fail(error, change, part,
                        mer_arena_format(arena, "is not there, expected %s", list_items(*node)));
        }
        *node = item;
    } else if ((*node)->kind == MER_YAML_MAP) {
        MerYaml **value = find_key(*node, part);
        MerYaml  *child = value != NULL ? *value : new_node(MER_YAML_MAP, change, NULL, arena);
        if (value == NULL) { /* it may still be a good one: the reader of the platform decides */
            mer_yaml_add(*node, part, child, child->line, child->column);
        }
        *node = child;
    } else {
        return fail(error, change, part, "is below a single value");
    }
    return MER_OK;
}

MerStatus mer_platform_change(MerYaml *root, const char *change, MerError *error)
{
    char       *parts[16];
    const char *equals = strchr(change, '=');
    if (equals == NULL || strlen(change) > LONGEST_CHANGE) {
        return mer_error_set(
            error, MER_INVALID,
            "change \"%.200s\", expected PATH=VALUE such as memories.GLB.words=16Ki", change);
    }
    const char *path = mer_arena_text_n(root->arena, change, (size_t)(equals - change));
    int         count = split(mer_arena_text(root->arena, path), parts, 16);
    if (count < 1 || count > 16) {
        return fail(error, change, "the path", "has no parts, or more than 16");
    }
    MerYaml *node = root;
    mer_platform_drop(root, "format"); /* changes come too late for these: they are unknown keys */
    mer_platform_drop(root, "extends");
    root->asked_count = 0;
    const char *list = find_key(root, parts[0]) == NULL ? list_with(root, parts[0]) : NULL;
    if (list != NULL) {
        return fail(error, change, parts[0],
                    mer_arena_format(root->arena, "is one of the %s, did you mean %s.%s", list,
                                     list, path));
    }
    for (int i = 0; i + 1 < count; i++) {
        MER_TRY(step(&node, parts[i], change, error));
    }
    const char *last = parts[count - 1];
    MerYaml    *value = new_node(MER_YAML_SCALAR, change, equals + 1, root->arena);
    if (node->kind != MER_YAML_MAP) {
        return fail(error, change, last, "is no key of a map");
    }
    MerYaml **old = find_key(node, last);
    old = old != NULL ? old : find_other_form(node, last);
    if (old != NULL && (*old)->kind != MER_YAML_SCALAR) {
        return fail(error, change, last, "is a map or a list, expected a single value");
    }
    if (old != NULL) {
        *old = value;
    } else {
        mer_yaml_add(node, last, value, value->line, value->column);
    }
    mer_platform_set_paths(root, "");
    return MER_OK;
}
