/* The terminal behind a file: how wide it is, and whether it takes colours. */
#ifndef MERCATOR_BASE_TERMINAL_H
#define MERCATOR_BASE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

bool mer_is_terminal(FILE *file);
/* Columns of the terminal (80 where it does not say); 0: it is none, and lines may have any length. */
int mer_terminal_columns(FILE *file);

typedef enum MerStyle {
    MER_STYLE_NONE,
    MER_STYLE_STRONG,
    MER_STYLE_WARNING,
    MER_STYLE_ERROR
} MerStyle;
/* What begins a style; NONE ends it. Empty where `file` is no terminal, the terminal is dumb, or NO_COLOR is set. */
const char *mer_style(FILE *file, MerStyle style);

int mer_text_columns(const char *text); /* that it takes on a terminal; UTF-8 */
/* The text in at most `columns`: two dots stand for its middle, since names of layers differ at both ends. */
void mer_text_shorten(char *buffer, size_t size, const char *text, int columns);
/* Words, broken into lines of at most `columns` (0: any); those after the first start with `indent` spaces,
 * and the first is at column `at` already. Ends the last line. */
void mer_print_words(FILE *file, const char *text, int at, int indent, int columns);
/* Lines, those that the terminal is too narrow for broken between words, with `indent` spaces before what follows; lines that
 * start with a space (loop nests) stay as they are. */
void mer_print_lines(FILE *file, const char *text, int indent);

#endif
