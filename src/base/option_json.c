/* Option values into log headers, and option tables as help. */
#include "base/option_json.h"

#include "base/expect.h"
#include "base/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_choice(const MerOption *option, int index, MerJson *json)
{
    char        word[80];
    const char *start = option->choices;
    for (; index > 0; index--) {
        start += strcspn(start, "|");
        start += *start == '|';
    }
    snprintf(word, sizeof word, "%.*s", (int)strcspn(start, "|"), start);
    mer_json_text(json, option->name, word);
}

static void write_value(const MerOption *option, const void *field, MerJson *json)
{
    switch (option->type) {
    case MER_OPTION_INT:
        mer_json_int(json, option->name, *(const int64_t *)field);
        break;
    case MER_OPTION_REAL:
        mer_json_real(json, option->name, *(const double *)field);
        break;
    case MER_OPTION_BOOL:
        mer_json_bool(json, option->name, *(const bool *)field);
        break;
    case MER_OPTION_CHOICE:
        write_choice(option, *(const int *)field, json);
        break;
    case MER_OPTION_TEXT:
        mer_json_text(json, option->name, *(const char *const *)field);
        break;
    case MER_OPTION_REALS:
        mer_json_reals(json, option->name, ((const MerReals *)field)->values,
                       ((const MerReals *)field)->count);
        break;
    case MER_OPTION_TEXTS:
        mer_json_texts(json, option->name, ((const MerTexts *)field)->values,
                       ((const MerTexts *)field)->count);
        break;
    }
}

void mer_options_write(const MerOption *table, const void *options, MerJson *json, const char *key)
{
    mer_json_object(json, key);
    for (const MerOption *option = table; option != NULL && option->name != NULL; option++) {
        if (option->help != NULL) {
            write_value(option, (const char *)options + option->offset, json);
        }
    }
    mer_json_end_object(json);
}

/* The value as a user writes it: JSON without quotes and blanks. */
static const char *value_text(const MerOption *option, const void *options, MerArena *arena)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    write_value(option, (const char *)options + option->offset, &json);
    mer_json_end_object(&json);
    size_t start = strlen(option->name) + 4; /* {"name": */
    char  *text = mer_arena_text_n(arena, json.text + start, json.size - start - 1), *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        if (*from != '"') {
            *to++ = *from;
        }
    }
    *to = '\0';
    mer_json_free(&json);
    return text;
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

static void print_accepted(const MerOption *option, FILE *file)
{
    char   range[MER_RANGE_SIZE];
    bool   any = option->minimum == 0 && option->maximum == 0;
    double minimum = any ? -INFINITY : option->minimum, maximum = any ? INFINITY : option->maximum;
    switch (option->type) {
    case MER_OPTION_INT:
        fputs(mer_range_text(range, "integer", minimum, maximum), file);
        break;
    case MER_OPTION_REAL:
        fputs(mer_range_text(range, "number", minimum, maximum), file);
        break;
    case MER_OPTION_BOOL:
        fputs("true or false", file);
        break;
    case MER_OPTION_CHOICE:
        fputs(option->choices, file);
        break;
    case MER_OPTION_TEXT:
        fputs("text", file);
        break;
    case MER_OPTION_REALS:
        fprintf(file, "list, each %s", mer_range_text(range, "number", minimum, maximum));
        break;
    case MER_OPTION_TEXTS:
        fputs("list of texts", file);
        break;
    }
}

void mer_options_help(const MerOption *table, FILE *file)
{
    int widest = 0;
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
        int    used = fprintf(file, "  %s=%-*s  ", option->name, pad > 0 ? pad : 0, initial);
        char  *text = NULL;
        size_t size = 0;
        FILE  *words = open_memstream(&text, &size);
        if (words != NULL) {
            fprintf(words, "%s%s (", option->help != NULL ? option->help : "another name of ",
                    option->help != NULL ? "" : meant->name);
            print_accepted(option, words);
            fputc(')', words);
            fclose(words);
        }
        int columns = mer_terminal_columns(file);
        mer_print_words(file, text != NULL ? text : "", used, columns < 60 ? 8 : widest + 4,
                        columns);
        free(text);
    }
}
