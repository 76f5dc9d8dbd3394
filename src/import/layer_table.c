/* Splits layer tables into lines and fields (layer_table.h). */
#include "import/layer_table.h"

#include "import/layer_list.h"

#include "base/utf8.h"
#include "mercator/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Header words in small letters without spaces and punctuation. */
static const struct {
    const char    *name;
    MerTableColumn column;
} column_names[] = {
    {"network", MER_COLUMN_NETWORK},
    {"layer", MER_COLUMN_LAYER},
    {"layername", MER_COLUMN_LAYER},
    {"type", MER_COLUMN_TYPE},
    {"t", MER_COLUMN_TYPE},
    {"k", MER_COLUMN_K},
    {"numfilter", MER_COLUMN_K},
    {"numfilters", MER_COLUMN_K},
    {"c", MER_COLUMN_C},
    {"channels", MER_COLUMN_C},
    {"y", MER_COLUMN_Y},
    {"ifmapheight", MER_COLUMN_Y},
    {"x", MER_COLUMN_X},
    {"ifmapwidth", MER_COLUMN_X},
    {"r", MER_COLUMN_R},
    {"filterheight", MER_COLUMN_R},
    {"s", MER_COLUMN_S},
    {"filterwidth", MER_COLUMN_S},
    {"m", MER_COLUMN_M},
    {"n", MER_COLUMN_N},
    {"kg", MER_COLUMN_GEMM_K},
    {"g", MER_COLUMN_G},
    {"name", MER_COLUMN_NAME},
    {"strides", MER_COLUMN_STRIDE},
    {"stride", MER_COLUMN_STRIDE},
    {"stridey", MER_COLUMN_STRIDE_Y},
    {"strideheight", MER_COLUMN_STRIDE_Y},
    {"stridex", MER_COLUMN_STRIDE_X},
    {"stridewidth", MER_COLUMN_STRIDE_X},
};

enum { MAX_WORD = 40, LONGEST_LINE = 100000 };

MerStatus mer_layer_table_fail(const MerLayerTable *table, int column, const char *format, ...)
{
    char    text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return mer_error_set(table->error, MER_INVALID, "%s:%d:%d: %s", table->file->path,
                         table->line > 0 ? table->line : 1, column, text);
}

/* `""` inside quotes is one; whoever only looks at the header has no memory for it, and needs no names. */
static MerTableField unquoted(const MerLayerTable *table, const char *start, const char *end,
                              int column)
{
    MerTableField field = {start, (int)(end - start), column};
    if (table->arena && memchr(start, '"', (size_t)field.length)) {
        char *text = mer_arena_text_n(table->arena, start, (size_t)field.length);
        field.text = text;
        for (const char *c = start; c < end; c++) {
            *text++ = *c;
            c += *c == '"' && c + 1 < end && c[1] == '"';
        }
        field.length = (int)(text - field.text);
    }
    return field;
}

static MerTableField trimmed(const MerLayerTable *table, const char *start, const char *end,
                             int column)
{
    while (start < end && isspace((unsigned char)*start)) {
        start++;
        column++;
    }
    while (end > start && isspace((unsigned char)end[-1])) {
        end--;
    }
    if (end - start >= 2 && *start == '"' && end[-1] == '"') {
        return unquoted(table, start + 1, end - 1, column + 1);
    }
    return (MerTableField){start, (int)(end - start), column};
}

/* Splits the line at commas outside quotes; false when it has too many fields. */
static bool split(MerLayerTable *table, const char *line, const char *end)
{
    const char *start = line;
    bool        quoted = false;
    table->field_count = 0;
    for (const char *c = line;; c++) {
        quoted ^= c < end && *c == '"';
        if (c < end && (*c != ',' || quoted)) {
            continue;
        }
        if (table->field_count == MER_TABLE_MAX_FIELDS) {
            return false;
        }
        table->fields[table->field_count++] = trimmed(table, start, c, (int)(start - line) + 1);
        start = c + 1;
        if (c == end) {
            break;
        }
    }
    /* A comma at the end of the line opens no field. */
    while (table->field_count > 0 && table->fields[table->field_count - 1].length == 0) {
        table->field_count--;
    }
    return true;
}

static const char *line_end(const char *text, const char *end)
{
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    return newline != NULL ? newline : end;
}

bool mer_layer_table_next(MerLayerTable *table, MerStatus *status)
{
    const char *end = table->file->data + table->file->size;
    *status = MER_OK;
    while (table->next < end) {
        const char *line = table->next, *stop = line_end(line, end);
        table->next = stop < end ? stop + 1 : end;
        table->line++;
        if (stop - line > LONGEST_LINE || !split(table, line, stop)) {
            *status = mer_layer_table_fail(
                table, 1, "the line has more than %d fields, or is too long", MER_TABLE_MAX_FIELDS);
            return false;
        }
        if (table->field_count > 0 &&
            (table->fields[0].length == 0 || *table->fields[0].text != '#')) {
            return true;
        }
    }
    return false;
}

