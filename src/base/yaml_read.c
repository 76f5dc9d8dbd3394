/* Taking values out of a YAML tree, with messages that say where, what and what instead. */
#include "base/expect.h"
#include "mercator/option.h"
#include "mercator/text.h"
#include "mercator/yaml.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_word(const MerYaml *node, const char *const *words)
{
    if (node->kind != MER_YAML_SCALAR || node->quoted) {
        return false;
    }
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(node->text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_true(const MerYaml *node)
{
    return is_word(node, (const char *const[]){"true", "True", "TRUE", "yes", "on", NULL});
}

static bool is_false(const MerYaml *node)
{
    return is_word(node, (const char *const[]){"false", "False", "FALSE", "no", "off", NULL});
}

bool mer_yaml_is_null(const MerYaml *node)
{
    return is_word(node, (const char *const[]){"", "null", "Null", "NULL", "~", NULL});
}

/* Numbers and booleans as written, other texts in quotes. */
static const char *found(const MerYaml *node, char buffer[MER_SHOWN_SIZE])
{
    double number;
    if (node->kind != MER_YAML_SCALAR) {
        return node->kind == MER_YAML_LIST ? "a list" : "a map";
    }
    if (mer_yaml_is_null(node)) {
        return "nothing";
    }
    bool bare =
        !node->quoted && (mer_parse_real(node->text, &number) || is_true(node) || is_false(node));
    return mer_shown_text(buffer, node->text, bare);
}

static const char *path_of(const MerYaml *node)
{
    return node->path[0] != '\0' ? node->path : "the document";
}

MerStatus mer_yaml_error(const MerYaml *node, MerError *error, const char *format, ...)
{
    char    text[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return mer_error_set(error, MER_INVALID, "%s:%d:%d: %s", node->file, node->line, node->column,
                         text);
}

MerStatus mer_yaml_expected(const MerYaml *node, MerError *error, const char *format, ...)
{
    char    text[sizeof error->message], buffer[MER_SHOWN_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return mer_yaml_error(node, error, "%s is %s, expected %s", path_of(node), found(node, buffer),
                          text);
}

static bool was_asked(const MerYaml *map, const char *key)
{
    for (int i = 0; i < map->asked_count; i++) {
        if (mer_name_equal(map->asked[i], key)) {
            return true;
        }
    }
    return false;
}

static void remember(MerYaml *map, const char *key)
{
    if (was_asked(map, key)) {
        return;
    }
    MER_GROW(map->arena, map->asked, map->asked_count);
    map->asked[map->asked_count++] = mer_arena_text(map->arena, key);
}

MerYaml *mer_yaml_get(MerYaml *map, const char *key)
{
    if (map->kind != MER_YAML_MAP) {
        return NULL;
    }
    remember(map, key);
    for (int i = 0; i < map->count; i++) {
        if (mer_name_equal(map->keys[i], key)) {
            return map->items[i];
        }
    }
    return NULL;
}

/* The key that was probably meant to be `key`: near to it, or longer or shorter; -1: none. */
static int find_misspelt(const MerYaml *map, const char *key)
{
    const char *near = mer_name_nearest(key, map->keys, map->count);
    for (int i = 0; i < map->count; i++) {
        size_t length = strlen(map->keys[i]), wanted = strlen(key);
        size_t common = length < wanted ? length : wanted;
        bool   is_near =
            near ? map->keys[i] == near : common > 2 && strncmp(map->keys[i], key, common) == 0;
        if (is_near && !was_asked(map, map->keys[i])) {
            return i;
        }
    }
    return -1;
}

MerStatus mer_yaml_need(MerYaml *map, const char *key, MerYaml **value, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    *value = mer_yaml_get(map, key);
    if (*value != NULL) {
        return MER_OK;
    }
    int near = find_misspelt(map, key);
    if (near >= 0) {
        return mer_yaml_error(map, error, "%s has no key \"%s\", only \"%.80s\" at %d:%d",
                              path_of(map), key, map->keys[near], map->key_lines[near],
                              map->key_columns[near]);
    }
    return mer_yaml_error(map, error, "%s has no key \"%s\"", path_of(map), key);
}

static MerStatus not_in_range(const MerYaml *node, const char *noun, double minimum, double maximum,
                              MerError *error)
{
    char range[MER_RANGE_SIZE];
    return mer_yaml_expected(node, error, "%s", mer_range_text(range, noun, minimum, maximum));
}

/* Not in quotes, unless a suffix shows that it is a number: JSON cannot write 32Ki in another way. */
static bool may_be_number(const MerYaml *node)
{
    size_t length = node->kind == MER_YAML_SCALAR ? strlen(node->text) : 0;
    return length > 0 && (!node->quoted || isalpha((unsigned char)node->text[length - 1]));
}

MerStatus mer_yaml_real(const MerYaml *node, double minimum, double maximum, double *value,
                        MerError *error)
{
    double number;
    if (!may_be_number(node) || !mer_parse_real(node->text, &number) || number < minimum ||
        number > maximum) {
        return not_in_range(node, "a number", minimum, maximum, error);
    }
    *value = number;
    return MER_OK;
}

MerStatus mer_yaml_int(const MerYaml *node, int64_t minimum, int64_t maximum, int64_t *value,
                       MerError *error)
{
    int64_t number;
    if (!may_be_number(node) || !mer_parse_int(node->text, &number) || number < minimum ||
        number > maximum) {
        return not_in_range(node, "an integer", minimum == INT64_MIN ? -INFINITY : (double)minimum,
                            maximum == INT64_MAX ? INFINITY : (double)maximum, error);
    }
    *value = number;
    return MER_OK;
}

MerStatus mer_yaml_bool(const MerYaml *node, bool *value, MerError *error)
{
    if (!is_true(node) && !is_false(node)) {
        return mer_yaml_expected(node, error, "true or false");
    }
    *value = is_true(node);
    return MER_OK;
}

MerStatus mer_yaml_text(const MerYaml *node, const char **value, MerError *error)
{
    if (node->kind != MER_YAML_SCALAR || mer_yaml_is_null(node)) {
        return mer_yaml_expected(node, error, "a text");
    }
    *value = node->text;
    return MER_OK;
}

MerStatus mer_yaml_option(const MerYaml *node, const char **text, MerArena *arena, MerError *error)
{
    if (node->kind == MER_YAML_SCALAR) {
        *text = node->text;
        return MER_OK;
    }
    const char *list = "";
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_LIST, error));
    for (int i = 0; i < node->count; i++) {
        MER_TRY(mer_yaml_check_kind(node->items[i], MER_YAML_SCALAR, error));
        list = mer_arena_format(arena, "%s%s%s", list, i ? "," : "", node->items[i]->text);
    }
    *text = mer_arena_format(arena, "[%s]", list);
    return MER_OK;
}

MerStatus mer_yaml_get_real(MerYaml *map, const char *key, double minimum, double maximum,
                            double *value, MerError *error)
{
    MerYaml *node = mer_yaml_get(map, key);
    return node == NULL ? MER_OK : mer_yaml_real(node, minimum, maximum, value, error);
}

MerStatus mer_yaml_get_int(MerYaml *map, const char *key, int64_t minimum, int64_t maximum,
                           int64_t *value, MerError *error)
{
    MerYaml *node = mer_yaml_get(map, key);
    return node == NULL ? MER_OK : mer_yaml_int(node, minimum, maximum, value, error);
}

MerStatus mer_yaml_get_bool(MerYaml *map, const char *key, bool *value, MerError *error)
{
    MerYaml *node = mer_yaml_get(map, key);
    return node == NULL ? MER_OK : mer_yaml_bool(node, value, error);
}

MerStatus mer_yaml_get_text(MerYaml *map, const char *key, const char **value, MerError *error)
{
    MerYaml *node = mer_yaml_get(map, key);
    return node == NULL ? MER_OK : mer_yaml_text(node, value, error);
}

MerStatus mer_yaml_word(const MerYaml *node, const char *const *words, int count, int *value,
                        MerError *error)
{
    char list[300];
    mer_words_text(list, sizeof list, words, count);
    if (node->kind != MER_YAML_SCALAR) {
        return mer_yaml_expected(node, error, "%s", list);
    }
    for (int i = 0; i < count; i++) {
        if (mer_name_equal(node->text, words[i])) {
            *value = i;
            return MER_OK;
        }
    }
    const char *near = mer_name_nearest(node->text, words, count);
    return mer_yaml_expected(node, error, "%s%s%s%s", list, near ? ", did you mean \"" : "",
                             near ? near : "", near ? "\"" : "");
}

MerStatus mer_yaml_check_kind(const MerYaml *node, MerYamlKind kind, MerError *error)
{
    static const char *const names[] = {"a single value", "a list", "a map"};
    return node->kind == kind ? MER_OK : mer_yaml_expected(node, error, "%s", names[kind]);
}

static MerStatus unknown_key(const MerYaml *map, int index, MerError *error)
{
    char        expected[300];
    const char *key = map->keys[index];
    const char *near = mer_name_nearest(key, map->asked, map->asked_count);
    bool        is_root = map->path[0] == '\0';
    if (near != NULL) {
        snprintf(expected, sizeof expected, ", did you mean \"%s\"", near);
    } else if (map->asked_count > 0) {
        snprintf(expected, sizeof expected, ", expected ");
        mer_words_text(expected + 11, sizeof expected - 11, map->asked, map->asked_count);
    } else {
        snprintf(expected, sizeof expected, ", expected no keys");
    }
    /* keys of a map may come from several files */
    return mer_error_set(error, MER_INVALID, "%s:%d:%d: unknown key \"%.80s\"%s%s%s",
                         map->items[index]->file, map->key_lines[index], map->key_columns[index],
                         key, is_root ? "" : " in ", map->path, expected);
}

/* Two spellings of one key, `a-b` and `a_b`: one of them would be ignored in silence. */
static MerStatus check_spellings(const MerYaml *map, MerError *error)
{
    for (int i = 0; i < map->asked_count; i++) {
        int first = -1;
        for (int j = 0; j < map->count; j++) {
            if (!mer_name_equal(map->keys[j], map->asked[i])) {
                continue;
            }
            if (first >= 0) {
                return mer_error_set(error, MER_INVALID,
                                     "%s:%d:%d: double key \"%.80s\", first at %d:%d", map->file,
                                     map->key_lines[j], map->key_columns[j], map->keys[j],
                                     map->key_lines[first], map->key_columns[first]);
            }
            first = j;
        }
    }
    return MER_OK;
}

MerStatus mer_yaml_finish(MerYaml *map, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    for (int i = 0; i < map->count; i++) {
        if (!was_asked(map, map->keys[i])) {
            return unknown_key(map, i, error);
        }
    }
    return check_spellings(map, error);
}

MerStatus mer_yaml_format(MerYaml *root, const char *noun, int version, MerError *error)
{
    MerYaml    *node;
    int64_t     found_version;
    char        prefix[64];
    const char *text = NULL;
    MER_TRY(mer_yaml_need(root, "format", &node, error));
    MER_TRY(mer_yaml_text(node, &text, error));
    snprintf(prefix, sizeof prefix, "mercator-%s/", noun);
    size_t length = strlen(prefix);
    if (strncmp(text, prefix, length) != 0 || strspn(text + length, "0123456789") == 0 ||
        !mer_parse_int(text + length, &found_version) || found_version < 1) {
        return mer_yaml_expected(node, error, "%s%d", prefix, version);
    }
    if (found_version > version) {
        return mer_yaml_expected(node, error, "%s%d or lower: version %s is newer than version %d",
                                 prefix, version, text + length, version);
    }
    return MER_OK;
}
