/* `extends`: the file it names is read first and merged below. Maps merge key by key, lists of
 * named items by `name` (new ones at the end), everything else is replaced. Nodes keep the file
 * and line they were written at, so that messages point to the right one of several files. */
#include "hw/foreign.h"
#include "hw/reader.h"

#include "base/file.h"
#include "mercator/option.h"

#include <string.h>
#include <sys/stat.h>

enum { MAX_CHAIN = 32, MAX_PATH_TEXT = 160 };

typedef struct Link { /* a file by what it is, not by one of its names */
    const char *file;
    bool        exists; /* a platform parsed from text has no file */
    dev_t       device;
    ino_t       number;
} Link;

typedef struct Chain { /* the files being read, outermost first */
    Link links[MAX_CHAIN];
    int  count;
} Chain;

static MerStatus resolve(MerYaml *root, Chain *chain, MerYaml **resolved, MerError *error);

void mer_platform_set_paths(MerYaml *node, const char *path)
{
    node->path = path;
    for (int i = 0; node->kind != MER_YAML_SCALAR && i < node->count; i++) {
        const char *child;
        if (strlen(path) > MAX_PATH_TEXT) {
            child = path;
        } else if (node->kind == MER_YAML_LIST) {
            child = mer_arena_format(node->arena, "%s[%d]", path, i);
        } else {
            child = mer_arena_format(node->arena, "%s%s%.80s", path, *path == '\0' ? "" : ".",
                                     node->keys[i]);
        }
        mer_platform_set_paths(node->items[i], child);
    }
}

static bool is_named_list(const MerYaml *list)
{
    if (list->kind != MER_YAML_LIST || list->count == 0 || list->count > MER_MAX_UNITS) {
        return false;
    }
    for (int i = 0; i < list->count; i++) {
        if (mer_platform_item_name(list->items[i]) == NULL) {
            return false;
        }
    }
    return true;
}

static MerYaml *merge(const MerYaml *base, MerYaml *own);

/* `value`, under the key of entry `index` of `from`, as entry `at` of `to`. */
static void set_entry(MerYaml *to, int at, const MerYaml *from, int index, MerYaml *value)
{
    to->items[at] = value;
    if (from->kind == MER_YAML_MAP) {
        to->keys[at] = from->keys[index];
        to->key_lines[at] = from->key_lines[index];
        to->key_columns[at] = from->key_columns[index];
    }
}

/* A copy of `base` with memory for the entries of `own`. */
static MerYaml *copy_with_capacity(const MerYaml *base, const MerYaml *own)
{
    MerYaml *merged = MER_NEW(base->arena, MerYaml);
    size_t   capacity = (size_t)base->count + (size_t)own->count;
    *merged = *base;
    merged->asked = NULL;
    merged->asked_count = 0;
    /* The place of the whole is where the later file speaks of it. */
    merged->file = own->file;
    merged->line = own->line;
    merged->column = own->column;
    merged->items = MER_ARRAY(base->arena, MerYaml *, capacity);
    if (base->kind == MER_YAML_MAP) {
        merged->keys = MER_ARRAY(base->arena, const char *, capacity);
        merged->key_lines = MER_ARRAY(base->arena, int, capacity);
        merged->key_columns = MER_ARRAY(base->arena, int, capacity);
    }
    for (int i = 0; i < base->count; i++) {
        set_entry(merged, i, base, i, base->items[i]);
    }
    return merged;
}

static const char *entry_name(const MerYaml *node, int index)
{
    return node->kind == MER_YAML_MAP ? node->keys[index]
                                      : mer_platform_item_name(node->items[index]);
}

/* Of two maps, or two lists of named items. An entry of the base is taken once, so that a second one of the same
 * name stays to be refused. */
static MerYaml *merge_entries(const MerYaml *base, MerYaml *own)
{
    MerYaml *merged = copy_with_capacity(base, own);
    for (int i = 0; i < own->count; i++) {
        int at = 0;
        while (at < base->count && (merged->items[at] != base->items[at] ||
                                    !mer_name_equal(entry_name(base, at), entry_name(own, i)))) {
            at++;
        }
        bool is_new = at == base->count;
        set_entry(merged, is_new ? merged->count++ : at, own, i,
                  is_new ? own->items[i] : merge(base->items[at], own->items[i]));
    }
    return merged;
}

/* The depth of both trees is bounded by the YAML reader. */
static MerYaml *merge(const MerYaml *base, MerYaml *own)
{
    bool are_maps = base->kind == MER_YAML_MAP && own->kind == MER_YAML_MAP;
    bool are_lists = is_named_list(base) && is_named_list(own);
    return are_maps || are_lists ? merge_entries(base, own) : own;
}

static const char *folder_of(const char *file, MerArena *arena)
{
    const char *slash = strrchr(file, '/');
    return slash == NULL ? "" : mer_arena_text_n(arena, file, (size_t)(slash - file) + 1);
}

static bool is_path(const char *text)
{
    size_t length = strlen(text);
    return strchr(text, '/') != NULL || (length > 5 && strcmp(text + length - 5, ".yaml") == 0) ||
           (length > 4 && strcmp(text + length - 4, ".yml") == 0);
}

static bool file_exists(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0;
}

/* The file that `text` means, seen from `folder`: a path, a shipped name, a neighbour's name. */
static const char *find_file(const char *text, const char *folder, MerArena *arena)
{
    if (is_path(text)) {
        return *text == '/' ? text : mer_arena_format(arena, "%s%s", folder, text);
    }
    const char *path = mer_data_path("platforms", text, "yaml", arena);
    if (path != NULL) {
        return path;
    }
    path = mer_arena_format(arena, "%s%s.yaml", folder, text);
    if (file_exists(path)) {
        return path;
    }
    path = mer_arena_format(arena, "%s%s", folder, text);
    return *text != '\0' && file_exists(path) ? path : NULL;
}

