/* Numbers read from text: plain ones with k M G T or Ki Mi Gi Ti. print_real.c writes them. */
#include "mercator/text.h"

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
