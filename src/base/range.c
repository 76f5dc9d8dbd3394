/* Ranges as words. */
#include "base/range.h"

#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

const char *mer_range_text(char buffer[96], const char *noun, double minimum, double maximum)
{
    char low[32], high[32];
    bool has_minimum = isfinite(minimum) && minimum > -DBL_MAX;
    bool has_maximum = isfinite(maximum) && maximum < DBL_MAX;
    bool is_positive = minimum > 0 && minimum <= DBL_MIN;
    mer_print_real(low, minimum);
    mer_print_real(high, maximum);
    if (is_positive && has_maximum) {
        snprintf(buffer, 96, "%s > 0 and <= %s", noun, high);
    } else if (is_positive) {
        snprintf(buffer, 96, "%s > 0", noun);
    } else if (has_minimum && has_maximum) {
        snprintf(buffer, 96, "%s in %s .. %s", noun, low, high);
    } else if (has_minimum) {
        snprintf(buffer, 96, "%s >= %s", noun, low);
    } else if (has_maximum) {
        snprintf(buffer, 96, "%s <= %s", noun, high);
    } else {
        snprintf(buffer, 96, "%s", noun);
    }
    return buffer;
}
