/* Rows of an option table, for a struct that the file calls `Options`. An option has the name of its field:
 *
 *     static const MerOption options[] = {
 *         MER_INT(population, "100", 2, 1e6, "points per generation"),
 *         MER_CHOICE(rule, "rand", "rand|best", "how mutants are made"),
 *         MER_REAL_AT("rate", training.rate, "0.1", 0, 1, "step width"),
 *         {0}};
 */
#ifndef MERCATOR_BASE_OPTION_ROWS_H
#define MERCATOR_BASE_OPTION_ROWS_H

#include "mercator/option.h"

#include <stddef.h>

/* clang-format off */
#define MER_ROW(name, type, field, initial, low, high, choices, help) \
    {name, MER_OPTION_##type, offsetof(Options, field), initial, low, high, choices, help}
/* clang-format on */

/* Of a field with another name than the option, or inside of another struct. */
#define MER_INT_AT(name, field, initial, low, high, help)                                          \
    MER_ROW(name, INT, field, initial, low, high, NULL, help)
#define MER_REAL_AT(name, field, initial, low, high, help)                                         \
    MER_ROW(name, REAL, field, initial, low, high, NULL, help)
#define MER_REALS_AT(name, field, initial, low, high, help)                                        \
    MER_ROW(name, REALS, field, initial, low, high, NULL, help)
#define MER_BOOL_AT(name, field, initial, help)                                                    \
    MER_ROW(name, BOOL, field, initial, 0, 0, NULL, help)
#define MER_CHOICE_AT(name, field, initial, choices, help)                                         \
    MER_ROW(name, CHOICE, field, initial, 0, 0, choices, help)
#define MER_TEXT_AT(name, field, initial, help)                                                    \
    MER_ROW(name, TEXT, field, initial, 0, 0, NULL, help)
#define MER_TEXTS_AT(name, field, initial, help)                                                   \
    MER_ROW(name, TEXTS, field, initial, 0, 0, NULL, help)

#define MER_INT(field, initial, low, high, help) MER_INT_AT(#field, field, initial, low, high, help)
#define MER_REAL(field, initial, low, high, help)                                                  \
    MER_REAL_AT(#field, field, initial, low, high, help)
#define MER_REALS(field, initial, low, high, help)                                                 \
    MER_REALS_AT(#field, field, initial, low, high, help)
#define MER_BOOL(field, initial, help) MER_BOOL_AT(#field, field, initial, help)
#define MER_CHOICE(field, initial, choices, help)                                                  \
    MER_CHOICE_AT(#field, field, initial, choices, help)
#define MER_TEXT(field, initial, help) MER_TEXT_AT(#field, field, initial, help)
#define MER_TEXTS(field, initial, help) MER_TEXTS_AT(#field, field, initial, help)

#endif
