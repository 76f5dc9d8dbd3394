/* Option tables as text: values for log headers, help for people, and what people write. */
#ifndef MERCATOR_BASE_OPTION_JSON_H
#define MERCATOR_BASE_OPTION_JSON_H

#include "mercator/json.h"
#include "mercator/option.h"

#include <stdio.h>

/* {name: value, ...} in the order of the table; a choice is its word, an empty text is null. */
void mer_options_write(const MerOption *table, const void *options, MerJson *json, const char *key);

/* "key=value,..." of the options that differ from their defaults, "" if none does. `size` bytes each. */
const char *mer_options_changes(const MerOption *table, const void *options, size_t size,
                                MerArena *arena);

/* The place of a key in a reference; -1 if it is not there. */
int mer_reference_find(const MerReference *reference, const char *key);

/* A text that a list of settings would be cut in, in quotes. */
const char *mer_option_quoted(const char *value, MerArena *arena);

/* False: `text` is none of the words that say yes or no. */
bool mer_option_read_bool(const char *text, bool *value);

/* One line per option: `name=default`, help, and what is accepted. */
void mer_options_help(const MerOption *table, FILE *file);

#endif
