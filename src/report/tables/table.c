/* Text tables for people. */
#include "report/tables/table.h"

#include <stdbool.h>

enum { GAP = 2 };

struct MerTextTable {
    MerArena    *arena;
    int          columns, count; /* cells, the titles first */
    const char **cells;
    bool        *is_right;
};

MerTextTable *mer_text_table_new(MerArena *arena, int column_count, const char *const *titles)
{
    MerTextTable *table = MER_NEW(arena, MerTextTable);
    table->arena = arena;
    table->columns = column_count;
    table->is_right = MER_ARRAY(arena, bool, column_count);
    for (int i = 0; i < column_count; i++) {
        table->is_right[i] = titles[i][0] == '>';
        mer_text_table_add(table, titles[i] + table->is_right[i]);
    }
    return table;
}

void mer_text_table_add(MerTextTable *table, const char *text)
{
    MER_GROW(table->arena, table->cells, table->count);
    table->cells[table->count++] = text != NULL ? mer_arena_text(table->arena, text) : "";
}

void mer_text_table_add_row(MerTextTable *table, const char *const *texts)
{
    for (int c = 0; c < table->columns; c++) {
        mer_text_table_add(table, texts[c]);
    }
}

void mer_text_table_add_int(MerTextTable *table, int64_t value)
{
    char digits[32], grouped[48];
    int  length = snprintf(digits, sizeof digits, "%lld", (long long)value);
    int  first = digits[0] == '-';
    int  out = 0;
    for (int i = 0; i < length; i++) {
        if (i > first && (length - i) % 3 == 0) {
            grouped[out++] = ',';
        }
        grouped[out++] = digits[i];
    }
    grouped[out] = '\0';
    mer_text_table_add(table, grouped);
}

void mer_text_table_add_real(MerTextTable *table, double value, const char *unit)
{
    char buffer[48];
    mer_print_engineering(buffer, value, unit);
    mer_text_table_add(table, buffer);
}

void mer_text_table_add_percent(MerTextTable *table, double share)
{
    char buffer[48];
    mer_print_percent(buffer, share);
    mer_text_table_add(table, buffer);
}

/* Characters, not bytes: names may hold any UTF-8. */
static int text_width(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

static void print_row(const MerTextTable *table, const char *const *cells, int count,
                      const int *widths, FILE *file)
{
    int pending = 0; /* blanks are held back, so that no line ends in them */
    for (int i = 0; i < count; i++) {
        int padding = widths[i] - text_width(cells[i]);
        if (*cells[i] == '\0') {
            pending += widths[i] + GAP;
            continue;
        }
        fprintf(file, "%*s%s", pending + (table->is_right[i] ? padding : 0), "", cells[i]);
        pending = GAP + (table->is_right[i] ? 0 : padding);
    }
    fputc('\n', file);
}

void mer_text_table_print(const MerTextTable *table, FILE *file)
{
    int *widths = MER_ARRAY(table->arena, int, table->columns);
    for (int i = 0; i < table->count; i++) {
        int width = text_width(table->cells[i]);
        int column = i % table->columns;
        widths[column] = width > widths[column] ? width : widths[column];
    }
    for (int i = 0; i < table->count; i += table->columns) {
        int left = table->count - i;
        print_row(table, table->cells + i, left < table->columns ? left : table->columns, widths,
                  file);
    }
}
