/* The words of messages: what was found, and what was expected. */
#include "base/expect.h"

#include "mercator/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *mer_shown_text(char buffer[MER_SHOWN_SIZE], const char *text, bool bare)
{
    enum { LONGEST = MER_SHOWN_SIZE - 12 };
    const char *quote = bare ? "" : "\"";
    size_t      length = strlen(text), shown = length;
    if (length > LONGEST) {
        shown = LONGEST - 3;
        while (shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80) {
            shown--;
        }
    }
    snprintf(buffer, MER_SHOWN_SIZE, "%s%.*s%s%s", quote, (int)shown, text,
             shown < length ? "..." : "", quote);
    return buffer;
}

const char *mer_range_text(char buffer[MER_RANGE_SIZE], const char *noun, double minimum,
                           double maximum)
{
    char low[32], high[32];
    bool has_minimum = isfinite(minimum) && minimum > -DBL_MAX;
    bool has_maximum = isfinite(maximum) && maximum < DBL_MAX;
    bool is_positive = minimum > 0 && minimum <= DBL_MIN;
    mer_print_real(low, minimum);
    mer_print_real(high, maximum);
    if (is_positive) {
        snprintf(buffer, MER_RANGE_SIZE, "%s > 0%s%s", noun, has_maximum ? " and <= " : "",
                 has_maximum ? high : "");
    } else if (has_minimum && has_maximum) {
        snprintf(buffer, MER_RANGE_SIZE, "%s in %s .. %s", noun, low, high);
    } else if (has_minimum) {
        snprintf(buffer, MER_RANGE_SIZE, "%s >= %s", noun, low);
    } else if (has_maximum) {
        snprintf(buffer, MER_RANGE_SIZE, "%s <= %s", noun, high);
    } else {
        snprintf(buffer, MER_RANGE_SIZE, "%s", noun);
    }
    return buffer;
}

const char *mer_words_text(char *buffer, size_t size, const char *const *words, int count)
{
    size_t length = 0;
    buffer[0] = '\0';
    for (int i = 0; i < count && length < size; i++) {
        const char *between = i == 0 ? "" : i == count - 1 ? " or " : ", ";
        length += (size_t)snprintf(buffer + length, size - length, "%s%s", between, words[i]);
    }
    return buffer;
}
