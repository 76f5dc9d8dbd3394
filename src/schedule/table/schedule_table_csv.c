/* Reading job analysis tables from CSV: one line per layer and core type, columns by name. */
#include "schedule/table/schedule_table_file.h"

#include "base/name_table.h"
#include "mercator/text.h"

#include <math.h>
#include <string.h>

static MerStatus fail_csv(const MerTableFile *file, int line, const char *what, const char *found,
                          MerError *error)
{
    return mer_error_set(error, MER_INVALID,
                         "%s:%d: %s is \"%.60s\", expected a row of layer,core_type,"
                         "latency_cycles,traffic_bytes,weight_bytes,energy_nj,macs,l2_bytes",
                         file->path, line, what, found);
}

/* The number of a name, in order of first occurrence. */
static int find_or_add(MerNameTable *table, const char **names, int *count, const char *name)
{
    int *known = mer_name_table_find(table, name);
    if (!known) {
        known = MER_NEW(table->arena, int);
        *known = (*count)++;
        names[*known] = name;
        mer_name_table_set(table, name, known);
    }
    return *known;
}

enum { MAX_FIELDS = 16 };

typedef struct Lines { /* of a CSV file, without comments; the first one has the names of columns */
    int count, columns;
    char *(*fields)[MAX_FIELDS];
    int *numbers; /* in the file, from 1 */
} Lines;

static MerStatus split_lines(char *text, Lines *lines, MerTableFile *file, MerArena *arena,
                             MerError *error)
{
    int total = 1, line = 0;
    for (const char *at = text; *at; at++) {
        total += *at == '\n';
    }
    lines->fields = mer_arena_alloc_array(arena, (size_t)total, sizeof *lines->fields);
    lines->numbers = MER_ARRAY(arena, int, total);
    char *rest = NULL;
    for (char *row = text; row && *row; row = rest) {
        rest = strchr(row, '\n');
        if (rest) {
            *rest++ = '\0';
        }
        line++;
        row[strcspn(row, "\r")] = '\0';
        if (*row == '\0' || *row == '#') {
            continue;
        }
        int field = 0;
        for (char *at = row; at && field < MAX_FIELDS; field++) {
            lines->fields[lines->count][field] = at;
            at = strchr(at, ',');
            if (at) {
                *at++ = '\0';
            }
        }
        lines->columns = lines->count == 0 ? field : lines->columns;
        if (field != lines->columns || field < 3) {
            return fail_csv(file, line, "line", row, error);
        }
        lines->numbers[lines->count++] = line;
    }
    return lines->count >= 2 ? MER_OK : fail_csv(file, line, "table", "empty", error);
}

static MerStatus read_csv_row(const Lines *lines, int i, double *values, MerTableFile *file,
                              MerError *error)
{
    for (int f = 2; f < lines->columns; f++) {
        const char *name = lines->fields[0][f];
        int         column = mer_table_column(name);
        bool        is_time = strcmp(name, "latency_cycles") == 0;
        double      value;
        if (!mer_parse_real(lines->fields[i][f], &value) || value < 0 || (is_time && value == 0)) {
            return mer_error_set(
                error, MER_INVALID, "%s:%d: %s is \"%.60s\", expected a number %s 0", file->path,
                lines->numbers[i], name, lines->fields[i][f], is_time ? ">" : ">=");
        }
        if (column >= 0 && !isnan(values[column])) {
            return mer_error_set(
                error, MER_INVALID, "%s:%d: %s of %s on %s is given twice, expected it once",
                file->path, lines->numbers[i], name, lines->fields[i][0], lines->fields[i][1]);
        }
        if (column >= 0) {
            values[column] = value;
            file->has_traffic = file->has_traffic || column == 5;
        }
    }
    return MER_OK;
}

/* Two passes: names first, then numbers. */
MerStatus mer_table_csv_read(char *text, MerArena *arena, MerTableFile *file, MerError *error)
{
    Lines        lines = {0};
    MerNameTable rows = {.arena = arena}, classes = {.arena = arena};
    MER_TRY(split_lines(text, &lines, file, arena, error));
    int *row_of = MER_ARRAY(arena, int, lines.count);
    int *class_of = MER_ARRAY(arena, int, lines.count);
    file->class_names = MER_ARRAY(arena, const char *, lines.count + 1);
    file->row_names = MER_ARRAY(arena, const char *, lines.count + 1);
    for (int i = 1; i < lines.count; i++) {
        row_of[i] = find_or_add(&rows, file->row_names, &file->row_count, lines.fields[i][0]);
        class_of[i] =
            find_or_add(&classes, file->class_names, &file->class_count, lines.fields[i][1]);
    }
    if ((int64_t)file->row_count * file->class_count > MER_TABLE_MAX_ENTRIES) {
        return mer_error_set(error, MER_INVALID,
                             "%s: found %d layers and %d core types, expected at most %d entries",
                             file->path, file->row_count, file->class_count, MER_TABLE_MAX_ENTRIES);
    }
    mer_table_file_capacity(file, arena);
    for (int i = 1; i < lines.count; i++) {
        size_t at = (size_t)row_of[i] * (size_t)file->class_count + (size_t)class_of[i];
        MER_TRY(read_csv_row(&lines, i, file->values + at * MER_TABLE_COLUMNS, file, error));
    }
    return MER_OK;
}
