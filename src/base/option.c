/* Plug-in references and option tables: texts into the fields of a struct, range-checked. */
#include "mercator/option.h"

#include "base/expect.h"
#include "base/option_json.h"
#include "mercator/text.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct Target { /* one option being set, and what to say when it cannot be */
    const MerOption *option;
    const char      *where, *value;
    MerArena        *arena;
    MerError        *error;
} Target;

/* Splits at `separator`, outside of brackets and of values in quotes, and trims spaces. An empty text has no parts. */
static int split(const char *text, char separator, MerArena *arena, const char ***parts)
{
    int  count = 1, depth = 0;
    bool is_quoted = false;
    for (const char *c = text; *c != '\0'; c++) {
        count += *c == separator;
    }
    *parts = MER_ARRAY(arena, const char *, count);
    count = 0;
    for (const char *start = text, *c = text; *text != '\0'; c++) {
        if (*c == '"' && (is_quoted ? c[-1] != '\\' : c > start && c[-1] == '=')) {
            is_quoted = !is_quoted;
        }
        depth += is_quoted ? 0 : (*c == '[') - (*c == ']');
        if (*c != '\0' && (*c != separator || depth > 0 || is_quoted)) {
            continue;
        }
        size_t skip = strspn(start, " "), length = (size_t)(c - start);
        start += skip < length ? skip : length;
        length = (size_t)(c - start);
        while (length > 0 && start[length - 1] == ' ') {
            length--;
        }
        (*parts)[count++] = mer_arena_text_n(arena, start, length);
        if (*c == '\0') {
            break;
        }
        start = c + 1;
    }
    return count;
}

/* A value in quotes, as mer_options_changes writes it, without them. */
static const char *unquoted(const char *text, MerArena *arena)
{
    size_t length = strlen(text);
    if (length < 2 || text[0] != '"' || text[length - 1] != '"') {
        return text;
    }
    char *plain = mer_arena_text_n(arena, text + 1, length - 2), *to = plain;
    for (const char *from = plain; *from != '\0'; from++) {
        from += *from == '\\' && (from[1] == '"' || from[1] == '\\');
        *to++ = *from;
    }
    *to = '\0';
    return plain;
}

/* key=value,key=value; `whole` is what the user wrote, for messages. */
static MerStatus parse_settings(const char *text, const char *whole, MerReference *reference,
                                MerArena *arena, MerError *error)
{
    const char **parts;
    char         shown[MER_SHOWN_SIZE];
    int          count = split(text, ',', arena, &parts);
    reference->keys = MER_ARRAY(arena, const char *, count);
    reference->values = MER_ARRAY(arena, const char *, count);
    for (int i = 0; i < count; i++) {
        const char *equals = strchr(parts[i], '=');
        if (equals == NULL || equals == parts[i]) {
            return mer_error_set(error, MER_INVALID, "%s: found %s, expected key=value", whole,
                                 mer_shown_text(shown, parts[i], false));
        }
        const char *key = mer_arena_text_n(arena, parts[i], (size_t)(equals - parts[i]));
        if (mer_reference_find(reference, key) >= 0) {
            return mer_error_set(error, MER_INVALID, "%s: option \"%s\" is given twice", whole,
                                 key);
        }
        reference->keys[i] = key;
        reference->values[i] = unquoted(equals + 1, arena);
        reference->count++;
    }
    return MER_OK;
}

/* Does it begin with `key=`? A line of a shell that has an equals sign further on does not. */
static bool has_key(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || (text[length] && strchr("_-.", text[length]))) {
        length++;
    }
    return isalpha((unsigned char)text[0]) && text[length] == '=';
}

MerStatus mer_reference_parse(const char *text, MerReference *reference, MerArena *arena,
                              MerError *error)
{
    *reference = (MerReference){0};
    size_t length = strcspn(text, ":");
    if (length == 0) {
        return mer_error_set(error, MER_INVALID, "\"%s\" has no name, expected NAME:key=value,...",
                             text);
    }
    reference->name = mer_arena_text_n(arena, text, length);
    if (text[length] == '\0') {
        return MER_OK;
    }
    if (text[length + 1] == '\0') {
        return mer_error_set(error, MER_INVALID, "%s ends, expected key=value after the colon",
                             text);
    }
    text += length + 1;
    if (!has_key(text)) {
        *reference = mer_reference_add(reference, "", mer_arena_text(arena, text), arena);
        return MER_OK;
    }
    return parse_settings(text, text - length - 1, reference, arena, error);
}

const MerOption *mer_options_find(const MerOption *table, const char *name)
{
    for (const MerOption *option = table; option != NULL && option->name != NULL; option++) {
        if (mer_name_equal(option->name, name)) {
            return option;
        }
    }
    return NULL;
}

