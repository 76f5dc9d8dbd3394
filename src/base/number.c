/* Numbers in and out as text. Reading accepts a plain number with k M G T or
 * Ki Mi Gi Ti; writing gives the fewest digits that read back to the same bits. */
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Number { /* the parts of "-1.5e3Ki" */
    size_t mantissa_length;
    bool   is_integer; /* a sign and digits alone */
    int    exponent;
    int    power; /* of the suffix: 0 none, 1 k, 2 M, 3 G, 4 T */
    bool   is_binary;
} Number;

enum { LONGEST_MANTISSA = 400, LARGEST_EXPONENT = 99999 };

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

static bool scan_exponent(const char **cursor, int *exponent)
{
    const char *text = *cursor + 1;
    bool        negative = *text == '-';
    text += *text == '-' || *text == '+';
    size_t count = digits(text);
    if (count == 0) {
        return false;
    }
    for (size_t i = 0; i < count && *exponent <= LARGEST_EXPONENT; i++) {
        *exponent = *exponent * 10 + (text[i] - '0');
    }
    *exponent = *exponent > LARGEST_EXPONENT ? LARGEST_EXPONENT : *exponent;
    *exponent = negative ? -*exponent : *exponent;
    *cursor = text + count;
    return true;
}

static bool scan_suffix(const char *text, Number *number)
{
    static const char letters[] = "kMGT";
    if (*text == '\0') {
        return true;
    }
    const char *letter = strchr(letters, *text == 'K' && text[1] == 'i' ? 'k' : *text);
    if (letter == NULL || (*text == 'k' && text[1] == 'i')) {
        return false;
    }
    number->power = (int)(letter - letters) + 1;
    number->is_binary = text[1] == 'i';
    return text[number->is_binary ? 2 : 1] == '\0';
}

static bool scan(const char *text, Number *number)
{
    *number = (Number){.is_integer = true};
    const char *cursor = text + (*text == '-' || *text == '+');
    size_t      whole = digits(cursor), fraction = 0;
    cursor += whole;
    if (*cursor == '.') {
        fraction = digits(++cursor);
        cursor += fraction;
        number->is_integer = false;
    }
    number->mantissa_length = (size_t)(cursor - text);
    if (whole + fraction == 0 || number->mantissa_length > LONGEST_MANTISSA) {
        return false;
    }
    if (*cursor == 'e' || *cursor == 'E') {
        number->is_integer = false;
        if (!scan_exponent(&cursor, &number->exponent)) {
            return false;
        }
    }
    return scan_suffix(cursor, number);
}

bool mer_parse_real(const char *text, double *value)
{
    Number number;
    if (!scan(text, &number)) {
        return false;
    }
    /* A decimal suffix joins the exponent, so that 1.001k is 1001 and not one bit beside it. */
    char decimal[LONGEST_MANTISSA + 16];
    memcpy(decimal, text, number.mantissa_length);
    snprintf(decimal + number.mantissa_length, 16, "e%d",
             number.exponent + (number.is_binary ? 0 : 3 * number.power));
    double result = strtod(decimal, NULL);
    if (number.is_binary) {
        result = ldexp(result, 10 * number.power);
    }
    if (!isfinite(result)) {
        return false;
    }
    *value = result;
    return true;
}

/* Digits alone: exact up to the ends of int64_t, where a double is not. */
static bool parse_digits(const char *text, const Number *number, int64_t *value)
{
    int64_t result = 0;
    bool    negative = *text == '-';
    size_t  start = *text == '-' || *text == '+';
    for (size_t i = start; i < number->mantissa_length; i++) {
        int digit = text[i] - '0';
        if (__builtin_mul_overflow(result, 10, &result) ||
            __builtin_add_overflow(result, negative ? -digit : digit, &result)) {
            return false;
        }
    }
    for (int i = 0; i < number->power; i++) {
        if (__builtin_mul_overflow(result, number->is_binary ? 1024 : 1000, &result)) {
            return false;
        }
    }
    *value = result;
    return true;
}

bool mer_parse_int(const char *text, int64_t *value)
{
    Number number;
    double real;
    if (!scan(text, &number)) {
        return false;
    }
    if (number.is_integer) {
        return parse_digits(text, &number, value);
    }
    if (!mer_parse_real(text, &real) || real != floor(real) || fabs(real) >= 0x1p63) {
        return false;
    }
    *value = (int64_t)real;
    return true;
}

/* Writes `digits_value` with `decimals` digits behind the point: 1234, 2 gives "12.34". */
static int print_fixed(char *buffer, bool negative, uint64_t digits_value, int decimals)
{
    char text[32];
    int  at = sizeof text, written = 0;
    while (digits_value > 0 || written <= decimals) {
        text[--at] = (char)('0' + digits_value % 10);
        digits_value /= 10;
        if (++written == decimals) {
            text[--at] = '.';
        }
    }
    if (negative) {
        text[--at] = '-';
    }
    int length = (int)sizeof text - at;
    memcpy(buffer, text + at, (size_t)length);
    buffer[length] = '\0';
    return length;
}

/* Any decimal of at most 15 digits with magnitude in 1e-5 .. 1e15 is found here without printf: both
 * the digits and the power of ten are exact doubles, so one division rounds as strtod would. */
static int print_short(char *buffer, double value)
{
    double magnitude = fabs(value), power = 1;
    if (magnitude < 1e-5 || magnitude >= 1e15) {
        return 0;
    }
    for (int decimals = 1; decimals <= 20; decimals++) {
        power *= 10;
        double scaled = nearbyint(magnitude * power);
        if (scaled >= 1e15) {
            return 0;
        }
        if (scaled / power == magnitude) {
            return print_fixed(buffer, value < 0, (uint64_t)scaled, decimals);
        }
    }
    return 0;
}

/* "1e+20" becomes "1e20" and "2e-07" becomes "2e-7". */
static int shorten_exponent(char *text)
{
    char *exponent = strchr(text, 'e');
    if (exponent == NULL) {
        return (int)strlen(text);
    }
    char *to = exponent + 1, *from = to;
    if (*from == '-') {
        to++;
    }
    from++;
    from += strspn(from, "0");
    memmove(to, from, strlen(from) + 1);
    return (int)strlen(text);
}

int mer_print_real(char buffer[32], double value)
{
    if (!isfinite(value)) {
        memcpy(buffer, "null", 5);
        return 4;
    }
    if (fabs(value) < 0x1p53 && value == (double)(int64_t)value) {
        return print_fixed(buffer, signbit(value), (uint64_t)fabs(value), 0);
    }
    int length = print_short(buffer, value);
    if (length > 0) {
        return length;
    }
    /* Denormal numbers have fewer bits, so their shortest form may have any number of digits. */
    bool is_plain = fabs(value) >= 1e-5 && fabs(value) < 1e15;
    for (int precision = fabs(value) < 1e-300 ? 1 : is_plain ? 16 : 15;; precision++) {
        snprintf(buffer, 32, "%.*g", precision, value);
        if (precision >= 17 || strtod(buffer, NULL) == value) {
            return shorten_exponent(buffer);
        }
    }
}
