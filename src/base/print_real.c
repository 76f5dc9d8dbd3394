/* Real numbers as text: the fewest digits that read back to the same bits, found with whole numbers of 128 bits where
 * they suffice (1e-5 to 1e28 in magnitude) and by printf elsewhere. A log has a dozen such numbers per trial, and
 * printf would take most of a run's time. */
#include "mercator/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 Wide;

enum { MOST_DIGITS = 17, FEWEST_DIGITS = 15 };

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

/* A number as whole / 10^(MOST_DIGITS - 1 - exponent) with MOST_DIGITS digits before the point, and what is left of it;
 * all in units of 1 / `one`. `reach` is half the distance to the next double above. */
typedef struct Decimal {
    uint64_t whole;
    Wide     rest, one, reach;
    int      exponent; /* of ten, of the first digit */
    bool     is_power; /* of two: the next double below is half as far */
    bool     is_even;  /* the last bit: a text half way between two doubles reads as the even one */
} Decimal;

/* clang-format off */
static const uint64_t tens[MOST_DIGITS + 1] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
    10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000};
/* clang-format on */

/* False: the number is not for this way, or the guess of its exponent was wrong. */
static bool scale(uint64_t mantissa, int power, int exponent, Decimal *decimal)
{
    int shift = MOST_DIGITS - 1 - exponent; /* of ten */
    *decimal = (Decimal){.exponent = exponent,
                         .is_power = mantissa == (uint64_t)1 << 52,
                         .is_even = mantissa % 2 == 0};
    if (shift >= 0) { /* times 5^shift 2^(shift + power), twice so that `reach` is whole */
        uint64_t fives = 1;
        for (int i = 0; i < shift; i++) {
            fives *= 5;
        }
        int binary = -(shift + power);
        if (shift > 21 || binary < 0 || binary > 100) {
            return false;
        }
        Wide number = (Wide)(2 * mantissa) * fives;
        decimal->one = (Wide)2 << binary;
        decimal->reach = fives;
        decimal->whole = (uint64_t)(number >> (binary + 1));
        decimal->rest = number & (decimal->one - 1);
    } else {
        if (power < 1 || power > 60 || -shift > MOST_DIGITS) {
            return false;
        }
        Wide number = (Wide)mantissa << power;
        decimal->one = tens[-shift];
        decimal->reach = (Wide)1 << (power - 1);
        decimal->whole = (uint64_t)(number / decimal->one);
        decimal->rest = number % decimal->one;
    }
    return decimal->whole >= tens[MOST_DIGITS - 1] && decimal->whole < tens[MOST_DIGITS];
}

/* The nearest number of `digits` digits; true if it reads back to the same double. */
static bool round_to(const Decimal *decimal, int digits, uint64_t *rounded)
{
    uint64_t unit = tens[MOST_DIGITS - digits];
    uint64_t kept = decimal->whole / unit;
    Wide     below = (Wide)(decimal->whole % unit) * decimal->one + decimal->rest;
    Wide     whole = unit * decimal->one;
    bool     is_up = 2 * below > whole || (2 * below == whole && kept % 2 == 1);
    Wide     distance = is_up ? whole - below : below << decimal->is_power;
    *rounded = kept + is_up;
    return distance < decimal->reach || (distance == decimal->reach && decimal->is_even);
}

/* As "%.*g" lays out digits * 10^(exponent + 1 - count), without zeros at the end. */
static int lay_out(char *buffer, bool negative, uint64_t digits, int count, int exponent)
{
    bool is_plain = exponent >= -4 && exponent < count;
    /* what 15 digits hold is written plainly down to 1e-5 */
    is_plain = is_plain || (exponent == -5 && count == FEWEST_DIGITS);
    while (digits % 10 == 0) {
        digits /= 10;
        count--;
    }
    if (is_plain) {
        int decimals = count - 1 - exponent;
        for (; decimals < 0; decimals++) {
            digits *= 10;
        }
        return print_fixed(buffer, negative, digits, decimals);
    }
    int length = print_fixed(buffer, negative, digits, count > 1 ? count - 1 : 0);
    buffer[length++] = 'e';
    return length + print_fixed(buffer + length, exponent < 0, (uint64_t)abs(exponent), 0);
}

static int print_exactly(char *buffer, double value)
{
    int     power;
    double  fraction = frexp(fabs(value), &power);
    int     exponent = (int)floor((power - 1) * 0.30103); /* right, or one too small */
    Decimal decimal;
    if (exponent < -6 || exponent > 27) {
        return 0;
    }
    uint64_t mantissa = (uint64_t)(fraction * 0x1p53);
    power -= 53;
    if (!scale(mantissa, power, exponent, &decimal) &&
        !scale(mantissa, power, exponent + 1, &decimal)) {
        return 0;
    }
    for (int digits = FEWEST_DIGITS; digits <= MOST_DIGITS; digits++) {
        uint64_t rounded;
        if (round_to(&decimal, digits, &rounded)) {
            bool carries = rounded == tens[digits]; /* 9.99.. became 10 */
            return lay_out(buffer, value < 0, carries ? rounded / 10 : rounded, digits,
                           decimal.exponent + carries);
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

static int print_plainly(char *buffer, double value)
{
    /* Denormal numbers have fewer bits, so their shortest form may have any number of digits. */
    double magnitude = fabs(value);
    for (int precision = magnitude < 1e-300 ? 1 : FEWEST_DIGITS;; precision++) {
        snprintf(buffer, 32, "%.*g", precision, value);
        if (precision >= MOST_DIGITS || strtod(buffer, NULL) == value) {
            break;
        }
    }
    return shorten_exponent(buffer);
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
    int length = print_exactly(buffer, value);
    return length > 0 ? length : print_plainly(buffer, value);
}