static MerStatus expected(const Target *target, const char *value, const char *what)
{
    char   shown[MER_SHOWN_SIZE];
    double number;
    return mer_error_set(target->error, MER_INVALID, "%s: %s is %s, expected %s", target->where,
                         target->option->name,
                         mer_shown_text(shown, value, mer_parse_real(value, &number)), what);
}

/* Is it a number, and in the range of the option? */
static MerStatus check_range(const Target *target, const char *text, bool is_number, double value,
                             const char *noun)
{
    char   range[MER_RANGE_SIZE];
    bool   any = target->option->minimum == 0 && target->option->maximum == 0;
    double minimum = any ? -INFINITY : target->option->minimum;
    double maximum = any ? INFINITY : target->option->maximum;
    return is_number && value >= minimum && value <= maximum
               ? MER_OK
               : expected(target, text, mer_range_text(range, noun, minimum, maximum));
}

static MerStatus set_int(const Target *target, int64_t *field)
{
    int64_t value = 0;
    bool    is_number = mer_parse_int(target->value, &value);
    MER_TRY(check_range(target, target->value, is_number, (double)value, "an integer"));
    *field = value;
    return MER_OK;
}

static MerStatus set_real(const Target *target, const char *text, double *field)
{
    double value = 0;
    bool   is_number = mer_parse_real(text, &value);
    MER_TRY(check_range(target, text, is_number, value, "a number"));
    *field = value;
    return MER_OK;
}

bool mer_option_read_bool(const char *text, bool *value)
{
    static const char *const words[] = {"false", "true", "off", "on", "no", "yes", "0", "1"};
    for (int i = 0; i < 8; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = i % 2 == 1;
            return true;
        }
    }
    return false;
}

static MerStatus set_bool(const Target *target, bool *field)
{
    return mer_option_read_bool(target->value, field)
               ? MER_OK
               : expected(target, target->value, "true or false");
}

static MerStatus expected_word(const Target *target, const char *const *words, int count)
{
    char        list[300];
    const char *near = mer_name_nearest(target->value, words, count);
    mer_words_text(list, sizeof list, words, count);
    return expected(target, target->value,
                    near == NULL
                        ? list
                        : mer_arena_format(target->arena, "%s, did you mean \"%s\"", list, near));
}

static MerStatus set_choice(const Target *target, int *field)
{
    const char **words;
    int          count = split(target->option->choices, '|', target->arena, &words);
    for (int i = 0; i < count; i++) {
        if (mer_name_equal(target->value, words[i])) {
            *field = i;
            return MER_OK;
        }
    }
    return expected_word(target, words, count);
}

/* `[a,b]`, or one item without brackets. */
static MerStatus split_list(const Target *target, const char ***items, int *count)
{
    const char *text = target->value;
    size_t      length = strlen(text);
    if (*text != '[') {
        *count = split(text, ',', target->arena, items);
        return MER_OK;
    }
    if (length < 2 || strcspn(text, "]") != length - 1 || strchr(text + 1, '[') != NULL) {
        return expected(target, text, "a list [a,b,c]");
    }
    *count =
        split(mer_arena_text_n(target->arena, text + 1, length - 2), ',', target->arena, items);
    return MER_OK;
}

static MerStatus set_reals(const Target *target, MerReals *field)
{
    const char **items;
    int          count = 0;
    MER_TRY(split_list(target, &items, &count));
    double *values = MER_ARRAY(target->arena, double, count);
    for (int i = 0; i < count; i++) {
        MER_TRY(set_real(target, items[i], &values[i]));
    }
    *field = (MerReals){.count = count, .values = values};
    return MER_OK;
}

static MerStatus set_texts(const Target *target, MerTexts *field)
{
    const char **items;
    int          count = 0;
    MER_TRY(split_list(target, &items, &count));
    *field = (MerTexts){.count = count, .values = items};
    return MER_OK;
}

static MerStatus set_field(const Target *target, void *field)
{
    switch (target->option->type) {
    case MER_OPTION_INT:
        return set_int(target, field);
    case MER_OPTION_REAL:
        return set_real(target, target->value, field);
    case MER_OPTION_BOOL:
        return set_bool(target, field);
    case MER_OPTION_CHOICE:
        return set_choice(target, field);
    case MER_OPTION_TEXT:
        *(const char **)field =
            target->value[0] == '\0' ? NULL : mer_arena_text(target->arena, target->value);
        return MER_OK;
    case MER_OPTION_REALS:
        return set_reals(target, field);
    case MER_OPTION_TEXTS:
        return set_texts(target, field);
    }
    return expected(target, target->value, "an option of a known type");
}

