/* Option values into log headers, and option tables as help. */
#include "base/option_json.h"

#include "base/expect.h"
#include "base/terminal.h"

#include <math.h>
#include <string.h>

static void write_choice(const MerOption *option, int index, MerJson *json, const char *key)
{
    char        word[80];
    const char *start = option->choices;
    for (; index > 0; index--) {
        start += strcspn(start, "|");
        start += *start == '|';
    }
    snprintf(word, sizeof word, "%.*s", (int)strcspn(start, "|"), start);
    mer_json_text(json, key, word);
}

static void write_value(const MerOption *option, const void *options, MerJson *json,
                        const char *key)
{
    const void *field = (const char *)options + option->offset;
    switch (option->type) {
    case MER_OPTION_INT:
        mer_json_int(json, key, *(const int64_t *)field);
        break;
    case MER_OPTION_REAL:
        mer_json_real(json, key, *(const double *)field);
        break;
    case MER_OPTION_BOOL:
        mer_json_bool(json, key, *(const bool *)field);
        break;
    case MER_OPTION_CHOICE:
        write_choice(option, *(const int *)field, json, key);
        break;
    case MER_OPTION_TEXT:
        mer_json_text(json, key, *(const char *const *)field);
        break;
    case MER_OPTION_REALS:
        mer_json_reals(json, key, ((const MerReals *)field)->values,
                       ((const MerReals *)field)->count);
        break;
    case MER_OPTION_TEXTS:
        mer_json_texts(json, key, ((const MerTexts *)field)->values,
                       ((const MerTexts *)field)->count);
        break;
    }
}

void mer_options_write(const MerOption *table, const void *options, MerJson *json, const char *key)
{
    mer_json_object(json, key);
    for (const MerOption *option = table; option != NULL && option->name != NULL; option++) {
        if (option->help != NULL) {
            write_value(option, options, json, option->name);
        }
    }
    mer_json_end_object(json);
}

/* The value as a user writes it: JSON without quotes and blanks. */
static const char *value_text(const MerOption *option, const void *options, MerArena *arena)
{
    MerJson json = {0};
    write_value(option, options, &json, NULL);
    char *text = mer_arena_text(arena, json.text), *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        if (*from != '"') {
            *to++ = *from;
        }
    }
    *to = '\0';
    mer_json_free(&json);
    return text;
}

int mer_reference_find(const MerReference *reference, const char *key)
{
    int at = reference->count - 1;
    while (at >= 0 && !mer_name_equal(reference->keys[at], key)) {
        at--;
    }
    return at;
}

const char *mer_option_quoted(const char *value, MerArena *arena)
{
    if (!strpbrk(value, ",[]\"")) {
        return value;
    }
    char *text = mer_arena_alloc(arena, 2 * strlen(value) + 3), *to = text;
    *to++ = '"';
    for (const char *from = value; *from != '\0'; from++) {
        if (*from == '"' || *from == '\\') {
            *to++ = '\\';
        }
        *to++ = *from;
    }
    *to++ = '"';
    *to = '\0';
    return text;
}

const char *mer_options_changes(const MerOption *table, const void *options, size_t size,
                                MerArena *arena)
{
    void       *initial = mer_arena_alloc(arena, size > 0 ? size : 1);
    const char *text = "";
    if (table == NULL) {
        return text;
    }
    mer_options_defaults(table, initial, arena);
    for (const MerOption *option = table; option->name != NULL; option++) {
        const char *value = value_text(option, options, arena);
        if (option->help != NULL && strcmp(value, value_text(option, initial, arena)) != 0) {
            text = mer_arena_format(
                arena, "%s%s%s=%s", text, *text != '\0' ? "," : "", option->name,
                option->type == MER_OPTION_TEXT ? mer_option_quoted(value, arena) : value);
        }
    }
    return text;
}

/* "integer in 1 .. 9", "true or false": what an option takes. */
static const char *accepted(const MerOption *option, MerArena *arena)
{
    static const char *const words[] = {[MER_OPTION_BOOL] = "true or false",
                                        [MER_OPTION_TEXT] = "text",
                                        [MER_OPTION_TEXTS] = "list of texts"};
    char                     range[MER_RANGE_SIZE];
    bool                     any = option->minimum == 0 && option->maximum == 0;
    if (option->type == MER_OPTION_CHOICE || words[option->type]) {
        return option->type == MER_OPTION_CHOICE ? option->choices : words[option->type];
    }
    mer_range_text(range, option->type == MER_OPTION_INT ? "integer" : "number",
                   any ? -INFINITY : option->minimum, any ? INFINITY : option->maximum);
    return mer_arena_format(arena, "%s%s", option->type == MER_OPTION_REALS ? "list, each " : "",
                            range);
}

void mer_options_help(const MerOption *table, FILE *file)
{
    MerArena *arena = mer_arena_new();
    int       widest = 0, columns = mer_terminal_columns(file);
    for (const MerOption *option = table; option != NULL && option->name != NULL; option++) {
        int width = (int)strlen(option->name) + 1;
        width += option->initial != NULL ? (int)strlen(option->initial) : 0;
        widest = width > widest && width <= 36 ? width : widest;
    }
    for (const MerOption *option = table; option != NULL && option->name != NULL; option++) {
        const char      *initial = option->initial != NULL ? option->initial : "";
        int              pad = widest - (int)strlen(option->name) - 1;
        const MerOption *meant = table;
        while (meant != option && (meant->help == NULL || meant->offset != option->offset)) {
            meant++;
        }
        int         used = fprintf(file, "  %s=%-*s  ", option->name, pad > 0 ? pad : 0, initial);
        const char *help = option->help
                               ? option->help
                               : mer_arena_format(arena, "another name of %s", meant->name);
        mer_print_words(file, mer_arena_format(arena, "%s (%s)", help, accepted(option, arena)),
                        used, columns < 60 ? 8 : widest + 4, columns);
    }
    mer_arena_free(arena);
}
