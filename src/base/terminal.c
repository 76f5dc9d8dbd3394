/* Width and colours of a terminal, and texts that have to fit. */
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_COLUMNS = 80, MOST_COLUMNS = 10000 };

bool mer_is_terminal(FILE *file)
{
    int descriptor = file ? fileno(file) : -1;
    return descriptor >= 0 && isatty(descriptor) == 1;
}

int mer_terminal_columns(FILE *file)
{
    struct winsize size = {0};
    if (!mer_is_terminal(file)) {
        return 0;
    }
    if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    const char *given = getenv("COLUMNS");
    long        columns = given ? strtol(given, NULL, 10) : 0;
    return columns > 0 && columns <= MOST_COLUMNS ? (int)columns : USUAL_COLUMNS;
}

const char *mer_style(FILE *file, MerStyle style)
{
    static const char *const sequences[] = {"\033[0m", "\033[1m", "\033[33m", "\033[1;31m"};
    const char              *refused = getenv("NO_COLOR"); /* no-color.org: unless it is empty */
    const char              *terminal = getenv("TERM");
    bool is_plain = !mer_is_terminal(file) || (refused && *refused) || !terminal || !*terminal ||
                    strcmp(terminal, "dumb") == 0;
    return is_plain ? "" : sequences[style];
}

static bool is_start(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

static int columns_of(const char *text, size_t length)
{
    int columns = 0;
    for (size_t i = 0; i < length; i++) {
        columns += is_start(text[i]);
    }
    return columns;
}

int mer_text_columns(const char *text)
{
    return columns_of(text, strlen(text));
}

/* Bytes of the first `columns` signs. */
static size_t bytes_of(const char *text, int columns)
{
    size_t bytes = 0;
    while (text[bytes] && (!is_start(text[bytes]) || columns-- > 0)) {
        bytes++;
    }
    return bytes;
}

void mer_text_shorten(char *buffer, size_t size, const char *text, int columns)
{
    int width = mer_text_columns(text);
    if (width <= columns) {
        snprintf(buffer, size, "%s", text);
        return;
    }
    int    kept = columns > 2 ? columns - 2 : 0;
    size_t head = bytes_of(text, kept / 3);
    size_t tail = bytes_of(text, width - (kept - kept / 3));
    snprintf(buffer, size, "%.*s%.*s%s", (int)head, text, columns < 2 ? columns : 2, "..",
             text + tail);
}

static void print_words(FILE *file, const char *text, size_t size, int at, int indent, int columns)
{
    const char *end = text + size;
    bool        is_first = true;
    while (text < end) {
        size_t length = strcspn(text, " \n");
        int    width = columns_of(text, length);
        if (columns > 0 && !is_first && at + 1 + width > columns) {
            fprintf(file, "\n%*s", indent, "");
            at = indent;
            is_first = true;
        }
        fprintf(file, "%s%.*s", is_first ? "" : " ", (int)length, text);
        at += width + !is_first;
        is_first = false;
        text += length;
        text += strspn(text, " \n");
    }
    fputc('\n', file);
}

void mer_print_words(FILE *file, const char *text, int at, int indent, int columns)
{
    print_words(file, text, strlen(text), at, indent, columns);
}

void mer_print_lines(FILE *file, const char *text, int indent)
{
    int columns = mer_terminal_columns(file);
    while (*text) {
        int length = (int)strcspn(text, "\n");
        if (columns > 0 && columns_of(text, (size_t)length) > columns && *text != ' ') {
            print_words(file, text, (size_t)length, 0, indent, columns);
        } else {
            fprintf(file, "%.*s\n", length, text);
        }
        text += length;
        text += *text == '\n';
    }
}
