/* Members of JSON objects that cJSON has read; what has another type counts as absent. */
#ifndef MERCATOR_BASE_JSON_READ_H
#define MERCATOR_BASE_JSON_READ_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* NULL where there is none, or no object. */
const cJSON *mer_json_get(const cJSON *object, const char *key);
const char  *mer_json_get_text(const cJSON *object, const char *key, const char *otherwise);
double       mer_json_get_real(const cJSON *object, const char *key, double otherwise);
/* The first entry in which two objects differ: adds problem.options.select to `path`. `was` and `now` become its values;
 * NULL: absent. */
bool mer_json_difference(const cJSON **was, const cJSON **now, char *path, size_t size);

#endif
