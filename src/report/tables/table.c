/* Text tables for people. */
#include "report/tables/table.h"

#include "base/terminal.h"

#include <stdbool.h>
#include <string.h>

enum { GAP = 2 };

struct MerTextTable {
    MerArena    *arena;
    int          columns, count; /* cells, the titles first */
    const char **cells;
    bool        *is_right, *is_whole; /* whole: never shortened */
    int *spare; /* by column: how easily it is left out where there is not enough width; 0: never */
};

MerTextTable *mer_text_table_new(MerArena *arena, int column_count, const char *const *titles)
{
    MerTextTable *table = MER_NEW(arena, MerTextTable);
    table->arena = arena;
    table->columns = column_count;
    table->is_right = MER_ARRAY(arena, bool, column_count);
    table->is_whole = MER_ARRAY(arena, bool, column_count);
    table->spare = MER_ARRAY(arena, int, column_count);
    for (int i = 0; i < column_count; i++) {
        table->spare[i] = (int)strspn(titles[i], "~");
        const char *title = titles[i] + table->spare[i];
        table->is_right[i] = *title == '>';
        table->is_whole[i] = *title == '>' || *title == '=';
        mer_text_table_add(table, title + table->is_whole[i]);
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

/* The first words of `text` that fit `width`, at least one: how many bytes. */
static size_t first_line(const char *text, int width)
{
    size_t end = strcspn(text, " ");
    for (size_t next = end; text[next] != '\0';) {
        next += 1 + strcspn(text + next + 1, " ");
        if ((int)next > width) {
            break;
        }
        end = next;
    }
    return end;
}

static int longest_word(const char *text)
{
    int longest = 0;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        longest = length > longest ? length : longest;
        text += length + (text[length] == ' ');
    }
    return longest;
}

/* How a table is laid out for a width. */
typedef struct Layout {
    int *widths;     /* 0: the column is left out */
    bool is_wrapped; /* words of the last column go on below it */
} Layout;

enum { LEAST_NAME = 20, LEAST_WORDS = 24, LEAST = 6 };

static int last_shown(const MerTextTable *table, const Layout *layout)
{
    int last = table->columns - 1;
    while (last > 0 && layout->widths[last] == 0) {
        last--;
    }
    return last;
}

static int total_width(const MerTextTable *table, const Layout *layout)
{
    int total = -GAP;
    for (int c = 0; c < table->columns; c++) {
        total += layout->widths[c] > 0 ? layout->widths[c] + GAP : 0;
    }
    return total;
}

/* Texts give way, the widest first, down to `least` (`words` where lines are broken). */
static void shorten(const MerTextTable *table, Layout *layout, int most, int least, int words)
{
    int last = last_shown(table, layout);
    for (int over = total_width(table, layout) - most; over > 0; over--) {
        int widest = -1;
        for (int c = 0; c < table->columns; c++) {
            int word = longest_word(table->cells[c]);
            int floor = c == last && layout->is_wrapped ? words : least > word ? least : word;
            if (!table->is_whole[c] && layout->widths[c] > floor &&
                (widest < 0 || layout->widths[c] > layout->widths[widest])) {
                widest = c;
            }
        }
        if (widest < 0) {
            return;
        }
        layout->widths[widest]--;
    }
}

/* The column that can be done without most easily, the last of equals; -1: none. */
static int least_wanted(const MerTextTable *table, const Layout *layout)
{
    int found = -1;
    for (int c = 1; c < table->columns; c++) {
        if (layout->widths[c] > 0 && table->spare[c] > 0 &&
            (found < 0 || table->spare[c] >= table->spare[found])) {
            found = c;
        }
    }
    return found;
}

/* Without the row of titles if `first` is not 0. */
static Layout natural_layout(const MerTextTable *table, int first)
{
    Layout layout = {.widths = MER_ARRAY(table->arena, int, table->columns)};
    for (int i = first; i < table->count; i++) {
        int width = mer_text_columns(table->cells[i]);
        int column = i % table->columns;
        layout.widths[column] = width > layout.widths[column] ? width : layout.widths[column];
    }
    return layout;
}

/* Titles that are wider than what stands below them are broken into lines. */
static Layout narrow_layout(const MerTextTable *table)
{
    Layout layout = natural_layout(table, table->columns);
    for (int c = 0; c < table->columns; c++) {
        int word = longest_word(table->cells[c]);
        layout.widths[c] = word > layout.widths[c] ? word : layout.widths[c];
    }
    return layout;
}

/* Titles are broken and names shortened first, then columns are left out that can be done without, then names become very
 * short, and where all that is not enough the last columns are left out. */
static Layout fit(const MerTextTable *table, int most)
{
    Layout full = natural_layout(table, 0), layout = full;
    if (most == 0 || total_width(table, &full) <= most) {
        return full;
    }
    full = narrow_layout(table);
    layout.widths = MER_ARRAY(table->arena, int, table->columns);
    layout.is_wrapped =
        !table->is_right[table->columns - 1] && table->spare[table->columns - 1] == 0;
    for (;;) {
        int dropped;
        for (int c = 0; c < table->columns; c++) {
            layout.widths[c] = full.widths[c];
        }
        shorten(table, &layout, most, LEAST_NAME, LEAST_WORDS);
        if (total_width(table, &layout) <= most || (dropped = least_wanted(table, &full)) < 0) {
            break;
        }
        full.widths[dropped] = 0;
    }
    shorten(table, &layout, most, LEAST, LEAST);
    for (int c = table->columns - 1; c > 0 && total_width(table, &layout) > most; c--) {
        layout.widths[c] = 0;
    }
    return layout;
}

static void print_row(const MerTextTable *table, const char *const *cells, int count,
                      const Layout *layout, FILE *file)
{
    int pending = 0, at = 0; /* blanks are held back, so that no line ends in them */
    for (int i = 0; i < count; i++) {
        int width = layout->widths[i];
        if (width == 0 || *cells[i] == '\0') {
            pending += width > 0 ? width + GAP : 0;
            continue;
        }
        if (layout->is_wrapped && i == table->columns - 1) {
            int start = at + pending;
            fprintf(file, "%*s", pending, "");
            mer_print_words(file, cells[i], start, start, start + width);
            return;
        }
        size_t size = strlen(cells[i]) + 3;
        char  *text = mer_arena_alloc(table->arena, size);
        mer_text_shorten(text, size, cells[i], width);
        int padding = width - mer_text_columns(text);
        int before = pending + (table->is_right[i] ? padding : 0);
        fprintf(file, "%*s%s", before, "", text);
        at += before + mer_text_columns(text);
        pending = GAP + (table->is_right[i] ? 0 : padding);
    }
    fputc('\n', file);
}

static void print_titles(const MerTextTable *table, const Layout *layout, FILE *file)
{
    const char **rest = MER_ARRAY(table->arena, const char *, table->columns);
    const char **line = MER_ARRAY(table->arena, const char *, table->columns);
    memcpy(rest, table->cells, (size_t)table->columns * sizeof *rest);
    fputs(mer_style(file, MER_STYLE_STRONG), file);
    for (bool is_more = true; is_more;) {
        is_more = false;
        for (int c = 0; c < table->columns; c++) {
            size_t length = first_line(rest[c], layout->widths[c]);
            line[c] = mer_arena_text_n(table->arena, rest[c], length);
            rest[c] += length + (rest[c][length] == ' ');
            is_more = is_more || (layout->widths[c] > 0 && *rest[c] != '\0');
        }
        print_row(table, line, table->columns, layout, file);
    }
    fputs(mer_style(file, MER_STYLE_NONE), file);
}

static void name_left_out(const MerTextTable *table, const Layout *layout, int columns, FILE *file)
{
    const char *names = NULL;
    for (int c = 0; c < table->columns; c++) {
        if (layout->widths[c] == 0 && *table->cells[c] != '\0') {
            names = mer_arena_format(table->arena, "%s%s%s", names ? names : "", names ? ", " : "",
                                     table->cells[c]);
        }
    }
    if (names) {
        mer_print_words(file,
                        mer_arena_format(table->arena, "(not in %d columns: %s)", columns, names),
                        0, 0, columns);
    }
}

void mer_text_table_print(const MerTextTable *table, FILE *file)
{
    int    columns = mer_terminal_columns(file);
    Layout layout = fit(table, columns);
    print_titles(table, &layout, file);
    for (int i = table->columns; i < table->count; i += table->columns) {
        int left = table->count - i;
        print_row(table, table->cells + i, left < table->columns ? left : table->columns, &layout,
                  file);
    }
    name_left_out(table, &layout, columns, file);
}
