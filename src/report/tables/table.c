/* Text tables and numbers for people. Files never hold scaled numbers, only text on a terminal. */
#include "report/tables/table.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { GAP = 2 };

struct MerTextTable {
    MerArena    *arena;
    int          columns, capacity, count; /* cells, the titles first */
    const char **cells;
    bool        *is_right;
};

static const struct {
    const char *unit, *base;
    double      factor;
} bases[] = {
    {"pJ", "J", 1e-12}, {"pJ.cycle", "J.cycle", 1e-12}, {"mW", "W", 1e-3}, {"um2", "mm2", 1e-6}};

/* The prefix that leaves one to three digits before the point. */
static const char *scale(double *value, bool has_small)
{
    static const char *const large[] = {"", "k", "M", "G", "T", "P", "E", "Z", "Y"};
    static const char *const small[] = {"", "m", "u", "n", "p", "f", "a"};
    int                      step = 0;
    /* 999.96 would be printed as 1000. */
    while (fabs(*value) >= 999.95 && step < 8) {
        *value /= 1000;
        step++;
    }
    if (step > 0 || !has_small || *value == 0) {
        return large[step];
    }
    while (fabs(*value) < 0.99995 && step < 6) {
        *value *= 1000;
        step++;
    }
    return small[step];
}

/* Four digits, as many of them behind the point as fit. */
static int print_digits(char buffer[48], double value, const char *prefix, const char *unit)
{
    double size = fabs(value);
    int    places = size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;
    bool   is_whole = *prefix == '\0' && value == floor(value);
    bool   is_extreme = size >= 1e6 || (size > 0 && size < 0.01);
    int    length = is_extreme ? snprintf(buffer, 48, "%.4g", value)
                               : snprintf(buffer, 48, "%.*f", is_whole ? 0 : places, value);
    if (*prefix != '\0' || *unit != '\0') {
        length += snprintf(buffer + length, 48 - (size_t)length, " %s%.12s", prefix, unit);
    }
    return length;
}

int mer_print_engineering(char buffer[48], double value, const char *unit)
{
    const char *base = unit == NULL || strcmp(unit, "1") == 0 ? "" : unit;
    bool        has_small = strcmp(base, "s") == 0;
    if (!isfinite(value)) {
        return snprintf(buffer, 48, "-");
    }
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        if (strcmp(base, bases[i].unit) == 0) {
            base = bases[i].base;
            value *= bases[i].factor;
            has_small = strcmp(base, "mm2") != 0;
            break;
        }
    }
    const char *prefix = strcmp(base, "mm2") == 0 ? "" : scale(&value, has_small);
    return print_digits(buffer, value, prefix, base);
}

int mer_print_percent(char buffer[48], double share)
{
    double value = share * 100;
    if (!isfinite(value)) {
        return snprintf(buffer, 48, "-");
    }
    if (fabs(value) >= MER_MOST_PERCENT) {
        return snprintf(buffer, 48, "%s%d %%", value > 0 ? "> " : "< -", MER_MOST_PERCENT);
    }
    return snprintf(buffer, 48, "%.*f %%",
                    fabs(value) >= 99.95   ? 0
                    : fabs(value) >= 9.995 ? 1
                                           : 2,
                    value);
}

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
    if (table->count == table->capacity) {
        int          capacity = table->capacity == 0 ? 64 : table->capacity * 2;
        const char **cells = MER_ARRAY(table->arena, const char *, capacity);
        if (table->count > 0) {
            memcpy(cells, table->cells, (size_t)table->count * sizeof *cells);
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    table->cells[table->count++] = text != NULL ? mer_arena_text(table->arena, text) : "";
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
        int capacity = widths[i] - text_width(cells[i]);
        if (*cells[i] == '\0') {
            pending += widths[i] + GAP;
            continue;
        }
        fprintf(file, "%*s%s", pending + (table->is_right[i] ? capacity : 0), "", cells[i]);
        pending = GAP + (table->is_right[i] ? 0 : capacity);
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
