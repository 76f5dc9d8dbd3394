/* Numbers for people. Files never hold scaled numbers, only text on a terminal. */
#include "base/engineering.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
