/* JSON text read in place, without building a tree: a tree per line of a log would take most of the time of a report. */
#ifndef MERCATOR_BASE_JSON_SLICE_H
#define MERCATOR_BASE_JSON_SLICE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct MerSlice { /* part of a text; text NULL: absent */
    const char *text;
    size_t      length;
} MerSlice;

/* Walks the members of a JSON object. `cursor` starts at the object's text and becomes the place of
 * the next member; false at the end, or at the first fault, which `is_valid` tells apart. Both
 * slices are JSON text: the key with its quotes. */
bool mer_slice_member(const char **cursor, MerSlice *key, MerSlice *value, bool *is_valid);
/* The same of the items of a list; false at the end or a fault. */
bool        mer_slice_item(const char **cursor, MerSlice *value);
bool        mer_slice_equals(MerSlice slice, const char *json);
const char *mer_slice_skip_space(const char *text);

#endif
