/* The values of a sweep: listed, or as ranges `16Ki..512Ki:x2` and `8..64:+8`. */
#include "run/experiment/experiment_parts.h"

#include "mercator/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MOST_VALUES = 10000 };

typedef struct Range {
    double      first, last, step, unit;
    bool        is_product;
    const char *suffix; /* of the first value, in which all are written */
} Range;

static MerStatus expected(const char *text, MerError *error)
{
    return mer_error_set(
        error, MER_INVALID,
        "the range \"%s\" is not FIRST..LAST:xFACTOR or FIRST..LAST:+STEP, such as "
        "16Ki..512Ki:x2 or 8..64:+8",
        text);
}

/* 16Ki: the suffix, and what 1 of it is worth. */
static void read_suffix(const char *first, Range *range, MerArena *arena)
{
    const char *end = first + strlen(first);
    while (end > first && isalpha((unsigned char)end[-1])) {
        end--;
    }
    range->suffix = end;
    if (!mer_parse_real(mer_arena_format(arena, "1%s", end), &range->unit)) {
        range->suffix = "";
        range->unit = 1;
    }
}

static MerStatus read_range(const char *text, const char *dots, Range *range, MerArena *arena,
                            MerError *error)
{
    const char *colon = strchr(dots, ':');
    if (!colon || (colon[1] != 'x' && colon[1] != '+')) {
        return expected(text, error);
    }
    const char *first = mer_arena_text_n(arena, text, (size_t)(dots - text));
    const char *last = mer_arena_text_n(arena, dots + 2, (size_t)(colon - dots - 2));
    range->is_product = colon[1] == 'x';
    if (!mer_parse_real(first, &range->first) || !mer_parse_real(last, &range->last) ||
        !mer_parse_real(colon + 2, &range->step)) {
        return expected(text, error);
    }
    bool can_end = range->is_product ? range->step > 1 && range->first > 0 : range->step > 0;
    if (!can_end || range->last < range->first) {
        return mer_error_set(error, MER_INVALID,
                             "the range \"%s\" does not lead from its first value up to its last",
                             text);
    }
    read_suffix(first, range, arena);
    return MER_OK;
}

/* Each from the first one, so that no rounding adds up. */
static double value_at(const Range *range, int at)
{
    return range->is_product ? range->first * pow(range->step, at)
                             : range->first + range->step * at;
}

MerStatus mer_sweep_values(const char *text, MerAxisValues *values, MerArena *arena,
                           MerError *error)
{
    const char *dots = strstr(text, "..");
    Range       range;
    if (!dots) {
        mer_axis_add(values, text, NULL, NULL, arena);
        return MER_OK;
    }
    MER_TRY(read_range(text, dots, &range, arena, error));
    double most = range.last + 1e-9 * fabs(range.last);
    for (int i = 0; value_at(&range, i) <= most; i++) {
        char number[32];
        if (i == MOST_VALUES) {
            return mer_error_set(error, MER_INVALID, "the range \"%s\" has more than %d values",
                                 text, MOST_VALUES);
        }
        mer_print_real(number, value_at(&range, i) / range.unit);
        mer_axis_add(values, mer_arena_format(arena, "%s%s", number, range.suffix), NULL, NULL,
                     arena);
    }
    return MER_OK;
}