static MerStatus unknown(const MerOption *table, const char *where, const char *key,
                         MerArena *arena, MerError *error)
{
    char list[300];
    int  count = 0;
    while (table != NULL && table[count].name != NULL) {
        count++;
    }
    const char **names = MER_ARRAY(arena, const char *, count);
    for (int i = 0; i < count; i++) {
        names[i] = table[i].name;
    }
    const char *near = mer_name_nearest(key, names, count);
    if (near != NULL) {
        return mer_error_set(error, MER_INVALID, "unknown option \"%s\" of %s, did you mean \"%s\"",
                             key, where, near);
    }
    mer_words_text(list, sizeof list, names, count);
    return mer_error_set(error, MER_INVALID, "unknown option \"%s\" of %s, expected %s", key, where,
                         count > 0 ? list : "none");
}

MerStatus mer_options_set(const MerOption *table, void *options, const char *where, const char *key,
                          const char *value, MerArena *arena, MerError *error)
{
    char             shown[MER_SHOWN_SIZE];
    const MerOption *option = mer_options_find(table, key);
    if (*key == '\0' && table != NULL && table->type == MER_OPTION_TEXT) {
        option = table;
    } else if (*key == '\0') {
        return mer_error_set(error, MER_INVALID, "%s:%s: found %s, expected key=value", where,
                             value, mer_shown_text(shown, value, false));
    }
    if (option == NULL) {
        return unknown(table, where, key, arena, error);
    }
    Target target = {
        .option = option, .where = where, .value = value, .arena = arena, .error = error};
    return set_field(&target, (char *)options + option->offset);
}

void mer_options_defaults(const MerOption *table, void *options, MerArena *arena)
{
    for (const MerOption *option = table; option != NULL && option->name != NULL; option++) {
        if (option->initial != NULL) {
            MerStatus status = mer_options_set(table, options, "default", option->name,
                                               option->initial, arena, NULL);
            assert(status == MER_OK && "a table's default must satisfy its own range");
            (void)status;
        }
    }
}

static MerStatus set_all(const MerOption *table, void *options, const char *where,
                         const MerReference *settings, bool skip_preset, MerArena *arena,
                         MerError *error)
{
    for (int i = 0; i < settings->count; i++) {
        if (skip_preset && mer_name_equal(settings->keys[i], "preset")) {
            continue;
        }
        MER_TRY(mer_options_set(table, options, where, settings->keys[i], settings->values[i],
                                arena, error));
    }
    return MER_OK;
}

static MerStatus apply_preset(const MerOption *table, const MerPreset *presets, void *options,
                              const char *where, const char *name, MerArena *arena, MerError *error)
{
    int count = 0;
    while (presets[count].name != NULL && !mer_name_equal(presets[count].name, name)) {
        count++;
    }
    if (presets[count].name != NULL) {
        MerReference settings = {0};
        MER_TRY(
            parse_settings(presets[count].settings, presets[count].name, &settings, arena, error));
        return set_all(table, options, where, &settings, false, arena, error);
    }
    const char **names = MER_ARRAY(arena, const char *, count);
    for (int i = 0; i < count; i++) {
        names[i] = presets[i].name;
    }
    const MerOption option = {.name = "preset"};
    const Target    target = {
           .option = &option, .where = where, .value = name, .arena = arena, .error = error};
    return expected_word(&target, names, count);
}

MerStatus mer_options_fill(const MerOption *table, const MerPreset *presets, void *options,
                           const MerReference *reference, MerArena *arena, MerError *error)
{
    bool has_presets = presets != NULL && presets[0].name != NULL;
    mer_options_defaults(table, options, arena);
    for (int i = 0; has_presets && i < reference->count; i++) {
        if (mer_name_equal(reference->keys[i], "preset")) {
            MER_TRY(apply_preset(table, presets, options, reference->name, reference->values[i],
                                 arena, error));
        }
    }
    return set_all(table, options, reference->name, reference, has_presets, arena, error);
}

const void *mer_options_or_defaults(const void *given, const MerOption *table, size_t size,
                                    MerArena *arena)
{
    if (given != NULL || table == NULL) {
        return given;
    }
    void *defaults = mer_arena_alloc(arena, size);
    mer_options_defaults(table, defaults, arena);
    return defaults;
}

MerReference mer_reference_join(const MerReference *reference, const MerReference *more,
                                MerArena *arena)
{
    int                 count = reference->count + more->count;
    MerReference        all = {reference->name, 0, MER_ARRAY(arena, const char *, count),
                               MER_ARRAY(arena, const char *, count)};
    const MerReference *parts[] = {reference, more};
    for (int p = 0; p < 2; p++) {
        for (int i = 0; i < parts[p]->count; i++) {
            all.keys[all.count] = parts[p]->keys[i];
            all.values[all.count++] = parts[p]->values[i];
        }
    }
    return all;
}

MerReference mer_reference_add(const MerReference *reference, const char *key, const char *value,
                               MerArena *arena)
{
    return mer_reference_join(reference, &(MerReference){NULL, 1, &key, &value}, arena);
}
