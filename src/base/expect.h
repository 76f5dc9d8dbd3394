/* The words of messages: what was found, and what was expected. */
#ifndef MERCATOR_BASE_EXPECT_H
#define MERCATOR_BASE_EXPECT_H

#include <stdbool.h>
#include <stddef.h>

enum { MER_SHOWN_SIZE = 72, MER_RANGE_SIZE = 96 };

/* A text as it was written, in quotes unless `bare`; a long one ends in "...". Returns `buffer`. */
const char *mer_shown_text(char buffer[MER_SHOWN_SIZE], const char *text, bool bare);

/* "an integer in 2 .. 1000000", "a number >= 0", "a number": `noun` and the finite ends, inclusive.
 * The smallest positive number as minimum reads "> 0". Returns `buffer`. */
const char *mer_range_text(char buffer[MER_RANGE_SIZE], const char *noun, double minimum,
                           double maximum);

/* "a, b or c", cut where the buffer ends. Returns `buffer`. */
const char *mer_words_text(char *buffer, size_t size, const char *const *words, int count);

#endif