static MerStatus unknown_platform(const char *name, const MerYaml *place, MerArena *arena,
                                  MerError *error)
{
    const char **names;
    int          count = mer_data_list("platforms", "yaml", arena, &names, NULL);
    const char  *near = mer_name_nearest(name, names, count);
    const char  *hint = near == NULL ? "" : mer_arena_format(arena, ", did you mean \"%s\"", near);
    if (place != NULL) {
        return mer_yaml_expected(place, error, "a platform's name or file%s", hint);
    }
    return mer_error_set(error, MER_NOT_FOUND, "no platform \"%.200s\"%s%s", name, hint,
                         near == NULL ? "; `mercator list platforms` shows them" : "");
}

static MerStatus cycle(const Chain *chain, int start, const MerYaml *place, MerError *error)
{
    const char *text = "";
    for (int i = start; i < chain->count; i++) {
        text = mer_arena_format(place->arena, "%s%s -> ", text, chain->links[i].file);
    }
    return mer_yaml_error(place, error, "extends makes a cycle: %s%s", text,
                          chain->links[start].file);
}

static bool is_same_file(const Link *a, const Link *b)
{
    return a->exists && b->exists ? a->device == b->device && a->number == b->number
                                  : strcmp(a->file, b->file) == 0;
}

static MerStatus push(Chain *chain, const char *file, const MerYaml *place, MerError *error)
{
    struct stat found = {0};
    Link        link = {.file = file, .exists = stat(file, &found) == 0};
    link.device = found.st_dev;
    link.number = found.st_ino;
    for (int i = 0; i < chain->count; i++) {
        if (is_same_file(&chain->links[i], &link)) {
            return cycle(chain, i, place, error);
        }
    }
    if (chain->count == MAX_CHAIN) {
        return mer_yaml_error(place, error, "extends goes through more than %d files", MAX_CHAIN);
    }
    chain->links[chain->count++] = link;
    return MER_OK;
}

static MerStatus check_same_kind(MerYaml *base, MerYaml *own, const char *base_file,
                                 MerError *error)
{
    MerYaml *base_kind = mer_yaml_get(base, "kind"), *own_kind = mer_yaml_get(own, "kind");
    if (own_kind == NULL || base_kind == NULL || base_kind->kind != MER_YAML_SCALAR ||
        (own_kind->kind == MER_YAML_SCALAR && mer_name_equal(base_kind->text, own_kind->text))) {
        return MER_OK;
    }
    return mer_yaml_expected(own_kind, error, "%s, the kind of %s, which it extends",
                             base_kind->text, base_file);
}

void mer_platform_drop(MerYaml *map, const char *key)
{
    int kept = 0;
    for (int i = 0; i < map->count; i++) {
        if (!mer_name_equal(map->keys[i], key)) {
            set_entry(map, kept++, map, i, map->items[i]);
        }
    }
    map->count = kept;
}

static MerStatus resolve_base(MerYaml *root, MerYaml *extends, Chain *chain, MerYaml **resolved,
                              MerError *error)
{
    const char *text;
    MerYaml    *base_root, *base;
    MER_TRY(mer_yaml_text(extends, &text, error));
    const char *file = find_file(text, folder_of(root->file, root->arena), root->arena);
    if (file == NULL) {
        return unknown_platform(text, extends, root->arena, error);
    }
    MER_TRY(push(chain, file, extends, error));
    MER_TRY(mer_yaml_read(file, root->arena, &base_root, error));
    MER_TRY(resolve(base_root, chain, &base, error));
    chain->count--;
    MER_TRY(check_same_kind(base, root, file, error));
    mer_platform_drop(base, "extends"); /* both belong to its file alone */
    mer_platform_drop(base, "name");
    *resolved = merge(base, root);
    return MER_OK;
}

static MerStatus resolve(MerYaml *root, Chain *chain, MerYaml **resolved, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(root, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_format(root, "platform", 1, error));
    MerYaml *extends = mer_yaml_get(root, "extends");
    *resolved = root;
    return extends != NULL ? resolve_base(root, extends, chain, resolved, error) : MER_OK;
}

MerStatus mer_platform_resolve(MerYaml *root, MerYaml **resolved, MerError *error)
{
    Chain chain = {0};
    MER_TRY(push(&chain, root->file, root, error));
    MER_TRY(resolve(root, &chain, resolved, error));
    if (*resolved != root) {
        mer_platform_set_paths(*resolved, "");
    }
    mer_yaml_get(*resolved, "format"); /* seen to: the reader of the platform need not ask */
    mer_yaml_get(*resolved, "extends");
    return MER_OK;
}

MerStatus mer_platform_load(const char *name_or_path, MerArena *arena, MerYaml **resolved,
                            MerError *error)
{
    MerYaml    *root;
    bool        is_several = strchr(name_or_path, ',') != NULL;
    bool        is_piped = strcmp(name_or_path, "-") == 0;
    const char *file = is_several ? name_or_path
                       : is_piped ? "/dev/stdin"
                                  : find_file(name_or_path, "", arena);
    if (file == NULL) {
        return unknown_platform(name_or_path, NULL, arena, error);
    }
    MER_TRY(mer_platform_read_file(file, arena, &root, error));
    return mer_platform_resolve(root, resolved, error);
}
