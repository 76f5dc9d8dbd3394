/* Members of JSON objects that cJSON has read. */
#include "base/json_read.h"

const cJSON *mer_json_get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *mer_json_get_text(const cJSON *object, const char *key, const char *otherwise)
{
    const char *text = cJSON_GetStringValue(mer_json_get(object, key));
    return text != NULL ? text : otherwise;
}

double mer_json_get_real(const cJSON *object, const char *key, double otherwise)
{
    const cJSON *item = mer_json_get(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}
