/* Ranges of whole numbers as regular expressions. */
#include "place/export/place_export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The end of the largest block of 10, 100, ... numbers that begins at `first` and lies below `last`: 199 for 100 .. 250; and
 * the power. */
static int64_t block_end(int64_t first, int64_t last, int *digits)
{
    int64_t step = 1, end = first;
    *digits = 0;
    while (first > 0 && first % (step * 10) == 0 && first + step * 10 - 1 <= last) {
        step *= 10;
        end = first + step - 1;
        (*digits)++;
    }
    return end;
}

/* Numbers of which the last `free` digits are any, and the one before runs from that of `first` to that of `last`. */
static const char *block_pattern(int64_t first, int64_t last, int free, MerArena *arena)
{
    char low[24], high[24], text[160];
    snprintf(low, sizeof low, "%" PRId64, first);
    snprintf(high, sizeof high, "%" PRId64, last);
    int length = (int)strlen(low), fixed = length - free;
    int at = 0;
    for (int i = 0; i < fixed; i++) {
        at += low[i] == high[i] ? snprintf(text + at, sizeof text - (size_t)at, "%c", low[i])
              : high[i] - low[i] == 1
                  ? snprintf(text + at, sizeof text - (size_t)at, "[%c%c]", low[i], high[i])
                  : snprintf(text + at, sizeof text - (size_t)at, "[%c-%c]", low[i], high[i]);
    }
    for (int i = 0; i < free; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at, "[0-9]");
    }
    return mer_arena_text_n(arena, text, (size_t)at);
}

/* Blocks from `first` on, each joined with the next ones of its size that differ in one digit. */
static const char *run_pattern(int64_t first, int64_t last, MerArena *arena)
{
    const char *pattern = NULL;
    while (first <= last) {
        int     free;
        int64_t end = block_end(first, last, &free), step = end - first + 1;
        while (end + step <= last && (end + 1) / (step * 10) == first / (step * 10)) {
            end += step;
        }
        pattern = mer_arena_format(arena, "%s%s%s", pattern ? pattern : "", pattern ? "|" : "",
                                   block_pattern(first, end, free, arena));
        first = end + 1;
    }
    return pattern;
}

const char *mer_number_pattern(const int64_t *numbers, int count, MerArena *arena)
{
    const char *pattern = NULL;
    for (int from = 0, to; from < count; from = to) {
        to = from + 1;
        while (to < count && numbers[to] == numbers[to - 1] + 1) {
            to++;
        }
        pattern = mer_arena_format(arena, "%s%s%s", pattern ? pattern : "", pattern ? "|" : "",
                                   run_pattern(numbers[from], numbers[to - 1], arena));
    }
    return pattern;
}