void mer_layer_table_open(MerLayerTable *table, const MerImportFile *file)
{
    *table =
        (MerLayerTable){.file = file, .next = file->data + mer_utf8_mark(file->data, file->size)};
}

static MerTableColumn find_column(const MerTableField *field)
{
    char word[MAX_WORD];
    int  length = 0;
    for (int i = 0; i < field->length; i++) {
        if (isalnum((unsigned char)field->text[i]) && length < MAX_WORD - 1) {
            word[length++] = (char)tolower((unsigned char)field->text[i]);
        }
    }
    word[length] = '\0';
    for (size_t i = 0; i < sizeof column_names / sizeof *column_names; i++) {
        if (strcmp(word, column_names[i].name) == 0) {
            return column_names[i].column;
        }
    }
    return MER_COLUMN_COUNT;
}

bool mer_layer_table_has(const MerLayerTable *table, MerTableColumn column)
{
    return table->index[column] >= 0;
}

static bool is_layer_header(const MerLayerTable *table)
{
    bool is_conv = true;
    for (int column = MER_COLUMN_K; column <= MER_COLUMN_S; column++) {
        is_conv = is_conv && table->index[column] >= 0;
    }
    return is_conv || (table->index[MER_COLUMN_M] >= 0 && table->index[MER_COLUMN_N] >= 0 &&
                       (table->index[MER_COLUMN_K] >= 0 || table->index[MER_COLUMN_GEMM_K] >= 0));
}

MerStatus mer_layer_table_header(MerLayerTable *table, bool *found)
{
    MerStatus status;
    *found = false;
    for (int i = 0; i < MER_COLUMN_COUNT; i++) {
        table->index[i] = -1;
    }
    if (!mer_layer_table_next(table, &status)) {
        return status;
    }
    table->header_count = table->field_count;
    for (int i = 0; i < table->field_count; i++) {
        MerTableColumn column = find_column(&table->fields[i]);
        if (column == MER_COLUMN_COUNT) {
            continue;
        }
        if (mer_layer_table_has(table, column)) {
            return mer_layer_table_fail(
                table, table->fields[i].column, "column \"%.*s\" stands twice in the header",
                table->fields[i].length > 40 ? 40 : table->fields[i].length, table->fields[i].text);
        }
        table->index[column] = i;
        table->header[column] = table->fields[i];
    }
    *found = is_layer_header(table);
    return MER_OK;
}

MerTableField mer_layer_table_field(const MerLayerTable *table, MerTableColumn column)
{
    int index = table->index[column];
    if (index >= 0 && index < table->field_count) {
        return table->fields[index];
    }
    int past = table->field_count > 0 ? table->fields[table->field_count - 1].column +
                                            table->fields[table->field_count - 1].length
                                      : 1;
    return (MerTableField){"", 0, past};
}

const char *mer_layer_table_text(const MerLayerTable *table, MerTableColumn column)
{
    MerTableField field = mer_layer_table_field(table, column);
    return mer_arena_text_n(table->arena, field.text, (size_t)field.length);
}

/* The first name of a column. */
static const char *column_name(MerTableColumn column)
{
    int i = 0;
    while (column_names[i].column != column) {
        i++;
    }
    return column_names[i].name;
}

MerStatus mer_layer_table_size(const MerLayerTable *table, MerTableColumn column, int64_t *value)
{
    if (!mer_layer_table_has(table, column)) {
        return mer_layer_table_fail(table, 1, "the line needs a column \"%s\", which is absent",
                                    column_name(column));
    }
    char                 number[MAX_WORD];
    const MerTableField *header = &table->header[column];
    MerTableField        field = mer_layer_table_field(table, column);
    int                  shown = field.length < 40 ? field.length : 40;
    snprintf(number, sizeof number, "%.*s", shown, field.text);
    if (field.length == 0) {
        return mer_layer_table_fail(table, field.column,
                                    "%.*s is empty, expected an integer in 1 .. %lld",
                                    header->length, header->text, (long long)MER_LAYER_MAX_SIZE);
    }
    if (field.length >= MAX_WORD || !mer_parse_int(number, value) || *value < 1 ||
        *value > MER_LAYER_MAX_SIZE) {
        return mer_layer_table_fail(
            table, field.column, "%.*s is \"%.*s\", expected an integer in 1 .. %lld",
            header->length, header->text, shown, field.text, (long long)MER_LAYER_MAX_SIZE);
    }
    return MER_OK;
}

MerStatus mer_layer_table_optional(const MerLayerTable *table, MerTableColumn column,
                                   int64_t *value)
{
    *value = 1;
    return mer_layer_table_has(table, column) && mer_layer_table_field(table, column).length > 0
               ? mer_layer_table_size(table, column, value)
               : MER_OK;
}
