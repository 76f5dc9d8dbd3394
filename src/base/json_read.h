/* Members of JSON objects that cJSON has read; what has another type counts as absent. */
#ifndef MERCATOR_BASE_JSON_READ_H
#define MERCATOR_BASE_JSON_READ_H

#include <cjson/cJSON.h>

/* NULL where there is none, or no object. */
const cJSON *mer_json_get(const cJSON *object, const char *key);
const char  *mer_json_get_text(const cJSON *object, const char *key, const char *otherwise);
double       mer_json_get_real(const cJSON *object, const char *key, double otherwise);

#endif
