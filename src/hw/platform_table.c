/* Measured cycles of a soc's unit: a CSV file beside the platform file becomes the constant `rows`, so that a platform is whole once
 * it is read: its hash covers the measurements, and it can be written as one file. */
#include "hw/reader.h"

#include "base/utf8.h"
#include "mercator/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"operator", "c_in", "c_out",  "k_x",   "k_y",
                                      "o_x",      "o_y",  "stride", "cycles"};
enum { COLUMNS = sizeof columns / sizeof *columns, MAX_BYTES = 64 << 20 };

typedef struct Lines {
    const char *path, *next;
    int         line;
    const char *fields[COLUMNS + 1];
    int         lengths[COLUMNS + 1], count;
} Lines;

/* The next line that says something; false: there is none. */
static bool next_line(Lines *lines)
{
    while (*lines->next != '\0') {
        const char *at = lines->next, *end = at + strcspn(at, "\r\n");
        lines->next = end + strspn(end, "\r") + (end[strspn(end, "\r")] == '\n');
        lines->line++;
        lines->count = 0;
        if (at == end || *at == '#') {
            continue;
        }
        for (; at <= end && lines->count <= COLUMNS; lines->count++) {
            const char *comma = memchr(at, ',', (size_t)(end - at));
            const char *stop = comma ? comma : end;
            for (; at < stop && *at == ' '; at++) {
            }
            lines->fields[lines->count] = at;
            lines->lengths[lines->count] = (int)(stop - at);
            at = stop + 1;
        }
        return true;
    }
    return false;
}

static bool is_word(const Lines *lines, int field, const char *word)
{
    return (size_t)lines->lengths[field] == strlen(word) &&
           strncmp(lines->fields[field], word, strlen(word)) == 0;
}

static MerStatus fail(const Lines *lines, int field, const char *expected, MerError *error)
{
    return mer_error_set(error, MER_INVALID, "%s:%d: %s is \"%.*s\", expected %s", lines->path,
                         lines->line, columns[field],
                         lines->lengths[field] > 40 ? 40 : lines->lengths[field],
                         lines->fields[field], expected);
}

static MerStatus check_count(const Lines *lines, MerError *error)
{
    return lines->count == COLUMNS
               ? MER_OK
               : mer_error_set(error, MER_INVALID,
                               "%s:%d: the line has %s%d fields, expected operator,c_in,c_out,k_x,"
                               "k_y,o_x,o_y,stride,cycles",
                               lines->path, lines->line, lines->count > COLUMNS ? "more than " : "",
                               lines->count > COLUMNS ? COLUMNS : lines->count);
}

static MerStatus read_header(Lines *lines, MerError *error)
{
    if (!next_line(lines)) {
        return mer_error_set(error, MER_INVALID, "%s: the table is empty, expected a header",
                             lines->path);
    }
    MER_TRY(check_count(lines, error));
    for (int i = 0; i < COLUMNS; i++) {
        if (!is_word(lines, i, columns[i])) {
            return fail(lines, i, columns[i], error);
        }
    }
    return MER_OK;
}

static MerStatus read_row(const Lines *lines, double *row, MerError *error)
{
    MER_TRY(check_count(lines, error));
    row[0] = -1;
    for (int i = 0; i < MER_OPERATOR_COUNT; i++) {
        row[0] = is_word(lines, 0, mer_operator_names[i]) ? i : row[0];
    }
    if (row[0] < 0) {
        return fail(lines, 0, "conv, pointwise, linear or depthwise", error);
    }
    for (int i = 1; i < COLUMNS; i++) {
        char *end;
        row[i] = strtod(lines->fields[i], &end);
        bool is_whole = i == COLUMNS - 1 || row[i] == floor(row[i]);
        if (end != lines->fields[i] + lines->lengths[i] || lines->lengths[i] == 0 ||
            !(row[i] >= (i == COLUMNS - 1 ? 0 : 1)) || !isfinite(row[i]) || !is_whole) {
            return fail(lines, i, i == COLUMNS - 1 ? "a number >= 0" : "a whole number >= 1",
                        error);
        }
    }
    return MER_OK;
}

MerStatus mer_platform_read_table(const MerYaml *node, MerConstant *constant, MerError *error)
{
    MerArena   *arena = node->arena;
    const char *name;
    char       *text;
    size_t      size;
    double     *rows = NULL;
    size_t      count = 0;
    MER_TRY(mer_yaml_text(node, &name, error));
    const char *slash = node->file ? strrchr(node->file, '/') : NULL;
    Lines       lines = {.path = name[0] == '/' || !slash
                                     ? name
                                     : mer_arena_format(arena, "%.*s/%s", (int)(slash - node->file),
                                                        node->file, name)};
    MER_TRY(mer_file_read(lines.path, MAX_BYTES, arena, &text, &size, error));
    lines.next = text + mer_utf8_mark(text, size);
    MER_TRY(read_header(&lines, error));
    for (; next_line(&lines); count++) {
        double row[COLUMNS];
        MER_TRY(read_row(&lines, row, error));
        rows = mer_arena_grow(arena, rows, count, COLUMNS * sizeof *rows);
        memcpy(rows + count * COLUMNS, row, sizeof row);
    }
    if (count == 0) {
        return mer_error_set(error, MER_INVALID, "%s: the table has no rows, expected one",
                             lines.path);
    }
    *constant = (MerConstant){.name = "rows", .count = (int)count * COLUMNS, .values = rows};
    return MER_OK;
}
